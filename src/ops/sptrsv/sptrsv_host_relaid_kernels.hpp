// sptrsv, host_relaid: how a thread goes through its rows. A stream holds what the rows need, in order of solution: the
// inverse of the diagonal element, then the entries, already divided by it, so that the way from one unknown to the
// next is a multiplication and an addition.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/parts.hpp"
#include "ops/levels/levels_host_runner.hpp"
#include "ops/sptrsv/sptrsv_host_short_rows.hpp"
#include "ops/sptrsv/sptrsv_host_sides.hpp"

namespace kkc::sptrsv::host_relaid_parts {

inline constexpr int lanes = 8;
/// Unknowns that are asked for this many entries ahead, where they lie far apart.
inline constexpr int64_t entries_ahead = 96;

/// Neighbouring steps. A run's rows have the same distances to their columns, which are held once, and lie in groups of
/// `lanes` rows, an entry of each after the other; other rows lie one after the other with their columns.
struct Piece {
  int64_t first;  // step
  int32_t rows;
  int32_t length;  // entries of each row of a run; -1: no run
  int32_t far;     // of a run's entries, those before this one reach outside the row's group
};

/// Where a thread is in its stream.
template <class S, class I>
struct Cursor {
  const I* index;
  const S* value;
};

/// Columns of a row, nearest last: of entry k, first[way * k] - base. Each of the `more` rows that are solved after it
/// has those of the one before it and then that one itself, which follow there.
template <class I>
struct RowColumns {
  const I* first;
  int64_t length, more;
};

/// From the stream, which holds their number and then them; where columns are shared, `more` comes first.
template <class I>
struct StreamColumns {
  static constexpr bool in_place = false;
  static constexpr int64_t base = 0;
  bool shared;
  template <class S>
  [[gnu::always_inline]] RowColumns<I> rows_from(int64_t, bool, Cursor<S, I>& at) const {
    const int64_t more = shared ? static_cast<int64_t>(*at.index++) : 0;
    const auto length = static_cast<int64_t>(*at.index++);
    const RowColumns<I> columns{at.index, length, more};
    at.index += length + more;
    return columns;
  }
};

/// From the caller's matrix. Rows: HostTriangle's.
template <class I, class Rows>
struct PlaceColumns {
  static constexpr bool in_place = true;
  Rows rows;
  int64_t base;
  explicit PlaceColumns(const Rows& of) : rows(of), base(of.base()) {}
  template <class S>
  [[gnu::always_inline]] RowColumns<I> rows_from(int64_t row, bool ascending, Cursor<S, I>&) const {
    constexpr int64_t bytes_ahead = 1024;
    const int64_t begin = rows.begin(row), end = rows.end(row);
    const I* first = rows.indices() + (ascending ? begin : end - 1);
    const auto* ahead = reinterpret_cast<const char*>(first);
    for (int64_t byte = 0; byte < (end - begin) * static_cast<int64_t>(sizeof(I)); byte += 64)
      __builtin_prefetch(ascending ? ahead + bytes_ahead + byte : ahead - bytes_ahead - byte);
    return {first, end - begin, 0};
  }
};

template <class S>
[[gnu::always_inline]] inline S minus_product(const S& sum, const S& a, const S& b) {
  const S product = times(a, b);
  if constexpr (std::is_floating_point_v<S>)
    return sum - product;
  else
    return {sum.re - product.re, sum.im - product.im};
}

/// The last step before `first` among those of a row's entries, nearest last, or -1.
template <class Column, class StepOf>
[[gnu::always_inline]] inline int64_t last_before(const Column& column, int64_t length, int64_t first,
                                                  const StepOf& step_of) {
  for (int64_t k = length - 1; k >= 0; --k)
    if (const int64_t step = step_of(column(k)); step < first) return step;
  return -1;
}

/// One vector without stride. Ascending: steps are rows; else row n - 1 - step. What does not depend on where columns
/// come from is here, and neither it nor `rows` below is inlined: every way to go through pieces would hold both.
template <class S, class I, bool Ascending, bool Unit>
struct OneVectorRuns {
  const S* b;
  int64_t b_row;
  S* x;
  S alpha;
  int64_t n;

  S right_side(int64_t row, const S& inverse) const {
    const S right = times(alpha, b[row * b_row]);
    return Unit ? right : times(right, inverse);
  }

