// What dot adds up: always in double precision.
#pragma once

#include "core/parts.hpp"

namespace kkc::dot {

/// Real and imaginary part of a sum; the imaginary part of real vectors stays zero.
struct Sum {
  double re, im;
  constexpr void add(const Sum& other) {
    re += other.re;
    im += other.im;
  }
};

/// sum += x y, or conj(x) y.
template <class R>
constexpr void accumulate(Sum& sum, R x, R y, double) {
  sum.re += static_cast<double>(x) * static_cast<double>(y);
}
/// sign: 1 for x y, -1 for conj(x) y.
template <class R>
constexpr void accumulate(Sum& sum, Parts<R> x, Parts<R> y, double sign) {
  const double xr = static_cast<double>(x.re), xi = sign * static_cast<double>(x.im);
  const double yr = static_cast<double>(y.re), yi = static_cast<double>(y.im);
  sum.re += xr * yr - xi * yi;
  sum.im += xr * yi + xi * yr;
}

template <class R>
constexpr void store(R& to, const Sum& sum) {
  to = static_cast<R>(sum.re);
}
template <class R>
constexpr void store(Parts<R>& to, const Sum& sum) {
  to = {static_cast<R>(sum.re), static_cast<R>(sum.im)};
}

}  // namespace kkc::dot
