// Steps of a class of rows (spgemm_host_classes.hpp) in vector registers: each vector of C's row is summed up in a
// register, consecutive entries of a row of B are loaded and spread to their lanes, zero to the others. Several rows at
// once share the steps' decoding. The products of an entry are added in the order of the left row, as everywhere.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

#include "core/types.hpp"
#include "ops/spgemm/spgemm_host_classes.hpp"

#if defined(__AVX512F__) || (defined(__AVX2__) && defined(__FMA__))
#include <immintrin.h>
#endif

namespace kkc::spgemm {

/// Elements of this build's vectors, or none; `expands`: whether entries can be spread to any of their lanes;
/// `read_before`: entries before a step's that Spread may read.
template <class E>
struct StepVector {
  static constexpr int lanes = 0;
  static constexpr bool expands = false;
};

/// The first `count` lanes of a vector, or all.
template <class V>
constexpr unsigned first_lanes(int64_t count) {
  return count < V::lanes ? (1u << count) - 1 : (1u << V::lanes) - 1;
}

#if defined(__AVX512F__)
/// Of eight lanes' bits: which of consecutive entries a lane takes. 12, the zero after four or eight entries, where
/// none.
alignas(64) inline constexpr auto taken_by_lanes = [] {
  std::array<std::array<uint8_t, 8>, 256> taken{};
  for (size_t mask = 0; mask < 256; ++mask) {
    uint8_t next = 0;
    for (size_t lane = 0; lane < 8; ++lane) taken[mask][lane] = (mask >> lane & 1) != 0 ? next++ : 12;
  }
  return taken;
}();
inline __m128i taken_by(unsigned lanes) {
  return _mm_loadl_epi64(reinterpret_cast<const __m128i*>(taken_by_lanes[lanes].data()));
}

template <>
struct StepVector<double> {
  static constexpr int lanes = 8, read_before = 0;
  static constexpr bool expands = true;
  __m512d v;
  static StepVector zero() { return {_mm512_setzero_pd()}; }
  static StepVector load(const double* from) { return {_mm512_loadu_pd(from)}; }
  static StepVector load(const double* from, unsigned mask) {
    return {_mm512_maskz_loadu_pd(static_cast<__mmask8>(mask), from)};
  }
  StepVector plus(const StepVector& other) const { return {_mm512_add_pd(v, other.v)}; }
  StepVector times(double factor) const { return {_mm512_mul_pd(_mm512_set1_pd(factor), v)}; }
  void add(double a, const double* b, unsigned mask) {
    const auto m = static_cast<__mmask8>(mask);
    v = _mm512_mask3_fmadd_pd(_mm512_set1_pd(a), _mm512_maskz_expandloadu_pd(m, b), v, m);
  }
  /// The same; reads as many entries of b as a vector has.
  void add_spread(double a, const double* b, unsigned mask) {
    const __m512i taken = _mm512_maskz_cvtepu8_epi64(0xff, taken_by(mask));
    v = _mm512_mask3_fmadd_pd(_mm512_set1_pd(a), _mm512_maskz_permutexvar_pd(0xff, taken, _mm512_loadu_pd(b)), v,
                              static_cast<__mmask8>(mask));
  }
  /// As many consecutive entries as a vector has.
  struct Window {
    __m512d entries;
    explicit Window(const double* from) : entries(_mm512_loadu_pd(from)) {}
  };
  /// In each lane of `mask` a times the entry whose number `taken` has for it.
  void add(double a, const Window& b, const std::array<uint8_t, 8>& taken, unsigned mask) {
    const __m512i at =
        _mm512_maskz_cvtepu8_epi64(0xff, _mm_loadl_epi64(reinterpret_cast<const __m128i*>(taken.data())));
    v = _mm512_mask3_fmadd_pd(_mm512_set1_pd(a), _mm512_maskz_permutexvar_pd(0xff, at, b.entries), v,
                              static_cast<__mmask8>(mask));
  }
  /// Consecutive entries in the lanes of a step, zeros in the others; reads as many as a vector has, or half as many.
  /// (Masked operations, and expanding ones above all, are slow on Zen 4.)
  struct Spread {
    __m512i taken;
    explicit Spread(unsigned mask) : taken(_mm512_maskz_cvtepu8_epi64(0xff, taken_by(mask))) {}
    template <bool half>
    StepVector load(const double* from) const {
      if constexpr (half)
        return {_mm512_maskz_permutexvar_pd(
            0xff, taken, _mm512_maskz_insertf64x4(0xff, _mm512_setzero_pd(), _mm256_loadu_pd(from), 0))};
      else
        return {_mm512_permutex2var_pd(_mm512_loadu_pd(from), taken, _mm512_setzero_pd())};
    }
  };
  bool is_zero() const { return _mm512_cmp_pd_mask(v, _mm512_setzero_pd(), _CMP_NEQ_UQ) == 0; }
  void add(double a, const StepVector& b) { v = _mm512_fmadd_pd(_mm512_set1_pd(a), b.v, v); }
  /// The same bits without a look at other entries, and for a factor that is not finite.
  void add_careful(double a, const double* b, unsigned mask) {
    const auto m = static_cast<__mmask8>(mask);
    const __m512d factors = _mm512_mask_mov_pd(_mm512_set1_pd(std::copysign(1.0, a)), m, _mm512_set1_pd(a));
    v = _mm512_fmadd_pd(factors, _mm512_maskz_expandloadu_pd(m, b), v);
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
  static constexpr int lanes = 16, read_before = 0;
  static constexpr bool expands = true;
  __m512 v;
  static StepVector zero() { return {_mm512_setzero_ps()}; }
  static StepVector load(const float* from) { return {_mm512_loadu_ps(from)}; }
  static StepVector load(const float* from, unsigned mask) {
    return {_mm512_maskz_loadu_ps(static_cast<__mmask16>(mask), from)};
  }
  StepVector plus(const StepVector& other) const { return {_mm512_add_ps(v, other.v)}; }
  StepVector times(float factor) const { return {_mm512_mul_ps(_mm512_set1_ps(factor), v)}; }
  void add(float a, const float* b, unsigned mask) {
    const auto m = static_cast<__mmask16>(mask);
    v = _mm512_mask3_fmadd_ps(_mm512_set1_ps(a), _mm512_maskz_expandloadu_ps(m, b), v, m);
  }
  struct Window {
    __m512 entries;
    explicit Window(const float* from) : entries(_mm512_loadu_ps(from)) {}
  };
  void add(float a, const Window& b, const std::array<uint8_t, 8>& taken, unsigned mask) {
    const __m512i at =
        _mm512_maskz_cvtepu8_epi32(0xffff, _mm_loadl_epi64(reinterpret_cast<const __m128i*>(taken.data())));
    v = _mm512_mask3_fmadd_ps(_mm512_set1_ps(a), _mm512_maskz_permutexvar_ps(0xffff, at, b.entries), v,
                              static_cast<__mmask16>(mask));
  }
  struct Spread {
    __m512i taken;
    __mmask16 lanes;
    explicit Spread(unsigned mask) : lanes(static_cast<__mmask16>(mask)) {
      const unsigned low = mask & 0xff;
      const __m128i high = _mm_add_epi8(taken_by(mask >> 8), _mm_set1_epi8(static_cast<char>(std::popcount(low))));
      taken = _mm512_maskz_cvtepu8_epi32(0xffff, _mm_unpacklo_epi64(taken_by(low), high));
    }
    template <bool half>
    StepVector load(const float* from) const {
      const __m512 entries = half ? _mm512_castps256_ps512(_mm256_loadu_ps(from)) : _mm512_loadu_ps(from);
      return {_mm512_maskz_permutexvar_ps(lanes, taken, entries)};
    }
  };
  void add_spread(float a, const float* b, unsigned mask) {
    v = _mm512_mask3_fmadd_ps(_mm512_set1_ps(a), Spread(mask).template load<false>(b).v, v,
                              static_cast<__mmask16>(mask));
  }
  bool is_zero() const { return _mm512_cmp_ps_mask(v, _mm512_setzero_ps(), _CMP_NEQ_UQ) == 0; }
  void add(float a, const StepVector& b) { v = _mm512_fmadd_ps(_mm512_set1_ps(a), b.v, v); }
  void add_careful(float a, const float* b, unsigned mask) {
    const auto m = static_cast<__mmask16>(mask);
    const __m512 factors = _mm512_mask_mov_ps(_mm512_set1_ps(std::copysign(1.0f, a)), m, _mm512_set1_ps(a));
    v = _mm512_fmadd_ps(factors, _mm512_maskz_expandloadu_ps(m, b), v);
  }
  /// The same addend in the lanes of `mask`.
  void add(float addend, unsigned mask) {
    v = _mm512_mask_add_ps(v, static_cast<__mmask16>(mask), v, _mm512_set1_ps(addend));
  }
  void store(float* to) const { _mm512_storeu_ps(to, v); }
  void store(float* to, unsigned mask) const { _mm512_mask_storeu_ps(to, static_cast<__mmask16>(mask), v); }
};
#elif defined(__AVX2__) && defined(__FMA__)
template <>
struct StepVector<double> {
  static constexpr int lanes = 4, read_before = 3;
  static constexpr bool expands = false;
  __m256d v;
  static __m256i inside(unsigned mask) {
    const __m256i bits = _mm256_set_epi64x(8, 4, 2, 1);
    return _mm256_cmpeq_epi64(_mm256_and_si256(_mm256_set1_epi64x(mask), bits), bits);
  }
  static StepVector zero() { return {_mm256_setzero_pd()}; }
  static StepVector load(const double* from) { return {_mm256_loadu_pd(from)}; }
  static StepVector load(const double* from, unsigned mask) { return {_mm256_maskload_pd(from, inside(mask))}; }
  StepVector times(double factor) const { return {_mm256_mul_pd(_mm256_set1_pd(factor), v)}; }
  /// Consecutive entries in the lanes of a step, which follow each other, zeros in the others.
  struct Spread {
    __m256i lanes;
    int first;
    explicit Spread(unsigned mask) : lanes(inside(mask)), first(std::countr_zero(mask)) {}
    template <bool half>
    StepVector load(const double* from) const {
      return {_mm256_and_pd(_mm256_castsi256_pd(lanes), _mm256_loadu_pd(from - first))};
    }
  };
  bool is_zero() const { return _mm256_movemask_pd(_mm256_cmp_pd(v, _mm256_setzero_pd(), _CMP_NEQ_UQ)) == 0; }
  void add(double a, const StepVector& b) { v = _mm256_fmadd_pd(_mm256_set1_pd(a), b.v, v); }
  /// The same bits for a factor that is not finite.
  void add_careful(double a, const double* b, unsigned mask) {
    const __m256d factors =
        _mm256_blendv_pd(_mm256_set1_pd(std::copysign(1.0, a)), _mm256_set1_pd(a), _mm256_castsi256_pd(inside(mask)));
    v = _mm256_fmadd_pd(factors, _mm256_maskload_pd(b - std::countr_zero(mask), inside(mask)), v);
  }
  void store(double* to) const { _mm256_storeu_pd(to, v); }
  /// The first lanes. (Masked stores are slow on Zen.)
  void store(double* to, unsigned mask) const {
    if (mask == 0xf) return store(to);
    const __m128d low = _mm256_castpd256_pd128(v);
    if (mask == 1) return _mm_store_sd(to, low);
    _mm_storeu_pd(to, low);
    if (mask > 3) _mm_store_sd(to + 2, _mm256_extractf128_pd(v, 1));
  }
};

template <>
struct StepVector<float> {
  static constexpr int lanes = 8, read_before = 7;
  static constexpr bool expands = false;
  __m256 v;
  static __m256i inside(unsigned mask) {
    const __m256i bits = _mm256_set_epi32(128, 64, 32, 16, 8, 4, 2, 1);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32(static_cast<int>(mask)), bits), bits);
  }
  static StepVector zero() { return {_mm256_setzero_ps()}; }
  static StepVector load(const float* from) { return {_mm256_loadu_ps(from)}; }
  static StepVector load(const float* from, unsigned mask) { return {_mm256_maskload_ps(from, inside(mask))}; }
  StepVector times(float factor) const { return {_mm256_mul_ps(_mm256_set1_ps(factor), v)}; }
  struct Spread {
    __m256i lanes;
    int first;
    explicit Spread(unsigned mask) : lanes(inside(mask)), first(std::countr_zero(mask)) {}
    template <bool half>
    StepVector load(const float* from) const {
      return {_mm256_and_ps(_mm256_castsi256_ps(lanes), _mm256_loadu_ps(from - first))};
    }
  };
  bool is_zero() const { return _mm256_movemask_ps(_mm256_cmp_ps(v, _mm256_setzero_ps(), _CMP_NEQ_UQ)) == 0; }
  void add(float a, const StepVector& b) { v = _mm256_fmadd_ps(_mm256_set1_ps(a), b.v, v); }
  void add_careful(float a, const float* b, unsigned mask) {
    const __m256 factors =
        _mm256_blendv_ps(_mm256_set1_ps(std::copysign(1.0f, a)), _mm256_set1_ps(a), _mm256_castsi256_ps(inside(mask)));
    v = _mm256_fmadd_ps(factors, _mm256_maskload_ps(b - std::countr_zero(mask), inside(mask)), v);
  }
  void store(float* to) const { _mm256_storeu_ps(to, v); }
  void store(float* to, unsigned mask) const {
    float all[lanes];
    store(all);
    std::copy_n(all, std::popcount(mask), to);
  }
};
#endif

