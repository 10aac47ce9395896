// Columns of a row in vector registers, put in order by bitonic merges (Batcher, "Sorting networks and their
// applications", AFIPS 1968).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <utility>

#if defined(__AVX512F__) || defined(__AVX2__)
#include <immintrin.h>
#endif

namespace kkc::spgemm {

#if defined(__AVX2__)
/// Of each mask of eight lanes: its lanes one after the other, and how many of them there are up to each lane.
struct LanesOfMask {
  std::array<uint8_t, 8> lanes, counts;
};
inline constexpr auto lanes_of_masks = [] {
  std::array<LanesOfMask, 256> all{};
  for (size_t mask = 0; mask < all.size(); ++mask) {
    uint8_t next = 0;
    for (uint8_t lane = 0; lane < 8; ++lane) {
      if ((mask >> lane & 1) != 0) all[mask].lanes[next++] = lane;
      all[mask].counts[lane] = next;
    }
  }
  return all;
}();
#endif

/// Vectors of AVX-512, else of AVX2.
class ColumnVectors {
 public:
#if defined(__AVX2__) && !defined(__AVX512F__)
  static constexpr int64_t lanes = 8;
#else
  static constexpr int64_t lanes = 16;
#endif
  static constexpr int64_t most = 256;  // columns that are sorted at once

  /// Whether this build has vectors of such columns.
  template <class I>
  static constexpr bool suit() {
#if defined(__AVX512F__) || defined(__AVX2__)
    return sizeof(I) == 4;
#else
    return false;
#endif
  }

#if defined(__AVX512F__) || defined(__AVX2__)
#if defined(__AVX512F__)
  using V = __m512i;
  static constexpr __mmask16 all = 0xffff;  // with it g++ does not warn of lanes without a value

  /// Lanes behind the last column.
  static V none() { return _mm512_set1_epi32(std::numeric_limits<int32_t>::max()); }
  /// Of a vector with so many columns, or more or none.
  static __mmask16 inside(int64_t count) {
    return count >= lanes ? all : static_cast<__mmask16>((1u << std::max<int64_t>(count, 0)) - 1);
  }
  static V read(const int32_t* from) { return _mm512_loadu_si512(from); }
  /// So many columns, or more or none; others are not read.
  static V read(const int32_t* from, int64_t count, V others) {
    return _mm512_mask_loadu_epi32(others, inside(count), from);
  }
  static V read_some(const int32_t* from, int64_t count) { return _mm512_maskz_loadu_epi32(inside(count), from); }
  static void write(int32_t* to, V v) { _mm512_storeu_si512(to, v); }
#else
  using V = __m256i;

  static V none() { return _mm256_set1_epi32(std::numeric_limits<int32_t>::max()); }
  static V inside(int64_t count) {
    static constexpr int32_t bounds[2 * lanes] = {-1, -1, -1, -1, -1, -1, -1, -1};
    return read(bounds + lanes - std::clamp<int64_t>(count, 0, lanes));
  }
  static V read(const int32_t* from) { return _mm256_loadu_si256(reinterpret_cast<const V*>(from)); }
  static V read(const int32_t* from, int64_t count, V others) {
    const V mask = inside(count);
    return _mm256_blendv_epi8(others, _mm256_maskload_epi32(from, mask), mask);
  }
  static V read_some(const int32_t* from, int64_t count) {
    return count >= lanes ? read(from) : _mm256_maskload_epi32(from, inside(count));
  }
  static void write(int32_t* to, V v) { _mm256_storeu_si256(reinterpret_cast<V*>(to), v); }
#endif

  /// f(number of vectors, a constant) for 1 to `most` columns.
  template <class F>
  static auto with_vectors(int64_t columns, const F& f) {
    return with_vectors((columns + lanes - 1) / lanes, f, Sizes());
  }

  /// `used` vectors of columns.
  template <int used>
  [[gnu::always_inline]] static void load(const int32_t* columns, int64_t count, V* v) {
    for (int i = 0; i < used; ++i) {
      const int64_t here = count - i * lanes;
      v[i] = here >= lanes ? read(columns + i * lanes) : here > 0 ? read(columns + i * lanes, here, none()) : none();
    }
  }

