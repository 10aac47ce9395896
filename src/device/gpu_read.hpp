// What plans on GPUs read of the device's memory and write there, a few words each time:
//
//   auto found = gpu::read_back<Found>(queue, device);                                        // by a kernel of its own
//   auto found = gpu::launch_and_read<Found>(queue, grid, block, shared_bytes, kernel, device);  // by its last block
//
// Both block until the words arrive: the device says some microseconds later that the kernel has ended.
#pragma once

#include <cstdint>

#include "device/gpu_clear.hpp"
#include "device/gpu_kept_words.hpp"
#include "device/gpu_launch.hpp"

namespace kkc::gpu {

__device__ inline void set(const Watched& to, int64_t i, uint32_t word) {
  *static_cast<volatile WatchedWord*>(to.words + i) = static_cast<WatchedWord>(to.number) << 32 | word;
}

/// A value from the memory of the queue's device, behind what was enqueued; blocks.
template <class T>
T read_back(Queue& queue, const void* device) {
  static_assert(sizeof(T) % sizeof(uint32_t) == 0 && sizeof(T) <= KeepingQueue::most_read);
  T value;
  keeping(queue).read_words(&value, device, sizeof value);
  return value;
}

/// A value to the memory of the queue's device, behind what was enqueued; never blocks.
template <class T>
void write(Queue& queue, void* device, const T& value) {
  static_assert(sizeof(T) % sizeof(uint32_t) == 0 && sizeof(T) <= KeepingQueue::most_written);
  keeping(queue).write_words(device, &value, sizeof value);
}

/// F, whose last block hands words to the host. For kernels of few blocks or short ones: each block waits for its own
/// writes to be seen, where a kernel that follows, which the host has long enqueued, would take a microsecond in all.
template <class F>
struct AndRead : F {
  unsigned* done;  // blocks: 0 between kernels
  const uint32_t* from;
  int32_t count;
  Watched to;

  __device__ void operator()() const {
    F::operator()();
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      last = atomicAdd(done, 1u) + 1 == gridDim.x * gridDim.y;
      __threadfence();
    }
    __syncthreads();
    if (!last) return;
    if (threadIdx.x == 0) *done = 0;
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < count; i += static_cast<int32_t>(blockDim.x))
      set(to, i, *static_cast<const volatile uint32_t*>(from + i));
  }
};

/// Launches f and reads words of what it, or a kernel before, wrote; blocks.
template <class T, class F>
T launch_and_read(Queue& queue, dim3 grid, dim3 block, size_t shared_bytes, const F& f, const void* device) {
  static_assert(sizeof(T) % sizeof(uint32_t) == 0 && sizeof(T) <= KeepingQueue::most_read);
  if (grid.x == 0 || grid.y == 0) return read_back<T>(queue, device);
  constexpr auto words = static_cast<int32_t>(sizeof(T) / sizeof(uint32_t));
  auto* const done = reinterpret_cast<unsigned*>(zero_words(queue, KeptWords::reads, sizeof(uint64_t)));
  launch(queue, grid, block, shared_bytes,
         AndRead<F>{f, done, static_cast<const uint32_t*>(device), words, keeping(queue).watch()});
  T value;
  keeping(queue).await(&value, sizeof value);
  return value;
}

}  // namespace kkc::gpu
