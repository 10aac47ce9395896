// sptrsv, host_relaid: rows by level (levels_host_row_levels.hpp), eight of a level at once: sliced ELLPACK (Monakov,
// Lokhmotov, Avetisyan, "Automatically tuning sparse matrix-vector multiplication for GPU architectures", HiPEAC 2010,
// section 3) of rows of about the same length, in the order of solution.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/memory.hpp"
#include "ops/levels/levels_host_schedule.hpp"
#include "ops/sptrsv/sptrsv_host_relaid_kernels.hpp"
#include "ops/sptrsv/sptrsv_host_sides.hpp"

#if defined(__AVX512VL__)
#include <immintrin.h>
#endif

namespace kkc::sptrsv::host_relaid_parts {

/// What one thread solves.
template <class S, class I>
class LevelSlices {
 public:
  /// Of rows of one level; entry k of row j of theirs is k * lanes + j of the slice.
  struct Slice {
    int32_t rows, width;
  };
  /// Where a phase's slices begin in each array.
  struct Place {
    int64_t slice = 0, entry = 0;
  };

  /// share: of the schedule. order: its rows by level. rows: HostTriangle's.
  template <class Rows>
  void plan(const std::shared_ptr<const Memory>& memory, const levels::BlockSchedule::Share& share, const I* order,
            const Rows& rows) {
    std::vector<I> all;
    Place at;
    places_.push_back(at);
    for (size_t phase = 0; phase < share.ends.size(); ++phase) {
      for (int64_t b = share.begin(static_cast<int64_t>(phase)); b < share.ends[phase]; ++b)
        cut(share.blocks[static_cast<size_t>(b)], order, rows, all, at);
      places_.push_back(at);
    }
    const auto buffer = [&](int64_t count, size_t each) {
      return Buffer(memory, Space::host, static_cast<size_t>(count) * each);
    };
    rows_ = buffer(std::ssize(all), sizeof(I));
    std::copy(all.begin(), all.end(), rows_.template as<I>());
    columns_ = buffer(at.entry, sizeof(I));
    masks_ = buffer(at.entry / lanes, 1);
    values_ = buffer(at.entry + std::ssize(all), sizeof(S));
    auto* column = columns_.template as<I>();
    auto* mask = masks_.template as<uint8_t>();
    const I* row = rows_.template as<I>();
    for (const Slice& slice : slices_) {
      for (int32_t k = 0; k < slice.width; ++k, column += lanes, ++mask) {
        *mask = 0;
        for (int32_t j = 0; j < lanes; ++j) {
          const int64_t begin = j < slice.rows ? rows.begin(row[j]) : 0, end = j < slice.rows ? rows.end(row[j]) : 0;
          const bool there = begin + k < end;
          column[j] = there ? static_cast<I>(rows.column(begin + k)) : I{0};
          *mask |= static_cast<uint8_t>(there ? 1 << j : 0);
        }
      }
      row += lanes;
    }
  }

  /// inverse(row), and scaled(entry, inverse) of its entries.
  template <class Rows, class Inverse, class Scaled>
  void set_values(const Rows& rows, const Inverse& inverse, const Scaled& scaled) {
    S* value = values_.template as<S>();
    const I* row = rows_.template as<I>();
    for (const Slice& slice : slices_) {
      S* const end = value + (slice.width + 1) * lanes;
      std::fill(value, end, S{});
      for (int32_t j = 0; j < slice.rows; ++j) {
        const S by = value[j] = inverse(row[j]);
        S* to = value + lanes + j;
        for (int64_t p = rows.begin(row[j]); p < rows.end(row[j]); ++p, to += lanes) *to = scaled(p, by);
      }
      value = end;
      row += lanes;
    }
  }

  /// x = alpha b times the inverse (if `unit`: 1) less the entries' products, for the slices of a phase.
  template <bool unit>
  void solve(int64_t phase, const Sides<S>& sides, const S& alpha, int vectors) const {
    const auto p = static_cast<size_t>(phase);
    const Slice *slice = slices_.data() + places_[p].slice, *const end = slices_.data() + places_[p + 1].slice;
    const I* row = rows_.template as<I>() + places_[p].slice * lanes;
    const I* column = columns_.template as<I>() + places_[p].entry;
    const uint8_t* mask = masks_.template as<uint8_t>() + places_[p].entry / lanes;
    const S* value = values_.template as<S>() + places_[p].entry + places_[p].slice * lanes;
    for (; slice < end; ++slice) {
      for (int v = 0; v < vectors; ++v)
        solve_slice<unit>(*slice, row, column, mask, value, sides.b + v * sides.b_vector, sides.b_row,
                          sides.x + v * sides.x_vector, sides.x_row, alpha);
      row += lanes;
      column += slice->width * lanes;
      mask += slice->width;
      value += (slice->width + 1) * lanes;
    }
  }

