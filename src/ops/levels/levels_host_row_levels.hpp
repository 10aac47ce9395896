// levels: rows of a triangle by their level, for host threads, where blocks of neighbouring rows
// (levels_host_blocks.hpp) would be single rows: what tells such apart would take longer than they do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/memory.hpp"
#include "device/host_bucket.hpp"
#include "device/host_parallel.hpp"
#include "ops/levels/levels_host_schedule.hpp"

namespace kkc::levels {

/// Whether a sample's rows have few entries, and seldom need the row right before them.
template <class Rows>
bool rows_are_short_and_alone(const Rows& rows, int64_t n, bool ascending) {
  constexpr int64_t looks = 1024, few = 4;
  const int64_t count = std::min(looks, n);
  int64_t entries = 0, chained = 0;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t row = part_begin(n, count, k), begin = rows.begin(row), end = rows.end(row);
    entries += end - begin;
    bool found = false;
    for (int64_t p = begin; p < end; ++p) found |= rows.column(p) == (ascending ? row - 1 : row + 1);
    chained += found;
  }
  return entries <= few * count && 2 * chained <= count;
}

/// Fills in `made` and returns true where rows are short, levels few, and threads gain by them. alike: rows_alike() of
/// all rows; the rest as for schedule_blocks().
template <class Dev, class I, class Rows>
bool schedule_row_levels(Queue& queue, const std::shared_ptr<const Memory>& memory, const Rows& rows, int64_t n,
                         bool ascending, int threads, const BlockCost& cost, int64_t alike, BlockSchedule& made) {
  constexpr int64_t fewest_rows = 64;  // of a level, in the mean
  constexpr int64_t long_row = 32;     // a level lasts as long as it: not for many such
  // Beside its entries, of a row and of one among others alike, by one thread as they lie; of a wait, of single rows'.
  constexpr int64_t row_work = 20, alike_work = 8, wait_work = 4;
  if (10 * alike > 9 * n || !rows_are_short_and_alone(rows, n, ascending)) return false;
  const Buffer of_row(memory, Space::host, static_cast<size_t>(n) * sizeof(I));
  I* const level = of_row.as<I>();
  int64_t count = 0, entries = 0, of_long_rows = 0;
  for (int64_t step = 0; step < n; ++step) {
    const int64_t row = ascending ? step : n - 1 - step, begin = rows.begin(row), end = rows.end(row);
    entries += end - begin;
    if (end - begin > long_row) of_long_rows += end - begin;
    I mine{0};
    for (int64_t p = begin; p < end; ++p) mine = std::max(mine, static_cast<I>(level[rows.column(p)] + 1));
    level[row] = mine;
    if (mine < count) continue;
    count = mine + 1;
    if (count * fewest_rows > n) return false;
  }
  if (4 * of_long_rows > entries + n) return false;
  Buffer order(memory, Space::host, static_cast<size_t>(n) * sizeof(I));
  I* const row_at = order.as<I>();
  std::vector<int64_t> starts(static_cast<size_t>(count) + 1);
  const auto first = [&](int64_t part) { return part_begin(n, threads, part); };
  host_bucket<Dev>(queue, level, 0, count, threads, starts.data(), first, [&](int64_t part, const auto& next) {
    for (int64_t i = first(part); i < first(part + 1); ++i) row_at[next(i)] = static_cast<I>(i);
  });
  const auto before = std::make_unique_for_overwrite<int64_t[]>(static_cast<size_t>(n) + 1);  // work, in this order
  before[0] = 0;
  host_parts<Dev>(queue, threads, [&](int64_t part) {
    for (int64_t i = first(part); i < first(part + 1); ++i)
      before[static_cast<size_t>(i) + 1] = cost.level_row + rows.end(row_at[i]) - rows.begin(row_at[i]);
  });
  std::partial_sum(before.get(), before.get() + n + 1, before.get());

  struct Phase {
    int64_t begin, end;
    bool serial;
  };
  std::vector<Phase> phases;
  int64_t shared = 0, serial_rows = 0;
  for (int64_t l = 0; l < count;) {
    const auto start = [&](int64_t at) { return starts[static_cast<size_t>(at)]; };
    const auto work = [&](int64_t from, int64_t to) {
      return before[static_cast<size_t>(to)] - before[static_cast<size_t>(from)];
    };
    int64_t end = l;
    while (end < count && work(start(end), start(end + 1)) < least_phase_work) ++end;
    const bool serial = end > l;
    if (!serial) ++end;
    phases.push_back({start(l), start(end), serial});
    const int64_t sum = work(start(l), start(end)), count_of_rows = start(end) - start(l);
    shared += (serial ? sum + (cost.lone_row - cost.level_row) * count_of_rows : sum / threads) +
              wait_work * phase_work(threads);
    if (serial) serial_rows += count_of_rows;
    l = end;
  }
  const int64_t alone = before[static_cast<size_t>(n)] + (row_work - cost.level_row) * (n - alike) -
                        (cost.level_row - alike_work) * alike;
  if (4 * shared >= 3 * alone) return false;
  for (const Phase& phase : phases) {
    if (!phase.serial) continue;
    std::sort(row_at + phase.begin, row_at + phase.end);
    if (!ascending) std::reverse(row_at + phase.begin, row_at + phase.end);
  }
  made.threads = threads;
  made.blocks = n;
  made.levels = count;
  made.phases = std::ssize(phases);
  made.serial_rows = serial_rows;
  made.order = std::move(order);
  made.shares.resize(static_cast<size_t>(threads));
  for (int thread = 0; thread < threads; ++thread) {
    auto& share = made.shares[static_cast<size_t>(thread)];
    for (const Phase& phase : phases) {
      const auto bound = [&](int part) {  // of the phase's work
        if (phase.serial) return part == 0 ? phase.begin : phase.end;
        const int64_t from = before[static_cast<size_t>(phase.begin)], to = before[static_cast<size_t>(phase.end)];
        return static_cast<int64_t>(std::lower_bound(before.get() + phase.begin, before.get() + phase.end,
                                                     from + part_begin(to - from, threads, part)) -
                                    before.get());
      };
      const int64_t begin = bound(thread), end = bound(thread + 1);
      if (begin < end) share.blocks.push_back({begin, end - begin, phase.serial ? several_levels : 0});
      share.ends.push_back(std::ssize(share.blocks));
    }
  }
  made.find_next();
  return true;
}

}  // namespace kkc::levels
