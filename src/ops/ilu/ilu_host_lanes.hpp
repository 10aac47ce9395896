// Registers of 4 and 8 numbers for rows of incomplete factors, where the machine has them (AVX-512).
#pragma once

#include <cstdint>

#if defined(__AVX512F__) && defined(__AVX512VL__)
#include <immintrin.h>
#endif

namespace kkc::ilu::host {

/// `count` numbers in a register, or none.
template <class E, int count>
struct Lanes {
  static constexpr bool registers = false;
};

#if defined(__AVX512F__) && defined(__AVX512VL__)
// The masked forms: the others warn in GCC 12.
template <>
struct Lanes<double, 8> {
  static constexpr bool registers = true;
  using V = __m512d;
  static V zero() { return _mm512_setzero_pd(); }
  static V all(double a) { return _mm512_set1_pd(a); }
  static V load(const double* p) { return _mm512_load_pd(p); }
  static V load(__mmask8 m, const double* p) { return _mm512_maskz_loadu_pd(m, p); }
  static V load(V v, __mmask8 m, const double* p) { return _mm512_mask_loadu_pd(v, m, p); }
  static void store(double* p, V v) { _mm512_store_pd(p, v); }
  static void store(__mmask8 m, double* p, V v) { _mm512_mask_storeu_pd(p, m, v); }
  static V minus_product(V c, V a, V b) { return _mm512_fnmadd_pd(a, b, c); }
  static V minus_product(V c, V a, V b, __mmask8 m) { return _mm512_mask3_fnmadd_pd(a, b, c, m); }
  static V plus_product(V c, V a, V b) { return _mm512_fmadd_pd(a, b, c); }
  static V plus_product(V c, V a, V b, __mmask8 m) { return _mm512_mask3_fmadd_pd(a, b, c, m); }
  static V minus(V a, V b) { return _mm512_sub_pd(a, b); }
  static V plus(V a, V b) { return _mm512_add_pd(a, b); }
  static V times(V a, V b) { return _mm512_mul_pd(a, b); }
  static V chosen(__mmask8 m, V a, V b) { return _mm512_mask_blend_pd(m, b, a); }
  static V lane(V v, int32_t i) { return _mm512_maskz_permutexvar_pd(0xff, _mm512_set1_epi64(i), v); }
  static double first(V v) { return v[0]; }
  static double sum(V v) {
    const __m256d half = __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
    const __m128d quarter = __builtin_shufflevector(half, half, 0, 1) + __builtin_shufflevector(half, half, 2, 3);
    return quarter[0] + quarter[1];
  }
};
template <>
struct Lanes<double, 4> {
  static constexpr bool registers = true;
  using V = __m256d;
  static V zero() { return _mm256_setzero_pd(); }
  static V all(double a) { return _mm256_set1_pd(a); }
  static V load(__mmask8 m, const double* p) { return _mm256_maskz_loadu_pd(m, p); }
  static void store(double* p, V v) { _mm256_store_pd(p, v); }
  static void store(__mmask8 m, double* p, V v) { _mm256_mask_storeu_pd(p, m, v); }
  static V minus_product(V c, V a, V b) { return _mm256_fnmadd_pd(a, b, c); }
  static V minus_product(V c, V a, V b, __mmask8 m) { return _mm256_mask3_fnmadd_pd(a, b, c, m); }
  static V plus_product(V c, V a, V b) { return _mm256_fmadd_pd(a, b, c); }
  static V plus(V a, V b) { return _mm256_add_pd(a, b); }
  static V times(V a, V b) { return _mm256_mul_pd(a, b); }
  static V chosen(__mmask8 m, V a, V b) { return _mm256_mask_blend_pd(m, b, a); }
  static V lane(V v, int32_t i) { return _mm256_maskz_permutexvar_pd(0xff, _mm256_set1_epi64x(i), v); }
  static double first(V v) { return v[0]; }
  static double sum(V v) { return (v[0] + v[1]) + (v[2] + v[3]); }
};
template <>
struct Lanes<float, 8> {
  static constexpr bool registers = true;
  using V = __m256;
  static V zero() { return _mm256_setzero_ps(); }
  static V all(float a) { return _mm256_set1_ps(a); }
  static V load(const float* p) { return _mm256_load_ps(p); }
  static V load(__mmask8 m, const float* p) { return _mm256_maskz_loadu_ps(m, p); }
  static V load(V v, __mmask8 m, const float* p) { return _mm256_mask_loadu_ps(v, m, p); }
  static void store(float* p, V v) { _mm256_store_ps(p, v); }
  static void store(__mmask8 m, float* p, V v) { _mm256_mask_storeu_ps(p, m, v); }
  static V minus_product(V c, V a, V b) { return _mm256_fnmadd_ps(a, b, c); }
  static V minus_product(V c, V a, V b, __mmask8 m) { return _mm256_mask3_fnmadd_ps(a, b, c, m); }
  static V plus_product(V c, V a, V b) { return _mm256_fmadd_ps(a, b, c); }
  static V plus_product(V c, V a, V b, __mmask8 m) { return _mm256_mask3_fmadd_ps(a, b, c, m); }
  static V minus(V a, V b) { return _mm256_sub_ps(a, b); }
  static V plus(V a, V b) { return _mm256_add_ps(a, b); }
  static V times(V a, V b) { return _mm256_mul_ps(a, b); }
  static V chosen(__mmask8 m, V a, V b) { return _mm256_mask_blend_ps(m, b, a); }
  static V lane(V v, int32_t i) { return _mm256_permutevar8x32_ps(v, _mm256_set1_epi32(i)); }
  static float first(V v) { return v[0]; }
  static float sum(V v) {
    const __m128 half = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    const __m128 quarter = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(quarter, _mm_movehdup_ps(quarter)));
  }
};
template <>
struct Lanes<float, 4> {
  static constexpr bool registers = true;
  using V = __m128;
  static V zero() { return _mm_setzero_ps(); }
  static V all(float a) { return _mm_set1_ps(a); }
  static V load(__mmask8 m, const float* p) { return _mm_maskz_loadu_ps(m, p); }
  static void store(float* p, V v) { _mm_store_ps(p, v); }
  static void store(__mmask8 m, float* p, V v) { _mm_mask_storeu_ps(p, m, v); }
  static V minus_product(V c, V a, V b) { return _mm_fnmadd_ps(a, b, c); }
  static V minus_product(V c, V a, V b, __mmask8 m) { return _mm_mask3_fnmadd_ps(a, b, c, m); }
  static V plus_product(V c, V a, V b) { return _mm_fmadd_ps(a, b, c); }
  static V plus(V a, V b) { return _mm_add_ps(a, b); }
  static V times(V a, V b) { return _mm_mul_ps(a, b); }
  static V chosen(__mmask8 m, V a, V b) { return _mm_mask_blend_ps(m, b, a); }
  static V lane(V v, int32_t i) { return _mm_permutevar_ps(v, _mm_set1_epi32(i)); }
  static float first(V v) { return v[0]; }
  static float sum(V v) { return (v[0] + v[1]) + (v[2] + v[3]); }
};
#endif

}  // namespace kkc::ilu::host
