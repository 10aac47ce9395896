// Kernels of gpu_supernodal: dense blocks of supernodes, filled and inverted by set_values, multiplied by execute.
#pragma once

#include "sptrsv_gpu_kernels.hpp"

namespace kkc::sptrsv::gpu_parts {

inline constexpr int most_supernode_width = 48;

/// Steps first .. first + width - 1; the block holds width runs of `length` numbers, the first `width` of each run for
/// the supernode's own steps, the others for the outer ones.
template <class I>
struct Supernode {
  int64_t block, outer_from;
  I first, width, length;
};

template <class T, class I>
struct SupernodeBlocks {
  const Supernode<I>* nodes;
  const I* owner;  // of each step
  const I* outer;  // steps
  T* numbers;
  bool by_columns;

  /// Where the number stands that multiplies step `from` in step `to`.
  __device__ int64_t place(I to, I from) const {
    const I inner = by_columns ? from : to, other = by_columns ? to : from;
    const Supernode<I> s = nodes[owner[inner]];
    I at = other - s.first;
    if (at < 0 || at >= s.width) {
      const I* const steps = outer + s.outer_from;
      I low = 0, high = s.length - s.width;
      while (low < high) {
        const I middle = low + (high - low) / 2;
        if (steps[middle] < other)
          low = middle + 1;
        else
          high = middle;
      }
      at = s.width + low;
    }
    return s.block + static_cast<int64_t>(inner - s.first) * s.length + at;
  }
};

/// A thread adds a row's entries to the blocks, one after the other: the same bits in every run. The blocks are zero at
/// first.
template <class T, class I, class O>
struct FillSupernodes {
  static constexpr int threads = 128;
  SupernodeBlocks<T, I> blocks;
  const O* offsets;
  const I* indices;
  const T* values;
  int64_t rows;
  int32_t base;
  bool lower, transposed, ascending, unit, conjugate;
  gpu::Zeros* zeros;

  __device__ void operator()() const {
    const int64_t row = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (row >= rows) return;
    const auto step_of = [&](int64_t i) { return static_cast<I>(ascending ? i : rows - 1 - i); };
    const I mine = step_of(row);
    T diagonal{};
    for (O p = offsets[row] - base; p < offsets[row + 1] - base; ++p) {
      const int64_t column = indices[p] - base;
      if (column == row) diagonal = gpu::add(diagonal, values[p]);
      if (lower ? column >= row : column <= row) continue;
      const I its = step_of(column);
      T& number = blocks.numbers[transposed ? blocks.place(its, mine) : blocks.place(mine, its)];
      number = gpu::add(number, gpu::conjugate_if(values[p], conjugate));
    }
    if (!unit && gpu::is_zero(diagonal)) zeros->note(row);
    blocks.numbers[blocks.place(mine, mine)] = unit ? one<T>() : gpu::conjugate_if(diagonal, conjugate);
  }
};

struct ForgetZeros {
  static constexpr int threads = 1;
  gpu::Zeros* zeros;

  __device__ void operator()() const { *zeros = {~0ull, 0}; }
};

/// A block of threads a supernode. By columns (D; B) becomes (D^-1; B D^-1), by rows (D, C) becomes (D^-1, -D^-1 C): D
/// is inverted in shared memory, then each thread takes places of the others.
template <class T, class I>
struct InvertSupernodes {
  static constexpr int threads = 128, most = most_supernode_width;
  SupernodeBlocks<T, I> blocks;
  int64_t count;

