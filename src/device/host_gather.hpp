// Vectors of real numbers as wide as this build's registers, and the gather of one from an array.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "device/host_simd.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace kkc {

template <class R, int N>
struct PackOf {
  typedef R type __attribute__((vector_size(sizeof(R) * N)));
};
/// N numbers; the compiler splits what is wider than a register. Functions take packs by reference: how they are
/// passed by value depends on the CPU level.
template <class R, int N>
using Pack = typename PackOf<R, N>::type;

template <class P, class R>
inline void load(P& pack, const R* from) {
  std::memcpy(&pack, from, sizeof(P));
}
template <class P, class R>
inline void store(const P& pack, R* to) {
  std::memcpy(to, &pack, sizeof(P));
}

template <class R>
inline R sum_of(const Pack<R, 4>& v) {
  return (v[0] + v[1]) + (v[2] + v[3]);
}
template <class R>
inline R sum_of(const Pack<R, 8>& v) {
  return ((v[0] + v[1]) + (v[2] + v[3])) + ((v[4] + v[5]) + (v[6] + v[7]));
}

/// The line at `from`, soon to be read. Addresses past the end of an array do no harm. Inlined at once: g++ otherwise
/// takes the function for one without effects and drops its calls.
[[gnu::always_inline]] inline void prefetch(const void* from) { __builtin_prefetch(from, 0, 3); }

/// An entry that is only asked for, or that a mask may leave out: it need not lie inside of the array, which may be
/// null.
template <class T>
[[gnu::always_inline]] inline const T* entry_of(const T* array, int64_t entry) {
  return reinterpret_cast<const T*>(reinterpret_cast<uintptr_t>(array) + static_cast<uintptr_t>(entry) * sizeof(T));
}

/// Whether this build loads and gathers such numbers by such indices under a mask.
template <class R, class I>
inline constexpr bool has_masks =
#if defined(__AVX512VL__)
    std::is_floating_point_v<R> && (std::is_same_v<I, int32_t> || std::is_same_v<I, int64_t>);
#else
    false;
#endif

/// pack = (x[i[0]], ..., x[i[3]]) by single loads: the best for indices that mostly follow one another.
template <class R, class I>
inline void pick(Pack<R, 4>& pack, const R* x, const I* i) {
  pack = Pack<R, 4>{x[i[0]], x[i[1]], x[i[2]], x[i[3]]};
}

/// pack = (x[i[0]], ..., x[i[7]]) by the processor's gather where it has one: it keeps more cache misses under way.
/// Masked forms: the others make g++ 12 warn of uninitialised lanes.
template <class R, class I>
inline void gather(Pack<R, 8>& pack, const R* x, const I* i) {
#if defined(__AVX512F__)
  if constexpr (sizeof(R) == 8 && sizeof(I) == 4) {
    pack = (Pack<R, 8>)_mm512_mask_i32gather_pd(_mm512_setzero_pd(), 255,
                                                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(i)), x, 8);
    return;
  }
  if constexpr (sizeof(R) == 8 && sizeof(I) == 8) {
    pack = (Pack<R, 8>)_mm512_mask_i64gather_pd(_mm512_setzero_pd(), 255, _mm512_loadu_si512(i), x, 8);
    return;
  }
  if constexpr (sizeof(R) == 4 && sizeof(I) == 8) {
    pack = (Pack<R, 8>)_mm512_mask_i64gather_ps(_mm256_setzero_ps(), 255, _mm512_loadu_si512(i), x, 4);
    return;
  }
#endif
#if defined(__AVX2__)
  if constexpr (sizeof(R) == 4 && sizeof(I) == 4) {
    pack = (Pack<R, 8>)_mm256_mask_i32gather_ps(_mm256_setzero_ps(), x,
                                                _mm256_loadu_si256(reinterpret_cast<const __m256i*>(i)),
                                                _mm256_castsi256_ps(_mm256_set1_epi32(-1)), 4);
    return;
  }
#endif
  pack = Pack<R, 8>{x[i[0]], x[i[1]], x[i[2]], x[i[3]], x[i[4]], x[i[5]], x[i[6]], x[i[7]]};
}

/// The first `count` numbers, at most eight, and zeros behind them, which are not read.
template <class R>
[[gnu::always_inline]] inline void load_some(Pack<R, 8>& pack, const R* from, int64_t count) {
#if defined(__AVX512VL__)
  const auto some = static_cast<__mmask8>((1u << count) - 1);
  if constexpr (sizeof(R) == 8)
    pack = (Pack<R, 8>)_mm512_maskz_loadu_pd(some, from);
  else
    pack = (Pack<R, 8>)_mm256_maskz_loadu_ps(some, from);
#else
  for (int lane = 0; lane < 8; ++lane) pack[lane] = lane < count ? from[lane] : R{};
#endif
}

/// The same of x[i[0]], x[i[1]], ...
template <class R, class I>
[[gnu::always_inline]] inline void gather_some(Pack<R, 8>& pack, const R* x, const I* i, int64_t count) {
#if defined(__AVX512VL__)
  const auto some = static_cast<__mmask8>((1u << count) - 1);
  if constexpr (sizeof(R) == 8 && sizeof(I) == 4)
    pack = (Pack<R, 8>)_mm512_mask_i32gather_pd(_mm512_setzero_pd(), some, _mm256_maskz_loadu_epi32(some, i), x, 8);
  else if constexpr (sizeof(R) == 8)
    pack = (Pack<R, 8>)_mm512_mask_i64gather_pd(_mm512_setzero_pd(), some, _mm512_maskz_loadu_epi64(some, i), x, 8);
  else if constexpr (sizeof(I) == 4)
    pack = (Pack<R, 8>)_mm256_mmask_i32gather_ps(_mm256_setzero_ps(), some, _mm256_maskz_loadu_epi32(some, i), x, 4);
  else
    pack = (Pack<R, 8>)_mm512_mask_i64gather_ps(_mm256_setzero_ps(), some, _mm512_maskz_loadu_epi64(some, i), x, 4);
#else
  for (int lane = 0; lane < 8; ++lane) pack[lane] = lane < count ? x[i[lane]] : R{};
#endif
}

}  // namespace kkc
