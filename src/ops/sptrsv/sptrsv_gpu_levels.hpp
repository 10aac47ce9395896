// sptrsv, gpu_levels: a launch for each level, and one block for runs of levels that one block suffices for. Needs no
// progress of one block while another waits: any device will do.
#pragma once

#include <vector>

#include "sptrsv_gpu_levels_kernels.hpp"
#include "sptrsv_gpu_parts.hpp"

namespace kkc::sptrsv {
namespace gpu_parts {

/// Threads' worth of work that one block does sooner than another launch would begin.
inline constexpr int64_t one_block_work = 2048;

template <class T, class I, class O>
class LevelsKernel final : public Kernel {
 public:
  LevelsKernel(const Desc& desc, Queue& queue)
      : triangle_(desc, queue),
        lanes_(lanes_for(triangle_.levels().entries_a_row, desc.vectors)),
        vectors_(desc.vectors),
        zeros_(desc.memory, queue) {
    const Levels& levels = triangle_.levels();
    for (int64_t l = 0; l < levels.count; ++l) {
      const int64_t work = work_of(l);
      const auto blocks = static_cast<unsigned>(
          work <= one_block_work ? 1 : std::min<int64_t>((work + Solve::threads - 1) / Solve::threads, most_blocks));
      if (blocks == 1 && !launches_.empty() && launches_.back().blocks == 1)
        launches_.back().last = l + 1;
      else
        launches_.push_back({l, l + 1, blocks});
    }
    gpu::prepare<Solve>(queue);
  }

  void execute(Queue& queue, const Args& args) override {
    const Levels& levels = triangle_.levels();
    Solve solve{};
    solve.A = triangle_.template with_values<T>(args.A);
    solve.operands = operands_of<T>(args);
    solve.order = levels.order->template as<I>();
    solve.starts = levels.device_starts ? levels.device_starts->template as<I>() : nullptr;
    solve.zeros = zeros_.counter();
    solve.entry_lanes_log2 = lanes_.entries_log2;
    solve.column_lanes_log2 = lanes_.columns_log2;
    for (const Launch& launch : launches_) {
      solve.first = launch.first;
      solve.last = launch.last;
      gpu::launch(queue, launch.blocks, Solve::threads, 0, solve);
    }
  }

  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) override {
    return zeros_.check(queue, where, count);
  }
  std::shared_ptr<const Levels> levels() const override { return triangle_.shared_levels(); }
  void describe(Info& info) const override {
    const Levels& levels = triangle_.levels();
    info.add("levels", levels.count);
    info.add("rows_per_level",
             static_cast<double>(levels.rows) / static_cast<double>(std::max<int64_t>(1, levels.count)));
    info.add("launches", static_cast<int64_t>(launches_.size()));
    info.add("lanes_a_row", int64_t{1} << lanes_.log2());
    info.add("plan_bytes", static_cast<int64_t>(triangle_.bytes()));
  }

 private:
  using Solve = SolveLevels<T, I, O>;
  static constexpr int64_t most_blocks = 65536;
  struct Launch {
    int64_t first, last;  // levels
    unsigned blocks;
  };

  int64_t work_of(int64_t level) const {
    const std::vector<int64_t>& starts = triangle_.levels().starts;
    const int64_t rows = starts[static_cast<size_t>(level) + 1] - starts[static_cast<size_t>(level)];
    const int64_t tiles = (vectors_ + (int64_t{1} << lanes_.columns_log2) - 1) >> lanes_.columns_log2;
    return rows * tiles << lanes_.log2();
  }

  PlannedTriangle<I, O> triangle_;
  Lanes lanes_;
  int64_t vectors_;
  std::vector<Launch> launches_;
  gpu::ZeroRows zeros_;
};

inline std::unique_ptr<Kernel> make_levels(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  with_types(
      desc, [&]<class T, class I, class O>(T, I, O) { kernel = std::make_unique<LevelsKernel<T, I, O>>(desc, queue); });
  return kernel;
}

inline std::string levels_unsupported(const Desc&) { return {}; }

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_levels() {
  return {{"gpu_levels"}, true, gpu_parts::levels_unsupported, gpu_parts::make_levels};
}

}  // namespace kkc::sptrsv
