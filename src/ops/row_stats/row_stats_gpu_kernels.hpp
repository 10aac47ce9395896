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

/// Block: a matrix.
struct Start {
  static constexpr int threads = 128;
  Counts* counts;

  __device__ void operator()() const {
    const int i = static_cast<int>(threadIdx.x);
    Counts& mine = counts[blockIdx.x];
    if (i < classes) mine.histogram[i] = mine.nonzeros[i] = 0;
    if (i == 0) {
      mine.longest = mine.empty = 0;
      mine.shortest = mine.first_bad_row = mine.first_bad_entry = none;
    }
  }
};

template <class O>
struct CountRows {
  static constexpr int threads = 256, batch = 4;
  const O* offsets;
  int64_t rows, nnz;
  int32_t base;
  Counts* counts;

  __device__ void operator()() const {
    __shared__ unsigned long long histogram[classes], nonzeros[classes], extremes[3];
    const int thread = static_cast<int>(threadIdx.x);
    const bool first_lane = (thread & 31) == 0;
    if (static_cast<int64_t>(blockIdx.x) * threads >= rows) return;
    if (thread < classes) histogram[thread] = nonzeros[thread] = 0;
    if (thread < 3) extremes[thread] = thread == 0 ? none : 0;
    __syncthreads();
    unsigned long long shortest = none, longest = 0, empty = 0;
    // Neighbours are mostly alike: while 32 of them are of one class, each thread counts its own.
    int run_class = 0;
    unsigned long long run = 0, run_entries = 0;
    const auto add_run = [&] {
      const unsigned long long all = gpu::subgroup_sum(run, 32), entries = gpu::subgroup_sum(run_entries, 32);
      if (first_lane && all != 0) {
        atomicAdd(&histogram[run_class], all);
        atomicAdd(&nonzeros[run_class], entries);
      }
      run = run_entries = 0;
    };
    const auto take = [&](int64_t row, O begin, O end) {
      const int64_t from = static_cast<int64_t>(begin) - base, to = static_cast<int64_t>(end) - base;
      bool good = row < rows;
      if (good && (from < 0 || to < from || to > nnz || (row == 0 && from != 0) || (row == rows - 1 && to != nnz))) {
        atomicMin(&counts->first_bad_row, static_cast<unsigned long long>(row));
        good = false;
      }
      const unsigned long long length = good ? static_cast<unsigned long long>(to - from) : 0;
      const int bin = length < 2 ? 0 : min(64 - __clzll(static_cast<long long>(length - 1)), classes - 1);
      if (good) {
        empty += length == 0;
        shortest = min(shortest, length);
        longest = max(longest, length);
      }
      uint32_t open = gpu::ballot32(good);
      if (open == 0) return;
      const int leading = gpu::shuffle_from(bin, __ffs(static_cast<int>(open)) - 1, 32);
      if (gpu::ballot32(good && bin == leading) == open) {
        if (leading != run_class) {
          add_run();
          run_class = leading;
        }
        run += good;
        run_entries += length;
        return;
      }
      while (open != 0) {
        const int one = gpu::shuffle_from(bin, __ffs(static_cast<int>(open)) - 1, 32);
        const uint32_t same = gpu::ballot32(good && bin == one);
        const unsigned long long entries = gpu::subgroup_sum(good && bin == one ? length : 0ull, 32);
        if (first_lane) {
          atomicAdd(&histogram[one], static_cast<unsigned long long>(__popc(same)));
          atomicAdd(&nonzeros[one], entries);
        }
        open &= ~same;
      }
    };
    const int64_t stride = static_cast<int64_t>(gridDim.x) * threads;
    for (int64_t block = static_cast<int64_t>(blockIdx.x) * threads; block < rows; block += batch * stride) {
      O begin[batch], end[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        const int64_t row = block + u * stride + thread;
        begin[u] = row < rows ? offsets[row] : 0;
        end[u] = row < rows ? offsets[row + 1] : 0;
      }
#pragma unroll
      for (int u = 0; u < batch; ++u) take(block + u * stride + thread, begin[u], end[u]);
    }
    add_run();
    for (int mask = 16; mask > 0; mask >>= 1) {
      shortest = min(shortest, gpu::shuffle_xor(shortest, mask, 32));
      longest = max(longest, gpu::shuffle_xor(longest, mask, 32));
    }
    empty = gpu::subgroup_sum(empty, 32);
    if (first_lane) {
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

/// The first index outside 0..cols-1.
template <class I>
struct CheckColumns {
  static constexpr int threads = 256, batch = 4;
  const I* indices;
  int64_t nnz, cols;
  int32_t base;
  Counts* counts;

  __device__ void operator()() const {
    using U = std::make_unsigned_t<I>;
    const int64_t stride = static_cast<int64_t>(gridDim.x) * threads;
    const auto bad = [&](I index) {
      const U column = static_cast<U>(index) - static_cast<U>(base);
      return static_cast<uint64_t>(column) >= static_cast<uint64_t>(cols);
    };
    for (int64_t p = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x; p < nnz; p += batch * stride) {
      I index[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u) index[u] = p + u * stride < nnz ? indices[p + u * stride] : static_cast<I>(base);
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (bad(index[u]) && p + u * stride < nnz)
          atomicMin(&counts->first_bad_entry, static_cast<unsigned long long>(p + u * stride));
    }
  }
};

/// Both in one launch: each part of the grid looks at its rows, then at its entries.
template <class I, class O>
struct CheckPattern {
  static constexpr int threads = 256;
  CountRows<O> rows;
  CheckColumns<I> columns;

  __device__ void operator()() const {
    rows();
    columns();
  }
};

}  // namespace kkc::row_stats::gpu_parts
