// What spgemm_host_listed_rows.hpp does with vectors of 32-bit numbers beside sorting them, by AVX-512 or AVX2.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ops/spgemm/spgemm_host_column_vectors.hpp"

namespace kkc::spgemm {

#if defined(__AVX512F__) || defined(__AVX2__)
/// Masks have a bit for each lane.
class ListVectors : public ColumnVectors {
 public:
  /// Of a vector with so many numbers, or more or none.
  static uint32_t lanes_of(int64_t count) {
    return count >= lanes ? (1u << lanes) - 1 : (1u << std::max<int64_t>(count, 0)) - 1;
  }
  static V read(const uint32_t* from) { return ColumnVectors::read(reinterpret_cast<const int32_t*>(from)); }
  using ColumnVectors::read;
  static void write(uint32_t* to, V v) { ColumnVectors::write(reinterpret_cast<int32_t*>(to), v); }
  using ColumnVectors::write;

#if defined(__AVX512F__)
  static V all_of(int32_t value) { return _mm512_set1_epi32(value); }
  static V iota() { return _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0); }
  static V sum(V v, V w) { return _mm512_maskz_add_epi32(all, v, w); }
  static V difference(V v, V w) { return _mm512_maskz_sub_epi32(all, v, w); }
  static V both(V v, V w) { return _mm512_maskz_and_epi32(all, v, w); }
  static V either(V v, V w) { return _mm512_maskz_or_epi32(all, v, w); }
  template <int bits>
  static V up(V v) {
    return _mm512_maskz_slli_epi32(all, v, bits);
  }
  template <int bits>
  static V down(V v) {
    return _mm512_maskz_srli_epi32(all, v, bits);
  }
  /// Of lanes that are not in the mask: none().
  static V only(V v, uint32_t mask) { return _mm512_mask_mov_epi32(none(), static_cast<__mmask16>(mask), v); }
  /// Lanes that differ from the one before, and the first one from the last one of `before`.
  static uint32_t changes(V v, V before) {
    return _mm512_cmpneq_epi32_mask(v, _mm512_maskz_alignr_epi32(all, v, before, 15));
  }
  /// In each lane, how many lanes up to it are in the mask.
  static V counted(uint32_t mask) {
    const V zeros = _mm512_setzero_si512();
    V n = _mm512_maskz_set1_epi32(static_cast<__mmask16>(mask), 1);
    n = sum(n, _mm512_maskz_alignr_epi32(all, n, zeros, 15));
    n = sum(n, _mm512_maskz_alignr_epi32(all, n, zeros, 14));
    n = sum(n, _mm512_maskz_alignr_epi32(all, n, zeros, 12));
    return sum(n, _mm512_maskz_alignr_epi32(all, n, zeros, 8));
  }
  /// The mask's lanes one after the other.
  static V packed(V v, uint32_t mask) { return _mm512_maskz_compress_epi32(static_cast<__mmask16>(mask), v); }
  static V picked(V from, V number) { return _mm512_maskz_permutexvar_epi32(all, number, from); }
  /// from[number], of lanes in the mask.
  template <class T>
  static V picked(const T* from, V number, uint32_t mask) {
    static_assert(sizeof(T) == sizeof(int32_t));
    return _mm512_mask_i32gather_epi32(number, static_cast<__mmask16>(mask), number, from, sizeof(T));
  }
  static void write_narrow(uint16_t* to, V v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_maskz_cvtepi32_epi16(all, v));
  }
  /// Lanes of bytes that are not 0.
  static uint32_t set_bytes(const uint8_t* bytes) {
    const __m128i v = _mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes));
    return static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpgt_epi8(v, _mm_setzero_si128())));
  }
#else
  static V all_of(int32_t value) { return _mm256_set1_epi32(value); }
  static V iota() { return _mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0); }
  static V sum(V v, V w) { return _mm256_add_epi32(v, w); }
  static V difference(V v, V w) { return _mm256_sub_epi32(v, w); }
  static V both(V v, V w) { return _mm256_and_si256(v, w); }
  static V either(V v, V w) { return _mm256_or_si256(v, w); }
  template <int bits>
  static V up(V v) {
    return _mm256_slli_epi32(v, bits);
  }
  template <int bits>
  static V down(V v) {
    return _mm256_srli_epi32(v, bits);
  }
  static V only(V v, uint32_t mask) { return _mm256_blendv_epi8(none(), v, lanes_in(mask)); }
  static uint32_t changes(V v, V before) {
    const V one_on = _mm256_set_epi32(6, 5, 4, 3, 2, 1, 0, 7),
            last = _mm256_blend_epi32(_mm256_permutevar8x32_epi32(v, one_on),
                                      _mm256_permutevar8x32_epi32(before, one_on), 1);
    return ~static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(v, last)))) & 0xffu;
  }
  static V counted(uint32_t mask) { return numbers(lanes_of_masks[mask].counts); }
  static V packed(V v, uint32_t mask) { return _mm256_permutevar8x32_epi32(v, numbers(lanes_of_masks[mask].lanes)); }
  static V picked(V from, V number) { return _mm256_permutevar8x32_epi32(from, number); }
  template <class T>
  static V picked(const T* from, V number, uint32_t mask) {
    static_assert(sizeof(T) == sizeof(int32_t));
    return _mm256_mask_i32gather_epi32(number, reinterpret_cast<const int*>(from), number, lanes_in(mask), sizeof(T));
  }
  static void write_narrow(uint16_t* to, V v) {
    const V narrow = _mm256_permute4x64_epi64(_mm256_packus_epi32(v, v), 0x08);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(narrow));
  }
  static uint32_t set_bytes(const uint8_t* bytes) {
    const __m128i v = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes));
    return static_cast<uint32_t>(_mm_movemask_epi8(_mm_cmpgt_epi8(v, _mm_setzero_si128())));
  }

 private:
  static V numbers(const std::array<uint8_t, 8>& bytes) {
    return _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes.data())));
  }
  static V lanes_in(uint32_t mask) {
    const V bits = _mm256_set_epi32(128, 64, 32, 16, 8, 4, 2, 1);
    return _mm256_cmpeq_epi32(_mm256_and_si256(all_of(static_cast<int32_t>(mask)), bits), bits);
  }
#endif
};
#endif

}  // namespace kkc::spgemm
