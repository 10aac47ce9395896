// Sums of squares of runs and of rows. A block is summed plainly in vector registers; where that left the safe range it
// is summed again from the cache, with scaling.
#pragma once

#include <cstdint>

#include "device/host_lanes.hpp"
#include "norm2_sum.hpp"

namespace kkc::norm2 {

template <class R>
Sum run_squares(const R* x, int64_t count) {
  constexpr int64_t step = 8 * lane_count;
  Lanes s[8] = {};
  int64_t i = 0;
  for (; i + step <= count; i += step) {
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) {
      const Lanes v = load_lanes(x + i + k * lane_count);
      s[k] += v * v;
    }
  }
  const Lanes all = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
  double plain = 0;
  for (int k = 0; k < lane_count; ++k) plain += all[k];
  for (; i < count; ++i) plain += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  Sum sum{plain, 0, 0};
  if (always_safe<R> || safe(plain)) return sum;
  bool zeros = true;
  for (i = 0; i < count; ++i) zeros &= x[i] == 0;
  if (zeros) return sum;
  sum = {};
  for (i = 0; i < count; ++i) accumulate_safely(sum, x[i]);
  return sum;
}

template <class R>
Sum run_squares(const Parts<R>* x, int64_t count) {
  return run_squares(&x->re, 2 * count);
}

/// Any strides: sums of `columns` columns over rows first..last-1.
template <class T>
void rows_squares(const T* x, int64_t row, int64_t column, int64_t columns, int64_t first, int64_t last, Sum* sums) {
  constexpr int64_t most = 64;
  double plain[most] = {};
  for (int64_t r = first; r < last; ++r) {
    const T* const at = x + r * row;
    if (column == 1)
      for (int64_t c = 0; c < columns; ++c) plain[c] += square(at[c]);
    else
      for (int64_t c = 0; c < columns; ++c) plain[c] += square(at[c * column]);
  }
  for (int64_t c = 0; c < columns; ++c) {
    sums[c] = {plain[c], 0, 0};
    if (always_safe<T> || safe(plain[c])) continue;
    sums[c] = {};
    for (int64_t r = first; r < last; ++r) accumulate_parts(sums[c], x[r * row + c * column]);
  }
}

}  // namespace kkc::norm2
