// sptrsv, host_levels: rows from the caller's matrix, in blocks that threads solve level by level, or in turn
// (ops/levels/levels_host_blocks.hpp). Eight right-hand sides share one reading of the matrix; for one, rows that are
// alike go together (sptrsv_host_levels_runs.hpp). The same bits run to run, for every number of threads.
#pragma once

#include "ops/levels/levels_host_runner.hpp"
#include "ops/sptrsv/sptrsv_host_levels_runs.hpp"
#include "ops/sptrsv/sptrsv_host_triangle.hpp"

namespace kkc::sptrsv {

namespace host_levels_parts {

template <class S>
struct Sides {
  const S* b;
  S* x;
  int64_t b_row, b_vector, x_row, x_vector;
};

template <class Dev, class S, class I, class O>
class LevelKernel final : public Kernel {
  using Triangle = HostTriangle<I, O>;
  static constexpr int most_vectors = 8;
  static constexpr int64_t block_work = 60;  // a new place in each array of the matrix

 public:
  LevelKernel(const Desc& desc, Queue& queue)
      : ascending_(solves_ascending(desc)),
        unit_(desc.diag == Diag::unit),
        conjugate_(conjugates(desc.op)),
        triangle_(Triangle::template make<Dev>(desc, queue)),
        schedule_(levels::schedule_blocks<Dev, I>(queue, desc.memory, typename Triangle::Rows(triangle_, desc.A),
                                                  desc.A.rows, ascending_, threads_for(desc, queue), block_work,
                                                  triangle_.take_runs())),
        runner_(schedule_.threads),
        zeros_(static_cast<size_t>(schedule_.threads)) {}

  void execute(Queue& queue, const Args& args) override {
    const S alpha = factor<S>(args.alpha).get();
    const int64_t n = args.x.extents[0], vectors = args.x.rank == 2 ? args.x.extents[1] : 1;
    Sides<S> sides{static_cast<const S*>(args.b.data),
                   static_cast<S*>(args.x.data),
                   args.b.strides[0],
                   args.b.rank == 2 ? args.b.strides[1] : 0,
                   args.x.strides[0],
                   args.x.rank == 2 ? args.x.strides[1] : 0};
    if (alpha == S{}) {
      for (int64_t k = 0; k < vectors; ++k)
        for (int64_t row = 0; row < n; ++row) sides.x[row * sides.x_row + k * sides.x_vector] = S{};
      return;
    }
    for (int64_t k = 0; k < vectors; k += most_vectors) {
      const auto count = static_cast<int>(std::min<int64_t>(most_vectors, vectors - k));
      Sides<S> some = sides;
      some.b += k * sides.b_vector;
      some.x += k * sides.x_vector;
      if (count == 1)
        solve<1>(queue, args.A, alpha, some, 1);
      else if (count == most_vectors)
        solve<most_vectors>(queue, args.A, alpha, some, count);
      else
        solve<0>(queue, args.A, alpha, some, count);
    }
  }

  void describe(Info& info) const override {
    schedule_.describe(triangle_.rows(), info);
    info.add("plan_bytes", static_cast<int64_t>(triangle_.bytes()));
  }

 private:
  struct alignas(128) Zero {
    int64_t row;
  };

  /// K: number of vectors, or 0 for `vectors` of them, at most most_vectors.
  template <int K>
  void solve(Queue& queue, const CsrRef& A, const S& alpha, const Sides<S>& sides, int vectors) {
    for (Zero& zero : zeros_) zero.row = INT64_MAX;
    const typename Triangle::Rows rows(triangle_, A);
    const auto* values = static_cast<const S*>(A.values);
    const auto with = [&]<bool own>(std::bool_constant<own>, const auto& value_of) {
      const auto solve_step = [&](int64_t row, int64_t & first_zero) __attribute__((always_inline)) {
        S inverse{};
        if (!unit_) {
          const S d = triangle_.diagonal(rows, values, row);
          if (d == S{}) [[unlikely]]
            first_zero = std::min(first_zero, row);
          inverse = inverse_of(conjugated(d, conjugate_));
        }
        solve_row<K>(rows, row, values, value_of, alpha, inverse, sides, vectors);
      };
      const auto keep_zero = [&](int thread, int64_t first_zero) {
        auto& zero = zeros_[static_cast<size_t>(thread)].row;
        zero = std::min(zero, first_zero);
      };
      const int64_t n = triangle_.rows();
      const auto row_of = [&](int64_t step) { return ascending_ ? step : n - 1 - step; };  // and the step of a row
      if (schedule_.steps_in_turn > 0) {
        runner_.template run_in_turn<Dev>(
            queue, schedule_, n, [&](int thread, int64_t first, int64_t count, levels::BlockRunner::Turn& turn) {
              int64_t first_zero = INT64_MAX;
              for (int64_t step = first; step < first + count; ++step) {
                const int64_t row = row_of(step);
                turn.need(levels::nearest_before(rows, row, first, row_of));
                solve_step(row, first_zero);
                turn.passed(step + 1);
              }
              keep_zero(thread, first_zero);
            });
        return;
      }
      runner_.template run<Dev>(queue, schedule_, [&](int thread, int64_t phase) {
        const auto& share = schedule_.shares[static_cast<size_t>(thread)];
        int64_t first_zero = INT64_MAX;
        const levels::Block* block = share.blocks.data() + share.begin(phase);
        const levels::Block* const end = share.blocks.data() + share.end(phase);
        if constexpr (K == 1 && !own && std::is_floating_point_v<S>) {
          if (sides.x_row == 1) {
            const levels::Block* const all_end = share.blocks.data() + share.blocks.size();
            const auto solve_blocks = [&]<bool ascending>(std::bool_constant<ascending>) {
              const BlockSolver<S, I, typename Triangle::Rows, ascending> solver(
                  rows, n, schedule_.runs, values, {alpha, sides.b, sides.b_row, sides.x, unit_});
              for (; block < end; ++block)
                solver.solve(
                    *block, all_end - block > 2 ? block + 1 : nullptr,
                    [&](int64_t step) { solve_step(row_of(step), first_zero); }, first_zero);
            };
            ascending_ ? solve_blocks(std::true_type()) : solve_blocks(std::false_type());
          }
        }
        for (; block < end; ++block)
          for (int64_t step = block->first; step < block->first + block->count; ++step)
            solve_step(row_of(step), first_zero);
        keep_zero(thread, first_zero);
      });
    };
    if (triangle_.own())
      with(std::true_type(), [&](int64_t entry) { return conjugated(values[rows.place(entry)], conjugate_); });
    else
      with(std::false_type(), [&](int64_t entry) { return conjugated(values[entry], conjugate_); });
    int64_t first_zero = INT64_MAX;
    for (const Zero& zero : zeros_) first_zero = std::min(first_zero, zero.row);
    refuse_zero(first_zero, triangle_.rows());
  }

