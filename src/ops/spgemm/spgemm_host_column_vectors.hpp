// Columns of a row in vector registers, put in order by bitonic merges (Batcher, "Sorting networks and their
// applications", AFIPS 1968).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace kkc::spgemm {

class ColumnVectors {
 public:
  static constexpr int64_t lanes = 16;

  /// Whether this build has vectors of such columns.
  template <class I>
  static constexpr bool suit() {
#if defined(__AVX512F__)
    return sizeof(I) == 4;
#else
    return false;
#endif
  }

#if defined(__AVX512F__)
  using V = __m512i;
  static constexpr __mmask16 all = 0xffff;  // with it g++ does not warn of lanes without a value

  /// Lanes behind the last column.
  static V none() { return _mm512_set1_epi32(std::numeric_limits<int32_t>::max()); }

  /// Of a vector with so many columns, or more or none.
  static __mmask16 inside(int64_t count) {
    return count >= lanes ? all : static_cast<__mmask16>((1u << std::max<int64_t>(count, 0)) - 1);
  }

  /// `used` vectors of columns, one in the last one at least.
  template <int used>
  [[gnu::always_inline]] static void load(const int32_t* columns, int64_t count, V* v) {
    for (int i = 0; i < used - 1; ++i) v[i] = _mm512_loadu_si512(columns + i * lanes);
    const int64_t left = count - (used - 1) * lanes;
    v[used - 1] =
        _mm512_mask_loadu_epi32(none(), static_cast<__mmask16>(all >> (lanes - left)), columns + (used - 1) * lanes);
  }

  template <int used>
  [[gnu::always_inline]] static void sort(V* v) {
    sort_all<static_cast<int>(std::bit_ceil(static_cast<unsigned>(used))), used>(v);
  }

 private:
  /// In lanes of `upper` the larger, else the smaller of both.
  static V ordered(V v, V other, __mmask16 upper) {
    return _mm512_mask_max_epi32(_mm512_maskz_min_epi32(all, v, other), upper, v, other);
  }
  static V reversed(V v) {
    return _mm512_maskz_permutexvar_epi32(all, _mm512_set_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                                          v);
  }
  /// Sorts lanes that ascend and then descend, or the other way round.
  static V merged(V v) {
    v = ordered(v, _mm512_maskz_shuffle_i64x2(0xff, v, v, 0x4e), 0xff00);
    v = ordered(v, _mm512_maskz_shuffle_i64x2(0xff, v, v, 0xb1), 0xf0f0);
    v = ordered(v, _mm512_maskz_shuffle_epi32(all, v, _MM_PERM_BADC), 0xcccc);
    return ordered(v, _mm512_maskz_shuffle_epi32(all, v, _MM_PERM_CDAB), 0xaaaa);
  }
  static V sorted(V v) {
    v = ordered(v, _mm512_maskz_shuffle_epi32(all, v, _MM_PERM_CDAB), 0xaaaa);
    v = ordered(v, _mm512_maskz_shuffle_epi32(all, v, _MM_PERM_ABCD), 0xcccc);
    v = ordered(v, _mm512_maskz_shuffle_epi32(all, v, _MM_PERM_CDAB), 0xaaaa);
    const V crossed = _mm512_set_epi32(8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
    v = ordered(v, _mm512_maskz_permutexvar_epi32(all, crossed, v), 0xf0f0);
    v = ordered(v, _mm512_maskz_shuffle_epi32(all, v, _MM_PERM_BADC), 0xcccc);
    v = ordered(v, _mm512_maskz_shuffle_epi32(all, v, _MM_PERM_CDAB), 0xaaaa);
    v = ordered(v, reversed(v), 0xff00);
    v = ordered(v, _mm512_maskz_shuffle_i64x2(0xff, v, v, 0xb1), 0xf0f0);
    v = ordered(v, _mm512_maskz_shuffle_epi32(all, v, _MM_PERM_BADC), 0xcccc);
    return ordered(v, _mm512_maskz_shuffle_epi32(all, v, _MM_PERM_CDAB), 0xaaaa);
  }
  /// The smaller ones to the first half of the vectors. Those from `used` on are not there: they would hold the
  /// greatest number before and afterwards.
  template <int vectors, int used>
  [[gnu::always_inline]] static void halve(V* v) {
    constexpr int half = vectors / 2;
    if constexpr (vectors == 1) {
      v[0] = merged(v[0]);
    } else {
      for (int i = 0; i + half < used; ++i) {
        const V low = _mm512_maskz_min_epi32(all, v[i], v[i + half]);
        v[i + half] = _mm512_maskz_max_epi32(all, v[i], v[i + half]);
        v[i] = low;
      }
      halve<half, std::min(used, half)>(v);
      if constexpr (used > half) halve<half, used - half>(v + half);
    }
  }
  template <int vectors, int used>
  [[gnu::always_inline]] static void sort_all(V* v) {
    constexpr int half = vectors / 2;
    if constexpr (vectors == 1) {
      v[0] = sorted(v[0]);
    } else {
      sort_all<half, std::min(used, half)>(v);
      if constexpr (used > half) {
        sort_all<half, used - half>(v + half);
        // The second half backwards, so that all ascend and then descend.
        for (int i = vectors - used; i < half; ++i) {
          const V other = reversed(v[vectors - 1 - i]);
          v[vectors - 1 - i] = reversed(_mm512_maskz_max_epi32(all, v[i], other));
          v[i] = _mm512_maskz_min_epi32(all, v[i], other);
        }
        halve<half, half>(v);
        halve<half, used - half>(v + half);
      }
    }
  }
#endif
};

}  // namespace kkc::spgemm
