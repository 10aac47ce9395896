// Windows: the rows that begin in one stretch of the merge of rows and entries (Merrill and Garland, "Merge-based
// parallel sparse matrix-vector multiplication", SC'16, section 3), so blocks have equal work whatever the rows'
// lengths. A row belongs to one window alone; rows that are too long for that are cut into segments instead.
#pragma once

#include <bit>

#include "spmv_gpu_long_rows_kernels.hpp"

namespace kkc::spmv::gpu_parts {

template <class I>
struct Windows {
  const I* starts;  // first row of each window, and the number of rows
  int64_t count;
  int32_t capacity;  // rows and entries of a window
};

/// Where staged entries lie: rows of 64 entries, say, would all begin in one bank of shared memory.
struct BankSpread {
  int32_t shift = 31;  // one place is left out after every 2^shift entries

  explicit BankSpread(int64_t row_length = 1) {
    if (row_length > 0 && row_length % 4 == 0) shift = std::countr_zero(static_cast<uint64_t>(row_length));
  }
  __host__ __device__ int32_t operator()(int32_t i) const { return i + (i >> shift); }
};

/// V elements at once.
template <class T, int V>
struct alignas(sizeof(T) * V) Pack {
  T e[V];
};

template <class T, int V>
__device__ inline void multiply_add(const T& a, const Pack<T, V>& x, Pack<T, V>& sum) {
#pragma unroll
  for (int i = 0; i < V; ++i) sum.e[i] = gpu::multiply_add(a, x.e[i], sum.e[i]);
}

/// y = beta y + alpha sum for V vectors of a row of Y.
template <class T, int V>
__device__ inline void store_pack(const Vectors<T>& v, int64_t row, int64_t vector, const Pack<T, V>& sum,
                                  const T& alpha, const T& beta) {
  T* y = v.y + row * v.y_row;
  if constexpr (V == 1) {
    update(y[vector * v.y_vector], sum.e[0], alpha, beta);
  } else if (v.y_vector != 1) {
#pragma unroll
    for (int i = 0; i < V; ++i) update(y[(vector + i) * v.y_vector], sum.e[i], alpha, beta);
  } else {
    auto* place = reinterpret_cast<Pack<T, V>*>(y + vector);
    Pack<T, V> old{};
    if (!is_zero(beta)) old = *place;
#pragma unroll
    for (int i = 0; i < V; ++i) update(old.e[i], sum.e[i], alpha, beta);
    *place = old;
  }
}

/// Many vectors, V neighbours of a row of X a lane and 2^lanes_log2 lanes a row of A; grid.y counts slabs of vectors.
template <class T, class I, class O, int V, int Threads, int Batch>
struct MultiRow {
  static constexpr int threads = Threads;
  static constexpr int width = V;
  Rows<T, O> A;
  PlainColumns<I> columns;
  Windows<I> windows;
  LongRows<I> longs;
  T* partial;  // [segment][vector]
  Vectors<T> v;
  Coefficients<T> c;
  int32_t lanes_log2;
  BankSpread spread;

  __device__ Pack<T, V> load(int64_t row, int64_t vector) const {
    const T* x = v.x + row * v.x_row;
    if constexpr (V == 1)
      return {x[vector * v.x_vector]};
    else
      return *reinterpret_cast<const Pack<T, V>*>(x + vector);
  }

  __device__ void operator()() const {
    extern __shared__ char shared[];
    const int stage = windows.capacity + longs.longest_short;
    T* values = reinterpret_cast<T*>(shared);
    I* indices = reinterpret_cast<I*>(values + spread(stage));
    const T alpha = c.alpha.get(), beta = c.beta.get();
    const bool live = !is_zero(alpha);
    const int thread = static_cast<int>(threadIdx.x);
    const int lanes = 1 << lanes_log2, lane = thread & (lanes - 1), group = thread >> lanes_log2,
              groups = Threads >> lanes_log2;
    const int64_t vector = (static_cast<int64_t>(blockIdx.y) * lanes + lane) * V;
    const bool mine = vector < v.count;
    if (blockIdx.x < static_cast<uint32_t>(longs.segments)) {
      int64_t begin = 0, end = 0;
      if (!live || longs.find(A, static_cast<int32_t>(blockIdx.x), begin, end) < 0) return;
      Pack<T, V> sum{};
      if (mine) {
        for (int64_t p = begin + group; p < end; p += groups)
          multiply_add(conjugate_if(A.values[p], A.conjugate), load(columns.at(p), vector), sum);
      }
      auto* sums = reinterpret_cast<Pack<T, V>*>(shared);
      sums[thread] = sum;
      __syncthreads();
      if (group == 0 && mine) {
        for (int g = 1; g < groups; ++g)
#pragma unroll
          for (int i = 0; i < V; ++i) sum.e[i] = add(sum.e[i], sums[g * lanes + lane].e[i]);
#pragma unroll
        for (int i = 0; i < V; ++i) partial[static_cast<int64_t>(blockIdx.x) * v.count + vector + i] = sum.e[i];
      }
      return;
    }
    const int64_t window = blockIdx.x - longs.segments;
    const int64_t first = windows.starts[window], last = windows.starts[window + 1];
    if (first == last) return;
    const int64_t from = A.begin(first);
    if (live) {
      const int64_t all = A.begin(last) - from;
      const int count = static_cast<int>(all < stage ? all : stage);
      for (int i = thread; i < count; i += Threads) {
        values[spread(i)] = conjugate_if(load_once(A.values + from + i), A.conjugate);
        indices[spread(i)] = load_once(columns.indices + from + i) - static_cast<I>(columns.base);
      }
    }
    __syncthreads();
    if (!mine) return;
    for (int64_t row = first + group; row < last; row += groups) {
      const int64_t begin = A.begin(row) - from, end = A.begin(row + 1) - from;
      if (end - begin > longs.longest_short) continue;
      Pack<T, V> sum{};
      if (live) {
        int i = static_cast<int>(begin);
        const int last_entry = static_cast<int>(end);
        for (; i + Batch <= last_entry; i += Batch) {
          Pack<T, V> x[Batch];
#pragma unroll
          for (int u = 0; u < Batch; ++u) x[u] = load(indices[spread(i + u)], vector);
#pragma unroll
          for (int u = 0; u < Batch; ++u) multiply_add(values[spread(i + u)], x[u], sum);
        }
        for (; i < last_entry; ++i) multiply_add(values[spread(i)], load(indices[spread(i)], vector), sum);
      }
      store_pack(v, row, vector, sum, alpha, beta);
    }
  }
};

}  // namespace kkc::spmv::gpu_parts
