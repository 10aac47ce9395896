// Where the passes of a radix sort read and write one of its arrays.
#pragma once

#include <cstddef>
#include <cstdint>

#include "view_sort.hpp"

namespace kkc::view_sort {

/// An element of so many bytes, for moves that need not know its type.
struct SixteenBytes {
  uint64_t low, high;
};
template <size_t bytes>
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
template <>
struct WordOf<16> {
  using type = SixteenBytes;
};
template <size_t bytes>
using Word = typename WordOf<bytes>::type;

/// Calls f(Word{}) for an element of `bytes` bytes.
template <class F>
void dispatch_word(size_t bytes, F&& f) {
  switch (bytes) {
    case 1: return f(Word<1>{});
    case 4: return f(Word<4>{});
    case 8: return f(Word<8>{});
    default: return f(Word<16>{});
  }
}

/// What moves with the keys: their values where radix passes can carry them, else the places from which values are
/// gathered at the end.
enum class Carried { nothing, values, places };

inline Carried carried_by(const Desc& desc) {
  if (desc.payload == Payload::none) return Carried::nothing;
  // Complex numbers may be aligned for their parts only.
  const size_t bytes = size_of(desc.value);
  const bool word = (bytes == 4 || bytes == 8) && !is_complex_scalar(desc.value);
  return desc.payload == Payload::values && word ? Carried::values : Carried::places;
}
/// Bytes of what is carried.
inline size_t carried_bytes(const Desc& desc) {
  switch (carried_by(desc)) {
    case Carried::nothing: return 0;
    case Carried::values: return size_of(desc.value);
    case Carried::places:
      if (desc.payload == Payload::places) return size_of(desc.value);
      return desc.length <= INT32_MAX ? 4 : 8;
  }
  return 0;
}

/// The passes go from `in` to `out` in turns with `other`, and end in `out`. Where the first pass would write what it
/// reads, or `in` has gaps, `in` is first copied to the array that the first pass does not write.
template <class T>
struct Route {
  const T* in;  // null: there is nothing to read (places)
  int64_t step;
  T *out, *other;
  int passes;

  T* target(int pass) const { return (passes - 1 - pass) % 2 == 0 ? out : other; }
  bool copies_first() const { return in != nullptr && (step != 1 || in == target(0)); }
  T* copy() const { return target(0) == out ? other : out; }
  const T* source(int pass) const { return pass > 0 ? target(pass - 1) : copies_first() ? copy() : in; }
};

}  // namespace kkc::view_sort
