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
  /// Of rows of one level; entry k of row j of theirs is k * lanes() + j of the slice.
  struct Slice {
    int32_t rows, width;
    int32_t lanes() const { return rows == 1 ? 1 : host_relaid_parts::lanes; }
    int32_t masks() const { return rows == 1 ? 0 : width; }
  };
  /// Where a phase's slices begin in each array.
  struct Place {
    int64_t slice = 0, row = 0, mask = 0, entry = 0;
    void pass(const Slice& slice_there) {
      ++slice;
      row += slice_there.lanes();
      mask += slice_there.masks();
      entry += slice_there.width * slice_there.lanes();
    }
  };

  /// A thread's share of the schedule, which has an order. rows: HostTriangle's.
  template <class Rows>
  void plan(const std::shared_ptr<const Memory>& memory, const levels::BlockSchedule& schedule, int64_t thread,
            const Rows& rows) {
    const levels::BlockSchedule::Share& share = schedule.shares[static_cast<size_t>(thread)];
    std::vector<I> all;
    Place at;
    places_.push_back(at);
    for (size_t phase = 0; phase < share.ends.size(); ++phase) {
      for (int64_t b = share.begin(static_cast<int64_t>(phase)); b < share.ends[phase]; ++b)
        cut(schedule, share.blocks[static_cast<size_t>(b)], rows, all, at);
      places_.push_back(at);
    }
    const auto buffer = [&](int64_t count, size_t each) {
      return Buffer(memory, Space::host, static_cast<size_t>(count) * each);
    };
    rows_ = buffer(std::ssize(all), sizeof(I));
    std::copy(all.begin(), all.end(), rows_.template as<I>());
    columns_ = buffer(at.entry, sizeof(I));
    masks_ = buffer(at.mask, 1);
    values_ = buffer(at.entry + std::ssize(all), sizeof(S));
    auto* column = columns_.template as<I>();
    auto* mask = masks_.template as<uint8_t>();
    const I* row = rows_.template as<I>();
    for (const Slice& slice : slices_) {
      if (slice.rows == 1) {
        for (int64_t p = rows.begin(*row); p < rows.end(*row); ++p) *column++ = static_cast<I>(rows.column(p));
        ++row;
        continue;
      }
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
      const int32_t step = slice.lanes();
      S* const end = value + (slice.width + 1) * step;
      std::fill(value, end, S{});
      for (int32_t j = 0; j < slice.rows; ++j) {
        const S by = value[j] = inverse(row[j]);
        S* to = value + step + j;
        for (int64_t p = rows.begin(row[j]); p < rows.end(row[j]); ++p, to += step) *to = scaled(p, by);
      }
      value = end;
      row += step;
    }
  }

  /// x = alpha b times the inverse (if `unit`: 1) less the entries' products, for the slices of a phase.
  template <bool unit>
  void solve(int64_t phase, const Sides<S>& sides, const S& alpha, int vectors) const {
    const auto p = static_cast<size_t>(phase);
    const Slice *slice = slices_.data() + places_[p].slice, *const end = slices_.data() + places_[p + 1].slice;
    const I* row = rows_.template as<I>() + places_[p].row;
    const I* column = columns_.template as<I>() + places_[p].entry;
    const uint8_t* mask = masks_.template as<uint8_t>() + places_[p].mask;
    const S* value = values_.template as<S>() + places_[p].entry + places_[p].row;
    for (; slice < end; ++slice) {
      for (int v = 0; v < vectors; ++v) {
        const S* const b = sides.b + v * sides.b_vector;
        S* const x = sides.x + v * sides.x_vector;
        if (slice->rows == 1)
          solve_row<unit>(slice->width, *row, column, value, b, sides.b_row, x, sides.x_row, alpha);
        else
          solve_slice<unit>(*slice, row, column, mask, value, b, sides.b_row, x, sides.x_row, alpha);
      }
      row += slice->lanes();
      column += slice->width * slice->lanes();
      mask += slice->masks();
      value += (slice->width + 1) * slice->lanes();
    }
  }

  size_t bytes() const {
    return rows_.bytes() + columns_.bytes() + masks_.bytes() + values_.bytes() + slices_.size() * sizeof(Slice) +
           places_.size() * sizeof(Place);
  }

 private:
  static constexpr int64_t longest_in_vectors = 24;
  static constexpr size_t few_rows = 2;

  /// A block's rows by their lengths, stable. Few lengths are counted, longer ones taken for the same.
  template <class Length>
  static std::vector<I> sorted(const levels::BlockSchedule& schedule, const levels::Block& block,
                               const Length& length) {
    constexpr int64_t counted = 64;
    const I* const rows = schedule.order.template as<I>() + block.first;
    const auto each = [&](const auto& f) {  // f(rows, of which length, number)
      if (schedule.length_starts.empty()) {
        for (const I* row = rows; row < rows + block.count; ++row)
          f(row, static_cast<size_t>(std::min<int64_t>(length(*row), counted)), 1);
      } else {
        levels::each_length(schedule.length_starts, block, [&, row = rows](int64_t of_row, int64_t count) mutable {
          f(row, static_cast<size_t>(of_row), count);
          row += count;
        });
      }
    };
    std::array<int64_t, counted + 2> next{};
    each([&](const I*, size_t of, int64_t count) { next[of + 1] += count; });
    std::partial_sum(next.begin(), next.end(), next.begin());
    const int64_t told_apart = schedule.length_starts.empty() ? counted : levels::lengths_of_level - 1,
                  long_ones = next[static_cast<size_t>(told_apart)];
    std::vector<I> made(static_cast<size_t>(block.count));
    each([&](const I* row, size_t of, int64_t count) {
      std::copy_n(row, count, made.begin() + std::exchange(next[of], next[of] + count));
    });
    std::stable_sort(made.begin() + long_ones, made.end(), [&](I a, I b) { return length(a) < length(b); });
    return made;
  }

  /// Slices of a block's rows: as long as these are of one level, put in order of their lengths.
  template <class Rows>
  void cut(const levels::BlockSchedule& schedule, const levels::Block& block, const Rows& rows, std::vector<I>& all,
           Place& at) {
    const auto length = [&](I row) { return rows.end(row) - rows.begin(row); };
    const bool one_level = block.run != levels::several_levels;
    const I* const order = schedule.order.template as<I>() + block.first;
    const std::vector<I> mine =
        one_level ? sorted(schedule, block, length) : std::vector<I>(order, order + block.count);
    for (size_t i = 0; i < mine.size();) {
      size_t end = i + 1;
      const int64_t shortest = length(mine[i]), most = 2 * shortest + 2;
      while (one_level && end < mine.size() && end - i < lanes && length(mine[end]) <= most) ++end;
      if (shortest > longest_in_vectors || end - i <= few_rows) end = i + 1;
      const Slice slice = {static_cast<int32_t>(end - i), static_cast<int32_t>(length(mine[end - 1]))};
      slices_.push_back(slice);
      for (size_t j = i; j < i + static_cast<size_t>(slice.lanes()); ++j) all.push_back(j < end ? mine[j] : mine[i]);
      at.pass(slice);
      i = end;
    }
  }

  template <bool unit>
  static void solve_row(int32_t width, I row, const I* column, const S* value, const S* b, int64_t b_row, S* x,
                        int64_t x_row, const S& alpha) {
    S sum = times(alpha, b[row * b_row]), other{}, third{}, fourth{};
    if constexpr (!unit) sum = times(sum, *value);
    ++value;
    int32_t k = 0;
    for (; k + 4 <= width; k += 4) {
      sum = minus_product(sum, value[k], x[column[k] * x_row]);
      other = minus_product(other, value[k + 1], x[column[k + 1] * x_row]);
      third = minus_product(third, value[k + 2], x[column[k + 2] * x_row]);
      fourth = minus_product(fourth, value[k + 3], x[column[k + 3] * x_row]);
    }
    for (; k < width; ++k) sum = minus_product(sum, value[k], x[column[k] * x_row]);
    x[row * x_row] = plus(plus(sum, other), plus(third, fourth));
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
