// A few bits that say of most columns that a row does not have them (Bloom, "Space/time trade-offs in hash coding with
// allowable errors", CACM 13(7), 1970, with one hash function), so that a map of all columns, which no near cache
// holds, is seldom asked.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace kkc::ilu {

/// 512 bits in a register for 16 columns of four bytes at once, else a byte for each place.
template <class I>
class ColumnFilter {
 public:
#if defined(__AVX512F__)
  static constexpr bool in_register = sizeof(I) == 4;
#else
  static constexpr bool in_register = false;
#endif

  /// Until clear() with the same columns.
  void set(const I* columns, int64_t count) {
    for (int64_t t = 0; t < count; ++t)
      if constexpr (in_register)
        words_[static_cast<uint32_t>(columns[t]) % 16] |= 1u << (static_cast<uint32_t>(columns[t]) / 16 % 32);
      else
        places_[place(columns[t])] = 1;
  }
  void clear(const I* columns, int64_t count) {
    if constexpr (in_register)
      for (uint32_t& word : words_) word = 0;
    else
      for (int64_t t = 0; t < count; ++t) places_[place(columns[t])] = 0;
  }

  /// Whether the row may have the column.
  bool may_have(I column) const { return places_[place(column)] != 0; }
#if defined(__AVX512F__)
  __mmask16 may_have(__m512i columns) const {
    const __m512i word = _mm512_maskz_permutexvar_epi32(0xffff, columns, _mm512_load_si512(words_)),
                  bit = _mm512_and_si512(_mm512_maskz_srli_epi32(0xffff, columns, 4), _mm512_set1_epi32(31));
    return _mm512_test_epi32_mask(_mm512_maskz_srlv_epi32(0xffff, word, bit), _mm512_set1_epi32(1));
  }
#endif

 private:
  static size_t place(I column) { return static_cast<size_t>(column) % 8192; }

  alignas(64) uint32_t words_[16] = {};
  std::array<uint8_t, in_register ? 1 : 8192> places_ = {};
};

}  // namespace kkc::ilu
