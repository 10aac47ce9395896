// Long rows are cut into segments, each the work of one block. A row's partial sums are added in order, so the result
// has the same bits in each run: by the block that finishes last, or by a second kernel.
#pragma once

#include "spmv_gpu_parts.hpp"

namespace kkc::spmv::gpu_parts {

/// Rows of more than `longest_short` entries and their segments of `segment` entries, as the plan lists them.
template <class I>
struct LongRows {
  const I* rows;          // row of each long row
  const int32_t* firsts;  // its first segment
  const int32_t* owners;  // 1 + long row of each segment, 0: none
  uint32_t* tickets;      // of each long row: segments that are done; zero between launches
  int32_t segments;       // upper bound
  int32_t count;          // long rows
  int32_t segment;        // entries
  int32_t longest_short;

  /// The row of a segment and its entries begin..end-1; -1: there is no such segment.
  template <class T, class O>
  __device__ int64_t find(const Rows<T, O>& A, int32_t which, int64_t& begin, int64_t& end) const {
    const int32_t owner = owners[which] - 1;
    if (owner < 0) return -1;
    const int64_t row = rows[owner];
    begin = A.begin(row) + static_cast<int64_t>(which - firsts[owner]) * segment;
    end = A.begin(row + 1);
    if (end - begin > segment) end = begin + segment;
    return row;
  }

  /// By a block whose thread 0 has the sum of segment `which` of `row`: true in the first 32 threads of the block that
  /// finishes the row, with the sum of all its segments in each of them.
  template <class T, class O>
  __device__ bool finish(const Rows<T, O>& A, int64_t row, int32_t which, T* partial, T& sum) const {
    __shared__ bool last;
    const int32_t owner = owners[which] - 1, first = firsts[owner];
    const int64_t length = A.begin(row + 1) - A.begin(row);
    const auto count = static_cast<uint32_t>((length + segment - 1) / segment);
    if (threadIdx.x == 0) {
      partial[which] = sum;
      __threadfence();
      // Wraps to zero at the last one: ready for the next launch.
      last = atomicInc(&tickets[owner], count - 1) == count - 1;
      __threadfence();
    }
    __syncthreads();
    if (!last || threadIdx.x >= 32) return false;
    sum = T{};
    for (uint32_t s = threadIdx.x; s < count; s += 32) sum = add(sum, gpu::load_fresh(partial + first + s));
    sum = gpu::subgroup_sum(sum, 32);
    return true;
  }
};

/// The sum over a block, in thread 0; `scratch` has room for one number a 32 threads.
template <class T, int Threads>
__device__ inline T block_sum(T value, T* scratch) {
  value = gpu::subgroup_sum(value, 32);
  if ((threadIdx.x & 31) == 0) scratch[threadIdx.x >> 5] = value;
  __syncthreads();
  if (threadIdx.x < 32) value = gpu::subgroup_sum(threadIdx.x < Threads / 32 ? scratch[threadIdx.x] : T{}, 32);
  return value;
}

/// y of the long rows from their partial sums: one subgroup of 32 a row and vector.
template <class T, class I, class O>
struct AddSegments {
  static constexpr int threads = 128;
  Rows<T, O> A;
  LongRows<I> longs;
  const T* partial;  // [segment][vector]
  Vectors<T> v;
  Coefficients<T> c;

  __device__ void operator()() const {
    const int64_t item = (static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x) >> 5;
    const int lane = threadIdx.x & 31;
    const int64_t which = item / v.count, vector = item - which * v.count;
    T sum{};
    int64_t row = 0;
    const bool mine = which < longs.count;
    if (mine) {
      row = longs.rows[which];
      const int32_t first = longs.firsts[which];
      const int64_t length = A.begin(row + 1) - A.begin(row);
      const int32_t segments = static_cast<int32_t>((length + longs.segment - 1) / longs.segment);
      if (!is_zero(c.alpha.get()))
        for (int32_t s = lane; s < segments; s += 32) sum = add(sum, partial[(first + s) * v.count + vector]);
    }
    sum = gpu::subgroup_sum(sum, 32);
    if (mine && lane == 0) update(v.y[row * v.y_row + vector * v.y_vector], sum, c.alpha.get(), c.beta.get());
  }
};

}  // namespace kkc::spmv::gpu_parts
