// Kernels of gpu_sync_free: rows in the order of their levels, one launch for all of them, no barriers (Liu et al., "A
// synchronization-free algorithm for parallel sparse triangular solves", Euro-Par 2016, section 3; Su et al.,
// "CapelliniSpTRSV", ICPP 2020, for threads of one warp that wait for each other).
#pragma once

#include "sptrsv_gpu_kernels.hpp"

namespace kkc::sptrsv::gpu_parts {

/// For rows from `position`, of level `low`, on: a row about `distance` levels before them, or -1. Until it is solved,
/// theirs cannot be: they look at that one alone, and leave the memory to those whose turn it is. Without an order: its
/// position.
template <class I>
__device__ inline I gate_before(const I* order, const I* starts, int64_t low, int64_t position, int distance) {
  if (low < distance) return I{-1};
  const int64_t begin = starts[low], width = starts[low + 1] - begin;
  const int64_t other = starts[low - distance], other_width = starts[low - distance + 1] - other;
  const double share = static_cast<double>(position - begin) / static_cast<double>(width);
  const int64_t p = other + min(other_width - 1, static_cast<int64_t>(share * static_cast<double>(other_width)));
  return order != nullptr ? order[p] : static_cast<I>(p);
}

/// Gates of warps' rows.
template <class I>
struct SetGates {
  static constexpr int threads = 256;
  const I *order, *starts;
  int64_t levels, first_position, groups;
  int each, distance;
  I* gates;

  __device__ void operator()() const {
    const int64_t g = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (g >= groups) return;
    const int64_t first = first_position + g * each;
    gates[g] = gate_before(order, starts, last_begun(starts, levels, first), first, distance);
  }
};

/// places[order[p]] = p
template <class I>
struct Invert {
  static constexpr int threads = 256;
  const I* order;
  int64_t rows;
  I* places;

  __device__ void operator()() const {
    const int64_t p = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (p < rows) places[order[p]] = static_cast<I>(p);
  }
};

/// Of the triangle in rows at positions first..end - 1; all of a row's where the pattern is not parted.
template <class T, class I, class O>
struct CountEntries {
  static constexpr int threads = 256;
  Triangle<T, I, O> A;
  const I* order;
  int64_t first, end;
  unsigned long long* entries;

  __device__ void operator()() const {
    const int64_t p = first + int64_t{blockIdx.x} * threads + threadIdx.x;
    unsigned long long mine = 0;
    if (p < end) {
      const Span<O> span = span_of(A, order[p]);
      mine = static_cast<unsigned long long>(span.to - span.from);
    }
    mine = gpu::subgroup_sum(mine, 32);
    if ((threadIdx.x & 31u) == 0 && mine != 0) atomicAdd(entries, mine);
  }
};

/// A warp's rows: 1 << entry_lanes_log2 lanes share a row's entries for each of 1 << column_lanes_log2 right-hand
/// sides. Each lane adds up in the order of the entries, whenever they come: the same bits in every run.
template <class T, class I, class O>
struct RowSolver {
  static constexpr int batch = sizeof(T) <= 8 ? 4 : 2;
  Triangle<T, I, O> A;
  Operands<T> operands;
  const I* order;
  T* work;  // [rows][vectors], ones at first
  gpu::Zeros* zeros;
  int entry_lanes_log2, column_lanes_log2;
  unsigned nap;  // nanoseconds between looks at a gate

  __device__ int lanes_log2() const { return entry_lanes_log2 + column_lanes_log2; }
  __device__ int rows_a_warp() const { return 32 >> lanes_log2(); }

