// Kernels of view_scan beside those of device/gpu_scan.hpp: short lines, and lines whose neighbours lie side by side.
#pragma once

#include "device/gpu_scan.hpp"
#include "view_scan.hpp"

namespace kkc::view_scan::gpu_parts {

/// Elements at any stride.
template <class In, class T>
struct StridedSource {
  const In* data;
  int64_t step, line_stride;

  template <int vector>
  __device__ void load(int64_t line, int64_t i, T (&x)[vector]) const {
#pragma unroll
    for (int k = 0; k < vector; ++k) x[k] = static_cast<T>(data[line * line_stride + (i + k) * step]);
  }
};
template <class T>
struct StridedTarget {
  T* data;
  int64_t step, line_stride;

  template <int vector>
  __device__ void store(int64_t line, int64_t i, const T (&x)[vector]) const {
#pragma unroll
    for (int k = 0; k < vector; ++k) data[line * line_stride + (i + k) * step] = x[k];
  }
  __device__ void finish(int64_t, int64_t, const T&) const {}
};

/// A warp a line, 128 elements at a time.
template <class In, class T>
struct ScanShortLines {
  static constexpr int threads = 256, unroll = 4;
  const In* x;
  T* y;
  Lines lines;
  bool inclusive;

  __device__ void operator()() const {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int64_t line = static_cast<int64_t>(blockIdx.x) * (threads / 32) + threadIdx.x / 32;
    if (line >= lines.count) return;
    const In* const from = x + line * lines.x_line;
    T* const to = y + line * lines.y_line;
    T before{};
    for (int64_t begin = 0; begin < lines.length; begin += 32 * unroll) {
      T value[unroll], upto[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        const int64_t i = begin + u * 32 + lane;
        value[u] = i < lines.length ? static_cast<T>(from[i * lines.x_step]) : T{};
      }
#pragma unroll
      for (int u = 0; u < unroll; ++u) upto[u] = gpu::subgroup_scan(value[u], 32);
#pragma unroll
      for (int u = 0; u < unroll; ++u) {
        const int64_t i = begin + u * 32 + lane;
        const T below = gpu::shuffle_up(upto[u], 1, 32);
        T result = inclusive ? gpu::add(before, upto[u]) : lane == 0 ? before : gpu::add(before, below);
        if (i < lines.length) to[i * lines.y_step] = result;
        before = gpu::add(before, gpu::shuffle_from(upto[u], 31, 32));
      }
    }
  }
};

/// A block 32 neighbouring lines and 128 elements of each: a lane a line, a warp 16 elements. Tiles of a panel look
/// back like those of gpu::ScanTiles, each lane for its line.
template <class In, class T>
struct ScanPanels {
  static constexpr int threads = 256, items = 16, warps = threads / 32, height = warps * items;
  static constexpr int group = 16;  // tiles whose sums a tile reads at most

  const In* x;
  T* y;
  Lines lines;
  bool inclusive;
  unsigned panels, tiles, groups;  // tiles and groups of a panel
  const T* base;                   // [lines.count]: sums before the first element, or null
  T* carry;                        // [lines.count]: where the lines' totals go, or null
  gpu::ScanWords words;

  __device__ T prefix_of(int64_t panel, unsigned tile, const T& sum, int lane, const T& start) const {
    constexpr int width = gpu::scan_words<T>;
    const unsigned which = tile / group, place = tile % group;
    const auto sums_of = [&](unsigned t) { return words.sums + ((panel * tiles + t) * 32 + lane) * width; };
    const auto prefix_words = [&](unsigned g) { return words.prefixes + ((panel * groups + g) * 32 + lane) * width; };
    if (place + 1 < group) gpu::announce(sums_of(tile), sum);
    T before{};
    for (unsigned i = 0; i < place; ++i) before = gpu::add(before, gpu::await<T>(sums_of(which * group + i)));
    const T prefix = which == 0 ? start : gpu::await<T>(prefix_words(which));
    if (place + 1 == group && which + 1 < groups)
      gpu::announce(prefix_words(which + 1), gpu::add(prefix, gpu::add(before, sum)));
    return gpu::add(prefix, before);
  }

  __device__ void operator()() const {
    __shared__ T sums[warps][32], prefixes[32];
    __shared__ unsigned shared_ticket;
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) / 32;
    unsigned number = blockIdx.x;
    if (tiles > 1) {
      if (threadIdx.x == 0) shared_ticket = atomicAdd(words.ticket, 1u);
      __syncthreads();
      number = shared_ticket;
    }
    const unsigned panel = number % panels, tile = number / panels;
    const int64_t line = static_cast<int64_t>(panel) * 32 + lane;
    const bool active = line < lines.count;
    const int64_t begin = static_cast<int64_t>(tile) * height + warp * items;
    const In* const from = x + line * lines.x_line;
    T* const to = y + line * lines.y_line;

    T value[items], sum{};
#pragma unroll
    for (int k = 0; k < items; ++k)
      value[k] = active && begin + k < lines.length ? static_cast<T>(from[(begin + k) * lines.x_step]) : T{};
#pragma unroll
    for (int k = 0; k < items; ++k) sum = gpu::add(sum, value[k]);
    sums[warp][lane] = sum;
    __syncthreads();
    if (warp == 0) {
      T all{};
      for (int w = 0; w < warps; ++w) all = gpu::add(all, sums[w][lane]);
      const T start = base != nullptr && active ? base[line] : T{};
      const T prefix = tiles > 1 ? prefix_of(panel, tile, all, lane, start) : start;
      prefixes[lane] = prefix;
      if (carry != nullptr && active && tile + 1 == tiles) carry[line] = gpu::add(prefix, all);
    }
    __syncthreads();
    T before{};
    for (int w = 0; w < warp; ++w) before = gpu::add(before, sums[w][lane]);
    before = gpu::add(prefixes[lane], before);
#pragma unroll
    for (int k = 0; k < items; ++k) {
      const T after = gpu::add(before, value[k]);
      if (active && begin + k < lines.length) to[(begin + k) * lines.y_step] = inclusive ? after : before;
      before = after;
    }
  }
};

}  // namespace kkc::view_scan::gpu_parts
