// Columns of one short row of C, and the places of its products in it, by sorting the products in vector registers:
// where few of them meet, that is less than to look each of them up in a list of all columns, which lies in an outer
// cache.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "ops/spgemm/spgemm_host_column_vectors.hpp"

namespace kkc::spgemm {

/// Keys of 31 bits, a column and behind it the number of a product, sorted as ColumnVectors does.
class SortedProducts {
 public:
  static constexpr int64_t lanes = ColumnVectors::lanes, most = ColumnVectors::most;

  template <class I>
  static constexpr bool takes(int64_t products, int64_t cols) {
    return ColumnVectors::suit<I>() && products > 0 && products <= most && bits_of(cols) + number_bits(products) <= 31;
  }

#if defined(__AVX512F__) || defined(__AVX2__)
  /// Writes the columns of the rows of B that `row` reaches, of so many products, to `columns` in ascending order, each
  /// once, and each product's place in them to `places`. Returns the columns' number. Both have room for as many as
  /// there are products, and lanes more. ahead: RowsAhead::OfRow.
  template <class Row, class B, class Ahead>
  static int64_t make(const Row& row, const B& b, const Ahead& ahead, int64_t products, int32_t* columns,
                      uint16_t* places) {
    alignas(64) int32_t met[most + lanes];
    int64_t count = 0;
    for (int64_t k = 0; k < row.size(); ++k) {
      ahead.fetch(row, k, b.indices);
      const int64_t begin = b.begin(row.column(k)), size = b.end(row.column(k)) - begin;
      const int32_t* const from = b.indices + begin;
      // Lanes behind a row are written again.
      Vectors::write(met + count, begin + lanes <= b.nnz ? Vectors::read(from) : Vectors::read_some(from, size));
      for (int64_t q = lanes; q < size; q += lanes)
        Vectors::write(met + count + q, Vectors::read_some(from + q, size - q));
      count += size;
    }
    return make(met, static_cast<int32_t>(b.base), products, columns, places);
  }
  /// The same of products that name these columns less `base`; `lanes` more may be read.
  static int64_t make(const int32_t* met, int32_t base, int64_t products, int32_t* columns, uint16_t* places) {
    const int bits = number_bits(products);
    return Vectors::with_vectors(products,
                                 [&](auto used) { return sort<used()>(met, base, products, bits, columns, places); });
  }
#endif

 private:
  static constexpr int bits_of(int64_t count) {
    return static_cast<int>(std::bit_width(static_cast<uint64_t>(count - 1)));
  }
  /// Lanes behind the last product have numbers, too.
  static constexpr int number_bits(int64_t products) { return bits_of(std::max(products, lanes)); }

#if defined(__AVX512F__) || defined(__AVX2__)
  using Vectors = ColumnVectors;
  using V = Vectors::V;

  template <int used>
  static int64_t sort(const int32_t* met, int32_t base, int64_t count, int bits, int32_t* columns, uint16_t* places) {
    V v[used];
    for (int i = 0; i < used; ++i)
      v[i] = i * lanes < count ? keys(met + i * lanes, base, count - i * lanes, bits, i * lanes) : Vectors::none();
    Vectors::sort<used>(v);
    return take<used>(v, count, bits, columns, places);
  }
#endif

#if defined(__AVX512F__)
  /// Of products first, first + 1 ...; of lanes behind the last one greater ones.
  static V keys(const int32_t* met, int32_t base, int64_t count, int bits, int32_t first) {
    const V column = _mm512_maskz_sub_epi32(Vectors::all, Vectors::read(met), _mm512_set1_epi32(base)),
            product = _mm512_maskz_add_epi32(Vectors::all,
                                             _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                                             _mm512_set1_epi32(first)),
            behind = _mm512_set1_epi32(std::numeric_limits<int32_t>::max() >> bits << bits),
            key = _mm512_mask_sll_epi32(behind, Vectors::inside(count), column, _mm_cvtsi32_si128(bits));
    return _mm512_or_si512(key, product);
  }

