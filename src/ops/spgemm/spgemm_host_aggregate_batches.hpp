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
#include <vector>

#include "core/parts.hpp"
#include "device/host_pattern_ref.hpp"
#include "ops/spgemm/spgemm_host_aggregate_groups.hpp"
#include "ops/spgemm/spgemm_host_columns.hpp"

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

/// Finds C's columns of one row after the other, and the places of the row's entries among them.
template <class I>
class PlaceFinder {
 public:
  explicit PlaceFinder(int64_t cols) : set_(cols) {}

  /// Room for the aggregates of a row of so many entries, negative where there is none.
  I* aggregates(int64_t count) {
    if (static_cast<int64_t>(aggregates_.size()) < count + few) {
      aggregates_.resize(static_cast<size_t>(count + few));
      places_.resize(aggregates_.size());
    }
    return aggregates_.data();
  }
  /// Appends the row's columns, in order, and returns how many.
  int64_t find(int64_t count, std::vector<I>& columns) {
    return count <= few ? find_few(count, columns) : find_many(count, columns);
  }
  /// Of entry k; negative: none.
  I place(int64_t k) const { return places_[static_cast<size_t>(k)]; }

 private:
  static constexpr int64_t few = 16;

  int64_t find_few(int64_t count, std::vector<I>& columns) {
    const I* const all = aggregates_.data();
    const size_t at = columns.size();
    int64_t found = 0;
#if defined(__AVX512F__)
    if constexpr (sizeof(I) == 4) {  // each is compared with all, without branches that depend on them
      const auto inside = static_cast<__mmask16>((1u << count) - 1);
      const __m512i row = _mm512_mask_loadu_epi32(_mm512_set1_epi32(-1), inside, all);
      __m512i places = _mm512_setzero_si512();
      for (int64_t k = 0; k < count; ++k) {
        const __m512i one = _mm512_set1_epi32(all[k]);
        const unsigned before = _mm512_cmpeq_epi32_mask(one, row) & ((1u << k) - 1),
                       is_new = static_cast<unsigned>(all[k] >= 0) & static_cast<unsigned>(before == 0);
        const auto behind = static_cast<__mmask16>(_mm512_cmplt_epi32_mask(one, row) & (0u - is_new));
        places = _mm512_mask_add_epi32(places, behind, places, _mm512_set1_epi32(1));
        found += is_new;
      }
      places =
          _mm512_mask_mov_epi32(places, _mm512_cmplt_epi32_mask(row, _mm512_setzero_si512()), _mm512_set1_epi32(-1));
      _mm512_storeu_si512(places_.data(), places);
      columns.resize(at + static_cast<size_t>(found));
      for (size_t k = 0; k < static_cast<size_t>(count); ++k)
        if (all[k] >= 0) columns[at + static_cast<size_t>(places_[k])] = all[k];
      return found;
    }
#endif
    for (int64_t k = 0; k < count; ++k)
      if (all[k] >= 0) columns.push_back(all[k]);
    const auto first = columns.begin() + static_cast<std::ptrdiff_t>(at);
    std::sort(first, columns.end());
    columns.erase(std::unique(first, columns.end()), columns.end());
    for (size_t k = 0; k < static_cast<size_t>(count); ++k)
      places_[k] = all[k] < 0 ? I{-1} : static_cast<I>(std::lower_bound(first, columns.end(), all[k]) - first);
    found = static_cast<int64_t>(columns.size() - at);
    return found;
  }

  int64_t find_many(int64_t count, std::vector<I>& columns) {
    using Visits = ColumnSet::Visits;
    const Visits visits = set_.expect(count);
    if (visits == Visits::words)
      insert<Visits::words>(count);
    else if (visits == Visits::groups)
      insert<Visits::groups>(count);
    else
      insert<Visits::levels>(count);
    const int64_t found = set_.rank();
    const size_t at = columns.size();
    columns.resize(at + static_cast<size_t>(found));
    I* const to = columns.data() + at;
    for (size_t k = 0; k < static_cast<size_t>(count); ++k) {
      places_[k] = -1;
      if (aggregates_[k] < 0) continue;
      places_[k] = static_cast<I>(set_.place(aggregates_[k]));
      to[places_[k]] = aggregates_[k];
    }
    set_.forget_all(aggregates_.data(), count);
    return found;
  }
  template <ColumnSet::Visits visits>
  void insert(int64_t count) {
    for (size_t k = 0; k < static_cast<size_t>(count); ++k)
      if (aggregates_[k] >= 0) set_.insert<visits>(aggregates_[k]);
  }

  ColumnSet set_;
  std::vector<I> aggregates_, places_;
};

/// The places of a batch while its rows are found.
class BatchPlaces {
 public:
  bool takes(int64_t columns, int64_t room) const {
    return columns_ + columns <= room && static_cast<int64_t>(rows_) < room;
  }
  /// A row of so many columns whose `count` marks are place(k): its own, if it has one, and those of its entries.
  template <bool own, class Place>
  void add_row(int64_t columns, int64_t count, const Place& place) {
    const int64_t at = columns_;
    const auto mark = [&](int64_t k) {
      const auto in_row = static_cast<int64_t>(place(k));
      return narrow(in_row < 0 ? in_row : at + in_row);
    };
    ++rows_;
    columns_ += columns;
    if (own) own_.push_back(mark(0));
    places_.resize(places_.size() + static_cast<size_t>(count - own));
    uint16_t* to = places_.data() + places_.size() - (count - own);
    for (int64_t k = own; k < count; ++k) *to++ = mark(k);
  }
  static uint16_t narrow(int64_t place) { return place < 0 ? no_place<uint16_t> : static_cast<uint16_t>(place); }
  /// Appends them and begins anew.
  void close(std::vector<std::byte>& marks) {
    for (std::vector<uint16_t>* const part : {&own_, &places_}) {
      const auto* const bytes = reinterpret_cast<const std::byte*>(part->data());
      marks.insert(marks.end(), bytes, bytes + part->size() * sizeof(uint16_t));
      part->clear();
    }
    rows_ = 0;
    columns_ = 0;
  }

 private:
  std::vector<uint16_t> own_, places_;
  size_t rows_ = 0;
  int64_t columns_ = 0;
};

}  // namespace kkc::spgemm
