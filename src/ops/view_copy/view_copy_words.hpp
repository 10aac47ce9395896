// Words that copies move, and the copy that all devices share.
#pragma once

#include <cstdint>
#include <cstring>

#include "device/strided_for.hpp"

namespace kkc::view_copy {

/// A type of so many bytes; copies need no arithmetic.
template <int bytes>
struct WordOf;
template <>
struct WordOf<1> {
  using type = uint8_t;
};
template <>
struct WordOf<4> {
  using type = uint32_t;
};
template <>
struct WordOf<8> {
  using type = uint64_t;
};
struct alignas(16) Word16 {
  uint64_t low, high;
};
template <>
struct WordOf<16> {
  using type = Word16;
};

/// Words in the same order on both sides, with gaps.
template <class Word>
struct CopyWords {
  Word* to;
  const Word* from;
  KOKKOS_FUNCTION void operator()(const int64_t (&offsets)[2]) const { to[offsets[0]] = from[offsets[1]]; }
  void row(const int64_t (&offsets)[2], int64_t count) const {
    std::memcpy(to + offsets[0], from + offsets[1], static_cast<size_t>(count) * sizeof(Word));
  }
};

/// A plane of a copy: i is the source's fastest dimension, j the destination's.
struct Plane {
  int64_t extent_i, extent_j;
  int64_t source_i, source_j, destination_i, destination_j;  // strides
};

}  // namespace kkc::view_copy
