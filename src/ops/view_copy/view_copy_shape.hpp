// What a copy has to move: machine words instead of elements, so that one kernel serves all types of a size.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/strided.hpp"

namespace kkc::view_copy {

/// Array 0 is the destination, array 1 the source; strides count words.
struct Shape {
  Walk<2> walk;
  int word;            // bytes: 1, 4, 8 or 16
  int source_fastest;  // dimension of the source's least stride; 0 where destination and source agree

  bool same_order() const { return source_fastest == 0; }
};

/// Words are as wide as alignment, strides and common runs allow; a word narrower than an element (a complex number
/// aligned for its parts only) makes a further dimension.
inline Shape shape_of(const DenseRef& source, const DenseRef& destination) {
  const DenseRef* const arrays[2] = {&destination, &source};
  Shape shape{walk_of(arrays), static_cast<int>(size_of(destination.scalar)), 0};
  Walk<2>& walk = shape.walk;

  // Bytes first: an element is a run of `word` bytes.
  const int64_t size = shape.word;
  uint64_t bits = reinterpret_cast<uintptr_t>(source.data) | reinterpret_cast<uintptr_t>(destination.data);
  const bool run = walk.rank > 0 && walk.strides[0][0] == 1 && walk.strides[1][0] == 1;
  const int64_t run_bytes = run ? walk.extents[0] * size : size;
  bits |= static_cast<uint64_t>(run_bytes);
  for (int d = run ? 1 : 0; d < walk.rank; ++d)
    bits |= static_cast<uint64_t>((walk.strides[0][d] | walk.strides[1][d]) * size);
  const int word = bits % 16 == 0 ? 16 : bits % 8 == 0 ? 8 : bits % 4 == 0 ? 4 : 1;

  if (run) {
    walk.extents[0] = run_bytes / word;
  } else if (word < size) {
    for (int d = walk.rank; d > 0; --d) {
      walk.extents[d] = walk.extents[d - 1];
      for (int n = 0; n < 2; ++n) walk.strides[n][d] = walk.strides[n][d - 1];
    }
    walk.extents[0] = size / word;
    walk.strides[0][0] = walk.strides[1][0] = 1;
    ++walk.rank;
  }
  for (int d = run || word < size ? 1 : 0; d < walk.rank; ++d)
    for (int n = 0; n < 2; ++n) walk.strides[n][d] = walk.strides[n][d] * size / word;
  walk.count = walk.count * size / word;
  shape.word = word;
  if (walk.rank > 0 && walk.extents[0] == 1) {  // a whole run became one word
    --walk.rank;
    for (int d = 0; d < walk.rank; ++d) {
      walk.extents[d] = walk.extents[d + 1];
      for (int n = 0; n < 2; ++n) walk.strides[n][d] = walk.strides[n][d + 1];
    }
  }

  for (int d = 1; d < walk.rank; ++d) {
    const int64_t least = walk.strides[1][shape.source_fastest];
    if (walk.strides[1][d] != 0 && (least == 0 || walk.strides[1][d] < least)) shape.source_fastest = d;
  }
  return shape;
}

}  // namespace kkc::view_copy
