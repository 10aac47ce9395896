// What the plans of sparse products on GPUs do between kernels.
#pragma once

#include <algorithm>
#include <bit>

#include "core/memory.hpp"
#include "device/gpu_launch.hpp"
#include "device/gpu_read.hpp"
#include "device/gpu_scan.hpp"

namespace kkc::spgemm::gpu_parts {

using gpu::launch_over;
using gpu::read_back;

inline void clear(Queue& queue, const Buffer& buffer) {
  if (buffer.bytes() > 0) gpu::clear_words(queue, buffer.data(), buffer.bytes());
}

/// Of the numbers below `count`, for sorts.
inline int bits_of(int64_t count) {
  return std::max(1, static_cast<int>(std::bit_width(static_cast<uint64_t>(count - 1))));
}

/// As many blocks as the device holds at once, which go round; `items` are shared out to threads.
template <class F>
void launch_round(Queue& queue, int64_t items, const F& f) {
  const int64_t most = int64_t{gpu::prepare<F>(queue).blocks_per_sm} * queue.concurrency();
  gpu::launch(queue, static_cast<unsigned>(std::min<int64_t>(gpu::blocks_for(items, F::threads), most)), F::threads, 0,
              f);
}

/// Loads the kernel first where it takes more shared memory than usual.
template <class F>
void launch_blocks(Queue& queue, int64_t blocks, const F& f, size_t shared_bytes) {
  if (blocks == 0) return;
  gpu::prepare<F>(queue, shared_bytes);
  gpu::launch(queue, gpu::blocks_for(blocks, 1), F::threads, shared_bytes, f);
}
template <class T, class F>
T launch_blocks_and_read(Queue& queue, int64_t blocks, const F& f, size_t shared_bytes, const void* device) {
  gpu::prepare<gpu::AndRead<F>>(queue, shared_bytes);
  return gpu::launch_and_read<T>(queue, gpu::blocks_for(blocks, 1), F::threads, shared_bytes, f, device);
}

}  // namespace kkc::spgemm::gpu_parts
