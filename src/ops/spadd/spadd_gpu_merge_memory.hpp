// What gpu_merge's plan and C's pattern lie in.
#pragma once

#include <memory>

#include "core/memory.hpp"

namespace kkc::spadd::gpu_parts {

/// Buffers that are parts of one allocation, which lives as long as any of them: allocating and freeing each take as
/// long as a short plan's kernels.
class OneAllocation final : public Memory {
 public:
  OneAllocation(std::shared_ptr<const Memory> memory, size_t bytes)
      : Memory(nullptr, nullptr), all_(std::move(memory), Space::device, bytes) {}

  static size_t room_for(size_t bytes) { return (bytes + memory_alignment - 1) / memory_alignment * memory_alignment; }

  void* allocate(Space space, size_t bytes) const override {
    void* const part = all_.as<char>() + taken_;
    taken_ += room_for(bytes);
    require(space == Space::device && taken_ <= all_.bytes(), KKC_STATUS_INTERNAL, "parts of ", all_.bytes(),
            " bytes take ", taken_);
    return part;
  }
  void deallocate(Space, void*, size_t) const noexcept override {}

 private:
  Buffer all_;
  mutable size_t taken_ = 0;
};

}  // namespace kkc::spadd::gpu_parts