  __device__ void operator()() const {
    __shared__ T D[most * most];  // D[to * width + from], then its inverse
    const Supernode<I> s = blocks.nodes[blockIdx.x];
    T* const numbers = blocks.numbers + s.block;
    const int width = static_cast<int>(s.width), thread = static_cast<int>(threadIdx.x);
    const auto own = [&](int to, int from) -> T& {
      return numbers[blocks.by_columns ? int64_t{from} * s.length + to : int64_t{to} * s.length + from];
    };
    for (int i = thread; i < width * width; i += threads) D[i] = own(i / width, i % width);
    __syncthreads();
    // Column j of the inverse by forward substitution, a thread each: inverse(j, j) = 1 / D(j, j).
    if (thread < width) {
      const int j = thread;
      T x[most];
#pragma unroll 1
      for (int i = j; i < width; ++i) {
        T sum = i == j ? one<T>() : T{};
        for (int k = j; k < i; ++k) sum = subtract(sum, gpu::multiply(D[i * width + k], x[k]));
        x[i] = gpu::multiply(sum, reciprocal(D[i * width + i]));
      }
      for (int i = 0; i < width; ++i) own(i, j) = i < j ? T{} : x[i];
    }
    __syncthreads();
    for (int i = thread; i < width * width; i += threads) D[i] = own(i / width, i % width);
    __syncthreads();
    for (int64_t at = s.width + thread; at < s.length; at += threads) {
      if (blocks.by_columns) {
        for (int j = 0; j < width; ++j) {  // later columns are not needed any more once this one is written
          T sum{};
          for (int k = j; k < width; ++k)
            sum = gpu::multiply_add(numbers[int64_t{k} * s.length + at], D[k * width + j], sum);
          numbers[int64_t{j} * s.length + at] = sum;
        }
      } else {
        for (int i = width - 1; i >= 0; --i) {
          T sum{};
          for (int k = 0; k <= i; ++k)
            sum = gpu::multiply_add(D[i * width + k], numbers[int64_t{k} * s.length + at], sum);
          numbers[int64_t{i} * s.length + at] = subtract(T{}, sum);
        }
      }
    }
  }
};

/// What the solve works on: alpha b by steps, and flags, numbers that others wait for, all bits ones at first. By rows
/// the flags are the unknowns, by columns what each supernode's outer steps have to subtract.
template <class T>
struct SupernodalWork {
  unsigned* ticket;
  T *right, *flags;  // [vectors][steps], [vectors][flags_each]
  int64_t steps, flags_each;
};

template <class T>
struct BeginSupernodal {
  static constexpr int threads = 256;
  SupernodalWork<T> work;
  Operands<T> operands;
  bool ascending;
  const gpu::Zeros* pivots;  // found by set_values
  gpu::Zeros* zeros;

  __device__ void operator()() const {
    const T alpha = operands.alpha.get();
    const bool trivial = gpu::is_zero(alpha);
    const int64_t me = int64_t{blockIdx.x} * threads + threadIdx.x, all = int64_t{gridDim.x} * threads;
    if (me == 0) {
      *work.ticket = 0;
      if (!trivial && pivots->count > 0) {
        atomicMin(&zeros->first, pivots->first);
        atomicAdd(&zeros->count, pivots->count);
      }
    }
    for (int64_t i = me; i < work.steps * operands.vectors; i += all) {
      const int64_t k = i / work.steps, step = i - k * work.steps, row = ascending ? step : work.steps - 1 - step;
      if (trivial)
        operands.x[row * operands.x_row + k * operands.x_column] = T{};
      else
        work.right[i] = gpu::multiply(alpha, operands.b[row * operands.b_row + k * operands.b_column]);
    }
    if (trivial) return;
    for (int64_t i = me; i < work.flags_each * operands.vectors; i += all) forget(work.flags[i]);
  }
};

/// A part of a supernode, for a warp or a block.
template <class I>
struct SupernodalTask {
  I node, part;
};

/// By rows: a warp computes up to `each` unknowns of a supernode, lanes along the length. Blocks take tickets, tasks
/// are in the order of levels: what a warp waits for is solved or under way.
template <class T, class I>
struct SolveSupernodesByRows {
  static constexpr int threads = 128, warps = threads / 32, each = 8;
  static constexpr int ahead = sizeof(T) <= 8 ? 2 : 1;
  SupernodeBlocks<T, I> blocks;
  SupernodalWork<T> work;
  Operands<T> operands;
  const SupernodalTask<I>* tasks;
  int64_t count;
  bool ascending;

