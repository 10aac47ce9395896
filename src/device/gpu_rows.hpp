// The row of each entry of a CSR pattern, and index arrays in another order, on GPUs.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/gpu_launch.hpp"
#include "device/gpu_warp.hpp"

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

/// The same by 32 threads, all of which call it with the same arguments and get it: 33 parts a step.
template <class O>
__device__ inline int64_t row_of_entry32(const O* offsets, int64_t base, int64_t low, int64_t high, int64_t p) {
  const int lane = static_cast<int>(threadIdx.x & 31u);
  while (low < high) {
    const int64_t width = (high - low + 31) / 32, row = low + (lane + 1) * width;
    const bool before = row <= high && static_cast<int64_t>(offsets[row]) - base <= p;
    low += __popc(ballot32(before)) * width;
    if (low + width - 1 < high) high = low + width - 1;
  }
  return low;
}

/// The rows of a block's first and last entry, for all of its threads; `bounds` is in shared memory.
template <class O>
__device__ inline void rows_of_tile(const O* offsets, int64_t base, int64_t rows, int64_t first, int64_t last,
                                    int64_t (&bounds)[2]) {
  const unsigned which = threadIdx.x >> 5;
  if (which < 2) {
    const int64_t row = row_of_entry32(offsets, base, 0, rows - 1, which == 0 ? first : last);
    if ((threadIdx.x & 31u) == 0) bounds[which] = row;
  }
  __syncthreads();
}

/// target[p * stride] = row of entry p + base. Rows are marked where they begin in a block's tile and spread to the
/// entries behind; where nearly all are empty, threads search among them.
template <class Out, class O>
struct ExpandRows {
  static constexpr int threads = 256, items = 8, tile = threads * items;
  const O* offsets;
  int64_t base, rows, nnz;
  Out* target;
  int64_t stride;

  __device__ void operator()() const {
    __shared__ int64_t bounds[2];
    __shared__ int32_t marks[tile + tile / 32], of_warps[threads / 32];
    const int64_t first = int64_t{blockIdx.x} * tile, end = first + tile < nnz ? first + tile : nnz;
    rows_of_tile(offsets, base, rows, first, end - 1, bounds);
    const int64_t low = bounds[0], high = bounds[1];
    const int thread = static_cast<int>(threadIdx.x);
    if (high - low > 4 * tile) {
      for (int64_t p = first + thread; p < end; p += threads)
        target[p * stride] = static_cast<Out>(row_of_entry(offsets, base, low, high, p) + base);
      return;
    }
    for (int k = thread; k < tile; k += threads) marks[spread(k)] = 0;
    __syncthreads();
    for (int64_t row = low + 1 + thread; row <= high; row += threads) {
      const int64_t begin = static_cast<int64_t>(offsets[row]) - base,
                    next = static_cast<int64_t>(offsets[row + 1]) - base;
      if (begin < next) marks[spread(static_cast<int>(begin - first))] = static_cast<int32_t>(row - low);
    }
    __syncthreads();
    int32_t row[items], most = 0;  // of entries thread * items ..
#pragma unroll
    for (int u = 0; u < items; ++u) {
      const int32_t mark = marks[spread(thread * items + u)];
      most = mark > most ? mark : most;
      row[u] = most;
    }
    for (int by = 1; by < 32; by <<= 1) {
      const int32_t below = shuffle_up(most, by, 32);
      if ((thread & 31) >= by && below > most) most = below;
    }
    int32_t before = shuffle_up(most, 1, 32);
    if ((thread & 31) == 0) before = 0;
    if ((thread & 31) == 31) of_warps[thread / 32] = most;
    __syncthreads();
    for (int w = 0; w < thread / 32; ++w) before = of_warps[w] > before ? of_warps[w] : before;
#pragma unroll
    for (int u = 0; u < items; ++u) marks[spread(thread * items + u)] = row[u] > before ? row[u] : before;
    __syncthreads();
    for (int k = thread; first + k < end; k += threads)
      target[(first + k) * stride] = static_cast<Out>(low + marks[spread(k)] + base);
  }

  /// A place in shared memory: threads' items lie at different banks.
  __device__ static int spread(int k) { return k + k / 32; }
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