  /// Positions first..end - 1 of the order, at most rows_a_warp(); all lanes of the warp call. Exchange: at(row) is
  /// where x of that row will appear, look(place, column) what is there, tell(position, x) lets others see it.
  template <class Exchange>
  __device__ void solve(int64_t first, int64_t end_position, int64_t tile, I gate, const Exchange& exchange) const {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int column_lanes = 1 << column_lanes_log2, lanes = 1 << lanes_log2();
    const int64_t position = first + (lane >> lanes_log2()), vectors = operands.vectors;
    const int64_t column = (tile << column_lanes_log2) + (lane & (column_lanes - 1));
    const int e = (lane >> column_lanes_log2) & ((1 << entry_lanes_log2) - 1);
    const bool valid = position < end_position, wanted = valid && column < vectors, writes = wanted && e == 0;
    const int64_t row = valid ? order[position] : 0;
    const T alpha = operands.alpha.get();
    const bool trivial = gpu::is_zero(alpha);  // reads nothing, and waits for nothing
    const Span<O> span = valid ? span_of(A, row) : Span<O>{};
    // Entries far from the diagonal first: their rows are solved first.
    const O count = wanted && !trivial ? static_cast<O>(span.to - span.from) : O{0};
    O next = static_cast<O>(e);

    T right{}, diagonal{};
    if (writes) {
      if (!trivial) right = gpu::multiply(alpha, operands.b[row * operands.b_row + column * operands.b_column]);
      if (A.unit || trivial)
        diagonal = one<T>();
      else if (A.parted)
        diagonal = A.value(span.diagonal);
    }
    typename Exchange::Place places[batch];
    T values[batch], known[batch], sum{};
    uint32_t open = 0, used = 0;
    const auto load = [&] {
      open = 0;
      I columns[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        const O k = next + static_cast<O>(u << entry_lanes_log2);
        if (k < count) {
          const O place = A.lower ? static_cast<O>(span.from + k) : static_cast<O>(span.to - 1 - k);
          columns[u] = gpu::load_constant(A.indices + place) - static_cast<I>(A.base);
          values[u] = A.value(place);
          open |= 1u << u;
        }
      }
      if (!A.parted)
#pragma unroll
        for (int u = 0; u < batch; ++u)
          if ((open >> u & 1u) != 0 && !A.needs(row, columns[u])) {
            if (columns[u] == row && !A.unit) diagonal = gpu::add(diagonal, values[u]);
            open &= ~(1u << u);
          }
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if ((open >> u & 1u) != 0) places[u] = exchange.at(columns[u]);
      used = open;
      next += static_cast<O>(batch << entry_lanes_log2);
    };
    if (next < count) load();
    T inverse = A.parted && writes ? reciprocal(diagonal) : T{};
    if (gate >= 0 && !trivial) {
      const typename Exchange::Place flag = exchange.at(gate);
      while (absent(exchange.look(flag, tile << column_lanes_log2)))
        if (nap != 0) gpu::pause(nap);
    }

    const uint32_t mine = (lanes == 32 ? ~0u : ((1u << lanes) - 1) << (lane & ~(lanes - 1)));
    bool done = !valid;
    while (gpu::ballot32(!done) != 0) {
      if (open == 0 && next < count) load();
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if ((open >> u & 1u) != 0) known[u] = exchange.look(places[u], column);
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if ((open >> u & 1u) != 0 && !absent(known[u])) open &= ~(1u << u);
      if (open == 0 && used != 0) {
#pragma unroll
        for (int u = 0; u < batch; ++u)
          if ((used >> u & 1u) != 0) sum = gpu::multiply_add(values[u], known[u], sum);
        used = 0;
      }
      const uint32_t ready = gpu::ballot32(open == 0 && next >= count);
      const bool complete = !done && (ready & mine) == mine;
      if (gpu::ballot32(complete) == 0) continue;
      T total = sum, whole = diagonal;
      for (int mask = lanes >> 1; mask >= column_lanes; mask >>= 1)
        total = gpu::add(total, gpu::shuffle_xor(total, mask, 32));
      if (!A.parted) {
        for (int mask = lanes >> 1; mask >= column_lanes && !A.unit; mask >>= 1)
          whole = gpu::add(whole, gpu::shuffle_xor(whole, mask, 32));
        inverse = reciprocal(whole);
      }
      if (!complete) continue;
      done = true;
      if (!writes) continue;
      const T x = gpu::multiply(subtract(right, total), inverse);
      exchange.tell(position, x);
      publish(work + row * vectors + column, x);
      operands.x[row * operands.x_row + column * operands.x_column] = x;
      if (column == 0 && gpu::is_zero(whole)) zeros->note(row);
    }
  }
};

/// Levels of many rows. Blocks take tickets: the rows before a block's are running or solved, whatever order the device
/// starts blocks in.
template <class T, class I, class O>
struct SolveSyncFree {
  static constexpr int threads = 128, warps = threads / 32;
  RowSolver<T, I, O> solver;
  const I* gates;
  int64_t first_position, end_position;
  unsigned* ticket;  // ~0 at first
  int tiles;         // of right-hand sides

