// Kernels of row_stats: offsets, then indices, each in one pass.
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/gpu_warp.hpp"
#include "ops/row_stats/row_stats.hpp"

namespace kkc::row_stats::gpu_parts {

inline constexpr int classes = 40;
inline constexpr unsigned long long none = ~0ull >> 1;

/// Row statistics in device memory.
struct Counts {
  unsigned long long shortest, longest, empty;
  unsigned long long histogram[classes], nonzeros[classes];
  unsigned long long first_bad_row, first_bad_entry;
};

struct Start {
  static constexpr int threads = 128;
  Counts* counts;

  __device__ void operator()() const {
    const int i = static_cast<int>(threadIdx.x);
    if (i < classes) counts->histogram[i] = counts->nonzeros[i] = 0;
    if (i == 0) {
      counts->longest = counts->empty = 0;
      counts->shortest = counts->first_bad_row = counts->first_bad_entry = none;
    }
  }
};

template <class O>
struct CountRows {
  static constexpr int threads = 256;
  const O* offsets;
  int64_t rows, nnz;
  int32_t base;
  Counts* counts;

  __device__ void operator()() const {
    __shared__ unsigned long long histogram[classes], nonzeros[classes], extremes[3];
    const int thread = static_cast<int>(threadIdx.x);
    if (thread < classes) histogram[thread] = nonzeros[thread] = 0;
    if (thread < 3) extremes[thread] = thread == 0 ? none : 0;
    __syncthreads();
    unsigned long long shortest = none, longest = 0, empty = 0;
    // Neighbours are mostly alike: a thread counts rows of one class at once.
    int run_class = 0;
    unsigned long long run = 0, run_entries = 0;
    const int64_t stride = static_cast<int64_t>(gridDim.x) * threads;
    for (int64_t row = static_cast<int64_t>(blockIdx.x) * threads + thread; row < rows; row += stride) {
      const int64_t from = static_cast<int64_t>(offsets[row]) - base,
                    to = static_cast<int64_t>(offsets[row + 1]) - base;
      if (from < 0 || to < from || to > nnz || (row == 0 && from != 0) || (row == rows - 1 && to != nnz)) {
        atomicMin(&counts->first_bad_row, static_cast<unsigned long long>(row));
        continue;
      }
      const unsigned long long length = static_cast<unsigned long long>(to - from);
      const int bin = length < 2 ? 0 : min(64 - __clzll(static_cast<long long>(length - 1)), classes - 1);
      if (bin != run_class) {
        if (run != 0) {
          atomicAdd(&histogram[run_class], run);
          atomicAdd(&nonzeros[run_class], run_entries);
        }
        run_class = bin;
        run = run_entries = 0;
      }
      ++run;
      run_entries += length;
      empty += length == 0;
      shortest = min(shortest, length);
      longest = max(longest, length);
    }
    // A warp that saw one class adds once.
    const int first_class = gpu::shuffle_from(run_class, 0, 32);
    if (gpu::ballot32(run_class == first_class) == 0xffffffffu) {
      run = gpu::subgroup_sum(run, 32);
      run_entries = gpu::subgroup_sum(run_entries, 32);
      if ((thread & 31) != 0) run = 0;
    }
    if (run != 0) {
      atomicAdd(&histogram[run_class], run);
      atomicAdd(&nonzeros[run_class], run_entries);
    }
    for (int mask = 16; mask > 0; mask >>= 1) {
      shortest = min(shortest, gpu::shuffle_xor(shortest, mask, 32));
      longest = max(longest, gpu::shuffle_xor(longest, mask, 32));
    }
    empty = gpu::subgroup_sum(empty, 32);
    if ((thread & 31) == 0) {
      atomicMin(&extremes[0], shortest);
      atomicMax(&extremes[1], longest);
      atomicAdd(&extremes[2], empty);
    }
    __syncthreads();
    if (thread < classes && histogram[thread] != 0) {
      atomicAdd(&counts->histogram[thread], histogram[thread]);
      atomicAdd(&counts->nonzeros[thread], nonzeros[thread]);
    }
    if (thread == 0) {
      atomicMin(&counts->shortest, extremes[0]);
      atomicMax(&counts->longest, extremes[1]);
      if (extremes[2] != 0) atomicAdd(&counts->empty, extremes[2]);
    }
  }
};

/// The first index outside 0..cols-1, once the offsets are known to be good.
template <class I>
struct CheckColumns {
  static constexpr int threads = 256;
  const I* indices;
  int64_t nnz, cols;
  int32_t base;
  Counts* counts;

  __device__ void operator()() const {
    using U = std::make_unsigned_t<I>;
    if (counts->first_bad_row != none) return;
    const int64_t stride = static_cast<int64_t>(gridDim.x) * threads;
    const auto bad = [&](I index) {
      const U column = static_cast<U>(index) - static_cast<U>(base);
      return static_cast<uint64_t>(column) >= static_cast<uint64_t>(cols);
    };
    int64_t p = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    for (; p + 3 * stride < nnz; p += 4 * stride) {
      I index[4];
#pragma unroll
      for (int u = 0; u < 4; ++u) index[u] = indices[p + u * stride];
#pragma unroll
      for (int u = 0; u < 4; ++u)
        if (bad(index[u])) atomicMin(&counts->first_bad_entry, static_cast<unsigned long long>(p + u * stride));
    }
    for (; p < nnz; p += stride)
      if (bad(indices[p])) atomicMin(&counts->first_bad_entry, static_cast<unsigned long long>(p));
  }
};

}  // namespace kkc::row_stats::gpu_parts
