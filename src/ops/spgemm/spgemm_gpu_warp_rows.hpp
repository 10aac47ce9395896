// Columns of C's rows, a warp a row, for rows of moderately many products: a hash table of columns (Nagasaka, Nukada,
// Matsuoka, "High-performance and memory-saving sparse general matrix-matrix multiplication for NVIDIA Pascal GPU",
// ICPP'17, section III). Once rows are counted, those of few columns need small tables, whatever their products; their
// columns are put in order in registers, and each product's place is noted on the way.
#pragma once

#include "device/gpu_bitonic.hpp"
#include "spgemm_gpu_flat_rows.hpp"
#include "spgemm_gpu_symbolic_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

/// Counts rows of at most three quarters as many products as the table has places.
template <class Left, class I>
struct CountWarpRows {
  static constexpr int threads = 128;
  Left A;
  Pattern<I> B;
  const int32_t* list;  // null: all
  int64_t count;
  int32_t* counts;
  int32_t table_log2;

  size_t shared_bytes() const { return threads / 32 * ((sizeof(int32_t) << table_log2) + 32 * sizeof(int64_t)); }

  __device__ void operator()() const {
    const int64_t item = static_cast<int64_t>(blockIdx.x) * (threads / 32) + (threadIdx.x >> 5);
    if (item >= count) return;
    const int64_t i = list != nullptr ? list[item] : item;
    const int32_t found = columns_of(i);
    if ((threadIdx.x & 31u) == 0) counts[i] = found;
  }

  /// Of the warp's row, in all lanes.
  __device__ int32_t columns_of(int64_t i) const {
    extern __shared__ char shared[];
    auto* const all_begins = reinterpret_cast<int64_t*>(shared);
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    const int32_t places = 1 << table_log2;
    const HashedKeys table{reinterpret_cast<int32_t*>(all_begins + threads) + warp * places,
                           static_cast<uint32_t>(places - 1)};
    table.clear(lane, 32);
    int64_t* const begins = all_begins + warp * 32;
    int32_t found = 0;
    walk_columns(A, A.row(i), B, begins, lane, [&](bool there, int32_t, int32_t column) {
      int32_t before = 0;
      if (there) table.insert(column, before);
      if (there && before == HashedKeys::empty) ++found;
    });
    return gpu::subgroup_sum(found, 32);
  }
};

/// Of rows here and there that the table takes.
struct Sampled {
  int32_t products, columns;  // zero at first
};
template <class Left, class I>
struct SampleRows {
  static constexpr int threads = CountWarpRows<Left, I>::threads;
  static constexpr int64_t sampled = 1024;
  CountWarpRows<Left, I> rows;  // count: all
  const int32_t* bounds;
  Sampled* state;

  __host__ __device__ int64_t stride() const { return rows.count <= sampled ? 1 : rows.count / sampled; }

  __device__ void operator()() const {
    const int64_t i = (static_cast<int64_t>(blockIdx.x) * (threads / 32) + (threadIdx.x >> 5)) * stride();
    if (i >= rows.count || bounds[i] == 0 || bounds[i] > (3 << rows.table_log2) / 4) return;
    const int32_t columns = rows.columns_of(i);
    if ((threadIdx.x & 31u) != 0) return;
    atomicAdd(&state->products, bounds[i]);
    atomicAdd(&state->columns, columns);
  }
};

/// Fills rows of at most `most_columns` columns.
template <class Left, class I>
struct FillWarpRows {
  static constexpr int threads = 128, warps = threads / 32, places = 256;
  static constexpr int32_t most_columns = 128;     // four a lane, half of the places
  static constexpr int32_t noted_products = 1024;  // of rows of more their columns are looked up again
  static constexpr int32_t most_products = 6144;   // so that no warp takes far longer than others
  Left A;
  Pattern<I> B;
  const int32_t* list;  // null: all
  int64_t count;
  SymbolicTarget<I> target;

  struct alignas(16) Warp {
    int64_t begins[32];
    int32_t keys[places];
    int32_t list[most_columns];
    uint8_t ranks[places];
    uint8_t products[noted_products];  // where each product's column is
  };

  __device__ void operator()() const {
    __shared__ Warp all[warps];
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    const int64_t item = static_cast<int64_t>(blockIdx.x) * warps + warp;
    if (item >= count) return;
    Warp& mine = all[warp];
    const HashedKeys table{mine.keys, places - 1};
    const int64_t i = list != nullptr ? list[item] : item;
    const bool keeps = target.slots != nullptr;
    table.clear(lane, 32);
    int32_t columns = 0;
    const LeftRow row = A.row(i);
    const int32_t products =
        walk_columns(A, row, B, mine.begins, lane, [&](bool there, int32_t product, int32_t column) {
          int32_t before = 0;
          if (there) {
            const uint32_t place = table.insert(column, before);
            if (keeps && product < noted_products) mine.products[product] = static_cast<uint8_t>(place);
          }
          const bool fresh = there && before == HashedKeys::empty;
          const uint32_t new_ones = gpu::ballot32(fresh);
          if (fresh) mine.list[columns + __popc(new_ones & ((1u << lane) - 1))] = column;
          columns += __popc(new_ones);
        });
    gpu::sync32();
    I* const out = target.columns + target.offsets.at(i);
    if (columns <= 32)
      write<1>(mine, table, columns, out, lane);
    else if (columns <= 64)
      write<2>(mine, table, columns, out, lane);
    else
      write<4>(mine, table, columns, out, lane);
    if (!keeps) return;
    gpu::sync32();
    uint16_t* const slots = target.slots + target.slot_begins[i];
    if (products <= noted_products) {
      for (int32_t p = lane; p < products; p += 32) slots[p] = mine.ranks[mine.products[p]];
      return;
    }
    walk_columns(A, row, B, mine.begins, lane, [&](bool there, int32_t product, int32_t column) {
      if (there) slots[product] = mine.ranks[table.find(column)];
    });
  }

  template <int per_lane>
  __device__ void write(Warp& mine, const HashedKeys& table, int32_t columns, I* out, int lane) const {
    static_assert(32 * per_lane <= most_columns);
    int32_t x[per_lane];
#pragma unroll
    for (int r = 0; r < per_lane; ++r) x[r] = r * 32 + lane < columns ? mine.list[r * 32 + lane] : 0x7fffffff;
    if (columns > target.any_order) gpu::bitonic_sort(x, 32, [](int32_t a, int32_t b) { return a < b; });
#pragma unroll
    for (int r = 0; r < per_lane; ++r) {
      const int32_t j = r * 32 + lane;
      if (j >= columns) continue;
      out[j] = static_cast<I>(x[r]);
      if (target.slots != nullptr) mine.ranks[table.find(x[r])] = static_cast<uint8_t>(j);
    }
  }
};

/// Bounds by which rows are filled: those that FillWarpRows takes have at most `most`.
template <class Left, class I>
struct BoundFills {
  static constexpr int threads = 256;
  const int32_t *bounds, *counts;
  int64_t rows;
  int32_t most;
  int32_t* fills;

  __device__ void operator()() const {
    using F = FillWarpRows<Left, I>;
    const int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (i >= rows) return;
    const int32_t bound = bounds[i];
    fills[i] = bound > most && bound <= F::most_products && counts[i] <= F::most_columns ? most : bound;
  }
};

}  // namespace kkc::spgemm::gpu_parts