  [[gnu::noinline]] void run(const Piece& piece, Cursor<S, I>& cursor) const {
    Cursor<S, I> at = cursor;
    const I* distances = at.index;
    at.index += piece.length;
    const bool chain = piece.far + 1 == piece.length && (distances[piece.far] == 1 || distances[piece.far] == -1);
    for (int64_t done = 0; done < piece.rows; done += lanes) {
      const int64_t count = piece.rows - done < lanes ? piece.rows - done : lanes;
      const int64_t step = piece.first + done, low = Ascending ? step : n - step - count;
      const S* inverse = at.value;
      const S* values = at.value + (Unit ? 0 : lanes);
      at.value = values + int64_t{piece.length} * lanes;
      if (count == lanes)
        group<lanes>(piece, distances, inverse, values, low, lanes, chain);
      else
        group<0>(piece, distances, inverse, values, low, static_cast<int>(count), chain);
    }
    cursor = at;
  }

 private:
  /// Count: of rows, or 0 for `count` of them.
  template <int Count>
  [[gnu::always_inline]] void group(const Piece& piece, const I* distances, const S* inverse, const S* values,
                                    int64_t low, int count, bool chain) const {
    const int size = Count == 0 ? count : Count;
    S sum[lanes];
    for (int j = 0; j < size; ++j) sum[j] = right_side(low + j, Unit ? S{} : inverse[j]);
    for (int32_t e = 0; e < piece.far; ++e) {
      const S* known = x + low + distances[e];
      for (int j = 0; j < size; ++j) sum[j] = minus_product(sum[j], values[e * lanes + j], known[j]);
    }
    const S* near = values + int64_t{piece.far} * lanes;
    S* out = x + low;
    if (chain) {
      S last = Ascending ? out[-1] : out[size];
      for (int i = 0; i < size; ++i) {
        const int j = Ascending ? i : size - 1 - i;
        last = minus_product(sum[j], near[j], last);
        out[j] = last;
      }
      return;
    }
    for (int i = 0; i < size; ++i) {
      const int j = Ascending ? i : size - 1 - i;
      S mine = sum[j];
      for (int32_t e = piece.far; e < piece.length; ++e)
        mine = minus_product(mine, values[e * lanes + j], out[j + distances[e]]);
      out[j] = mine;
    }
  }
};

template <class S, class I, bool Ascending, bool Unit, class Columns>
struct OneVector {
  OneVectorRuns<S, I, Ascending, Unit> runs;
  Columns columns;
  bool far_apart;  // prefetch; the stream's indices go on for entries_ahead more
  bool medium;     // rows are for subtract_medium

  void operator()(const Piece& piece, Cursor<S, I>& at) const {
    levels::NoTurn turn;
    if (piece.length < 0)
      in_turn(piece, at, turn);
    else
      runs.run(piece, at);
  }

  /// Rows of any kind, others' unknowns waited for.
  template <class Turn>
  void in_turn(const Piece& piece, Cursor<S, I>& at, Turn& turn) const {
    if constexpr (!Columns::in_place)
      if (far_apart) return rows<true>(piece, at, turn);
    rows<false>(piece, at, turn);
  }

 private:
  template <bool Ahead, class Turn>
  [[gnu::noinline]] void rows(const Piece& piece, Cursor<S, I>& cursor, Turn& turn) const {
    constexpr int64_t way = Columns::in_place && !Ascending ? -1 : 1;
    const auto sides = runs;  // which no store to x can change
    Cursor<S, I> at = cursor;
    S* const x = sides.x;
    const int64_t n = sides.n;
    const S* known = x - columns.base;
    for (int64_t step = piece.first, end = piece.first + piece.rows; step < end;) {
      const auto [first, alone, more] = columns.rows_from(Ascending ? step : n - 1 - step, Ascending, at);
      const auto column = [first = first](int64_t k) __attribute__((always_inline)) {
        return static_cast<int64_t>(first[way * k]);
      };
      // What is beside the columns is asked for too, and is there.
      if constexpr (Ahead) {
        const int64_t all = alone + more, few = medium && all > most_short ? most_medium : most_short;
        const int64_t asked = has_short_rows<S, I> && all < few ? few : all;
        for (int64_t p = 0; p <= asked; ++p) __builtin_prefetch(x + first[p + entries_ahead]);
      }
      for (int64_t length = alone; length <= alone + more; ++length, ++step) {
        const int64_t row = Ascending ? step : n - 1 - step;
        S sum = sides.right_side(row, Unit ? S{} : *at.value);
        const S* values = at.value + (Unit ? 0 : 1);
        at.value = values + length;
        if constexpr (!std::is_same_v<Turn, levels::NoTurn>)
          turn.need(last_before([&](int64_t k) { return column(k) - columns.base; }, length, piece.first,
                                [&](int64_t known_row) { return Ascending ? known_row : n - 1 - known_row; }));
        if (has_short_rows<S, I> && way == 1 && length <= (medium ? most_medium : most_short)) {
          if constexpr (has_short_rows<S, I> && way == 1) {
            const ShortRow short_row{first, static_cast<int32_t>(columns.base), values, x};
            // Nothing is added to the sum of no products.
            const S zero = length > 0 ? 0.0 : -0.0;
            sum = length <= most_short ? subtract_short<true, true>(short_row, length, sum, zero, zero)
                                       : subtract_medium<true, true>(short_row, length, sum);
          }
        } else if (length > 0) {
          S other{}, third{}, fourth{};
          int64_t p = 0;
          for (; p + 5 <= length; p += 4) {
            sum = minus_product(sum, values[p], known[column(p)]);
            other = minus_product(other, values[p + 1], known[column(p + 1)]);
            third = minus_product(third, values[p + 2], known[column(p + 2)]);
            fourth = minus_product(fourth, values[p + 3], known[column(p + 3)]);
          }
          for (; p + 1 < length; ++p) sum = minus_product(sum, values[p], known[column(p)]);
          sum = plus(plus(sum, other), plus(third, fourth));
          // The last one may only just have become known.
          sum = minus_product(sum, values[p], known[column(p)]);
        }
        x[row] = sum;
        turn.passed(step + 1);
      }
    }
    cursor = at;
  }
};

/// Up to most_vectors vectors, or one with strides. Count: how many, or 0 for `count` of them.
template <class S, class I, int Count, class Columns>
struct SeveralVectors {
  Columns columns;
  Sides<S> sides;
  S alpha;
  int64_t n;
  int count;
  bool ascending, unit;