/// Whether the processor fuses a multiplication and an addition.
template <class E>
inline constexpr bool fuses = false;
#if defined(__FP_FAST_FMA)
template <>
inline constexpr bool fuses<double> = true;
#endif
#if defined(__FP_FAST_FMAF)
template <>
inline constexpr bool fuses<float> = true;
#endif

/// a b + c as vectors add it, so that bits do not tell how a product's place is found. Said in full: where c is a
/// product, too, compilers may fuse that one instead.
template <class E>
E added(E a, E b, E c) {
  if constexpr (fuses<E>)
    return std::fma(a, b, c);
  else
    return plus(c, times(a, b));
}

/// What steps this build's numeric phase wants.
constexpr StepShape step_shape(Scalar scalar) {
  if (scalar == Scalar::f64) return {StepVector<double>::lanes, StepVector<double>::expands};
  if (scalar == Scalar::f32) return {StepVector<float>::lanes, StepVector<float>::expands};
  return {};
}

/// How rows are made: `points` times `unknowns`, the rows of a point with the same rows of B.
struct StepMode {
  int points, unknowns;
  bool half;     // steps have at most half as many entries as a vector
  bool careful;  // of one row: no entry of B but its own may be read, or factors may be infinite or NaN
  constexpr int rows() const { return points * unknowns; }
};

