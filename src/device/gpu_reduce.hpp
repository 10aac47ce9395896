// Sums over the rows of columns on GPUs in one launch: the last block of a column to finish, found by a ticket, joins
// the blocks' sums in fixed order, so the bits are the same in every run (the pattern of CUDA's threadFenceReduction).
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/scratch.hpp"
#include "device/gpu_launch.hpp"
#include "device/gpu_warp.hpp"

namespace kkc::gpu {

/// Arrays that are read side by side, one column of each.
template <int N, class T>
struct Streams {
  const T* data[N];
  int64_t stride[N];
};

/// Loads in flight: 128 bytes a thread, with which two blocks of 512 threads a multiprocessor reach memory's rate.
template <int N>
inline constexpr int streams_unroll = 8 / N;

/// Calls take(x) or take(x, y) for elements first, first + step, ...; runs with a common alignment are read 16 bytes at
/// a time. Loads stand together before their use, to keep several in flight.
template <int unroll, int N, class T, class Take>
__device__ void for_streams(const Streams<N, T>& s, int64_t rows, int64_t first, int64_t step, const Take& take) {
  constexpr int vector = 16 / sizeof(T);
  struct alignas(16) Vector {
    T element[vector];
  };
  const auto call = [&](const T(&e)[N]) {
    if constexpr (N == 1)
      take(e[0]);
    else
      take(e[0], e[1]);
  };
  const auto offset = static_cast<unsigned>(reinterpret_cast<uintptr_t>(s.data[0]) % 16);
  bool runs = offset % sizeof(T) == 0;
  for (int n = 0; n < N; ++n) runs = runs && s.stride[n] == 1 && reinterpret_cast<uintptr_t>(s.data[n]) % 16 == offset;
  if (runs) {
    const auto ahead = static_cast<int64_t>((16 - offset) % 16 / sizeof(T));
    const int64_t head = ahead < rows ? ahead : rows;
    const int64_t vectors = (rows - head) / vector, tail = rows - head - vectors * vector;
    const Vector* from[N];
    for (int n = 0; n < N; ++n) from[n] = reinterpret_cast<const Vector*>(s.data[n] + head);
    int64_t i = first;
    for (; i + (unroll - 1) * step < vectors; i += unroll * step) {
      Vector v[N][unroll];
#pragma unroll
      for (int n = 0; n < N; ++n)
#pragma unroll
        for (int u = 0; u < unroll; ++u) v[n][u] = from[n][i + u * step];
#pragma unroll
      for (int u = 0; u < unroll; ++u)
#pragma unroll
        for (int k = 0; k < vector; ++k) {
          T e[N];
          for (int n = 0; n < N; ++n) e[n] = v[n][u].element[k];
          call(e);
        }
    }
    for (; i < vectors; i += step) {
      Vector v[N];
      for (int n = 0; n < N; ++n) v[n] = from[n][i];
#pragma unroll
      for (int k = 0; k < vector; ++k) {
        T e[N];
        for (int n = 0; n < N; ++n) e[n] = v[n].element[k];
        call(e);
      }
    }
    // Head and tail are fewer elements than any block has threads.
    if (first < head + tail) {
      const int64_t r = first < head ? first : rows - tail + (first - head);
      T e[N];
      for (int n = 0; n < N; ++n) e[n] = s.data[n][r];
      call(e);
    }
    return;
  }
  int64_t r = first;
  for (; r + (unroll - 1) * step < rows; r += unroll * step) {
    T v[unroll][N];
#pragma unroll
    for (int u = 0; u < unroll; ++u)
#pragma unroll
      for (int n = 0; n < N; ++n) v[u][n] = s.data[n][(r + u * step) * s.stride[n]];
#pragma unroll
    for (int u = 0; u < unroll; ++u) call(v[u]);
  }
  for (; r < rows; r += step) {
    T e[N];
    for (int n = 0; n < N; ++n) e[n] = s.data[n][r * s.stride[n]];
    call(e);
  }
}

/// Sum: a struct of doubles with add(). Kernel: Sum sum(column, first, step), void finish(column, Sum), and resident:
/// how many blocks a multiprocessor shall hold (a grid of so many runs in one wave).
template <class Sum, class Kernel>
struct ReduceColumns {
  static constexpr int threads = 512, blocks_per_sm = Kernel::resident;
  Kernel kernel;
  Sum* partial;
  unsigned* tickets;
  int64_t columns;
  int width, height;  // a block's threads: neighbouring columns, and rows of each
  unsigned blocks;    // share a group of `width` columns

