// What sptrsv's kernels on GPUs share: numbers that are their own flags, and operands.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/operands.hpp"
#include "device/gpu_scalar.hpp"
#include "device/gpu_warp.hpp"
#include "device/gpu_zero_rows.hpp"

namespace kkc::sptrsv::gpu_parts {

template <class R>
using Bits = std::conditional_t<sizeof(R) == 4, uint32_t, uint64_t>;

/// Whether this place was not written since the fill: all its bits are ones, one of the many NaNs.
template <class R>
__device__ inline bool absent(const R& v) {
  if constexpr (gpu::is_pair<R>) {
    return absent(v.re) || absent(v.im);
  } else {
    Bits<R> bits;
    memcpy(&bits, &v, sizeof v);
    return bits == static_cast<Bits<R>>(~Bits<R>{0});
  }
}

/// Makes it absent.
template <class R>
__device__ inline void forget(R& v) {
  memset(static_cast<void*>(&v), 0xff, sizeof v);
}

/// Lets others see a number: that NaN as another one.
template <class R>
__device__ inline void publish(R* place, R v) {
  if constexpr (gpu::is_pair<R>) {
    publish(&place->re, v.re);
    publish(&place->im, v.im);
  } else {
    if (absent(v)) {
      const Bits<R> other = static_cast<Bits<R>>(~Bits<R>{0}) >> 1;
      memcpy(&v, &other, sizeof v);
    }
    *static_cast<volatile R*>(place) = v;
  }
}

template <class T>
__device__ inline T subtract(const T& a, const T& b) {
  if constexpr (gpu::is_pair<T>)
    return {a.re - b.re, a.im - b.im};
  else
    return a - b;
}

/// 1 / d; complex ones scaled, so that the square of a part neither overflows nor vanishes (Smith, "Algorithm 116",
/// Commun. ACM 5, 1962).
template <class T>
__device__ inline T reciprocal(const T& d) {
  if constexpr (gpu::is_pair<T>) {
    const auto re = d.re < 0 ? -d.re : d.re, im = d.im < 0 ? -d.im : d.im;
    if (re >= im) {
      const auto ratio = d.im / d.re, scale = 1 / (d.re + d.im * ratio);
      return {scale, -ratio * scale};
    }
    const auto ratio = d.re / d.im, scale = 1 / (d.im + d.re * ratio);
    return {ratio * scale, -scale};
  } else {
    return 1 / d;
  }
}

template <class T>
__device__ inline T one() {
  if constexpr (gpu::is_pair<T>)
    return {1, 0};
  else
    return 1;
}

/// The triangle: A's own pattern, or a transposed one with the places of its entries in A.
template <class T, class I, class O>
struct Triangle {
  const O* offsets;
  const I* indices;
  const O* diagonal;   // as Levels::diagonal
  const O* positions;  // or null: entry k's value is values[k]
  const T* values;
  int64_t rows;
  int32_t base;
  bool lower, parted, unit, conjugate;

  __device__ T value(O place) const {
    return gpu::conjugate_if(gpu::load_constant(values + (positions == nullptr ? place : positions[place])), conjugate);
  }
  __device__ bool needs(int64_t row, int64_t column) const { return lower ? column < row : column > row; }
};

/// A row's entries in the triangle, its diagonal aside; all of its entries where the pattern is not parted.
template <class O>
struct Span {
  O from, to, diagonal;
};
template <class T, class I, class O>
__device__ inline Span<O> span_of(const Triangle<T, I, O>& A, int64_t row) {
  const O at = A.diagonal[row];
  if (!A.parted) return {static_cast<O>(A.offsets[row] - A.base), static_cast<O>(A.offsets[row + 1] - A.base), at};
  if (A.lower) return {static_cast<O>(A.offsets[row] - A.base), at < 0 ? static_cast<O>(~at) : at, at};
  return {at < 0 ? static_cast<O>(~at) : static_cast<O>(at + 1), static_cast<O>(A.offsets[row + 1] - A.base), at};
}

/// The last i of 0..count - 1 with starts[i] <= p, where starts[0] is.
template <class I>
__device__ inline int64_t last_begun(const I* starts, int64_t count, int64_t p) {
  int64_t low = 0, high = count - 1;
  while (low < high) {
    const int64_t middle = (low + high + 1) / 2;
    if (starts[middle] <= p)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/// A warp's, of blocks that take tickets (~0 at first); all threads of the block call.
__device__ inline int64_t take_turn(unsigned* ticket, int warps) {
  __shared__ unsigned taken;
  if (threadIdx.x == 0) taken = atomicAdd(ticket, 1u) + 1u;
  __syncthreads();
  return static_cast<int64_t>(taken) * warps + threadIdx.x / 32;
}

template <class T>
struct Operands {
  const T* b;
  T* x;
  int64_t b_row, b_column, x_row, x_column, vectors;
  Factor<T> alpha;
};

/// Fills device memory with copies of a word.
struct Fill {
  static constexpr int threads = 256;
  uint4* words;
  int64_t count;
  uint32_t word;

  __device__ void operator()() const {
    for (int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x; i < count; i += int64_t{gridDim.x} * threads)
      words[i] = {word, word, word, word};
  }
};

}  // namespace kkc::sptrsv::gpu_parts
