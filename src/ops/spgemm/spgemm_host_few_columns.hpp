// Columns of one row of C, of which there are few, in vector registers (AVX-512).
#pragma once

#include <cstdint>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace kkc::spgemm {

/// Up to eight columns in a register, with their numbers.
///   unsigned where(column): a bit at the column's number, or none
///   unsigned where(from, count, ascend): those of up to eight columns; clears `ascend` unless they do
///   void add(number, column)
template <class I>
struct FewColumns;
#if defined(__AVX512F__)
template <>
struct FewColumns<int32_t> {
  using Bits = __mmask16;
  __m512i columns = _mm512_set1_epi32(-1);
  unsigned where(int32_t column) const { return _mm512_cmpeq_epi32_mask(columns, _mm512_set1_epi32(column)); }
  unsigned where(const int32_t* from, int64_t count, bool& ascend) const {
    const auto all = static_cast<Bits>((1u << count) - 1), pairs = static_cast<Bits>(all >> 1);
    const __m512i row = _mm512_mask_loadu_epi32(_mm512_set1_epi32(-2), all, from),
                  next = _mm512_maskz_loadu_epi32(pairs, from + 1);
    ascend &= _mm512_mask_cmplt_epi32_mask(pairs, row, next) == pairs;
    const auto of = [&](int q) {
      return _mm512_cmpeq_epi32_mask(columns,
                                     _mm512_maskz_permutexvar_epi32(static_cast<Bits>(-1), _mm512_set1_epi32(q), row));
    };
    unsigned bits = static_cast<Bits>(of(0) | of(1) | of(2) | of(3));
    if (count > 4) bits |= static_cast<Bits>(of(4) | of(5) | of(6) | of(7));
    return bits;
  }
  void add(uint32_t number, int32_t column) {
    columns = _mm512_mask_set1_epi32(columns, static_cast<Bits>(1u << number), column);
  }
};
template <>
struct FewColumns<int64_t> {
  using Bits = __mmask8;
  __m512i columns = _mm512_set1_epi64(-1);
  unsigned where(int64_t column) const { return _mm512_cmpeq_epi64_mask(columns, _mm512_set1_epi64(column)); }
  unsigned where(const int64_t* from, int64_t count, bool& ascend) const {
    const auto all = static_cast<Bits>((1u << count) - 1), pairs = static_cast<Bits>(all >> 1);
    const __m512i row = _mm512_mask_loadu_epi64(_mm512_set1_epi64(-2), all, from),
                  next = _mm512_maskz_loadu_epi64(pairs, from + 1);
    ascend &= _mm512_mask_cmplt_epi64_mask(pairs, row, next) == pairs;
    const auto of = [&](int q) {
      return _mm512_cmpeq_epi64_mask(columns,
                                     _mm512_maskz_permutexvar_epi64(static_cast<Bits>(-1), _mm512_set1_epi64(q), row));
    };
    unsigned bits = static_cast<Bits>(of(0) | of(1) | of(2) | of(3));
    if (count > 4) bits |= static_cast<Bits>(of(4) | of(5) | of(6) | of(7));
    return bits;
  }
  void add(uint32_t number, int64_t column) {
    columns = _mm512_mask_set1_epi64(columns, static_cast<Bits>(1u << number), column);
  }
};
#endif

}  // namespace kkc::spgemm
