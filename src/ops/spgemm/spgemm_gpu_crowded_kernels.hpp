// Entries of C that very many products of one row meet, as the products of dense rows of A with those of the transpose:
// in the order of A's row they would be one thread's work. Thread t of a block adds the products t, t + threads, ... of
// the entry, and the threads' sums are added up in pairs: another order than elsewhere, but always the same, whether
// the plan keeps lists of the products (GatherCrowdedRows) or, for want of room, the block looks for them
// (FindCrowded).
#pragma once

#include "spgemm_gpu_gathered_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

inline constexpr int crowded_threads = 1024;

/// The sum of all threads' sums, in thread 0. `room` holds one for each thread.
template <class T>
__device__ inline T sum_in_pairs(const T& sum, T* room) {
  const auto thread = static_cast<int>(threadIdx.x);
  __syncthreads();
  room[thread] = sum;
  for (int half = crowded_threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) room[thread] = gpu::add(room[thread], room[thread + half]);
  }
  return room[0];
}

template <class T>
struct alignas(16) CrowdedRoom {
  unsigned char bytes[crowded_threads * sizeof(T)];

  __device__ T* sums() { return reinterpret_cast<T*>(bytes); }
};

/// A block an entry of `crowded`, by the lists.
template <class Left, class T, class I>
struct GatherCrowdedRows {
  static constexpr int threads = crowded_threads;
  GatherRows<Left, T, I> each;
  const int32_t* crowded;

  __device__ void operator()() const {
    __shared__ CrowdedRoom<T> room;
    const GatheredLists& lists = each.lists;
    const int64_t e = crowded[blockIdx.x];
    const int32_t end = lists.starts[e + 1];
    const Coefficients<T> c(each.C);
    T sum{};
    if (c.live()) {
      const LeftRow row = lists.row(each.A, e);
#pragma unroll 4
      for (int32_t p = lists.starts[e] + static_cast<int32_t>(threadIdx.x); p < end; p += threads)
        sum =
            gpu::multiply_add(each.A.value(row, static_cast<int32_t>(lists.of_a[p])), each.B.value(lists.of_b[p]), sum);
    }
    sum = sum_in_pairs(sum, room.sums());
    if (threadIdx.x == 0) c.finish(each.C.data[lists.place(e)], sum);
  }
};

/// Where such entries are, if their products are not listed.
template <class I>
struct CrowdedEntries {
  int32_t* rows;
  I* columns;
  int64_t* places;  // in C
};

/// From the lists, before they are dropped.
template <class I>
struct ListCrowded {
  static constexpr int threads = 256;
  const int32_t *starts, *row_of;
  const I* columns;
  int64_t entries;
  CrowdedEntries<I> crowded;
  int32_t* count;

  __device__ void operator()() const {
    const int64_t e = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (e >= entries || starts[e + 1] - starts[e] <= most_gathered_in_order) return;
    const int32_t at = atomicAdd(count, 1);
    crowded.rows[at] = row_of[e];
    crowded.columns[at] = columns[e];
  }
};

/// A warp an entry: rows of C may be in any order.
template <class I>
struct PlaceCrowded {
  static constexpr int threads = 256;
  CrowdedEntries<I> crowded;
  int64_t count;
  Pattern<I> C;

  __device__ void operator()() const {
    const int64_t e = (static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x) / 32;
    if (e >= count) return;
    const I column = crowded.columns[e];
    for (int64_t p = C.begin(crowded.rows[e]) + static_cast<int>(threadIdx.x & 31u), end = C.end(crowded.rows[e]);
         p < end; p += 32)
      if (C.column(p) == column) crowded.places[e] = p;
  }
};

/// A block an entry: what will be C's number, before anything of C is written.
template <class Left, class T, class I>
struct FindCrowded {
  static constexpr int threads = crowded_threads;
  Left A;
  RightValues<T, I> B;
  Values<T> C;
  CrowdedEntries<I> crowded;
  bool distinct;
  T* results;

  struct Range {
    int64_t begin, end;  // in B
  };

  __device__ void operator()() const {
    __shared__ CrowdedRoom<T> room;
    __shared__ int32_t counts[33], from_a[threads];
    __shared__ int64_t from_b[threads];
    const auto thread = static_cast<int32_t>(threadIdx.x);
    const LeftRow row = A.row(crowded.rows[blockIdx.x]);
    const I column = crowded.columns[blockIdx.x];
    const Coefficients<T> c(C);
    T sum{};
    int32_t before = 0;  // products
    for (int32_t first = 0; c.live() && first < row.length; first += threads) {
      const int32_t k = first + thread;
      const Range range = k < row.length ? range_of(A.column(row, k), column) : Range{0, 0};
      int32_t mine = 0, met;
      for (int64_t p = range.begin; p < range.end; ++p) mine += B.B.column(p) == column ? 1 : 0;
      const int32_t start = before + block_scan(mine, counts, met);
      // As many at a time as there are threads, each product to the thread that its number asks for.
      for (int32_t from = before; from < before + met; from += threads) {
        from_a[thread] = -1;
        __syncthreads();
        int32_t number = start;
        for (int64_t p = range.begin; mine > 0 && p < range.end; ++p) {
          if (B.B.column(p) != column) continue;
          if (number >= from && number < from + threads) {
            from_a[number % threads] = k;
            from_b[number % threads] = p;
          }
          ++number;
        }
        __syncthreads();
        if (from_a[thread] >= 0) sum = gpu::multiply_add(A.value(row, from_a[thread]), B.value(from_b[thread]), sum);
        __syncthreads();
      }
      before += met;
    }
    sum = sum_in_pairs(sum, room.sums());
    if (thread != 0) return;
    T result = gpu::is_zero(c.beta) ? T{} : C.data[crowded.places[blockIdx.x]];
    c.finish(result, sum);
    results[blockIdx.x] = result;
  }

  /// Where the column may be in row j of B.
  __device__ Range range_of(int64_t j, I column) const {
    const int64_t begin = B.B.begin(j), end = B.B.end(j);
    if (!distinct) return {begin, end};
    const int64_t at = B.B.lower(begin, end, column);
    return {at, at < end ? at + 1 : end};
  }
};

/// When all else of C is written.
template <class T>
struct StoreCrowded {
  static constexpr int threads = 256;
  const int64_t* places;
  const T* results;
  int64_t count;
  T* C;

  __device__ void operator()() const {
    const int64_t e = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (e < count) C[places[e]] = results[e];
  }
};

}  // namespace kkc::spgemm::gpu_parts
