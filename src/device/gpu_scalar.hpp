// Numbers in raw GPU kernels: real types and a complex type laid out as std::complex, with one name for each
// operation. Products are plain, without the recovery of infinities.
#pragma once

#include <complex>
#include <cstdint>
#include <type_traits>

#include "device/gpu_api.hpp"

namespace kkc::gpu {

template <class R>
struct alignas(2 * sizeof(R)) Complex {
  R re, im;
};

/// The kernels' name of an element type of core/types.hpp.
template <class T>
struct ElementOf {
  using type = T;
};
template <class R>
struct ElementOf<std::complex<R>> {
  using type = Complex<R>;
};
template <class T>
using Element = typename ElementOf<T>::type;

template <class T>
inline constexpr bool is_pair = false;
template <class R>
inline constexpr bool is_pair<Complex<R>> = true;

template <class T>
__host__ __device__ inline bool is_zero(const T& a) {
  if constexpr (is_pair<T>)
    return a.re == 0 && a.im == 0;
  else
    return a == 0;
}

/// Neither infinite nor NaN, in either part.
template <class T>
__device__ inline bool is_finite(const T& a) {
  if constexpr (is_pair<T>)
    return is_finite(a.re) && is_finite(a.im);
  else
    return a - a == 0;
}

/// c + a b, each product added in one operation whatever stands around it, so that kernels agree on the bits.
template <class T>
__device__ inline T multiply_add(const T& a, const T& b, const T& c) {
  if constexpr (is_pair<T>)
    return {multiply_add(-a.im, b.im, multiply_add(a.re, b.re, c.re)),
            multiply_add(a.im, b.re, multiply_add(a.re, b.im, c.im))};
  else
    return fma(a, b, c);
}

template <class T>
__device__ inline T multiply(const T& a, const T& b) {
  if constexpr (is_pair<T>)
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  else
    return a * b;
}

template <class T>
__device__ inline T add(const T& a, const T& b) {
  if constexpr (is_pair<T>)
    return {a.re + b.re, a.im + b.im};
  else
    return a + b;
}

template <class T>
__device__ inline T conjugate_if(const T& a, bool conjugate) {
  if constexpr (is_pair<T>)
    return {a.re, conjugate ? -a.im : a.im};
  else
    return a;
}

/// *target += a, each part on its own.
template <class T>
__device__ inline void atomic_add(T* target, const T& a) {
  if constexpr (is_pair<T>) {
    atomicAdd(&target->re, a.re);
    atomicAdd(&target->im, a.im);
  } else {
    atomicAdd(target, a);
  }
}

}  // namespace kkc::gpu