  template <int K, class Value>
  [[gnu::always_inline]] void solve_row(const typename Triangle::Rows& rows, int64_t row, const S* values,
                                        const Value& value_of, const S& alpha, const S& inverse, const Sides<S>& sides,
                                        int vectors) const {
    if constexpr (K == 1) {
      const S right = times(alpha, sides.b[row * sides.b_row]);
      const S sum = one_sum(rows, row, values, value_of, right, sides);
      sides.x[row * sides.x_row] = unit_ ? sum : times(sum, inverse);
      return;
    }
    const int count = K == 0 ? vectors : K;
    S sum[K == 0 ? most_vectors : K];
    const S* b = sides.b + row * sides.b_row;
    for (int k = 0; k < count; ++k) sum[k] = times(alpha, b[k * sides.b_vector]);
    const int64_t begin = rows.begin(row), end = rows.end(row);
    const auto subtract = [&](int64_t p) {
      const S a = value_of(p);
      const S* x = sides.x + rows.column(p) * sides.x_row;
      if (sides.x_vector == 1)
        for (int k = 0; k < count; ++k) sum[k] = minus(sum[k], times(a, x[k]));
      else
        for (int k = 0; k < count; ++k) sum[k] = minus(sum[k], times(a, x[k * sides.x_vector]));
    };
    // The neighbour's unknown, the last to come, is used last.
    if (ascending_)
      for (int64_t p = begin; p < end; ++p) subtract(p);
    else
      for (int64_t p = end - 1; p >= begin; --p) subtract(p);
    S* x = sides.x + row * sides.x_row;
    for (int k = 0; k < count; ++k) x[k * sides.x_vector] = unit_ ? sum[k] : times(sum[k], inverse);
  }

  /// Four sums at once; the neighbour's unknown, the last to come, is used last.
  template <class Value>
  [[gnu::always_inline]] S one_sum(const typename Triangle::Rows& rows, int64_t row, const S* values,
                                   const Value& value_of, S sum, const Sides<S>& sides) const {
    const int64_t begin = rows.begin(row), length = rows.end(row) - begin;
    const int64_t first = ascending_ ? begin : begin + length - 1, way = ascending_ ? 1 : -1;
    const auto product = [&](int64_t k) __attribute__((always_inline)) {
      const int64_t p = first + k * way;
      return times(value_of(p), sides.x[rows.column(p) * sides.x_row]);
    };
    S other{}, third{}, fourth{};
    const auto subtract_four = [&](int64_t k) __attribute__((always_inline)) {
      sum = minus(sum, product(k));
      other = minus(other, product(k + 1));
      third = minus(third, product(k + 2));
      fourth = minus(fourth, product(k + 3));
    };
    int64_t k = 0;
    for (; k + 9 <= length; k += 8) {
      rows.prefetch_ahead(values, first + k * way, way);
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

  bool ascending_, unit_, conjugate_;
  Triangle triangle_;
  levels::BlockSchedule schedule_;
  levels::BlockRunner runner_;
  std::vector<Zero> zeros_;
};

inline std::string unsupported(const Desc&) { return {}; }

}  // namespace host_levels_parts

template <class Dev>
constexpr Implementation host_levels() {
  return {{"host_levels"}, true, host_levels_parts::unsupported, make_typed<Dev, host_levels_parts::LevelKernel>};
}

}  // namespace kkc::sptrsv
