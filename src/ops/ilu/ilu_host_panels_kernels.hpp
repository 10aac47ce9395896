// Elimination of a panel by its program (ilu_host_panels.hpp).
#pragma once

#include <cmath>
#include <limits>

#include "ilu_arithmetic.hpp"
#include "ilu_host_lanes.hpp"
#include "ilu_host_panels.hpp"

namespace kkc::ilu::host {

/// 1 / pivot; a NaN where that would not be as exact as a division. What needs it is then not finite and done again.
template <class E>
E inverse_of_pivot(const E& pivot) {
  using Limits = std::numeric_limits<E>;
  const E size = std::abs(pivot);
  return size >= 4 * Limits::min() && size <= Limits::max() / 4 ? 1 / pivot : Limits::quiet_NaN();
}

/// A thread's own memory.
template <class E>
struct RowScratch {
  E* numbers;       // vectors of a row; of panels the entries left of the diagonal, those of a place one by one
  const E** bases;  // panels: where the diagonal entry lies of the row that a place's entries need
};

template <class E, class O>
struct Panels {
  const O *offsets, *diagonal;
  const E* from;  // where the rows' entries are before elimination, as in `values`
  E *values, *inverses;
  Rule<E> rule;

  /// Rows i to i + rows - 1. `zeros`: those with a zero pivot. False when a number is not finite: the rows then mean
  /// nothing.
  template <int rows>
  bool eliminate(int64_t i, const int32_t* words, const RowScratch<E>& scratch, unsigned& zeros) const {
    PanelHeader header;
    words = take(words, header);
    State<rows> state{i, offsets[i], int64_t{offsets[i + 1] - offsets[i]}, scratch, {}, zeros};
    int32_t v = 0;
    for (; v < header.left; ++v) words = any_vector<Part::left>(words, v, state);
    words = any_vector<Part::diagonal>(words, v, state);
    for (++v; v < header.vectors; ++v) words = any_vector<Part::right>(words, v, state);
    return Wide::sum(state.spoilt_wide) + Narrow::sum(state.spoilt_narrow) == 0;
  }

 private:
  using Wide = Lanes<E, program_lanes>;
  using Narrow = Lanes<E, program_lanes / 2>;
  enum class Part { left, diagonal, right };

  template <int rows>
  struct State {
    int64_t i, begin, length;  // the first row, its first entry, and how many entries each row has
    RowScratch<E> scratch;
    E own[rows][rows];  // L of the panel's own columns
    unsigned& zeros;
    typename Wide::V spoilt_wide = Wide::zero();  // zeros unless a number is not finite
    typename Narrow::V spoilt_narrow = Narrow::zero();
  };

  template <Part part, int rows>
  const int32_t* any_vector(const int32_t* words, int32_t v, State<rows>& state) const {
    PanelVector vector;
    words = take(words, vector);
    if (vector.count <= program_lanes / 2)
      return one_vector<Narrow, part>(vector, words, v, state, state.spoilt_narrow);
    return one_vector<Wide, part>(vector, words, v, state, state.spoilt_wide);
  }

  static constexpr uint8_t bits(unsigned mask) { return static_cast<uint8_t>(mask); }

  template <class L, Part part, int rows>
  const int32_t* one_vector(const PanelVector& vector, const int32_t* words, int32_t v, State<rows>& state,
                            typename L::V& spoilt) const {
    using V = typename L::V;
    const uint8_t mine = bits((1u << vector.count) - 1u);
    const int64_t i = state.i, length = state.length, begin = state.begin + vector.entry;
    E* const numbers = state.scratch.numbers;
    const E** const bases = state.scratch.bases;
    V row[rows];
    for (int r = 0; r < rows; ++r) row[r] = L::load(mine, from + begin + r * length);
    if constexpr (part == Part::diagonal)
      for (int r = 0; r < rows; ++r) row[r] = L::plus(row[r], L::chosen(bits(1u << r), L::all(rule.shift), L::zero()));
    for (int32_t n = 0; n < vector.runs; ++n) {
      PanelRun run;
      words = take(words, run);
      const V u = L::load(bits(run.mask), bases[run.place] + run.source);
      const E* const l = numbers + run.place * rows;
      for (int r = 0; r < rows; ++r) row[r] = L::minus_product(row[r], L::all(l[r]), u);
    }
    if constexpr (part == Part::left) {
      V done[rows];
      for (int r = 0; r < rows; ++r) done[r] = row[r];
      for (int32_t e = 0; e < vector.count; ++e) {
        PanelPivot pivot;
        words = take(words, pivot);
        const int64_t place = int64_t{v} * program_lanes + e, k = i - pivot.back;
        const E* const base = bases[place] = values + diagonal[k];
        const V inverse = L::all(inverses[k]);
        V l[rows];
        for (int r = 0; r < rows; ++r) {
          l[r] = L::times(L::lane(row[r], e), inverse);
          numbers[place * rows + r] = L::first(l[r]);
          done[r] = L::chosen(bits(1u << e), l[r], done[r]);
        }
        for (int32_t n = 0; n < pivot.runs; ++n) {
          PanelRun run;
          words = take(words, run);
          const V u = L::load(bits(run.mask), base + run.source);
          for (int r = 0; r < rows; ++r) row[r] = L::minus_product(row[r], l[r], u);
        }
      }
      for (int r = 0; r < rows; ++r) row[r] = done[r];
    } else if constexpr (part == Part::diagonal) {
      for (int q = 0; q < rows; ++q) {
        bool zero = false;
        const E pivot = lu_pivot(
            L::first(L::lane(row[q], q)), rule, [](E x) { return std::sqrt(x); }, zero);
        if (zero) state.zeros |= 1u << q;
        const E inverse = inverse_of_pivot(pivot);
        inverses[i + q] = inverse;
        const V u = L::chosen(bits(0xffu << (q + 1)), row[q], L::zero());
        row[q] = L::chosen(bits(1u << q), L::all(pivot), row[q]);
        for (int r = q + 1; r < rows; ++r) {
          const V l = L::times(L::lane(row[r], q), L::all(inverse));
          state.own[r][q] = L::first(l);
          row[r] = L::minus_product(L::chosen(bits(1u << q), l, row[r]), l, u);
        }
      }
    } else {
      for (int q = 0; q < rows; ++q)
        for (int r = q + 1; r < rows; ++r) row[r] = L::minus_product(row[r], L::all(state.own[r][q]), row[q]);
    }
    for (int r = 0; r < rows; ++r) {
      spoilt = L::plus_product(spoilt, row[r], L::zero());
      L::store(mine, values + begin + r * length, row[r]);
    }
    return words;
  }
};

}  // namespace kkc::ilu::host
