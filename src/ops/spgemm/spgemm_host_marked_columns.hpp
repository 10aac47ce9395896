// Columns of rows of C that are like no other, in order, and their products' places: a byte a column.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "ops/spgemm/spgemm_host_column_vectors.hpp"
#include "ops/spgemm/spgemm_host_columns.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace kkc::spgemm {

/// Products mark their columns, so that none waits for another one or for a branch; then the marks from a row's first
/// column to its last are looked through, many at once.
template <class I>
class MarkedColumns {
 public:
  explicit MarkedColumns(int64_t cols)
      : marks_((static_cast<size_t>(cols) / word + 1) * word, 0), places_(static_cast<size_t>(cols) + read_beside, 0) {}

  /// Whether a row of so many products is for marks: its columns lie from `first` to `last`.
  static bool suits(int64_t products, int64_t first, int64_t last) { return last - first <= repaid * products; }

  /// Writes the columns less `base`, which lie from `first` to `last` then, to `to` in ascending order, each once, and
  /// returns their number, at most 65536. There is room for as many and `more_room`.
  int64_t collect(const I* columns, int64_t count, I base, I first, I last, I* to) {
    uint8_t* const marks = marks_.data();
    for (int64_t k = 0; k < count; ++k) marks[columns[k] - base] = marked;
    const I* const begin = to;
    for (size_t index = static_cast<size_t>(first) / word; index <= static_cast<size_t>(last) / word; ++index) {
      const uint64_t bits = bits_of(marks + index * word);
      if (bits == 0) continue;
      std::memset(marks + index * word, 0, word);
      to = ColumnSet::write_word(index, bits, to);
    }
    uint16_t* const places = places_.data();
    const int64_t found = to - begin;
    for (int64_t p = 0; p < found; ++p) places[begin[p]] = static_cast<uint16_t>(p);
    return found;
  }

  /// An M for each of these columns less `base`: its place among those that were collected last. There is room for
  /// `more_room` more.
  template <class M>
  void place(const I* columns, int64_t count, I base, std::byte* to) const {
    const uint16_t* const places = places_.data();
    int64_t k = 0;
#if defined(__AVX512F__)
    if constexpr (sizeof(I) == 4) {
      using Vectors = ColumnVectors;
      const __m512i shift = _mm512_set1_epi32(base), low = _mm512_set1_epi32(0xffff);
      for (; k < count; k += lanes, to += lanes * sizeof(M)) {
        const __mmask16 inside = Vectors::inside(count - k);
        const __m512i at = _mm512_sub_epi32(_mm512_maskz_loadu_epi32(inside, columns + k), shift);
        const __m512i found = _mm512_and_si512(_mm512_mask_i32gather_epi32(low, inside, at, places, 2), low);
        if constexpr (sizeof(M) == 1)
          _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_maskz_cvtepi32_epi8(Vectors::all, found));
        else
          _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_maskz_cvtepi32_epi16(Vectors::all, found));
      }
      return;
    }
#endif
    // Several at once: a store for each would hold up loads whose addresses end like its own.
    constexpr int64_t together = sizeof(uint64_t) / sizeof(M);
    for (; k + together <= count; k += together, to += sizeof(uint64_t)) {
      uint64_t found = 0;
      for (int64_t lane = 0; lane < together; ++lane) {
        const int64_t digit = std::endian::native == std::endian::little ? lane : together - 1 - lane;
        found |= uint64_t{places[columns[k + lane] - base]} << (8 * sizeof(M) * static_cast<size_t>(digit));
      }
      std::memcpy(to, &found, sizeof found);
    }
    for (; k < count; ++k, to += sizeof(M)) {
      const auto found = static_cast<M>(places[columns[k] - base]);
      std::memcpy(to, &found, sizeof found);
    }
  }
  static constexpr int64_t more_room = ColumnSet::more_room;

 private:
  static constexpr size_t word = 64;
  static constexpr uint8_t marked = 0xff;
  static constexpr int64_t lanes = ColumnVectors::lanes;
  static constexpr size_t read_beside = 1;  // with a place
  static constexpr int64_t repaid = 32;     // columns that are looked through in the time of a product

  /// A bit for each of `word` marks.
  static uint64_t bits_of(const uint8_t* marks) {
#if defined(__AVX512BW__)
    const __m512i all = _mm512_loadu_si512(marks);
    return _mm512_test_epi8_mask(all, all);
#elif defined(__SSE2__)
    const auto part = [marks](int at) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(marks) + at); };
    const auto bits = [](__m128i of) { return uint64_t{static_cast<uint32_t>(_mm_movemask_epi8(of))}; };
    const __m128i a = part(0), b = part(1), c = part(2), d = part(3);
    if (bits(_mm_or_si128(_mm_or_si128(a, b), _mm_or_si128(c, d))) == 0) return 0;
    return bits(a) | bits(b) << 16 | bits(c) << 32 | bits(d) << 48;
#else
    uint64_t bits = 0;
    for (size_t e = 0; e < word; ++e) bits |= uint64_t{marks[e] & 1u} << e;
    return bits;
#endif
  }

  std::vector<uint8_t> marks_;
  std::vector<uint16_t> places_;  // of each column
};

}  // namespace kkc::spgemm
