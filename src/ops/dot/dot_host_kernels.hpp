// Dot products of runs and of rows, in vector registers.
#pragma once

#include <cstdint>

#include "device/host_lanes.hpp"
#include "dot_sum.hpp"

namespace kkc::dot {

template <class R>
Sum run_dot(const R* x, const R* y, int64_t count, double) {
  constexpr int64_t step = 8 * lane_count;
  Lanes s[8] = {};
  int64_t i = 0;
  for (; i + step <= count; i += step) {
#pragma GCC unroll 8
    for (int k = 0; k < 8; ++k) s[k] += load_lanes(x + i + k * lane_count) * load_lanes(y + i + k * lane_count);
  }
  const Lanes all = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7]));
  Sum sum{};
  for (int k = 0; k < lane_count; ++k) sum.re += all[k];
  for (; i < count; ++i) accumulate(sum, x[i], y[i], 1.0);
  return sum;
}

/// Complex: products of equal lanes give both halves of the real part, products with exchanged lanes the imaginary
/// part.
template <class R>
Sum run_dot(const Parts<R>* x, const Parts<R>* y, int64_t count, double sign) {
  constexpr int64_t half = lane_count / 2, step = 4 * half;
  const R* const xr = &x->re;
  const R* const yr = &y->re;
  Lanes straight[4] = {}, crossed[4] = {};
  int64_t i = 0;
  for (; i + step <= count; i += step) {
#pragma GCC unroll 4
    for (int k = 0; k < 4; ++k) {
      const Lanes a = load_lanes(xr + 2 * i + k * lane_count), b = load_lanes(yr + 2 * i + k * lane_count);
      straight[k] += a * b;
      crossed[k] += a * swap_pairs(b);
    }
  }
  const Lanes re = (straight[0] + straight[1]) + (straight[2] + straight[3]);
  const Lanes im = (crossed[0] + crossed[1]) + (crossed[2] + crossed[3]);
  Sum sum{};
  for (int k = 0; k < lane_count; k += 2) {
    sum.re += re[k] - sign * re[k + 1];
    sum.im += im[k] + sign * im[k + 1];
  }
  for (; i < count; ++i) accumulate(sum, x[i], y[i], sign);
  return sum;
}

/// Any strides: sums of `columns` columns over rows first..last-1.
template <class T>
void rows_dot(const T* x, int64_t x_row, int64_t x_column, const T* y, int64_t y_row, int64_t y_column, int64_t columns,
              int64_t first, int64_t last, double sign, Sum* sums) {
  for (int64_t c = 0; c < columns; ++c) sums[c] = {};
  for (int64_t r = first; r < last; ++r) {
    const T* const xr = x + r * x_row;
    const T* const yr = y + r * y_row;
    if (x_column == 1 && y_column == 1)
      for (int64_t c = 0; c < columns; ++c) accumulate(sums[c], xr[c], yr[c], sign);
    else
      for (int64_t c = 0; c < columns; ++c) accumulate(sums[c], xr[c * x_column], yr[c * y_column], sign);
  }
}

}  // namespace kkc::dot
