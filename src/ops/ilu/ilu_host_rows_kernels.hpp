// What host_rows does with a row: by its program, in a buffer of vectors, or by looking for the columns that two rows
// share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ilu_arithmetic.hpp"
#include "ilu_host_programs.hpp"

#if defined(__AVX512F__) && defined(__AVX512VL__)
#include <immintrin.h>
#endif

namespace kkc::ilu::host {

/// program_lanes numbers: one register where there is one, else an array.
template <class E>
struct Lanes {
  static constexpr bool registers = false;
};
#if defined(__AVX512F__) && defined(__AVX512VL__)
template <>
struct Lanes<double> {
  static constexpr bool registers = true;
  using V = __m512d;
  static V zero() { return _mm512_setzero_pd(); }
  static V all(double a) { return _mm512_set1_pd(a); }
  static V load(const double* p) { return _mm512_load_pd(p); }
  static V load(__mmask8 m, const double* p) { return _mm512_maskz_loadu_pd(m, p); }
  static void store(double* p, V v) { _mm512_store_pd(p, v); }
  static void store(__mmask8 m, double* p, V v) { _mm512_mask_storeu_pd(p, m, v); }
  static V minus_product(V c, V a, V b, __mmask8 m) { return _mm512_mask3_fnmadd_pd(a, b, c, m); }
  static V plus_product(V c, V a, V b, __mmask8 m) { return _mm512_mask3_fmadd_pd(a, b, c, m); }
  static V minus(V a, V b) { return _mm512_sub_pd(a, b); }
  static V plus(V a, V b) { return _mm512_add_pd(a, b); }
  static double sum(V v) {  // the intrinsic for it warns in GCC 12
    const __m256d half = __builtin_shufflevector(v, v, 0, 1, 2, 3) + __builtin_shufflevector(v, v, 4, 5, 6, 7);
    const __m128d quarter = __builtin_shufflevector(half, half, 0, 1) + __builtin_shufflevector(half, half, 2, 3);
    return quarter[0] + quarter[1];
  }
};
template <>
struct Lanes<float> {
  static constexpr bool registers = true;
  using V = __m256;
  static V zero() { return _mm256_setzero_ps(); }
  static V all(float a) { return _mm256_set1_ps(a); }
  static V load(const float* p) { return _mm256_load_ps(p); }
  static V load(__mmask8 m, const float* p) { return _mm256_maskz_loadu_ps(m, p); }
  static void store(float* p, V v) { _mm256_store_ps(p, v); }
  static void store(__mmask8 m, float* p, V v) { _mm256_mask_storeu_ps(p, m, v); }
  static V minus_product(V c, V a, V b, __mmask8 m) { return _mm256_mask3_fnmadd_ps(a, b, c, m); }
  static V plus_product(V c, V a, V b, __mmask8 m) { return _mm256_mask3_fmadd_ps(a, b, c, m); }
  static V minus(V a, V b) { return _mm256_sub_ps(a, b); }
  static V plus(V a, V b) { return _mm256_add_ps(a, b); }
  static float sum(V v) {
    const __m128 half = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1));
    const __m128 quarter = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(quarter, _mm_movehdup_ps(quarter)));
  }
};
#endif

template <class W>
const int32_t* take(const int32_t* words, W& what) {
  std::memcpy(&what, words, sizeof what);
  return words + sizeof what / sizeof *words;
}

template <class E, Form form, class I, class O>
struct FactorRow {
  using R = RealPart<E>;
  using L = Lanes<E>;

  const O *offsets, *diagonal;
  const I* indices;
  ilu_pattern::ValueSource<O> source;
  bool in_order;  // the factors' entries are A's, one by one
  const E* A;
  E* values;
  Rule<R> rule;

  static constexpr unsigned mask_of(const ProgramRun& run) { return ((1u << run.count) - 1u) << run.lane; }

  /// Row i by its program; `buffer` has room for its vectors and is aligned for them. Notes a breakdown.
  void by_program(int64_t i, const int32_t* words, E* buffer, Breakdown& found) const {
    ProgramHeader header;
    words = take(words, header);
    if constexpr (L::registers) {
      if (header.vectors > 0) return in_vectors(i, header, words, buffer, found);
    }
    in_place(i, header, words, found);
  }

