// gpu_sync_free's way of grids of short rows: a level of rows takes one way through memory, so stretches of
// neighbouring rows are solved at once (sptrsv_gpu_stretches_kernels.hpp), in the order of steps that
// levels_gpu_grid.hpp finds. Then levels of rows are not needed.
#pragma once

#include <algorithm>
#include <bit>

#include "device/gpu_sort.hpp"
#include "sptrsv_gpu_parts.hpp"
#include "sptrsv_gpu_stretches_kernels.hpp"

namespace kkc::sptrsv {
namespace gpu_parts {

namespace stretch_tuning {
inline constexpr int64_t fewest_rows = 512;
inline constexpr int64_t longest_row = 9;  // entries, of both triangles
inline constexpr double most_entries = 4;  // a row without its diagonal, in the mean: all are under way at once
inline constexpr int64_t gate_steps = 3;
}  // namespace stretch_tuning

template <class T, class I, class O>
class StretchesKernel final : public Kernel {
  using Solve = SolveStretches<T, I, O, 4>;

 public:
  /// Null where A is no grid of short rows. Blocks.
  static std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
    using namespace stretch_tuning;
    if (desc.vectors != 1 || transposes(desc.op) || desc.A.rows < fewest_rows || desc.rows.longest > longest_row)
      return nullptr;
    std::unique_ptr<StretchesKernel> kernel(new StretchesKernel(desc, queue));
    if (!kernel->find(desc, queue)) return nullptr;
    return kernel;
  }

  void execute(Queue& queue, const Args& args) override {
    forget_all(queue, args.workspace, workspace_bytes());
    Solve f{};
    f.A = shape_.template with_values<T, I, O>(args.A, diagonal_.template as<O>(), true);
    f.operands = operands_of<T>(args);
    f.order = order_.template as<I>();
    f.stretches = stretches_;
    f.count = stretches_.count();
    f.plane_lines = plane_lines_;
    f.gate_lines = gate_lines_;
    f.gate_planes = gate_planes_;
    f.work = reinterpret_cast<T*>(static_cast<char*>(args.workspace) + ticket_bytes);
    f.zeros = zeros_.counter();
    f.ticket = static_cast<unsigned*>(args.workspace);
    gpu::launch(queue, gpu::blocks_for(f.count, Solve::warps * Solve::each), Solve::threads, 0, f);
  }

  size_t workspace_bytes() const override { return flagged_bytes(ticket_bytes, shape_.rows, sizeof(T)); }
  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) override {
    return zeros_.check(queue, where, count);
  }
  void describe(Info& info) const override {
    info.add("stretches", stretches_.count());
    info.add("levels", levels_);
    info.add("rows_per_level", static_cast<double>(shape_.rows) / static_cast<double>(levels_));
    info.add("launches", int64_t{1});
    info.add("lanes_a_row", int64_t{1});
    info.add("plan_bytes", static_cast<int64_t>(diagonal_.bytes() + order_.bytes()));
  }

 private:
  static constexpr size_t ticket_bytes = 256;

  StretchesKernel(const Desc& desc, Queue& queue)
      : shape_(desc), diagonal_(device_array<O>(desc, shape_.rows)), zeros_(desc.memory, queue) {}

  /// Whether A is such a grid. Blocks.
  bool find(const Desc& desc, Queue& queue) {
    namespace grids = levels::gpu_parts;
    using Sample = grids::SampleGrid<I, O, stretch_rows>;
    using Check = CheckStretches<I, O>;
    const auto* const offsets = static_cast<const O*>(desc.A.offsets);
    const auto* const indices = static_cast<const I*>(desc.A.indices);
    // The last stretch of each line may hold few rows.
    const Buffer steps = device_array<uint32_t>(desc, shape_.rows / stretch_rows + shape_.rows / shortest_line + 2);
    grids::Found* const in_memory = grids::found_in(queue);
    gpu::launch(queue, 1, grids::StartLevels<I>::threads, 0,
                grids::StartLevels<I>{nullptr, 0, &in_memory->counts, &in_memory->grid});
    grids::find_diagonals<I, O>(queue, desc.A, shape_.lower, diagonal_.template as<O>(), &in_memory->counts);
    gpu::launch(queue, gpu::blocks_for(std::min<int64_t>(shape_.rows, Sample::sample), Sample::threads),
                Sample::threads, 0,
                Sample{offsets, indices, shape_.rows, shape_.base, shape_.lower, in_memory->links, &in_memory->grid});
    const int lanes_log2 = grids::lanes_log2_for_whole_rows(desc.A);
    gpu::launch(queue, std::min(gpu::blocks_for(shape_.rows, Check::threads >> lanes_log2), 4096u), Check::threads, 0,
                Check{offsets, indices, shape_.rows, shape_.base, shape_.lower, lanes_log2, &in_memory->grid,
                      steps.as<uint32_t>(), &in_memory->counts.highest});
    const auto found = gpu::read_back<grids::Found>(queue, in_memory);
    if (found.grid.line == 0 || found.grid.wrong != 0 || found.counts.unparted != 0 ||
        static_cast<double>(found.counts.entries) > stretch_tuning::most_entries * static_cast<double>(shape_.rows))
      return false;
    refuse_missing(desc, static_cast<int64_t>(found.counts.missing));  // ~0 is -1
    levels_ = static_cast<int64_t>(found.counts.highest);
    stretches_ = Stretches<I>::of(shape_.rows, found.grid.line);
    plane_lines_ = static_cast<I>((found.grid.plane + found.grid.line - 1) / found.grid.line);
    const auto gate = [](int64_t by) {
      return static_cast<I>(by <= 0 ? 0 : std::max<int64_t>(1, stretch_tuning::gate_steps / by));
    };
    gate_lines_ = gate(found.grid.by_line);
    gate_planes_ = gate(found.grid.by_plane);

    const int64_t count = stretches_.count();
    order_ = device_array<I>(desc, count);
    const Buffer other_steps = device_array<uint32_t>(desc, count), other_order = device_array<I>(desc, count),
                 scratch(desc.memory, Space::device, gpu::sort_scratch_bytes<uint32_t, I>(count));
    gpu::prepare_sort<uint32_t, I>(queue);
    const int where = gpu::sort_pairs<uint32_t, I>(
        queue, {steps.as<uint32_t>(), other_steps.as<uint32_t>()}, {order_.as<I>(), other_order.as<I>()}, count, 0,
        std::bit_width(static_cast<uint64_t>(levels_)), scratch.data(), gpu::PayloadIs::places);
    if (where != 0) queue.copy(order_.data(), other_order.data(), order_.bytes());
    gpu::prepare<Fill>(queue);
    gpu::prepare<Solve>(queue);
    queue.synchronize();  // arrays of this function are in use until here
    return true;
  }

  Shape shape_;
  int64_t levels_ = 0;
  Buffer diagonal_, order_;
  Stretches<I> stretches_{};
  I plane_lines_ = 1, gate_lines_ = 0, gate_planes_ = 0;
  gpu::ZeroRows zeros_;
};

}  // namespace gpu_parts
}  // namespace kkc::sptrsv
