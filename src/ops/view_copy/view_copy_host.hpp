// Copies on hosts: runs by memcpy, transposes through a tile in the L1 cache, anything else element by element.
#pragma once

#include "device/host_parallel.hpp"
#include "device/strided_for.hpp"
#include "view_copy.hpp"
#include "view_copy_host_kernels.hpp"
#include "view_copy_shape.hpp"

namespace kkc::view_copy {

template <class Dev>
void copy_run(Queue& queue, char* to, const char* from, int64_t bytes) {
  constexpr int64_t part = int64_t{1} << 16;
  const int64_t parts = std::min<int64_t>((bytes + part - 1) / part, Dev::threads(queue));
  host_parts<Dev>(queue, parts, [=](int64_t p) {
    // Borders at cache lines of the destination: no line is written by two threads.
    const auto border = [=](int64_t k) {
      const int64_t at = part_begin(bytes, parts, k);
      const auto line = static_cast<int64_t>(cache_line);
      return k == 0 || k == parts ? at : at - at % line;
    };
    const int64_t first = border(p);
    std::memcpy(to + first, from + first, static_cast<size_t>(border(p + 1) - first));
  });
}

template <class Dev, class Word>
void copy_words(Queue& queue, const Shape& shape, void* destination, const void* source) {
  const Walk<2>& walk = shape.walk;
  auto* const to = static_cast<Word*>(destination);
  const auto* const from = static_cast<const Word*>(source);
  if (shape.same_order()) {
    strided_for<Dev>(queue, walk, CopyWords<Word>{to, from});
    return;
  }
  const int di = shape.source_fastest;
  const Plane plane{walk.extents[di],   walk.extents[0],     walk.strides[1][di],
                    walk.strides[1][0], walk.strides[0][di], walk.strides[0][0]};
  // Square tiles; long ones where a side of the plane is short.
  constexpr int64_t side = tile_side<Word>, words = tile_words<Word>;
  const int64_t tile_i = std::min(plane.extent_i, std::max(side, words / std::min(plane.extent_j, side)));
  const int64_t tile_j = std::min(plane.extent_j, std::max(side, words / std::min(plane.extent_i, side) / side * side));
  const int64_t tiles_i = (plane.extent_i + tile_i - 1) / tile_i, tiles_j = (plane.extent_j + tile_j - 1) / tile_j;
  const int64_t planes = walk.count / (plane.extent_i * plane.extent_j), items = planes * tiles_i * tiles_j;
  const bool stream = walk.count * static_cast<int64_t>(sizeof(Word)) >= stream_threshold_bytes;
  const int64_t parts = std::min<int64_t>(items, Dev::threads(queue));
  const auto tile_of = [&](int64_t item) {
    int64_t rest = item / (tiles_i * tiles_j);
    const int64_t index = item % (tiles_i * tiles_j), group = index / (tiles_abreast * tiles_j);
    const int64_t wide = std::min(tiles_abreast, tiles_i - group * tiles_abreast);
    const int64_t at = index - group * tiles_abreast * tiles_j;
    const int64_t i = (group * tiles_abreast + at % wide) * tile_i, j = at / wide * tile_j;
    Tile tile{i * plane.destination_i + j * plane.destination_j, i * plane.source_i + j * plane.source_j,
              std::min(tile_i, plane.extent_i - i), std::min(tile_j, plane.extent_j - j)};
    for (int d = 1; d < walk.rank; ++d) {
      if (d == di) continue;
      const int64_t index_d = rest % walk.extents[d];
      rest /= walk.extents[d];
      tile.to += index_d * walk.strides[0][d];
      tile.from += index_d * walk.strides[1][d];
    }
    return tile;
  };
  host_parts<Dev>(queue, parts, [&](int64_t part) {
    alignas(cache_line) Word buffer[words];
    const int64_t first = part_begin(items, parts, part), end = part_begin(items, parts, part + 1);
    for (int64_t item = first; item < end; ++item) {
      const Tile tile = tile_of(item);
      transpose_tile(to + tile.to, from + tile.from, plane, tile.count_i, tile.count_j, stream, buffer);
    }
    if (stream) stream_fence();
  });
}

template <class Dev>
void run_host(Queue& queue, void*, const Args& args) {
  const Shape shape = shape_of(args.source, args.destination);
  void* const to = args.destination.data;
  const void* const from = args.source.data;
  if (shape.walk.contiguous()) {
    copy_run<Dev>(queue, static_cast<char*>(to), static_cast<const char*>(from), shape.walk.count * shape.word);
    return;
  }
  switch (shape.word) {
    case 1: return copy_words<Dev, WordOf<1>::type>(queue, shape, to, from);
    case 4: return copy_words<Dev, WordOf<4>::type>(queue, shape, to, from);
    case 8: return copy_words<Dev, WordOf<8>::type>(queue, shape, to, from);
    default: return copy_words<Dev, WordOf<16>::type>(queue, shape, to, from);
  }
}

template <class Dev>
constexpr Implementation host() {
  return {{"host"}, &run_host<Dev>};
}

}  // namespace kkc::view_copy
