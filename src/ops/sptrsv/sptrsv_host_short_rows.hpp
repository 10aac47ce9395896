// sptrsv, hosts: rows of few entries off the diagonal, which come in no order of lengths, without a branch on how many
// there are: a branch that is foretold wrong takes as long as several such rows. The sums are added up as the loops of
// other rows do it, to the last bit where these fuse no products.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "device/host_gather.hpp"

#if defined(__AVX512VL__)
#include <immintrin.h>
#endif

namespace kkc::sptrsv {

/// Entries of a row that subtract_short and subtract_medium take.
inline constexpr int64_t most_short = 4, most_medium = 12;

/// Whether this build has them, of such numbers and columns.
template <class S, class I>
inline constexpr bool has_short_rows = has_masks<S, I>&& std::is_same_v<S, double>&& std::is_same_v<I, int32_t>;

/// Whether most rows that subtract_medium may take do not need the row right before them, by a sample: what that would
/// wait for need not come by way of a vector. rows: as for schedule_blocks.
template <class Rows>
bool seldom_chained(const Rows& rows, int64_t n, bool ascending) {
  constexpr int64_t looks = 256;
  int64_t medium = 0, chained = 0;
  for (int64_t k = 0; k < std::min(looks, n); ++k) {
    const int64_t row = k * (n / std::min(looks, n)), begin = rows.begin(row), end = rows.end(row);
    if (end - begin <= most_short || end - begin > most_medium) continue;
    bool found = false;
    for (int64_t p = begin; p < end; ++p) found |= rows.column(p) == (ascending ? row - 1 : row + 1);
    ++medium;
    chained += found;
  }
  return 2 * chained < medium;
}

/// A row's entries: x[columns[k] - base] is the unknown that values[k] belongs to.
struct ShortRow {
  const int32_t* columns;
  int32_t base;
  const double *values, *x;
};

/// ((sum less the products of all entries but the last) + second) + others, less the last one's; from the first entry
/// on or, backwards, from the last. fused: as the compiler makes a product and a difference in this unit; else products
/// are rounded. What is not the row's is not read.
template <bool forward, bool fused>
double subtract_short(const ShortRow& row, int64_t length, double sum, double second, double others);

/// The same of more than most_short entries, in four sums while five and more are left.
template <bool forward, bool fused>
double subtract_medium(const ShortRow& row, int64_t length, double sum);

#if defined(__AVX512VL__)
template <bool forward, bool fused>
[[gnu::always_inline]] inline double subtract_short(const ShortRow& row, int64_t length, double sum, double second,
                                                    double others) {
  static constexpr uint8_t low[most_short + 1] = {0, 0, 1, 3, 7}, high[most_short + 1] = {0, 0, 8, 12, 14};
  const __mmask8 mask = forward ? low[length] : high[length], some = static_cast<__mmask8>(length > 0);
  const int64_t first = forward ? 0 : length - most_short, last = forward ? length - 1 : 0;
  const __m128i column =
      _mm_maskz_sub_epi32(mask, _mm_maskz_loadu_epi32(mask, entry_of(row.columns, first)), _mm_set1_epi32(row.base));
  const __m256d known = _mm256_mmask_i32gather_pd(_mm256_setzero_pd(), mask, column, row.x, 8),
                value = _mm256_maskz_loadu_pd(mask, entry_of(row.values, first));
  const __m256d rounded = value * known;
  for (const int lane : {forward ? 0 : 3, forward ? 1 : 2, forward ? 2 : 1}) {
    const double product = fused ? value[lane] * known[lane] : rounded[lane];
    sum -= product;
  }
  sum = (sum + second) + others;
  const __m128i nearest = _mm_maskz_loadu_epi32(some, entry_of(row.columns, last));
  const int64_t at = _mm_cvtsi128_si32(nearest) - int64_t{length > 0 ? row.base : 0};
  const double factor = _mm_cvtsd_f64(_mm_maskz_load_sd(some, entry_of(row.values, last))),
               neighbour = _mm_cvtsd_f64(_mm_maskz_load_sd(some, entry_of(row.x, at)));
  const double product = factor * neighbour;
  return sum - product;
}

template <bool forward, bool fused>
[[gnu::always_inline]] inline double subtract_medium(const ShortRow& row, int64_t length, double sum) {
  const int64_t fours = (length - 1) / 4 * 4, rest = forward ? fours : 0;
  __m256d sums = _mm256_set_pd(0, 0, 0, sum);
  for (const int64_t four : {0, 4}) {
    const auto mask = static_cast<__mmask8>(four < fours ? 15 : 0);
    const int64_t first = forward ? four : length - 4 - four;
    const __m128i column =
        _mm_maskz_sub_epi32(mask, _mm_maskz_loadu_epi32(mask, entry_of(row.columns, first)), _mm_set1_epi32(row.base));
    __m256d known = _mm256_mmask_i32gather_pd(_mm256_setzero_pd(), mask, column, row.x, 8),
            value = _mm256_maskz_loadu_pd(mask, entry_of(row.values, first));
    if constexpr (!forward) {
      constexpr int reversed = 0x1b;
      known = _mm256_permute4x64_pd(known, reversed);
      value = _mm256_permute4x64_pd(value, reversed);
    }
    const __m256d products = value * known;
    sums -= products;
  }
  return subtract_short<forward, fused>({row.columns + rest, row.base, row.values + rest, row.x}, length - fours,
                                        sums[0], sums[1], sums[2] + sums[3]);
}
#endif

}  // namespace kkc::sptrsv
