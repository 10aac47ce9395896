// Items that are wanted, numbered in their own order, on GPUs (stream compaction: Blelloch, "Prefix sums and their
// applications", CMU-CS-90-190, 1990, section 1.5), 32 of them a word of bits.
#pragma once

#include <cstdint>
#include <memory>

#include "core/memory.hpp"
#include "device/gpu_launch.hpp"
#include "device/gpu_read.hpp"
#include "device/gpu_scan.hpp"
#include "device/gpu_warp.hpp"

namespace kkc::gpu {

template <class Wanted>
struct MarkWanted {
  static constexpr int threads = 256;
  Wanted wanted;
  int64_t n;
  uint32_t* bits;
  int32_t* counts;  // of each word

  __device__ void operator()() const {
    const int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x;
    const uint32_t word = ballot32(i < n && wanted(i));
    if ((threadIdx.x & 31u) != 0 || i >= n) return;
    bits[i / 32] = word;
    counts[i / 32] = __popc(word);
  }
};

template <class Take>
struct TakeWanted {
  static constexpr int threads = 256;
  Take take;
  int64_t n;
  const uint32_t* bits;
  const int32_t* before;  // each word

  __device__ void operator()() const {
    const int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= n) return;
    const uint32_t word = bits[i / 32], self = 1u << (i % 32);
    if ((word & self) != 0) take(before[i / 32] + __popc(word & (self - 1)), i);
  }
};

/// Fewer than 2^31 of the items 0..n-1.
class Selection {
 public:
  /// Those for which wanted(item) is true. Never blocks; `memory` for work of this queue.
  template <class Wanted>
  Selection(Queue& queue, const std::shared_ptr<const Memory>& memory, int64_t n, const Wanted& wanted)
      : queue_(queue), n_(n), words_((n + 31) / 32) {
    const auto array = [&](size_t bytes) { return Buffer(Memory::in_order(memory), Space::device, bytes); };
    const auto count = static_cast<size_t>(words_);
    bits_ = array(count * sizeof(uint32_t));
    before_ = array((count + 1) * sizeof(int32_t));
    const Buffer counts = array(count * sizeof(int32_t));
    launch_over(queue, n, MarkWanted<Wanted>{wanted, n, bits_.as<uint32_t>(), counts.as<int32_t>()});
    exclusive_scan<int32_t, int32_t>(queue, counts.as<int32_t>(), before_.as<int32_t>(), words_);
  }

  /// Blocks.
  int64_t count() const { return read_back<int32_t>(queue_, before_.as<int32_t>() + words_); }

  /// Enqueues take(number, item) for each.
  template <class Take>
  void each(const Take& take) const {
    launch_over(queue_, n_, TakeWanted<Take>{take, n_, bits_.as<uint32_t>(), before_.as<int32_t>()});
  }

 private:
  Queue& queue_;
  int64_t n_, words_;
  Buffer bits_, before_;
};

}  // namespace kkc::gpu
