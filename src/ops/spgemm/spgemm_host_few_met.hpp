// Few columns that a row of C has, in vector registers: which its products meet, in order, and where each product's is
// among them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "ops/spgemm/spgemm_host_column_vectors.hpp"

namespace kkc::spgemm {

/// Nothing depends on another row, and no branch on how often an aggregate is met.
class FewMet {
 public:
  static constexpr int64_t lanes = 16, most = 2 * lanes, most_collected = 4 * lanes;
  static constexpr int64_t vectors = 4, margin = vectors * lanes;  // of places of a byte

  /// Whether this build does so with such aggregates.
  template <class I>
  static constexpr bool suits() {
#if defined(__AVX512F__)
    return ColumnVectors::suit<I>();
#else
    return false;
#endif
  }

#if defined(__AVX512F__)
  /// Writes each of a row's 1 to `most` aggregates once to `to`, in ascending order, and returns their number. There is
  /// room for `most` and 1.
  static int64_t collect(const int32_t* aggregates, int64_t count, int32_t* to) {
    return count <= lanes ? collect<1>(aggregates, count, to) : collect<2>(aggregates, count, to);
  }

  /// The same of 1 to `most_collected`; there is room for as many and 1.
  static int64_t collect_more(const int32_t* columns, int64_t count, int32_t* to) {
    return count <= most        ? collect(columns, count, to)
           : count <= 3 * lanes ? collect<3>(columns, count, to)
                                : collect<4>(columns, count, to);
  }

  /// Writes 1 to `most` columns to `to` in ascending order, where there is room for `most`.
  static void sort(const int32_t* columns, int64_t count, int32_t* to) {
    count <= lanes ? sort<1>(columns, count, to) : sort<2>(columns, count, to);
  }

  /// Places of a byte among `found`, 1 to `most`, of columns that are `base` more; there is room for `margin` more.
  static void place(const int32_t* columns, int64_t count, int32_t base, const int32_t* found, int64_t m,
                    std::byte* places) {
    const V one = _mm512_set1_epi32(1), shift = _mm512_set1_epi32(base);
    for (int64_t k = 0; k < count; k += margin) {  // vectors share what they are compared with
      V v[vectors], place[vectors];
      for (int i = 0; i < vectors; ++i) {
        v[i] = _mm512_sub_epi32(
            _mm512_maskz_loadu_epi32(Vectors::inside(count - k - i * lanes), columns + k + i * lanes), shift);
        place[i] = _mm512_setzero_si512();
      }
      for (int64_t p = 0; p < m; ++p) {
        const V other = _mm512_set1_epi32(found[p]);
        for (int i = 0; i < vectors; ++i)
          place[i] = _mm512_mask_add_epi32(place[i], _mm512_cmplt_epi32_mask(other, v[i]), place[i], one);
      }
      for (int i = 0; i < vectors; ++i)
        _mm_storeu_si128(reinterpret_cast<__m128i*>(places + k + i * lanes),
                         _mm512_maskz_cvtepi32_epi8(Vectors::all, place[i]));
    }
  }

  /// Places of two bytes, `before` and more, among what collect() found; there is room for `most`.
  static void place(const int32_t* aggregates, int64_t count, const int32_t* found, int64_t m, uint32_t before,
                    std::byte* places) {
    for (int64_t k = 0; k < count; k += lanes)
      m <= at_once ? place<at_once>(aggregates + k, count - k, found, at_once, before, places + 2 * k)
                   : place<0>(aggregates + k, count - k, found, m, before, places + 2 * k);
  }

 private:
  using Vectors = ColumnVectors;
  using V = Vectors::V;
  static constexpr int64_t at_once = 8;  // most rows meet fewer aggregates: the same steps for all of them

  template <int used>
  static void sort(const int32_t* columns, int64_t count, int32_t* to) {
    V v[used];
    Vectors::load<used>(columns, count, v);
    Vectors::sort<used>(v);
    for (int i = 0; i < used; ++i) _mm512_storeu_si512(to + i * lanes, v[i]);
  }

  template <int used>
  [[gnu::always_inline]] static int64_t collect(const int32_t* aggregates, int64_t count, int32_t* to) {
    V v[used];
    Vectors::load<used>(aggregates, count, v);
    Vectors::sort<used>(v);
    V before = _mm512_set1_epi32(-1);
    int64_t m = 0;
    for (int i = 0; i < used; ++i) {
      const V last = _mm512_maskz_alignr_epi32(Vectors::all, v[i], before, 15);
      const __mmask16 first =
          _mm512_mask_cmpneq_epi32_mask(_mm512_cmpneq_epi32_mask(v[i], Vectors::none()), v[i], last);
      _mm512_storeu_si512(to + m, _mm512_mask_compress_epi32(Vectors::none(), first, v[i]));
      m += std::popcount(static_cast<unsigned>(first));
      before = v[i];
    }
    return m;
  }

  /// fixed: m, if that is known.
  template <int64_t fixed>
  [[gnu::always_inline]] static void place(const int32_t* aggregates, int64_t count, const int32_t* found, int64_t m,
                                           uint32_t before, std::byte* places) {
    const V v = _mm512_maskz_loadu_epi32(Vectors::inside(count), aggregates), one = _mm512_set1_epi32(1);
    V place = _mm512_set1_epi32(static_cast<int32_t>(before));
    for (int64_t p = 0; p < (fixed > 0 ? fixed : m); ++p) {
      const __mmask16 behind = _mm512_cmplt_epi32_mask(_mm512_set1_epi32(found[p]), v);
      place = _mm512_mask_add_epi32(place, behind, place, one);
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(places), _mm512_maskz_cvtepi32_epi16(Vectors::all, place));
  }
#else
  // Nobody calls these, but what would must compile.
  static int64_t collect(const int32_t* aggregates, int64_t count, int32_t* to);
  static int64_t collect_more(const int32_t* columns, int64_t count, int32_t* to);
  static void sort(const int32_t* columns, int64_t count, int32_t* to);
  static void place(const int32_t* columns, int64_t count, int32_t base, const int32_t* found, int64_t m,
                    std::byte* places);
  static void place(const int32_t* aggregates, int64_t count, const int32_t* found, int64_t m, uint32_t before,
                    std::byte* places);
#endif
};

}  // namespace kkc::spgemm