  size_t bytes() const {
    return rows_.bytes() + columns_.bytes() + masks_.bytes() + values_.bytes() + slices_.size() * sizeof(Slice) +
           places_.size() * sizeof(Place);
  }

 private:
  /// Stable. Few lengths are counted, longer ones taken for the same.
  template <class Length>
  static void sort_by(const Length& length, std::vector<I>& mine) {
    constexpr int64_t counted = 64;
    const auto key = [&](I row) { return static_cast<size_t>(std::min<int64_t>(length(row), counted)); };
    std::array<size_t, counted + 2> next{};
    for (const I row : mine) ++next[key(row) + 1];
    std::partial_sum(next.begin(), next.end(), next.begin());
    const auto long_ones = static_cast<std::ptrdiff_t>(next[counted]);
    std::vector<I> sorted(mine.size());
    for (const I row : mine) sorted[next[key(row)]++] = row;
    std::stable_sort(sorted.begin() + long_ones, sorted.end(), [&](I a, I b) { return length(a) < length(b); });
    mine = std::move(sorted);
  }

  /// Slices of a block's rows: as long as these are of one level, put in order of their lengths.
  template <class Rows>
  void cut(const levels::Block& block, const I* order, const Rows& rows, std::vector<I>& all, Place& at) {
    const auto length = [&](I row) { return rows.end(row) - rows.begin(row); };
    std::vector<I> mine(order + block.first, order + block.first + block.count);
    const bool one_level = block.run != levels::several_levels;
    if (one_level) sort_by(length, mine);
    for (size_t i = 0; i < mine.size();) {
      size_t end = i + 1;
      const int64_t shortest = length(mine[i]), most = 2 * shortest + 2;
      while (one_level && end < mine.size() && end - i < lanes && length(mine[end]) <= most) ++end;
      const int64_t width = length(mine[end - 1]);
      slices_.push_back({static_cast<int32_t>(end - i), static_cast<int32_t>(width)});
      for (size_t j = i; j < i + lanes; ++j) all.push_back(j < end ? mine[j] : mine[i]);
      ++at.slice;
      at.entry += width * lanes;
      i = end;
    }
  }

  template <bool unit>
  [[gnu::always_inline]] static void solve_slice(const Slice& slice, const I* row, const I* column, const uint8_t* mask,
                                                 const S* value, const S* b, int64_t b_row, S* x, int64_t x_row,
                                                 const S& alpha) {
#if defined(__AVX512VL__)
    if constexpr (std::is_same_v<S, double> && std::is_same_v<I, int32_t>)
      if (b_row == 1 && x_row == 1) {
        const auto inside = static_cast<__mmask8>((1u << slice.rows) - 1);
        const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row));
        const __m512d zero = _mm512_setzero_pd();
        __m512d sum = _mm512_mul_pd(_mm512_set1_pd(alpha), _mm512_mask_i32gather_pd(zero, inside, at, b, sizeof(S)));
        if constexpr (!unit) sum = _mm512_mul_pd(sum, _mm512_loadu_pd(value));
        for (int32_t k = 0; k < slice.width; ++k) {
          const __m256i from = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(column + k * lanes));
          const __m512d known = _mm512_mask_i32gather_pd(zero, mask[k], from, x, sizeof(S));
          sum = _mm512_fnmadd_pd(_mm512_loadu_pd(value + (k + 1) * lanes), known, sum);
        }
        _mm512_mask_i32scatter_pd(x, inside, at, sum, sizeof(S));
        return;
      }
#endif
    for (int32_t j = 0; j < slice.rows; ++j) {
      S sum = times(alpha, b[row[j] * b_row]);
      if constexpr (!unit) sum = times(sum, value[j]);
      for (int32_t k = 0; k < slice.width; ++k)
        if ((mask[k] >> j & 1) != 0)
          sum = minus_product(sum, value[(k + 1) * lanes + j], x[column[k * lanes + j] * x_row]);
      x[row[j] * x_row] = sum;
    }
  }

  std::vector<Slice> slices_;
  std::vector<Place> places_;  // of phases, and behind the last
  Buffer rows_, columns_, masks_, values_;
};

}  // namespace kkc::sptrsv::host_relaid_parts
