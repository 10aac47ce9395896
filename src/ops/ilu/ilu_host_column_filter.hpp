// A few bits that say of most columns that a row does not have them (Bloom, "Space/time trade-offs in hash coding with
// allowable errors", CACM 13(7), 1970, with one hash function), so that a map of all columns is seldom asked.
#pragma once

#include <cstdint>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace kkc::ilu {

/// 512 bits in a register.
class ColumnFilter {
 public:
  template <class I>
  void set(const I* columns, int64_t count) {
    for (uint32_t& word : words_) word = 0;
    for (int64_t t = 0; t < count; ++t) {
      const auto column = static_cast<uint32_t>(columns[t]);
      words_[column % 16] |= 1u << (column / 16 % 32);
    }
  }
#if defined(__AVX512F__)
  /// Of 16 columns those that the row may have.
  __mmask16 may_have(__m512i columns) const {
    const __m512i word = _mm512_maskz_permutexvar_epi32(0xffff, columns, _mm512_load_si512(words_)),
                  bit = _mm512_and_si512(_mm512_maskz_srli_epi32(0xffff, columns, 4), _mm512_set1_epi32(31));
    return _mm512_test_epi32_mask(_mm512_maskz_srlv_epi32(0xffff, word, bit), _mm512_set1_epi32(1));
  }
#endif

 private:
  alignas(64) uint32_t words_[16];
};

}  // namespace kkc::ilu
