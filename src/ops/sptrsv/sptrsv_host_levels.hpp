// sptrsv, host_levels: rows from the caller's matrix, in blocks that threads solve level by level, or in turn
// (ops/levels/levels_host_blocks.hpp). Eight right-hand sides share one reading of the matrix; for one, rows that are
// alike go together (sptrsv_host_levels_runs.hpp). The same bits run to run, for every number of threads.
#pragma once

#include "ops/levels/levels_host_runner.hpp"
#include "ops/sptrsv/sptrsv_host_columns.hpp"
#include "ops/sptrsv/sptrsv_host_levels_rows.hpp"
#include "ops/sptrsv/sptrsv_host_levels_runs.hpp"
#include "ops/sptrsv/sptrsv_host_levels_slices.hpp"
#include "ops/sptrsv/sptrsv_host_triangle.hpp"

namespace kkc::sptrsv {

namespace host_levels_parts {

template <class Dev, class S, class I, class O>
class LevelKernel final : public Kernel {
  using Triangle = HostTriangle<I, O>;
  static constexpr bool by_vectors = std::is_floating_point_v<S>;
  // A new place in each array of the matrix; by level go rows that lie there, by vectors.
  static constexpr levels::BlockCost block_cost = {120, 480};
  static constexpr levels::BlockCost short_rows_cost = {
      120, 480, 8, 25, has_short_rows<S, I> ? 12 : 8, has_short_rows<S, I>};

 public:
  LevelKernel(const Desc& desc, Queue& queue)
      : ascending_(solves_ascending(desc)),
        unit_(desc.diag == Diag::unit),
        conjugate_(conjugates(desc.op)),
        triangle_(Triangle::template make<Dev>(desc, queue)),
        schedule_(levels::schedule_blocks<Dev, I>(
            queue, desc.memory, typename Triangle::Rows(triangle_, desc.A), desc.A.rows, ascending_,
            threads_for(desc, queue), by_vectors && triangle_.single_diagonals() ? short_rows_cost : block_cost,
            triangle_.take_runs())),
        runner_(schedule_.threads),
        zeros_(static_cast<size_t>(schedule_.threads)),
        medium_(has_short_rows<S, I> && !triangle_.own() &&
                seldom_chained(typename Triangle::Rows(triangle_, desc.A), desc.A.rows, ascending_)) {
    if (schedule_.order.data() == nullptr) return;
    slices_.resize(static_cast<size_t>(schedule_.threads));
    host_parts_checked<Dev>(queue, schedule_.threads, [&](int64_t thread) {
      if constexpr (by_vectors)
        slices_[static_cast<size_t>(thread)].plan(
            desc.memory, schedule_, thread, typename Triangle::Rows(triangle_, desc.A), ascending_, triangle_.own());
    });
    schedule_.forget_lengths();
  }

  void execute(Queue& queue, const Args& args) override {
    const S alpha = factor<S>(args.alpha).get();
    const int64_t n = args.x.extents[0], vectors = args.x.rank == 2 ? args.x.extents[1] : 1;
    const Sides<S> sides = sides_of<S>(args);
    if (alpha == S{}) {
      fill_with_zeros(sides, n, vectors);
      return;
    }
    each_few_vectors(sides, vectors, [&]<int K>(std::integral_constant<int, K>, const Sides<S>& some, int count) {
      solve<K>(queue, args.A, alpha, some, count);
    });
  }

  int threads() const { return schedule_.threads; }

  void describe(Info& info) const override {
    schedule_.describe(triangle_.rows(), info);
    size_t bytes = triangle_.bytes() + schedule_.order.bytes();
    for (const auto& slices : slices_) bytes += slices.bytes();
    info.add("plan_bytes", static_cast<int64_t>(bytes));
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
    const auto with = [&]<bool ascending, bool own>(std::bool_constant<ascending>, std::bool_constant<own>) {
      const TriangleRows<S, Triangle, ascending, own> triangle{triangle_, rows, values, unit_, conjugate_};
      if constexpr (K == 1)
        if (sides.x_row == 1) {
          const OneVector<S, Triangle, ascending, own> one{triangle, alpha, sides.b, sides.b_row, sides.x, medium_};
          if constexpr (by_vectors)
            if (!slices_.empty() && sides.b_row == 1) {
              run_slices<ascending, own>(queue, one, values);
              return;
            }
          if constexpr (!own && by_vectors)
            if (slices_.empty()) {
              const BlockSolver<S, I, typename Triangle::Rows, ascending> blocks(
                  rows, triangle_.rows(), schedule_.runs, values, {alpha, sides.b, sides.b_row, sides.x, unit_});
              run(queue, one, [&](const levels::Block* some, int64_t left, int64_t& first_zero) {
                blocks.solve(some, left, one, first_zero);
              });
              return;
            }
          run(queue, one);
          return;
        }
      run(queue, SeveralVectors<K, S, Triangle, ascending, own>{triangle, alpha, sides, vectors});
    };
    const auto with_order = [&](auto ascending) {
      triangle_.own() ? with(ascending, std::true_type()) : with(ascending, std::false_type());
    };
    ascending_ ? with_order(std::true_type()) : with_order(std::false_type());
    int64_t first_zero = INT64_MAX;
    for (const Zero& zero : zeros_) first_zero = std::min(first_zero, zero.row);
    refuse_zero(first_zero, triangle_.rows());
  }

