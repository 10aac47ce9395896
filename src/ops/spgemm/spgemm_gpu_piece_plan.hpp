// Long rows of C in pieces whose products keep slots: for each piece the plan stores where its columns begin in each
// row of B that the row of A names, and the place of each product in the piece, so that the numeric phase neither
// searches nor looks at columns (places kept from the symbolic phase: Nagasaka et al., ICPP'17, keep the table
// instead). Places are counted in a bitmap of the columns of a stretch (Parger et al., "spECK", PPoPP'20, section 4.3).
#pragma once

#include <algorithm>
#include <bit>

#include "device/gpu_scan.hpp"
#include "spgemm_gpu_block.hpp"
#include "spgemm_gpu_launch.hpp"
#include "spgemm_gpu_plan_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

/// A piece's columns in a row of B: where they begin and how many.
struct PieceSegment {
  static constexpr int count_bits = 16;
  uint64_t word;

  __device__ static PieceSegment of(int64_t begin, int64_t count) {
    return {static_cast<uint64_t>(begin) << count_bits | static_cast<uint64_t>(count)};
  }
  __device__ int64_t begin() const { return static_cast<int64_t>(word >> count_bits); }
  __device__ int32_t count() const { return static_cast<int32_t>(word & ((1u << count_bits) - 1)); }
};

/// For piece i: segments begins[i].., one for each entry of the row of A; slots slot_begins[i]..
struct PieceLists {
  static constexpr int batch = 8;
  const Piece* pieces;
  const int64_t* begins;
  const int64_t* slot_begins;
  const PieceSegment* segments;
  const uint16_t* slots;

  __device__ Piece piece(int64_t item, const Offsets&) const { return pieces[item]; }
  template <class Left, class Right>
  __device__ PieceSegment segment(int64_t item, int32_t k, const Left&, const LeftRow&, const Right&) const {
    return {gpu::load_once(&segments[begins[item] + k].word)};
  }
  __device__ const uint16_t* slots_of(int64_t item, const Piece&) const { return slots + slot_begins[item]; }
};

/// visits[i] = entries of the row of A of piece i.
template <class Left>
struct CountVisits {
  static constexpr int threads = 256;
  Left A;
  const Piece* pieces;
  int64_t count;
  int64_t* visits;

  __device__ void operator()() const {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (i < count) visits[i] = A.row(pieces[i].row).length;
  }
};

/// A block a piece: its segments, and its products.
template <class Left, class I>
struct CutPieces {
  static constexpr int threads = 128;
  Left A;
  Pattern<I> B;  // ascends strictly
  Offsets offsets;
  const I* columns;  // of C
  const Piece* pieces;
  const int64_t* begins;
  PieceSegment* segments;
  int64_t* products;  // of each piece

  __device__ void operator()() const {
    __shared__ unsigned long long sum;
    const int thread = static_cast<int>(threadIdx.x);
    if (thread == 0) sum = 0;
    __syncthreads();
    const Piece piece = pieces[blockIdx.x];
    const int64_t row_at = offsets.at(piece.row), at = row_at + piece.first;
    const I low = columns[at], high = columns[at + piece.length - 1];
    const bool first = piece.first == 0, last = at + piece.length == offsets.at(piece.row + 1);
    const LeftRow row = A.row(piece.row);
    PieceSegment* const to = segments + begins[blockIdx.x];
    int64_t mine = 0;
    for (int32_t k = thread; k < row.length; k += threads) {
      const int64_t j = A.column(row, k);
      int64_t begin = B.begin(j), end = B.end(j);
      if (!first) begin = B.lower(begin, end, low);
      if (!last) end = B.lower(begin, end, high + 1);
      to[k] = PieceSegment::of(begin, end - begin);
      mine += end - begin;
    }
    mine = gpu::subgroup_sum(mine, 32);
    if ((thread & 31) == 0) atomicAdd(&sum, static_cast<unsigned long long>(mine));
    __syncthreads();
    if (thread == 0) products[blockIdx.x] = static_cast<int64_t>(sum);
  }
};

/// Segments as a row of A and rows of B.
struct SegmentsLeft {
  __device__ static int64_t column(const LeftRow& row, int32_t k) { return row.begin + k; }
};
template <class I>
struct SegmentsRight {
  Pattern<I> B;
  const PieceSegment* segments;

