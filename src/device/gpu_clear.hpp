// Zeros in the memory of a queue's device, by a kernel: it begins right behind the one before.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/gpu_kept_words.hpp"
#include "device/gpu_launch.hpp"

namespace kkc::gpu {

struct ClearWords {
  static constexpr int threads = 256;
  unsigned long long* words;
  int64_t count;

  __device__ void operator()() const {
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x; i < count;
         i += static_cast<int64_t>(gridDim.x) * threads)
      words[i] = 0;
  }
};

/// bytes: a multiple of 8.
inline void clear_words(const Queue& queue, void* words, size_t bytes) {
  const auto count = static_cast<int64_t>(bytes / 8);
  launch(queue, std::min(blocks_for(count, 1024), 4096u), ClearWords::threads, 0,
         ClearWords{static_cast<unsigned long long*>(words), count});
}

/// Words of the queue's that are zero between kernels, which leave them so.
inline unsigned long long* zero_words(Queue& queue, KeptWords::Use use, size_t bytes) {
  KeptWords& kept = keeping(queue).kept_words(use, bytes);
  if (kept.number == 0) clear_words(queue, kept.data, kept.bytes);
  kept.number = 1;
  return kept.data;
}

}  // namespace kkc::gpu
