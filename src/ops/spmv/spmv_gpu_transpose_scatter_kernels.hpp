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
/// hubs' sums in shared memory. Together: what a warp's rows add to the same column is added up first.
template <class T, class I, class O, bool WithHubs, int Batch, int Threads, bool Together = false>
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

  /// The same by all lanes of a warp, also those without a row (-1): entries at the same place of neighbouring rows are
  /// added up where they are of one column.
  __device__ void scatter_together(const T& a, int64_t row, int lane, int step) const {
    const int64_t begin = row >= 0 ? A.begin(row) : 0;
    const int length = row >= 0 ? static_cast<int>(A.begin(row + 1) - begin) : 0;
    const T x0 = row >= 0 ? multiply(a, v.x[row * v.x_row]) : T{};
    const T* values = A.values + begin;
    const I* indices = columns.indices + begin;
    for (int k = lane; gpu::ballot32(k < length) != 0; k += Batch * step) {
      T products[Batch];
      I places[Batch];
#pragma unroll
      for (int u = 0; u < Batch; ++u) {
        const int i = k + u * step;
        places[u] = i < length ? load_once(indices + i) - static_cast<I>(columns.base) : I{-1};
        products[u] = i < length ? conjugate_if(load_once(values + i), A.conjugate) : T{};
      }
#pragma unroll
      for (int u = 0; u < Batch; ++u) {
        T product = multiply(products[u], x0);
        I place = places[u];
        for (int apart = step; apart < 32; apart *= 2) {
          const I other = gpu::shuffle_xor(place, apart, 32);
          const T more = gpu::shuffle_xor(product, apart, 32);
          if (other != place || place < 0) continue;
          if ((threadIdx.x & static_cast<unsigned>(apart)) != 0)
            place = -1;
          else
            product = add(product, more);
        }
        if (place >= 0) atomic_add(v.y + place * v.y_row, product);
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
        int64_t row = -1;
        if (place < bins[b].count)
          row = permutation != nullptr ? static_cast<int64_t>(permutation[bins[b].first + place]) : place;
        if constexpr (Together)
          scatter_together(a, row, thread & (lanes - 1), lanes);
        else if (row >= 0)
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
