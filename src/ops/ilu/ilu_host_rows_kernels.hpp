// What host_rows does with a row that has a program, in a buffer of vectors or in place; and with one of which numbers
// are not finite, by looking for the columns that two rows share.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ilu_arithmetic.hpp"
#include "ilu_host_lanes.hpp"
#include "ilu_host_panels_kernels.hpp"
#include "ilu_host_programs.hpp"

namespace kkc::ilu::host {

template <class E>
bool all_finite(const E* numbers, int64_t count) {
  // Of short rows, just stored number by number: vectors of them would take longer to put together.
  constexpr int64_t most_one_by_one = 16;
  if (count <= most_one_by_one) {
    for (int64_t t = 0; t < count; ++t)
      if (!(not_finite(numbers[t]) == 0)) [[unlikely]]
        return false;
    return true;
  }
  constexpr int sums = 4;  // which do not wait for each other
  RealPart<E> spoilt[sums] = {};
  int64_t t = 0;
  for (; t + sums <= count; t += sums)
    for (int s = 0; s < sums; ++s) spoilt[s] += not_finite(numbers[t + s]);
  for (; t < count; ++t) spoilt[0] += not_finite(numbers[t]);
  return (spoilt[0] + spoilt[1]) + (spoilt[2] + spoilt[3]) == 0;
}

template <class E, Form form, class I, class O>
struct FactorRow {
  using R = RealPart<E>;
  using L = Lanes<E, program_lanes>;

  const O *offsets, *diagonal;
  const I* indices;
  ilu_pattern::ValueSource<O> source;
  bool in_order;  // the factors' entries are A's, one by one
  const E* A;
  E* values;
  Rule<R> rule;
  E* inverses;  // of pivots, where there are panels or pairs
  static constexpr bool by_inverses = form == Form::lu && !has_parts<E>;

  static FactorRow of(const FactorPattern& factors, const Args& args, const Rule<R>& rule, E* inverses) {
    return {static_cast<const O*>(args.factors.offsets),
            factors.diagonal->template as<O>(),
            static_cast<const I*>(args.factors.indices),
            ilu_pattern::ValueSource<O>(factors),
            !factors.sources && !factors.positions && !factors.starts,
            static_cast<const E*>(args.A.values),
            static_cast<E*>(const_cast<void*>(args.factors.values)),
            rule,
            inverses};
  }

  static constexpr unsigned mask_of(const ProgramRun& run) { return ((1u << run.count) - 1u) << run.lane; }

  /// Row i, and the others of the panel that it begins, by their program; notes breakdowns.
  void by_program(int64_t i, const int32_t* words, const RowScratch<E>& scratch, Breakdown& found) const {
    if (words == nullptr) return;
    if constexpr (form == Form::lu && L::registers) {
      PanelHeader panel;
      take(words, panel);
      switch (panel.rows) {
        case 1: return as_panel<1>(i, words, scratch, found);
        case 2: return as_panel<2>(i, words, scratch, found);
        case 3: return as_panel<3>(i, words, scratch, found);
        case 4: return as_panel<4>(i, words, scratch, found);
        default: break;
      }
    }
    ProgramHeader header;
    words = take(words, header);
    if constexpr (form == Form::cholesky && L::registers) {
      if (header.vectors > 0) return in_vectors(i, header, words, scratch.numbers, found);
    }
    in_place(i, header, words, found);
  }

  /// Row i of LU, looking for the columns that it shares with others.
  void by_search(int64_t i, Breakdown& found) const {
    gather(i);
    E* const pivot = values + diagonal[i];
    const O end = offsets[i + 1];
    *pivot = plus(*pivot, from_real<E>(rule.shift));
    for (O p = offsets[i]; p < diagonal[i]; ++p) {
      const auto k = static_cast<int64_t>(indices[p]);
      const E l = values[p] = quotient(values[p], values[diagonal[k]]);
      shared(p + 1, end, diagonal[k] + 1, offsets[k + 1],
             [&](O t, O q) { values[t] = minus_product(values[t], l, values[q]); });
    }
    R spoilt = 0;
    for (O p = offsets[i]; p < offsets[i + 1]; ++p) spoilt += not_finite(values[p]);
    finish(i, *pivot, spoilt == 0, found);
  }

  static R square_of(const E& a) {
    if constexpr (has_parts<E>)
      return a.re * a.re + a.im * a.im;
    else
      return a * a;
  }

  /// Entry p before anything is eliminated.
  E value_before(O p) const { return in_order ? A[p] : value_at(source, A, p); }
  void gather(int64_t i) const {
    if (in_order)
      std::copy(A + offsets[i], A + offsets[i + 1], values + offsets[i]);
    else
      for (O p = offsets[i]; p < offsets[i + 1]; ++p) values[p] = value_at(source, A, p);
    if constexpr (form == Form::cholesky && has_parts<E>) values[diagonal[i]].im = 0;
  }

