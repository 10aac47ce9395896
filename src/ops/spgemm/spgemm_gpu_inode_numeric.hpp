// Values of tiles of i-nodes (spgemm_gpu_inode_kernels.hpp): up to four rows of C at once, up to four rows of B at
// once, so that a product's place is read, and a row of B, once for up to four, and a sum once for up to four products.
#pragma once

#include <algorithm>
#include <array>

#include "spgemm_gpu_found.hpp"
#include "spgemm_gpu_inode_kernels.hpp"
#include "spgemm_gpu_numeric_kernels.hpp"
#include "spgemm_gpu_piece_plan.hpp"

namespace kkc::spgemm::gpu_parts {

/// The reduced rows of A, and pieces of a tile's rows of C, or whole tiles.
template <class I>
struct TileLists {
  const int32_t* firsts;
  const int64_t* begins;  // of reduced rows
  const ReducedEntry* entries;
  const I* columns;
  PieceLists pieces;    // or none
  const int32_t* list;  // of whole tiles; null: all
  SlotLists slots;      // of these, or of their classes

  __device__ Piece piece(int64_t item, const Offsets& C) const {
    if (pieces.pieces != nullptr) return pieces.pieces[item];
    const int32_t tile = list != nullptr ? list[item] : static_cast<int32_t>(item), first = firsts[tile];
    return {tile, 0, static_cast<int32_t>(C.at(first + 1) - C.at(first))};
  }
  __device__ const uint16_t* slots_of(int64_t item, int32_t tile) const {
    return pieces.pieces != nullptr ? pieces.slots + pieces.slot_begins[item] : slots.of(tile);
  }
  __device__ PieceSegment segment(int64_t item, int32_t tile, int32_t k, const Pattern<I>& B) const {
    if (pieces.pieces != nullptr) return {gpu::load_once(&pieces.segments[pieces.begins[item] + k].word)};
    const int64_t j = columns[begins[tile] + k], begin = B.begin(j);
    return PieceSegment::of(begin, B.end(j) - begin);
  }
};

/// A block a piece. It goes in steps of up to as many columns of one entry of the reduced row as it has threads, and
/// loads what the next steps multiply before these are added.
template <class Left, class T, class I, int Rows, int warps>
struct TilePieces {
  static constexpr int threads = 32 * warps, blocks_per_sm = (sizeof(T) <= 8 ? 28 : 14) / warps;
  static constexpr int deep = tile_rows;
  static constexpr int at_once = 16;  // entries of the reduced row
  static constexpr int batch = sizeof(T) <= 8 ? 2 : 1;
  Left A;
  RightValues<T, I> B;
  Values<T> C;
  TileLists<I> lists;
  int32_t capacity;

  struct Step {
    int64_t begin;
    int32_t stride, product;
    int16_t count, deep;
    int32_t entry;
  };
  struct Term {
    T b[deep];
    int32_t slot;  // -1: nothing
  };

  static size_t shared_bytes(int32_t capacity, int32_t rows = Rows) {
    return 32 * sizeof(Step) + static_cast<size_t>(at_once * deep * rows + rows * capacity) * sizeof(T);
  }

  __device__ void operator()() const { take(blockIdx.x); }

  __device__ void take(int64_t item) const {
    extern __shared__ char shared[];
    auto* const steps = reinterpret_cast<Step*>(shared);
    T* const factors = reinterpret_cast<T*>(steps + 32);
    T* const sums = factors + at_once * deep * Rows;
    const int thread = static_cast<int>(threadIdx.x);
    const Piece piece = lists.piece(item, C.offsets);
    const int32_t first = lists.firsts[piece.row];
    const int64_t row_at = C.offsets.at(first), length = C.offsets.at(first + 1) - row_at;
    const Coefficients<T> c(C);
    for (int32_t j = thread; j < piece.length; j += threads)
#pragma unroll
      for (int r = 0; r < Rows; ++r) sums[r * capacity + j] = T{};
    meet();
    if (c.live()) multiply(item, piece.row, A.row(first), steps, factors, sums, thread);
#pragma unroll
    for (int r = 0; r < Rows; ++r)
      for (int32_t j = thread; j < piece.length; j += threads)
        c.finish_once(C.data[row_at + r * length + piece.first + j], sums[r * capacity + j]);
  }

  __device__ static void meet() {
    if constexpr (warps == 1)
      gpu::sync32();
    else
      __syncthreads();
  }

