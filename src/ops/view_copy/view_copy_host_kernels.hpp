// Transposes on hosts: small squares in vector registers, a tile in the L1 cache, rows streamed out of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

#include "device/host_simd.hpp"
#include "device/host_stream.hpp"
#include "view_copy_words.hpp"

namespace kkc::view_copy {

/// Edge of the square that registers transpose: one row fills a vector.
template <class Word>
inline constexpr int square = sizeof(Word) == 1    ? 16
                              : sizeof(Word) == 16 ? 1
                                                   : static_cast<int>(std::min<size_t>(8, simd_bytes / sizeof(Word)));

template <class Word>
struct Vector {
  using type __attribute__((vector_size(square<Word> * sizeof(Word)))) = Word;
};

/// Exchanges the off-diagonal halves of every 2 distance x 2 distance square: rows k and k + distance.
template <int distance, class V, int... lane>
inline void exchange(V& a, V& b, std::integer_sequence<int, lane...>) {
  constexpr int n = sizeof...(lane);
  const V low = __builtin_shufflevector(a, b, ((lane & distance) != 0 ? n + lane - distance : lane)...);
  const V high = __builtin_shufflevector(a, b, ((lane & distance) != 0 ? n + lane : lane + distance)...);
  a = low;
  b = high;
}

template <int n, int distance, class V>
inline void transpose_rows(V (&rows)[n]) {
  if constexpr (distance > 0) {
#pragma GCC unroll 16
    for (int k = 0; k < n; ++k)
      if ((k & distance) == 0) exchange<distance>(rows[k], rows[k + distance], std::make_integer_sequence<int, n>{});
    transpose_rows<n, distance / 2>(rows);
  }
}

/// to[i * to_stride + j] = from[j * from_stride + i] for i, j < square.
template <class Word>
inline void transpose_square(Word* to, int64_t to_stride, const Word* from, int64_t from_stride) {
  constexpr int n = square<Word>;
  if constexpr (n == 1) {
    *to = *from;
  } else {
    using V = typename Vector<Word>::type;
    V rows[n];
#pragma GCC unroll 16
    for (int k = 0; k < n; ++k) std::memcpy(&rows[k], from + k * from_stride, sizeof(V));
    transpose_rows<n, n / 2>(rows);
#pragma GCC unroll 16
    for (int k = 0; k < n; ++k) std::memcpy(to + k * to_stride, &rows[k], sizeof(V));
  }
}

/// Edge and words of a tile: at most 32 KiB.
template <class Word>
inline constexpr int64_t tile_side = sizeof(Word) == 16 ? 32 : 64;
template <class Word>
inline constexpr int64_t tile_words = tile_side<Word>* tile_side<Word>;

/// Tiles side by side along i before the next along j: each page of the source is used up, and the destination's pages
/// stay in the address cache.
inline constexpr int64_t tiles_abreast = 8;

/// Where a tile's first word lies on both sides, and its size.
struct Tile {
  int64_t to, from, count_i, count_j;
};

/// One tile of a plane. buffer: tile_words words at a cache line.
template <class Word>
void transpose_tile(Word* to, const Word* from, const Plane& p, int64_t count_i, int64_t count_j, bool stream,
                    Word* buffer) {
  constexpr int64_t n = square<Word>;
  const int64_t pitch = count_j;
  const int64_t whole_i = p.source_i == 1 ? count_i - count_i % n : 0,
                whole_j = p.source_i == 1 ? count_j - count_j % n : 0;
  for (int64_t j = 0; j < whole_j; j += n) {
    for (int64_t i = 0; i < whole_i; i += n)
      transpose_square(buffer + i * pitch + j, pitch, from + j * p.source_j + i, p.source_j);
    for (int64_t i = whole_i; i < count_i; ++i)
      for (int64_t k = j; k < j + n; ++k) buffer[i * pitch + k] = from[k * p.source_j + i];
  }
  for (int64_t j = whole_j; j < count_j; ++j)
    for (int64_t i = 0; i < count_i; ++i) buffer[i * pitch + j] = from[j * p.source_j + i * p.source_i];

  if (p.destination_j == 1 && p.destination_i == count_j) {  // the tile is one run
    const auto bytes = static_cast<size_t>(count_i * count_j) * sizeof(Word);
    if (stream)
      stream_out(to, buffer, bytes);
    else
      std::memcpy(to, buffer, bytes);
    return;
  }
  for (int64_t i = 0; i < count_i; ++i) {
    Word* const row = to + i * p.destination_i;
    const Word* const ready = buffer + i * pitch;
    if (p.destination_j != 1 || count_j < 8)
      for (int64_t j = 0; j < count_j; ++j) row[j * p.destination_j] = ready[j];
    else if (stream)
      stream_out(row, ready, static_cast<size_t>(count_j) * sizeof(Word));
    else
      std::memcpy(row, ready, static_cast<size_t>(count_j) * sizeof(Word));
  }
}

}  // namespace kkc::view_copy
