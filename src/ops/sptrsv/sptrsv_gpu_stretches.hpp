// gpu_sync_free's way of grids of short rows: a level of rows takes one way through memory, so stretches of
// neighbouring rows are solved at once (sptrsv_gpu_stretches_kernels.hpp), in the order of steps that
// levels_gpu_grid.hpp finds. Then levels of rows are not needed.
#pragma once

#include <algorithm>
#include <bit>
#include <utility>

#include "device/gpu_sort.hpp"
#include "sptrsv_gpu_parts.hpp"
#include "sptrsv_gpu_stretches_kernels.hpp"

namespace kkc::sptrsv {
namespace gpu_parts {

namespace stretch_tuning {
inline constexpr int64_t longest_row = 9;  // entries, of both triangles
inline constexpr double most_entries = 4;  // a row without its diagonal, in the mean: all are under way at once
inline constexpr int64_t gate_steps = 3;
}  // namespace stretch_tuning

template <class T, class I, class O>
class StretchesKernel final : public Kernel {
  using Solve = SolveStretches<T, I, O, 4>;

 public:
  /// `look`: at a triangle that BlocksKernel may take. Null where it is no grid of short rows. Blocks.
  static std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue, const levels::gpu_parts::FirstLook& look) {
    using namespace stretch_tuning;
    const auto& found = look.found;
    if (desc.rows.longest > longest_row || found.grids.stretches.line < shortest_line || found.counts.unparted != 0 ||
        static_cast<double>(found.counts.entries) > most_entries * static_cast<double>(desc.A.rows))
      return nullptr;
    std::unique_ptr<StretchesKernel> kernel(new StretchesKernel(desc, queue, look.diagonal));
    if (!kernel->find(desc, queue, found)) return nullptr;
    return kernel;
  }

  void execute(Queue& queue, const Args& args) override {
    forget_all(queue, args.workspace, workspace_bytes());
    Solve f{};
    f.A = shape_.template with_values<T, I, O>(args.A, diagonal_->template as<O>(), true);
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
    info.add("plan_bytes", static_cast<int64_t>(diagonal_->bytes() + order_.bytes()));
  }

 private:
  static constexpr size_t ticket_bytes = 256;

  StretchesKernel(const Desc& desc, Queue& queue, std::shared_ptr<const Buffer> diagonal)
      : shape_(desc), diagonal_(std::move(diagonal)), zeros_(desc.memory, queue) {}

  /// Whether A is such a grid. Blocks.
  bool find(const Desc& desc, Queue& queue, levels::gpu_parts::Found found) {
    namespace grids = levels::gpu_parts;
    using Check = CheckStretches<I, O>;
    const grids::Grid& grid = found.grids.stretches;
    stretches_ = Stretches<I>::of(shape_.rows, grid.line);
    const int64_t count = stretches_.count();
    order_ = device_array<I>(desc, count);
    const size_t each =
        (static_cast<size_t>(count) * sizeof(uint32_t) + memory_alignment - 1) / memory_alignment * memory_alignment;
    const Buffer room(Memory::in_order(desc.memory), Space::device,
                      2 * each + gpu::sort_scratch_bytes<uint32_t, I>(count)),
        other_order = device_array<I>(desc, count);
    auto* const steps = room.as<uint32_t>();
    auto* const other_steps = reinterpret_cast<uint32_t*>(room.as<char>() + each);
    grids::Found* const in_memory = &grids::found_in(queue)->found;
    gpu::launch(queue, grids::blocks_for_whole_rows(desc.A, Check::threads), Check::threads, 0,
                Check{static_cast<const O*>(desc.A.offsets), static_cast<const I*>(desc.A.indices), shape_.rows,
                      shape_.base, shape_.lower, grids::lanes_log2_for_whole_rows(desc.A), &in_memory->grids.stretches,
                      steps, &in_memory->steps});
    const auto missing = static_cast<int64_t>(found.counts.missing);  // ~0 is -1
    found = gpu::read_back<grids::Found>(queue, in_memory);
    if (grid.wrong != 0) return false;
    refuse_missing(desc, missing);
    levels_ = static_cast<int64_t>(found.steps);
    plane_lines_ = static_cast<I>((grid.plane + grid.line - 1) / grid.line);
    const auto gate = [](int64_t by) {
      return static_cast<I>(by <= 0 ? 0 : std::max<int64_t>(1, stretch_tuning::gate_steps / by));
    };
    gate_lines_ = gate(grid.by_line);
    gate_planes_ = gate(grid.by_plane);

    gpu::prepare_sort<uint32_t, I>(queue);
    const int where = gpu::sort_pairs<uint32_t, I>(queue, {steps, other_steps}, {order_.as<I>(), other_order.as<I>()},
                                                   count, 0, std::bit_width(static_cast<uint64_t>(levels_)),
                                                   room.as<char>() + 2 * each, gpu::PayloadIs::places);
    if (where != 0) queue.copy(order_.data(), other_order.data(), order_.bytes());
    gpu::prepare<Fill>(queue);
    gpu::prepare<Solve>(queue);
    return true;
  }

  Shape shape_;
  int64_t levels_ = 0;
  std::shared_ptr<const Buffer> diagonal_;
  Buffer order_;
  Stretches<I> stretches_{};
  I plane_lines_ = 1, gate_lines_ = 0, gate_planes_ = 0;
  gpu::ZeroRows zeros_;
};

}  // namespace gpu_parts
}  // namespace kkc::sptrsv
