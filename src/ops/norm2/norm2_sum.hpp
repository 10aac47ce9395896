// Sums of squares that neither overflow nor underflow: three sums, of large, ordinary and small numbers, each scaled to
// stay in range. E. Anderson, Algorithm 978: Safe scaling in the level 1 BLAS, ACM TOMS 44 (2017), section 3.
#pragma once

#include "core/parts.hpp"

namespace kkc::norm2 {

inline constexpr double large = 0x1p+486, small = 0x1p-511;          // bounds of ordinary numbers
inline constexpr double shrink = 0x1p-538, enlarge = 0x1p+537;       // factors for those outside
inline constexpr double sum_least = 0x1p-900, sum_most = 0x1p+1000;  // a plain sum between them lost nothing

struct Sum {
  double ordinary, above, below;
  constexpr void add(const Sum& other) {
    ordinary += other.ordinary;
    above += other.above;
    below += other.below;
  }
};

/// Whether a plain sum of squares is as good as the three. Not for 0 (all squares may have vanished), infinity, NaN.
constexpr bool safe(double plain) { return plain >= sum_least && plain <= sum_most; }

constexpr double absolute(double x) { return x < 0 ? -x : x; }

/// NaN counts as ordinary.
constexpr void accumulate_safely(Sum& sum, double x) {
  const double a = absolute(x);
  if (a > large)
    sum.above += (a * shrink) * (a * shrink);
  else if (a < small)
    sum.below += (a * enlarge) * (a * enlarge);
  else
    sum.ordinary += a * a;
}

/// Squares of floats are always in the range of double.
template <class T>
inline constexpr bool always_safe = false;
template <>
inline constexpr bool always_safe<float> = true;
template <>
inline constexpr bool always_safe<Parts<float>> = true;

template <class R>
constexpr double square(R x) {
  return static_cast<double>(x) * static_cast<double>(x);
}
template <class R>
constexpr double square(Parts<R> x) {
  return square(x.re) + square(x.im);
}
template <class R>
constexpr void accumulate_parts(Sum& sum, R x) {
  accumulate_safely(sum, static_cast<double>(x));
}
template <class R>
constexpr void accumulate_parts(Sum& sum, Parts<R> x) {
  accumulate_safely(sum, static_cast<double>(x.re));
  accumulate_safely(sum, static_cast<double>(x.im));
}

/// sqrt is the caller's, as devices differ.
template <class Sqrt>
constexpr double root(const Sum& sum, Sqrt sqrt) {
  if (sum.above > 0) {
    // Ordinary numbers count beside large ones only through their scaled sum; NaN stays NaN.
    const double scaled = sum.above + (sum.ordinary * shrink) * shrink;
    return sqrt(scaled) / shrink;
  }
  if (sum.below > 0) {
    const double o = sqrt(sum.ordinary), b = sqrt(sum.below) / enlarge;
    const double most = o > b || o != o ? o : b, least = o > b || o != o ? b : o;
    return most * sqrt(1.0 + (least / most) * (least / most));
  }
  return sqrt(sum.ordinary);
}

}  // namespace kkc::norm2
