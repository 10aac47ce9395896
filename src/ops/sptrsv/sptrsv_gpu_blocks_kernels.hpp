// Kernels of gpu_sync_free for bands: 32 neighbouring rows are a block, solved by one warp, a row a lane. What rows of
// a block need of each other goes from lane to lane; numbers of other blocks are their own flags, as in gpu_sync_free
// (Liu et al., "A synchronization-free algorithm for parallel sparse triangular solves", Euro-Par 2016, section 3).
// Blocks get levels as rows do (blocks of rows as units: Rothberg, Gupta, "Parallel ICCG on a hierarchical memory
// multiprocessor", Parallel Comput. 18(7), 1992).
#pragma once

#include "ops/levels/levels_gpu_look.hpp"
#include "sptrsv_gpu_kernels.hpp"

namespace kkc::sptrsv::gpu_parts {

using levels::gpu_parts::block_rows;
inline constexpr int most_block_needs = 32;

/// In device memory.
struct BlockCounts {
  unsigned long long missing;   // the first row without a diagonal entry; none: ~0
  unsigned ticket, highest;     // highest: level of a block, from 1
  unsigned unparted, too_many;  // too_many: a block that needs more than most_block_needs others

  __host__ __device__ bool usable() const { return too_many == 0 && unparted == 0; }
};

struct StartBlocks {
  static constexpr int threads = 256;
  uint32_t* level;
  int64_t blocks;
  BlockCounts* counts;

  __device__ void operator()() const {
    const int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i < blocks) level[i] = 0;
    if (i == 0) *counts = {~0ull, 0, 0, 0, 0};
  }
};

/// Where diagonals lie, and which blocks each block needs: a warp a block, a lane a row. needs: most_block_needs for
/// each, those of the entries farthest from the diagonal first, then -1.
template <class I, class O>
struct FindBlockNeeds {
  static constexpr int threads = 128;
  const O* offsets;
  const I* indices;
  int64_t rows, blocks;
  int32_t base;
  bool lower;
  O* diagonal;  // as Levels::diagonal
  I* needs;
  BlockCounts* counts;

  __device__ int64_t turned(int64_t row) const { return lower ? row : rows - 1 - row; }

  __device__ void operator()() const {
    const int64_t block = (int64_t{blockIdx.x} * threads + threadIdx.x) / 32;
    if (block >= blocks || gpu::ballot32(gpu::load_fresh(&counts->too_many) != 0) != 0) return;
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int64_t first = block * block_rows, q = first + lane;
    const bool valid = q < rows;
    const int64_t row = valid ? turned(q) : 0;
    const O begin = valid ? offsets[row] - base : 0, end = valid ? offsets[row + 1] - base : 0, length = end - begin;
    levels::gpu_parts::Places<O> places;
    I mine = -1, last = -1;  // mine: what the block needs, one a lane
    int held = 0;
    for (O k = 0; gpu::ballot32(k < length) != 0; ++k) {
      I wanted = -1;
      if (k < length) {
        const O place = lower ? static_cast<O>(begin + k) : static_cast<O>(end - 1 - k);
        const int64_t column = static_cast<int64_t>(indices[place]) - base, qc = turned(column);
        places.note(place, column < row, column == row);
        if (qc < first) {
          const auto other = static_cast<I>(qc / block_rows);
          if (other != last) wanted = last = other;
        }
      }
      for (uint32_t open = gpu::ballot32(wanted >= 0); open != 0; open = gpu::ballot32(wanted >= 0)) {
        const I other = gpu::shuffle_from(wanted, __ffs(static_cast<int>(open)) - 1, 32);
        if (wanted == other) wanted = -1;
        if (gpu::ballot32(mine == other) != 0) continue;
        if (held == most_block_needs) {
          if (lane == 0) counts->too_many = 1;
          return;
        }
        if (lane == held) mine = other;
        ++held;
      }
    }
    needs[block * most_block_needs + lane] = mine;
    if (!valid) return;
    diagonal[row] = places.code(end);
    if (!places.parted()) counts->unparted = 1;
    if (!places.present() && static_cast<unsigned long long>(row) < gpu::load_fresh(&counts->missing))
      atomicMin(&counts->missing, static_cast<unsigned long long>(row));
  }
};

