// Kernels of gpu_sync_free for grids of short rows: neighbouring rows of a line are a stretch, a row a lane. What a row
// needs of the one before it goes from lane to lane; numbers of other stretches are their own flags, as in
// gpu_sync_free (Liu et al., "A synchronization-free algorithm for parallel sparse triangular solves", Euro-Par 2016,
// section 3).
#pragma once

#include "ops/levels/levels_gpu_grid.hpp"
#include "sptrsv_gpu_kernels.hpp"

namespace kkc::sptrsv::gpu_parts {

using levels::gpu_parts::stretch_rows;
inline constexpr int64_t shortest_line = 32;  // rows: shorter ones would fill their last stretch badly

/// Where stretches lie: those of a line one after the other, lines as they come.
template <class I>
struct Stretches {
  I rows, line, per_line;

  __host__ __device__ static Stretches of(int64_t rows, int64_t line) {
    return {static_cast<I>(rows), static_cast<I>(line), static_cast<I>((line + stretch_rows - 1) / stretch_rows)};
  }
  __host__ __device__ int64_t count() const {
    return int64_t{rows / line} * per_line + (rows % line + stretch_rows - 1) / stretch_rows;
  }
  __device__ I first(I stretch) const {
    const I of_line = stretch / per_line;
    return of_line * line + (stretch - of_line * per_line) * stretch_rows;
  }
};

/// Steps of stretches, and whether every row depends on stretches of lower steps and on the row right before it alone.
template <class I, class O>
struct CheckStretches {
  static constexpr int threads = 256;
  const O* offsets;
  const I* indices;
  int64_t rows;
  int32_t base;
  bool lower;
  int lanes_log2;
  levels::gpu_parts::Grid* grid;
  uint32_t* step;               // [stretches], from 1
  unsigned long long* highest;  // step

  __device__ void operator()() const {
    const levels::gpu_parts::GridRows<I> lie(*grid);
    const auto stretches = Stretches<I>::of(rows, lie.line);
    const I last = static_cast<I>(rows - 1);
    const int lane = static_cast<int>(threadIdx.x) & 31, lanes = 1 << lanes_log2, e = lane & (lanes - 1),
              each = 32 >> lanes_log2;
    I top = 0;
    const int64_t stride = int64_t{gridDim.x} * (threads / 32) * each;
    for (int64_t first = (int64_t{blockIdx.x} * (threads / 32) + threadIdx.x / 32) * each; first < rows;
         first += stride) {
      if (gpu::ballot32(gpu::load_fresh(&grid->wrong) != 0) != 0) return;
      if (first + (lane >> lanes_log2) >= rows) continue;
      const I q = static_cast<I>(first + (lane >> lanes_log2)), row = lower ? q : last - q;
      const auto here = lie.place_of(q);
      const I mine = 1 + lie.template step<stretch_rows>(here), begin = q - here.in_line % stretch_rows;
      bool wrong = false;
      const O end = offsets[row + 1] - base;
      for (O p = offsets[row] - base + e; p < end; p += lanes) {
        const I column = indices[p] - static_cast<I>(base), other = lower ? column : last - column;
        if (other >= q) continue;
        wrong = wrong || (other >= begin ? other != q - 1
                                         : 1 + lie.template step<stretch_rows>(lie.place_near(here, other)) >= mine);
      }
      if (wrong) grid->wrong = 1;
      if (e != 0 || here.in_line % stretch_rows != 0) continue;
      step[q / lie.line * stretches.per_line + here.in_line / stretch_rows] = static_cast<uint32_t>(mine);
      top = max(top, mine);
    }
    for (int mask = 16; mask > 0; mask >>= 1) top = max(top, gpu::shuffle_xor(top, mask, 32));
    if (lane == 0 && static_cast<unsigned long long>(top) > gpu::load_fresh(highest))
      atomicMax(highest, static_cast<unsigned long long>(top));
  }
};

/// Four stretches a warp, in the order of their steps: blocks of threads take tickets, so that what a warp waits for is
/// solved or under way. Each lane adds up its row's entries outside of the stretch in their order, then the rows of the
/// stretch follow one another: the same bits in every run.
template <class T, class I, class O, int batch>
struct SolveStretches {
  static constexpr int threads = 128, warps = threads / 32, lanes = stretch_rows, each = 32 / lanes;
  static constexpr int blocks_per_sm = sizeof(T) > 8 || sizeof(O) > 4 ? 8 : 10;
  Triangle<T, I, O> A;  // parted
  Operands<T> operands;
  const I* order;
  Stretches<I> stretches;
  int64_t count;
  I plane_lines, gate_lines, gate_planes;  // a gate lies so many lines, else planes before; 0: none does
  T* work;                                 // [rows], ones at first
  gpu::Zeros* zeros;
  unsigned* ticket;  // ~0 at first

