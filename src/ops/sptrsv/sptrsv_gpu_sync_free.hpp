// sptrsv, gpu_sync_free: launches whose rows wait for each other (sptrsv_gpu_sync_free_kernels.hpp), for devices whose
// running blocks all make progress. x is solved in a workspace where each number is its own flag. Long runs of levels
// with few rows go to one block each, all others to one launch between two such runs. Bands, one chain of all rows, are
// solved by blocks of rows (sptrsv_gpu_blocks.hpp).
#pragma once

#include <algorithm>
#include <vector>

#include "device/gpu_scan.hpp"
#include "sptrsv_gpu_blocks.hpp"
#include "sptrsv_gpu_chains.hpp"
#include "sptrsv_gpu_parts.hpp"
#include "sptrsv_gpu_relabelled.hpp"
#include "sptrsv_gpu_row_variants.hpp"
#include "sptrsv_gpu_segments.hpp"
#include "sptrsv_gpu_stretches.hpp"
#include "sptrsv_gpu_sync_free_kernels.hpp"
#include "sptrsv_gpu_sync_free_rows.hpp"
#include "sptrsv_gpu_unlike_rows.hpp"

namespace kkc::sptrsv {
namespace gpu_parts {

template <class T, class I, class O>
class SyncFreeKernel final : public Kernel {
 public:
  SyncFreeKernel(const Desc& desc, Queue& queue)
      : triangle_(desc, queue),
        lanes_(lanes_for(triangle_.levels().entries_a_row, desc.vectors)),
        rows_(desc.A.rows),
        vectors_(desc.vectors),
        by_records_(vectors_ == 1 && triangle_.levels().parted),
        unlike_(desc, queue, triangle_.template with_values<T>(desc.A), triangle_.levels()),
        segments_(unlike_.taken() || unlike_.longest() <= segment_tuning::long_row
                      ? Segments<T, I, O>()
                      : Segments<T, I, O>(desc, queue, triangle_.template with_values<T>(desc.A), triangle_.levels())),
        variant_(row_variant(desc, triangle_.levels(), segments_.count() > 0)),
        runs_(runs()),
        zeros_(desc.memory, queue) {
    gpu::prepare<Fill>(queue);
    if (unlike_.taken()) return;
    share_chains(desc, queue);
    int64_t groups = 0;
    bool chains = false, others = false;
    for (const SyncFreeRun& run : runs_) {
      groups += groups_of(run);
      (run.chain ? chains : others) = true;
    }
    const Levels& levels = triangle_.levels();
    const I* const order = levels.order->template as<I>();
    const bool relabelled = by_records_ && variant_.kind == RowKind::relabelled;
    gates_ = device_array<I>(desc, groups);
    I* gates = gates_.as<I>();
    for (const SyncFreeRun& run : runs_) {
      const int distance = run.chain                     ? sync_free_tuning::near_gate
                           : variant_.gate_distance == 0 ? INT32_MAX  // none
                                                         : variant_.gate_distance;
      gpu::launch_over(queue, groups_of(run),
                       SetGates<I>{relabelled ? nullptr : order, levels.device_starts->template as<I>(), levels.count,
                                   run.first, groups_of(run), rows_a_warp(run), distance, gates});
      gates += groups_of(run);
    }
    if (chains) {
      places_ = device_array<I>(desc, rows_);
      gpu::launch_over(queue, rows_, Invert<I>{order, rows_, places_.as<I>()});
      gpu::prepare<Chain>(queue);
    }
    if (others && by_records_) {
      if (variant_.kind == RowKind::segmented) {
        records_ = std::move(segments_.records());
      } else if (relabelled) {
        Relabelled<I, O> made;
        made.make(desc, queue, triangle_.template with_values<T>(desc.A), levels);
        records_ = std::move(made.records);
        columns_ = std::move(made.columns);
      } else {
        records_ = device_array<Record<I, O>>(desc, rows_);
        gpu::launch_over(
            queue, rows_,
            SetRecords<T, I, O>{triangle_.template with_values<T>(desc.A), order, records_.as<Record<I, O>>()});
      }
      with_row_kernel<T, I, O>(variant_, [&]<class Rows>(Rows) { gpu::prepare<Rows>(queue); });
    }
    if (others && !by_records_) gpu::prepare<Wide>(queue);
  }

