// Entries of C that very many products of one row meet, as the products of dense rows of A with those of the transpose:
// in the order of A's row they would be one thread's work. They are taken by parts of products_of_part; thread t of a
// block adds the products t, t + threads, ... of a part, then the threads' sums are added up in pairs, and the parts'
// sums in the same way: another order than elsewhere, but always the same, whether the plan keeps lists of the products
// (GatherEntries) or, for want of room, the block looks for them (FindCrowded).
#pragma once

#include "spgemm_gpu_gathered_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

/// The sum of all threads' sums, in thread 0. `room` holds one for each warp.
template <class T>
__device__ inline T sum_in_pairs(T sum, T* room) {
  constexpr int warps = gathering_threads / 32;
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
  sum = gpu::subgroup_sum(sum, 32);
  __syncthreads();
  if (lane == 0) room[warp] = sum;
  __syncthreads();
  return warp == 0 ? gpu::subgroup_sum(lane < warps ? room[lane] : T{}, warps) : T{};
}

/// The parts of all such entries, one entry's behind each other; results and tickets for each.
template <class T>
struct CrowdedParts {
  const CrowdedPart* list;
  int64_t count;
  T* results;
  unsigned* tickets;  // zero
};

/// All entries: blocks of the crowded ones' parts first, then those of many products, then the others.
template <class Left, class T, class I>
struct GatherEntries {
  static constexpr int threads = gathering_threads, blocks_per_sm = sizeof(T) <= 8 ? 8 : 4;
  GatherRows<Left, T, I> each;
  CrowdedParts<T> crowded;
  ListedSums sums;

  struct alignas(16) Room {
    unsigned char bytes[GatherManyRows<Left, T, I>::room_bytes];
  };

  __device__ void operator()() const {
    __shared__ Room room;
    __shared__ bool last;
    int64_t block = blockIdx.x;
    if (block < crowded.count) return add_part(block, reinterpret_cast<T*>(room.bytes), last);
    block -= crowded.count;
    if (block < sums.of_blocks) return GatherManyRows<Left, T, I>::run(each, sums.list[block], room.bytes);
    block -= sums.of_blocks;
    if (block < sums.blocks_of_warps()) {
      constexpr int warp_room = GatherRows<Left, T, I>::warp_room;
      static_assert(sizeof(T) * (threads / 32) * warp_room <= sizeof(room));
      const auto warp = static_cast<int>(threadIdx.x) / 32;
      const int64_t number = block * (threads / 32) + warp;
      if (number < sums.of_warps)
        each.by_warp(sums.list[sums.room - 1 - number], reinterpret_cast<T*>(room.bytes) + warp * warp_room);
      return;
    }
    each.run((block - sums.blocks_of_warps()) * threads + threadIdx.x);
  }

