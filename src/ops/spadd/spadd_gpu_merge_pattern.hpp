// C's pattern as gpu_merge's tiles write it, each from the place that those before it tell.
#pragma once

#include <cstdint>

#include "device/gpu_warp.hpp"

namespace kkc::spadd::gpu_parts {

/// C's pattern while it is written.
struct PatternTarget {
  void *offsets, *columns;  // columns: null where they are written when their number is known
  bool wide_offsets, wide_columns;
  int64_t room;  // columns at most

  __device__ void set_offset(int64_t row, int64_t value) const { set(offsets, wide_offsets, row, value); }
  template <class U>
  __device__ void set_column(int64_t entry, U column) const {
    set(columns, wide_columns, entry, column);
  }

 private:
  template <class N>
  static __device__ void set(void* data, bool wide, int64_t i, N value) {
    if (wide)
      static_cast<int64_t*>(data)[i] = static_cast<int64_t>(value);
    else
      static_cast<int32_t*>(data)[i] = static_cast<int32_t>(value);
  }
};

/// What others know of a tile: nothing (0), how many of C's entries it has, or how many there are up to its end. One
/// word, read and written whole, so no fence stands between number and state.
namespace tile_state {
inline constexpr unsigned long long counted = 1ull << 62, through = 2ull << 62, number = counted - 1;

__device__ inline void announce(unsigned long long* state, unsigned long long word) {
  *static_cast<volatile unsigned long long*>(state) = word;
}

/// C's entries before a tile, for a whole block, whose warps look at windows of tiles beside each other. Where all
/// tiles count at the same time none knows of all before it, so few long steps back are what counts. Also orders what
/// the block has written to shared memory.
template <int warps>
__device__ inline int64_t entries_before(const unsigned long long* states, int64_t tile,
                                         unsigned long long (&found)[2][warps]) {
  constexpr int batch = 4, window = 32 * batch;
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
  unsigned long long sum = 0;
  for (int step = 0;; ++step) {
    const int64_t end = tile - (static_cast<int64_t>(step) * warps + warp) * window;
    unsigned long long words[batch];
    int known;  // the nearest of the tiles that knows of all before it
    for (;;) {
      int missing = window;
      known = window;
#pragma unroll
      for (int j = 0; j < batch; ++j) {
        const int64_t i = end - 1 - 32 * j - lane;
        words[j] = i >= 0 ? gpu::load_fresh(states + i) : through;
      }
#pragma unroll
      for (int j = batch - 1; j >= 0; --j) {
        const uint32_t knows = gpu::ballot32(words[j] >= through), none = gpu::ballot32(words[j] == 0);
        if (knows != 0) known = 32 * j + __ffs(static_cast<int>(knows)) - 1;
        if (none != 0) missing = 32 * j + __ffs(static_cast<int>(none)) - 1;
      }
      if (missing >= known) break;
      gpu::pause(40);
    }
    unsigned long long of_window = 0;
#pragma unroll
    for (int j = 0; j < batch; ++j)
      if (32 * j + lane <= known) of_window += words[j] & number;
    of_window = gpu::subgroup_sum(of_window, 32);
    unsigned long long* const of_step = found[step & 1];  // the other half may still be read
    if (lane == 0) of_step[warp] = of_window | (known < window ? through : 0);
    __syncthreads();
#pragma unroll
    for (int w = 0; w < warps; ++w) {
      const unsigned long long word = of_step[w];
      sum += word & number;
      if (word >= through) return static_cast<int64_t>(sum);
    }
  }
}
}  // namespace tile_state

}  // namespace kkc::spadd::gpu_parts