  __device__ int64_t turned(int64_t row) const { return A.lower ? row : A.rows - 1 - row; }

  /// A row of the stretch that is solved a few steps before this one, or -1. All lanes look there alone until it is
  /// there, and leave the memory to those whose turn it is.
  __device__ int64_t gate_of(I stretch) const {
    const I line = stretch / stretches.per_line, j = line % plane_lines, k = line / plane_lines;
    I before = 0;
    if (gate_lines > 0 && j >= gate_lines)
      before = gate_lines;
    else if (gate_planes > 0)
      before = min(k, gate_planes) * plane_lines;
    return before == 0 ? -1 : turned(static_cast<int64_t>(stretches.first(stretch)) - int64_t{before} * stretches.line);
  }

  __device__ void operator()() const {
    __shared__ unsigned shared_ticket;
    if (threadIdx.x == 0) shared_ticket = atomicAdd(ticket, 1u) + 1u;
    __syncthreads();
    const int lane = static_cast<int>(threadIdx.x) & 31, i = lane & (lanes - 1);
    const int64_t group = static_cast<int64_t>(shared_ticket) * warps + threadIdx.x / 32,
                  position = group * each + lane / lanes;
    if (group * each >= count) return;
    const I stretch = order[min(position, count - 1)], first = stretches.first(stretch),
            of_line = first / stretches.line, line_end = min(stretches.rows, (of_line + 1) * stretches.line);
    const int64_t q = static_cast<int64_t>(first) + i;
    const bool valid = position < count && q < line_end;
    const int64_t row = valid ? turned(q) : 0;
    const T alpha = operands.alpha.get();
    if (gpu::is_zero(alpha)) {  // reads nothing, and waits for nothing
      if (valid) operands.x[row * operands.x_row] = T{};
      return;
    }
    const Span<O> span = valid ? span_of(A, row) : Span<O>{};
    const O entries = span.to - span.from;
    I columns[batch];
    T values[batch], known[batch], sum{}, link{};
    O next = 0;
    int have = 0, taken = 0;
    bool linked = false;
    const auto load = [&] {
      have = taken = 0;
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        forget(known[u]);
        if (next < entries) {
          // Those far from the diagonal first, as their rows are solved first.
          const O place = A.lower ? static_cast<O>(span.from + next) : static_cast<O>(span.to - 1 - next);
          columns[u] = gpu::load_constant(A.indices + place) - static_cast<I>(A.base);
          values[u] = A.value(place);
          if (i > 0 && turned(columns[u]) == q - 1) {
            link = linked ? gpu::add(link, values[u]) : values[u];
            linked = true;
            values[u] = known[u] = T{};
          }
          have = u + 1;
          ++next;
        }
      }
    };
    load();
    T right{}, inverse = one<T>();
    bool zero = false;
    if (valid) {
      right = gpu::multiply(alpha, operands.b[row * operands.b_row]);
      if (!A.unit) {
        const T diagonal = A.value(span.diagonal);
        zero = gpu::is_zero(diagonal);
        inverse = reciprocal(diagonal);
      }
    }
    const int64_t gate = gate_of(gpu::shuffle_from(stretch, 0, 32));
    if (gate >= 0)
      while (absent(gpu::load_fresh(work + gate))) {
      }

    constexpr uint32_t starts = 0x01010101u;
    static_assert(lanes == 8);
    uint32_t finished = 0;  // first lanes of stretches
    while (finished != starts) {
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (u < have && absent(known[u])) known[u] = gpu::load_fresh(work + columns[u]);
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (u == taken && u < have && !absent(known[u])) {
          sum = gpu::multiply_add(values[u], known[u], sum);
          ++taken;
        }
      if (taken == have && next < entries) load();
      uint32_t full = gpu::ballot32(taken == have);
#pragma unroll
      for (int by = 1; by < lanes; by <<= 1) full &= full >> by;
      const uint32_t now = full & starts & ~finished;
      if (now == 0) continue;
      finished |= now;
      const T head = gpu::multiply(subtract(right, sum), inverse), factor = subtract(T{}, gpu::multiply(link, inverse));
      T x = head;
#pragma unroll
      for (int s = 1; s < lanes; ++s) {
        const T before = gpu::shuffle_up(x, 1, lanes);
        if (i == s && linked) x = gpu::multiply_add(factor, before, head);
      }
      if (!valid || (now >> (lane & ~(lanes - 1)) & 1u) == 0) continue;
      publish(work + row, x);
      operands.x[row * operands.x_row] = x;
      if (zero) zeros->note(row);
    }
  }
};

}  // namespace kkc::sptrsv::gpu_parts