  bool needs_none(int64_t i) const { return diagonal[i] == offsets[i]; }
  /// Such a row, number by number, for most are shorter than a call for all takes; notes breakdowns.
  void alone(int64_t i, Breakdown& found) const {
    const O first = offsets[i], end = offsets[i + 1];
    for (O p = first; p < end; ++p) values[p] = value_before(p);
    E& pivot = values[diagonal[i]];
    if constexpr (form == Form::cholesky && has_parts<E>) pivot.im = 0;
    pivot = plus(pivot, from_real<E>(rule.shift));
    R spoilt = 0;
    for (O p = first; p < end; ++p) spoilt += not_finite(values[p]);
    finish(i, pivot, spoilt == 0, found);
  }

  /// The pivot's rule for a row whose other numbers are done; notes breakdowns.
  void finish(int64_t i, E& pivot, bool finite, Breakdown& found) const {
    bool zero = false;
    if (finite) [[likely]] {
      if constexpr (form == Form::lu)
        pivot = lu_pivot(
            pivot, rule, [](R x) { return std::sqrt(x); }, zero);
      else
        pivot = from_real<E>(std::sqrt(cholesky_pivot(real_part(pivot), rule, zero)));
    }
    if constexpr (by_inverses)
      if (inverses != nullptr) inverses[i] = inverse_of_pivot(pivot);
    if (!finite || zero) note(i, zero, found);
  }

  /// Columns and numbers from entry `at` on are asked for.
  [[gnu::always_inline]] void fetch(O at) const {
    __builtin_prefetch(indices + at);
    __builtin_prefetch(values + at);
  }
  static constexpr int64_t ahead = 4;  // needed rows

  template <class F>
  void shared(O t, O t_end, O q, O q_end, F&& f) const {
    each_shared(indices, t, t_end, q, q_end, f);
  }

 private:
  /// Where a number is not finite all goes row by row, which tells that from an inverse without enough digits.
  template <int rows>
  void as_panel(int64_t i, const int32_t* words, const RowScratch<E>& scratch, Breakdown& found) const {
    if (!in_order)
      for (int r = 0; r < rows; ++r) gather(i + r);
    unsigned zeros = 0;
    const Panels<E, O> panels{offsets, diagonal, in_order ? A : values, values, inverses, rule};
    if (panels.template eliminate<rows>(i, words, scratch, zeros)) [[likely]] {
      for (int r = 0; zeros != 0 && r < rows; ++r)
        if ((zeros >> r & 1u) != 0) note(i + r, true, found);
      return;
    }
    for (int r = 0; r < rows; ++r) by_search(i + r, found);
  }

  /// Row i of Cholesky's L by a program with vectors.
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
    R square = 0;  // of the row's entries left of the diagonal
    for (int32_t s = 0; s < header.steps; ++s) {
      ProgramStep step;
      words = take(words, step);
      const int64_t k = i - step.back;
      const E l =
          quotient(minus_runs(words, step.runs, buffer[step.place], values + offsets[k], buffer), values[diagonal[k]]);
      square += square_of(l);
      buffer[step.place] = l;
      words += step.runs * static_cast<int32_t>(sizeof(ProgramRun) / sizeof *words);
    }
    E& pivot = buffer[header.diagonal];
    pivot = from_real<E>(real_part(pivot) - square);
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

  static void note(int64_t i, bool zero, Breakdown& found) {
    ++found.count;
    if (i > found.first) return;
    found.first = i;
    found.first_is_zero = zero;
  }

  static void load_vector(const E* from, int32_t count, E* to) {
    L::store(to, L::load(static_cast<uint8_t>((1u << count) - 1u), from));
  }
  static void store_vector(const E* from, int32_t count, E* to) {
    L::store(static_cast<uint8_t>((1u << count) - 1u), to, L::load(from));
  }

  /// a - sum of buffer conj(row k) where both rows have entries.
  static E minus_runs(const int32_t* words, int32_t runs, E a, const E* k, const E* buffer) {
    if (runs == 0) return a;
    auto sum = L::zero();
    for (int32_t r = 0; r < runs; ++r) {
      ProgramRun run;
      words = take(words, run);
      const auto mask = static_cast<uint8_t>(mask_of(run));
      sum = L::plus_product(sum, L::load(buffer + run.target), L::load(mask, k + run.source), mask);
    }
    return a - L::sum(sum);
  }
};

}  // namespace kkc::ilu::host
