// The aggregates that a short row of A meets, in vector registers: which they are, in order, and where each entry's is
// among them.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "ops/spgemm/spgemm_host_column_vectors.hpp"

namespace kkc::spgemm {

/// Nothing depends on another row, and no branch on how often an aggregate is met.
class FewMet {
 public:
  static constexpr int64_t lanes = ColumnVectors::lanes, most = 2 * lanes;

  /// Whether this build does so with such aggregates.
  template <class I>
  static constexpr bool suits() {
    return ColumnVectors::suit<I>();
  }

  /// Writes each of a row's 1 to `most` aggregates once to `to`, in ascending order, and returns their number. There is
  /// room for `most` and 1.
  static int64_t collect(const int32_t* aggregates, int64_t count, int32_t* to);
  /// Places of two bytes, `before` and more, among what collect() found; there is room for `most`.
  static void place(const int32_t* aggregates, int64_t count, const int32_t* found, int64_t m, uint32_t before,
                    std::byte* places);

#if defined(__AVX512F__)
 private:
  using Vectors = ColumnVectors;
  using V = Vectors::V;
  static constexpr int64_t at_once = 8;  // most rows meet fewer aggregates: the same steps for all of them

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
    const auto inside = static_cast<__mmask16>(count >= lanes ? Vectors::all : Vectors::all >> (lanes - count));
    const V v = _mm512_maskz_loadu_epi32(inside, aggregates), one = _mm512_set1_epi32(1);
    V place = _mm512_set1_epi32(static_cast<int32_t>(before));
    for (int64_t p = 0; p < (fixed > 0 ? fixed : m); ++p) {
      const __mmask16 behind = _mm512_cmplt_epi32_mask(_mm512_set1_epi32(found[p]), v);
      place = _mm512_mask_add_epi32(place, behind, place, one);
    }
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(places), _mm512_maskz_cvtepi32_epi16(Vectors::all, place));
  }
#endif
};

#if defined(__AVX512F__)
inline int64_t FewMet::collect(const int32_t* aggregates, int64_t count, int32_t* to) {
  return count <= lanes ? collect<1>(aggregates, count, to) : collect<2>(aggregates, count, to);
}

inline void FewMet::place(const int32_t* aggregates, int64_t count, const int32_t* found, int64_t m, uint32_t before,
                          std::byte* places) {
  for (int64_t k = 0; k < count; k += lanes)
    m <= at_once ? place<at_once>(aggregates + k, count - k, found, at_once, before, places + 2 * k)
                 : place<0>(aggregates + k, count - k, found, m, before, places + 2 * k);
}
#endif

}  // namespace kkc::spgemm