/// A thread a block, in their natural order; blocks of threads take tickets, so that what a block needs is known or
/// found by a thread that is running.
template <class I>
struct FindBlockLevels {
  static constexpr int threads = 128, batch = 4;
  static constexpr unsigned nap = 40;  // nanoseconds between looks that found nothing
  const I* needs;
  int64_t blocks;
  uint32_t* level;  // from 1; 0: not known yet
  I* before;        // a block of the level before that each needs, or -1
  BlockCounts* counts;

  __device__ void operator()() const {
    __shared__ unsigned ticket;
    if (threadIdx.x == 0) ticket = counts->usable() ? atomicAdd(&counts->ticket, 1u) : ~0u;
    __syncthreads();
    if (ticket == ~0u) return;
    const int64_t block = static_cast<int64_t>(ticket) * threads + threadIdx.x;
    const bool valid = block < blocks;
    const I* const list = needs + (valid ? block : 0) * most_block_needs;
    int next = 0, open = 0;
    bool more = valid, done = !valid;
    uint32_t highest = 0;
    I from = -1, waits[batch];
#pragma unroll
    for (int u = 0; u < batch; ++u) waits[u] = -1;
    while (gpu::ballot32(!done) != 0) {
      if (open == 0 && more) {
#pragma unroll
        for (int u = 0; u < batch; ++u) {
          waits[u] = next + u < most_block_needs ? list[next + u] : I{-1};
          open += waits[u] >= 0;
        }
        more = open == batch && next + batch < most_block_needs;
        next += batch;
      }
      uint32_t found[batch];
      bool changed = false;
#pragma unroll
      for (int u = 0; u < batch; ++u) found[u] = waits[u] >= 0 ? gpu::load_fresh(level + waits[u]) : 0;
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (found[u] != 0) {
          if (found[u] > highest) {
            highest = found[u];
            from = waits[u];
          }
          waits[u] = -1;
          --open;
          changed = true;
        }
      if (!done && open == 0 && !more) {
        before[block] = from;
        *static_cast<volatile uint32_t*>(level + block) = highest + 1;
        done = changed = true;
      }
      if (gpu::ballot32(changed) == 0) gpu::pause(nap);
    }
    uint32_t top = valid ? highest + 1 : 0;
    for (int mask = 16; mask > 0; mask >>= 1) top = max(top, gpu::shuffle_xor(top, mask, 32));
    if ((threadIdx.x & 31u) == 0 && top > gpu::load_fresh(&counts->highest)) atomicMax(&counts->highest, top);
  }
};

/// What a place of the order stands for.
template <class I>
struct alignas(4 * sizeof(I)) BlockItem {
  I first, end, gate;  // rows in the order of their solution; gate: the first of a block some levels before, or -1
};

template <class I>
struct SetBlockItems {
  static constexpr int threads = 256;
  const I *order, *before;
  int64_t rows, blocks;
  int distance;  // levels that a gate lies before
  BlockItem<I>* items;

  __device__ void operator()() const {
    const int64_t p = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (p >= blocks) return;
    const I block = order[p];
    I gate = before[block];
    for (int d = 1; d < distance && gate >= 0; ++d) gate = before[gate];
    const int64_t first = static_cast<int64_t>(block) * block_rows;
    items[p] = {static_cast<I>(first), static_cast<I>(min(first + block_rows, rows)),
                gate < 0 ? gate : static_cast<I>(static_cast<int64_t>(gate) * block_rows)};
  }
};

/// A warp a block of rows, in the order of their levels: blocks of threads take tickets, so that what a warp waits for
/// is solved or under way. Each lane adds up its row's entries outside of the block in their order, whenever they come;
/// its entries inside lie in shared memory and follow in the order of rows: the same bits in every run.
template <class T, class I, class O, int batch>
struct SolveBlocks {
  static constexpr int warps = sizeof(T) <= 8 ? 4 : 2, threads = 32 * warps, blocks_per_sm = 6;
  static constexpr unsigned nap = 40;  // nanoseconds between looks at a gate
  Triangle<T, I, O> A;                 // parted
  Operands<T> operands;
  const BlockItem<I>* items;
  int64_t blocks;
  T* work;  // [rows], ones at first
  gpu::Zeros* zeros;
  unsigned* ticket;  // ~0 at first

  __device__ int64_t turned(int64_t row) const { return A.lower ? row : A.rows - 1 - row; }