  __device__ void multiply(int64_t item, int32_t tile, const LeftRow& row, Step* steps, T* factors, T* sums,
                           int thread) const {
    const int lane = thread & 31, part = warps == 1 ? 0 : thread / 32;  // every warp knows all steps
    const ReducedEntry* const entries = lists.entries + lists.begins[tile];
    const auto count = static_cast<int32_t>(lists.begins[tile + 1] - lists.begins[tile]);
    const uint16_t* const slots = lists.slots_of(item, tile) + thread;
    int32_t products = 0;
    for (int32_t chunk = 0; chunk < count; chunk += at_once) {
      const int32_t k = chunk + lane;
      PieceSegment segment{0};
      ReducedEntry entry{0, 0};
      int32_t rows_b = 0;
      meet();
      if (lane < at_once && k < count) {
        segment = lists.segment(item, tile, k, B.B);
        entry = entries[k];
        rows_b = (k + 1 < count ? entries[k + 1].first : row.length) - entry.first;
#pragma unroll
        for (int r = 0; r < Rows; ++r) {
          if (r % warps != part) continue;
          const LeftRow here{row.row + r, row.begin + static_cast<int64_t>(r) * row.length, row.length};
#pragma unroll
          for (int q = 0; q < deep; ++q)
            if (q < rows_b) factors[(lane * Rows + r) * deep + q] = A.value(here, entry.first + q);
        }
      }
      const int32_t columns = segment.count(), mine = (columns + threads - 1) / threads;
      const int32_t end = gpu::subgroup_scan(mine, 32), total = gpu::shuffle_from(end, 31, 32);
      const int32_t inclusive = gpu::subgroup_scan(columns, 32), product = products + inclusive - columns;
      products += gpu::shuffle_from(inclusive, 31, 32);
      for (int32_t from = 0; from < total; from += 32) {
        const int32_t step = from + lane;
        int owner = 0;
#pragma unroll
        for (int by = 16; by > 0; by >>= 1)
          if (gpu::shuffle_from(end, owner + by - 1, 32) <= step) owner += by;
        const PieceSegment of{gpu::shuffle_from(segment.word, owner, 32)};
        const int32_t done =
            threads * (step - (gpu::shuffle_from(end, owner, 32) - gpu::shuffle_from(mine, owner, 32)));
        const int32_t left = of.count() - done;
        const Step next{of.begin() + done,
                        gpu::shuffle_from(entry.stride, owner, 32),
                        gpu::shuffle_from(product, owner, 32) + done,
                        static_cast<int16_t>(step < total ? (left < threads ? left : threads) : 0),
                        static_cast<int16_t>(gpu::shuffle_from(rows_b, owner, 32)),
                        owner * Rows * deep};
        meet();
        if (part == 0) steps[lane] = next;
        meet();
        run(steps, total - from < 32 ? total - from : 32, factors, slots, sums, thread);
      }
    }
  }

  __device__ void run(const Step* steps, int32_t count, const T* factors, const uint16_t* slots, T* sums,
                      int thread) const {
    const auto load = [&](int32_t at, Term(&terms)[batch]) {
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        terms[u].slot = -1;
        if (at + u >= count) continue;
        const Step step = steps[at + u];
        if (thread < step.count) {
          terms[u].slot = gpu::load_once(slots + step.product);
#pragma unroll
          for (int q = 0; q < deep; ++q)
            if (q < step.deep) terms[u].b[q] = B.value(step.begin + static_cast<int64_t>(q) * step.stride + thread);
        }
      }
    };
    const auto add = [&](int32_t at, const Term(&terms)[batch]) {
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        if (at + u < count && terms[u].slot >= 0) {
          const int rows_b = steps[at + u].deep;
          const T* const f = factors + steps[at + u].entry;
          T sum[Rows];
#pragma unroll
          for (int r = 0; r < Rows; ++r) sum[r] = sums[r * capacity + terms[u].slot];
#pragma unroll
          for (int q = 0; q < deep; ++q)
            if (q < rows_b) {
#pragma unroll
              for (int r = 0; r < Rows; ++r) sum[r] = gpu::multiply_add(f[r * deep + q], terms[u].b[q], sum[r]);
            }
#pragma unroll
          for (int r = 0; r < Rows; ++r) sums[r * capacity + terms[u].slot] = sum[r];
        }
        meet();
      }
    };
    Term even[batch], odd[batch];
    load(0, even);
    for (int32_t at = 0; at < count; at += 2 * batch) {
      if (at + batch < count) load(at + batch, odd);
      add(at, even);
      if (at + 2 * batch < count) load(at + 2 * batch, even);
      if (at + batch < count) add(at + batch, odd);
    }
  }
};

/// All runs of few whole tiles in one launch: one after the other they would leave most of a device idle.
template <class Left, class T, class I>
struct FewTiles {
  static constexpr int warps = 4;
  template <int Rows>
  using Pieces = TilePieces<Left, T, I, Rows, warps>;
  static constexpr int threads = Pieces<tile_rows>::threads, blocks_per_sm = Pieces<tile_rows>::blocks_per_sm;
  Left A;
  RightValues<T, I> B;
  Values<T> C;
  TileLists<I> lists;
  std::array<TileRun, Tiles::kinds> runs;

  static size_t shared_bytes(const std::array<TileRun, Tiles::kinds>& runs) {
    size_t bytes = 0;
    for (const TileRun& run : runs)
      if (run.count > 0) bytes = std::max(bytes, Pieces<tile_rows>::shared_bytes(run.capacity, run.rows));
    return bytes;
  }

  __device__ void operator()() const {
    const int64_t item = blockIdx.x;
    int kind = 0;
    while (item >= runs[kind].first + runs[kind].count) ++kind;
    const int32_t capacity = runs[kind].capacity;
    switch (runs[kind].rows) {
      case 1: return Pieces<1>{A, B, C, lists, capacity}.take(item);
      case 2: return Pieces<2>{A, B, C, lists, capacity}.take(item);
      case 3: return Pieces<3>{A, B, C, lists, capacity}.take(item);
      default: return Pieces<4>{A, B, C, lists, capacity}.take(item);
    }
  }
};

}  // namespace kkc::spgemm::gpu_parts
