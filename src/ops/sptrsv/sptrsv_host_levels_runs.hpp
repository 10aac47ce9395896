// sptrsv, host_levels: rows of the caller's matrix whose columns lie at the same distances from them, as on grids and
// bands, eight at a time (the sums of DIA kernels; Bell, Garland, "Implementing sparse matrix-vector multiplication on
// throughput-oriented processors", SC'09, section 4.1, with values where CSR has them). What rows need from further
// away is subtracted by vectors, then each takes what the ones before it left. Neither offsets nor columns are read but
// for a run's first row, and what the next rows and the next block need is asked for meanwhile: blocks of a level lie
// all over the matrix. A row's terms are added as in any other row (compiled without fused products), so that the bits
// do not depend on which rows are together.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <type_traits>
#include <vector>

#include "device/host_gather.hpp"
#include "ops/levels/levels_host_blocks.hpp"
#include "ops/sptrsv/sptrsv_host_group.hpp"
#include "ops/sptrsv/sptrsv_host_triangle.hpp"

namespace kkc::sptrsv::host_levels_parts {

/// Of a row's terms those before are added to four sums in turn.
inline int64_t taken_by_fours(int64_t length) { return length > 0 ? (length - 1) / 4 * 4 : 0; }

/// Rows of a run as they lie in the caller's matrix, in order of steps; way is from a row to the next one, and from a
/// term to the next: 1, or -1. Terms are counted from the one whose column is furthest away.
template <class S, class I>
struct RunRows {
  int64_t row;         // the first to be solved
  const S* values;     // of its first term
  const S* diagonal;   // its own
  const I* columns;    // of its first term
  int64_t base;        // of columns
  int64_t row_stride;  // from a row's values to the next one's
  int64_t length;      // terms
  int64_t far;         // so many reach outside of any group
  int64_t ahead;       // entries between a group and the one that is asked for meanwhile
};

/// One vector. x: without strides.
template <class S, class I, bool Ascending>
struct RunSolver {
  static_assert(std::is_floating_point_v<S>);
  using L = Group<S>;
  using Zeros = Group<typename L::Word>;
  static constexpr int64_t way = Ascending ? 1 : -1, rows_ahead = 4 * group_rows, most_asked_for = 16;

  S alpha;
  const S* b;
  int64_t b_row;
  S* x;
  bool unit;

  /// Solves group_rows rows from the from-th one on. zeros: gets those whose diagonal is zero.
  void solve(const RunRows<S, I>& run, int64_t from, Zeros& zeros) const {
    const int64_t row = run.row + way * from, stride = run.row_stride, length = run.length;
    const S* values = run.values + from * stride;
    const auto known = [&](int64_t k) __attribute__((always_inline)) {
      return x + way * from + (static_cast<int64_t>(run.columns[k * way]) - run.base);
    };
    L sum, other{}, third{}, fourth{}, inverse;
    if (b_row == 1)
      sum.template load<Ascending>(b + row);
    else
      sum.load_strided(b + row * b_row, way * b_row);
    sum *= alpha;
    if (!unit) {
      inverse.load_strided(run.diagonal + from * stride, stride);
      inverse.note_zeros(zeros);
      inverse.invert();
    }
    const auto subtract = [&](L & from_sum, int64_t k) __attribute__((always_inline)) {
      L a, unknowns;
      a.load_strided(values + k * way, stride);
      const S* at = known(k);
      if (length <= most_asked_for) prefetch(at + way * rows_ahead);
      unknowns.template load<Ascending>(at);
      from_sum.subtract_product(a, unknowns);
    };
    const int64_t fours = taken_by_fours(length), far_fours = std::min(fours, run.far) / 4 * 4;
    int64_t k = 0;
    for (; k < far_fours; k += 4) {
      subtract(sum, k);
      subtract(other, k + 1);
      subtract(third, k + 2);
      subtract(fourth, k + 3);
    }
    if (k == fours)
      for (; k < run.far && k + 1 < length; ++k) subtract(sum, k);
    S* out = x + row;
    const int64_t left = length - k;
    const bool chained = left > 0 && known(length - 1) == out - way;
    if (k == run.far && left == 1 && chained) {
      join(sum, other, third, fourth);
      finish<1, true>(sum, inverse, values + k * way, stride, nullptr, nullptr, nullptr, out);
      return;
    }
    // Up to three terms. Sums of a few terms are joined before these: that changes none but a minus zero.
    if (k == run.far && (left == 1 || (fours == 0 && left > 1 && left <= 3))) {
      join(sum, other, third, fourth);
      const auto with = [&](auto count, auto chain) __attribute__((always_inline)) {
        finish<count, chain>(sum, inverse, values + k * way, stride, known(k), known(std::max<int64_t>(0, length - 2)),
                             known(length - 1), out);
      };
      const std::true_type yes;
      const std::false_type no;
      if (left == 1)
        with(std::integral_constant<int, 1>(), no);
      else if (left == 2)
        chained ? with(std::integral_constant<int, 2>(), yes) : with(std::integral_constant<int, 2>(), no);
      else
        chained ? with(std::integral_constant<int, 3>(), yes) : with(std::integral_constant<int, 3>(), no);
      return;
    }
    if (k == length || (k + 1 == length && k < run.far)) {  // nobody waits for a neighbour
      join(sum, other, third, fourth);
      if (k < length) subtract(sum, k);
      if (!unit) sum *= inverse;
      sum.template store<Ascending>(out);
      return;
    }
    for (int i = 0; i < group_rows; ++i) {
      const S one = rest_of_row(sum[i], other[i], third[i], fourth[i], k, length,
                                [&](int64_t term) { return values[term * way + i * stride] * known(term)[i * way]; });
      out[i * way] = unit ? one : one * inverse[i];
    }
  }

