// Column-major vectors: a row of A a thread. The rows of a block are read once into shared memory; then neighbouring
// threads read neighbouring elements of one vector after the other.
#pragma once

#include "spmv_gpu_long_rows_kernels.hpp"

namespace kkc::spmv::gpu_parts {

template <class T, class I, class O, int Slab, int Threads>
struct MultiCol {
  static constexpr int threads = Threads;
  Rows<T, O> A;
  PlainColumns<I> columns;
  Vectors<T> v;
  Coefficients<T> c;
  int32_t longest;     // rows that are longer belong to others
  int32_t pitch;       // odd, at least `longest`
  int32_t width_log2;  // lanes that read a row

  __device__ void operator()() const {
    extern __shared__ char shared[];
    T* values = reinterpret_cast<T*>(shared);
    I* indices = reinterpret_cast<I*>(values + Threads * pitch);
    const int thread = static_cast<int>(threadIdx.x);
    const int64_t first = static_cast<int64_t>(blockIdx.x) * Threads, row = first + thread;
    const T alpha = c.alpha.get(), beta = c.beta.get();
    const int64_t all = row < A.rows ? A.begin(row + 1) - A.begin(row) : 0;
    const bool mine = row < A.rows && all <= longest;
    const int length = is_zero(alpha) ? 0 : static_cast<int>(all);
    if (!is_zero(alpha)) {
      const int width = 1 << width_log2, lane = thread & (width - 1);
      for (int r = thread >> width_log2; r < Threads && first + r < A.rows; r += Threads >> width_log2) {
        const int64_t begin = A.begin(first + r);
        const int64_t count = A.begin(first + r + 1) - begin;
        for (int k = lane; count <= longest && k < count; k += width) {
          values[r * pitch + k] = conjugate_if(A.values[begin + k], A.conjugate);
          indices[r * pitch + k] = columns.at(begin + k);
        }
      }
    }
    __syncthreads();
    if (!mine) return;
    const T* x = v.x;
    T* y = v.y + row * v.y_row;
    for (int64_t q0 = 0; q0 < v.count; q0 += Slab) {
      T sums[Slab] = {};
      if (v.count - q0 >= Slab) {
#pragma unroll 2
        for (int k = 0; k < length; ++k) {
          const T value = values[thread * pitch + k];
          const T* from = x + indices[thread * pitch + k] * v.x_row;
#pragma unroll
          for (int q = 0; q < Slab; ++q) sums[q] = multiply_add(value, from[q * v.x_vector], sums[q]);
        }
      } else {
        for (int k = 0; k < length; ++k) {
          const T value = values[thread * pitch + k];
          const T* from = x + indices[thread * pitch + k] * v.x_row;
#pragma unroll
          for (int q = 0; q < Slab; ++q)
            if (q0 + q < v.count) sums[q] = multiply_add(value, from[q * v.x_vector], sums[q]);
        }
      }
#pragma unroll
      for (int q = 0; q < Slab; ++q)
        if (q0 + q < v.count) update(y[q * v.y_vector], sums[q], alpha, beta);
      x += Slab * v.x_vector;
      y += Slab * v.y_vector;
    }
  }
};

/// Partial sums of long rows, for a slab of vectors one after the other.
template <class T, class I, class O, int Slab>
struct ColumnSegments {
  static constexpr int threads = 256;
  static constexpr int slab = Slab;
  Rows<T, O> A;
  PlainColumns<I> columns;
  LongRows<I> longs;
  T* partial;  // [segment][vector]
  Vectors<T> v;
  Factor<T> alpha;

