// gpu_sync_free's way of bands: nearly every row needs the one before it, and little that lies far off. 32 neighbouring
// rows are solved by one warp (sptrsv_gpu_blocks_kernels.hpp), so that most of the chain costs no way through memory;
// blocks of rows in the order of their levels in one launch, each number its own flag.
#pragma once

#include <algorithm>
#include <bit>

#include "device/gpu_queue.hpp"
#include "device/gpu_sort.hpp"
#include "sptrsv_gpu_blocks_kernels.hpp"
#include "sptrsv_gpu_parts.hpp"

namespace kkc::sptrsv {
namespace gpu_parts {

namespace block_tuning {
inline constexpr int64_t longest_row = 256;  // a lane's
inline constexpr int64_t fewest_rows = 512;
inline constexpr double linked = 0.995;  // of its rows: grids whose lines are near by have fewer
inline constexpr double near = 0.9;      // of its entries
inline constexpr double levels = 0.5;    // of blocks by blocks: else rows have more to do at once
inline constexpr double short_rows = 8;  // entries up to which a lane has fewer under way
inline constexpr int gate_distance = 2;  // levels that a gate lies before, and one more for each so many entries:
inline constexpr double entries_a_level = 8;
}  // namespace block_tuning

/// Entries a row if a triangle is a band by a sample of its rows, else -1.
inline double band_entries(const levels::gpu_parts::ChainSample& sample) {
  return sample.linked >= block_tuning::linked * sample.rows && sample.near >= block_tuning::near * sample.entries
             ? static_cast<double>(sample.entries) / sample.rows
             : -1;
}

template <class T, class I, class O>
class BlocksKernel final : public Kernel {
  static constexpr int few = sizeof(T) <= 8 ? 4 : 2, many = sizeof(T) <= 8 ? 8 : 4;
  using Short = SolveBlocks<T, I, O, few>;
  using Long = SolveBlocks<T, I, O, many>;

 public:
  /// Whether the triangle must be looked at.
  static bool may_take(const Desc& desc) {
    using namespace block_tuning;
    return desc.vectors == 1 && desc.A.rows >= fewest_rows && !transposes(desc.op) && desc.rows.longest <= longest_row;
  }
  /// Null where the triangle is no band, or of no use to blocks otherwise. Blocks.
  static std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue, const levels::gpu_parts::FirstLook& look) {
    const double entries = band_entries(look.found.chain);
    if (entries < 0) return nullptr;
    std::unique_ptr<BlocksKernel> kernel(new BlocksKernel(desc, queue, entries));
    if (!kernel->find(desc, queue)) return nullptr;
    return kernel;
  }

  void execute(Queue& queue, const Args& args) override {
    forget_all(queue, args.workspace, workspace_bytes());
    if (long_)
      solve<Long>(queue, args);
    else
      solve<Short>(queue, args);
  }

  size_t workspace_bytes() const override { return flagged_bytes(ticket_bytes, shape_.rows, sizeof(T)); }
  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) override {
    return zeros_.check(queue, where, count);
  }
  void describe(Info& info) const override {
    info.add("blocks", blocks_);
    info.add("levels", levels_);
    info.add("rows_per_level", static_cast<double>(shape_.rows) / static_cast<double>(levels_));
    info.add("launches", int64_t{1});
    info.add("lanes_a_row", int64_t{1});
    info.add("plan_bytes", static_cast<int64_t>(diagonal_.bytes() + items_.bytes()));
  }

 private:
  static constexpr size_t ticket_bytes = 256;

  BlocksKernel(const Desc& desc, Queue& queue, double entries_a_row)
      : shape_(desc),
        blocks_((shape_.rows + block_rows - 1) / block_rows),
        long_(entries_a_row > block_tuning::short_rows),
        gate_distance_(block_tuning::gate_distance + static_cast<int>(entries_a_row / block_tuning::entries_a_level)),
        diagonal_(device_array<O>(desc, shape_.rows)),
        zeros_(desc.memory, queue) {}

