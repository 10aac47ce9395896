// The tag Cuda without Kokkos' headers: enough for sources that launch raw kernels only.
#pragma once

#include "core/queue.hpp"
#include "device/gpu_api.hpp"

namespace Kokkos {
class Cuda;
}

namespace kkc {

struct Cuda {
  static constexpr Device id = Device::cuda;
  using exec = Kokkos::Cuda;
  /// The queue's stream as an execution space, until the queue gets another stream (needs device/cuda.hpp).
  static const exec& space(Queue& queue);
  static gpu::stream_t stream(const Queue& queue) { return static_cast<gpu::stream_t>(queue.stream()); }
};

}  // namespace kkc