  __device__ void operator()() const {
    __shared__ T scratch[threads / 32];
    int64_t begin = 0, end = 0;
    if (is_zero(alpha.get())) return;
    if (longs.find(A, static_cast<int32_t>(blockIdx.x), begin, end) < 0) return;
    const int64_t q0 = static_cast<int64_t>(blockIdx.y) * Slab;
    T sums[Slab] = {};
    for (int64_t p = begin + threadIdx.x; p < end; p += threads) {
      const T value = conjugate_if(load_once(A.values + p), A.conjugate);
      const T* from = v.x + columns.at(p) * v.x_row + q0 * v.x_vector;
#pragma unroll
      for (int q = 0; q < Slab; ++q)
        if (q0 + q < v.count) sums[q] = multiply_add(value, from[q * v.x_vector], sums[q]);
    }
#pragma unroll
    for (int q = 0; q < Slab; ++q) {
      const T sum = block_sum<T, threads>(sums[q], scratch);
      if (threadIdx.x == 0 && q0 + q < v.count) partial[blockIdx.x * v.count + q0 + q] = sum;
      __syncthreads();
    }
  }
};

/// Entries of sampled rows, and the sectors of a vector that 32 neighbouring rows read with them at once. Zero at
/// first.
struct Spread {
  unsigned long long entries, sectors;
};

template <class I, class O>
struct MeasureSpread {
  static constexpr int threads = 128;
  Offsets<O> A;
  PlainColumns<I> columns;
  Spread* spread;
  int32_t sector;   // elements
  int32_t longest;  // rows that are longer do not count
  int64_t every;    // one group of 32 rows in so many

  __device__ void operator()() const {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int64_t group = (static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x) >> 5;
    const int64_t row = group * every * 32 + lane;
    const int64_t begin = row < A.rows ? A.begin(row) : 0, all = row < A.rows ? A.begin(row + 1) - begin : 0;
    const int length = all <= longest ? static_cast<int>(all) : 0;
    unsigned long long entries = 0, sectors = 0;
    for (int k = 0; k < longest; ++k) {
      const bool there = k < length;
      const I place = there ? columns.at(begin + k) / sector : I{-1};
      bool repeated = false;
      for (int other = 0; other < 31; ++other) {
        const I its = gpu::shuffle_from(place, other, 32);
        repeated |= other < lane && its == place;
      }
      entries += __popc(gpu::ballot32(there));
      sectors += __popc(gpu::ballot32(there && !repeated));
    }
    if (lane == 0) {
      atomicAdd(&spread->entries, entries);
      atomicAdd(&spread->sectors, sectors);
    }
  }
};

/// Between vectors one after the other (strides) and side by side ([row][vector]): tiles of 2^columns_log2 vectors (at
/// most 32) pass through shared memory. Back: y = beta y + alpha the neighbours.
template <class T>
struct TurnVectors {
  static constexpr int threads = 256;
  static constexpr int elements = 1024;
  const T* from;
  T* to;
  int64_t rows, count;
  int64_t row_stride, vector_stride;  // of the array that is one after the other
  int32_t columns_log2;
  bool back;
  Coefficients<T> c;

  __device__ void operator()() const {
    __shared__ T tile[elements + 32];
    const int columns = 1 << columns_log2, height = elements >> columns_log2;
    const int64_t row0 = static_cast<int64_t>(blockIdx.x) * height,
                  vector0 = static_cast<int64_t>(blockIdx.y) * columns;
#pragma unroll
    for (int step = 0; step < elements / threads; ++step) {
      const int i = step * threads + static_cast<int>(threadIdx.x);
      const int r = back ? i >> columns_log2 : i & (height - 1),
                q = back ? i & (columns - 1) : i >> (10 - columns_log2);
      const int64_t row = row0 + r, vector = vector0 + q;
      if (row < rows && vector < count)
        tile[q * (height + 1) + r] =
            load_once(from + (back ? row * count + vector : row * row_stride + vector * vector_stride));
    }
    __syncthreads();
    const T alpha = c.alpha.get(), beta = c.beta.get();
#pragma unroll
    for (int step = 0; step < elements / threads; ++step) {
      const int i = step * threads + static_cast<int>(threadIdx.x);
      const int r = back ? i & (height - 1) : i >> columns_log2,
                q = back ? i >> (10 - columns_log2) : i & (columns - 1);
      const int64_t row = row0 + r, vector = vector0 + q;
      if (row >= rows || vector >= count) continue;
      if (back)
        update(to[row * row_stride + vector * vector_stride], tile[q * (height + 1) + r], alpha, beta);
      else
        to[row * count + vector] = tile[q * (height + 1) + r];
    }
  }
};

}  // namespace kkc::spmv::gpu_parts
