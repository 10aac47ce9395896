// Arithmetic of a row of I - omega D^-1 A, for hosts and Kokkos kernels.
#pragma once

#include "core/parts.hpp"

namespace kkc::spgemm_jacobi {

template <class R>
constexpr R inverse_of(R d) {
  return R{1} / d;
}
template <class R>
constexpr Parts<R> inverse_of(Parts<R> d) {
  const R scale = d.re * d.re + d.im * d.im;
  return {d.re / scale, -d.im / scale};
}

template <class R>
constexpr R plus_one(R a) {
  return a + R{1};
}
template <class R>
constexpr Parts<R> plus_one(Parts<R> a) {
  return {a.re + R{1}, a.im};
}

/// -omega / d
template <class R>
constexpr R jacobi_scale(R omega, R inverse) {
  return -(omega * inverse);
}
template <class R>
constexpr Parts<R> jacobi_scale(Parts<R> omega, Parts<R> inverse) {
  const Parts<R> product = times(omega, inverse);
  return {-product.re, -product.im};
}

}  // namespace kkc::spgemm_jacobi
