// Columns of C's rows in one pass, for rows whose products nearly all have columns of their own, spread evenly: a block
// a row puts its products into as many buckets as they may be, by column, and orders each bucket by comparison, so that
// nothing is probed (bucket sort, Knuth, TAOCP 3, section 5.2.5; in shared memory and by atomic counts as in Satish,
// Harris, Garland, "Designing efficient sorting algorithms for manycore GPUs", IPDPS'09, section IV).
#pragma once

#include "spgemm_gpu_block.hpp"

namespace kkc::spgemm::gpu_parts {

/// Zero at first.
struct BucketState {
  unsigned long long products, repeated;  // of the rows of a sample
  int32_t failed, pad;                    // a row is not of this kind
};

template <class Left, class I, int Threads>
struct BucketRows {
  static constexpr int threads = Threads, items = 8, blocks_per_sm = 1280 / threads;
  static constexpr int32_t capacity = threads * items;
  static constexpr int32_t most_repeated = 64, most_in_bucket = 32;
  static_assert(capacity <= 2048, "a bucket's number and a place in it in 16 bits");
  Left A;
  RightColumns<I> B;
  int64_t first, stride;  // block b has row first + b stride
  const int64_t* begins;  // of each row's products
  I* columns;             // of rows first.., where their products would begin; null: a sample
  int32_t* counts;        // columns of each row
  uint16_t* slots;        // null: not kept
  BucketState* state;

  struct alignas(16) Four {
    int32_t e[4];
  };

  __device__ void operator()() const {
    __shared__ Four starts[capacity / 4 + 1];
    __shared__ int32_t staged[capacity], sorted[capacity], sums[33], many[most_repeated];
    __shared__ int32_t low, high, repeated, stop;
    int32_t* const start = starts[0].e;
    constexpr int warps = threads / 32;
    const int thread = static_cast<int>(threadIdx.x), lane = thread & 31, warp = thread >> 5;
    const int64_t i = first + blockIdx.x * stride, begin = begins[i];
    const auto count = static_cast<int32_t>(begins[i + 1] - begin);
    if (count == 0) return;
    if (thread == 0) {
      low = 0x7fffffff;
      high = -1;
      repeated = 0;
      stop = *static_cast<volatile int32_t*>(&state->failed);
    }
#pragma unroll
    for (int u = 0; u < items / 4; ++u) starts[u * threads + thread] = {};
    __syncthreads();
    if (stop != 0) return;

    int32_t least = 0x7fffffff, most = -1;
    walk<true>(A, A.row(i), B, lane, 32, warp, warps, [&](bool there, int32_t product, int32_t column, uint32_t) {
      if (!there) return;
      staged[product] = column;
      least = column < least ? column : least;
      most = column > most ? column : most;
    });
    most = warp_max(most);
    least = -warp_max(-least);
    if (lane == 0) {
      atomicMin(&low, least);
      atomicMax(&high, most);
    }
    __syncthreads();

    // Rounding is monotonic, so buckets are in the order of columns.
    const int32_t base = low;
    const float scale = static_cast<float>(capacity) / (static_cast<float>(high - base) + 1.0f);
    int32_t column[items], at[items];  // at: bucket, place in it
    bool crowded = false;
#pragma unroll
    for (int u = 0; u < items; ++u) {
      const int32_t p = thread + u * threads;
      if (p >= count) continue;
      column[u] = staged[p];
      const auto scaled = static_cast<int32_t>(static_cast<float>(column[u] - base) * scale);
      const int32_t bucket = scaled < capacity ? scaled : capacity - 1;
      const int32_t place = atomicAdd(start + bucket, 1);
      at[u] = bucket << 16 | place;
      crowded |= place >= most_in_bucket;
    }
    __syncthreads();
    scan(starts, sums, count);
#pragma unroll
    for (int u = 0; u < items; ++u)
      if (thread + u * threads < count) sorted[start[at[u] >> 16] + (at[u] & 0xffff)] = column[u];
    if (__syncthreads_or(crowded ? 1 : 0) != 0) {
      if (thread == 0) state->failed = 1;
      return;
    }

    // A product's place is the number of smaller ones, less those of them that repeat a column.
#pragma unroll
    for (int u = 0; u < items; ++u) {
      if (thread + u * threads >= count) continue;
      const int32_t bucket = at[u] >> 16, from = start[bucket], to = start[bucket + 1];
      const int32_t mine = from + (at[u] & 0xffff);
      int32_t less = from;
      bool again = false;
      for (int32_t q = from; q < to; ++q) {
        const int32_t other = sorted[q];
        less += other < column[u] ? 1 : 0;
        again |= other == column[u] && q < mine;
      }
      at[u] = less;
      if (again) {
        const int32_t number = atomicAdd(&repeated, 1);
        if (number < most_repeated) many[number] = column[u];
      }
    }
    __syncthreads();
    const int32_t again = repeated;
    if (again > most_repeated) {
      if (thread == 0) state->failed = 1;
      return;
    }
    if (columns == nullptr) {
      if (thread == 0) {
        atomicAdd(&state->products, static_cast<unsigned long long>(count));
        atomicAdd(&state->repeated, static_cast<unsigned long long>(again));
      }
      return;
    }
#pragma unroll
    for (int u = 0; u < items; ++u) {
      const int32_t p = thread + u * threads;
      if (p >= count) continue;
      for (int32_t k = 0; k < again; ++k) at[u] -= many[k] < column[u] ? 1 : 0;
      staged[at[u]] = column[u];
      if (slots != nullptr) slots[begin + p] = static_cast<uint16_t>(at[u]);
    }
    __syncthreads();
    I* const out = columns + (begin - begins[first]);
    for (int32_t j = thread; j < count - again; j += threads) out[j] = static_cast<I>(staged[j]);
    if (thread == 0) counts[i] = count - again;
  }

  /// Products of each bucket become where they begin, with `count` behind.
  static __device__ void scan(Four* starts, int32_t* sums, int32_t count) {
    constexpr int vectors = items / 4;
    Four* const mine = starts + vectors * static_cast<int>(threadIdx.x);
    Four of[vectors];
    int32_t sum = 0, all;
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      of[v] = mine[v];
      for (const int32_t e : of[v].e) sum += e;
    }
    int32_t before = block_scan(sum, sums, all);
#pragma unroll
    for (int v = 0; v < vectors; ++v) {
      for (int32_t& e : of[v].e) {
        const int32_t products = e;
        e = before;
        before += products;
      }
      mine[v] = of[v];
    }
    if (threadIdx.x == 0) starts[capacity / 4].e[0] = count;
    __syncthreads();
  }
};

/// A warp a row: from where its products were to its place in C.
template <class I>
struct MoveRows {
  static constexpr int threads = 256;
  int64_t first, rows;    // rows first .. first + rows - 1
  const int64_t* begins;  // of each row's products
  Offsets offsets;        // of C
  const I* from;
  I* to;

  __device__ void operator()() const {
    const int64_t item = (static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x) >> 5;
    if (item >= rows) return;
    const int64_t i = first + item, at = offsets.at(i);
    const auto count = static_cast<int32_t>(offsets.at(i + 1) - at);
    const I* const source = from + (begins[i] - begins[first]);
    I* const target = to + at;
    constexpr int batch = 8;
    for (int32_t j = static_cast<int32_t>(threadIdx.x) & 31; j < count; j += 32 * batch) {
      I column[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (j + u * 32 < count) column[u] = gpu::load_once(source + j + u * 32);
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (j + u * 32 < count) target[j + u * 32] = column[u];
    }
  }
};

}  // namespace kkc::spgemm::gpu_parts
