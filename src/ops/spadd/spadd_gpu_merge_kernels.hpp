// Kernels of gpu_merge. The merge path of A and B is cut into tiles, a block each, whatever the rows' lengths; inside a
// tile every thread merges eight entries (Green, McColl, Bader, "GPU merge path", ICS'12). What remains of the merge is
// two bits for each of C's entries; columns and values are then gathered, two sources for an entry.
#pragma once

#include <cstdint>
#include <limits>

#include "core/operands.hpp"
#include "device/gpu_scalar.hpp"
#include "device/gpu_warp.hpp"
#include "ops/spadd/spadd_merge_path.hpp"

namespace kkc::spadd::gpu_parts {

inline constexpr int tile_threads = 256;
inline constexpr int tile_entries = 8 * tile_threads;  // at most
/// Steps between tiles: a tile takes one entry more where two of one column would be parted.
inline constexpr int64_t tile_steps = tile_entries - 1;
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

/// Thread: a border between tiles.
template <class I, class O>
struct FindPoints {
  static constexpr int threads = 128;
  Rows<I, O> A, B;
  int64_t rows, end_a, end_b, tiles;
  Point* points;  // tiles + 1

  __device__ void operator()() const {
    const int64_t t = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (t > tiles) return;
    if (t == tiles)
      points[t] = {rows, end_a, end_b};
    else
      points[t] = t == 0 ? Point{0, 0, 0} : point_at(A, B, 0, rows, t * tile_steps);
  }
};

/// Block: a tile. Merges it into bits and counts C's entries.
template <class I, class O>
struct MergeTile {
  static constexpr int threads = tile_threads;
  static constexpr int blocks_per_sm = 6;
  Rows<I, O> A, B;
  int64_t rows;
  const Point* points;
  Word* words;
  Base* bases;
  int32_t* counts;
  int32_t* disorder;  // set when a row does not ascend strictly; the results are then without meaning

  static constexpr I past = std::numeric_limits<I>::max();

  __device__ void operator()() const {
    __shared__ I columns[tile_entries];
    __shared__ uint32_t bits[2][2 * tile_words];
    __shared__ int begins[2][threads + 1];
    __shared__ int warp_counts[threads / 32];
    __shared__ Base word_bases[tile_words];
    const int thread = static_cast<int>(threadIdx.x);
    const int64_t tile = blockIdx.x;
    const Point from = points[tile], to = points[tile + 1];
    const int64_t wide_a = to.a - from.a, wide_b = to.b - from.b;
    if (wide_a < 0 || wide_b < 0 || wide_a + wide_b > tile_entries) {  // only where rows are out of order
      if (thread == 0) {
        *disorder = 1;
        counts[tile] = 0;
      }
      return;
    }
    const int na = static_cast<int>(wide_a), nb = static_cast<int>(wide_b), n = na + nb;
    I* const a = columns;
    I* const b = columns + na;
    for (int i = thread; i < n; i += threads)
      columns[i] = i < na ? A.columns[from.a + i] - static_cast<I>(A.base)
                          : B.columns[from.b + (i - na)] - static_cast<I>(B.base);
    if (thread < 2 * tile_words) bits[0][thread] = bits[1][thread] = 0;
    __syncthreads();

    // This thread's place on the path.
    const int64_t high = to.row < rows ? to.row + 1 : rows;
    int64_t row = from.row;
    int ia = na, ib = nb, end_a = na, end_b = nb;  // next entries and the row's ends, in the tile
    I last_a = -1, last_b = -1;                    // the row's columns before them
    int step = 8 * thread;
    const bool works = step < n;
    const auto enter = [&](int64_t r) {
      row = r;
      end_a = static_cast<int>(clip(A.begin(row + 1) - from.a, na));
      end_b = static_cast<int>(clip(B.begin(row + 1) - from.b, nb));
    };
    if (works) {
      enter(row_at(A, B, from.row, high, from.a + from.b + step));
      const int row_a = static_cast<int>(clip(A.begin(row) - from.a, na)),
                row_b = static_cast<int>(clip(B.begin(row) - from.b, nb));
      step -= row_a + row_b;
      const int x = static_cast<int>(taken_from_a(
          step, end_a - row_a, end_b - row_b, [&](int64_t i) { return a[row_a + i]; },
          [&](int64_t i) { return b[row_b + i]; }));
      ia = row_a + x;
      ib = row_b + step - x;
      if (x > 0 && ib < end_b && a[ia - 1] == b[ib]) ++ib;
      last_a = before(A, row, from.a, a, ia);
      last_b = before(B, row, from.b, b, ib);
    }
    begins[0][thread] = ia;
    begins[1][thread] = ib;
    if (thread == 0) {
      begins[0][threads] = na;
      begins[1][threads] = nb;
    }
    __syncthreads();
    const int to_a = begins[0][thread + 1], to_b = begins[1][thread + 1], first_a = ia, first_b = ib;

    // Eight entries, nine where a pair is kept together.
    uint32_t bits_a = 0, bits_b = 0;
    int count = 0;
    bool down = false;
    if (works) {
      while ((ia < to_a || ib < to_b) && count < 9) {
        while (ia >= end_a && ib >= end_b && row + 1 < high) {
          // Empty rows are passed in one go.
          int64_t next = row + 1;
          if (A.begin(next + 1) + B.begin(next + 1) == from.a + from.b + ia + ib)
            next = row_at(A, B, next, high, from.a + from.b + ia + ib);
          enter(next);
          last_a = last_b = -1;
        }
        const I column_a = ia < end_a ? a[ia] : past, column_b = ib < end_b ? b[ib] : past;
        const bool take_a = ia < end_a && column_a <= column_b, take_b = ib < end_b && column_b <= column_a;
        if (take_a) {
          down |= column_a <= last_a;
          last_a = column_a;
          bits_a |= 1u << count;
          ++ia;
        }
        if (take_b) {
          down |= column_b <= last_b;
          last_b = column_b;
          bits_b |= 1u << count;
          ++ib;
        }
        ++count;
      }
      down |= ia != to_a || ib != to_b;
    }
    if (down) *disorder = 1;

    // Places in the tile.
    const int lane = thread & 31, warp = thread >> 5;
    const int through = gpu::subgroup_scan(count, 32);
    if (lane == 31) warp_counts[warp] = through;
    __syncthreads();
    int first = through - count, total = 0;
    for (int w = 0; w < threads / 32; ++w) {
      if (w < warp) first += warp_counts[w];
      total += warp_counts[w];
    }
    total = total < tile_entries ? total : tile_entries;
    if (count > 0 && first + count <= tile_entries) {
      const int word = first >> 5, offset = first & 31;
      atomicOr(&bits[0][word], bits_a << offset);
      atomicOr(&bits[1][word], bits_b << offset);
      if (offset + count > 32) {
        atomicOr(&bits[0][word + 1], bits_a >> (32 - offset));
        atomicOr(&bits[1][word + 1], bits_b >> (32 - offset));
      }
      const int border = (first + 63) & ~63;
      if (border < first + count) {
        const uint32_t below = (1u << (border - first)) - 1;
        word_bases[border >> 6] = {static_cast<uint16_t>(first_a + __popc(bits_a & below)),
                                   static_cast<uint16_t>(first_b + __popc(bits_b & below))};
      }
    }
    __syncthreads();
    const int used = (total + 63) >> 6;
    if (thread < used) {
      words[tile * tile_words + thread] = {bits[0][2 * thread], bits[0][2 * thread + 1], bits[1][2 * thread],
                                           bits[1][2 * thread + 1]};
      bases[tile * tile_words + thread] = word_bases[thread];
    }
    if (thread == 0) counts[tile] = total;
  }

