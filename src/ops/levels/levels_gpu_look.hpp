// The first look at a pattern in device memory: one launch and one wait tell where diagonals lie, what rows are like,
// and whether they may lie as a grid's or a band's do, for all that is tried with the pattern.
#pragma once

#include <algorithm>
#include <bit>
#include <memory>

#include "core/memory.hpp"
#include "core/operands.hpp"
#include "device/gpu_launch.hpp"
#include "device/gpu_queue.hpp"
#include "device/gpu_read.hpp"
#include "levels_gpu_kernels.hpp"
#include "ops/levels/levels.hpp"

namespace kkc::levels::gpu_parts {

/// For work of this queue alone.
template <class T>
Buffer device_array(const std::shared_ptr<const Memory>& memory, int64_t count) {
  return Buffer(Memory::in_order(memory), Space::device, static_cast<size_t>(count) * sizeof(T));
}
/// For plans of any context.
template <class T>
std::shared_ptr<const Buffer> shared_device_array(const std::shared_ptr<const Memory>& memory, int64_t count) {
  return std::make_shared<const Buffer>(memory, Space::device, static_cast<size_t>(count) * sizeof(T));
}

/// Of some rows: how many need the one before them, and how many entries of the triangle lie near by.
struct ChainSample {
  unsigned rows, linked, entries, near;
};

/// Rows of a block of a band.
inline constexpr int block_rows = 32;

/// Stretches of rows all over the matrix, a block of threads each.
template <class I, class O>
struct SampleChain {
  static constexpr int threads = 256, near_blocks = 3;  // in a row's own block, or in so many before it
  static constexpr int longest_of_lane = 64;            // longer rows are looked through by a warp
  static constexpr int64_t most_stretches = 64;
  const O* offsets;
  const I* indices;
  int64_t rows, step;  // rows from one stretch to the next: at least threads
  int32_t base;
  bool lower;
  ChainSample* sample;  // zeros

  __device__ int64_t turned(int64_t row) const { return lower ? row : rows - 1 - row; }

  __device__ void run(unsigned block) const {
    __shared__ ChainSample sums;
    if (threadIdx.x == 0) sums = {threads, 0, 0, 0};
    __syncthreads();
    const int64_t q = int64_t{block} * step + threadIdx.x, row = turned(q),
                  near_from = (q / block_rows - near_blocks) * block_rows;
    const O begin = offsets[row] - base, end = offsets[row + 1] - base;
    unsigned entries = 0, near = 0;
    bool linked = q == 0;
    // Entry p of the row whose turn is `at`: whether it is the one before.
    const auto look = [&](O p, int64_t at, int64_t from) {
      const int64_t qc = turned(static_cast<int64_t>(indices[p]) - base);
      if (qc >= at) return false;
      ++entries;
      near += qc >= from;
      return qc == at - 1;
    };
    const bool by_warp = end - begin > longest_of_lane;
    for (O p = begin; p < end && !by_warp; ++p) linked |= look(p, q, near_from);
    const int lane = static_cast<int>(threadIdx.x & 31u);
    for (uint32_t left = gpu::ballot32(by_warp); left != 0; left &= left - 1) {
      const int owner = __ffs(static_cast<int>(left)) - 1;
      const int64_t at = gpu::shuffle_from(q, owner, 32), from = gpu::shuffle_from(near_from, owner, 32);
      const O last = gpu::shuffle_from(end, owner, 32);
      bool found = false;
      for (O p = gpu::shuffle_from(begin, owner, 32) + static_cast<O>(lane); p < last; p += 32)
        found |= look(p, at, from);
      if (gpu::ballot32(found) != 0 && lane == owner) linked = true;
    }
    entries = gpu::subgroup_sum(entries, 32);
    near = gpu::subgroup_sum(near, 32);
    const uint32_t links = gpu::ballot32(linked);
    if ((threadIdx.x & 31u) == 0) {
      atomicAdd(&sums.linked, static_cast<unsigned>(__popc(links)));
      atomicAdd(&sums.entries, entries);
      atomicAdd(&sums.near, near);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    atomicAdd(&sample->rows, sums.rows);
    atomicAdd(&sample->linked, sums.linked);
    atomicAdd(&sample->entries, sums.entries);
    atomicAdd(&sample->near, sums.near);
  }
};

/// What the first passes find, in the queue's scratch memory.
struct Found {
  Counts counts;
  Grids grids;
  ChainSample chain;
  unsigned long long steps;  // of stretches, for those who try them
};
struct FoundInMemory {
  Found found;
  uint32_t links[SampleGrid<int32_t, int32_t>::words];
};

inline FoundInMemory* found_in(Queue& queue) {
  static_assert(sizeof(FoundInMemory) <= gpu::GpuQueue::scratch_bytes);
  return static_cast<FoundInMemory*>(static_cast<gpu::GpuQueue&>(queue).scratch());
}

struct StartLook {
  static constexpr int threads = 32;
  Found* found;

