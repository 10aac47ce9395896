// One value to every place: the functor that all devices share, and the words that it stores.
#pragma once

#include <cstdint>
#include <cstring>

#include "device/strided_for.hpp"
#include "view_fill.hpp"

namespace kkc::view_fill {

/// Two parts of an element that is aligned for its parts only.
template <class Part>
struct Pair {
  Part first, second;
};
struct alignas(16) Wide {
  uint64_t first, second;
};

template <class Word>
struct FillWords {
  Word* to;
  Word value;
  KOKKOS_FUNCTION void operator()(const int64_t (&offsets)[1]) const { to[offsets[0]] = value; }
  void row(const int64_t (&offsets)[1], int64_t count) const {
    Word* const row = to + offsets[0];
    for (int64_t i = 0; i < count; ++i) row[i] = value;
  }
};

template <class Dev, class Word>
void fill_words(Queue& queue, const Walk<1>& walk, void* to, const unsigned char* pattern) {
  FillWords<Word> fill{static_cast<Word*>(to), {}};
  std::memcpy(static_cast<void*>(&fill.value), pattern, sizeof(Word));
  strided_for<Dev>(queue, walk, fill);
}

/// The value, repeated to 16 bytes.
struct Pattern {
  alignas(16) unsigned char bytes[16];
};

inline Pattern pattern_of(const Args& args) {
  Pattern pattern;
  const size_t size = size_of(args.view.scalar);
  for (size_t k = 0; k < sizeof(pattern.bytes); ++k) pattern.bytes[k] = args.value[k % size];
  return pattern;
}

/// Any strides. Runs become wider words where alignment allows.
template <class Dev>
void fill_strided(Queue& queue, Walk<1> walk, const Pattern& pattern, Scalar scalar, void* to) {
  int64_t size = static_cast<int64_t>(size_of(scalar));
  uint64_t bits = reinterpret_cast<uintptr_t>(to);
  const bool run = walk.rank > 0 && walk.strides[0][0] == 1;
  for (int d = run ? 1 : 0; d < walk.rank; ++d) bits |= static_cast<uint64_t>(walk.strides[0][d] * size);
  if (run) {
    bits |= static_cast<uint64_t>(walk.extents[0] * size);
    const int64_t word = bits % 16 == 0 ? 16 : bits % 8 == 0 ? 8 : bits % 4 == 0 ? 4 : 1;
    if (word > size) {
      walk.extents[0] = walk.extents[0] * size / word;
      for (int d = 1; d < walk.rank; ++d) walk.strides[0][d] = walk.strides[0][d] * size / word;
      walk.count = walk.count * size / word;
      size = word;
    }
  }
  const bool aligned = bits % static_cast<uint64_t>(size) == 0;
  switch (size) {
    case 1: return fill_words<Dev, uint8_t>(queue, walk, to, pattern.bytes);
    case 4: return fill_words<Dev, uint32_t>(queue, walk, to, pattern.bytes);
    case 8:
      return aligned ? fill_words<Dev, uint64_t>(queue, walk, to, pattern.bytes)
                     : fill_words<Dev, Pair<uint32_t>>(queue, walk, to, pattern.bytes);
    default:
      return aligned ? fill_words<Dev, Wide>(queue, walk, to, pattern.bytes)
                     : fill_words<Dev, Pair<uint64_t>>(queue, walk, to, pattern.bytes);
  }
}

}  // namespace kkc::view_fill