  __device__ void operator()() const {
    __shared__ unsigned shared_ticket;
    if (threadIdx.x == 0) shared_ticket = atomicAdd(work.ticket, 1u);
    __syncthreads();
    if (gpu::is_zero(operands.alpha.get())) return;
    const int64_t item = static_cast<int64_t>(shared_ticket) * warps + threadIdx.x / 32;
    const int64_t at = item / operands.vectors, vector = item - at * operands.vectors;
    if (at >= count) return;
    const SupernodalTask<I> task = tasks[at];
    const Supernode<I> s = blocks.nodes[task.node];
    const int lane = static_cast<int>(threadIdx.x) & 31, first_row = static_cast<int>(task.part) * each;
    const int rows = min(each, static_cast<int>(s.width) - first_row);
    const T* const numbers = blocks.numbers + s.block + static_cast<int64_t>(first_row) * s.length;
    const T* const right = work.right + vector * work.steps + s.first;
    const T* const solved = work.flags + vector * work.flags_each;
    const I* const outer = blocks.outer + s.outer_from - s.width;
    T sums[each] = {};
    for (I begin = 0; begin < s.length; begin += 32 * ahead) {
      T in[ahead], factors[ahead][each];
      const T* from[ahead];
      bool open[ahead];
#pragma unroll
      for (int u = 0; u < ahead; ++u) {
        // Outer steps come first: those that end the list are solved last, but the block's own need nobody.
        const I p = begin + static_cast<I>(u * 32 + lane),
                place = p < s.length - s.width ? p + s.width : p - (s.length - s.width);
        const bool valid = p < s.length, own = place < s.width;
        in[u] = T{};
        open[u] = valid && !own;
        from[u] = open[u] ? solved + outer[place] : nullptr;
        if (valid && own) in[u] = right[place];
#pragma unroll
        for (int r = 0; r < each; ++r)
          factors[u][r] = valid && r < rows ? numbers[static_cast<int64_t>(r) * s.length + place] : T{};
      }
#pragma unroll
      for (int u = 0; u < ahead; ++u) {
        if (open[u]) {
          do in[u] = gpu::load_fresh(from[u]);
          while (absent(in[u]));
        }
#pragma unroll
        for (int r = 0; r < each; ++r) sums[r] = gpu::multiply_add(factors[u][r], in[u], sums[r]);
      }
    }
    __syncwarp();
    const T x = sum_of_each(sums, lane);
    const int mine = lane >> 2;
    if ((lane & 3) != 0 || mine >= rows) return;
    const int64_t step = int64_t{s.first} + first_row + mine, row = ascending ? step : work.steps - 1 - step;
    publish(work.flags + vector * work.flags_each + step, x);
    operands.x[row * operands.x_row + vector * operands.x_column] = x;
  }

 private:
  /// The warp's sum of sums[lane / 4].
  static __device__ T sum_of_each(T (&sums)[each], int lane) {
#pragma unroll
    for (int half = each / 2, mask = 16; half > 0; half /= 2, mask /= 2) {
      const bool upper = (lane & mask) != 0;
#pragma unroll
      for (int i = 0; i < half; ++i) {
        const T give = upper ? sums[i] : sums[i + half], keep = upper ? sums[i + half] : sums[i];
        sums[i] = gpu::add(keep, gpu::shuffle_xor(give, mask, 32));
      }
    }
    return gpu::subgroup_sum(sums[0], 4);
  }
};

/// By columns: what a supernode's unknowns have to subtract is gathered, four lanes an unknown, then its block is
/// multiplied, a thread a place. Small supernodes take a warp, others a block for each `threads` places, which gather
/// the same. Blocks take tickets, as above.
template <class T, class I, class O>
struct SolveSupernodesByColumns {
  static constexpr int threads = 256, warps = threads / 32, gatherers = 4, batch = 4;
  static constexpr int narrow = 32 / gatherers, shortest = 96;  // a warp's, at most
  static_assert(threads / gatherers >= most_supernode_width);
  SupernodeBlocks<T, I> blocks;
  SupernodalWork<T> work;
  Operands<T> operands;
  const SupernodalTask<I>* tasks;  // `warps` for each block; part -1: of a warp
  const O *gather_from, *gather;   // of each step: places among the flags
  bool ascending;

