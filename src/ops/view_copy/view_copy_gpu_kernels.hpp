// Transposes on GPUs through shared memory.
#pragma once

#include <cstdint>

#include "core/strided.hpp"
#include "device/gpu_api.hpp"
#include "view_copy_words.hpp"

namespace kkc::view_copy {

/// Dimensions outside the plane: every block belongs to one combination of their indices.
struct Outer {
  int32_t rank;
  int64_t extents[max_rank], to[max_rank], from[max_rank];

  __device__ void move(int64_t index, int64_t& offset_to, int64_t& offset_from) const {
    for (int d = 0; d < rank; ++d) {
      const int64_t next = index / extents[d], at = index - next * extents[d];
      offset_to += at * to[d];
      offset_from += at * from[d];
      index = next;
    }
  }
};

/// Tiles. Loads stand in registers before any of them is stored, to keep all in flight. Blocks follow one
/// another along j, so that rows of the destination that begin anywhere in a cache line are completed in the L2 cache.
/// Whole tiles of runs, the usual case, are moved without a question about each word.
template <class Word>
struct TransposeTile {
  static constexpr int threads = sizeof(Word) <= 4 ? 512 : 256;
  static constexpr int side_i = sizeof(Word) == 16 ? 32 : 64, side_j = sizeof(Word) <= 4 ? 128 : side_i;
  static constexpr int reads = side_j * side_i / threads, writes = reads;  // of a thread
  static constexpr int read_lines = threads / side_i, write_lines = threads / side_j;

  Word* to;
  const Word* from;
  Plane plane;
  Outer outer;
  uint32_t tiles_i, tiles_j;  // fewer than 2^31 together

  __device__ void operator()() const {
    __shared__ Word tile[side_j][side_i + 1];
    const int thread = static_cast<int>(threadIdx.x);
    const int read_i = thread % side_i, read_j = thread / side_i, write_j = thread % side_j, write_i = thread / side_j;
    const uint32_t row = blockIdx.x / tiles_j;  // of tiles
    const int64_t first_j = static_cast<int64_t>(blockIdx.x - row * tiles_j) * side_j;
    const uint32_t index = outer.rank == 0 ? 0 : row / tiles_i;
    const int64_t first_i = static_cast<int64_t>(row - index * tiles_i) * side_i;
    int64_t offset_to = 0, offset_from = 0;
    outer.move(index, offset_to, offset_from);
    const int64_t rest_i = plane.extent_i - first_i, rest_j = plane.extent_j - first_j;
    const bool runs = plane.source_i == 1 && plane.destination_j == 1;
    const int64_t at_i = first_i + read_i, at_j = first_j + write_j;
    const Word* const source =
        from + offset_from + (runs ? at_i : at_i * plane.source_i) + (first_j + read_j) * plane.source_j;
    Word* const target =
        to + offset_to + (runs ? at_j : at_j * plane.destination_j) + (first_i + write_i) * plane.destination_i;

    Word held[reads];
    const bool whole = rest_i >= side_i && rest_j >= side_j;
    if (whole) {
#pragma unroll
      for (int p = 0; p < reads; ++p) held[p] = source[p * read_lines * plane.source_j];
    } else {
#pragma unroll
      for (int p = 0; p < reads; ++p)
        if (read_i < rest_i && read_j + p * read_lines < rest_j) held[p] = source[p * read_lines * plane.source_j];
    }
#pragma unroll
    for (int p = 0; p < reads; ++p) tile[read_j + p * read_lines][read_i] = held[p];
    __syncthreads();
    if (whole) {
#pragma unroll
      for (int p = 0; p < writes; ++p)
        target[p * write_lines * plane.destination_i] = tile[write_j][write_i + p * write_lines];
    } else {
#pragma unroll
      for (int p = 0; p < writes; ++p)
        if (write_j < rest_j && write_i + p * write_lines < rest_i)
          target[p * write_lines * plane.destination_i] = tile[write_j][write_i + p * write_lines];
    }
  }
};

/// Planes with a short side: blocks of whole rows in shared memory. On one side the rows are runs and a thread takes
/// every threads-th word; on the other the columns are runs and a thread keeps to its row.
template <class Word>
struct TransposeRows {
  static constexpr int threads = 256, unroll = 8;

  Word* to;
  const Word* from;
  int64_t rows;              // along the long side
  int64_t to_row, from_row;  // strides
  int64_t to_short, from_short;
  Outer outer;
  int64_t blocks;   // a plane
  int height_log2;  // rows of a block
  int width, pitch;
  Divider by_width;
  bool read_rows;  // the source's rows are runs; else the destination's

  /// Moves words between memory and the tile, in the order of the rows: move(offsets, places, there) for `unroll` words
  /// of a thread at once, so that as many are under way.
  template <class Move>
  __device__ void by_rows(int64_t row_stride, int64_t short_stride, int here, const Move& move) const {
    const int count = here * width;
    const bool packed = short_stride == 1 && row_stride == width;
    for (int t = static_cast<int>(threadIdx.x); t < count; t += unroll * threads) {
      int64_t offsets[unroll];
      int places[unroll];
      bool there[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        const int at = t + u * threads;
        const int row = static_cast<int>(by_width.quotient(static_cast<uint32_t>(at)));
        places[u] = at + row * (pitch - width);
        offsets[u] = packed ? at : row * row_stride + (at - row * width) * short_stride;
        there[u] = at < count;
      }
      move(offsets, places, there);
    }
  }
  /// The same in the order of the columns.
  template <class Move>
  __device__ void by_columns(int64_t row_stride, int64_t short_stride, int here, const Move& move) const {
    const int count = width << height_log2;
    for (int t = static_cast<int>(threadIdx.x); t < count; t += unroll * threads) {
      int64_t offsets[unroll];
      int places[unroll];
      bool there[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        const int at = t + u * threads, column = at >> height_log2, row = at - (column << height_log2);
        places[u] = row * pitch + column;
        offsets[u] = row * row_stride + column * short_stride;
        there[u] = at < count && row < here;
      }
      move(offsets, places, there);
    }
  }

  __device__ void operator()() const {
    extern __shared__ __align__(16) unsigned char shared[];
    Word* const tile = reinterpret_cast<Word*>(shared);
    int64_t offset_to = 0, offset_from = 0;
    outer.move(blockIdx.x / blocks, offset_to, offset_from);
    const int64_t height = int64_t{1} << height_log2, first = blockIdx.x % blocks * height;
    const int here = static_cast<int>(rows - first < height ? rows - first : height);
    const Word* const source = from + offset_from + first * from_row;
    Word* const target = to + offset_to + first * to_row;

    const auto load = [&](const int64_t(&offsets)[unroll], const int(&places)[unroll], const bool(&there)[unroll]) {
      Word held[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u)
        if (there[u]) held[u] = source[offsets[u]];
#pragma unroll
      for (int u = 0; u < unroll; ++u)
        if (there[u]) tile[places[u]] = held[u];
    };
    const auto store = [&](const int64_t(&offsets)[unroll], const int(&places)[unroll], const bool(&there)[unroll]) {
      Word held[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u)
        if (there[u]) held[u] = tile[places[u]];
#pragma unroll
      for (int u = 0; u < unroll; ++u)
        if (there[u]) target[offsets[u]] = held[u];
    };
    if (read_rows)
      by_rows(from_row, from_short, here, load);
    else
      by_columns(from_row, from_short, here, load);
    __syncthreads();
    if (read_rows)
      by_columns(to_row, to_short, here, store);
    else
      by_rows(to_row, to_short, here, store);
  }
};

}  // namespace kkc::view_copy
