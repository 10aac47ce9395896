// Columns of one row of C with products that meet often, a few hundred at most, as on unstructured meshes: the products
// leave each column once, and vector registers put them in order.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace kkc::spgemm {

/// A column's stamp says which row met it last. Up to 256 columns are sorted by bitonic merges in registers (Batcher,
/// "Sorting networks and their applications", AFIPS 1968), more by std::sort.
class StampedColumns {
 public:
  /// Whether this build sorts such columns by vectors; of rows of so many products at most.
  template <class I>
  static constexpr bool suits() {
#if defined(__AVX512F__)
    return sizeof(I) == 4;
#else
    return false;
#endif
  }
  static constexpr int64_t most_products = 2048;

  explicit StampedColumns(int64_t cols) : stamps_(static_cast<size_t>(cols), 0) {}

  /// Writes the columns of the rows of B that `row` reaches, `products` in all, to `to` in ascending order, each once,
  /// and returns their number. `to` has room for as many as there are products, and lanes more.
  template <class Row, class B, class I>
  int64_t make(const Row& row, const B& b, I* to) {
    if (++stamp_ == 0) {
      std::fill(stamps_.begin(), stamps_.end(), 0);
      stamp_ = 1;
    }
    int64_t count = 0;
    for (int64_t k = 0; k < row.size(); ++k)
      for (int64_t q = b.begin(row.column(k)), end = b.end(row.column(k)); q < end; ++q) {
        const int64_t column = b.column(q);
        uint16_t& stamp = stamps_[static_cast<size_t>(column)];
        to[count] = static_cast<I>(column);
        count += stamp != stamp_ ? 1 : 0;
        stamp = stamp_;
      }
    sort(to, count);
    return count;
  }
  static constexpr int64_t lanes = 16;

 private:
  static constexpr int64_t most_vectors = 16;

  template <class I>
  static void sort(I* columns, int64_t count) {
#if defined(__AVX512F__)
    if constexpr (sizeof(I) == 4)
      if (count <= most_vectors * lanes) {
        if (count > 1) sort_by_vectors(columns, count, std::make_integer_sequence<int, most_vectors>());
        return;
      }
#endif
    std::sort(columns, columns + count);
  }

#if defined(__AVX512F__)
  using V = __m512i;
  static constexpr __mmask16 all = 0xffff;  // with it g++ does not warn of lanes without a value

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
  /// Lanes behind the last column hold the greatest number.
  template <int used>
  static void sort_vectors(int32_t* columns, int64_t count) {
    V v[used];
    for (int i = 0; i < used - 1; ++i) v[i] = _mm512_loadu_si512(columns + i * lanes);
    const int64_t left = count - (used - 1) * lanes;
    const auto inside = static_cast<__mmask16>(all >> (lanes - left));
    v[used - 1] = _mm512_mask_loadu_epi32(_mm512_set1_epi32(std::numeric_limits<int32_t>::max()), inside,
                                          columns + (used - 1) * lanes);
    sort_all<static_cast<int>(std::bit_ceil(static_cast<unsigned>(used))), used>(v);
    for (int i = 0; i < used; ++i) _mm512_storeu_si512(columns + i * lanes, v[i]);
  }
  template <int... less>
  static void sort_by_vectors(int32_t* columns, int64_t count, std::integer_sequence<int, less...>) {
    static constexpr void (*by_used[])(int32_t*, int64_t) = {sort_vectors<less + 1>...};
    by_used[(count - 1) / lanes](columns, count);
  }
#endif

  std::vector<uint16_t> stamps_;
  uint16_t stamp_ = 0;
};

}  // namespace kkc::spgemm
