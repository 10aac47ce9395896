// GPUs and their memory: one stream-ordered pool a device, and frees that wait in the background.
#pragma once

#include <cstdint>
#include <vector>

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

/// A queue as frees see it.
struct Lane {
  Gpu* gpu = nullptr;
  stream_t stream{};
  event_t event{};
};

// All thread-safe.

/// Until leave(), frees wait for what the lane's stream holds when they are called.
void join(Lane& lane);
/// Frees still wait for what the stream held. Its own stream `own` becomes idle.
void leave(Lane& lane, stream_t own) noexcept;
/// Later work goes to `stream`.
void redirect(Lane& lane, stream_t stream);
/// A stream that no queue uses.
stream_t take_stream(Gpu& gpu);

/// Memory that any stream may use at once; null when there is none left. May block.
void* allocate(Gpu& gpu, Space space, size_t bytes);
/// Never blocks: the memory is freed once all lanes have done what they hold now. While one of them is being captured,
/// nothing can be enqueued behind it, so frees are put off until a later call.
void deallocate(Gpu& gpu, Space space, void* data) noexcept;
/// Frees what was put off and is free to go.
void collect() noexcept;

}  // namespace kkc::gpu
