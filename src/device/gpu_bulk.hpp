// Copies from global to shared memory that pass by the registers, where the device has them.
#pragma once

#include <cstdint>

#include "device/gpu_warp.hpp"

namespace kkc::gpu {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
inline constexpr bool has_bulk_copies = true;
#else
inline constexpr bool has_bulk_copies = false;
#endif

/// A warp's copy of what lies in one piece. In shared memory, used once; all lanes take part. As large as a
/// line, so that what lies behind an array of them is aligned.
struct alignas(16) BulkCopy {
  uint64_t barrier;

  /// `to` in shared memory, as far from a multiple of 16 bytes as `from` is. The lanes copy what lies beside whole
  /// lines.
  template <class T>
  __device__ void begin([[maybe_unused]] T* to, [[maybe_unused]] const T* from, [[maybe_unused]] int32_t count,
                        [[maybe_unused]] int lane) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    constexpr int32_t line = sizeof(T) < 16 ? 16 / sizeof(T) : 1;
    const auto past = static_cast<int32_t>(reinterpret_cast<uintptr_t>(from) / sizeof(T) % line);
    int32_t head = past == 0 ? 0 : line - past;
    head = head < count ? head : count;
    const int32_t body = (count - head) / line * line, tail = head + body;
    const auto here = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
    if (lane == 0) {
      const uint32_t bytes = static_cast<uint32_t>(body) * sizeof(T);
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(here) : "memory");
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(here), "r"(bytes) : "memory");
      if (bytes > 0)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                         static_cast<uint32_t>(__cvta_generic_to_shared(to + head))),
                     "l"(from + head), "r"(bytes), "r"(here)
                     : "memory");
    }
    if (lane < head) to[lane] = from[lane];
    if (lane < count - tail) to[tail + lane] = from[tail + lane];
    __syncwarp();
#endif
  }

  /// A barrier of the lanes must follow: it orders the ends.
  __device__ void wait() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const auto here = static_cast<uint32_t>(__cvta_generic_to_shared(&barrier));
    uint32_t done = 0;
    while (done == 0)
      asm volatile("{\n .reg .pred p;\n mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0;\n selp.u32 %0, 1, 0, p;\n}"
                   : "=r"(done)
                   : "r"(here)
                   : "memory");
#endif
  }
};

}  // namespace kkc::gpu
