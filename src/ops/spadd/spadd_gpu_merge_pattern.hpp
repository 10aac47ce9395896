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

  __device__ void set_offset(int64_t row, int64_t value) const {
    if (wide_offsets)
      static_cast<int64_t*>(offsets)[row] = value;
    else
      static_cast<int32_t*>(offsets)[row] = static_cast<int32_t>(value);
  }
};

/// How many of C's entries come before a tile: those of its group's earlier tiles, and those of the groups before,
/// which add up their tiles' as they come. The first wave of tiles, none of which knows of all before it, thus looks
/// back once. Words are read and written whole, so no fence stands between number and state.
struct LookBack {
  static constexpr int group = 128;  // tiles
  unsigned* counts;                  // of each tile, 1 more; 0: not known yet
  unsigned long long* sums;          // of each group's tiles that have counted, and how many these are (from bit 48 on)
  unsigned long long* throughs;      // of all tiles up to a group's end, 1 more; 0: not known yet

  static constexpr unsigned long long one = 1ull << 48, all = group * one;

  static __host__ __device__ int64_t groups(int64_t tiles) { return (tiles + group - 1) / group; }

  __device__ void announce(int64_t tile, int count) const {
    *static_cast<volatile unsigned*>(counts + tile) = 1 + static_cast<unsigned>(count);
    atomicAdd(sums + tile / group, one + static_cast<unsigned>(count));
  }
  __device__ void announce_through(int64_t tile, int64_t entries) const {
    if (tile % group == group - 1)
      static_cast<volatile unsigned long long*>(throughs)[tile / group] = 1 + static_cast<unsigned long long>(entries);
  }

  /// For the first two warps of a block, which call it together: the parts of the number.
  __device__ unsigned long long part(int64_t tile) const {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    return gpu::subgroup_sum(threadIdx.x < 32 ? of_tiles(tile, lane) : of_groups(tile / group, lane), 32);
  }

 private:
  __device__ unsigned long long of_tiles(int64_t tile, int lane) const {
    constexpr int batch = group / 32;
    const int64_t first = tile / group * group + lane;
    unsigned count[batch];
    for (;;) {
      bool missing = false;
#pragma unroll
      for (int j = 0; j < batch; ++j) {
        count[j] = first + 32 * j < tile ? gpu::load_fresh(counts + first + 32 * j) : 1;
        missing = missing || count[j] == 0;
      }
      if (gpu::ballot32(missing) == 0) break;
      gpu::pause(40);
    }
    unsigned sum = 0;
#pragma unroll
    for (int j = 0; j < batch; ++j) sum += count[j] - 1;
    return sum;
  }

  __device__ unsigned long long of_groups(int64_t end, int lane) const {
    unsigned long long total = 0;
    for (; end > 0; end -= 32) {
      const int64_t i = end - 1 - lane;
      unsigned long long sum, through;
      int nearest;
      for (;;) {
        through = i >= 0 ? gpu::load_fresh(throughs + i) : 1;
        sum = i >= 0 ? gpu::load_fresh(sums + i) : all;
        const uint32_t known = gpu::ballot32(through != 0), open = gpu::ballot32(sum < all);
        nearest = known != 0 ? __ffs(static_cast<int>(known)) - 1 : 32;
        if ((open & ~(~0ull << nearest)) == 0) break;
        gpu::pause(40);
      }
      if (lane < nearest) total += sum - all;
      if (lane == nearest) total += through - 1;
      if (nearest < 32) break;
    }
    return total;
  }
};

}  // namespace kkc::spadd::gpu_parts
