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

/// A strip of tiles along j for one tile's width of i. Rows of the source (one j each) enter a ring in shared memory;
/// each row of the destination (one i) leaves it in windows that begin at a multiple of 128 bytes, whatever the
/// strides. Loads of the next tile are in registers while a tile is written.
template <class Word>
struct TransposeStrip {
  static constexpr int threads = 256;
  static constexpr int side = sizeof(Word) == 16 ? 32 : 64;
  static constexpr int ring = 2 * side, pitch = side + 1;
  static constexpr int passes = side * side / threads, lines = threads / side;
  static constexpr int window = 128 / sizeof(Word) < side ? 128 / sizeof(Word) : side;
  static constexpr size_t shared_bytes = size_t{ring} * pitch * sizeof(Word);

  Word* to;
  const Word* from;
  Plane plane;
  Outer outer;
  int64_t tiles_i, strips;
  int64_t strip;  // extent along j, a multiple of side

  __device__ void load(Word (&held)[passes], const Word* source, int64_t j, int64_t end_j, bool inside, int y) const {
#pragma unroll
    for (int p = 0; p < passes; ++p) {
      const int64_t row = j + y + p * lines;
      if (inside && row < end_j) held[p] = source[row * plane.source_j];
    }
  }

  __device__ void operator()() const {
    extern __shared__ __align__(16) unsigned char shared[];
    Word* const tile = reinterpret_cast<Word*>(shared);
    const int x = static_cast<int>(threadIdx.x) % side, y = static_cast<int>(threadIdx.x) / side;
    int64_t rest = blockIdx.x;
    const int64_t first_i = rest % tiles_i * side;
    rest /= tiles_i;
    const int64_t first_j = rest % strips * strip;
    int64_t offset_to = 0, offset_from = 0;
    outer.move(rest / strips, offset_to, offset_from);
    const int64_t end_j = first_j + strip < plane.extent_j ? first_j + strip : plane.extent_j;

    const Word* const source = from + offset_from + (first_i + x) * plane.source_i;
    const bool inside = first_i + x < plane.extent_i;
    Word* const target = to + offset_to + first_i * plane.destination_i;
    const uint64_t base = reinterpret_cast<uintptr_t>(target + first_j * plane.destination_j) / sizeof(Word);
    const bool unit = plane.destination_j == 1;

    Word held[passes];
    load(held, source, first_j, end_j, inside, y);
    for (int64_t j = first_j;; j += side) {
      const bool more = j < end_j;
      if (more) {
        const int at = static_cast<int>((j - first_j) / side) % 2 * side;
#pragma unroll
        for (int p = 0; p < passes; ++p) tile[(at + y + p * lines) * pitch + x] = held[p];
      }
      __syncthreads();
      if (more && j + side < end_j) load(held, source, j + side, end_j, inside, y);
#pragma unroll
      for (int p = 0; p < passes; ++p) {
        const int i = y + p * lines;
        const uint64_t address = base + static_cast<uint64_t>(i * plane.destination_i);
        const int behind = unit ? static_cast<int>(address % window) : 0;
        const int64_t column = j - behind + x;
        if (first_i + i < plane.extent_i && column >= first_j && column < end_j)
          target[i * plane.destination_i + column * plane.destination_j] =
              tile[static_cast<int>(column - first_j) % ring * pitch + i];
      }
      if (!more) break;
      if (!unit && j + side >= end_j) break;
      __syncthreads();
    }
  }
};

/// Planes with a short side: blocks of whole rows, read and written as runs.
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
  int height;      // rows of a block, a power of two
  int shift;       // its logarithm
  int width, pitch;
  Divider by_width;
  bool read_rows;  // the source's rows are runs, and the destination's columns; else the other way round

  __device__ void place(bool by_rows, int t, int& row, int& column) const {
    if (by_rows) {
      row = static_cast<int>(by_width.quotient(static_cast<uint32_t>(t)));
      column = t - row * width;
    } else {
      column = t >> shift;
      row = t & (height - 1);
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
    const int count = height * width;
    for (int t = static_cast<int>(threadIdx.x); t < count; t += unroll * threads) {
      Word held[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        int row, column;
        place(read_rows, t + u * threads, row, column);
        if (t + u * threads < count && row < here) held[u] = source[row * from_row + column * from_short];
      }
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        int row, column;
        place(read_rows, t + u * threads, row, column);
        if (t + u * threads < count) tile[row * pitch + column] = held[u];
      }
    }
    __syncthreads();
    for (int t = static_cast<int>(threadIdx.x); t < count; t += threads) {
      int row, column;
      place(!read_rows, t, row, column);
      if (row < here) target[row * to_row + column * to_short] = tile[row * pitch + column];
    }
  }
};

}  // namespace kkc::view_copy
