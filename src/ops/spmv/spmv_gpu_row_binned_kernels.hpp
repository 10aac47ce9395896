// Rows sorted into bins by length, each bin with its own number of lanes a row (ACSR: Ashari et al., "Fast sparse
// matrix-vector multiplication on GPUs for graph applications", SC'14, section III); long rows are cut into segments.
#pragma once

#include "spmv_gpu_long_rows_kernels.hpp"

namespace kkc::spmv::gpu_parts {

inline constexpr int max_bins = 8;

struct Bin {
  int64_t first, count;  // in the permutation
  uint32_t first_block;
  int32_t lanes_log2;
};

/// Blocks 0 .. segments - 1 work on segments, then follow the bins, longest rows first.
template <class T, class I, class O, int Batch = 4>
struct RowBinned {
  static constexpr int threads = 256;
  static constexpr int blocks_per_sm = sizeof(T) > 8 ? 4 : 6;  // gathers from x need many warps
  Rows<T, O> A;
  PlainColumns<I> columns;
  const I* permutation;
  LongRows<I> longs;
  T* partial;
  Vectors<T> v;
  Coefficients<T> c;
  int32_t bin_count;
  Bin bins[max_bins];

  /// Values and columns are read once: they leave the cache to x.
  __device__ T product(int64_t begin, int64_t end, int lane, int step) const {
    const T* values = A.values + begin;
    const I* indices = columns.indices + begin;
    const I base = static_cast<I>(columns.base);
    return dot_row<Batch, T>(
        lane, step, static_cast<int>(end - begin), A.conjugate, [=](int k) { return load_once(values + k); },
        [=](int k) { return load_once(indices + k) - base; }, [&](I column) { return v.x[column * v.x_row]; });
  }

  __device__ void operator()() const {
    __shared__ T scratch[threads / 32];
    const T alpha = c.alpha.get();
    const int thread = static_cast<int>(threadIdx.x);
    const bool cut = blockIdx.x < static_cast<uint32_t>(longs.segments);
    int64_t begin = 0, end = 0, row = -1;
    int lanes = threads, lane = thread;
    if (cut) {
      row = longs.find(A, static_cast<int32_t>(blockIdx.x), begin, end);
      if (row < 0) return;
    } else {
      int b = 0;
      while (b + 1 < bin_count && blockIdx.x >= bins[b + 1].first_block) ++b;
      lanes = 1 << bins[b].lanes_log2;
      lane = thread & (lanes - 1);
      const int64_t place =
          (static_cast<int64_t>(blockIdx.x - bins[b].first_block) * threads + thread) >> bins[b].lanes_log2;
      if (place < bins[b].count) {
        row = permutation[bins[b].first + place];
        begin = A.begin(row);
        end = A.begin(row + 1);
      }
    }
    T sum = is_zero(alpha) ? T{} : product(begin, end, lane, lanes);
    if (cut) {
      sum = block_sum<T, threads>(sum, scratch);
      if (!longs.finish(A, row, static_cast<int32_t>(blockIdx.x), partial, sum)) return;
    } else {
      sum = gpu::subgroup_sum(sum, lanes);
    }
    if (row >= 0 && lane == 0) update(v.y[row * v.y_row], sum, alpha, c.beta.get());
  }
};

}  // namespace kkc::spmv::gpu_parts
