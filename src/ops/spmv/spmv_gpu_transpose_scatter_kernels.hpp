// y += alpha op(A) x for transposed A as it is: each entry is added to y atomically. On graphs the columns that many
// rows share are summed in shared memory first.
#pragma once

#include "spmv_gpu_row_binned_kernels.hpp"

namespace kkc::spmv::gpu_parts {

/// y = beta y
template <class T>
struct Scale {
  static constexpr int threads = 256;
  T* y;
  int64_t rows, count, y_row, y_vector;
  Factor<T> beta;

  __device__ void operator()() const {
    const int64_t item = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (item >= rows * count) return;
    // Along the shorter stride.
    const bool rows_first = y_row <= y_vector || count == 1;
    const int64_t row = rows_first ? item % rows : item / count, vector = rows_first ? item / rows : item % count;
    T& target = y[row * y_row + vector * y_vector];
    const T b = beta.get();
    target = is_zero(b) ? T{} : multiply(b, target);
  }
};

/// Columns that the plan found in many rows. `slots` are the matrix's columns, or ~slot for a hub.
template <class I>
struct Hubs {
  const I* slots;
  const I* columns;  // of each slot
  int32_t count;
};

/// Segments of long rows, then bins of rows, as in RowBinned. With hubs, blocks stay resident and keep the
/// hubs' sums in shared memory.
template <class T, class I, class O, bool WithHubs, int Batch, int Threads>
struct ScatterBinned {
  static constexpr int threads = Threads;
  Rows<T, O> A;
  PlainColumns<I> columns;
  const I* permutation;
  LongRows<I> longs;
  Hubs<I> hubs;
  Vectors<T> v;
  Factor<T> alpha;
  uint32_t blocks;
  int32_t bin_count;
  Bin bins[max_bins];

  __device__ void scatter(const T& a, int64_t row, int64_t begin, int64_t end, int lane, int step, T* sums) const {
    const T* x = v.x + row * v.x_row;
    const T x0 = multiply(a, x[0]);
    const T* values = A.values + begin;
    const I* indices = (WithHubs ? hubs.slots : columns.indices) + begin;
    const int length = static_cast<int>(end - begin);
    for (int k = lane; k < length; k += Batch * step) {
      T factors[Batch];
      I places[Batch];
#pragma unroll
      for (int u = 0; u < Batch; ++u) {
        if (k + u * step >= length) continue;
        places[u] = load_once(indices + k + u * step) - (WithHubs ? I{0} : static_cast<I>(columns.base));
        factors[u] = conjugate_if(load_once(values + k + u * step), A.conjugate);
      }
#pragma unroll
      for (int u = 0; u < Batch; ++u) {
        if (k + u * step >= length) continue;
        if (WithHubs && places[u] < 0)
          atomic_add(sums + ~places[u], multiply(factors[u], x0));
        else
          atomic_add(v.y + places[u] * v.y_row, multiply(factors[u], x0));
      }
    }
  }

  __device__ void operator()() const {
    extern __shared__ char shared[];
    T* sums = reinterpret_cast<T*>(shared);
    const T a = alpha.get();
    if (is_zero(a)) return;
    const int thread = static_cast<int>(threadIdx.x);
    if constexpr (WithHubs) {
      for (int i = thread; i < hubs.count; i += threads) sums[i] = T{};
      __syncthreads();
    }
    for (uint32_t block = blockIdx.x; block < blocks; block += gridDim.x) {
      if (block < static_cast<uint32_t>(longs.segments)) {
        int64_t begin = 0, end = 0;
        const int64_t row = longs.find(A, static_cast<int32_t>(block), begin, end);
        if (row >= 0) scatter(a, row, begin, end, thread, threads, sums);
      } else {
        int b = 0;
        while (b + 1 < bin_count && block >= bins[b + 1].first_block) ++b;
        const int lanes = 1 << bins[b].lanes_log2;
        const int64_t place =
            (static_cast<int64_t>(block - bins[b].first_block) * threads + thread) >> bins[b].lanes_log2;
        if (place >= bins[b].count) continue;
        const int64_t row = permutation != nullptr ? static_cast<int64_t>(permutation[bins[b].first + place]) : place;
        scatter(a, row, A.begin(row), A.begin(row + 1), thread & (lanes - 1), lanes, sums);
      }
    }
    if constexpr (WithHubs) {
      __syncthreads();
      for (int i = thread; i < hubs.count; i += threads) atomic_add(v.y + hubs.columns[i] * v.y_row, sums[i]);
    }
  }
};

}  // namespace kkc::spmv::gpu_parts