  /// The same of one row; whether its diagonal is not zero.
  bool solve_row(const RunRows<S, I>& run, int64_t from) const {
    const int64_t row = run.row + way * from;
    const S* values = run.values + from * run.row_stride;
    const S* known = x + way * from - run.base;
    const S d = unit ? S{1} : run.diagonal[from * run.row_stride], inverse = S{1} / d;
    const S sum = rest_of_row(alpha * b[row * b_row], S{}, S{}, S{}, 0, run.length,
                              [&](int64_t k) { return values[k * way] * known[run.columns[k * way]]; });
    x[row] = unit ? sum : sum * inverse;
    return d != S{};
  }

 private:
  /// The last terms, `count` of them, of the unknowns `first`, if there are three `second`, and `third` (chained: of
  /// the row right before), and their values.
  template <int count, bool chained>
  [[gnu::always_inline]] void finish(const L& sums, const L& inverse, const S* values, int64_t stride, const S* first,
                                     const S* second, const S* third, S* out) const {
    S last = chained ? out[-way] : S{};
    for (int i = 0; i < group_rows; ++i) {
      S one = sums[i];
      if constexpr (count > 1) one -= values[i * stride] * first[i * way];
      if constexpr (count > 2) one -= values[way + i * stride] * second[i * way];
      one -= values[(count - 1) * way + i * stride] * (chained ? last : third[i * way]);
      out[i * way] = last = unit ? one : one * inverse[i];
    }
  }

  /// What is left of a row from term k on; the last one may only just have become known.
  template <class Product>
  [[gnu::always_inline]] static S rest_of_row(S sum, S other, S third, S fourth, int64_t k, int64_t length,
                                              const Product& product) {
    for (; k + 5 <= length; k += 4) {
      sum -= product(k);
      other -= product(k + 1);
      third -= product(k + 2);
      fourth -= product(k + 3);
    }
    for (; k + 1 < length; ++k) sum -= product(k);
    sum = (sum + other) + (third + fourth);
    return k < length ? sum - product(k) : sum;
  }

  /// (sum + other) + (third + fourth)
  [[gnu::always_inline]] static void join(L& sum, const L& other, L& third, const L& fourth) {
    sum += other;
    third += fourth;
    sum += third;
  }
};

/// Goes through blocks. Rows: HostTriangle's, in the caller's matrix.
template <class S, class I, class Rows, bool Ascending>
class BlockSolver {
  using Solver = RunSolver<S, I, Ascending>;
  static constexpr int64_t way = Solver::way;

 public:
  BlockSolver(const Rows& rows, int64_t n, const std::vector<levels::Run>& runs, const S* values, const Solver& solver)
      : rows_(rows), n_(n), runs_(runs), values_(values), solver_(solver) {}