  __device__ void operator()() const {
    if (threadIdx.x == 0) *found = {Counts::none(), {}, {}, 0};
  }
};

/// The first blocks take the samples.
template <class I, class O>
struct LookAtPattern {
  static constexpr int threads = 256;
  SampleGrid<I, O> grid;
  SampleChain<I, O> chain;
  FindDiagonals<I, O> diagonals;
  unsigned grid_blocks, chain_blocks;

  __device__ void operator()() const {
    static_assert(SampleGrid<I, O>::threads == threads && SampleChain<I, O>::threads == threads &&
                  FindDiagonals<I, O>::threads == threads);
    if (blockIdx.x < grid_blocks)
      grid.run(blockIdx.x, grid_blocks);
    else if (blockIdx.x < grid_blocks + chain_blocks)
      chain.run(blockIdx.x - grid_blocks);
    else
      diagonals.run(blockIdx.x - grid_blocks - chain_blocks, gridDim.x - grid_blocks - chain_blocks);
  }
};

inline int64_t mean_row(const CsrRef& A) { return A.nnz / std::max<int64_t>(1, A.rows); }

inline int lanes_log2_for_whole_rows(const CsrRef& A) {
  return static_cast<int>(std::min<int64_t>(4, std::bit_width(static_cast<uint64_t>(mean_row(A) / 8))));
}
/// Blocks of threads for these lanes a row.
inline unsigned blocks_for_whole_rows(const CsrRef& A, int threads) {
  return std::min(gpu::blocks_for(A.rows, threads >> lanes_log2_for_whole_rows(A)), 4096u);
}

template <class I, class O>
FindDiagonals<I, O> diagonals_of(const CsrRef& A, bool lower, O* diagonal, I* level, Counts* counts) {
  const int lanes_log2 = lanes_log2_for_whole_rows(A);
  return {static_cast<const O*>(A.offsets),
          static_cast<const I*>(A.indices),
          A.rows,
          A.base,
          lower,
          lanes_log2,
          static_cast<O>(int64_t{32} << lanes_log2),
          std::max<int64_t>(64, 4 * mean_row(A)),
          diagonal,
          level,
          counts};
}

/// Enqueues the look: writes diagonal and level unless they are null, and what found_in(queue) points to. chain: with
/// SampleChain, for which there must be enough rows.
template <class I, class O>
void look_at(Queue& queue, const CsrRef& A, bool lower, bool chain, O* diagonal, I* level) {
  using Look = LookAtPattern<I, O>;
  using Grid = SampleGrid<I, O>;
  using Chain = SampleChain<I, O>;
  FoundInMemory* const in_memory = found_in(queue);
  Found* const found = &in_memory->found;
  const auto* const offsets = static_cast<const O*>(A.offsets);
  const auto* const indices = static_cast<const I*>(A.indices);
  const unsigned grid_blocks = gpu::blocks_for(std::min<int64_t>(A.rows, Grid::sample), Look::threads);
  const int64_t stretches = std::clamp<int64_t>(A.rows / Look::threads, 1, Chain::most_stretches);
  const unsigned chain_blocks = chain ? static_cast<unsigned>(stretches) : 0;
  gpu::launch(queue, 1, StartLook::threads, 0, StartLook{found});
  gpu::launch(queue, grid_blocks + chain_blocks + (diagonal == nullptr ? 0 : blocks_for_whole_rows(A, Look::threads)),
              Look::threads, 0,
              Look{Grid{offsets, indices, A.rows, A.base, lower, in_memory->links, &found->grids},
                   Chain{offsets, indices, A.rows, A.rows / stretches, A.base, lower, &found->chain},
                   diagonals_of<I, O>(A, lower, diagonal, level, &found->counts), grid_blocks, chain_blocks});
}

/// What a look found, for those who come after it.
struct FirstLook {
  std::shared_ptr<const Buffer> diagonal;  // as Levels::diagonal
  Buffer level;                            // as FindDiagonals leaves it; none where levels are known
  Found found;
};

/// Of a pattern of enough rows for SampleChain. `known`: its levels, or null. Blocks.
template <class I, class O>
FirstLook first_look(Queue& queue, const std::shared_ptr<const Memory>& memory, const CsrRef& A, bool lower,
                     const Levels* known) {
  FirstLook look;
  if (known == nullptr) {
    look.diagonal = shared_device_array<O>(memory, A.rows);
    look.level = device_array<I>(memory, A.rows);
  }
  look_at<I, O>(queue, A, lower, true, known == nullptr ? look.diagonal->template as<O>() : nullptr,
                look.level.template as<I>());
  look.found = gpu::read_back<Found>(queue, &found_in(queue)->found);
  if (known != nullptr) {
    look.diagonal = known->diagonal;
    Counts& counts = look.found.counts;
    counts.missing = static_cast<unsigned long long>(known->missing);  // -1 is ~0
    counts.entries = static_cast<unsigned long long>(known->entries_a_row * static_cast<double>(A.rows));
    counts.unparted = known->parted ? 0 : 1;
  }
  return look;
}

}  // namespace kkc::levels::gpu_parts