  /// Row i, looking for the columns that it shares with others.
  void by_search(int64_t i, Breakdown& found) const {
    gather(i);
    E* const pivot = values + diagonal[i];
    if constexpr (form == Form::lu) {
      const O end = offsets[i + 1];
      *pivot = plus(*pivot, from_real<E>(rule.shift));
      for (O p = offsets[i]; p < diagonal[i]; ++p) {
        const auto k = static_cast<int64_t>(indices[p]);
        const E l = values[p] = quotient(values[p], values[diagonal[k]]);
        shared(p + 1, end, diagonal[k] + 1, offsets[k + 1],
               [&](O t, O q) { values[t] = minus_product(values[t], l, values[q]); });
      }
    } else {
      R d = real_part(*pivot) + rule.shift;
      for (O p = offsets[i]; p < diagonal[i]; ++p) {
        const auto k = static_cast<int64_t>(indices[p]);
        E l = values[p];
        shared(offsets[i], p, offsets[k], diagonal[k],
               [&](O t, O q) { l = minus_conjugate_product(l, values[t], values[q]); });
        l = values[p] = quotient(l, values[diagonal[k]]);
        d -= square_of(l);
      }
      *pivot = from_real<E>(d);
    }
    R spoilt = 0;
    for (O p = offsets[i]; p < offsets[i + 1]; ++p) spoilt += not_finite(values[p]);
    finish(i, *pivot, spoilt == 0, found);
  }

 private:
  /// Row i by a program with vectors.
  void in_vectors(int64_t i, const ProgramHeader& header, const int32_t* words, E* buffer, Breakdown& found) const {
    E* const row = values + offsets[i];
    const E* from = in_order ? A + offsets[i] : row;
    if (!in_order) gather(i);
    const int32_t* const vectors = words;
    for (int32_t v = 0; v < header.vectors; ++v) {
      ProgramVector vector;
      words = take(words, vector);
      load_vector(from + vector.entry, vector.count, buffer + v * program_lanes);
    }
    buffer[header.diagonal] = plus(buffer[header.diagonal], from_real<E>(rule.shift));
    R square = 0;  // cholesky: of the row's entries left of the diagonal
    for (int32_t s = 0; s < header.steps; ++s) {
      ProgramStep step;
      words = take(words, step);
      const int64_t k = i - step.back;
      E l;
      if constexpr (form == Form::lu) {
        l = quotient(buffer[step.place], values[diagonal[k]]);
        subtract_runs(words, step.runs, l, values + diagonal[k], buffer);
      } else {
        l = quotient(minus_runs(words, step.runs, buffer[step.place], values + offsets[k], buffer),
                     values[diagonal[k]]);
        square += square_of(l);
      }
      buffer[step.place] = l;
      words += step.runs * static_cast<int32_t>(sizeof(ProgramRun) / sizeof *words);
    }
    E& pivot = buffer[header.diagonal];
    if constexpr (form == Form::cholesky) pivot = from_real<E>(real_part(pivot) - square);
    auto spoilt = L::zero();
    for (int32_t v = 0; v < header.vectors; ++v) {
      const auto own = L::load(buffer + v * program_lanes);
      spoilt = L::plus(spoilt, L::minus(own, own));
    }
    finish(i, pivot, L::sum(spoilt) == 0, found);
    words = vectors;
    for (int32_t v = 0; v < header.vectors; ++v) {
      ProgramVector vector;
      words = take(words, vector);
      store_vector(buffer + v * program_lanes, vector.count, row + vector.entry);
    }
  }

  /// Row i by a program without vectors.
  void in_place(int64_t i, const ProgramHeader& header, const int32_t* words, Breakdown& found) const {
    gather(i);
    E* const row = values + offsets[i];
    E& pivot = row[header.diagonal];
    pivot = plus(pivot, from_real<E>(rule.shift));
    R square = 0;
    for (int32_t s = 0; s < header.steps; ++s) {
      ProgramStep step;
      words = take(words, step);
      const int64_t k = i - step.back;
      const E& other = values[diagonal[k]];
      const E* const from = form == Form::lu ? &other : values + offsets[k];
      E l = row[step.place];
      if constexpr (form == Form::lu) row[step.place] = l = quotient(l, other);
      for (int32_t r = 0; r < step.runs; ++r) {
        ProgramRun run;
        words = take(words, run);
        for (int32_t e = 0; e < run.count; ++e) {
          if constexpr (form == Form::lu)
            row[run.target + e] = minus_product(row[run.target + e], l, from[run.source + e]);
          else
            l = minus_conjugate_product(l, row[run.target + e], from[run.source + e]);
        }
      }
      if constexpr (form == Form::cholesky) {
        row[step.place] = l = quotient(l, other);
        square += square_of(l);
      }
    }
    if constexpr (form == Form::cholesky) pivot = from_real<E>(real_part(pivot) - square);
    bool finite = true;  // one by one: vectors would wait for the numbers just stored
    for (int32_t e = 0; e < header.entries && finite; ++e) finite = not_finite(row[e]) == 0;
    finish(i, pivot, finite, found);
  }