  __device__ void operator()() const {
    __shared__ unsigned shared_ticket;
    __shared__ T tiles[warps][block_rows * block_rows];
    if (threadIdx.x == 0) shared_ticket = atomicAdd(ticket, 1u) + 1u;
    __syncthreads();
    const int64_t place = static_cast<int64_t>(shared_ticket) * warps + threadIdx.x / 32;
    if (place >= blocks) return;
    const BlockItem<I> item = items[place];
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int64_t first = item.first, q = first + lane;
    const int size = static_cast<int>(item.end - item.first);
    const bool valid = lane < size;
    const int64_t row = valid ? turned(q) : 0;
    const T alpha = operands.alpha.get();
    if (gpu::is_zero(alpha)) {  // reads nothing, and waits for nothing
      if (valid) operands.x[row * operands.x_row] = T{};
      return;
    }
    const Span<O> span = valid ? span_of(A, row) : Span<O>{};
    O count = span.to - span.from;
    // Entry k: those far from the diagonal first, as their rows are solved first.
    const auto nth = [&](O k) { return A.lower ? static_cast<O>(span.from + k) : static_cast<O>(span.to - 1 - k); };
    const auto column_at = [&](O at) { return static_cast<int64_t>(gpu::load_constant(A.indices + at)) - A.base; };
    T* const tile = tiles[threadIdx.x / 32] + lane;  // [row of the block needed][lane], negative
    uint32_t inner = 0;                              // rows of the block that this one needs
    const auto keep = [&](int64_t qc, const T& value) {
      const int k = static_cast<int>(qc - first);
      const T negative = subtract(T{}, value);
      tile[k * block_rows] = (inner >> k & 1u) != 0 ? gpu::add(tile[k * block_rows], negative) : negative;
      inner |= 1u << k;
    };

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
    // Entries of the block's own rows end the list where columns ascend.
    for (bool outside = false; !outside && count > 0;) {
      constexpr int ahead = 4;
      int64_t of[ahead];
      T value[ahead];
#pragma unroll
      for (int u = 0; u < ahead; ++u)
        if (u < count) {
          const O at = nth(count - 1 - static_cast<O>(u));
          of[u] = turned(column_at(at));
          value[u] = A.value(at);
        }
      const O all = count;
#pragma unroll
      for (int u = 0; u < ahead; ++u) {
        outside = outside || (u < all && of[u] < first);
        if (u < all && !outside) {
          keep(of[u], value[u]);
          --count;
        }
      }
    }

    I columns[batch];
    T values[batch], known[batch], sum{}, within{}, base{};
    O next = 0;
    int have = 0, taken = 0;
    const auto load = [&] {
      have = taken = 0;
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        forget(known[u]);
        if (next < count) {
          const O at = nth(next++);
          const int64_t column = column_at(at);
          columns[u] = static_cast<I>(column);
          values[u] = A.value(at);
          if (turned(column) >= first) {
            keep(turned(column), values[u]);
            values[u] = known[u] = T{};
          }
          have = u + 1;
        }
      }
    };
    load();
    I gate = item.gate;
    bool full = false;  // nothing outside is missing any more
    T x{};
    for (int step = 0; step < size;) {
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (u < have && absent(known[u])) known[u] = gpu::load_fresh(work + columns[u]);
      bool came = false;
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (u == taken && u < have && !absent(known[u])) {
          sum = gpu::multiply_add(values[u], known[u], sum);
          ++taken;
          came = true;
        }
      if (taken == have && next < count) {
        load();
      } else if (taken == have && !full) {
        full = true;
        base = subtract(right, sum);
      }
      if (gate >= 0 && gpu::ballot32(came) == 0 && gpu::ballot32(full) != ~0u) {
        const T* const flag = work + turned(gate);
        while (gpu::ballot32(absent(gpu::load_fresh(flag))) != 0) gpu::pause(nap);
        gate = -1;
      }
      const uint32_t ready = gpu::ballot32(full) >> step;
      const int steps = ready == ~0u ? block_rows : __ffs(static_cast<int>(~ready)) - 1;
      const int end = min(size, step + steps);
      T factor = tile[step * block_rows];
      for (; step < end; ++step) {
        const T mine = gpu::multiply(gpu::add(base, within), inverse);
        const T next_factor = tile[min(step + 1, block_rows - 1) * block_rows];
        const T known_x = gpu::shuffle_from(mine, step, 32);
        if ((inner >> step & 1u) != 0) within = gpu::multiply_add(factor, known_x, within);
        if (lane == step) {
          x = mine;
          publish(work + row, x);
        }
        factor = next_factor;
      }
    }
    if (!valid) return;
    operands.x[row * operands.x_row] = x;
    if (zero) zeros->note(row);
  }
};

}  // namespace kkc::sptrsv::gpu_parts