  __device__ void operator()() const {
    __shared__ unsigned shared_ticket;
    __shared__ T inputs[threads / gatherers];
    if (threadIdx.x == 0) shared_ticket = atomicAdd(work.ticket, 1u);
    __syncthreads();
    if (gpu::is_zero(operands.alpha.get())) return;
    const int64_t at = shared_ticket / operands.vectors, vector = shared_ticket - at * operands.vectors;
    const SupernodalTask<I> task = tasks[at * warps + threadIdx.x / 32];
    if (task.node < 0) return;  // a warp's
    const Supernode<I> s = blocks.nodes[task.node];
    const bool alone = task.part < 0;
    const int thread = alone ? static_cast<int>(threadIdx.x) & 31 : static_cast<int>(threadIdx.x);
    T* const in = alone ? inputs + threadIdx.x / 32 * narrow : inputs;
    const T* const numbers = blocks.numbers + s.block;
    const int64_t place = (alone ? 0 : int64_t{task.part} * threads) + thread;
    const bool has_place = place < s.length;
    // The block's numbers come from memory while others are waited for.
    T known[known_columns];
#pragma unroll
    for (int j = 0; j < known_columns; ++j)
      known[j] = has_place && j < s.width ? numbers[int64_t{j} * s.length + place] : T{};

    const T* const flags = work.flags + vector * work.flags_each;
    const int row = thread / gatherers;
    T sum{};
    if (row < s.width) {
      const O end = gather_from[s.first + row + 1];
      for (O p = gather_from[s.first + row] + static_cast<O>(thread % gatherers); p < end; p += batch * gatherers) {
        const T* from[batch];
        T part[batch];
#pragma unroll
        for (int u = 0; u < batch; ++u) from[u] = p + u * gatherers < end ? flags + gather[p + u * gatherers] : nullptr;
#pragma unroll
        for (int u = 0; u < batch; ++u) part[u] = from[u] != nullptr ? gpu::load_fresh(from[u]) : T{};
#pragma unroll
        for (int u = 0; u < batch; ++u) {
          while (absent(part[u])) part[u] = gpu::load_fresh(from[u]);
          sum = gpu::add(sum, part[u]);
        }
      }
    }
    __syncwarp();
    sum = gpu::subgroup_sum(sum, gatherers);
    if (row < s.width && thread % gatherers == 0)
      in[row] = subtract(work.right[vector * work.steps + s.first + row], sum);
    if (alone)
      __syncwarp();
    else
      __syncthreads();

    for (int64_t p = place; p < s.length; p += alone ? 32 : s.length) {
      T out{};
      const int width = static_cast<int>(s.width);
      if (p == place) {
#pragma unroll
        for (int j = 0; j < known_columns; ++j)
          if (j < width) out = gpu::multiply_add(known[j], in[j], out);
      }
#pragma unroll 8
      for (int j = p == place ? known_columns : 0; j < width; ++j)
        out = gpu::multiply_add(numbers[int64_t{j} * s.length + p], in[j], out);
      if (p >= s.width) {
        publish(work.flags + vector * work.flags_each + s.outer_from + (p - s.width), out);
        continue;
      }
      const int64_t step = s.first + p, x_row = ascending ? step : work.steps - 1 - step;
      operands.x[x_row * operands.x_row + vector * operands.x_column] = out;
    }
  }

 private:
  static constexpr int known_columns = sizeof(T) <= 8 ? 16 : 8;
};

}  // namespace kkc::sptrsv::gpu_parts
