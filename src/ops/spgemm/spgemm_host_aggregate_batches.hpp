// Rows of a product with aggregates (spgemm_host_aggregates.hpp) of which no two are alike, many at a time: one loop
// runs over the entries of A of a whole batch, whose sums lie in the innermost cache, so that values of B from random
// places are fetched ahead whatever the lengths of rows. Each value of C is the sum of the same products in the same
// order as in rows by themselves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "core/parts.hpp"
#include "device/host_pattern_ref.hpp"
#include "ops/spgemm/spgemm_host_aggregate_groups.hpp"

namespace kkc::spgemm {

/// Whether this build has batches for such elements: rows alone must have the same bits, see rounded().
template <class E>
inline constexpr bool has_batches = rounds_products<E>;

/// Values of C of a batch at most, and rows: as many as the innermost cache holds.
template <class E>
inline constexpr int64_t batch_room = 32768 / static_cast<int64_t>(sizeof(E));
/// Where a batch's values lie there is room for so many more.
inline constexpr int64_t batch_margin = 8;
/// Values of B are fetched so many entries of A ahead.
inline constexpr int64_t entries_fetched_ahead = 64;

/// Mark, not a mask, of an entry that meets a row of B without an entry.
template <class M>
inline constexpr M no_place = std::numeric_limits<M>::max();

/// B's entry in row j, any where there is none; `full`: every row has one.
template <bool full, class E, class Pattern>
E single_entry(const Pattern& B, const E* b, int64_t j) {
  if constexpr (full) return b[j];
  return b[std::min(B.begin(j), B.nnz - 1)];
}
template <bool full, class E, class Pattern>
[[gnu::always_inline]] inline void fetch_single_entry(const Pattern& B, const E* b, int64_t j) {
  if constexpr (full)
    __builtin_prefetch(b + j);
  else
    __builtin_prefetch(B.offsets + j);
}

/// Rows first to last - 1 of A and what each of their entries adds to.
template <class E, class I, class O>
struct RowBatch {
  HostPatternRef<I, O> A;
  const E* a;  // all of A's values
  int64_t first, last;
  const std::byte *own, *places;  // two bytes for each row, if rows have a mark of their own, and for each entry
  const uint16_t* ends;           // of rows among the batch's values
  static uint16_t at(const std::byte* places, int64_t k) {
    uint16_t place;
    std::memcpy(&place, places + 2 * k, sizeof place);
    return place;
  }
};

/// Adds factor(A's value) times B's to sums, for all entries of the batch.
template <bool full, class E, class I, class O, class Factor>
void add_products(const RowBatch<E, I, O>& batch, const HostPatternRef<I, O>& B, const E* b, const Factor& factor,
                  E* sums) {
  const HostPatternRef<I, O> A = batch.A;
  const int64_t begin = A.begin(batch.first), n = A.begin(batch.last) - begin;
  const E* const a = batch.a + begin;
  const std::byte* const places = batch.places;
  const auto add = [&](int64_t k) {
    const uint16_t place = RowBatch<E, I, O>::at(places, k);
    if (!full && place == no_place<uint16_t>) return;
    sums[place] = plus(sums[place], rounded(times(factor(a[k]), single_entry<full>(B, b, A.column(begin + k)))));
  };
  const int64_t fetched = std::clamp<int64_t>(A.nnz - begin - entries_fetched_ahead, 0, n);
  for (int64_t k = 0; k < fetched; ++k) {
    fetch_single_entry<full>(B, b, A.column(begin + k + entries_fetched_ahead));
    add(k);
  }
  for (int64_t k = fetched; k < n; ++k) add(k);
}

}  // namespace kkc::spgemm
