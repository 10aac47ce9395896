// plan_output, GPUs.
#pragma once

#include "device/gpu_launch.hpp"
#include "plan_output.hpp"

namespace kkc::plan_output {
namespace gpu_parts {

template <class I>
struct Shift {
  static constexpr int threads = 256;
  I* destination;
  const I* source;
  int64_t count;
  I shift;

  __device__ void operator()() const {
    const int64_t step = int64_t{gridDim.x} * threads;
    for (int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x; i < count; i += step)
      destination[i] = source[i] + shift;
  }
};

inline void shift(Queue& queue, void* destination, const void* source, size_t bytes_each, int64_t count, int64_t by) {
  const auto start = [&]<class I>(I shift) {
    const Shift<I> f{static_cast<I*>(destination), static_cast<const I*>(source), count, shift};
    const int64_t blocks = (count + f.threads - 1) / f.threads, most = int64_t{16} * queue.concurrency();
    gpu::launch(queue, static_cast<unsigned>(blocks < most ? blocks : most), f.threads, 0, f);
  };
  if (bytes_each == 4)
    start(static_cast<int32_t>(by));
  else
    start(by);
}

inline void prepare(Queue& queue) {
  gpu::prepare<Shift<int32_t>>(queue);
  gpu::prepare<Shift<int64_t>>(queue);
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu() {
  return {{"gpu", gpu_parts::prepare}, gpu_parts::shift, nullptr};
}

}  // namespace kkc::plan_output
