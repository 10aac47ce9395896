// gpu_merge's merge. The merge path of A and B is cut into tiles, a block each, whatever the rows' lengths; inside a
// tile every thread merges 16 entries from shared memory (Green, McColl, Bader, "GPU merge path", ICS'12). What remains
// is two bits for each of C's entries. A tile learns how many of C's entries lie before it from those before it, which
// are running (decoupled look-back: Merrill, Garland, NVR-2016-002), and so writes its part of C's pattern.
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/gpu_warp.hpp"
#include "ops/spadd/spadd_gpu_merge_pattern.hpp"
#include "ops/spadd/spadd_gpu_merge_points.hpp"
#include "ops/spadd/spadd_merge_path.hpp"

namespace kkc::spadd::gpu_parts {

inline constexpr int tile_words = tile_entries / 64;

/// Bits of 64 entries of C, the first 32 in low.
struct alignas(16) Word {
  uint32_t a_low, a_high, b_low, b_high;
};
/// Entries of A and B before a word, counted from the tile's first.
struct Base {
  uint16_t a, b;
};

/// What the symbolic phase leaves. Tile t: words and bases from t * tile_words on, C's entries [firsts[t], firsts[t +
/// 1]) and A's and B's from points[t] on.
struct Tiles {
  const Point* points;
  const int64_t* firsts;
  const Word* words;
  const Base* bases;
};

/// Two places of a tile, in A's entries and in B's.
struct Pair {
  int a, b;
  static __device__ Pair unpack(uint32_t word) {
    return {static_cast<int>(word & 0xffff), static_cast<int>(word >> 16)};
  }
  __device__ uint32_t pack() const { return static_cast<uint32_t>(a) | static_cast<uint32_t>(b) << 16; }
  __device__ int sum() const { return a + b; }
};

/// A tile of the path. Rows in it are counted from its first.
template <class I, class O>
struct Tile {
  const Rows<I, O>&A, &B;
  Point from;
  int na, nb;
  int64_t rows;  // at least 1
  int64_t number;

  /// Where a row ends; what lies behind the tile's last entry counts as one entry.
  __device__ Pair end(int64_t row) const {
    return {clip(A.begin(from.row + row + 1) - from.a, na), clip(B.begin(from.row + row + 1) - from.b, nb)};
  }
  /// The same from offsets.
  __device__ Pair end_of(O a, O b) const {
    return {A.offsets == nullptr ? 0 : clip(static_cast<int64_t>(a) - A.base - from.a, na),
            B.offsets == nullptr ? 0 : clip(static_cast<int64_t>(b) - B.base - from.b, nb)};
  }

 private:
  static __device__ int clip(int64_t i, int n) { return i > n ? n + 1 : static_cast<int>(i); }
};

/// Rows whose ends are in shared memory.
struct StagedRows {
  const uint32_t* ends;
  uint16_t* marks;  // of a row that begins within a thread's part: the thread and its entries of C before
  int count;

