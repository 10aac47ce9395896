// Kernels that make a transposed pattern and move values into it.
#pragma once

#include "spmv_gpu_plan_kernels.hpp"

namespace kkc::spmv::gpu_parts {

/// Columns and places of all entries, to be sorted by column.
template <class I, class O, class Key>
struct ListEntries {
  static constexpr int threads = 256;
  PlainColumns<I> columns;
  int64_t nnz;
  Key* keys;
  O* places;

  __device__ void operator()() const {
    const int64_t p = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (p >= nnz) return;
    keys[p] = static_cast<Key>(columns.at(p));
    places[p] = static_cast<O>(p);
  }
};

/// Sorted entries become offsets and indices (base 0) of the transpose.
template <class I, class O, class Key>
struct BuildTranspose {
  static constexpr int threads = 256;
  Offsets<O> A;
  const Key* keys;  // ascending
  const O* places;
  int64_t nnz, cols;
  O* offsets;  // [cols + 1]
  I* indices;

  __device__ void operator()() const {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (i > nnz) return;
    const int64_t column = i < nnz ? static_cast<int64_t>(keys[i]) : cols;
    const int64_t before = i == 0 ? -1 : static_cast<int64_t>(keys[i - 1]);
    for (int64_t c = before + 1; c <= column; ++c) offsets[c] = static_cast<O>(i);
    if (i == nnz) return;
    const int64_t place = places[i];
    int64_t low = 0, high = A.rows - 1;  // the last row that begins at or before the place
    while (low < high) {
      const int64_t middle = (low + high + 1) / 2;
      if (A.begin(middle) <= place)
        low = middle;
      else
        high = middle - 1;
    }
    indices[i] = static_cast<I>(low);
  }
};

template <class T, class O>
struct GatherValues {
  static constexpr int threads = 256;
  const T* values;
  const O* places;
  T* target;
  int64_t nnz;

  __device__ void operator()() const {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (i < nnz) target[i] = values[places[i]];
  }
};

}  // namespace kkc::spmv::gpu_parts
