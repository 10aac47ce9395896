// Rows whose diagonal is zero, counted by GPU kernels until kkc_plan_check asks.
#pragma once

#include <cstdint>
#include <memory>

#include "core/memory.hpp"
#include "device/gpu_read.hpp"

namespace kkc::gpu {

/// The first row, and how many.
struct Zeros {
  unsigned long long first, count;

  __device__ void note(int64_t row) {
    atomicMin(&first, static_cast<unsigned long long>(row));
    atomicAdd(&count, 1ull);
  }
};

class ZeroRows {
 public:
  ZeroRows(const std::shared_ptr<const Memory>& memory, Queue& queue)
      : zeros_(Memory::in_order(memory), Space::device, sizeof(Zeros)) {
    clear(queue);
  }
  Zeros* counter() const { return zeros_.as<Zeros>(); }

  /// Success, or ZERO_PIVOT with what was counted since the last call; blocks.
  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) {
    const auto found = read_back<Zeros>(queue, zeros_.data());
    if (found.count == 0) return KKC_STATUS_SUCCESS;
    where = static_cast<int64_t>(found.first);
    count = static_cast<int64_t>(found.count);
    clear(queue);
    return KKC_STATUS_ZERO_PIVOT;
  }

 private:
  void clear(Queue& queue) { write(queue, zeros_.data(), Zeros{~0ull, 0}); }

  Buffer zeros_;
};

}  // namespace kkc::gpu
