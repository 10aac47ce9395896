// Columns of one short row of C, and the places of its products in it, by sorting the products in vector registers:
// where few of them meet, that is less than to look each of them up in a list of all columns, which lies in an outer
// cache.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>

#include "ops/spgemm/spgemm_host_column_vectors.hpp"

namespace kkc::spgemm {

/// Keys of 31 bits, a column and behind it the number of a product, sorted as ColumnVectors does.
class SortedProducts {
 public:
  static constexpr int64_t lanes = ColumnVectors::lanes, most = 16 * lanes;

  template <class I>
  static constexpr bool takes(int64_t products, int64_t cols) {
    return ColumnVectors::suit<I>() && products > 0 && products <= most && bits_of(cols) + bits_of(products) <= 31;
  }

#if defined(__AVX512F__)
  /// Writes the columns of the rows of B that `row` reaches, of so many products, to `columns` in ascending order, each
  /// once, and each product's place in them to `places`. Returns the columns' number. `columns` has room for as many as
  /// there are products, and lanes more.
  template <class Row, class B>
  static int64_t make(const Row& row, const B& b, int64_t products, int32_t* columns, uint16_t* places) {
    alignas(64) int32_t keys[most + lanes];
    int64_t count = 0;
    for (int64_t k = 0; k < row.size(); ++k) {
      const int64_t begin = b.begin(row.column(k)), size = b.end(row.column(k)) - begin;
      for (int64_t q = 0; q < size; q += lanes) {
        const auto inside = size - q < lanes ? static_cast<__mmask16>((1u << (size - q)) - 1) : V16::all;
        _mm512_storeu_si512(keys + count + q, _mm512_maskz_loadu_epi32(inside, b.indices + begin + q));
      }
      count += size;
    }
    const int bits = bits_of(products);
    const V base = _mm512_set1_epi32(static_cast<int32_t>(b.base)), wide = _mm512_set1_epi32(lanes);
    V product = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    for (int64_t at = 0; at < products; at += lanes) {
      const V column = _mm512_maskz_sub_epi32(V16::all, _mm512_load_si512(keys + at), base);
      const V key = _mm512_maskz_sll_epi32(V16::all, column, _mm_cvtsi32_si128(bits));
      _mm512_store_si512(keys + at, _mm512_or_si512(key, product));
      product = _mm512_maskz_add_epi32(V16::all, product, wide);
    }
    return sort_by_vectors(keys, products, bits, columns, places, std::make_integer_sequence<int, 16>());
  }
#endif

 private:
  static constexpr int bits_of(int64_t count) {
    return static_cast<int>(std::bit_width(static_cast<uint64_t>(count - 1)));
  }

#if defined(__AVX512F__)
  using V16 = ColumnVectors;
  using V = V16::V;

  template <int used>
  static int64_t sort(const int32_t* keys, int64_t count, int bits, int32_t* columns, uint16_t* places) {
    V v[used];
    V16::load<used>(keys, count, v);
    V16::sort<used>(v);
    const __m128i shift = _mm_cvtsi32_si128(bits);
    const V number = _mm512_set1_epi32((1 << bits) - 1), none = _mm512_setzero_si512();
    V before = _mm512_set1_epi32(-1);
    int32_t* const first = columns;
    for (int i = 0; i < used; ++i) {
      const int64_t here = i + 1 < used ? lanes : count - (used - 1) * lanes;
      const V column = _mm512_maskz_srl_epi32(V16::all, v[i], shift);
      const __mmask16 fresh = _mm512_mask_cmpneq_epi32_mask(static_cast<__mmask16>(V16::all >> (lanes - here)), column,
                                                            _mm512_maskz_alignr_epi32(V16::all, column, before, 15));
      before = column;
      // How many columns there are up to each lane.
      V place = _mm512_maskz_set1_epi32(fresh, 1);
      place = _mm512_maskz_add_epi32(V16::all, place, _mm512_maskz_alignr_epi32(V16::all, place, none, 15));
      place = _mm512_maskz_add_epi32(V16::all, place, _mm512_maskz_alignr_epi32(V16::all, place, none, 14));
      place = _mm512_maskz_add_epi32(V16::all, place, _mm512_maskz_alignr_epi32(V16::all, place, none, 12));
      place = _mm512_maskz_add_epi32(V16::all, place, _mm512_maskz_alignr_epi32(V16::all, place, none, 8));
      place = _mm512_maskz_add_epi32(V16::all, place, _mm512_set1_epi32(static_cast<int32_t>(columns - first) - 1));
      _mm512_storeu_si512(columns, _mm512_maskz_compress_epi32(fresh, column));
      columns += std::popcount(static_cast<unsigned>(fresh));
      alignas(32) uint16_t numbers[lanes], found[lanes];
      _mm256_store_si256(reinterpret_cast<__m256i*>(numbers),
                         _mm512_maskz_cvtepi32_epi16(V16::all, _mm512_and_si512(v[i], number)));
      _mm256_store_si256(reinterpret_cast<__m256i*>(found), _mm512_maskz_cvtepi32_epi16(V16::all, place));
      for (int64_t lane = 0; lane < here; ++lane) places[numbers[lane]] = found[lane];
    }
    return columns - first;
  }
  template <int... less>
  static int64_t sort_by_vectors(const int32_t* keys, int64_t count, int bits, int32_t* columns, uint16_t* places,
                                 std::integer_sequence<int, less...>) {
    static constexpr int64_t (*by_used[])(const int32_t*, int64_t, int, int32_t*, uint16_t*) = {sort<less + 1>...};
    return by_used[(count - 1) / lanes](keys, count, bits, columns, places);
  }
#endif
};

}  // namespace kkc::spgemm
