// Grids on GPUs: rows that lie line by line and plane by plane. There an order of dependencies is a linear function of
// a row's place in its line, the line's in the plane, and the plane's (hyperplanes: Lamport, "The parallel execution of
// DO loops", Comm. ACM 17(2), 1974). A sample of rows tells the function, and a look at every row proves it: levels are
// the only numbers each of which is one more than the highest of those that its row depends on.
#pragma once

#include <cstdint>

#include "device/gpu_warp.hpp"

namespace kkc::levels::gpu_parts {

/// Rows are counted in the order of dependencies. A row's step is place in line / unit + by_line * line in plane +
/// by_plane * plane.
struct Grid {
  int64_t line, plane;  // rows of each; 0: no grid
  int64_t by_line, by_plane;
  unsigned ticket, wrong;  // wrong: a row's step does not suit what it depends on
};

/// Where rows of a grid lie, in numbers of their own type: SampleGrid lets no step pass what it holds.
template <class I>
struct GridRows {
  I line, plane, by_line, by_plane;

  struct Place {
    I in_line, line, plane;
  };

  __device__ explicit GridRows(const Grid& grid)
      : line(static_cast<I>(grid.line)),
        plane(static_cast<I>(grid.plane)),
        by_line(static_cast<I>(grid.by_line)),
        by_plane(static_cast<I>(grid.by_plane)) {}

  __device__ Place place_of(I q) const {
    const I k = q / plane, in_plane = q - k * plane, j = in_plane / line;
    return {static_cast<I>(in_plane - j * line), j, k};
  }
  /// The same, without divisions where `q` is in the line of `here` or in a neighbouring line or plane.
  __device__ Place place_near(const Place& here, I q) const {
    I k = here.plane, j = here.line, in_plane = q - k * plane;
    if (in_plane < 0) {
      --k;
      in_plane += plane;
      if (in_plane < 0) return place_of(q);
    }
    I in_line = in_plane - j * line;
    if (in_line < 0) {
      --j;
      in_line += line;
    } else if (in_line >= line) {
      ++j;
      in_line -= line;
    }
    if (in_line < 0 || in_line >= line) return place_of(q);
    return {in_line, j, k};
  }
  template <int unit>
  __device__ I step(const Place& place) const {
    return place.in_line / unit + by_line * place.line + by_plane * place.plane;
  }
};

/// Rows of a line that are taken at once: a step for each row, or for each stretch of so many.
inline constexpr int stretch_rows = 8;
struct Grids {
  Grid rows, stretches;
};

/// Finds what the grid is if it is one; writes all of it.
template <class I, class O>
struct SampleGrid {
  static constexpr int threads = 256, sample = 16384, words = sample / 32;
  static constexpr int most_entries = 256;  // looked at in a row
  static constexpr I most_lines = 1 << 14;  // of a plane
  static constexpr double most_steps = 2147483000;
  const O* offsets;
  const I* indices;
  int64_t rows;
  int32_t base;
  bool lower;
  uint32_t* links;  // [words]: does row i need the one before it?
  Grids* grids;     // zeros

  __device__ void run(unsigned block, unsigned blocks) const {
    __shared__ bool last;
    const int64_t i = int64_t{block} * threads + threadIdx.x;
    bool linked = false;
    if (i < rows) each(static_cast<I>(i), [&](I needed) { linked = linked || needed == i - 1; });
    const uint32_t word = gpu::ballot32(linked);
    if ((threadIdx.x & 31u) == 0) links[i / 32] = word;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(&grids->rows.ticket, 1u) + 1 == blocks;
    __syncthreads();
    if (!last) return;
    __threadfence();
    look();
  }

 private:
  /// f(row that row q depends on)
  template <class F>
  __device__ void each(I q, const F& f) const {
    const I last = static_cast<I>(rows - 1), row = lower ? q : last - q;
    const O begin = offsets[row] - base, end = min(offsets[row + 1] - base, begin + most_entries);
    constexpr int at_once = 16;  // loads
    for (O p = begin; p < end; p += at_once) {
      I columns[at_once];
#pragma unroll
      for (int u = 0; u < at_once; ++u) columns[u] = p + u < end ? indices[p + u] - static_cast<I>(base) : row;
#pragma unroll
      for (int u = 0; u < at_once; ++u)
        if (const I needed = lower ? columns[u] : last - columns[u]; needed < q) f(needed);
    }
  }

