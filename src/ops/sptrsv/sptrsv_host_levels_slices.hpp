// sptrsv, host_levels: rows by level (levels_host_row_levels.hpp), eight of a level at once: sliced ELLPACK (Monakov,
// Lokhmotov, Avetisyan, "Automatically tuning sparse matrix-vector multiplication for GPU architectures", HiPEAC 2010,
// section 3) of columns alone; values are gathered where the caller has them. A row's terms are added as in any other
// row, so that the bits do not depend on which rows are together.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/memory.hpp"
#include "device/host_gather.hpp"
#include "ops/levels/levels_host_schedule.hpp"
#include "ops/sptrsv/sptrsv_host_levels_runs.hpp"
#include "ops/sptrsv/sptrsv_host_short_rows.hpp"

#if defined(__AVX512VL__)
#include <immintrin.h>
#endif

namespace kkc::sptrsv::host_levels_parts {

/// Rows of one thread, of real 64-bit numbers and 32-bit columns.
template <class O>
class LevelSlices {
 public:
  static constexpr int lanes = 8;

  struct Vectors {
    double alpha;
    const double* b;
    double* x;
    bool unit;
  };

  /// share: of the schedule, whose rows by level are `order`. rows: HostTriangle's, as they lie in the caller's matrix.
  /// lengths: of these.
  template <class Rows>
  void plan(const std::shared_ptr<const Memory>& memory, const levels::BlockSchedule::Share& share,
            const int32_t* order, const levels::BlockSchedule::Length* lengths, const Rows& rows, bool ascending) {
    int64_t most = 0, steps = 0;
    for (const levels::Block& block : share.blocks)
      if (block.run != levels::several_levels) most += block.count + classes * (lanes - 1);
    const auto all = std::make_unique_for_overwrite<int32_t[]>(static_cast<size_t>(most));
    begins_.reserve(share.blocks.size() + 1);
    begins_.push_back({0, 0});
    for (const levels::Block& block : share.blocks) {
      if (block.run != levels::several_levels) cut(order + block.first, block.count, lengths, all.get(), steps);
      begins_.push_back({std::ssize(slices_), steps});
    }
    const auto buffer = [&](int64_t count, size_t each) {
      return Buffer(memory, Space::host, static_cast<size_t>(count) * each);
    };
    const int64_t count = std::ssize(slices_) * lanes;
    rows_ = buffer(count, sizeof(int32_t));
    firsts_ = buffer(count, sizeof(O));
    lasts_ = buffer(count, sizeof(O));
    columns_ = buffer(steps * lanes, sizeof(int32_t));
    masks_ = buffer(steps, 1);
    std::copy(all.get(), all.get() + count, rows_.as<int32_t>());
    fill(rows, ascending ? 1 : -1);
  }

  /// A block of the share. solve_rows(rows, count): solves those for which vectors do not pay. first_zero: gets the
  /// first row whose diagonal is zero.
  template <bool ascending, class ByRow>
  void solve(int64_t block, const double* values, const Vectors& vectors, const ByRow& solve_rows,
             int64_t& first_zero) const;

  size_t bytes() const {
    return rows_.bytes() + firsts_.bytes() + lasts_.bytes() + columns_.bytes() + masks_.bytes() +
           slices_.size() * sizeof(Slice) + begins_.size() * sizeof(Place);
  }

 private:
  static constexpr int64_t longest_in_vectors = 24, few_rows = 2, few_long_rows = 4;

  /// Of rows of one level, whose terms are added to four sums as long as there are `fours`, then up to `rest` to the
  /// first of them; each row's last one, if any row has one, comes after the sums were joined.
  struct Slice {
    int16_t rows, rest;
    int32_t fours;  // by_row: no vectors
    int32_t width() const { return rest < 0 ? 0 : fours + rest + 1; }
  };
  static constexpr int32_t by_row = -1;
  struct Place {
    int64_t slice, step;
  };

  /// Rows of up to longest_in_vectors entries are put in order of their lengths; the others are of one class.
  static constexpr int64_t classes = longest_in_vectors + 2;