  template <int used>
  [[gnu::always_inline]] static void sort(V* v) {
    sort_all<static_cast<int>(std::bit_ceil(static_cast<unsigned>(used))), used>(v);
  }

 private:
  // ordered(): in lanes of `upper` the larger, else the smaller of both. merged(): sorts lanes that ascend and then
  // descend, or the other way round.
#if defined(__AVX512F__)
  using Sizes = std::integer_sequence<int, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16>;

  static V smaller(V v, V other) { return _mm512_maskz_min_epi32(all, v, other); }
  static V larger(V v, V other) { return _mm512_maskz_max_epi32(all, v, other); }
  static V ordered(V v, V other, __mmask16 upper) {
    return _mm512_mask_max_epi32(_mm512_maskz_min_epi32(all, v, other), upper, v, other);
  }
  static V reversed(V v) {
    return _mm512_maskz_permutexvar_epi32(all, _mm512_set_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15),
                                          v);
  }
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
#else
  using Sizes = std::integer_sequence<int, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32>;

  static V smaller(V v, V other) { return _mm256_min_epi32(v, other); }
  static V larger(V v, V other) { return _mm256_max_epi32(v, other); }
  template <int upper>
  static V ordered(V v, V other) {
    return _mm256_blend_epi32(smaller(v, other), larger(v, other), upper);
  }
  static V reversed(V v) { return _mm256_permutevar8x32_epi32(v, _mm256_set_epi32(0, 1, 2, 3, 4, 5, 6, 7)); }
  static V merged(V v) {
    v = ordered<0xf0>(v, _mm256_permute4x64_epi64(v, 0x4e));
    v = ordered<0xcc>(v, _mm256_shuffle_epi32(v, 0x4e));
    return ordered<0xaa>(v, _mm256_shuffle_epi32(v, 0xb1));
  }
  static V sorted(V v) {
    v = ordered<0xaa>(v, _mm256_shuffle_epi32(v, 0xb1));
    v = ordered<0xcc>(v, _mm256_shuffle_epi32(v, 0x1b));
    v = ordered<0xaa>(v, _mm256_shuffle_epi32(v, 0xb1));
    v = ordered<0xf0>(v, reversed(v));
    v = ordered<0xcc>(v, _mm256_shuffle_epi32(v, 0x4e));
    return ordered<0xaa>(v, _mm256_shuffle_epi32(v, 0xb1));
  }
#endif

  /// The smaller ones to the first half of the vectors. Those from `used` on are not there: they would hold the
  /// greatest number before and afterwards.
  template <int vectors, int used>
  [[gnu::always_inline]] static void halve(V* v) {
    constexpr int half = vectors / 2;
    if constexpr (vectors == 1) {
      v[0] = merged(v[0]);
    } else {
      for (int i = 0; i + half < used; ++i) {
        const V low = smaller(v[i], v[i + half]);
        v[i + half] = larger(v[i], v[i + half]);
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
          v[vectors - 1 - i] = reversed(larger(v[i], other));
          v[i] = smaller(v[i], other);
        }
        halve<half, half>(v);
        halve<half, used - half>(v + half);
      }
    }
  }

  template <class F, int... sizes>
  static auto with_vectors(int64_t wanted, const F& f, std::integer_sequence<int, sizes...>) {
    using Call = decltype(f(std::integral_constant<int, 1>())) (*)(const F&);
    static constexpr auto by_size = [] {
      std::array<Call, std::max({sizes...})> calls{};
      int next = 0;
      const auto fill = [&](auto size) {
        while (next < size) calls[static_cast<size_t>(next++)] = [](const F& g) { return g(decltype(size)()); };
      };
      (fill(std::integral_constant<int, sizes>()), ...);
      return calls;
    }();
    return by_size[static_cast<size_t>(wanted - 1)](f);
  }
#endif
};

}  // namespace kkc::spgemm
