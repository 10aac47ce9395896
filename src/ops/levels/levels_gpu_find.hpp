// Levels of a pattern in device memory: as a grid has them (levels_gpu_grid.hpp), else rows in their natural order
// (levels_gpu_kernels.hpp); then a radix sort by level.
#pragma once

#include <algorithm>
#include <bit>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/gpu_bucket.hpp"
#include "device/gpu_launch.hpp"
#include "device/gpu_queue.hpp"
#include "device/gpu_rows.hpp"
#include "levels_gpu_look.hpp"
#include "ops/levels/levels.hpp"

namespace kkc::levels {
namespace gpu_parts {

/// Lanes of a row for FindLevels: more rows at a time find more of the chain, longer rows need more loads in flight.
inline int lanes_log2_for(double entries_a_row) {
  return entries_a_row < 3 ? 0 : entries_a_row < 4.5 ? 1 : entries_a_row < 128 ? 2 : 3;
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

/// Levels as a grid has them: read Found::grids to see if they are right.
template <class I, class O>
void try_grid(Queue& queue, const CsrRef& A, bool lower, I* level) {
  using Check = CheckGrid<I, O>;
  Found* const found = &found_in(queue)->found;
  gpu::launch(queue, blocks_for_whole_rows(A, Check::threads), Check::threads, 0,
              Check{static_cast<const O*>(A.offsets), static_cast<const I*>(A.indices), A.rows, A.base, lower,
                    lanes_log2_for_whole_rows(A), &found->grids.rows, level, &found->counts.highest});
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

/// Rows by levels, which count from 1.
template <class I>
class LevelSort {
  using Key = std::make_unsigned_t<I>;

 public:
  LevelSort(const std::shared_ptr<const Memory>& memory, int64_t rows)
      : rows_(rows),
        each_((static_cast<size_t>(rows) * sizeof(I) + memory_alignment - 1) / memory_alignment * memory_alignment),
        room_(Memory::in_order(memory), Space::device, 2 * each_ + gpu::sort_scratch_bytes<Key, I>(rows)),
        order_(shared_device_array<I>(memory, rows)) {}

  /// Finds order, device_starts and starts. Blocks.
  void sort(Queue& queue, const std::shared_ptr<const Memory>& memory, I* level, Levels& levels) const {
    const int bits = std::bit_width(static_cast<uint64_t>(levels.count));
    auto* const keys = reinterpret_cast<Key*>(level);
    auto* const room = room_.as<char>();
    auto* const other_keys = reinterpret_cast<Key*>(room);
    auto* const other_order = reinterpret_cast<I*>(room + each_);
    I* const order = order_->template as<I>();
    // The last pass writes to `order`.
    const bool odd = gpu::radix_passes(0, bits) % 2 != 0;
    gpu::prepare_sort<Key, I>(queue);
    gpu::sort_pairs<Key, I>(queue, {keys, other_keys}, {odd ? other_order : order, odd ? order : other_order}, rows_, 0,
                            bits, room + 2 * each_, gpu::PayloadIs::places);
    levels.order = order_;
    levels.device_starts = shared_device_array<I>(memory, levels.count + 1);
    using Bounds = gpu::BucketBounds<Key, I>;
    gpu::launch_over(
        queue, rows_ + 1,
        Bounds{odd ? other_keys : keys, Key{1}, rows_, levels.count, levels.device_starts->template as<I>()});
    std::vector<I> starts(static_cast<size_t>(levels.count) + 1);
    queue.copy(starts.data(), levels.device_starts->data(), levels.device_starts->bytes());
    levels.starts.assign(starts.begin(), starts.end());
  }

 private:
  int64_t rows_;
  size_t each_;
  Buffer room_;  // other keys, other order, the sort's scratch
  std::shared_ptr<const Buffer> order_;
};

/// Finds order, diagonal, starts, count, missing and parted. `seen`: a look at A, which is used up, or null. Blocks.
template <class I, class O>
void find_levels(Queue& queue, const std::shared_ptr<const Memory>& memory, const CsrRef& A, bool lower, Levels& levels,
                 FirstLook* seen = nullptr) {
  const int64_t n = A.rows;
  levels.starts.assign(1, 0);
  levels.parted = true;
  if (n == 0) {
    levels.diagonal = shared_device_array<O>(memory, 0);
    levels.order = shared_device_array<I>(memory, 0);
    return;
  }
  FirstLook look;
  if (seen != nullptr) {
    look = std::move(*seen);
  } else {
    look.diagonal = shared_device_array<O>(memory, n);
    look.level = device_array<I>(memory, n);
    look_at<I, O>(queue, A, lower, false, look.diagonal->template as<O>(), look.level.template as<I>());
  }
  levels.diagonal = look.diagonal;
  I* const level = look.level.template as<I>();
  Found* const in_memory = &found_in(queue)->found;
  Found& found = look.found;
  // Memory is asked for while the device is busy.
  std::optional<LevelSort<I>> sort;
  if (seen == nullptr || found.grids.rows.line != 0) {
    try_grid<I, O>(queue, A, lower, level);
    sort.emplace(memory, n);
    found = gpu::read_back<Found>(queue, in_memory);
  }
  levels.missing = static_cast<int64_t>(found.counts.missing);  // ~0 is -1
  levels.parted = found.counts.unparted == 0;
  levels.entries_a_row = static_cast<double>(found.counts.entries) / static_cast<double>(n);
  levels.count = static_cast<int64_t>(found.counts.highest);
  const Grid& grid = found.grids.rows;
  if (grid.line == 0 || grid.wrong != 0) {
    // Matrices much of which is in rows of many times the mean's entries have such rows in all of their long chains.
    const auto crowded_but = [&](int64_t entries) {
      constexpr double share = 0.3;
      const auto nnz = static_cast<double>(A.nnz - entries);
      return static_cast<double>(found.counts.crowded) - static_cast<double>(entries) > share * nnz;
    };
    const LastGiants last = crowded_but(0) ? last_giants<O>(queue, A, lower) : LastGiants{};
    const bool crowded = crowded_but(last.entries);
    const double entries_a_row =
        std::max(0.0, levels.entries_a_row - static_cast<double>(last.entries) / static_cast<double>(n));
    const int lanes_log2 = crowded ? 5 : lanes_log2_for(entries_a_row);
    const int64_t chunk = chunk_for(grid.line, entries_a_row, 32 >> lanes_log2);
    if (grid.line != 0) {  // what was tried lies there
      const StartLevels<I> start{level, n, &in_memory->counts};
      gpu::launch(queue, std::min(gpu::blocks_for(n, start.threads * 4), 4096u), start.threads, 0, start);
    }
    const auto find = [&]<int deep>(std::integral_constant<int, deep>) {
      using Find = FindLevels<I, O, deep>;
      gpu::launch(queue, gpu::blocks_for(n - last.rows, Find::warps * chunk), Find::threads, 0,
                  Find{static_cast<const O*>(A.offsets), static_cast<const I*>(A.indices), n, n - last.rows, A.base,
                       lower, levels.parted, lanes_log2, chunk, level, levels.diagonal->as<O>(), &in_memory->counts,
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
                                      lower ? n - i : i - 1, A.base, lower, level, &in_memory->counts});
    if (!sort) sort.emplace(memory, n);
    levels.count = static_cast<int64_t>(gpu::read_back<Counts>(queue, &in_memory->counts).highest);
  }
  sort->sort(queue, memory, level, levels);
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
  Counts* const counts = &found_in(queue)->found.counts;
  gpu::launch(queue, 1, StartLevels<I>::threads, 0, StartLevels<I>{nullptr, 0, counts});
  gpu::launch(queue, blocks_for_whole_rows(A, FindDiagonals<I, O>::threads), FindDiagonals<I, O>::threads, 0,
              diagonals_of<I, O>(A, desc.uplo == Uplo::lower, levels.diagonal->template as<O>(), nullptr, counts));
  const auto found = gpu::read_back<Counts>(queue, counts);
  levels.missing = static_cast<int64_t>(found.missing);
  levels.parted = found.unparted == 0;
}

/// Those of a pattern that is not transposed and was looked at; the look is used up. Blocks.
template <class I, class O>
std::shared_ptr<const Levels> find_after(Queue& queue, const Desc& desc, FirstLook& look) {
  return find_typed(desc, [&]<class J, class P>(J, P, Levels& levels) {
    if constexpr (std::is_same_v<I, J> && std::is_same_v<O, P>)
      find_levels<I, O>(queue, desc.memory, desc.A, desc.uplo == Uplo::lower, levels, &look);
  });
}

inline std::shared_ptr<const Levels> find(Queue& queue, const Desc& desc) {
  return find_typed(desc, [&]<class I, class O>(I, O, Levels& levels) { fill_in<I, O>(queue, desc, levels); });
}

}  // namespace gpu_parts
}  // namespace kkc::levels
