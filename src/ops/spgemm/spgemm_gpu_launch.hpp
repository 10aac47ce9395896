// What the plans of sparse products on GPUs do between kernels.
#pragma once

#include "core/memory.hpp"
#include "device/gpu_launch.hpp"

namespace kkc::spgemm::gpu_parts {

template <class X>
X read_back(Queue& queue, const void* device) {
  X value;
  queue.copy(&value, device, sizeof value);
  queue.synchronize();
  return value;
}

inline void clear(Queue& queue, const Buffer& buffer) {
  if (buffer.bytes() > 0) gpu::clear_words(queue, buffer.data(), buffer.bytes());
}

template <class F>
void launch_over(Queue& queue, int64_t items, const F& f, size_t shared_bytes = 0) {
  gpu::launch(queue, gpu::blocks_for(items, F::threads), F::threads, shared_bytes, f);
}
/// Loads the kernel first where it takes more shared memory than usual.
template <class F>
void launch_blocks(Queue& queue, int64_t blocks, const F& f, size_t shared_bytes) {
  if (blocks == 0) return;
  gpu::prepare<F>(queue, shared_bytes);
  gpu::launch(queue, gpu::blocks_for(blocks, 1), F::threads, shared_bytes, f);
}

}  // namespace kkc::spgemm::gpu_parts
