// gpu_merge's tiles: offsets looked at once, which says whether they ascend and in which row each tile begins, then the
// places within these rows.
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/gpu_warp.hpp"
#include "ops/spadd/spadd_gpu_merge_pattern.hpp"
#include "ops/spadd/spadd_merge_path.hpp"

namespace kkc::spadd::gpu_parts {

inline constexpr int tile_entries = 2048;  // at most
/// Steps between tiles: a tile takes one entry more where two of one column would be parted.
inline constexpr int64_t tile_steps = tile_entries - 1;

/// What the merge found, or'ed. After the first three its results are without meaning.
inline constexpr unsigned found_offsets = 1;   // offsets do not ascend to the number of entries: nothing else was read
inline constexpr unsigned found_range = 2;     // a column is out of range
inline constexpr unsigned found_disorder = 4;  // a row does not ascend strictly
inline constexpr unsigned found_gaps = 8;      // a tile has too many rows to note their places

inline constexpr int found_kinds = 4;

/// In the host's memory: what it waits for.
struct Result {
  int64_t nnz;
  unsigned found[found_kinds];
};

/// What the tiles share while they are merged.
struct Progress {
  LookBack entries;  // of C in the tiles
  unsigned *ticket, *found;
  volatile Result* result;

  /// The host is told of each kind once, in a word of its own: the order in which words arrive does not matter.
  __device__ void note(unsigned kind) const {
    if ((atomicOr(found, kind) & kind) == 0) result->found[__ffs(static_cast<int>(kind)) - 1] = 1;
  }
};

/// Thread: rows. Looks at the offsets, notes the rows in which tiles begin, and clears what the merge counts with.
template <class I, class O>
struct ReadOffsets {
  static constexpr int threads = 512, batch = 4;
  Rows<I, O> A, B;
  int64_t rows, end_a, end_b, tiles;
  Point* points;       // tiles + 1
  int64_t* entries_C;  // of all tiles: 0 where there are none
  Progress progress;
  unsigned* verdicts;  // a block's: whether its offsets are bad

  __device__ void operator()() const {
    const int64_t stride = static_cast<int64_t>(gridDim.x) * threads,
                  first = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (first == 0) {
      points[tiles] = {rows, end_a, end_b};
      *entries_C = 0;
      *progress.ticket = *progress.found = 0;
    }
    for (int64_t tile = first; tile < tiles; tile += stride) {
      progress.entries.counts[tile] = 0;
      if (tile < LookBack::groups(tiles)) progress.entries.sums[tile] = progress.entries.throughs[tile] = 0;
    }
    bool bad = false;
    for (int64_t block = first - threadIdx.x; block < rows; block += batch * stride) {
      O a[batch], after_a[batch], b[batch], after_b[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        const int64_t row = block + u * stride + threadIdx.x;
        a[u] = after_a[u] = b[u] = after_b[u] = 0;
        if (row < rows && A.offsets != nullptr) a[u] = A.offsets[row], after_a[u] = A.offsets[row + 1];
        if (row < rows && B.offsets != nullptr) b[u] = B.offsets[row], after_b[u] = B.offsets[row + 1];
      }
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        const int64_t row = block + u * stride + threadIdx.x;
        const bool fine =
            row >= rows || (ascend(A, row, a[u], after_a[u], end_a) && ascend(B, row, b[u], after_b[u], end_b));
        bad |= !fine;
        note_tiles(row, row < rows && fine, place(A, a[u]) + place(B, b[u]),
                   place(A, after_a[u]) + place(B, after_b[u]));
      }
    }
    bad = __syncthreads_or(bad ? 1 : 0) != 0;
    if (threadIdx.x == 0) verdicts[blockIdx.x] = bad ? 1 : 0;
  }

 private:
  /// Of a place on the path of all entries: no sum of two 32-bit offsets is more.
  using Place = std::make_unsigned_t<O>;

  static __device__ Place place(const Rows<I, O>& X, O offset) {
    return X.offsets == nullptr ? 0 : static_cast<Place>(offset) - static_cast<Place>(X.base);
  }
  __device__ bool ascend(const Rows<I, O>& X, int64_t row, O begin, O end, int64_t entries) const {
    if (X.offsets == nullptr) return entries == 0;
    const int64_t from = static_cast<int64_t>(begin) - X.base, to = static_cast<int64_t>(end) - X.base;
    return from >= 0 && from <= to && to <= entries && (row > 0 || from == 0) && (row + 1 < rows || to == entries);
  }