  __device__ void operator()() const {
    const int64_t item = take_turn(ticket, warps);
    const int64_t group = tiles == 1 ? item : item / tiles, tile = tiles == 1 ? 0 : item % tiles;
    const int64_t first = first_position + group * solver.rows_a_warp();
    if (first >= end_position) return;
    solver.solve(first, end_position, tile, gates[group], InWorkspace{solver.work, solver.operands.vectors});
  }

 private:
  struct InWorkspace {
    using Place = I;
    const T* work;
    int64_t vectors;

    __device__ I at(I row) const { return row; }
    __device__ T look(I row, int64_t column) const {
      return gpu::load_fresh(work + static_cast<int64_t>(row) * vectors + column);
    }
    __device__ void tell(int64_t, const T&) const {}
  };
};

/// A chain of levels of few rows, by one block for one right-hand side: the solved rows of this segment and of the one
/// before are waited for in shared memory, a tenth of the way to the second-level cache.
template <class T, class I, class O>
struct SolveChain {
  static constexpr int threads = 512, warps = threads / 32, segment = 1024;
  RowSolver<T, I, O> solver;
  const I* places;  // of rows in the order
  const I* gates;
  int64_t first_position, end_position;

  __device__ void operator()() const {
    __shared__ T parts[3][segment];
    const int each = solver.rows_a_warp(), warp = static_cast<int>(threadIdx.x) / 32;
    for (int i = static_cast<int>(threadIdx.x); i < 2 * segment; i += threads) forget(parts[i / segment][i % segment]);
    __syncthreads();
    int now = 0;
    for (int64_t begin = first_position; begin < end_position; begin += segment) {
      const int64_t end = begin + segment < end_position ? begin + segment : end_position;
      const int before = now == 0 ? 2 : now - 1, after = now == 2 ? 0 : now + 1;
      // The next segment's; nobody looks there any more.
      for (int i = static_cast<int>(threadIdx.x); i < segment; i += threads) forget(parts[after][i]);
      const int64_t known_from = begin - segment < first_position ? first_position : begin - segment;
      const InBlock exchange{solver.work, places, parts[now], parts[before], begin, known_from};
      for (int64_t first = begin + warp * each; first < end; first += warps * each)
        solver.solve(first, end, 0, gates[(first - first_position) / each], exchange);
      __syncthreads();
      now = after;
    }
  }

 private:
  struct InBlock {
    using Place = const T*;
    const T* work;
    const I* places;
    T *here, *there;  // of the segment, and of the one before
    int64_t begin, known_from;

    __device__ const T* at(I row) const {
      const int64_t place = places[row];
      if (place < known_from) return work + row;
      return place < begin ? there + (place - (begin - segment)) : here + (place - begin);
    }
    __device__ T look(const T* place, int64_t) const { return gpu::load_fresh(place); }
    __device__ void tell(int64_t position, const T& x) const { publish(here + (position - begin), x); }
  };
};

}  // namespace kkc::sptrsv::gpu_parts