  static R square_of(const E& a) {
    if constexpr (has_parts<E>)
      return a.re * a.re + a.im * a.im;
    else
      return a * a;
  }

  void gather(int64_t i) const {
    if (in_order)
      std::copy(A + offsets[i], A + offsets[i + 1], values + offsets[i]);
    else
      for (O p = offsets[i]; p < offsets[i + 1]; ++p) values[p] = value_at(source, A, p);
    if constexpr (form == Form::cholesky && has_parts<E>) values[diagonal[i]].im = 0;
  }

  void finish(int64_t i, E& pivot, bool finite, Breakdown& found) const {
    bool zero = false;
    if (finite) [[likely]] {
      if constexpr (form == Form::lu)
        pivot = lu_pivot(
            pivot, rule, [](R x) { return std::sqrt(x); }, zero);
      else
        pivot = from_real<E>(std::sqrt(cholesky_pivot(real_part(pivot), rule, zero)));
      if (!zero) return;
    }
    ++found.count;
    if (i > found.first) return;
    found.first = i;
    found.first_is_zero = zero;
  }

  static void load_vector(const E* from, int32_t count, E* to) {
    L::store(to, L::load(static_cast<__mmask8>((1u << count) - 1u), from));
  }
  static void store_vector(const E* from, int32_t count, E* to) {
    L::store(static_cast<__mmask8>((1u << count) - 1u), to, L::load(from));
  }

  /// buffer -= l u where both rows have entries.
  static void subtract_runs(const int32_t* words, int32_t runs, const E& l, const E* u, E* buffer) {
    for (int32_t r = 0; r < runs; ++r) {
      ProgramRun run;
      words = take(words, run);
      E* const to = buffer + run.target;
      const E* const from = u + run.source;
      const auto mask = static_cast<__mmask8>(mask_of(run));
      L::store(to, L::minus_product(L::load(to), L::all(l), L::load(mask, from), mask));
    }
  }

  /// a - sum of buffer conj(row k) where both rows have entries.
  static E minus_runs(const int32_t* words, int32_t runs, E a, const E* k, const E* buffer) {
    if (runs == 0) return a;
    auto sum = L::zero();
    for (int32_t r = 0; r < runs; ++r) {
      ProgramRun run;
      words = take(words, run);
      const auto mask = static_cast<__mmask8>(mask_of(run));
      sum = L::plus_product(sum, L::load(buffer + run.target), L::load(mask, k + run.source), mask);
    }
    return a - L::sum(sum);
  }

  /// Calls f(t, q) for the entries t of one row's part and q of another's that lie in the same column.
  template <class F>
  void shared(O t, O t_end, O q, O q_end, F&& f) const {
    constexpr O longer = 16;  // times as long: looked up instead of passed over
    if ((q_end - q) / longer > t_end - t) {
      for (; t < t_end && q < q_end; ++t) {
        q = static_cast<O>(std::lower_bound(indices + q, indices + q_end, indices[t]) - indices);
        if (q < q_end && indices[q] == indices[t]) f(t, q++);
      }
    } else if ((t_end - t) / longer > q_end - q) {
      for (; q < q_end && t < t_end; ++q) {
        t = static_cast<O>(std::lower_bound(indices + t, indices + t_end, indices[q]) - indices);
        if (t < t_end && indices[t] == indices[q]) f(t++, q);
      }
    } else {
      while (t < t_end && q < q_end) {
        const I a = indices[t], b = indices[q];
        if (a == b) f(t, q);
        t += a <= b;
        q += b <= a;
      }
    }
  }
};

}  // namespace kkc::ilu::host