  /// Over the block's threads of one column, for those of row 0.
  __device__ Sum join(Sum sum, int row, int column, Sum* shared) const {
    if (width == 1) {
      constexpr int parts = sizeof(Sum) / sizeof(double);
      double* const part = reinterpret_cast<double*>(&sum);
      for (int k = 0; k < parts; ++k) part[k] = subgroup_sum(part[k], 32);
      __syncthreads();
      if (row % 32 == 0) shared[row / 32] = sum;
      __syncthreads();
      sum = row < (height + 31) / 32 ? shared[row] : Sum{};
      for (int k = 0; k < parts; ++k) part[k] = subgroup_sum(part[k], 32);
      return sum;
    }
    __syncthreads();
    if (row < height) shared[threadIdx.x] = sum;
    for (int left = height; left > 1;) {
      const int half = (left + 1) / 2;
      __syncthreads();
      if (row + half < left) shared[threadIdx.x].add(shared[threadIdx.x + half * width]);
      left = half;
    }
    __syncthreads();
    return shared[column];
  }

  __device__ void operator()() const {
    __shared__ Sum shared[threads];
    __shared__ bool last;
    const int column = static_cast<int>(threadIdx.x) % width, row = static_cast<int>(threadIdx.x) / width;
    const int64_t group = blockIdx.x / blocks, block = blockIdx.x % blocks;
    const int64_t c = group * width + column;
    const bool active = row < height && c < columns;

    Sum sum{};
    if (active) sum = kernel.sum(c, block * height + row, int64_t{blocks} * height);
    sum = join(sum, row, column, shared);
    if (blocks > 1) {
      Sum* const place = partial + group * blocks * width + column;
      if (active && row == 0) place[block * width] = sum;
      if (width > 1) __syncthreads();
      if (threadIdx.x == 0) {
        __threadfence();
        // Wraps to zero at the last block: ready for the next launch.
        last = atomicInc(tickets + group, blocks - 1) == blocks - 1;
        __threadfence();
      }
      __syncthreads();
      if (!last) return;
      sum = {};
      if (active)
        for (unsigned b = static_cast<unsigned>(row); b < blocks; b += static_cast<unsigned>(height)) {
          Sum other;
          constexpr int parts = sizeof(Sum) / sizeof(double);
          const volatile double* const from = reinterpret_cast<const double*>(place + int64_t{b} * width);
          for (int k = 0; k < parts; ++k) reinterpret_cast<double*>(&other)[k] = from[k];
          sum.add(other);
        }
      sum = join(sum, row, column, shared);
    }
    if (active && row == 0) kernel.finish(c, sum);
  }
};

/// by_column: columns are runs, of which a thread reads `elements_at_once`; else neighbouring threads take neighbouring
/// columns.
template <class Sum, class Kernel>
void reduce_columns(Queue& queue, void* scratch, int64_t rows, int64_t columns, bool by_column,
                    int64_t elements_at_once, const Kernel& kernel) {
  using Reduce = ReduceColumns<Sum, Kernel>;
  static_assert(sizeof(Sum) % sizeof(double) == 0);
  constexpr int64_t unroll = Kernel::unroll, most_width = 64;
  Reduce reduce{kernel, nullptr, static_cast<unsigned*>(scratch), columns, 1, Reduce::threads, 1};
  reduce.partial = reinterpret_cast<Sum*>(static_cast<char*>(scratch) + scratch_ticket_bytes);
  reduce.width = by_column ? 1 : static_cast<int>(std::min(columns, most_width));
  // Whole warps; few where rows are few.
  const int64_t wanted = by_column ? (rows + elements_at_once - 1) / elements_at_once : rows * reduce.width;
  const int threads = static_cast<int>(std::clamp<int64_t>((wanted + 31) / 32 * 32, 64, Reduce::threads));
  reduce.height = threads / reduce.width;

  const int64_t groups = (columns + reduce.width - 1) / reduce.width;
  const int64_t per_block = reduce.height * (by_column ? elements_at_once : 1) * unroll;
  int64_t blocks =
      std::min((rows + per_block - 1) / per_block, Kernel::resident * int64_t{queue.concurrency()} / groups);
  const auto capacity = static_cast<int64_t>((scratch_bytes - scratch_ticket_bytes) / sizeof(Sum));
  blocks = std::min(blocks, capacity / (groups * reduce.width));
  if (blocks < 1 || groups > static_cast<int64_t>(scratch_tickets)) blocks = 1;
  reduce.blocks = static_cast<unsigned>(blocks);
  launch(queue, blocks_for(groups * blocks, 1), static_cast<unsigned>(threads), 0, reduce);
}

}  // namespace kkc::gpu
