// view_sort, gpu_bitonic: short lines, each sorted at once by a subgroup of a warp in registers or by a block in shared
// memory (device/gpu_bitonic.hpp). Keys are sorted with their places, which makes it stable; keys and values follow.
#pragma once

#include "view_sort_gpu_driver.hpp"

namespace kkc::view_sort {
namespace gpu_parts {

inline constexpr int64_t longest_in_warp = 256, longest_in_block = 8192;

template <class K>
class BitonicKernel final : public Kernel {
 public:
  BitonicKernel(const Desc& desc, Queue& queue) : desc_(desc) {
    count_ = static_cast<int32_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(desc.length, 2))));
    lanes_ = std::min(count_, 32);
    if (in_warps())
      with_per_lane([&]<int n>(std::integral_constant<int, n>) { gpu::prepare<SortInWarps<K, n>>(queue); });
    else
      gpu::prepare<SortInBlocks<K>>(queue, shared_bytes());
  }

  void execute(Queue& queue, const Args& args) override {
    ShortLines<K> all{};
    all.order = {desc_.descending};
    all.keys = args.keys;
    all.sorted_keys = args.sorted_keys;
    all.values = args.values;
    all.sorted_values = args.sorted_values;
    all.lines = desc_.lines;
    all.length = static_cast<int32_t>(desc_.length);
    if (desc_.payload == Payload::values) all.value_bytes = static_cast<int32_t>(size_of(desc_.value));
    if (desc_.payload == Payload::places) all.place_bytes = static_cast<int32_t>(size_of(desc_.value));
    if (in_warps())
      with_per_lane([&]<int n>(std::integral_constant<int, n>) {
        const SortInWarps<K, n> sort{all, lanes_};
        gpu::launch(queue, gpu::blocks_for(desc_.lines, sort.threads / lanes_), sort.threads, 0, sort);
      });
    else
      gpu::launch(queue, gpu::blocks_for(desc_.lines, 1), SortInBlocks<K>::threads, shared_bytes(),
                  SortInBlocks<K>{all, count_});
  }

  void describe(Info& info) const override {
    info.add("a_line", std::string(in_warps() ? "subgroup of a warp" : "block"));
    info.add("padded_length", int64_t{count_});
  }

 private:
  bool in_warps() const { return count_ <= longest_in_warp; }
  size_t shared_bytes() const { return static_cast<size_t>(count_) * sizeof(Item<K>); }

  template <class F>
  void with_per_lane(F&& f) const {
    switch (count_ / lanes_) {
      case 1: return f(std::integral_constant<int, 1>{});
      case 2: return f(std::integral_constant<int, 2>{});
      case 4: return f(std::integral_constant<int, 4>{});
      default: return f(std::integral_constant<int, 8>{});
    }
  }

  Desc desc_;
  int32_t count_, lanes_;
};

inline std::string bitonic_unsupported(const Desc& desc) {
  if (desc.length > longest_in_block) return cat("lines are longer than ", longest_in_block);
  if (desc.lines > INT32_MAX) return "more lines than a grid holds blocks";
  const size_t item = size_of(desc.key) <= 4 ? 8 : size_of(desc.key) == 16 ? 24 : 16;
  const size_t needed = item * std::bit_ceil(static_cast<uint64_t>(desc.length));
  if (desc.length <= longest_in_warp) return {};
  int room = 0;
  const Queue& queue = desc.memory->queue();
  queue.run([&] { gpu::check(gpu::largest_shared(room, queue.device_id()), "reading the shared memory's size"); });
  if (needed > static_cast<size_t>(room)) return "a line does not fit shared memory";
  return {};
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_bitonic() {
  return {{"gpu_bitonic"}, true, gpu_parts::bitonic_unsupported, gpu_parts::make_keyed<gpu_parts::BitonicKernel>};
}

}  // namespace kkc::view_sort
