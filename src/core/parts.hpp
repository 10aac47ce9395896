// Complex numbers as two real parts: aligned for a part (what callers' memory promises), and multiplied by the plain
// formula, without the recovery of infinities that the standard library's operator adds.
#pragma once

#include "types.hpp"

namespace kkc {

template <class R>
struct Parts {
  R re, im;
  friend constexpr bool operator==(const Parts& a, const Parts& b) { return a.re == b.re && a.im == b.im; }
};

/// T as kernels hold it: itself, or the parts of a complex number.
template <class T>
struct ElementOf {
  using type = T;
};
template <class R>
struct ElementOf<std::complex<R>> {
  using type = Parts<R>;
};
template <class T>
using Element = typename ElementOf<T>::type;

template <class R>
constexpr R times(R a, R b) {
  return a * b;
}
template <class R>
constexpr Parts<R> times(Parts<R> a, Parts<R> b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
template <class R>
constexpr R plus(R a, R b) {
  return a + b;
}
template <class R>
constexpr Parts<R> plus(Parts<R> a, Parts<R> b) {
  return {a.re + b.re, a.im + b.im};
}

}  // namespace kkc
