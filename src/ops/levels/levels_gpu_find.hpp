// Levels of a pattern in device memory: as a grid has them (levels_gpu_grid.hpp), else rows in their natural order
// (levels_gpu_kernels.hpp); then a radix sort by level.
#pragma once

#include <algorithm>
#include <bit>
#include <type_traits>
#include <utility>

#include "device/gpu_bucket.hpp"
#include "device/gpu_launch.hpp"
#include "device/gpu_queue.hpp"
#include "device/gpu_rows.hpp"
#include "levels_gpu_grid.hpp"
#include "levels_gpu_kernels.hpp"
#include "ops/levels/levels.hpp"

namespace kkc::levels {
namespace gpu_parts {

template <class T>
Buffer device_array(const std::shared_ptr<const Memory>& memory, int64_t count) {
  return Buffer(memory, Space::device, static_cast<size_t>(count) * sizeof(T));
}
template <class T>
std::shared_ptr<const Buffer> shared_device_array(const std::shared_ptr<const Memory>& memory, int64_t count) {
  return std::make_shared<const Buffer>(memory, Space::device, static_cast<size_t>(count) * sizeof(T));
}

inline int64_t mean_row(const CsrRef& A) { return A.nnz / std::max<int64_t>(1, A.rows); }

/// Lanes of a row for FindLevels: more rows at a time find more of the chain, longer rows need more loads in flight.
inline int lanes_log2_for(double entries_a_row) {
  return entries_a_row < 30 ? 0 : entries_a_row < 64 ? 1 : entries_a_row < 128 ? 2 : 3;
}

/// Entries from which a row takes a whole warp.
template <class O>
O long_row_for(double entries_a_row, int lanes_log2) {
#if defined(__HIP__)
  return Places<O>::none;  // a wavefront of 64 must not wait for itself
#else
  return static_cast<O>(std::max(int64_t{32} << lanes_log2, static_cast<int64_t>(4 * entries_a_row)));
#endif
}

inline int lanes_log2_for_whole_rows(const CsrRef& A) {
  return static_cast<int>(std::min<int64_t>(4, std::bit_width(static_cast<uint64_t>(mean_row(A) / 8))));
}

template <class I, class O>
void find_diagonals(Queue& queue, const CsrRef& A, bool lower, O* diagonal, Counts* counts) {
  using Find = FindDiagonals<I, O>;
  const int lanes_log2 = lanes_log2_for_whole_rows(A);
  gpu::launch(
      queue, std::min(gpu::blocks_for(A.rows, Find::threads >> lanes_log2), 4096u), Find::threads, 0,
      Find{static_cast<const O*>(A.offsets), static_cast<const I*>(A.indices), A.rows, A.base, lower, lanes_log2,
           static_cast<O>(int64_t{32} << lanes_log2), 4 * std::max<int64_t>(4, mean_row(A)), diagonal, counts});
}

/// What the first passes find, in the queue's scratch memory.
struct Found {
  Counts counts;
  Grid grid;
  uint32_t links[SampleGrid<int32_t, int32_t, 1>::words];
};

inline Found* found_in(Queue& queue) {
  static_assert(sizeof(Found) <= gpu::GpuQueue::scratch_bytes);
  return static_cast<Found*>(static_cast<gpu::GpuQueue&>(queue).scratch());
}

/// Levels as a grid has them: read Found::grid to see if they are right.
template <class I, class O>
void try_grid(Queue& queue, const CsrRef& A, bool lower, I* level, Found* found) {
  using Sample = SampleGrid<I, O, 1>;
  using Check = CheckGrid<I, O>;
  const auto* const offsets = static_cast<const O*>(A.offsets);
  const auto* const indices = static_cast<const I*>(A.indices);
  gpu::launch(queue, gpu::blocks_for(std::min<int64_t>(A.rows, Sample::sample), Sample::threads), Sample::threads, 0,
              Sample{offsets, indices, A.rows, A.base, lower, found->links, &found->grid});
  const int lanes_log2 = lanes_log2_for_whole_rows(A);
  gpu::launch(queue, std::min(gpu::blocks_for(A.rows, Check::threads >> lanes_log2), 4096u), Check::threads, 0,
              Check{offsets, indices, A.rows, A.base, lower, lanes_log2, &found->grid, level, &found->counts.highest});
}

/// How many rows a warp of FindLevels takes: a part of a line, or one group.
inline int64_t chunk_for([[maybe_unused]] int64_t line, [[maybe_unused]] double entries_a_row, int64_t group) {
#if defined(__HIP__)
  return group;  // halves of a wavefront of 64 would wait for each other's next groups
#else
  // Longer rows gain more from reading their entries while they wait.
  constexpr int64_t most = 256, most_entries = 4;
  if (line <= group || entries_a_row > most_entries) return group;
  const int64_t parts = (line + most - 1) / most;
  return (line + parts - 1) / parts;
#endif
}

/// Rows, from the last one in their order on, that have so many entries that all blocks share each.
struct LastGiants {
  int64_t rows = 0, entries = 0;
};
/// Blocks.
template <class O>
LastGiants last_giants(Queue& queue, const CsrRef& A, bool lower) {
  constexpr int64_t most = 8, giant_row = 16384;
  const int64_t looked_at = std::min(most, A.rows - 1), from = lower ? A.rows - looked_at : 0;
  O offsets[most + 1];
  queue.copy(offsets, static_cast<const O*>(A.offsets) + from, static_cast<size_t>(looked_at + 1) * sizeof(O));
  LastGiants found;
  for (; found.rows < looked_at; ++found.rows) {
    const int64_t i = lower ? looked_at - 1 - found.rows : found.rows, entries = offsets[i + 1] - offsets[i];
    if (entries <= giant_row) break;
    found.entries += entries;
  }
  return found;
}

/// Finds order, diagonal, starts, count, missing and parted. Blocks.
template <class I, class O>
void find_levels(Queue& queue, const std::shared_ptr<const Memory>& memory, const CsrRef& A, bool lower,
                 Levels& levels) {
  const int64_t n = A.rows;
  levels.diagonal = shared_device_array<O>(memory, n);
  levels.starts.assign(1, 0);
  levels.parted = true;
  if (n == 0) {
    levels.order = shared_device_array<I>(memory, 0);
    return;
  }
  using Key = std::make_unsigned_t<I>;
  const Buffer keys = device_array<Key>(memory, n);
  Found* const found = found_in(queue);
  const auto begin = [&](I* level, int64_t rows) {
    const StartLevels<I> start{level, rows, &found->counts, &found->grid};
    gpu::launch(queue, std::min(gpu::blocks_for(std::max<int64_t>(1, rows), start.threads * 4), 4096u), start.threads,
                0, start);
  };
  begin(nullptr, 0);
  find_diagonals<I, O>(queue, A, lower, levels.diagonal->template as<O>(), &found->counts);
  try_grid<I, O>(queue, A, lower, keys.as<I>(), found);
  const auto rows = gpu::read_back<Found>(queue, found);
  levels.missing = static_cast<int64_t>(rows.counts.missing);  // ~0 is -1
  levels.parted = rows.counts.unparted == 0;
  levels.entries_a_row = static_cast<double>(rows.counts.entries) / static_cast<double>(n);
  levels.count = static_cast<int64_t>(rows.counts.highest);
  if (rows.grid.line == 0 || rows.grid.wrong != 0) {
    // Matrices much of which is in rows of many times the mean's entries have such rows in all of their long chains.
    const auto crowded_but = [&](int64_t entries) {
      constexpr double share = 0.3;
      const auto nnz = static_cast<double>(A.nnz - entries);
      return static_cast<double>(rows.counts.crowded) - static_cast<double>(entries) > share * nnz;
    };
    const LastGiants last = crowded_but(0) ? last_giants<O>(queue, A, lower) : LastGiants{};
    const bool crowded = crowded_but(last.entries);
    const double entries_a_row =
        std::max(0.0, levels.entries_a_row - static_cast<double>(last.entries) / static_cast<double>(n));
    const int lanes_log2 = crowded ? 5 : lanes_log2_for(entries_a_row);
    const int64_t chunk = chunk_for(rows.grid.line, entries_a_row, 32 >> lanes_log2);
    begin(keys.as<I>(), n);
    const auto find = [&]<int deep>(std::integral_constant<int, deep>) {
      using Find = FindLevels<I, O, deep>;
      gpu::launch(queue, gpu::blocks_for(n - last.rows, Find::warps * chunk), Find::threads, 0,
                  Find{static_cast<const O*>(A.offsets), static_cast<const I*>(A.indices), n, n - last.rows, A.base,
                       lower, levels.parted, lanes_log2, chunk, keys.as<I>(), levels.diagonal->as<O>(), &found->counts,
                       long_row_for<O>(entries_a_row, lanes_log2)});
    };
    // A crowded matrix' longest rows alone may take most of the time.
    if (crowded)
      find(std::integral_constant<int, 16>());
    else
      find(std::integral_constant<int, 8>());
    for (int64_t i = last.rows; i > 0; --i)
      gpu::launch(queue, 512, FindLastLevel<I, O>::threads, 0,
                  FindLastLevel<I, O>{static_cast<const O*>(A.offsets), static_cast<const I*>(A.indices),
                                      lower ? n - i : i - 1, A.base, lower, keys.as<I>(), &found->counts});
    levels.count = static_cast<int64_t>(gpu::read_back<Counts>(queue, &found->counts).highest);
  }

  // Levels count from 1 in the keys.
  const int bits = std::bit_width(static_cast<uint64_t>(levels.count));
  const bool one_pass = gpu::radix_passes(0, bits) == 1;
  const Buffer other_keys = device_array<Key>(memory, n);
  const auto first_order = shared_device_array<I>(memory, one_pass ? 0 : n),
             second_order = shared_device_array<I>(memory, n);
  const Buffer scratch(memory, Space::device, gpu::sort_scratch_bytes<Key, I>(n));
  gpu::prepare_sort<Key, I>(queue);
  const int where = gpu::sort_pairs<Key, I>(queue, {keys.as<Key>(), other_keys.as<Key>()},
                                            {first_order->template as<I>(), second_order->template as<I>()}, n, 0, bits,
                                            scratch.data(), gpu::PayloadIs::places);
  levels.order = where == 0 ? first_order : second_order;
  levels.device_starts = shared_device_array<I>(memory, levels.count + 1);
  using Bounds = gpu::BucketBounds<Key, I>;
  gpu::launch_over(queue, n + 1,
                   Bounds{(where == 0 ? keys : other_keys).template as<Key>(), Key{1}, n, levels.count,
                          levels.device_starts->template as<I>()});
  std::vector<I> starts(static_cast<size_t>(levels.count) + 1);
  queue.copy(starts.data(), levels.device_starts->data(), levels.device_starts->bytes());
  levels.starts.assign(starts.begin(), starts.end());
}

/// A transposed pattern, its rows sorted, and where its entries' values lie.
template <class I, class O>
struct TransposedPattern {
  Buffer offsets, indices, positions;