  /// Columns and places of keys in order.
  template <int used>
  [[gnu::always_inline]] static int64_t take(const V* v, int64_t count, int bits, int32_t* columns, uint16_t* places) {
    const __m128i shift = _mm_cvtsi32_si128(bits);
    const V number = _mm512_set1_epi32((1 << bits) - 1), none = _mm512_setzero_si512();
    V before = _mm512_set1_epi32(-1);
    int32_t* const first = columns;
    for (int i = 0; i < used && i * lanes < count; ++i) {
      const int64_t here = std::min(lanes, count - i * lanes);
      const V column = _mm512_maskz_srl_epi32(Vectors::all, v[i], shift);
      const __mmask16 fresh = _mm512_mask_cmpneq_epi32_mask(
          Vectors::inside(here), column, _mm512_maskz_alignr_epi32(Vectors::all, column, before, 15));
      before = column;
      // How many columns there are up to each lane.
      V place = _mm512_maskz_set1_epi32(fresh, 1);
      place = _mm512_maskz_add_epi32(Vectors::all, place, _mm512_maskz_alignr_epi32(Vectors::all, place, none, 15));
      place = _mm512_maskz_add_epi32(Vectors::all, place, _mm512_maskz_alignr_epi32(Vectors::all, place, none, 14));
      place = _mm512_maskz_add_epi32(Vectors::all, place, _mm512_maskz_alignr_epi32(Vectors::all, place, none, 12));
      place = _mm512_maskz_add_epi32(Vectors::all, place, _mm512_maskz_alignr_epi32(Vectors::all, place, none, 8));
      place = _mm512_maskz_add_epi32(Vectors::all, place, _mm512_set1_epi32(static_cast<int32_t>(columns - first) - 1));
      _mm512_storeu_si512(columns, _mm512_maskz_compress_epi32(fresh, column));
      columns += std::popcount(static_cast<unsigned>(fresh));
      alignas(32) uint16_t numbers[lanes], found[lanes];
      _mm256_store_si256(reinterpret_cast<__m256i*>(numbers),
                         _mm512_maskz_cvtepi32_epi16(Vectors::all, _mm512_and_si512(v[i], number)));
      _mm256_store_si256(reinterpret_cast<__m256i*>(found), _mm512_maskz_cvtepi32_epi16(Vectors::all, place));
      for (int64_t lane = 0; lane < lanes; ++lane) places[numbers[lane]] = found[lane];
    }
    return columns - first;
  }
#elif defined(__AVX2__)
  static __m128i bytes(const std::array<uint8_t, 8>& from) {
    return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(from.data()));
  }

  /// Of products first, first + 1 ...; of lanes behind the last one greater ones.
  static V keys(const int32_t* met, int32_t base, int64_t count, int bits, int32_t first) {
    const V column = _mm256_sub_epi32(Vectors::read(met), _mm256_set1_epi32(base)),
            product = _mm256_add_epi32(_mm256_set_epi32(7, 6, 5, 4, 3, 2, 1, 0), _mm256_set1_epi32(first));
    V key = _mm256_sll_epi32(column, _mm_cvtsi32_si128(bits));
    if (count < lanes) {
      const V behind = _mm256_set1_epi32(std::numeric_limits<int32_t>::max() >> bits << bits);
      key = _mm256_blendv_epi8(behind, key, Vectors::inside(count));
    }
    return _mm256_or_si256(key, product);
  }

  /// Columns and places of keys in order.
  template <int used>
  [[gnu::always_inline]] static int64_t take(const V* v, int64_t count, int bits, int32_t* columns, uint16_t* places) {
    const __m128i shift = _mm_cvtsi32_si128(bits);
    const V number = _mm256_set1_epi32((1 << bits) - 1), one_on = _mm256_set_epi32(6, 5, 4, 3, 2, 1, 0, 7);
    V before = _mm256_set1_epi32(-1);
    int32_t* const first = columns;
    for (int i = 0; i < used && i * lanes < count; ++i) {
      const int64_t here = std::min(lanes, count - i * lanes);
      const V column = _mm256_srl_epi32(v[i], shift), moved = _mm256_permutevar8x32_epi32(column, one_on);
      const V same = _mm256_cmpeq_epi32(column, _mm256_blend_epi32(moved, before, 1));
      const unsigned fresh = ~static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(same))) & ((1u << here) - 1);
      before = moved;  // its first lane is the last column
      const LanesOfMask& of = lanes_of_masks[fresh];
      const __m128i place =
          _mm_add_epi16(_mm_cvtepu8_epi16(bytes(of.counts)), _mm_set1_epi16(static_cast<int16_t>(columns - first - 1)));
      Vectors::write(columns, _mm256_permutevar8x32_epi32(column, _mm256_cvtepu8_epi32(bytes(of.lanes))));
      columns += std::popcount(fresh);
      alignas(32) int32_t numbers[lanes];
      alignas(16) uint16_t found[lanes];
      Vectors::write(numbers, _mm256_and_si256(v[i], number));
      _mm_store_si128(reinterpret_cast<__m128i*>(found), place);
      for (int64_t lane = 0; lane < lanes; ++lane) places[numbers[lane]] = found[lane];
    }
    return columns - first;
  }
#endif
};

}  // namespace kkc::spgemm