  /// Tiles that begin in a row of places from..to - 1; a warp shares those of long rows.
  __device__ void note_tiles(int64_t row, bool fine, Place from, Place to) const {
    constexpr auto steps = static_cast<Place>(tile_steps);
    int64_t tile = from == 0 ? 0 : static_cast<int64_t>((from - 1) / steps) + 1, count = 0;
    if (fine && from < to) count = static_cast<int64_t>((to - 1) / steps) + 1 - tile;
    if (count == 1) points[tile].row = row;
    const int lane = static_cast<int>(threadIdx.x) & 31;
    for (uint32_t open = gpu::ballot32(count > 1); open != 0; open &= open - 1) {
      const int of = __ffs(static_cast<int>(open)) - 1;
      const int64_t its_row = gpu::shuffle_from(row, of, 32), its_tile = gpu::shuffle_from(tile, of, 32),
                    its_count = gpu::shuffle_from(count, of, 32);
      for (int64_t t = lane; t < its_count; t += 32) points[its_tile + t].row = its_row;
    }
  }
};

/// Warp: the place at which a tile begins, in the row that is known.
template <class I, class O>
struct FindPoints {
  static constexpr int threads = 256, warps = threads / 32;
  Rows<I, O> A, B;
  int64_t rows, tiles;
  Point* points;
  Progress progress;
  const unsigned* verdicts;
  int count;  // of verdicts

  __device__ void operator()() const {
    const int thread = static_cast<int>(threadIdx.x);
    const int64_t tile = static_cast<int64_t>(blockIdx.x) * warps + (thread >> 5);
    // The row's place is on its way while the verdicts are; where offsets are bad the row may be any.
    int64_t row = tile > 0 && tile < tiles ? gpu::load_fresh(&points[tile].row) : 0;
    unsigned bad = 0;
    for (int i = thread; i < count; i += threads) bad |= verdicts[i];
    int64_t a = 0, b = 0, after_a = 0, after_b = 0;
    if (row >= 0 && row < rows) {
      if (A.offsets != nullptr) a = gpu::load_fresh(A.offsets + row), after_a = gpu::load_fresh(A.offsets + row + 1);
      if (B.offsets != nullptr) b = gpu::load_fresh(B.offsets + row), after_b = gpu::load_fresh(B.offsets + row + 1);
    }
    if (__syncthreads_or(static_cast<int>(bad)) != 0) {
      if (thread == 0) progress.note(found_offsets);
      return;
    }
    if (tile >= tiles) return;
    Point point{0, 0, 0};
    if (tile > 0) {
      point = point_of(tile * tile_steps,
                       {row, A.offsets == nullptr ? 0 : a - A.base, B.offsets == nullptr ? 0 : b - B.base}, after_a - a,
                       after_b - b, thread & 31);
    }
    if ((thread & 31) == 0) points[tile] = point;
  }

 private:
  /// The point after `diagonal` entries, or one entry later where it would part two entries of one column.
  __device__ Point point_of(int64_t diagonal, const Point& begin, int64_t na, int64_t nb, int lane) const {
    const int64_t a = begin.a, b = begin.b, steps = diagonal - a - b;
    // How many of the steps take an entry of A (taken_from_a), 33 parts at a time.
    int64_t low = steps > nb ? steps - nb : 0, high = steps < na ? steps : na;
    while (low < high) {
      const int64_t part = (high - low + 32) / 33, i = low + (lane + 1) * part - 1;
      const bool before = i < high && A.column(a + i) <= B.column(b + steps - 1 - i);
      const int parts = __popc(gpu::ballot32(before));
      const int64_t above = low + (parts + 1) * part - 1;
      low += parts * part;
      if (parts < 32 && above < high) high = above;
      if (low > high) low = high;  // only where rows are out of order
    }
    const int64_t y = steps - low;
    const bool parted = low > 0 && y < nb && A.column(a + low - 1) == B.column(b + y);
    return {begin.row, a + low, b + y + (parted ? 1 : 0)};
  }
};

}  // namespace kkc::spadd::gpu_parts
