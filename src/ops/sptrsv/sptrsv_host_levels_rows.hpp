// sptrsv, host_levels: steps one after the other, rows from the caller's matrix. The functions that go through them are
// not inlined and have copies of what they need, so that no store to x makes them read pointers again.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "device/host_gather.hpp"
#include "ops/levels/levels_host_runner.hpp"
#include "ops/sptrsv/sptrsv_host_short_rows.hpp"
#include "ops/sptrsv/sptrsv_host_sides.hpp"
#include "ops/sptrsv/sptrsv_host_triangle.hpp"

namespace kkc::sptrsv::host_levels_parts {

/// A factor of several products, which are rounded before anything is added to them: g++ 12 makes vfmaddsub of a
/// complex product's differences even under -ffp-contract=off, but has no such operation for sums.
template <class S>
struct Factor {
  S value;
  S times(const S& other) const { return kkc::times(value, other); }
};
template <class R>
struct Factor<Parts<R>> {
  explicit Factor(const Parts<R>& factor)
      : value(factor), minus_im(std::bit_cast<R>(std::bit_cast<Bits>(factor.im) ^ std::bit_cast<Bits>(R{-0.0}))) {}
  Parts<R> times(const Parts<R>& other) const {
    return {value.re * other.re + minus_im * other.im, value.re * other.im + value.im * other.re};
  }
  using Bits = std::conditional_t<sizeof(R) == 4, uint32_t, uint64_t>;
  Parts<R> value;
  R minus_im;
};

/// Ascending: steps are rows; else row n - 1 - step. Own: rows are listed by the plan.
template <class S, class T, bool Ascending, bool Own>
struct TriangleRows {
  using Triangle = T;
  using Rows = typename T::Rows;
  static constexpr int64_t way = Ascending ? 1 : -1;

  const T& triangle;
  Rows rows;
  const S* values;
  bool unit, conjugate;

  S value(int64_t entry) const { return conjugated(values[Own ? rows.place(entry) : entry], conjugate); }

  /// Of the row's diagonal element, if that is stored. zero: gets the row where it is zero and comes before.
  [[gnu::always_inline]] S inverse(int64_t row, int64_t& zero) const {
    if (unit) return S{};
    S d;
    if constexpr (Own)
      d = triangle.diagonal(rows, values, row);
    else
      d = values[rows.diagonal(row)];
    if (d == S{}) [[unlikely]]
      zero = std::min(zero, row);
    return inverse_of(conjugated(d, conjugate));
  }

  /// f(row) for steps first..end-1 in their order, others' unknowns waited for.
  template <class Turn, class F>
  [[gnu::always_inline]] void each_row(int64_t first, int64_t end, Turn&& turn, const F& f) const {
    const auto row_of = [n = triangle.rows()](int64_t step) { return Ascending ? step : n - 1 - step; };
    for (int64_t step = first; step < end; ++step) {
      const int64_t row = row_of(step);
      if constexpr (!std::is_same_v<std::decay_t<Turn>, levels::NoTurn>)
        turn.need(levels::nearest_before(rows, row, first, row_of));
      f(row);
      turn.passed(step + 1);
    }
  }
};

/// One vector without a stride.
template <class S, class T, bool Ascending, bool Own>
struct OneVector {
  using Triangle = TriangleRows<S, T, Ascending, Own>;
  static constexpr int64_t way = Triangle::way;

  Triangle triangle;
  S alpha;
  const S* b;
  int64_t b_row;
  S* x;
  bool medium;  // rows are for subtract_medium

  /// Steps first..end-1. first_zero: gets the first row whose diagonal is zero.
  template <class Turn>
  [[gnu::noinline]] void solve(int64_t first, int64_t end, Turn&& turn, int64_t& first_zero) const {
    const OneVector mine = *this;
    const Factor<S> alpha{mine.alpha};
    int64_t zero = first_zero;
    mine.triangle.each_row(
        first, end, turn, [&](int64_t row) __attribute__((always_inline)) { mine.solve_row(row, alpha, zero); });
    first_zero = zero;
  }

  /// The same of listed rows.
  template <class I>
  [[gnu::noinline]] void solve_rows(const I* rows, int64_t count, int64_t& first_zero) const {
    const OneVector mine = *this;
    const Factor<S> alpha{mine.alpha};
    int64_t zero = first_zero;
    for (int64_t i = 0; i < count; ++i) mine.solve_row(rows[i], alpha, zero);
    first_zero = zero;
  }

 private:
  [[gnu::always_inline]] void solve_row(int64_t row, const Factor<S>& factor, int64_t& zero) const {
    const S inverse = triangle.inverse(row, zero);
    const S sum = sum_of_row(row, factor.times(b[row * b_row]));
    x[row] = triangle.unit ? sum : Factor<S>{inverse}.times(sum);
  }

