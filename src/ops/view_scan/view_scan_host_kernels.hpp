// Loops of view_scan on hosts: sums and prefix sums of a run, in vector registers where both sides are runs.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "core/parts.hpp"
#include "device/host_simd.hpp"

namespace kkc::view_scan {

template <class T>
constexpr T sum_of(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(a + b);
  else
    return plus(a, b);
}

/// A register of T and its shifts.
template <class T>
struct Register {
  static constexpr int lanes = static_cast<int>(simd_bytes / sizeof(T));
  typedef T V __attribute__((vector_size(simd_bytes)));

  static V load(const T* from) {
    V v;
    std::memcpy(&v, from, sizeof v);
    return v;
  }
  static void store(T* to, V v) { std::memcpy(to, &v, sizeof v); }
  /// Lane i gets lane i - by, the first ones zero.
  template <int by, int... lane>
  static V shifted(V v, std::integer_sequence<int, lane...>) {
    return __builtin_shufflevector(v, V{}, (lane < by ? lanes + lane : lane - by)...);
  }
  template <int by>
  static V shifted(V v) {
    return shifted<by>(v, std::make_integer_sequence<int, lanes>{});
  }
  /// Sums of the lanes up to each.
  template <int by = 1>
  static V scanned(V v) {
    if constexpr (by < lanes)
      return scanned<2 * by>(v + shifted<by>(v));
    else
      return v;
  }
};

template <class In, class T>
inline constexpr bool vectorizes = std::is_arithmetic_v<T> && sizeof(In) == sizeof(T) && sizeof(T) >= 4;

/// The sum of n elements; its order depends on n alone.
template <class In, class T>
T run_sum(const In* x, int64_t step, int64_t n) {
  constexpr int ways = 16;
  T part[ways] = {};
  int64_t i = 0;
  if (step == 1) {
    for (; i + ways <= n; i += ways)
      for (int k = 0; k < ways; ++k) part[k] = sum_of(part[k], static_cast<T>(x[i + k]));
  } else {
    for (; i + ways <= n; i += ways)
      for (int k = 0; k < ways; ++k) part[k] = sum_of(part[k], static_cast<T>(x[(i + k) * step]));
  }
  for (; i < n; ++i) part[i % ways] = sum_of(part[i % ways], static_cast<T>(x[i * step]));
  for (int half = ways / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k) part[k] = sum_of(part[k], part[k + half]);
  return part[0];
}

/// Prefix sums of n elements behind `before`.
template <bool inclusive, class In, class T>
void run_scan(const In* x, int64_t x_step, T* y, int64_t y_step, int64_t n, T before) {
  int64_t i = 0;
  if constexpr (vectorizes<In, T>) {
    if (x_step == 1 && y_step == 1) {
      using R = Register<T>;
      const T* const from = reinterpret_cast<const T*>(x);  // signed as unsigned
      for (; i + R::lanes <= n; i += R::lanes) {
        const auto sums = R::scanned(R::load(from + i));
        R::store(y + i, (inclusive ? sums : R::template shifted<1>(sums)) + before);
        before += sums[R::lanes - 1];
      }
    }
  }
  for (; i < n; ++i) {
    const T after = sum_of(before, static_cast<T>(x[i * x_step]));
    y[i * y_step] = inclusive ? after : before;
    before = after;
  }
}

/// Neighbouring lines side by side: `width` of them, one element of each in turn.
template <bool inclusive, int width, class In, class T>
void scan_panel(const In* x, int64_t x_step, int64_t x_line, T* y, int64_t y_step, int64_t y_line, int64_t length,
                int64_t lines) {
  T before[width] = {};
  const auto steps = [&](int64_t count, int64_t x_side, int64_t y_side) {
    for (int64_t i = 0; i < length; ++i) {
      const In* const from = x + i * x_step;
      T* const to = y + i * y_step;
      for (int64_t l = 0; l < count; ++l) {
        const T after = sum_of(before[l], static_cast<T>(from[l * x_side]));
        to[l * y_side] = inclusive ? after : before[l];
        before[l] = after;
      }
    }
  };
  if (lines == width && x_line == 1 && y_line == 1)
    steps(width, 1, 1);
  else
    steps(lines, x_line, y_line);
}

}  // namespace kkc::view_scan
