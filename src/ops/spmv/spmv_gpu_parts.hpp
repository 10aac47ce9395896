// What the GPU kernels of spmv share: operands as kernels see them, sources of column indices, the update of y.
#pragma once

#include <cstdint>

#include "core/operands.hpp"
#include "device/gpu_scalar.hpp"
#include "device/gpu_warp.hpp"

namespace kkc::spmv::gpu_parts {

using gpu::add;
using gpu::atomic_add;
using gpu::conjugate_if;
using gpu::is_zero;
using gpu::load_fresh;
using gpu::load_once;
using gpu::multiply;
using gpu::multiply_add;

template <class T, class O>
struct Rows {
  const O* offsets;
  const T* values;
  int64_t rows;
  int32_t base;
  bool conjugate;

  __device__ int64_t begin(int64_t row) const { return static_cast<int64_t>(offsets[row]) - base; }
};

/// Offsets alone, for kernels that read no values.
template <class O>
struct Offsets {
  const O* offsets;
  int64_t rows;
  int32_t base;

  __device__ int64_t begin(int64_t row) const { return static_cast<int64_t>(offsets[row]) - base; }
};

/// Column indices as the matrix holds them.
template <class I>
struct PlainColumns {
  const I* indices;
  int32_t base;

  struct Row {
    const I* indices;
    I base;
    __device__ I operator()(int k) const { return indices[k] - base; }
  };
  __device__ Row row(int64_t, int64_t begin) const { return {indices + begin, static_cast<I>(base)}; }
  __device__ I at(int64_t entry) const { return indices[entry] - static_cast<I>(base); }
};

/// The plan's 16-bit columns, relative to the smallest one of each 32 rows.
template <class I>
struct NearColumns {
  const uint16_t* near;
  const I* bases;

  struct Row {
    const uint16_t* near;
    I base;
    __device__ I operator()(int k) const { return base + static_cast<I>(near[k]); }
  };
  __device__ Row row(int64_t row, int64_t begin) const { return {near + begin, bases[row >> 5]}; }
};

/// Adds the entries lane, lane + step, ... of a row of `length` entries; all loads of a batch are under way before the
/// first product waits for one.
template <int Batch, class T, class Value, class Column, class X>
__device__ inline T dot_row(int lane, int step, int length, bool conjugate, const Value& value, const Column& column,
                            const X& x) {
  T sum{};
  for (int k = lane; k < length; k += Batch * step) {
    T values[Batch], factors[Batch];
#pragma unroll
    for (int u = 0; u < Batch; ++u) {
      const int i = k + u * step;
      values[u] = factors[u] = T{};
      if (i < length) {
        values[u] = value(i);
        factors[u] = x(column(i));
      }
    }
#pragma unroll
    for (int u = 0; u < Batch; ++u) sum = multiply_add(conjugate_if(values[u], conjugate), factors[u], sum);
  }
  return sum;
}

/// One or many vectors; strides in elements.
template <class T>
struct Vectors {
  const T* x;
  T* y;
  int64_t x_row, x_vector, y_row, y_vector;
  int64_t count;
};

template <class T>
struct Coefficients {
  Factor<T> alpha, beta;
};

template <class T>
__device__ inline void update(T& y, const T& sum, const T& alpha, const T& beta) {
  y = is_zero(beta) ? multiply(alpha, sum) : multiply_add(alpha, sum, multiply(beta, y));
}

}  // namespace kkc::spmv::gpu_parts