  TransposedPattern(Queue& queue, const std::shared_ptr<const Memory>& memory, const CsrRef& A)
      : offsets(device_array<O>(memory, A.cols + 1)),
        indices(device_array<I>(memory, A.nnz)),
        positions(device_array<O>(memory, A.nnz)) {
    gpu::bucket(queue, memory, static_cast<const I*>(A.indices), A.base, A.cols, A.nnz, offsets.as<O>(),
                positions.as<O>());
    const Buffer rows = device_array<I>(memory, A.nnz);
    gpu::expand_rows(queue, static_cast<const O*>(A.offsets), A.base, A.rows, A.nnz, rows.as<I>());
    gpu::pick(queue, rows.as<I>(), positions.as<O>(), A.nnz, indices.as<I>(), static_cast<I>(A.base));
  }
  CsrRef ref(const CsrRef& A) const {
    return {A.pair, A.scalar, 0, A.cols, A.rows, A.nnz, offsets.data(), indices.data(), nullptr};
  }
  size_t bytes() const { return offsets.bytes() + indices.bytes() + positions.bytes(); }
};

template <class I, class O>
void fill_in(Queue& queue, const Desc& desc, Levels& levels) {
  const CsrRef& A = desc.A;
  if (!desc.transposed) return find_levels<I, O>(queue, desc.memory, A, desc.uplo == Uplo::lower, levels);
  const TransposedPattern<I, O> transposed(queue, desc.memory, A);
  find_levels<I, O>(queue, desc.memory, transposed.ref(A), desc.uplo != Uplo::lower, levels);
  // Places in A's own rows.
  if (A.rows == 0) return;
  Found* const in_memory = found_in(queue);
  gpu::launch(queue, 1, StartLevels<I>::threads, 0, StartLevels<I>{nullptr, 0, &in_memory->counts, &in_memory->grid});
  find_diagonals<I, O>(queue, A, desc.uplo == Uplo::lower, levels.diagonal->template as<O>(), &in_memory->counts);
  const auto found = gpu::read_back<Counts>(queue, &in_memory->counts);
  levels.missing = static_cast<int64_t>(found.missing);
  levels.parted = found.unparted == 0;
}

inline std::shared_ptr<const Levels> find(Queue& queue, const Desc& desc) {
  return find_typed(desc, [&]<class I, class O>(I, O, Levels& levels) { fill_in<I, O>(queue, desc, levels); });
}

}  // namespace gpu_parts
}  // namespace kkc::levels
