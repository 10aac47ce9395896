// gpu_merge's merge. The merge path of A and B is cut into tiles, a block each, whatever the rows' lengths; inside a
// tile every thread merges 16 entries from shared memory (Green, McColl, Bader, "GPU merge path", ICS'12). What remains
// is two bits for each of C's entries. A tile learns how many of C's entries lie before it from those before it, which
// are running (LookBack), and so writes its part of C's pattern.
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/gpu_bulk.hpp"
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
struct alignas(4) Base {
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
  static constexpr int most_rows = 1024;                // whose ends are staged
  using U = std::make_unsigned_t<I>;
  static constexpr U past = ~U{0};  // above every column
  static constexpr int line = 16 / sizeof(U);
  /// A tile's and those behind, as far from whole lines as in A and B, and what a thread may read where rows are out of
  /// order.
  static constexpr int most_columns = tile_entries + 2 + 3 * line + 2 * (items + 1);
  static_assert(items < 31 && threads <= 2048, "a thread's bits, and a mark");

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
    alignas(16) U columns[most_columns];  // A's and the one behind, B's and the one behind
    gpu::BulkCopy copies[2];
    uint32_t ends[most_rows];
    uint16_t marks[most_rows + 1];
    uint32_t begins[threads + 1];
    int firsts[threads + 1];
    int warp_counts[threads / 32];
    Word bits[tile_words];
    Base word_bases[tile_words];
    unsigned tile;
    unsigned long long before[2];  // entries of C, by LookBack's parts
  };

  __device__ void operator()() const {
    __shared__ Shared shared;
    const int thread = static_cast<int>(threadIdx.x);
    // Tiles are taken in the order in which blocks start: those before a tile are running.
    unsigned ticket = 0;
    if (thread == 0) ticket = atomicAdd(progress.ticket, 1u);
    for (int i = thread; i < tile_words; i += threads) shared.bits[i] = {0, 0, 0, 0};
    if (thread == 0) shared.tile = ticket;
    __syncthreads();
    const int64_t tile = shared.tile;
    const Point from = point(tile), to = point(tile + 1);
    if ((gpu::load_fresh(progress.found) & found_offsets) != 0) return;
    const int64_t wide_a = to.a - from.a, wide_b = to.b - from.b;
    if (wide_a < 0 || wide_b < 0 || wide_a + wide_b > tile_entries) {  // only where rows are out of order
      if (thread == 0) {
        progress.note(found_disorder);
        progress.entries.announce(tile, 0);
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
    const Staged in{
        first_in_line(A.columns + from.a),
        (first_in_line(A.columns + from.a) + part.na + line) / line * line + first_in_line(B.columns + from.b)};
    stage(shared, part, in, count, to.a < end_a, to.b < end_b);
    if (staged_rows) {
      const Place place = merge(shared, part, in, StagedRows{shared.ends, shared.marks, count});
      write_columns(shared, in, place);
      write_offsets(shared, part, place, static_cast<int>(to.row - from.row));
    } else {
      if (thread == 0) progress.note(found_gaps);
      const Place place = merge(shared, part, in, DistantRows<I, O>{part, part.rows});
      write_columns(shared, in, place);
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

  /// Where A's and B's columns lie in shared memory.
  struct Staged {
    int a, b;
  };
  static __device__ int first_in_line(const I* column) {
    return static_cast<int>(reinterpret_cast<uintptr_t>(column) / sizeof(I) % line);
  }

  /// Both operands' columns and the ends of rows, all on their way before the first is waited for.
  __device__ void stage(Shared& shared, const Tile<I, O>& part, const Staged& in, int count, bool more_a,
                        bool more_b) const {
    const int thread = static_cast<int>(threadIdx.x), lane = thread & 31, warp = thread >> 5;
    const int count_a = part.na + (more_a ? 1 : 0), count_b = part.nb + (more_b ? 1 : 0);
    const U* const of_a = reinterpret_cast<const U*>(A.columns) + part.from.a;
    const U* const of_b = reinterpret_cast<const U*>(B.columns) + part.from.b;
    if constexpr (gpu::has_bulk_copies) {
      if (warp == 0) shared.copies[0].begin(shared.columns + in.a, of_a, count_a, lane);
      if (warp == 1) shared.copies[1].begin(shared.columns + in.b, of_b, count_b, lane);
    } else {
      for (int i = thread; i < count_a; i += threads) shared.columns[in.a + i] = of_a[i];
      for (int i = thread; i < count_b; i += threads) shared.columns[in.b + i] = of_b[i];
    }
    O ends_a[2] = {}, ends_b[2] = {};
#pragma unroll
    for (int k = 0; k < 2; ++k)
      if (const int row = thread + k * threads; row < count) {
        if (A.offsets != nullptr) ends_a[k] = A.offsets[part.from.row + row + 1];
        if (B.offsets != nullptr) ends_b[k] = B.offsets[part.from.row + row + 1];
      }
#pragma unroll
    for (int k = 0; k < 2; ++k)
      if (const int row = thread + k * threads; row < count)
        shared.ends[row] = part.end_of(ends_a[k], ends_b[k]).pack();
    for (int row = thread + 2 * threads; row < count; row += threads) shared.ends[row] = part.end(row).pack();
    __syncthreads();
    if constexpr (gpu::has_bulk_copies)
      for (gpu::BulkCopy& copy : shared.copies) copy.wait();
  }

  template <class TileRows>
  __device__ Place merge(Shared& shared, const Tile<I, O>& part, const Staged& in, const TileRows& of) const {
    const int thread = static_cast<int>(threadIdx.x), n = part.na + part.nb;
    const U base = static_cast<U>(A.base), more = base - static_cast<U>(B.base),
            limit = cols < past ? static_cast<U>(cols) : past;
    const U* const columns_a = shared.columns + in.a;
    const U* const columns_b = shared.columns + in.b;
    const auto a = [&](int i) { return columns_a[i]; };
    const auto b = [&](int i) { return static_cast<U>(columns_b[i] + more); };
    // This thread's place on the path.
    auto row = of.count - 1;
    Pair at{part.na, part.nb}, end = at;
    if (const int place = items * thread; place < n) {
      row = of.find(place);
      const Pair begin = row == 0 ? Pair{0, 0} : of.end(row - 1);
      end = of.end(row);
      const int steps = place - begin.sum();
      at.a = begin.a + taken_from_a(
                           steps, end.a - begin.a, end.b - begin.b, [&](int i) { return a(begin.a + i); },
                           [&](int i) { return b(begin.b + i); });
      at.b = place - at.a;
      if (at.a > begin.a && at.b < end.b && a(at.a - 1) == b(at.b)) ++at.b;
    }
    shared.begins[thread] = at.pack();
    if (thread == 0) shared.begins[threads] = Pair{part.na, part.nb}.pack();
    __syncthreads();
    const Pair first = at, to = Pair::unpack(shared.begins[thread + 1]);

    // Both next columns are in registers. A column that is not above the one before it in its row is found as it comes.
    uint32_t bits_a = 0, bits_b = 0, bit = 1, down = 0;
    U most = 0;  // column
    U next_a = at.a < end.a ? a(at.a) : past, next_b = at.b < end.b ? b(at.b) : past, next = min(next_a, next_b);
    int rest = to.sum() - at.sum();
#pragma unroll 1
    while (rest > 0) {
      if (next == past) {
        while (next == past && row + 1 < of.count) {
          row = of.next(row, at.sum());
          of.mark(row, thread, __ffs(static_cast<int>(bit)) - 1);
          end = of.end(row);
          if (at.a < end.a) next_a = a(at.a);
          if (at.b < end.b) next_b = b(at.b);
          next = min(next_a, next_b);
        }
        if (next == past) break;  // only where rows are out of order
      }
      const U column = next;
      const bool take_a = next_a == column, take_b = next_b == column;
      most = max(most, static_cast<U>(column - base));
      // Without loads, so that both become instructions under a condition instead of branches.
      if (take_a) ++at.a, --rest, bits_a |= bit, next_a = past;
      if (take_b) ++at.b, --rest, bits_b |= bit, next_b = past;
      if (take_a && at.a < end.a) next_a = a(at.a);
      if (take_b && at.b < end.b) next_b = b(at.b);
      next = min(next_a, next_b);
      if (next <= column) down |= bit;
      bit += bit;
    }
    if (down != 0 || at.a != to.a || at.b != to.b) progress.note(found_disorder);
    if (most >= limit && to.sum() > first.sum()) progress.note(found_range);
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
    if (thread == 0) progress.entries.announce(tile, total);
    shared.firsts[thread] = first;
    if (count > 0 && first + count <= tile_entries) {
      const auto put = [&](int half, uint32_t of_a, uint32_t of_b) {
        Word& word = shared.bits[half >> 1];
        atomicOr((half & 1) != 0 ? &word.a_high : &word.a_low, of_a);
        atomicOr((half & 1) != 0 ? &word.b_high : &word.b_low, of_b);
      };
      const int half = first >> 5, offset = first & 31;
      put(half, bits_a << offset, bits_b << offset);
      if (offset + count > 32) put(half + 1, bits_a >> (32 - offset), bits_b >> (32 - offset));
      const int border = (first + 63) & ~63;
      if (border < first + count) {
        const uint32_t below = (1u << (border - first)) - 1;
        shared.word_bases[border >> 6] = {static_cast<uint16_t>(before.a + __popc(bits_a & below)),
                                          static_cast<uint16_t>(before.b + __popc(bits_b & below))};
      }
    }
    if (warp < 2) {
      const unsigned long long before_C = progress.entries.part(tile);
      if (lane == 0) shared.before[warp] = before_C;
    }
    __syncthreads();  // bits, too
    const auto first_C = static_cast<int64_t>(shared.before[0] + shared.before[1]);
    if (thread == 0) {
      const int64_t next_C = first_C + total;
      progress.entries.announce_through(tile, next_C);
      firsts[tile] = first_C;
      if (tile + 1 == tiles) {
        firsts[tiles] = next_C;
        progress.result->nnz = next_C;
      }
    } else if (warp == 1 && 64 * lane < total) {
      words[tile * tile_words + lane] = shared.bits[lane];
      bases[tile * tile_words + lane] = shared.word_bases[lane];
    }
    return {total, first_C};
  }

  /// Columns of C, of A where it has the entry, else of B.
  __device__ void write_columns(const Shared& shared, const Staged& in, const Place& of) const {
    if (C.columns == nullptr) return;
    if (C.wide_columns)
      write_columns(shared, in, of, static_cast<int64_t*>(C.columns));
    else
      write_columns(shared, in, of, static_cast<int32_t*>(C.columns));
  }
  template <class J>
  __device__ void write_columns(const Shared& shared, const Staged& in, const Place& of, J* to) const {
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    const uint32_t bit = 1u << lane;
    const U base_of_a = static_cast<U>(A.base), base_of_b = static_cast<U>(B.base);
    const int64_t room = C.room - of.first;
    const int total = of.total > room ? static_cast<int>(room) : of.total;  // less only where rows are out of order
    to += of.first + 64 * warp + lane;
    const auto write = [&](J* entry, uint32_t bits_a, uint32_t bits_b, int a, int b) {
      const bool in_a = (bits_a & bit) != 0;
      const int place = (in_a ? a : b) + __popc((in_a ? bits_a : bits_b) & (bit - 1));
      // No place lies behind the columns but where rows are out of order.
      *entry = static_cast<J>(shared.columns[min(place, most_columns - 1)] - (in_a ? base_of_a : base_of_b));
    };
    constexpr int warps = threads / 32;
    int left = total - 64 * warp - lane;  // of this lane's entries and those behind
#pragma unroll 1
    for (int word = warp; 64 * word < total; word += warps, left -= 64 * warps, to += 64 * warps) {
      const Word bits = shared.bits[word];
      const Base base = shared.word_bases[word];
      const int a = in.a + base.a, b = in.b + base.b;
      if (left > 0) write(to, bits.a_low, bits.b_low, a, b);
      if (left > 32) write(to + 32, bits.a_high, bits.b_high, a + __popc(bits.a_low), b + __popc(bits.b_low));
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
