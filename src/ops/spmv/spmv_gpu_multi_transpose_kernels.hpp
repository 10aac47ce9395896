// Transposed products with many vectors. Lanes of a row take neighbouring vectors, so that what is read of X and what
// is added to Y are whole pieces of lines.
#pragma once

#include "spmv_gpu_multi_row_kernels.hpp"
#include "spmv_gpu_row_pattern_kernels.hpp"

namespace kkc::spmv::gpu_parts {

/// target += a, element by element, in one operation where the device has one.
template <class T, int V>
__device__ inline void atomic_add(T* target, const Pack<T, V>& a) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  if constexpr (sizeof(Pack<T, V>) == 16 && (sizeof(T) == 4 || (gpu::is_pair<T> && sizeof(T) == 8))) {
    const float4 all = *reinterpret_cast<const float4*>(&a);
    atomicAdd(reinterpret_cast<float4*>(target), all);
    return;
  }
#endif
#pragma unroll
  for (int i = 0; i < V; ++i) gpu::atomic_add(target + i, a.e[i]);
}

/// y += alpha op(A) x: the lanes of a row of A hold its row of X and add it, times an entry, to the entry's row of Y.
/// The entries of a window of rows pass through shared memory (MultiRow); grid.y counts slabs of vectors.
template <class T, class I, class O, int V, int Threads>
struct MultiScatter {
  static constexpr int threads = Threads;
  static constexpr int width = V;
  Rows<T, O> A;
  PlainColumns<I> columns;
  Windows<I> windows;
  LongRows<I> longs;
  Vectors<T> v;
  Factor<T> alpha;
  int32_t lanes_log2;

  /// alpha times a row of X.
  __device__ Pack<T, V> load(int64_t row, int64_t vector, const T& a) const {
    const T* x = v.x + row * v.x_row;
    Pack<T, V> pack;
    if constexpr (V == 1)
      pack.e[0] = x[vector * v.x_vector];
    else
      pack = *reinterpret_cast<const Pack<T, V>*>(x + vector);
#pragma unroll
    for (int i = 0; i < V; ++i) pack.e[i] = multiply(a, pack.e[i]);
    return pack;
  }
  __device__ void add_to(I column, int64_t vector, const Pack<T, V>& sum) const {
    T* y = v.y + column * v.y_row;
    if (V > 1 && v.y_vector == 1) return atomic_add(y + vector, sum);
#pragma unroll
    for (int i = 0; i < V; ++i) gpu::atomic_add(y + (vector + i) * v.y_vector, sum.e[i]);
  }
  __device__ Pack<T, V> product(const T& value, const Pack<T, V>& x) const {
    Pack<T, V> result;
#pragma unroll
    for (int i = 0; i < V; ++i) result.e[i] = multiply(value, x.e[i]);
    return result;
  }

  __device__ void operator()() const {
    extern __shared__ char shared[];
    const int stage = windows.capacity + longs.longest_short;
    T* values = reinterpret_cast<T*>(shared);
    I* indices = reinterpret_cast<I*>(values + stage);
    const T a = alpha.get();
    if (is_zero(a)) return;
    const int thread = static_cast<int>(threadIdx.x);
    const int lanes = 1 << lanes_log2, lane = thread & (lanes - 1), group = thread >> lanes_log2,
              groups = Threads >> lanes_log2;
    const int64_t vector = (static_cast<int64_t>(blockIdx.y) * lanes + lane) * V;
    const bool mine = vector < v.count;
    if (blockIdx.x < static_cast<uint32_t>(longs.segments)) {
      int64_t begin = 0, end = 0;
      const int64_t row = longs.find(A, static_cast<int32_t>(blockIdx.x), begin, end);
      if (row < 0 || !mine) return;
      const Pack<T, V> x = load(row, vector, a);
      for (int64_t p = begin + group; p < end; p += groups)
        add_to(columns.at(p), vector, product(conjugate_if(A.values[p], A.conjugate), x));
      return;
    }
    const int64_t window = blockIdx.x - longs.segments;
    const int64_t first = windows.starts[window], last = windows.starts[window + 1];
    if (first == last) return;
    const int64_t from = A.begin(first), all = A.begin(last) - from;
    const int count = static_cast<int>(all < stage ? all : stage);
    for (int i = thread; i < count; i += Threads) {
      values[i] = conjugate_if(load_once(A.values + from + i), A.conjugate);
      indices[i] = load_once(columns.indices + from + i) - static_cast<I>(columns.base);
    }
    __syncthreads();
    if (!mine) return;
    // Where rows begin in one column, as all do beside a dense column, its sum is added when another follows.
    I held_column = -1;
    Pack<T, V> held{};
    for (int64_t row = first + group; row < last; row += groups) {
      const int64_t begin = A.begin(row) - from, end = A.begin(row + 1) - from;
      if (end == begin || end - begin > longs.longest_short) continue;
      const Pack<T, V> x = load(row, vector, a);
      int i = static_cast<int>(begin);
      if (indices[i] != held_column) {
        if (held_column >= 0) add_to(held_column, vector, held);
        held_column = indices[i];
        held = Pack<T, V>{};
      }
      multiply_add(values[i], x, held);
      for (++i; i < static_cast<int>(end); ++i) add_to(indices[i], vector, product(values[i], x));
    }
    if (held_column >= 0) add_to(held_column, vector, held);
  }
};