  /// The first of `left` blocks, which its thread solves one after the other. steps: solves those outside of runs.
  /// first_zero: gets the first row whose diagonal is zero.
  template <class Steps>
  void solve(const levels::Block* blocks, int64_t left, const Steps& steps, int64_t& first_zero) const {
    constexpr int64_t few_rows = 16;  // are solved before what the next ones need is there
    const levels::Block& block = blocks[0];
    const int64_t end = block.first + block.count, end_entry = end_of(row_of(end - 1));
    const int64_t jump = left < 3 ? 0 : first_of(row_of(blocks[1].first)) - end_entry;
    const int64_t ahead = block.count > few_rows ? 1 : 4;
    if (left > 2 * ahead) ask_for(blocks[ahead], blocks[2 * ahead]);
    auto run = runs_.begin() + block.run;
    for (int64_t step = block.first, stop = 0; step < end; step = stop) {
      while (run->first + run->rows <= step) ++run;
      stop = std::min(end, run->first + run->rows);
      if (!run->alike || stop - step < levels::shortest_run) {
        steps.solve(step, stop, levels::NoTurn(), first_zero);
        continue;
      }
      const int64_t first = step;
      const RunRows<S, I> here = run_rows(row_of(first));
      const auto zero_at = [&](int64_t at) { first_zero = std::min(first_zero, row_of(at)); };
      typename Solver::Zeros zeros{};
      for (; step + group_rows <= stop; step += group_rows) {
        ask_ahead(here, step - first, end_entry, jump);
        solver_.solve(here, step - first, zeros);
      }
      bool any = false;
      for (int j = 0; j < group_rows; ++j) any = any || zeros[j] != 0;
      for (int64_t at = first; any && at < step; ++at)
        if (values_[rows_.diagonal(row_of(at))] == S{}) zero_at(at);
      if (step < stop) ask_ahead(here, step - first, end_entry, jump);
      for (; step < stop; ++step)
        if (!solver_.solve_row(here, step - first)) [[unlikely]]
          zero_at(step);
    }
  }

 private:
  static constexpr int64_t line = 64 / static_cast<int64_t>(sizeof(S)), entries_ahead = 32 * line;

  int64_t row_of(int64_t step) const { return Ascending ? step : n_ - 1 - step; }
  /// A row's first term, and where one behind its last would lie.
  int64_t first_of(int64_t row) const { return Ascending ? rows_.begin(row) : rows_.end(row) - 1; }
  int64_t end_of(int64_t row) const { return Ascending ? rows_.end(row) : rows_.begin(row) - 1; }

  /// Of the run whose rows are solved from this one on, at least one after it.
  RunRows<S, I> run_rows(int64_t row) const {
    const int64_t first = first_of(row);
    RunRows<S, I> made{row,
                       values_ + first,
                       solver_.unit ? nullptr : values_ + rows_.diagonal(row),
                       rows_.indices() + first,
                       rows_.base(),
                       rows_.begin(row + way) - rows_.begin(row),
                       rows_.end(row) - rows_.begin(row),
                       0,
                       0};
    made.far = made.length;
    const int64_t group = group_rows * made.row_stride;
    made.ahead = std::max<int64_t>(1, entries_ahead / std::max<int64_t>(1, group * way)) * group;
    while (made.far > 0 && std::abs(rows_.column(first + (made.far - 1) * way) - row) < group_rows) --made.far;
    return made;
  }

  /// What the first rows of a block need, and where one after it lies. Inlined at once, like prefetch().
  [[gnu::always_inline]] void ask_for(const levels::Block& next, const levels::Block& later) const {
    constexpr int64_t most_rows = 128, most_entries = 16 * line;
    const int64_t row = row_of(next.first), last = row_of(next.first + next.count - 1);
    rows_.prefetch_row(row_of(later.first));
    rows_.prefetch_row(row_of(later.first + later.count - 1));
    for (int64_t i = 0; i < std::min(next.count, most_rows); i += line) {
      prefetch(solver_.b + (row + way * i) * solver_.b_row);
      prefetch(solver_.x + row + way * i);
    }
    const int64_t first = first_of(row), end = end_of(last);
    prefetch_entry(rows_.indices(), first);
    prefetch_entry(rows_.indices(), end - way);
    if (runs_[static_cast<size_t>(next.run)].alike) return;  // whose values are asked for by groups
    const int64_t entries = std::min(most_entries, (end - first) * way);
    for (int64_t k = 0; k <= entries; k += line) {
      prefetch_entry(values_, first + k * way);
      prefetch_entry(rows_.indices(), first + k * way);
    }
  }

  /// Values of the group that is solved a few groups after the one from run row `from` on; behind a block's end, so
  /// much of the next one's. jump: from this block's end to the next block.
  [[gnu::always_inline]] void ask_ahead(const RunRows<S, I>& run, int64_t from, int64_t end_entry, int64_t jump) const {
    constexpr int64_t widest_gap = 6 * line;  // between rows, that is asked for with them
    const int64_t group = group_rows * run.row_stride * way;
    int64_t entry = run.values - values_ + from * run.row_stride + run.ahead;
    if ((entry - end_entry) * way >= 0) entry += jump;
    const S* values = values_ + entry;
    if (group / group_rows - run.length < widest_gap) {
      for (int64_t k = 0; k < group; k += line) prefetch(values + k * way);
      return;
    }
    for (int i = 0; i < group_rows; ++i)
      for (int64_t k = 0; k < run.length + line; k += line) prefetch(values + i * run.row_stride + k * way);
  }

  const Rows& rows_;
  int64_t n_;
  const std::vector<levels::Run>& runs_;
  const S* values_;
  Solver solver_;
};

}  // namespace kkc::sptrsv::host_levels_parts