  __device__ void look() const {
    __shared__ uint32_t linked[words];
    __shared__ int line, lines;
    constexpr int units[] = {1, stretch_rows};
    __shared__ unsigned long long by_line[2], by_plane[2];
    __shared__ bool uneven;
    const int seen = static_cast<int>(min(rows, int64_t{sample})), thread = static_cast<int>(threadIdx.x);
    constexpr int none = INT32_MAX;
    if (thread == 0) {
      line = lines = none;
      by_line[0] = by_line[1] = by_plane[0] = by_plane[1] = 0;
      uneven = false;
    }
    // Row 0, and what lies behind the sample, count as linked.
    for (int w = thread; w < words; w += threads) {
      const int open = seen - 32 * w;
      linked[w] = open <= 0 ? ~0u : gpu::load_fresh(links + w) | (w == 0 ? 1u : 0u) | (open < 32 ? ~0u << open : 0u);
    }
    __syncthreads();
    // A line ends where a row does not need the one before it: at the same distance everywhere, or it is no grid.
    for (int w = thread; w < words; w += threads)
      if (linked[w] != ~0u) atomicMin(&line, 32 * w + __ffs(static_cast<int>(~linked[w])) - 1);
    __syncthreads();
    for (int w = thread; w < words; w += threads)
      for (uint32_t ends = ~linked[w]; ends != 0; ends &= ends - 1)
        if ((32 * w + __ffs(static_cast<int>(ends)) - 1) % line != 0) uneven = true;
    __syncthreads();
    const I all = static_cast<I>(rows), length = line == none ? all : static_cast<I>(line);
    if (uneven || length < 2) return;
    // A plane ends where a line's first row needs none of the line before.
    const I count = (all - 1) / length + 1;
    for (I first = 1; first < min(count, most_lines) && lines == none; first += threads) {
      const I m = first + thread;
      bool needs = m >= count;
      if (!needs) each(m * length, [&](I needed) { needs = needs || needed >= (m - 1) * length; });
      __syncthreads();
      if (!needs) atomicMin(&lines, static_cast<int>(m));
      __syncthreads();
    }
    Grid found{};
    found.line = length;
    found.plane = lines == none ? all : length * static_cast<I>(lines);
    const GridRows<I> lie(found);
    // Rows of a line in the middle: their neighbours are all there.
    const I middle = all / lie.plane / 2 * lie.plane + lie.plane / length / 2 * length,
            end = middle + min(min(length, static_cast<I>(4 * threads)), static_cast<I>(all - middle));
    const auto above = [](int64_t a, int64_t b) {
      return a <= 0 ? 0ull : static_cast<unsigned long long>((a + b - 1) / b);
    };
    for (I q = middle + thread; q < end; q += threads) {
      const auto here = lie.place_of(q);
      each(q, [&](I needed) {
        const auto there = lie.place_near(here, needed);
        if (there.plane == here.plane && there.line < here.line)
#pragma unroll
          for (int u = 0; u < 2; ++u)
            atomicMax(by_line + u,
                      above(1 + there.in_line / units[u] - here.in_line / units[u], here.line - there.line));
      });
    }
    __syncthreads();
    for (I q = middle + thread; q < end; q += threads) {
      const auto here = lie.place_of(q);
      each(q, [&](I needed) {
        const auto there = lie.place_near(here, needed);
        if (there.plane < here.plane)
#pragma unroll
          for (int u = 0; u < 2; ++u)
            atomicMax(by_plane + u, above(1 + there.in_line / units[u] - here.in_line / units[u] +
                                              static_cast<int64_t>(by_line[u]) * (there.line - here.line),
                                          here.plane - there.plane));
      });
    }
    __syncthreads();
    if (thread >= 2) return;
    const double highest = static_cast<double>(length) +
                           static_cast<double>(by_line[thread]) * static_cast<double>(count) +
                           static_cast<double>(by_plane[thread]) * static_cast<double>(all / lie.plane + 1);
    if (highest > most_steps) return;
    found.by_line = static_cast<int64_t>(by_line[thread]);
    found.by_plane = static_cast<int64_t>(by_plane[thread]);
    (thread == 0 ? grids->rows : grids->stretches) = found;
  }
};

/// Writes every row's level, counted from 1, and says whether one is wrong. A row for `1 << lanes_log2` lanes.
template <class I, class O>
struct CheckGrid {
  static constexpr int threads = 256;
  const O* offsets;
  const I* indices;
  int64_t rows;
  int32_t base;
  bool lower;
  int lanes_log2;
  Grid* grid;
  I* level;
  unsigned long long* highest;

  __device__ void operator()() const {
    if (grid->line == 0) return;
    const GridRows<I> lie(*grid);
    const I last = static_cast<I>(rows - 1);
    const int lane = static_cast<int>(threadIdx.x) & 31, lanes = 1 << lanes_log2, e = lane & (lanes - 1),
              each = 32 >> lanes_log2;
    I top = 0;
    const int64_t step = int64_t{gridDim.x} * (threads / 32) * each;
    for (int64_t first = (int64_t{blockIdx.x} * (threads / 32) + threadIdx.x / 32) * each; first < rows;
         first += step) {
      if (gpu::ballot32(gpu::load_fresh(&grid->wrong) != 0) != 0) return;
      const bool valid = first + (lane >> lanes_log2) < rows;
      const I q = valid ? static_cast<I>(first + (lane >> lanes_log2)) : 0, row = lower ? q : last - q;
      const auto here = lie.place_of(q);
      const I mine = 1 + lie.template step<1>(here);
      I most = 0;
      const O end = valid ? offsets[row + 1] - base : 0;
      for (O p = (valid ? offsets[row] - base : 0) + e; p < end; p += lanes) {
        const I column = indices[p] - static_cast<I>(base), other = lower ? column : last - column;
        if (other < q) most = max(most, 1 + lie.template step<1>(lie.place_near(here, other)));
      }
      for (int mask = lanes >> 1; mask > 0; mask >>= 1) most = max(most, gpu::shuffle_xor(most, mask, 32));
      if (!valid || e != 0) continue;
      if (most + 1 != mine) grid->wrong = 1;
      level[row] = mine;
      top = max(top, mine);
    }
    for (int mask = 16; mask > 0; mask >>= 1) top = max(top, gpu::shuffle_xor(top, mask, 32));
    if (lane == 0 && static_cast<unsigned long long>(top) > gpu::load_fresh(highest))
      atomicMax(highest, static_cast<unsigned long long>(top));
  }
};

}  // namespace kkc::levels::gpu_parts