 private:
  static __device__ int64_t clip(int64_t i, int n) { return i < 0 ? 0 : i < n ? i : n; }

  /// The row's column before entry `i` of the tile, which may lie in the tile before; -1 where the row begins.
  static __device__ I before(const Rows<I, O>& X, int64_t row, int64_t from, const I* tile, int i) {
    if (from + i <= X.begin(row)) return -1;
    return i > 0 ? tile[i - 1] : X.columns[from - 1] - static_cast<I>(X.base);
  }
};

/// Thread: a row. Where C's row begins: the entry of C at the row's place on the path.
template <class I, class O, class Q>
struct WriteOffsets {
  static constexpr int threads = 256;
  Rows<I, O> A, B;
  int64_t rows, entries, tiles;  // entries: of A and B
  Tiles from;
  Q* offsets;  // rows + 1

  __device__ void operator()() const {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (row > rows) return;
    const int64_t place = A.begin(row) + B.begin(row), tile = place / tile_steps;
    if (place == entries) {
      offsets[row] = static_cast<Q>(from.firsts[tiles]);
      return;
    }
    const Point point = from.points[tile];
    const int64_t first = from.firsts[tile];
    int rest = static_cast<int>(place - point.a - point.b);
    int low = 0, high = static_cast<int>((from.firsts[tile + 1] - first + 63) >> 6);
    while (high - low > 1) {
      const int middle = (low + high) >> 1;
      const Base base = from.bases[tile * tile_words + middle];
      if (base.a + base.b <= rest)
        low = middle;
      else
        high = middle;
    }
    const Base base = from.bases[tile * tile_words + low];
    const Word word = from.words[tile * tile_words + low];
    const uint64_t a = static_cast<uint64_t>(word.a_high) << 32 | word.a_low,
                   b = static_cast<uint64_t>(word.b_high) << 32 | word.b_low;
    rest -= base.a + base.b;
    int k = 0;  // with `rest` entries before it; the row has entries, so k is one of C's
    for (int half = 32; half > 0; half >>= 1) {
      const uint64_t below = (uint64_t{1} << (k + half)) - 1;
      if (__popcll(a & below) + __popcll(b & below) <= rest) k += half;
    }
    offsets[row] = static_cast<Q>(first + 64 * low + k);
  }
};

/// Columns: of A where A has the entry, else of B. Base 0.
template <class I, class J>
struct PickColumn {
  using Result = J;
  const I *a, *b;
  int32_t base_a, base_b;
  J* to;

