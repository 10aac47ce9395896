// The gpu_levels of ilu and ic: plan and execute. A launch for each level, and one block for runs of levels that one
// block suffices for. Needs no progress of one block, or lane, while another waits: any device will do.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "core/dispatch.hpp"
#include "ilu_gpu_levels_kernels.hpp"
#include "ilu_gpu_pattern.hpp"

namespace kkc::ilu {
namespace gpu_parts {

/// Threads' worth of work that one block does sooner than another launch would begin.
inline constexpr int64_t one_block_work = 2048;

template <class E, Form form, class I, class O>
class LevelsKernel final : public Kernel {
  using Functor = FactorLevels<E, form, I, O>;

 public:
  LevelsKernel(const Desc& desc, Queue& queue)
      : factors_(desc.factors), rule_(desc.pivots), found_(desc.memory, queue) {
    levels_ = levels_of(desc, queue);
    const auto entries =
        static_cast<uint64_t>(std::clamp<int64_t>(desc.factors.nnz / std::max<int64_t>(1, desc.A.rows), 1, 32));
    lanes_log2_ = std::bit_width(std::bit_ceil(entries)) - 1;
    for (int64_t l = 0; l < levels_->count; ++l) {
      const auto at = static_cast<size_t>(l);
      const int64_t work = (levels_->starts[at + 1] - levels_->starts[at]) << lanes_log2_;
      const auto blocks = static_cast<unsigned>(
          work <= one_block_work ? 1
                                 : std::min<int64_t>((work + Functor::threads - 1) / Functor::threads, most_blocks));
      if (blocks == 1 && !launches_.empty() && launches_.back().blocks == 1)
        launches_.back().last = l + 1;
      else
        launches_.push_back({l, l + 1, blocks});
    }
    gpu::prepare<Functor>(queue);
  }

  void execute(Queue& queue, const Args& args) override {
    Functor functor{};
    functor.offsets = static_cast<const O*>(args.factors.offsets);
    functor.diagonal = factors_.diagonal->template as<O>();
    functor.indices = static_cast<const I*>(args.factors.indices);
    functor.order = levels_->order->template as<I>();
    functor.starts = levels_->device_starts ? levels_->device_starts->template as<I>() : nullptr;
    functor.source = ilu_pattern::ValueSource<O>(factors_);
    functor.A = static_cast<const E*>(args.A.values);
    functor.values = static_cast<E*>(const_cast<void*>(args.factors.values));
    functor.rule = rule_;
    functor.found = found_.counter();
    functor.lanes_log2 = lanes_log2_;
    for (const Launch& launch : launches_) {
      functor.first = launch.first;
      functor.last = launch.last;
      gpu::launch(queue, launch.blocks, Functor::threads, 0, functor);
    }
  }

  int64_t plan_bytes() const override {
    const size_t starts = levels_->device_starts ? levels_->device_starts->bytes() : 0;
    return static_cast<int64_t>(levels_->order->bytes() + levels_->diagonal->bytes() + starts + found_.bytes());
  }
  std::shared_ptr<const Levels> levels() const override { return levels_; }
  void describe(Info& info) const override {
    info.add("levels", levels_->count);
    info.add("launches", static_cast<int64_t>(launches_.size()));
    info.add("lanes_a_row", int64_t{1} << lanes_log2_);
  }
  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) override {
    return found_.check(queue, where, count);
  }

 private:
  static constexpr int64_t most_blocks = 65536;
  struct Launch {
    int64_t first, last;  // levels
    unsigned blocks;
  };

  FactorPattern factors_;
  Rule<RealPart<E>> rule_;
  FoundRows found_;
  std::shared_ptr<const Levels> levels_;
  int lanes_log2_ = 0;
  std::vector<Launch> launches_;
};

template <Form form>
std::unique_ptr<Kernel> make_levels(const Desc& desc, Queue& queue) {
  return make_kernel<LevelsKernel, form>(desc, queue);
}

/// Finds levels. Short rows take less time by a launch for each of two levels, and, of lu, the shortest ones by a
/// launch for each of few, than by waiting for each other.
template <Form form>
std::string few_levels_unsupported(const Desc& desc) {
  constexpr int64_t least_level_of_few = 32768, fewest = 2;     // levels
  constexpr int64_t short_row = 6, longest = 16, shortest = 4;  // entries
  constexpr double shortest_mean = 1.5;
  const int64_t rows = desc.A.rows, nnz = desc.factors.nnz;
  if (rows < least_level_of_few) return cat("takes ", least_level_of_few, " rows or more, A has ", rows);
  if (nnz > short_row * rows)
    return cat("takes rows of at most ", short_row, " entries in the mean, the factors have ", nnz, " in ", rows);
  if (desc.longest_row > longest)
    return cat("takes rows of at most ", longest, " entries, the factors may have one of ", desc.longest_row);
  return reason_of(desc, [&](Queue& queue) -> std::string {
    if (const int64_t levels = levels_of(desc, queue)->count; levels <= fewest) return {};
    if (form == Form::cholesky || desc.longest_row > shortest ||
        static_cast<double>(nnz) > shortest_mean * static_cast<double>(rows))
      return cat("takes at most ", fewest, " levels, but of lu and of rows of at most ", shortest, " entries and ",
                 shortest_mean, " in the mean");
    return narrow_levels(desc, queue, least_level_of_few);
  });
}

inline std::string levels_unsupported(const Desc& desc) { return desc.A.rows == 0 ? "there are no rows" : ""; }

}  // namespace gpu_parts
}  // namespace kkc::ilu