  /// Slices of rows of a level that leave as many terms to four sums, at the end of `all`, in order of their lengths.
  void cut(const int32_t* rows, int64_t count, const levels::BlockSchedule::Length* lengths, int32_t* all,
           int64_t& steps) {
    const auto class_of = [&](int32_t row) {
      return static_cast<size_t>(std::min<int64_t>(lengths[row], longest_in_vectors + 1));
    };
    std::array<int64_t, classes> next{};
    for (int64_t i = 0; i < count; ++i) ++next[class_of(rows[i])];
    int64_t end = std::ssize(slices_) * lanes;
    for (int64_t shortest = 0; shortest < classes;) {
      // Those that share slices follow each other.
      const int64_t fours = taken_by_fours(shortest), begin = end;
      int64_t behind = shortest;
      for (; behind < classes && taken_by_fours(behind) == fours; ++behind)
        end += std::exchange(next[static_cast<size_t>(behind)], end);
      for (int64_t at = begin; at < end; at += lanes) {
        const int64_t in_slice = std::min<int64_t>(lanes, end - at);
        // The last row's.
        int64_t longest = behind - 1;
        while (longest > shortest && next[static_cast<size_t>(longest)] >= at + in_slice) --longest;
        Slice slice = {static_cast<int16_t>(in_slice), static_cast<int16_t>(longest - fours - 1),
                       static_cast<int32_t>(fours)};
        if (longest > longest_in_vectors || in_slice <= (fours > 0 ? few_long_rows : few_rows))
          slice = {slice.rows, -1, by_row};
        slices_.push_back(slice);
        steps += slice.width();
      }
      end = std::ssize(slices_) * lanes;
      shortest = behind;
    }
    for (int64_t i = 0; i < count; ++i) all[next[class_of(rows[i])]++] = rows[i];
    // What a slice lacks.
    for (int64_t i = begins_.back().slice; i < std::ssize(slices_); ++i) {
      int32_t* const of = all + i * lanes;
      std::fill(of + slices_[static_cast<size_t>(i)].rows, of + lanes, *of);
    }
  }

  /// All but which rows: where their terms are, and these' columns.
  template <class Rows>
  void fill(const Rows& rows, int64_t way);

  std::vector<Slice> slices_;
  std::vector<Place> begins_;  // of blocks, and behind the last
  Buffer rows_, firsts_, lasts_, columns_, masks_;
};

#if defined(__AVX512VL__)
template <class O>
template <class Rows>
void LevelSlices<O>::fill(const Rows& rows, int64_t way) {
  const int32_t* row = rows_.template as<int32_t>();
  O *first = firsts_.template as<O>(), *last = lasts_.template as<O>();
  int32_t* column = columns_.template as<int32_t>();
  uint8_t* mask = masks_.template as<uint8_t>();
  const __m256i base = _mm256_set1_epi32(static_cast<int32_t>(rows.base())), none = _mm256_setzero_si256();
  for (const Slice& slice : slices_) {
    alignas(64) int64_t from[lanes], behind[lanes], lengths[lanes];
    for (int32_t j = 0; j < lanes; ++j) {
      const int64_t begin = rows.begin(row[j]), end = rows.end(row[j]), length = end - begin;
      from[j] = way > 0 ? begin : end - 1;
      behind[j] = way > 0 ? end - 1 : begin;
      lengths[j] = j < slice.rows ? length : 0;
      first[j] = static_cast<O>(from[j]);
      last[j] = static_cast<O>(behind[j]);
    }
    const __m512i length = _mm512_load_si512(lengths);
    const auto put = [&](__m512i at, __mmask8 some) __attribute__((always_inline)) {
      const __m256i found = _mm512_mask_i64gather_epi32(none, some, at, rows.indices(), sizeof(int32_t));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(column), _mm256_maskz_sub_epi32(some, found, base));
      *mask++ = some;
      column += lanes;
    };
    __m512i at = _mm512_load_si512(from);
    for (int32_t k = 1; k < slice.width(); ++k) {
      put(at, _mm512_cmpgt_epi64_mask(length, _mm512_set1_epi64(k)));
      at = _mm512_add_epi64(at, _mm512_set1_epi64(way));
    }
    if (slice.width() > 0) put(_mm512_load_si512(behind), _mm512_cmpgt_epi64_mask(length, _mm512_setzero_si512()));
    row += lanes;
    first += lanes;
    last += lanes;
  }
}