  __device__ J get(bool has_a, int64_t entry_a, bool, int64_t entry_b) const {
    return static_cast<J>(has_a ? a[entry_a] - static_cast<I>(base_a) : b[entry_b] - static_cast<I>(base_b));
  }
  __device__ void start() {}
};

/// alpha a + beta b; a coefficient of 0 reads nothing.
template <class T, class SourceA, class SourceB>
struct AddValues {
  using Result = T;
  SourceA a;
  SourceB b;
  Factor<T> alpha, beta;
  T* to;

  __device__ void start() {
    alpha = {alpha.get(), nullptr};
    beta = {beta.get(), nullptr};
  }
  __device__ T get(bool has_a, int64_t entry_a, bool has_b, int64_t entry_b) const {
    T x{}, y{};
    const bool reads_a = has_a && !gpu::is_zero(alpha.value), reads_b = has_b && !gpu::is_zero(beta.value);
    if (reads_a) x = a.get(entry_a);
    if (reads_b) y = b.get(entry_b);
    T sum{};
    if (reads_a) sum = gpu::multiply(alpha.value, x);
    if (reads_b) sum = gpu::multiply_add(beta.value, y, sum);
    return sum;
  }
};

/// Values in the order of the entries.
template <class T>
struct InOrder {
  const T* values;
  bool conjugate;
  __device__ T get(int64_t entry) const { return gpu::conjugate_if(values[entry], conjugate); }
};

/// Values through a RowMap: positions and starts, or one of them.
template <class T, class O>
struct Mapped {
  const T* values;
  bool conjugate;
  const O *positions, *starts;

  __device__ T get(int64_t entry) const {
    if (starts == nullptr) return one(entry);
    T sum{};
    for (O p = starts[entry]; p < starts[entry + 1]; ++p) sum = gpu::add(sum, one(p));
    return sum;
  }

 private:
  __device__ T one(int64_t p) const {
    return gpu::conjugate_if(values[positions == nullptr ? p : static_cast<int64_t>(positions[p])], conjugate);
  }
};

/// Block: a tile. Gathers C's entries, two to a lane of each word; `Pick` says what of.
template <class Pick>
struct Gather {
  static constexpr int threads = tile_threads;
  using Result = typename Pick::Result;
  Tiles from;
  Pick pick;

  __device__ void operator()() const {
    constexpr int warps = threads / 32, rounds = tile_words / warps;
    const int64_t tile = blockIdx.x, first = from.firsts[tile];
    const int count = static_cast<int>(from.firsts[tile + 1] - first);
    const Point point = from.points[tile];
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    const uint32_t below = (1u << lane) - 1;
    Pick p = pick;
    p.start();
    Word words[rounds];
    Base bases[rounds];
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const int w = r * warps + warp;
      words[r] = {0, 0, 0, 0};
      bases[r] = {0, 0};
      if (w * 64 < count) {
        words[r] = from.words[tile * tile_words + w];
        bases[r] = from.bases[tile * tile_words + w];
      }
    }
    Result results[2 * rounds];
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const Word& w = words[r];
      const int64_t a = point.a + bases[r].a, b = point.b + bases[r].b;
      const bool low_a = (w.a_low >> lane & 1) != 0, low_b = (w.b_low >> lane & 1) != 0;
      const bool high_a = (w.a_high >> lane & 1) != 0, high_b = (w.b_high >> lane & 1) != 0;
      if (low_a || low_b)
        results[2 * r] = p.get(low_a, a + __popc(w.a_low & below), low_b, b + __popc(w.b_low & below));
      if (high_a || high_b)
        results[2 * r + 1] = p.get(high_a, a + __popc(w.a_low) + __popc(w.a_high & below), high_b,
                                   b + __popc(w.b_low) + __popc(w.b_high & below));
    }
    Result* const to = p.to + first;
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const int k = (r * warps + warp) * 64 + lane;
      if (k < count) to[k] = results[2 * r];
      if (k + 32 < count) to[k + 32] = results[2 * r + 1];
    }
  }
};

/// Warp: a row. The first row of each matrix that does not ascend strictly.
template <class I, class O>
struct FindDisorder {
  static constexpr int threads = 256;
  Rows<I, O> X;
  int64_t rows;
  unsigned long long* first;

  __device__ void operator()() const {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int64_t step = static_cast<int64_t>(gridDim.x) * (threads / 32);
    for (int64_t row = static_cast<int64_t>(blockIdx.x) * (threads / 32) + (threadIdx.x >> 5); row < rows; row += step)
      for (int64_t p = X.begin(row) + 1 + lane; p < X.begin(row + 1); p += 32)
        if (X.columns[p] <= X.columns[p - 1]) atomicMin(first, static_cast<unsigned long long>(row));
  }
};

}  // namespace kkc::spadd::gpu_parts