  template <class Turn>
  [[gnu::noinline]] void in_turn(const Piece& piece, Cursor<S, I>& at, Turn& turn) const {
    const auto step_of = [&](int64_t row) { return ascending ? row : n - 1 - row; };  // and the row of a step
    const int64_t way = Columns::in_place && !ascending ? -1 : 1;
    for (int64_t step = piece.first, end = piece.first + piece.rows; step < end;) {
      const auto [first, alone, more] = columns.rows_from(step_of(step), ascending, at);
      const auto column = [&, first = first](int64_t k) { return static_cast<int64_t>(first[way * k]) - columns.base; };
      for (int64_t length = alone; length <= alone + more; ++length, ++step) {
        const S* values = at.value + (unit ? 0 : 1);
        if constexpr (!std::is_same_v<Turn, levels::NoTurn>)
          turn.need(last_before(column, length, piece.first, step_of));
        solve(
            step_of(step), unit ? S{} : *at.value, length, [&](int64_t e) { return values[e]; }, column);
        turn.passed(step + 1);
        at.value = values + length;
      }
    }
  }

  void operator()(const Piece& piece, Cursor<S, I>& at) const {
    if (piece.length < 0) {
      levels::NoTurn turn;
      in_turn(piece, at, turn);
      return;
    }
    for (int64_t done = 0; done < piece.rows; done += lanes) {
      const int64_t size = piece.rows - done < lanes ? piece.rows - done : lanes;
      const int64_t step = piece.first + done, low = ascending ? step : n - step - size;
      const S* values = at.value + (unit ? 0 : lanes);
      for (int64_t i = 0; i < size; ++i) {
        const int64_t j = ascending ? i : size - 1 - i;
        solve(
            low + j, unit ? S{} : at.value[j], piece.length, [&](int64_t e) { return values[e * lanes + j]; },
            [&](int64_t e) { return low + j + at.index[e]; });
      }
      at.value = values + int64_t{piece.length} * lanes;
    }
    at.index += piece.length;
  }

 private:
  template <class Value, class Column>
  [[gnu::always_inline]] void solve(int64_t row, const S& inverse, int64_t length, const Value& value,
                                    const Column& column) const {
    const int vectors = Count == 0 ? count : Count;
    S sum[Count == 0 ? most_vectors : Count];
    const S* b = sides.b + row * sides.b_row;
    const S factor = unit ? alpha : times(alpha, inverse);
    for (int k = 0; k < vectors; ++k) sum[k] = times(factor, b[k * sides.b_vector]);
    for (int64_t e = 0; e < length; ++e) {
      const S a = value(e);
      const S* x = sides.x + column(e) * sides.x_row;
      if (sides.x_vector == 1)
        for (int k = 0; k < vectors; ++k) sum[k] = minus_product(sum[k], a, x[k]);
      else
        for (int k = 0; k < vectors; ++k) sum[k] = minus_product(sum[k], a, x[k * sides.x_vector]);
    }
    S* x = sides.x + row * sides.x_row;
    for (int k = 0; k < vectors; ++k) x[k * sides.x_vector] = sum[k];
  }
};

}  // namespace kkc::sptrsv::host_relaid_parts