  /// The block that ends last adds up the parts.
  __device__ void add_part(int64_t number, T* room, bool& last) const {
    const CrowdedPart mine = crowded.list[number];
    const int32_t begin = each.lists.starts[mine.entry], end = each.lists.starts[mine.entry + 1],
                  first = begin + mine.part * products_of_part, parts = (end - begin - 1) / products_of_part + 1;
    const Coefficients<T> c(each.C);
    T sum{};
    if (c.live()) {
      const LeftRow row = each.lists.row(each.A, mine.entry);
      const int32_t end_of_part = end - first < products_of_part ? end : first + products_of_part;
      for (int32_t p = first + static_cast<int32_t>(threadIdx.x); p < end_of_part; p += threads) {
        T a, b;
        each.read(row, p, a, b);
        sum = gpu::multiply_add(a, b, sum);
      }
    }
    sum = sum_in_pairs(sum, room);
    if (parts > 1) {
      T* const results = crowded.results + (number - mine.part);
      if (threadIdx.x == 0) {
        results[mine.part] = sum;
        __threadfence();
        // Wraps to zero at the last block: ready for the next launch.
        const auto all = static_cast<unsigned>(parts - 1);
        last = atomicInc(crowded.tickets + (number - mine.part), all) == all;
        __threadfence();
      }
      __syncthreads();
      if (!last) return;
      sum = T{};
      for (int32_t part = static_cast<int32_t>(threadIdx.x); part < parts; part += threads)
        sum = gpu::add(sum, gpu::load_fresh(results + part));
      sum = sum_in_pairs(sum, room);
    }
    if (threadIdx.x == 0) c.finish(each.C.data[each.lists.place(mine.entry)], sum);
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
  static constexpr int threads = gathering_threads, items = 4;  // entries of A a thread looks at together
  Left A;
  RightValues<T, I> B;
  Values<T> C;
  CrowdedEntries<I> crowded;
  bool distinct;
  T* results;

  struct Range {
    int64_t begin, end;  // in B
  };
  struct alignas(16) Room {
    unsigned char bytes[(threads / 32 + 1) * sizeof(T)];
  };

  __device__ void operator()() const {
    __shared__ Room room;
    __shared__ int32_t counts[33], from_a[threads];
    __shared__ int64_t from_b[threads];
    const auto thread = static_cast<int32_t>(threadIdx.x);
    const LeftRow row = A.row(crowded.rows[blockIdx.x]);
    const I column = crowded.columns[blockIdx.x];
    const Coefficients<T> c(C);
    T* const sums = reinterpret_cast<T*>(room.bytes);
    T sum{}, of_parts{};
    const auto end_part = [&](int32_t part) {
      const T whole = sum_in_pairs(sum, sums);
      if (thread == 0) sums[threads / 32] = whole;
      __syncthreads();
      if (thread == part % threads) of_parts = part == 0 ? sums[threads / 32] : gpu::add(of_parts, sums[threads / 32]);
      sum = T{};
    };
    int32_t before = 0;  // products
    for (int32_t first = 0; c.live() && first < row.length; first += items * threads) {
      Range range[items];
      int32_t mine = 0, met;
#pragma unroll
      for (int u = 0; u < items; ++u) {
        const int32_t k = first + items * thread + u;
        range[u] = k < row.length ? range_of(A.column(row, k), column) : Range{0, 0};
      }
#pragma unroll
      for (int u = 0; u < items; ++u)
        for (int64_t p = range[u].begin; p < range[u].end; ++p) mine += B.B.column(p) == column ? 1 : 0;
      const int32_t start = before + block_scan(mine, counts, met);
      // As many at a time as there are threads, each product to the thread that its number asks for.
      for (int32_t from = before, to; from < before + met; from = to) {
        const int32_t part = from / products_of_part;
        to = before + met;
        to = to < from + threads ? to : from + threads;
        to = to < (part + 1) * products_of_part ? to : (part + 1) * products_of_part;
        from_a[thread] = -1;
        __syncthreads();
        int32_t number = start;
#pragma unroll
        for (int u = 0; u < items; ++u)
          for (int64_t p = range[u].begin; mine > 0 && p < range[u].end; ++p) {
            if (B.B.column(p) != column) continue;
            if (number >= from && number < to) {
              from_a[number % threads] = first + items * thread + u;
              from_b[number % threads] = p;
            }
            ++number;
          }
        __syncthreads();
        if (from_a[thread] >= 0) sum = gpu::multiply_add(A.value(row, from_a[thread]), B.value(from_b[thread]), sum);
        __syncthreads();
        if (to == (part + 1) * products_of_part) end_part(part);
      }
      before += met;
    }
    if (before % products_of_part != 0) end_part(before / products_of_part);
    if (before > products_of_part) of_parts = sum_in_pairs(of_parts, sums);
    if (thread != 0) return;
    T result = gpu::is_zero(c.beta) ? T{} : C.data[crowded.places[blockIdx.x]];
    c.finish(result, of_parts);
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
