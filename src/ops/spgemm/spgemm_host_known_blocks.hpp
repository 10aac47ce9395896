// Eight known rows in turn (spgemm_host_known_rows.hpp) that come again, shifted. Neighbouring rows of a grid reach the
// same rows of B: each of these is compared once for all eight.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "ops/spgemm/spgemm_host_known_rows.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace kkc::spgemm {

/// Of a B that has an entry in every row. `unit` as for KnownRows.
template <class I, class O, bool unit>
class KnownBlocks {
  using Pattern = HostPatternRef<I, O>;
  using Known = KnownRows<I, O, unit>;
  using U = std::make_unsigned_t<I>;
  using Ends = std::make_unsigned_t<O>;

 public:
  static constexpr int64_t rows = group_rows;
  using Kinds = RowKinds;

  struct Block {
    Kinds kinds;
    std::array<Ends, rows> ends;  // of the rows in A, from the first row's begin
    I origin;                     // where the first row's origin lies in B, relative to that row
    int32_t columns, products;    // of all rows, in C
    int32_t after;                // the block that was met after it
    size_t stretches_at, stretches;
  };
  const Block& operator[](int32_t id) const { return blocks_[static_cast<size_t>(id)]; }

  /// The block that was met after block `id` if the rows from i on are as its rows, or -1.
  int32_t next(int32_t id, const Known& known, const Pattern& A, const Pattern& B, int64_t i) const {
    const int32_t after = id < 0 ? -1 : (*this)[id].after;
    return after >= 0 && is((*this)[after], known, A, B, i) ? after : -1;
  }

  /// The block of eight rows that were found to be known ones, or -1; what is met for the first time is only noted.
  /// `last`: the block before it.
  int32_t find(const uint16_t* kinds, int32_t last, const Known& known, const Pattern& B, int64_t i) {
    constexpr int32_t met_once = -1, refused = -2;
    Kinds wanted;
    std::copy_n(kinds, rows, wanted.begin());
    auto at = met_.find(wanted);
    if (at == met_.end()) {
      if (met_.size() < most_met) met_.emplace(wanted, met_once);
      return -1;
    }
    if (at->second == met_once)
      at->second = add(wanted, known, B, i) ? static_cast<int32_t>(blocks_.size()) - 1 : refused;
    if (at->second == refused) return -1;
    if (last >= 0) blocks_[static_cast<size_t>(last)].after = at->second;
    return at->second;
  }

 private:
  static constexpr size_t most_met = 4096, most_blocks = 1024, most_aggregates = size_t{1} << 16;
  static constexpr size_t lanes = 16;  // rows of B that a stretch has at most

  /// Rows of B that follow each other, relative to the block's first row.
  struct Stretch {
    I start;
    uint32_t count;
    size_t aggregates_at;
  };
  struct Hash {
    size_t operator()(const Kinds& kinds) const { return hash_of_kinds(kinds); }
  };

  bool is(const Block& block, const Known& known, const Pattern& A, const Pattern& B, int64_t i) const {
    Ends differ = 0;
    for (size_t r = 0; r < rows; ++r)
      differ |= (static_cast<Ends>(A.offsets[i + 1 + static_cast<int64_t>(r)]) - static_cast<Ends>(A.offsets[i])) ^
                block.ends[r];
    if (differ != 0) return false;
    const I* indices = A.indices + A.begin(i);
    const char* const ahead = reinterpret_cast<const char*>(indices) + prefetched_bytes;
    for (size_t at = 0; at < block.ends.back() * sizeof(I); at += cache_line) __builtin_prefetch(ahead + at, 0, 2);
    for (size_t r = 0; r < rows; ++r) {
      const auto& row = known.rows[block.kinds[r]];
      const int64_t n = row.n - unit;
      const auto shift = static_cast<U>(i + static_cast<int64_t>(r) + A.base);
      if (!alike(indices, known.distances.data() + row.distances_at, shift, n)) return false;
      indices += n;
    }
    // Columns are those of the known rows, and inside B.
    const I* const columns = B.indices + i;
    const auto origin = static_cast<U>(columns[block.origin]);
    for (const Stretch *s = stretches_.data() + block.stretches_at, *const end = s + block.stretches; s < end; ++s)
      if (!alike(columns + s->start, aggregates_.data() + s->aggregates_at, origin, s->count)) return false;
    return true;
  }