/// y = beta y + alpha op(A) x without atomics: rows of Y gather the entries that the patterns of their columns of A
/// name (ColumnPattern). A block's values pass through shared memory.
template <class T, class O, int V, int Threads>
struct MultiGather {
  static constexpr int threads = Threads;
  static constexpr int width = V;
  static constexpr int batch = 4;
  Rows<T, O> A;
  int64_t cols;
  ColumnPatterns patterns;
  Vectors<T> v;
  Coefficients<T> c;
  int32_t lanes_log2;
  int32_t height;  // columns of a block: a power of two, at most Threads
  int32_t pitch;   // odd, at least the longest column

  __device__ Pack<T, V> load(int64_t row, int64_t vector) const {
    const T* x = v.x + row * v.x_row;
    if constexpr (V == 1)
      return {x[vector * v.x_vector]};
    else
      return *reinterpret_cast<const Pack<T, V>*>(x + vector);
  }

  __device__ void operator()() const {
    extern __shared__ char shared[];
    T* values = reinterpret_cast<T*>(shared);
    const T alpha = c.alpha.get(), beta = c.beta.get();
    const bool live = !is_zero(alpha);
    const int thread = static_cast<int>(threadIdx.x);
    const int64_t first = static_cast<int64_t>(blockIdx.x) * height;
    const int here = static_cast<int>(cols - first < height ? cols - first : height);
    const int at = thread & (height - 1), step = Threads / height;
    if (live && at < here) {
      const int64_t column = first + at;
      const int id = patterns.ids[column], length = patterns.lengths[id];
      const ColumnEntry* entries = patterns.entries + patterns.starts[id];
#pragma unroll 4
      for (int k = thread / height; k < length; k += step) {
        const ColumnEntry entry = entries[k];
        values[at * pitch + k] = conjugate_if(A.values[A.begin(column + entry.distance) + entry.position], A.conjugate);
      }
    }
    __syncthreads();
    const int lanes = 1 << lanes_log2, lane = thread & (lanes - 1), groups = Threads >> lanes_log2;
    const int64_t vector = (static_cast<int64_t>(blockIdx.y) * lanes + lane) * V;
    if (vector >= v.count) return;
    for (int r = thread >> lanes_log2; r < here; r += groups) {
      const int64_t column = first + r;
      Pack<T, V> sum{};
      if (live) {
        const int id = patterns.ids[column], length = patterns.lengths[id];
        const ColumnEntry* entries = patterns.entries + patterns.starts[id];
        int k = 0;
        for (; k + batch <= length; k += batch) {
          Pack<T, V> x[batch];
#pragma unroll
          for (int u = 0; u < batch; ++u) x[u] = load(column + entries[k + u].distance, vector);
#pragma unroll
          for (int u = 0; u < batch; ++u) multiply_add(values[r * pitch + k + u], x[u], sum);
        }
        for (; k < length; ++k) multiply_add(values[r * pitch + k], load(column + entries[k].distance, vector), sum);
      }
      store_pack(v, column, vector, sum, alpha, beta);
    }
  }
};

}  // namespace kkc::spmv::gpu_parts