  template <bool ascending, bool own, class Steps>
  void run_slices(Queue& queue, const Steps& steps, const S* values) {
    runner_.template run<Dev>(queue, schedule_, [&](int thread, int64_t phase) {
      const auto t = static_cast<size_t>(thread);
      const auto& share = schedule_.shares[t];
      int64_t& first_zero = zeros_[t].row;
      const auto by_row = [&](const I* rows, int64_t count) { steps.solve_rows(rows, count, first_zero); };
      for (int64_t b = share.begin(phase); b < share.end(phase); ++b) {
        const levels::Block& block = share.blocks[static_cast<size_t>(b)];
        if (block.run == levels::several_levels)
          by_row(schedule_.order.template as<I>() + block.first, block.count);
        else
          slices_[t].template solve<ascending, own>(b, values, {steps.alpha, steps.b, steps.x, unit_}, by_row,
                                                    first_zero);
      }
    });
  }

  template <class Steps>
  void run(Queue& queue, const Steps& steps) {
    if (!slices_.empty()) {
      run(queue, steps, [&](const levels::Block* block, int64_t, int64_t& first_zero) {
        steps.solve_rows(schedule_.order.template as<I>() + block->first, block->count, first_zero);
      });
      return;
    }
    run(queue, steps, [&](const levels::Block* block, int64_t, int64_t& first_zero) {
      steps.solve(block->first, block->first + block->count, levels::NoTurn(), first_zero);
    });
  }

  /// steps: for those in turn. solve_block(blocks, left, first_zero): the first of the blocks that a thread has left.
  template <class Steps, class Block>
  void run(Queue& queue, const Steps& steps, const Block& solve_block) {
    if (schedule_.steps_in_turn > 0) {
      runner_.template run_in_turn<Dev>(queue, schedule_, triangle_.rows(),
                                        [&](int thread, int64_t first, int64_t count, levels::BlockRunner::Turn& turn) {
                                          steps.solve(first, first + count, turn,
                                                      zeros_[static_cast<size_t>(thread)].row);
                                        });
      return;
    }
    runner_.template run<Dev>(queue, schedule_, [&](int thread, int64_t phase) {
      const auto& share = schedule_.shares[static_cast<size_t>(thread)];
      int64_t& first_zero = zeros_[static_cast<size_t>(thread)].row;
      const levels::Block* const end = share.blocks.data() + share.end(phase);
      const levels::Block* const all_end = share.blocks.data() + share.blocks.size();
      for (const levels::Block* block = share.blocks.data() + share.begin(phase); block < end; ++block)
        solve_block(block, all_end - block, first_zero);
    });
  }

  bool ascending_, unit_, conjugate_;
  Triangle triangle_;
  levels::BlockSchedule schedule_;
  levels::BlockRunner runner_;
  std::vector<Zero> zeros_;
  bool medium_;
  std::vector<LevelSlices<S, I, O>> slices_;  // of threads, where rows go by level
};

/// Threads that gather a transposed triangle's values from all over A before they take less time than one that reads
/// them as they lie.
inline constexpr int gathering_threads = 3;

template <class Dev>
std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.A.scalar, desc.A.pair, [&](auto scalar, auto pair) {
    using P = decltype(pair);
    using S = Element<typename decltype(scalar)::type>;
    using I = typename P::ordinal;
    using O = typename P::offset;
    const auto by_columns = [&] {
      if (transposes(desc.op)) kernel = ColumnKernel<Dev, S, I, O>::make(desc, queue);
      return kernel != nullptr;
    };
    if (threads_for(desc, queue) < gathering_threads && by_columns()) return;
    auto by_levels = std::make_unique<LevelKernel<Dev, S, I, O>>(desc, queue);
    if (by_levels->threads() > 1 || !by_columns()) kernel = std::move(by_levels);
  });
  return kernel;
}

inline std::string unsupported(const Desc&) { return {}; }

}  // namespace host_levels_parts

template <class Dev>
constexpr Implementation host_levels() {
  return {{"host_levels"}, true, host_levels_parts::unsupported, host_levels_parts::make<Dev>};
}

}  // namespace kkc::sptrsv