  /// found[k] - shift == expected[k] for all k.
  static bool alike(const I* found, const I* expected, U shift, int64_t n) {
    int64_t k = 0;
#if defined(__AVX512F__)
    if constexpr (sizeof(I) == 4) {
      constexpr auto width = static_cast<int64_t>(lanes);
      const __m512i shifts = _mm512_set1_epi32(static_cast<int>(shift));
      __mmask16 others = 0;
      for (; k + width <= n; k += width)
        others |= _mm512_cmpneq_epi32_mask(_mm512_sub_epi32(_mm512_loadu_si512(found + k), shifts),
                                           _mm512_loadu_si512(expected + k));
      const auto inside = static_cast<__mmask16>((1u << (n - k)) - 1);
      others |=
          _mm512_mask_cmpneq_epi32_mask(inside, _mm512_sub_epi32(_mm512_maskz_loadu_epi32(inside, found + k), shifts),
                                        _mm512_maskz_loadu_epi32(inside, expected + k));
      return others == 0;
    }
#endif
    U differ = 0;
    for (; k < n; ++k) differ |= (static_cast<U>(found[k]) - shift) ^ static_cast<U>(expected[k]);
    return differ == 0;
  }

  bool add(const Kinds& kinds, const Known& known, const Pattern& B, int64_t i) {
    const auto& first = known.rows[kinds[0]];
    if (blocks_.size() == most_blocks || (!unit && first.n == 0)) return false;
    Block block{kinds, {}, unit ? I{0} : known.distances[first.distances_at], 0, 0, -1, stretches_.size(), 0};
    reached_.clear();
    for (size_t r = 0; r < rows; ++r) {
      const auto& row = known.rows[kinds[r]];
      const auto at = static_cast<I>(r);
      block.ends[r] = (r == 0 ? 0 : block.ends[r - 1]) + static_cast<Ends>(row.n - unit);
      block.columns += row.columns;
      block.products += row.products;
      if (unit) reached_.push_back(at);
      if (r > 0 && reaches_as(known, kinds[r - 1], row)) continue;
      for (int64_t k = 0; k < row.n - unit; ++k)
        reached_.push_back(static_cast<I>(known.distances[row.distances_at + static_cast<size_t>(k)] + at));
    }
    std::sort(reached_.begin(), reached_.end());
    reached_.erase(std::unique(reached_.begin(), reached_.end()), reached_.end());
    if (aggregates_.size() + reached_.size() > most_aggregates) return false;
    const auto origin = static_cast<U>(B.indices[i + block.origin]);
    for (const I distance : reached_) {
      if (stretches_.size() == block.stretches_at || stretches_.back().count == lanes ||
          stretches_.back().start + static_cast<I>(stretches_.back().count) != distance)
        stretches_.push_back({distance, 0, aggregates_.size()});
      ++stretches_.back().count;
      aggregates_.push_back(static_cast<I>(static_cast<U>(B.indices[i + distance]) - origin));
    }
    block.stretches = stretches_.size() - block.stretches_at;
    blocks_.push_back(block);
    return true;
  }

  /// Whether the row reaches the same rows as a row of this kind before it, as the unknowns of a point do.
  static bool reaches_as(const Known& known, uint16_t before, const typename Known::Row& row) {
    const auto& other = known.rows[before];
    const I *const p = known.distances.data() + other.distances_at, *const q =
                                                                        known.distances.data() + row.distances_at;
    return row.n == other.n && std::equal(p, p + row.n - unit, q, [](I a, I b) { return a == b + 1; });
  }

  std::vector<Block> blocks_;
  std::vector<Stretch> stretches_;
  std::vector<I> aggregates_, reached_;
  std::unordered_map<Kinds, int32_t, Hash> met_;
};

}  // namespace kkc::spgemm
