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

/// Square tiles. Loads stand in registers before any of them is stored, to keep all in flight. Blocks follow one
/// another along j, so that rows of the destination that begin anywhere in a cache line are completed in the L2 cache;
/// tiles of narrow words go side by side as well, so that reads share the rows of memory.
template <class Word, int edge = sizeof(Word) == 16 ? 32 : 64, int block = 256>
struct TransposeTile {
  static constexpr int threads = block, side = edge, pitch = side + 1;
  static constexpr int lines = threads / side, passes = side / lines;
  static constexpr int abreast = sizeof(Word) < 8 ? 8 : 1;

  Word* to;
  const Word* from;
  Plane plane;
  Outer outer;
  int64_t tiles_i, tiles_j;

  __device__ void operator()() const {
    __shared__ Word tile[side][pitch];
    const int x = static_cast<int>(threadIdx.x) % side, y = static_cast<int>(threadIdx.x) / side;
    const int64_t index = blockIdx.x / (tiles_i * tiles_j), tile_index = blockIdx.x - index * (tiles_i * tiles_j);
    const int64_t group = tile_index / (abreast * tiles_j), rest = tile_index - group * (abreast * tiles_j);
    const int64_t left = tiles_i - group * abreast, wide = left < abreast ? left : abreast;
    const int64_t first_j = rest / wide * side, first_i = (group * abreast + rest % wide) * side;
    int64_t offset_to = 0, offset_from = 0;
    outer.move(index, offset_to, offset_from);
    const int64_t rest_i = plane.extent_i - first_i, rest_j = plane.extent_j - first_j;
    const Word* const source = from + offset_from + (first_i + x) * plane.source_i + (first_j + y) * plane.source_j;
    Word* const target = to + offset_to + (first_i + y) * plane.destination_i + (first_j + x) * plane.destination_j;

    Word held[passes];
#pragma unroll
    for (int p = 0; p < passes; ++p)
      if (x < rest_i && y + p * lines < rest_j) held[p] = source[p * lines * plane.source_j];
#pragma unroll
    for (int p = 0; p < passes; ++p) tile[y + p * lines][x] = held[p];
    __syncthreads();
#pragma unroll
    for (int p = 0; p < passes; ++p)
      if (x < rest_j && y + p * lines < rest_i) target[p * lines * plane.destination_i] = tile[x][y + p * lines];
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
  int64_t blocks;  // a plane
  int height;      // rows of a block: threads, or a multiple or a power-of-two part of it
  int width, pitch;
  Divider by_width;
  bool read_rows;  // the source's rows are runs; else the destination's

  /// Moves words of the runs between memory at base and the tile.
  template <class Move>
  __device__ void by_rows(int64_t row_stride, int64_t short_stride, int here, const Move& move) const {
    const int count = here * width;
    const bool packed = short_stride == 1 && row_stride == width;
    for (int t = static_cast<int>(threadIdx.x); t < count; t += unroll * threads) {
      int64_t offsets[unroll];
      int places[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        const int at = t + u * threads;
        const int row = static_cast<int>(by_width.quotient(static_cast<uint32_t>(at)));
        places[u] = at + row * (pitch - width);
        offsets[u] = packed ? at : row * row_stride + (at - row * width) * short_stride;
      }
      move(offsets, places, (count - t + threads - 1) / threads);
    }
  }
  template <class Move>
  __device__ void by_columns(int64_t row_stride, int64_t short_stride, int here, const Move& move) const {
    const int lanes = height < threads ? height : threads;
    for (int row = static_cast<int>(threadIdx.x) % lanes; row < here; row += lanes) {
      const int step = threads / lanes;
      for (int c = static_cast<int>(threadIdx.x) / lanes; c < width; c += unroll * step) {
        int64_t offsets[unroll];
        int places[unroll];
#pragma unroll
        for (int u = 0; u < unroll; ++u) {
          offsets[u] = row * row_stride + (c + u * step) * short_stride;
          places[u] = row * pitch + c + u * step;
        }
        move(offsets, places, (width - c + step - 1) / step);
      }
    }
  }

  __device__ void operator()() const {
    extern __shared__ __align__(16) unsigned char shared[];
    Word* const tile = reinterpret_cast<Word*>(shared);
    int64_t offset_to = 0, offset_from = 0;
    outer.move(blockIdx.x / blocks, offset_to, offset_from);
    const int64_t first = blockIdx.x % blocks * height;
    const int here = static_cast<int>(rows - first < height ? rows - first : height);
    const Word* const source = from + offset_from + first * from_row;
    Word* const target = to + offset_to + first * to_row;

    const auto load = [&](const int64_t(&offsets)[unroll], const int(&places)[unroll], int count) {
      Word held[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u)
        if (u < count) held[u] = source[offsets[u]];
#pragma unroll
      for (int u = 0; u < unroll; ++u)
        if (u < count) tile[places[u]] = held[u];
    };
    const auto store = [&](const int64_t(&offsets)[unroll], const int(&places)[unroll], int count) {
#pragma unroll
      for (int u = 0; u < unroll; ++u)
        if (u < count) target[offsets[u]] = tile[places[u]];
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