  void execute(Queue& queue, const Args& args) override {
    forget_all(queue, args.workspace, workspace_bytes());
    const Levels& levels = triangle_.levels();
    RowSolver<T, I, O> solver{};
    solver.A = triangle_.template with_values<T>(args.A);
    solver.operands = operands_of<T>(args);
    solver.order = levels.order->template as<I>();
    solver.work = reinterpret_cast<T*>(static_cast<char*>(args.workspace) + ticket_bytes());
    solver.zeros = zeros_.counter();
    solver.column_lanes_log2 = lanes_.columns_log2;
    unsigned* ticket = static_cast<unsigned*>(args.workspace);
    const I* gates = gates_.as<I>();
    const RowWork<T, I, O> work{solver.A, solver.operands, solver.work, solver.zeros};
    if (unlike_.taken()) {
      unlike_.solve(queue, work, ticket);
      return;
    }
    for (const SyncFreeRun& run : runs_) {
      solver.entry_lanes_log2 = lanes_log2_of(run) - lanes_.columns_log2;
      solver.nap = run.chain ? sync_free_tuning::chain_nap : 0;
      if (run.chain)
        gpu::launch(queue, 1, Chain::threads, 0, Chain{solver, places_.as<I>(), gates, run.first, run.end});
      else if (by_records_)
        with_row_kernel<T, I, O>(variant_, [&]<class Rows>(Rows rows) {
          rows.rows = work;
          rows.records = records_.as<Record<I, O>>();
          rows.columns_by_position = columns_.as<I>();
          rows.gates = variant_.gate_distance != 0 ? gates : nullptr;
          rows.first_position = run.first;
          rows.end_position = run.end;
          rows.ticket = ticket++;
          gpu::launch(queue, gpu::blocks_for(groups_of(run), Rows::warps), Rows::threads, 0, rows);
        });
      else
        gpu::launch(queue, gpu::blocks_for(groups_of(run) * tiles(), Wide::warps), Wide::threads, 0,
                    Wide{solver, gates, run.first, run.end, ticket++, static_cast<int>(tiles())});
      gates += groups_of(run);
    }
  }

  size_t workspace_bytes() const override {
    return flagged_bytes(ticket_bytes(), rows_ * vectors_ + segments_.count() + unlike_.sums(), sizeof(T));
  }
  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) override {
    return zeros_.check(queue, where, count);
  }
  std::shared_ptr<const Levels> levels() const override { return triangle_.shared_levels(); }
  void describe(Info& info) const override {
    const Levels& levels = triangle_.levels();
    int64_t chained = 0;
    for (const SyncFreeRun& run : runs_)
      if (run.chain) chained += run.end - run.first;
    info.add("levels", levels.count);
    info.add("rows_per_level", static_cast<double>(rows_) / static_cast<double>(std::max<int64_t>(1, levels.count)));
    info.add("launches", static_cast<int64_t>(runs_.size()));
    info.add("chained_rows", chained);
    info.add("segments", segments_.count() + unlike_.sums() - unlike_.long_rows());
    info.add("rows_by_warps", unlike_.long_rows());
    info.add("renumbered", int64_t{columns_.bytes() != 0});
    info.add("lanes_a_row", int64_t{1} << (unlike_.taken() ? unlike_.lanes_log2()
                                           : by_records_   ? variant_.lanes_log2
                                                           : lanes_.log2()));
    info.add("plan_bytes", static_cast<int64_t>(triangle_.bytes() + gates_.bytes() + places_.bytes() +
                                                records_.bytes() + columns_.bytes() + unlike_.bytes()));
  }

 private:
  using Wide = SolveSyncFree<T, I, O>;
  using Chain = SolveChain<T, I, O>;

  /// Chains among the levels before the first segment, or, without segments, of one vector's plain rows, among all.
  std::vector<SyncFreeRun> runs() const {
    const Levels& levels = triangle_.levels();
    if (rows_ == 0) return {};
    const bool chains = vectors_ == 1 && variant_.kind == RowKind::plain;
    std::vector<SyncFreeRun> made = sync_free_runs(levels, chains ? levels.count : segments_.first_level());
    if (chains) return made;
    const int64_t first = made.empty() ? 0 : made.back().end;
    if (made.empty() || made.back().chain) made.push_back({false, first, first, 0});
    made.back().end = rows_ + segments_.count();
    made.back().levels += levels.count - segments_.first_level();
    return made;
  }

