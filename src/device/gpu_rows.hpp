// The row of each entry of a CSR pattern, and index arrays in another order, on GPUs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/gpu_launch.hpp"

namespace kkc::gpu {

/// The last row of low..high that begins at or before entry p.
template <class O>
__device__ inline int64_t row_of_entry(const O* offsets, int64_t base, int64_t low, int64_t high, int64_t p) {
  while (low < high) {
    const int64_t middle = (low + high + 1) / 2;
    if (static_cast<int64_t>(offsets[middle]) - base <= p)
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/// target[p * stride] = row of entry p + base. A block finds the rows of its tile, threads search among those.
template <class Out, class O>
struct ExpandRows {
  static constexpr int threads = 256, items = 8, tile = threads * items;
  const O* offsets;
  int64_t base, rows, nnz;
  Out* target;
  int64_t stride;

  __device__ void operator()() const {
    __shared__ int64_t bounds[2];
    const int64_t first = int64_t{blockIdx.x} * tile, end = first + tile < nnz ? first + tile : nnz;
    if (threadIdx.x < 2)
      bounds[threadIdx.x] = row_of_entry(offsets, base, 0, rows - 1, threadIdx.x == 0 ? first : end - 1);
    __syncthreads();
    const int64_t low = bounds[0], high = bounds[1];
    for (int64_t p = first + threadIdx.x; p < end; p += threads)
      target[p * stride] = static_cast<Out>(row_of_entry(offsets, base, low, high, p) + base);
  }
};

/// Enqueues it; nothing for no entries. Rows count from `base` as the offsets do.
template <class Out, class O>
void expand_rows(const Queue& queue, const O* offsets, int64_t base, int64_t rows, int64_t nnz, Out* target,
                 int64_t stride = 1) {
  using Kernel = ExpandRows<Out, O>;
  launch(queue, blocks_for(nnz, Kernel::tile), Kernel::threads, 0, Kernel{offsets, base, rows, nnz, target, stride});
}

/// target[k] = source[positions[k]] - base
template <class T, class O>
struct Pick {
  static constexpr int threads = 256, items = 4, tile = threads * items;
  const T* source;
  const O* positions;
  int64_t n;
  T base;
  T* target;

  __device__ void operator()() const {
    const int64_t first = int64_t{blockIdx.x} * tile + threadIdx.x;
    T picked[items];
#pragma unroll
    for (int u = 0; u < items; ++u)
      if (const int64_t k = first + u * threads; k < n) picked[u] = source[positions[k]];
#pragma unroll
    for (int u = 0; u < items; ++u)
      if (const int64_t k = first + u * threads; k < n) target[k] = picked[u] - base;
  }
};

/// Enqueues it.
template <class T, class O>
void pick(const Queue& queue, const T* source, const O* positions, int64_t n, T* target, T base = 0) {
  using Kernel = Pick<T, O>;
  launch(queue, blocks_for(n, Kernel::tile), Kernel::threads, 0, Kernel{source, positions, n, base, target});
}

}  // namespace kkc::gpu
