// Merging two strictly ascending rows into bits. Short windows of both are compared all with all: the rank of an entry
// of one side among the other's is a comparison of vectors, and its place in the merged row follows without a branch.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "spadd_host_bits.hpp"
#include "spadd_merge_path.hpp"

#if defined(__AVX512F__) && defined(__BMI2__)
#include <immintrin.h>
#endif

namespace kkc::spadd::host {

/// Merges na + nb <= 64 entries; b's columns count `shift` less than a's.
template <class I>
void merge_window(const I* a, int na, const I* b, int nb, I shift, BitSink& sink) {
  uint64_t bits_a = 0, bits_b = 0;
  int n = 0, i = 0, j = 0;
  while (i < na && j < nb) {
    const I x = a[i], y = static_cast<I>(b[j] + shift);
    const bool take_a = x <= y, take_b = y <= x;
    bits_a |= static_cast<uint64_t>(take_a) << n;
    bits_b |= static_cast<uint64_t>(take_b) << n;
    i += take_a;
    j += take_b;
    ++n;
  }
  if (const int rest = na - i; rest > 0) {
    bits_a |= low_bits(rest) << n;
    n += rest;
  } else if (const int rest_b = nb - j; rest_b > 0) {
    bits_b |= low_bits(rest_b) << n;
    n += rest_b;
  }
  sink.append(bits_a, bits_b, n);
}

#if defined(__AVX512F__) && defined(__BMI2__)

/// Appends n entries in order, those of `bits_s` from side s; second: B's entry of two with one column.
template <bool s_first>
inline void append_merged(uint64_t bits_s, uint64_t second, int n, BitSink& sink) {
  const uint64_t all = low_bits(n), bits_t = all & ~bits_s;
  uint64_t bits_a = s_first ? bits_s : bits_t, bits_b = s_first ? bits_t : bits_s;
  if (second != 0) {
    bits_a = _pext_u64(bits_a, all & ~second);
    bits_b = _pext_u64(bits_b | second >> 1, all & ~second);
    n -= __builtin_popcountll(second);
  }
  sink.append(bits_a, bits_b, n);
}

/// The same as merge_window for 1 <= ns <= 32 entries of the shorter side s and nt <= 16 vectors of the longer side t.
/// s_first: s is A, which comes first of equals.
template <int vectors, bool s_first>
inline void merge_all_with_all(const int32_t* s, int ns, const int32_t* t, int nt, int32_t shift_s, int32_t shift_t,
                               BitSink& sink) {
  __m512i wide[vectors];
  const __m512i none = _mm512_set1_epi32(INT32_MAX), shift = _mm512_set1_epi32(shift_t);
  for (int v = 0; v < vectors; ++v) {
    const auto mask = static_cast<__mmask16>(low_bits(std::min(16, nt - 16 * v)));
    const __m512i loaded = _mm512_mask_loadu_epi32(none, mask, t + 16 * v);
    wide[v] = _mm512_mask_add_epi32(none, mask, loaded, shift);
  }
  uint64_t bits_s = 0, second = 0;  // second: B's entry of two with one column
  for (int i = 0; i < ns; ++i) {
    const int32_t column = s[i] + shift_s;
    const __m512i all = _mm512_set1_epi32(column);
    uint64_t before = 0;
    for (int v = 0; v < vectors; ++v) {
      const uint64_t mask = s_first ? _mm512_cmplt_epi32_mask(wide[v], all) : _mm512_cmple_epi32_mask(wide[v], all);
      before |= mask << (16 * v);
    }
    const uint64_t bit = (before + 1) << i;
    const int rank = __builtin_popcountll(before);
    const int next = s_first ? std::min(rank, nt - 1) : std::max(rank - 1, 0);
    const auto equal = static_cast<uint64_t>(t[next] + shift_t == column);
    bits_s |= bit;
    second |= s_first ? (bit << 1) & (0 - equal) : bit & (0 - equal);
  }
  append_merged<s_first>(bits_s, second, ns + nt, sink);
}

inline uint64_t or_of_lanes(__m512i v) {
  const __m256i half =
      _mm256_or_si256(_mm512_maskz_extracti64x4_epi64(0xff, v, 0), _mm512_maskz_extracti64x4_epi64(0xff, v, 1));
  const __m128i quarter = _mm_or_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  return static_cast<uint64_t>(_mm_cvtsi128_si64(quarter) | _mm_extract_epi64(quarter, 1));
}

/// The same, counting in each lane of t which entries of s come before: no mask leaves the vector unit in the loop.
template <int vectors, bool s_first>
inline void merge_by_counts(const int32_t* s, int ns, const int32_t* t, int nt, int32_t shift_s, int32_t shift_t,
                            BitSink& sink) {
  const __m512i one = _mm512_set1_epi32(1),
                lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  __m512i wide[vectors], before[vectors];
  __mmask16 inside[vectors];
  for (int v = 0; v < vectors; ++v) {
    inside[v] = static_cast<__mmask16>(low_bits(std::min(16, nt - 16 * v)));
    wide[v] = _mm512_add_epi32(_mm512_maskz_loadu_epi32(inside[v], t + 16 * v), _mm512_set1_epi32(shift_t));
    before[v] = _mm512_setzero_si512();
  }
  for (int i = 0; i < ns; ++i) {
    const __m512i all = _mm512_set1_epi32(s[i] + shift_s);
    for (int v = 0; v < vectors; ++v) {
      const __mmask16 mask = s_first ? _mm512_cmple_epi32_mask(all, wide[v]) : _mm512_cmplt_epi32_mask(all, wide[v]);
      before[v] = _mm512_mask_add_epi32(before[v], mask, before[v], one);
    }
  }
  const auto of_s = [&](int from) {
    const auto mask = static_cast<__mmask16>(low_bits(std::clamp(ns - from, 0, 16)));
    return _mm512_add_epi32(_mm512_maskz_loadu_epi32(mask, s + from), _mm512_set1_epi32(shift_s));
  };
  const __m512i s_low = of_s(0), s_high = of_s(16), bit = _mm512_set1_epi64(1);
  __m512i bits = _mm512_setzero_si512(), seconds = bits;
  for (int v = 0; v < vectors; ++v) {
    // The entry of s that would stand beside it, if it has the same column.
    const __m512i beside = s_first ? _mm512_sub_epi32(before[v], one) : before[v];
    const __mmask16 is = _mm512_mask_cmplt_epu32_mask(inside[v], beside, _mm512_set1_epi32(ns));
    const __mmask16 equal = _mm512_mask_cmpeq_epi32_mask(is, _mm512_permutex2var_epi32(s_low, beside, s_high), wide[v]);
    const __m512i place = _mm512_add_epi32(_mm512_add_epi32(before[v], lane), _mm512_set1_epi32(16 * v));
    const auto add = [&](__m256i half, int shift) {
      const __m512i at = _mm512_maskz_sllv_epi64(0xff, bit, _mm512_maskz_cvtepu32_epi64(0xff, half));
      bits = _mm512_mask_or_epi64(bits, static_cast<__mmask8>(inside[v] >> shift), bits, at);
      seconds = _mm512_mask_or_epi64(seconds, static_cast<__mmask8>(equal >> shift), seconds, at);
    };
    add(_mm512_maskz_extracti64x4_epi64(0xff, place, 0), 0);
    add(_mm512_maskz_extracti64x4_epi64(0xff, place, 1), 8);
  }
  const uint64_t bits_t = or_of_lanes(bits), second = or_of_lanes(seconds);
  append_merged<s_first>(low_bits(ns + nt) & ~bits_t, s_first ? second : second << 1, ns + nt, sink);
}

/// From so many entries of the shorter side on counting is faster.
inline constexpr int counted_entries = 6;

template <int vectors, bool s_first>
inline void merge_vectors(const int32_t* s, int ns, const int32_t* t, int nt, int32_t shift_s, int32_t shift_t,
                          BitSink& sink) {
  if (ns < counted_entries)
    merge_all_with_all<vectors, s_first>(s, ns, t, nt, shift_s, shift_t, sink);
  else
    merge_by_counts<vectors, s_first>(s, ns, t, nt, shift_s, shift_t, sink);
}

template <bool s_first>
inline void merge_short(const int32_t* s, int ns, const int32_t* t, int nt, int32_t shift_s, int32_t shift_t,
                        BitSink& sink) {
  switch ((nt - 1) / 16) {
    case 0: return merge_vectors<1, s_first>(s, ns, t, nt, shift_s, shift_t, sink);
    case 1: return merge_vectors<2, s_first>(s, ns, t, nt, shift_s, shift_t, sink);
    case 2: return merge_vectors<3, s_first>(s, ns, t, nt, shift_s, shift_t, sink);
    default: return merge_vectors<4, s_first>(s, ns, t, nt, shift_s, shift_t, sink);
  }
}

template <>
inline void merge_window(const int32_t* a, int na, const int32_t* b, int nb, int32_t shift, BitSink& sink) {
  if (na <= nb)
    merge_short<true>(a, na, b, nb, 0, shift, sink);
  else
    merge_short<false>(b, nb, a, na, shift, 0, sink);
}

#endif

/// Merges the rest of a row.
template <class I>
void merge_row(const I* a, int64_t na, const I* b, int64_t nb, I shift, BitSink& sink) {
  while (na > 0 && nb > 0) {
    int64_t x = na, y = nb;
    if (na + nb > 64) {
      constexpr int64_t window = 63;  // leaves room for the second of two equal entries
      x = taken_from_a(
          window, na, nb, [&](int64_t i) { return a[i]; }, [&](int64_t i) { return static_cast<I>(b[i] + shift); });
      y = window - x;
      if (x > 0 && y < nb && a[x - 1] == static_cast<I>(b[y] + shift)) ++y;
    }
    if (x == 0 || y == 0)
      sink.append_run(y == 0, x == 0, x + y);
    else
      merge_window(a, static_cast<int>(x), b, static_cast<int>(y), shift, sink);
    a += x;
    na -= x;
    b += y;
    nb -= y;
  }
  sink.append_run(true, false, na);
  sink.append_run(false, true, nb);
}

/// Whether columns[0..n) ascend strictly.
template <class I>
bool ascends(const I* columns, int64_t n) {
  bool down = false;
  int64_t k = 1;
#if defined(__AVX512F__) && defined(__BMI2__)
  if constexpr (std::is_same_v<I, int32_t>) {
    unsigned any = 0;
    for (; k < n; k += 16) {
      const auto mask = static_cast<__mmask16>(low_bits(static_cast<int>(std::min<int64_t>(16, n - k))));
      any |= _mm512_mask_cmple_epi32_mask(mask, _mm512_maskz_loadu_epi32(mask, columns + k),
                                          _mm512_maskz_loadu_epi32(mask, columns + k - 1));
    }
    down = any != 0;
  }
#endif
  for (; k < n; ++k) down |= columns[k] <= columns[k - 1];
  return !down;
}

}  // namespace kkc::spadd::host