  __device__ Pair end(int row) const { return Pair::unpack(ends[row]); }
  /// The row of the entry after `place` others.
  __device__ int find(int place) const {
    int low = 0, high = count - 1;
    while (low < high) {
      const int middle = (low + high) >> 1;
      if (end(middle).sum() <= place)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  __device__ int next(int row, int) const { return row + 1; }
  __device__ void mark(int row, int thread, int before) const {
    marks[row] = static_cast<uint16_t>(thread << 5 | before);
  }
};

/// Rows that are too many: mostly empty ones, passed in one go.
template <class I, class O>
struct DistantRows {
  const Tile<I, O>& tile;
  int64_t count;

  __device__ Pair end(int64_t row) const { return tile.end(row); }
  __device__ int64_t find(int place) const {
    return row_at(tile.A, tile.B, tile.from.row, tile.from.row + count, tile.from.a + tile.from.b + place) -
           tile.from.row;
  }
  __device__ int64_t next(int64_t row, int place) const {
    if (end(row + 1).sum() > place) return row + 1;
    const int64_t found = find(place);
    return found > row ? found : row + 1;
  }
  __device__ void mark(int64_t, int, int) const {}
};

/// Block: a tile. Merges it into bits and writes its part of C's pattern.
template <class I, class O>
struct MergeTile {
  static constexpr int threads = 128;
  static constexpr int blocks_per_sm = sizeof(I) == 4 ? 10 : 8;
  static constexpr int items = tile_entries / threads;  // a thread's, and one more where two of one column are there
  static constexpr int batch = items + 1;               // columns that a thread brings
  static constexpr int most_rows = 1280;                // whose ends are staged
  using U = std::make_unsigned_t<I>;
  static constexpr U past = ~U{0};  // above every column
  static_assert(items < 31 && threads <= 2048, "a thread's bits, and a mark");
  static_assert(batch * threads >= tile_entries + 2, "a tile's columns");

  Rows<I, O> A, B;
  int64_t rows, end_a, end_b, tiles;
  uint64_t cols;
  const Point* points;
  Word* words;
  Base* bases;
  int64_t* firsts;  // tiles + 1
  Progress progress;
  PatternTarget C;

  struct Shared {
    U columns[batch * threads];  // A's and the one behind, B's and the one behind
    uint32_t ends[most_rows];
    uint16_t marks[most_rows + 1];
    uint32_t begins[threads + 1];
    int firsts[threads + 1];
    int warp_counts[threads / 32];
    uint32_t bits[2][2 * tile_words];
    Base word_bases[tile_words];
    unsigned tile;
    unsigned long long looks[2][threads / 32];
  };

  __device__ void operator()() const {
    __shared__ Shared shared;
    const int thread = static_cast<int>(threadIdx.x);
    // Tiles are taken in the order in which blocks start: those before a tile are running.
    unsigned ticket = 0;
    if (thread == 0) ticket = atomicAdd(progress.ticket, 1u);
    for (int i = thread; i < 4 * tile_words; i += threads) shared.bits[0][i] = 0;  // of both
    if (thread == 0) shared.tile = ticket;
    __syncthreads();
    const int64_t tile = shared.tile;
    const Point from = point(tile), to = point(tile + 1);
    if ((gpu::load_fresh(progress.found) & found_offsets) != 0) return;
    const int64_t wide_a = to.a - from.a, wide_b = to.b - from.b;
    if (wide_a < 0 || wide_b < 0 || wide_a + wide_b > tile_entries) {  // only where rows are out of order
      if (thread == 0) {
        progress.note(found_disorder);
        tile_state::announce(progress.states + tile, tile_state::counted);
      }
      return;
    }
    const Tile<I, O> part{A,
                          B,
                          from,
                          static_cast<int>(wide_a),
                          static_cast<int>(wide_b),
                          (to.row < rows ? to.row + 1 : rows) - from.row,
                          tile};
    const bool staged_rows = part.rows <= most_rows;
    const int count = staged_rows ? static_cast<int>(part.rows) : 0;
    stage(shared, part, count, to.a < end_a, to.b < end_b);
    __syncthreads();
    if (staged_rows) {
      const Place place = merge(shared, part, StagedRows{shared.ends, shared.marks, count});
      write_columns(shared, part, place);
      write_offsets(shared, part, place, static_cast<int>(to.row - from.row));
    } else {
      if (thread == 0) progress.note(found_gaps);
      const Place place = merge(shared, part, DistantRows<I, O>{part, part.rows});
      write_columns(shared, part, place);
    }
  }

 private:
  /// Loads that stay where they are, so that one is not waited for before the next.
  __device__ Point point(int64_t tile) const {
    return {gpu::load_fresh(&points[tile].row), gpu::load_fresh(&points[tile].a), gpu::load_fresh(&points[tile].b)};
  }

  /// A tile's entries of C: how many, and how many before them.
  struct Place {
    int total;
    int64_t first;
  };

  /// Both operands' columns and the ends of rows, all on their way before the first is waited for.
  __device__ void stage(Shared& shared, const Tile<I, O>& part, int count, bool more_a, bool more_b) const {
    const int thread = static_cast<int>(threadIdx.x);
    O ends_a[2] = {}, ends_b[2] = {};
#pragma unroll
    for (int k = 0; k < 2; ++k)
      if (const int row = thread + k * threads; row < count) {
        if (A.offsets != nullptr) ends_a[k] = A.offsets[part.from.row + row + 1];
        if (B.offsets != nullptr) ends_b[k] = B.offsets[part.from.row + row + 1];
      }
    const int first_b = part.na + 1, after = first_b + part.nb + (more_b ? 1 : 0), hole = more_a ? -1 : part.na;
    const I* const of_a = A.columns + part.from.a + thread;
    const I* const of_b = B.columns + part.from.b - first_b + thread;
    const U base_a = static_cast<U>(A.base), base_b = static_cast<U>(B.base),
            limit = cols < past ? static_cast<U>(cols) : past;
    I column[batch];
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      const int i = k * threads + thread;
      const I* const from = i < first_b ? of_a : of_b;
      column[k] = static_cast<I>(i < first_b ? base_a : base_b);
      if (i < after && i != hole) column[k] = from[k * threads];
    }
#pragma unroll
    for (int k = 0; k < 2; ++k)
      if (const int row = thread + k * threads; row < count)
        shared.ends[row] = part.end_of(ends_a[k], ends_b[k]).pack();
    bool out = false;
#pragma unroll
    for (int k = 0; k < batch; ++k) {
      const int i = k * threads + thread;
      const U from_0 = static_cast<U>(column[k]) - (i < first_b ? base_a : base_b);
      out |= from_0 >= limit;
      shared.columns[i] = from_0;
    }
    for (int row = thread + 2 * threads; row < count; row += threads) shared.ends[row] = part.end(row).pack();
    if (out) progress.note(found_range);
  }

  template <class TileRows>
  __device__ Place merge(Shared& shared, const Tile<I, O>& part, const TileRows& of) const {
    const int thread = static_cast<int>(threadIdx.x), n = part.na + part.nb;
    const U* const a = shared.columns;
    const U* const b = a + part.na + 1;
    // This thread's place on the path.
    auto row = of.count - 1;
    Pair at{part.na, part.nb}, end = at;
    if (const int place = items * thread; place < n) {
      row = of.find(place);
      const Pair begin = row == 0 ? Pair{0, 0} : of.end(row - 1);
      end = of.end(row);
      const int steps = place - begin.sum();
      at.a = begin.a + taken_from_a(
                           steps, end.a - begin.a, end.b - begin.b, [&](int i) { return a[begin.a + i]; },
                           [&](int i) { return b[begin.b + i]; });
      at.b = place - at.a;
      if (at.a > begin.a && at.b < end.b && a[at.a - 1] == b[at.b]) ++at.b;
    }
    shared.begins[thread] = at.pack();
    if (thread == 0) shared.begins[threads] = Pair{part.na, part.nb}.pack();
    __syncthreads();
    const Pair first = at, to = Pair::unpack(shared.begins[thread + 1]);

    // Both next columns are in registers. A column that is not above the one before it in its row is found as it comes.
    uint32_t bits_a = 0, bits_b = 0;
    bool down = false;
    U next_a = at.a < end.a ? a[at.a] : past, next_b = at.b < end.b ? b[at.b] : past;
#pragma unroll
    for (int k = 0; k <= items; ++k) {
      if (at.a >= to.a && at.b >= to.b) break;
      if ((next_a & next_b) == past) {
        while ((next_a & next_b) == past && row + 1 < of.count) {
          row = of.next(row, at.sum());
          of.mark(row, thread, k);
          end = of.end(row);
          if (at.a < end.a) next_a = a[at.a];
          if (at.b < end.b) next_b = b[at.b];
        }
        if ((next_a & next_b) == past) break;  // only where rows are out of order
      }
      const bool take_a = next_a <= next_b, take_b = next_b <= next_a;
      const U column = take_a ? next_a : next_b;
      if (take_a) bits_a |= 1u << k;
      if (take_b) bits_b |= 1u << k;
      if (take_a) ++at.a;
      if (take_b) ++at.b;
      U after_a = past, after_b = past;
      if (take_a && at.a < end.a) after_a = a[at.a];
      if (take_b && at.b < end.b) after_b = b[at.b];
      down |= (take_a && after_a <= column) || (take_b && after_b <= column);
      next_a = take_a ? after_a : next_a;
      next_b = take_b ? after_b : next_b;
    }
    down |= at.a != to.a || at.b != to.b;
    if (down) progress.note(found_disorder);
    return write(shared, part.number, first, bits_a, bits_b);
  }

  /// Puts a thread's bits to their places in the tile; finds the tile's place.
  __device__ Place write(Shared& shared, int64_t tile, const Pair& before, uint32_t bits_a, uint32_t bits_b) const {
    const int thread = static_cast<int>(threadIdx.x), lane = thread & 31, warp = thread >> 5;
    const int count = __popc(bits_a | bits_b), through = gpu::subgroup_scan(count, 32);
    if (lane == 31) shared.warp_counts[warp] = through;
    __syncthreads();
    int first = through - count, total = 0;
#pragma unroll
    for (int w = 0; w < threads / 32; ++w) {
      if (w < warp) first += shared.warp_counts[w];
      total += shared.warp_counts[w];
    }
    total = total < tile_entries ? total : tile_entries;
    unsigned long long* const state = progress.states + tile;
    if (thread == 0) tile_state::announce(state, tile_state::counted | static_cast<unsigned>(total));
    shared.firsts[thread] = first;
    if (count > 0 && first + count <= tile_entries) {
      const int word = first >> 5, offset = first & 31;
      atomicOr(&shared.bits[0][word], bits_a << offset);
      atomicOr(&shared.bits[1][word], bits_b << offset);
      if (offset + count > 32) {
        atomicOr(&shared.bits[0][word + 1], bits_a >> (32 - offset));
        atomicOr(&shared.bits[1][word + 1], bits_b >> (32 - offset));
      }
      const int border = (first + 63) & ~63;
      if (border < first + count) {
        const uint32_t below = (1u << (border - first)) - 1;
        shared.word_bases[border >> 6] = {static_cast<uint16_t>(before.a + __popc(bits_a & below)),
                                          static_cast<uint16_t>(before.b + __popc(bits_b & below))};
      }
    }
    const int64_t first_C = tile_state::entries_before(progress.states, tile, shared.looks);
    if (thread == 0) {
      const int64_t next_C = first_C + total;
      tile_state::announce(state, tile_state::through | static_cast<unsigned long long>(next_C));
      firsts[tile] = first_C;
      if (tile + 1 == tiles) firsts[tiles] = progress.result->nnz = next_C;
    } else if (warp == 1 && 64 * lane < total) {
      const uint32_t *const bits_of_a = shared.bits[0] + 2 * lane, *const bits_of_b = shared.bits[1] + 2 * lane;
      words[tile * tile_words + lane] = {bits_of_a[0], bits_of_a[1], bits_of_b[0], bits_of_b[1]};
      bases[tile * tile_words + lane] = shared.word_bases[lane];
    }
    return {total, first_C};
  }

  /// Columns of C, of A where it has the entry, else of B.
  __device__ void write_columns(const Shared& shared, const Tile<I, O>& part, const Place& of) const {
    if (C.columns == nullptr) return;
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    const uint32_t below = (1u << lane) - 1;
    const int64_t first = of.first, room = C.room - first;
    const int total = of.total > room ? static_cast<int>(room) : of.total;  // less only where rows are out of order
    for (int word = warp; 64 * word < total; word += threads / 32) {
      const uint32_t *const bits_a = shared.bits[0] + 2 * word, *const bits_b = shared.bits[1] + 2 * word;
      const Base base = shared.word_bases[word];
      int base_a = base.a, base_b = part.na + 1 + base.b;
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int entry = 64 * word + 32 * half + lane;
        const bool in_a = (bits_a[half] >> lane & 1) != 0;
        const int place = (in_a ? base_a : base_b) + __popc((in_a ? bits_a[half] : bits_b[half]) & below);
        // No place lies behind the columns but where rows are out of order.
        if (entry < total) C.set_column(first + entry, shared.columns[place < tile_entries ? place : tile_entries]);
        base_a += __popc(bits_a[0]);
        base_b += __popc(bits_b[0]);
      }
    }
  }

  /// Offsets of rows 1 to `last` of the tile: those where a thread began are where it began.
  __device__ void write_offsets(const Shared& shared, const Tile<I, O>& part, const Place& of, int last) const {
    if (part.number == 0 && threadIdx.x == 0) C.set_offset(0, 0);
    for (int row = static_cast<int>(threadIdx.x) + 1; row <= last; row += threads) {
      const int place = Pair::unpack(shared.ends[row - 1]).sum();
      int before = of.total;
      if (place < part.na + part.nb) {
        const unsigned mark = place % items == 0 ? static_cast<unsigned>(place / items) << 5 : shared.marks[row];
        before = shared.firsts[(mark >> 5) % threads] + static_cast<int>(mark & 31);
      }
      C.set_offset(part.from.row + row, of.first + before);
    }
  }
};

}  // namespace kkc::spadd::gpu_parts