  __device__ int64_t begin(int64_t segment) const { return segments[segment].begin(); }
  __device__ int64_t end(int64_t segment) const {
    const PieceSegment s = segments[segment];
    return s.begin() + s.count();
  }
  __device__ void load(int64_t p, I& column, uint32_t&) const { column = B.column(p); }
};

/// Where the slots of piece i go: its products are numbered through its segments.
template <class I>
struct SlotTarget {
  SegmentsRight<I> B;
  Offsets offsets;
  const I* columns;  // of C
  const Piece* pieces;
  const int64_t* begins;
  const int64_t* slot_begins;
  uint16_t* slots;

  __device__ const I* columns_of(const Piece& piece) const { return columns + offsets.at(piece.row) + piece.first; }
  /// take(column, slot) for all products of the block's piece.
  template <class Take>
  __device__ void each(const Take& take) const {
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    const int64_t begin = begins[blockIdx.x];
    const LeftRow row{0, begin, static_cast<int32_t>(begins[blockIdx.x + 1] - begin)};
    uint16_t* const out = slots + slot_begins[blockIdx.x];
    walk<true, I>(SegmentsLeft{}, row, B, lane, 32, warp, static_cast<int>(blockDim.x) >> 5,
                  [&](bool there, int32_t product, I column, uint32_t) {
                    if (there) take(column, out[product]);
                  });
  }
};

/// A block a piece: slots of pieces of sparse rows, or of rows in any order.
template <class I>
struct HashProducts {
  static constexpr int threads = 256;
  SlotTarget<I> target;
  int32_t places;  // a power of two

  static size_t shared_bytes(int32_t places) { return static_cast<size_t>(places) * 6; }

  __device__ void operator()() const {
    extern __shared__ char shared[];
    const HashedKeys table{reinterpret_cast<int32_t*>(shared), static_cast<uint32_t>(places - 1)};
    auto* const numbers = reinterpret_cast<uint16_t*>(table.keys + places);
    const int thread = static_cast<int>(threadIdx.x);
    const Piece piece = target.pieces[blockIdx.x];
    const I* const columns = target.columns_of(piece);
    for (int32_t j = thread; j < places; j += threads) table.keys[j] = HashedKeys::empty;
    __syncthreads();
    for (int32_t j = thread; j < piece.length; j += threads) {
      int32_t before;
      numbers[table.insert(static_cast<int32_t>(columns[j]), before)] = static_cast<uint16_t>(j);
    }
    __syncthreads();
    target.each([&](I column, uint16_t& slot) { slot = numbers[table.find(static_cast<int32_t>(column))]; });
  }
};

/// A block a piece: slots of pieces of dense rows.
template <class I>
struct RankProducts {
  static constexpr int threads = 128;
  static constexpr int32_t words = 2048;  // of 64 columns
  static constexpr size_t shared_bytes = words * 10;
  SlotTarget<I> target;

  __device__ void operator()() const {
    extern __shared__ char shared[];
    auto* const bits = reinterpret_cast<uint64_t*>(shared);
    auto* const ranks = reinterpret_cast<uint16_t*>(bits + words);
    const int thread = static_cast<int>(threadIdx.x);
    const Piece piece = target.pieces[blockIdx.x];
    for (int32_t first = 0; first < piece.length;) {
      const I* const here = target.columns_of(piece) + first;
      const I base = here[0] / 64 * 64;
      int32_t length = piece.length - first;
      if (here[length - 1] - base >= I{64} * words) length = below(here, length, base + I{64} * words);
      const I high = here[length - 1];
      const auto used_words = static_cast<int32_t>((high - base) / 64 + 1);
      __syncthreads();
      for (int32_t w = thread; w < used_words; w += threads) bits[w] = 0;
      __syncthreads();
      for (int32_t j = thread; j < length; j += threads) {
        const auto column = static_cast<int32_t>(here[j] - base);
        atomicOr(reinterpret_cast<uint32_t*>(bits) + column / 32, 1u << (column & 31));
        if (j == 0 || static_cast<int32_t>(here[j - 1] - base) / 64 != column / 64)
          ranks[column / 64] = static_cast<uint16_t>(first + j);
      }
      __syncthreads();
      target.each([&](I column, uint16_t& slot) {
        if (column < base || column > high) return;
        const auto c = static_cast<int32_t>(column - base);
        const uint64_t before = bits[c / 64] & ((uint64_t{1} << (c & 63)) - 1);
        slot = static_cast<uint16_t>(ranks[c / 64] + __popcll(before));
      });
      first += length;
    }
  }

