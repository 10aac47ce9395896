// Steps of a class of rows (spgemm_host_classes.hpp) in AVX-512 registers: each vector of C's row is summed up in a
// register, a masked load spreads consecutive entries of a row of B to their lanes. Several rows at once share the
// steps' decoding. The products of an entry are added in the order of the left row, as everywhere.
#pragma once

#include <cstdint>

#include "core/types.hpp"
#include "ops/spgemm/spgemm_host_classes.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace kkc::spgemm {

/// Elements of a vector for which this build's numeric phase wants steps, or 0.
constexpr int step_lanes([[maybe_unused]] Scalar scalar) {
#if defined(__AVX512F__)
  if (scalar == Scalar::f64) return 8;
  if (scalar == Scalar::f32) return 16;
#endif
  return 0;
}

template <class E>
struct StepVector {
  static constexpr int lanes = 0;
};

#if defined(__AVX512F__)
template <>
struct StepVector<double> {
  static constexpr int lanes = 8;
  __m512d v;
  static StepVector zero() { return {_mm512_setzero_pd()}; }
  static StepVector load(const double* from, unsigned mask) {
    return {_mm512_maskz_loadu_pd(static_cast<__mmask8>(mask), from)};
  }
  StepVector plus(const StepVector& other) const { return {_mm512_add_pd(v, other.v)}; }
  StepVector times(double factor) const { return {_mm512_mul_pd(_mm512_set1_pd(factor), v)}; }
  void add(double a, const double* b, unsigned mask) {
    const auto m = static_cast<__mmask8>(mask);
    v = _mm512_mask3_fmadd_pd(_mm512_set1_pd(a), _mm512_maskz_expandloadu_pd(m, b), v, m);
  }
  /// The same addend in the lanes of `mask`.
  void add(double addend, unsigned mask) {
    v = _mm512_mask_add_pd(v, static_cast<__mmask8>(mask), v, _mm512_set1_pd(addend));
  }
  void store(double* to) const { _mm512_storeu_pd(to, v); }
  void store(double* to, unsigned mask) const { _mm512_mask_storeu_pd(to, static_cast<__mmask8>(mask), v); }
};

template <>
struct StepVector<float> {
  static constexpr int lanes = 16;
  __m512 v;
  static StepVector zero() { return {_mm512_setzero_ps()}; }
  static StepVector load(const float* from, unsigned mask) {
    return {_mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), from)};
  }
  StepVector plus(const StepVector& other) const { return {_mm512_add_ps(v, other.v)}; }
  StepVector times(float factor) const { return {_mm512_mul_ps(_mm512_set1_ps(factor), v)}; }
  void add(float a, const float* b, unsigned mask) {
    const auto m = static_cast<__mmask16>(mask);
    v = _mm512_mask3_fmadd_ps(_mm512_set1_ps(a), _mm512_maskz_expandloadu_ps(m, b), v, m);
  }
  /// The same addend in the lanes of `mask`.
  void add(float addend, unsigned mask) {
    v = _mm512_mask_add_ps(v, static_cast<__mmask16>(mask), v, _mm512_set1_ps(addend));
  }
  void store(float* to) const { _mm512_storeu_ps(to, v); }
  void store(float* to, unsigned mask) const { _mm512_mask_storeu_ps(to, static_cast<__mmask16>(mask), v); }
};
#endif

/// An entry of a left row: its factor, and the row of B that it multiplies.
template <class E>
struct StepFactor {
  const E* b;
  E a;
};

/// `rows` rows of a class that has steps: row r goes to c + r * columns, its factors are factors[k * rows + r]. beta is
/// multiplied with the old values, which lie in the same order.
template <int rows, class E>
void make_stepped(const RowClasses& classes, const RowClasses::Class& of, const StepFactor<E>* factors, E beta,
                  const E* old, E* c) {
  using V = StepVector<E>;
  const RowClasses::Step* step = classes.steps.data() + of.steps_at;
  const uint16_t* count = classes.step_counts.data() + of.counts_at;
  for (int64_t first = 0; first < of.columns; first += V::lanes) {
    const int64_t left = of.columns - first;
    const unsigned inside = left < V::lanes ? (1u << left) - 1 : (1u << V::lanes) - 1;
    V sums[rows];
    for (int r = 0; r < rows; ++r)
      sums[r] = beta == E{} ? V::zero() : V::load(old + r * of.columns + first, inside).times(beta);
    for (const RowClasses::Step* const end = step + *count++; step < end; ++step)
      for (int r = 0; r < rows; ++r) {
        const StepFactor<E>& with = factors[step->left * rows + r];
        sums[r].add(with.a, with.b + step->first, step->lanes);
      }
    for (int r = 0; r < rows; ++r) {
      if (left < V::lanes)
        sums[r].store(c + r * of.columns + first, inside);
      else
        sums[r].store(c + r * of.columns + first);
    }
  }
}

}  // namespace kkc::spgemm