  /// Whether blocks can and do depend on each other as in a band. Blocks.
  bool find(const Desc& desc, Queue& queue) {
    using levels::gpu_parts::FoundInMemory;
    static_assert(sizeof(FoundInMemory) + sizeof(BlockCounts) <= gpu::GpuQueue::scratch_bytes);
    // Behind what the look found, which others may go on with.
    auto* const counts = reinterpret_cast<BlockCounts*>(levels::gpu_parts::found_in(queue) + 1);
    const Buffer block_levels = device_array<uint32_t>(desc, blocks_),
                 needs = device_array<I>(desc, blocks_ * most_block_needs), before = device_array<I>(desc, blocks_);
    gpu::launch_over(queue, blocks_, StartBlocks{block_levels.as<uint32_t>(), blocks_, counts});
    gpu::launch_over(
        queue, blocks_ * 32,
        FindBlockNeeds<I, O>{static_cast<const O*>(desc.A.offsets), static_cast<const I*>(desc.A.indices), shape_.rows,
                             blocks_, shape_.base, shape_.lower, diagonal_.template as<O>(), needs.as<I>(), counts});
    gpu::launch_over(queue, blocks_,
                     FindBlockLevels<I>{needs.as<I>(), blocks_, block_levels.as<uint32_t>(), before.as<I>(), counts});
    const auto found = gpu::read_back<BlockCounts>(queue, counts);
    if (!found.usable() || found.highest < block_tuning::levels * static_cast<double>(blocks_)) return false;
    refuse_missing(desc, static_cast<int64_t>(found.missing));  // ~0 is -1
    levels_ = found.highest;

    const int bits = std::bit_width(found.highest);
    const Buffer other_levels = device_array<uint32_t>(desc, blocks_), order = device_array<I>(desc, blocks_),
                 other_order = device_array<I>(desc, blocks_),
                 scratch(Memory::in_order(desc.memory), Space::device, gpu::sort_scratch_bytes<uint32_t, I>(blocks_));
    gpu::prepare_sort<uint32_t, I>(queue);
    const int where = gpu::sort_pairs<uint32_t, I>(queue, {block_levels.as<uint32_t>(), other_levels.as<uint32_t>()},
                                                   {order.as<I>(), other_order.as<I>()}, blocks_, 0, bits,
                                                   scratch.data(), gpu::PayloadIs::places);
    items_ = device_array<BlockItem<I>>(desc, blocks_);
    gpu::launch_over(queue, blocks_,
                     SetBlockItems<I>{(where == 0 ? order : other_order).template as<I>(), before.as<I>(), shape_.rows,
                                      blocks_, gate_distance_, items_.template as<BlockItem<I>>()});
    gpu::prepare<Fill>(queue);
    if (long_)
      gpu::prepare<Long>(queue);
    else
      gpu::prepare<Short>(queue);
    return true;
  }

  template <class Solve>
  void solve(Queue& queue, const Args& args) const {
    Solve f{};
    f.A = shape_.template with_values<T, I, O>(args.A, diagonal_.template as<O>(), true);
    f.operands = operands_of<T>(args);
    f.items = items_.template as<BlockItem<I>>();
    f.blocks = blocks_;
    f.work = reinterpret_cast<T*>(static_cast<char*>(args.workspace) + ticket_bytes);
    f.zeros = zeros_.counter();
    f.ticket = static_cast<unsigned*>(args.workspace);
    gpu::launch(queue, gpu::blocks_for(blocks_, Solve::warps), Solve::threads, 0, f);
  }

  Shape shape_;
  int64_t blocks_, levels_ = 0;
  bool long_;
  int gate_distance_;
  Buffer diagonal_, items_;
  gpu::ZeroRows zeros_;
};

}  // namespace gpu_parts
}  // namespace kkc::sptrsv