template <class O>
template <bool ascending, class ByRow>
void LevelSlices<O>::solve(int64_t block, const double* values, const Vectors& vectors, const ByRow& solve_rows,
                           int64_t& first_zero) const {
  constexpr int64_t way = ascending ? 1 : -1;
  const Place begin = begins_[static_cast<size_t>(block)];
  const Slice *slice = slices_.data() + begin.slice, *const end =
                                                         slices_.data() + begins_[static_cast<size_t>(block) + 1].slice;
  const int32_t* row = rows_.template as<int32_t>() + begin.slice * lanes;
  const O *first = firsts_.template as<O>() + begin.slice * lanes,
          *last = lasts_.template as<O>() + begin.slice * lanes;
  const int32_t* column = columns_.template as<int32_t>() + begin.step * lanes;
  const uint8_t* mask = masks_.template as<uint8_t>() + begin.step;
  const auto [alpha, b, x, unit] = vectors;
  const __m512d zero = _mm512_setzero_pd();
  const auto positions = [](const O* from) {
    if constexpr (sizeof(O) == 8)
      return _mm512_loadu_si512(from);
    else
      return _mm512_maskz_cvtepi32_epi64(0xff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  };
  const __m512i one = _mm512_set1_epi64(way);
  for (; slice < end; ++slice, row += lanes, first += lanes, last += lanes) {
    if (slice->fours == by_row) {
      solve_rows(row, slice->rows);
      continue;
    }
    const auto inside = static_cast<__mmask8>((1u << slice->rows) - 1);
    const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row));
    const __m512i end_at = positions(last);
    __m512i from = positions(first);
    __m512d inverse = zero;
    if (!unit) {
      const __m512d diagonal =
          _mm512_mask_i64gather_pd(_mm512_set1_pd(1), inside, _mm512_add_epi64(end_at, one), values, 8);
      if (const __mmask8 zeros = _mm512_cmp_pd_mask(diagonal, zero, _CMP_EQ_OQ); zeros != 0) [[unlikely]]
        for (int j = 0; j < lanes; ++j)
          if ((zeros >> j & 1) != 0) first_zero = std::min<int64_t>(first_zero, row[j]);
      inverse = _mm512_div_pd(_mm512_set1_pd(1), diagonal);
    }
    const auto product = [&](__m512i place, __mmask8 some) __attribute__((always_inline)) {
      const __m512d value = _mm512_mask_i64gather_pd(zero, some, place, values, 8);
      const __m256i of = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(column));
      const __m512d known = _mm512_mask_i32gather_pd(zero, some, of, x, 8);
      column += lanes;
      return _mm512_mul_pd(value, known);
    };
    __m512d sum = _mm512_mul_pd(_mm512_set1_pd(alpha), _mm512_mask_i32gather_pd(zero, inside, at, b, 8));
    __m512d other = zero, third = zero, fourth = zero;
    const auto subtract = [&](__m512d & of) __attribute__((always_inline)) {
      of = _mm512_sub_pd(of, product(from, *mask++));
      from = _mm512_add_epi64(from, one);
    };
    for (int32_t k = 0; k < slice->fours; k += 4) {
      subtract(sum);
      subtract(other);
      subtract(third);
      subtract(fourth);
    }
    for (int32_t k = 0; k < slice->rest; ++k) subtract(sum);
    sum = _mm512_add_pd(_mm512_add_pd(sum, other), _mm512_add_pd(third, fourth));
    if (slice->rest >= 0) sum = _mm512_sub_pd(sum, product(end_at, *mask++));
    _mm512_mask_i32scatter_pd(x, inside, at, unit ? sum : _mm512_mul_pd(sum, inverse), 8);
  }
}
#endif

}  // namespace kkc::sptrsv::host_levels_parts
