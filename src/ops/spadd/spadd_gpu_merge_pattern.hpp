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

/// C's entries before a tile, for a whole warp.
__device__ inline int64_t entries_before(const unsigned long long* states, int64_t tile) {
  constexpr int batch = 4, window = 32 * batch;
  const int lane = static_cast<int>(threadIdx.x) & 31;
  unsigned long long sum = 0;
  for (int64_t end = tile; end > 0; end -= window) {
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
#pragma unroll
    for (int j = 0; j < batch; ++j)
      if (32 * j + lane <= known) sum += words[j] & number;
    if (known < window) break;
  }
  return static_cast<int64_t>(gpu::subgroup_sum(sum, 32));
}
}  // namespace tile_state

}  // namespace kkc::spadd::gpu_parts
