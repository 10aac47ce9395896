// The tag Hip without Kokkos' headers: enough for sources that launch raw kernels only.
#pragma once

#include "core/queue.hpp"
#include "device/gpu_api.hpp"

namespace Kokkos {
class HIP;
}

namespace kkc {

struct Hip {
  static constexpr Device id = Device::hip;
  using exec = Kokkos::HIP;
  /// The queue's stream as an execution space, until the queue gets another stream (needs device/hip.hpp).
  static const exec& space(Queue& queue);
  static gpu::stream_t stream(const Queue& queue) { return static_cast<gpu::stream_t>(queue.stream()); }
};

}  // namespace kkc