  /// How many lanes share a row of each chain: as many as its rows' lengths give work to, while the block has a level's
  /// rows under way at once. Blocks.
  void share_chains(const Desc& desc, Queue& queue) {
    const auto chains = std::count_if(runs_.begin(), runs_.end(), [](const SyncFreeRun& run) { return run.chain; });
    if (chains == 0) return;
    std::vector<unsigned long long> entries(static_cast<size_t>(chains));
    const Buffer counts = device_array<unsigned long long>(desc, chains);
    gpu::clear_words(queue, counts.data(), counts.bytes());
    auto* count = counts.as<unsigned long long>();
    for (const SyncFreeRun& run : runs_)
      if (run.chain)
        gpu::launch_over(
            queue, run.end - run.first,
            CountEntries<T, I, O>{triangle_.template with_values<T>(desc.A), triangle_.levels().order->template as<I>(),
                                  run.first, run.end, count++});
    queue.copy(entries.data(), counts.data(), counts.bytes());
    size_t at = 0;
    for (SyncFreeRun& run : runs_) {
      if (!run.chain) continue;
      const auto rows = static_cast<double>(run.end - run.first), mean = static_cast<double>(entries[at++]) / rows;
      run.lanes_log2 = lanes_for(mean, 1).entries_log2;
      if (mean < chain_tuning::chain_entries) run.lanes_log2 = std::min(run.lanes_log2, 2);
      while (run.lanes_log2 > 2 && static_cast<double>((Chain::threads >> run.lanes_log2) * run.levels) < rows)
        --run.lanes_log2;
    }
  }

  int lanes_log2_of(const SyncFreeRun& run) const {
    if (run.chain) return run.lanes_log2;  // one right-hand side
    return by_records_ ? variant_.lanes_log2 : lanes_.log2();
  }
  int rows_a_warp(const SyncFreeRun& run) const { return 32 >> lanes_log2_of(run); }
  int64_t groups_of(const SyncFreeRun& run) const {
    return (run.end - run.first + rows_a_warp(run) - 1) / rows_a_warp(run);
  }
  int64_t tiles() const { return (vectors_ + (int64_t{1} << lanes_.columns_log2) - 1) >> lanes_.columns_log2; }
  /// Tickets lie at the beginning of the workspace.
  size_t ticket_bytes() const { return (runs_.size() * sizeof(unsigned) + 255) / 256 * 256; }

  PlannedTriangle<I, O> triangle_;
  Lanes lanes_;
  int64_t rows_, vectors_;
  bool by_records_;  // by SolveRows
  UnlikeRows<T, I, O> unlike_;
  Segments<T, I, O> segments_;
  RowVariant variant_;
  std::vector<SyncFreeRun> runs_;
  Buffer gates_, places_, records_, columns_;
  gpu::ZeroRows zeros_;
};

inline std::unique_ptr<Kernel> make_sync_free(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  with_types(desc, [&]<class T, class I, class O>(T, I, O) {
    if (!BlocksKernel<T, I, O>::may_take(desc)) {
      kernel = std::make_unique<SyncFreeKernel<T, I, O>>(desc, queue);
      return;
    }
    namespace find = levels::gpu_parts;
    auto look = find::first_look<I, O>(queue, desc.memory, desc.A, desc.uplo == Uplo::lower, desc.known_levels.get());
    kernel = BlocksKernel<T, I, O>::make(desc, queue, look);
    if (!kernel) kernel = StretchesKernel<T, I, O>::make(desc, queue, look);
    if (kernel) return;
    Desc with_levels = desc;
    if (!desc.known_levels)
      with_levels.known_levels = find::find_after<I, O>(queue, {desc.A, desc.uplo, false, desc.memory}, look);
    kernel = std::make_unique<SyncFreeKernel<T, I, O>>(with_levels, queue);
  });
  return kernel;
}

inline std::string sync_free_unsupported(const Desc&) { return {}; }

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_sync_free() {
  return {{"gpu_sync_free"}, true, gpu_parts::sync_free_unsupported, gpu_parts::make_sync_free};
}

}  // namespace kkc::sptrsv
