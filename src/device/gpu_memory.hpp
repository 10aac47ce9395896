// GPUs and their memory: one stream-ordered pool a device, and frees that wait in the background.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/kept_blocks.hpp"
#include "core/types.hpp"
#include "device/gpu_api.hpp"

namespace kkc::gpu {

/// A device of this process; lives as long as the process. Its own streams never take part in a capture.
struct Gpu {
  int32_t id = 0;   // kkc's number
  int ordinal = 0;  // the runtime's number
  context_t context{};
  DeviceFacts facts{};
  pool_t pool{};
  stream_t allocations{};  // carries nothing but allocations, so waiting for it is short
  stream_t frees{};        // waits for the queues, then frees
  std::vector<stream_t> idle_streams;
};

/// Sets up a device's context, pool and streams.
void start(Gpu& gpu, const std::vector<int>& peers);

/// A queue as frees see it. A caller's stream may be gone whenever no call uses it, so it is known by an event only,
/// which the queue records behind each of its calls; its own stream is asked when needed.
struct Lane {
  Gpu* gpu = nullptr;
  stream_t own{};
  event_t event{};
  std::atomic<bool> foreign = false;
  KeptBlocks kept;  // that only its own work used
};

// All thread-safe.

/// Until leave(), frees wait for what the lane holds when they are called.
void join(Lane& lane);
/// Frees still wait for what the lane held. Its own stream becomes idle.
void leave(Lane& lane) noexcept;
/// Later work goes to the lane's own stream, or to a caller's.
void redirect(Lane& lane, bool foreign);
/// A stream that no queue uses.
stream_t take_stream(Gpu& gpu);

/// Memory that any stream may use at once; null when there is none left. May block.
void* allocate(Gpu& gpu, Space space, size_t bytes);
/// Never blocks: the memory is freed once all lanes have done what they hold now.
void deallocate(Gpu& gpu, Space space, void* data) noexcept;
/// Frees pinned and managed memory that no lane needs any more.
void collect() noexcept;

}  // namespace kkc::gpu
