// Fills on GPUs: runs by 16-byte stores, anything else one word a thread.
#pragma once

#include <algorithm>

#include "device/gpu_launch.hpp"
#include "view_fill_kernels.hpp"

namespace kkc::view_fill {

/// A run of bytes: a head up to the first whole cache line, 16-byte pieces, and a tail.
struct FillRun {
  static constexpr int threads = 256, unroll = 4, line = 128;

  unsigned char* to;
  int64_t head, pieces, bytes;
  Pattern pattern;
  Wide piece;

  __device__ void operator()() const {
    Wide* const body = reinterpret_cast<Wide*>(to + head);
    const int64_t first = int64_t{blockIdx.x} * (unroll * threads) + threadIdx.x;
#pragma unroll
    for (int u = 0; u < unroll; ++u)
      if (first + u * threads < pieces) body[first + u * threads] = piece;
    if (blockIdx.x == 0 && threadIdx.x < line) {
      const auto t = static_cast<int64_t>(threadIdx.x);
      const int64_t tail = head + 16 * pieces;
      if (t < head) to[t] = pattern.bytes[t % 16];
      if (t < bytes - tail) to[tail + t] = pattern.bytes[(tail + t) % 16];
    }
  }
};

template <class Dev>
void run_gpu(Queue& queue, void*, const Args& args) {
  const DenseRef* const arrays[1] = {&args.view};
  const Walk<1> walk = walk_of(arrays);
  const Pattern pattern = pattern_of(args);
  if (!walk.contiguous()) {
    fill_strided<Dev>(queue, walk, pattern, args.view.scalar, args.view.data);
    return;
  }
  FillRun fill{};
  fill.to = static_cast<unsigned char*>(args.view.data);
  fill.pattern = pattern;
  fill.bytes = walk.count * static_cast<int64_t>(size_of(args.view.scalar));
  fill.head = std::min<int64_t>(
      fill.bytes,
      static_cast<int64_t>((FillRun::line - reinterpret_cast<uintptr_t>(fill.to) % FillRun::line) % FillRun::line));
  fill.pieces = (fill.bytes - fill.head) / 16;
  unsigned char turned[16];
  for (int k = 0; k < 16; ++k) turned[k] = pattern.bytes[(fill.head + k) % 16];
  std::memcpy(&fill.piece, turned, sizeof(turned));
  const int64_t per_block = FillRun::threads * FillRun::unroll;
  gpu::launch(queue, std::max(1u, gpu::blocks_for(fill.pieces, per_block)), FillRun::threads, 0, fill);
}

template <class Dev>
void prepare_gpu(Queue& queue) {
  prepare_kokkos(Dev{});
  gpu::prepare<FillRun>(queue);
  prepare_strided_for<Dev, 1, FillWords<uint8_t>>(queue);
  prepare_strided_for<Dev, 1, FillWords<uint32_t>>(queue);
  prepare_strided_for<Dev, 1, FillWords<uint64_t>>(queue);
  prepare_strided_for<Dev, 1, FillWords<Pair<uint32_t>>>(queue);
  prepare_strided_for<Dev, 1, FillWords<Pair<uint64_t>>>(queue);
  prepare_strided_for<Dev, 1, FillWords<Wide>>(queue);
}

template <class Dev>
constexpr Implementation gpu() {
  return {{"gpu", &prepare_gpu<Dev>}, &run_gpu<Dev>};
}

}  // namespace kkc::view_fill