  /// Four sums at once, of listed rows one (sptrsv_host_columns.hpp); the neighbour's unknown, the last to come, is
  /// used last.
  [[gnu::always_inline]] S sum_of_row(int64_t row, S sum) const {
    const int64_t begin = triangle.rows.begin(row), length = triangle.rows.end(row) - begin;
    const int64_t first = Ascending ? begin : begin + length - 1;
    const auto product = [&](int64_t k) __attribute__((always_inline)) {
      const int64_t p = first + k * way;
      return Factor<S>{triangle.value(p)}.times(x[triangle.rows.column(p)]);
    };
    triangle.rows.prefetch_ahead(triangle.values, first + length * way, way);
    using I = std::remove_cvref_t<decltype(*triangle.rows.indices())>;
    if constexpr (!Own && has_short_rows<S, I>) {
      const ShortRow short_row{triangle.rows.indices() + begin, static_cast<int32_t>(triangle.rows.base()),
                               triangle.values + begin, x};
      if (length <= most_short) return subtract_short<Ascending, false>(short_row, length, sum, 0, 0);
      if (medium && length <= most_medium) return subtract_medium<Ascending, false>(short_row, length, sum);
    }
    if constexpr (Own) {
      for (int64_t k = 0; k < length; ++k) sum = minus(sum, product(k));
      return sum;
    }
    S other{}, third{}, fourth{};
    const auto subtract_four = [&](int64_t k) __attribute__((always_inline)) {
      sum = minus(sum, product(k));
      other = minus(other, product(k + 1));
      third = minus(third, product(k + 2));
      fourth = minus(fourth, product(k + 3));
    };
    int64_t k = 0;
    for (; k + 9 <= length; k += 8) {
      triangle.rows.prefetch_ahead(triangle.values, first + k * way, way);
      subtract_four(k);
      subtract_four(k + 4);
    }
    if (k + 5 <= length) {
      subtract_four(k);
      k += 4;
    }
    for (; k + 1 < length; ++k) sum = minus(sum, product(k));
    sum = plus(plus(sum, other), plus(third, fourth));
    return k < length ? minus(sum, product(k)) : sum;
  }
};

/// K vectors, or 0 for `vectors` of them, at most most_vectors; with strides.
template <int K, class S, class T, bool Ascending, bool Own>
struct SeveralVectors {
  using Triangle = TriangleRows<S, T, Ascending, Own>;

  Triangle triangle;
  S alpha;
  Sides<S> sides;
  int vectors;

  template <class Turn>
  [[gnu::noinline]] void solve(int64_t first, int64_t end, Turn&& turn, int64_t& first_zero) const {
    const SeveralVectors mine = *this;
    int64_t zero = first_zero;
    mine.triangle.each_row(
        first, end, turn, [&](int64_t row) __attribute__((always_inline)) {
          mine.solve_row(row, mine.triangle.inverse(row, zero));
        });
    first_zero = zero;
  }

  /// The same of listed rows.
  template <class I>
  [[gnu::noinline]] void solve_rows(const I* rows, int64_t count, int64_t& first_zero) const {
    const SeveralVectors mine = *this;
    int64_t zero = first_zero;
    for (int64_t i = 0; i < count; ++i) mine.solve_row(rows[i], mine.triangle.inverse(rows[i], zero));
    first_zero = zero;
  }

 private:
  [[gnu::always_inline]] void solve_row(int64_t row, const S& inverse) const {
    const int count = K == 0 ? vectors : K;
    S sum[K == 0 ? most_vectors : K];
    const S* b = sides.b + row * sides.b_row;
    const Factor<S> factor{alpha};
    for (int k = 0; k < count; ++k) sum[k] = factor.times(b[k * sides.b_vector]);
    const int64_t begin = triangle.rows.begin(row), end = triangle.rows.end(row);
    const auto subtract = [&](int64_t p) {
      const Factor<S> a{triangle.value(p)};
      const S* x = sides.x + triangle.rows.column(p) * sides.x_row;
      if (sides.x_vector == 1)
        for (int k = 0; k < count; ++k) sum[k] = minus(sum[k], a.times(x[k]));
      else
        for (int k = 0; k < count; ++k) sum[k] = minus(sum[k], a.times(x[k * sides.x_vector]));
    };
    // The neighbour's unknown, the last to come, is used last.
    if constexpr (Ascending)
      for (int64_t p = begin; p < end; ++p) subtract(p);
    else
      for (int64_t p = end - 1; p >= begin; --p) subtract(p);
    S* x = sides.x + row * sides.x_row;
    const Factor<S> scale{inverse};
    for (int k = 0; k < count; ++k) x[k * sides.x_vector] = triangle.unit ? sum[k] : scale.times(sum[k]);
  }
};

}  // namespace kkc::sptrsv::host_levels_parts