  /// How many of the columns, which ascend, lie below `column`.
  __device__ static int32_t below(const I* columns, int32_t count, I column) {
    int32_t begin = 0, end = count;
    while (begin < end) {
      const int32_t middle = (begin + end) / 2;
      if (columns[middle] < column)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  }
};

/// Long rows, cut.
struct Pieces {
  Buffer list;  // of Piece
  int64_t count = 0;
};

/// Pieces whose products keep slots.
struct SlottedLists {
  Pieces pieces;
  int32_t capacity = 0;  // entries of a piece at most
  Buffer begins, slot_begins, segments, slots;

  /// From piece `first` on.
  PieceLists view(int64_t first) const {
    return {pieces.list.as<Piece>() + first, begins.as<int64_t>() + first, slot_begins.as<int64_t>() + first,
            segments.as<PieceSegment>(), slots.as<uint16_t>()};
  }
  size_t bytes() const {
    return pieces.list.bytes() + begins.bytes() + slot_begins.bytes() + segments.bytes() + slots.bytes();
  }
};

/// Pieces of rows of one kind, beside each other in a list: of at most `capacity` entries. dense: rows ascend, and a
/// bitmap of their columns is worth its room.
struct PieceRun {
  int64_t first, count;
  int32_t capacity;
  bool dense;
};

/// False, and no lists, if segments take more than `room` bytes. The pieces are those of the runs.
template <class Problem, class I, class Runs>
bool keep_slots(Queue& queue, const Problem& problem, const Offsets& offsets, const I* columns, Pieces pieces,
                const Runs& runs, int64_t room, SlottedLists& lists) {
  using Left = decltype(problem.A);
  const int64_t count = pieces.count;
  const Piece* const list = pieces.list.template as<Piece>();
  const auto scan = [&](Buffer& sums) {
    return gpu::exclusive_scan_total(queue, sums.as<int64_t>(), sums.as<int64_t>(), count);
  };
  Buffer begins = problem.template array<int64_t>(count + 1);
  launch_over(queue, count, CountVisits<Left>{problem.A, list, count, begins.as<int64_t>()});
  const int64_t visits = scan(begins);
  if (visits * static_cast<int64_t>(sizeof(PieceSegment)) > room) return false;
  Buffer segments = problem.template array<PieceSegment>(visits),
         slot_begins = problem.template array<int64_t>(count + 1);
  launch_blocks(queue, count,
                CutPieces<Left, I>{problem.A, problem.B.B, offsets, columns, list, begins.as<int64_t>(),
                                   segments.as<PieceSegment>(), slot_begins.as<int64_t>()},
                0);
  Buffer slots = problem.template array<uint16_t>(scan(slot_begins));
  int32_t capacity = 0;
  for (const PieceRun& run : runs) {
    const SlotTarget<I> target{{problem.B.B, segments.as<PieceSegment>()},
                               offsets,
                               columns,
                               list + run.first,
                               begins.as<int64_t>() + run.first,
                               slot_begins.as<int64_t>() + run.first,
                               slots.as<uint16_t>()};
    if (run.dense) {
      launch_blocks(queue, run.count, RankProducts<I>{target}, RankProducts<I>::shared_bytes);
    } else {
      const auto places = static_cast<int32_t>(std::bit_ceil(2 * static_cast<uint32_t>(run.capacity)));
      launch_blocks(queue, run.count, HashProducts<I>{target, places}, HashProducts<I>::shared_bytes(places));
    }
    if (run.count > 0) capacity = std::max(capacity, run.capacity);
  }
  lists = {std::move(pieces),   capacity,        std::move(begins), std::move(slot_begins),
           std::move(segments), std::move(slots)};
  return true;
}

}  // namespace kkc::spgemm::gpu_parts