/// Factors of a row begin so far after those of the row before: in other lines of the caches.
inline constexpr int64_t step_pitch = RowClasses::most_left + 8;

/// The left rows' factors, at `factors[r * step_pitch + k]`, and where the rows of B lie that entry k names: the first
/// point's at b[k], the next points' each strides[k] further.
template <class E, int rows>
struct StepRows {
  E factors[step_pitch * rows];
  const E* b[RowClasses::most_left];
  int64_t strides[RowClasses::most_left];
};

/// Rows of a class that has steps: row r goes to c + r * columns. beta is multiplied with the old values, which lie in
/// the same order as C's.
template <StepMode mode, class E>
void make_stepped(const RowClasses& classes, const RowClasses::Class& of, const StepRows<E, mode.rows()>& left_rows,
                  E beta, const E* old, E* c) {
  using V = StepVector<E>;
  constexpr int rows = mode.rows();
  const RowClasses::Step* step = classes.steps.data() + of.steps_at;
  const uint16_t* count = classes.step_counts.data() + of.counts_at;
  for (int64_t first = 0; first < of.columns; first += V::lanes) {
    const int64_t left = of.columns - first;
    const unsigned inside = first_lanes<V>(left);
    V sums[rows];
    for (int r = 0; r < rows; ++r)
      sums[r] = beta == E{} ? V::zero() : V::load(old + r * of.columns + first, inside).times(beta);
    for (const RowClasses::Step* const end = step + *count++; step < end; ++step) {
      const E* const factors = left_rows.factors + step->left;
      const E* from = left_rows.b[step->left] + step->first;
      if constexpr (mode.careful) {
        sums[0].add_careful(*factors, from, step->lanes);
      } else {
        const int64_t stride = left_rows.strides[step->left];
        const typename V::Spread spread(step->lanes);
        for (int p = 0; p < mode.points; ++p, from += stride) {
          const V entries = spread.template load<mode.half>(from);
          for (int r = p * mode.unknowns; r < (p + 1) * mode.unknowns; ++r)
            sums[r].add(factors[r * step_pitch], entries);
        }
      }
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
