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

/// Of a sample: entries of a row in the mean, and whether most need the row right before them.
struct RowSample {
  int64_t entries;
  bool chained;
};
template <class Rows>
RowSample sample_rows(const Rows& rows, int64_t n, bool ascending) {
  constexpr int64_t looks = 1024, most = 256;  // of a row: one long row does not tell of the others
  const int64_t count = std::min(looks, n);
  int64_t entries = 0, chained = 0;
  for (int64_t k = 0; k < count; ++k) {
    const int64_t row = part_begin(n, count, k), begin = rows.begin(row), end = rows.end(row);
    entries += std::min(end - begin, most);
    bool found = false;
    for (int64_t p = begin; p < end; ++p) found |= rows.column(p) == (ascending ? row - 1 : row + 1);
    chained += found;
  }
  return {entries / std::max<int64_t>(1, count), 2 * chained > count};
}

/// Of each row its level and how many entries it has; of each level the longest of its rows that are long, else 0.
/// False: there are more than `most` levels.
template <class I, class Rows>
bool find_short_rows_levels(const Rows& rows, int64_t n, bool ascending, int64_t most, I* level,
                            BlockSchedule::Length* length, std::vector<int64_t>& longest) {
  constexpr int64_t at_once = 4, long_row = 32;
  const bool there = rows.end(n - 1) > 0;   // there are entries
  const Rows read = rows;                   // no store makes it read its pointers again
  if (there) level[read.column(0)] = I{0};  // which rows without entries look at
  int64_t count = 0;
  std::vector<std::pair<I, int64_t>> long_rows;  // levels and entries
  for (int64_t step = 0; step < n; ++step) {
    const int64_t row = ascending ? step : n - 1 - step, begin = read.begin(row), end = read.end(row);
    const int64_t of_row = end - begin;
    I mine{0};
    int64_t p = begin;
    if (there) {
      // No branch on few entries' number: of fewer the last one is looked at again, for none any one.
      const int64_t some = -static_cast<int64_t>(of_row > 0);
      I before{0};
      for (int64_t k = 0; k < at_once; ++k)
        before = std::max(before, level[read.column(std::min(begin + k, end - 1) & some)]);
      mine = static_cast<I>((before + 1) & static_cast<I>(some));
      p += at_once;
    }
    for (; p < end; ++p) mine = std::max(mine, static_cast<I>(level[read.column(p)] + 1));
    level[row] = mine;
    length[row] = static_cast<BlockSchedule::Length>(std::min(of_row, BlockSchedule::longest));
    if (of_row > long_row) [[unlikely]]
      long_rows.emplace_back(mine, of_row);
    if (mine < count) continue;
    count = mine + 1;
    if (count > most) return false;
  }
  longest.assign(static_cast<size_t>(count), 0);
  for (const auto& [of, entries] : long_rows)
    longest[static_cast<size_t>(of)] = std::max(longest[static_cast<size_t>(of)], entries);
  return true;
}

/// Fills in `made` and returns true where rows are short, levels few, and these are faster, by threads or by one, than
/// one thread's rows as they lie. alike: rows_alike() of all rows; the rest as for schedule_blocks().
template <class Dev, class I, class Rows>
bool schedule_row_levels(Queue& queue, const std::shared_ptr<const Memory>& memory, const Rows& rows, int64_t n,
                         bool ascending, int threads, const BlockCost& cost, int64_t alike, BlockSchedule& made) {
  // Rows of a level, in the mean; where neighbours are chained, blocks of these have fewer levels to wait for.
  constexpr int64_t fewest = 64, fewest_of_any = 16;
  const int64_t fewest_chained = std::max<int64_t>(512, 128 * threads);
  constexpr int64_t alone_in_level = 3;  // so many rows are not worth a level of their own
  // Beside its entries, of a row and of one among others alike, by one thread as they lie; of a wait; of a level.
  constexpr int64_t row_work = 20, alike_work = 4, wait_work = 4, level_work = 60;
  if (n == 0 || 10 * alike > 9 * n) return false;
  const RowSample sample = sample_rows(rows, n, ascending);
  if (sample.entries >= cost.level_entries || (sample.chained && !cost.any_rows)) return false;
  const int64_t fewest_rows = sample.chained ? fewest_chained : cost.any_rows ? fewest_of_any : fewest;
  const Buffer of_row(memory, Space::host, static_cast<size_t>(n) * sizeof(I));
  I* const level = of_row.as<I>();
  Buffer lengths(memory, Space::host, static_cast<size_t>(n) * sizeof(BlockSchedule::Length));
  auto* const length = lengths.as<BlockSchedule::Length>();
  std::vector<int64_t> longest;
  if (!find_short_rows_levels(rows, n, ascending, n / fewest_rows, level, length, longest)) return false;
  const int64_t count = std::ssize(longest);
  Buffer order(memory, Space::host, static_cast<size_t>(n) * sizeof(I));
  I* const row_at = order.as<I>();
  std::vector<int64_t> starts(static_cast<size_t>(count) + 1);
  const auto first = [&](int64_t part) { return part_begin(n, threads, part); };
  host_bucket<Dev>(queue, level, 0, count, threads, starts.data(), first, [&](int64_t part, const auto& next) {
    for (int64_t i = first(part); i < first(part + 1); ++i) row_at[next(i)] = static_cast<I>(i);
  });
  // Of rows in this order, before each `apart`th one.
  constexpr int64_t apart = 16;
  const auto before = std::make_unique_for_overwrite<int64_t[]>(static_cast<size_t>(n / apart) + 1);
  before[0] = 0;
  host_parts<Dev>(queue, threads, [&](int64_t part) {
    for (int64_t k = part_begin(n / apart, threads, part), end = part_begin(n / apart, threads, part + 1); k < end;
         ++k) {
      int64_t sum = apart * cost.level_row;
      for (int64_t i = k * apart; i < (k + 1) * apart; ++i) sum += length[row_at[i]];
      before[static_cast<size_t>(k) + 1] = sum;
    }
  });
  std::partial_sum(before.get(), before.get() + n / apart + 1, before.get());
  const auto work_before = [&](int64_t i) {
    int64_t sum = before[static_cast<size_t>(i / apart)] + i % apart * cost.level_row;
    for (int64_t k = i / apart * apart; k < i; ++k) sum += length[row_at[k]];
    return sum;
  };

  struct Phase {
    int64_t begin, end;  // levels
    bool serial;
  };
  const auto start = [&](int64_t at) { return starts[static_cast<size_t>(at)]; };
  const auto work_of = [&](int64_t l) { return work_before(start(l + 1)) - work_before(start(l)); };
  const auto alone_of = [&](int64_t l, int64_t work) {  // by one thread
    const int64_t count_of_rows = start(l + 1) - start(l);
    return work + (count_of_rows <= alone_in_level ? (cost.lone_row - cost.level_row) * count_of_rows : level_work);
  };
  std::vector<Phase> phases;
  int64_t shared = 0, by_one = 0, serial_rows = 0;
  for (int64_t l = 0; l < count;) {
    int64_t end = l, sum = 0, work = 0;
    for (; end < count; ++end) {
      work = work_of(end);
      if (threads > 1 && work >= least_phase_work) break;
      sum += alone_of(end, work);
    }
    const bool serial = end > l;
    if (!serial) ++end;
    phases.push_back({l, end, serial});
    by_one += serial ? sum : alone_of(l, work);
    shared +=
        (serial ? sum : std::max(work / threads, longest[static_cast<size_t>(l)])) + wait_work * phase_work(threads);
    if (serial) serial_rows += start(end) - start(l);
    l = end;
  }
  const int64_t alone =
      work_before(n) + (row_work - cost.level_row) * (n - alike) - (cost.level_row - alike_work) * alike;
  if (4 * std::min(shared, by_one) >= 3 * alone) return false;
  if (by_one <= shared) {
    phases = {{0, count, true}};
    serial_rows = n;
    threads = 1;
  }
  made.threads = threads;
  made.blocks = n;
  made.levels = count;
  made.phases = std::ssize(phases);
  made.serial_rows = serial_rows;
  made.shares.resize(static_cast<size_t>(threads));
  for (int thread = 0; thread < threads; ++thread) {
    auto& share = made.shares[static_cast<size_t>(thread)];
    for (const Phase& phase : phases) {
      if (phase.serial) {
        for (int64_t l = phase.begin; thread == 0 && l < phase.end;) {
          const auto alone_at = [&](int64_t at) { return start(at + 1) - start(at) <= alone_in_level; };
          const int64_t from = start(l);
          const bool several = alone_at(l);
          for (++l; several && l < phase.end && alone_at(l);) ++l;
          if (several) {
            std::sort(row_at + from, row_at + start(l));
            if (!ascending) std::reverse(row_at + from, row_at + start(l));
          }
          share.blocks.push_back({from, start(l) - from, several ? several_levels : 0});
        }
      } else {
        const int64_t from = work_before(start(phase.begin)), work = work_before(start(phase.end)) - from;
        const auto bound = [&](int part) {  // of the phase's work
          if (part == 0 || part == threads) return start(part == 0 ? phase.begin : phase.end);
          const int64_t wanted = from + part_begin(work, threads, part),
                        k = std::upper_bound(before.get(), before.get() + n / apart + 1, wanted) - before.get() - 1;
          return std::clamp(k * apart, start(phase.begin), start(phase.end));
        };
        const int64_t begin = bound(thread), end = bound(thread + 1);
        if (begin < end) share.blocks.push_back({begin, end - begin, 0});
      }
      share.ends.push_back(std::ssize(share.blocks));
    }
  }
  made.order = std::move(order);
  made.lengths = std::move(lengths);
  made.find_next();
  return true;
}

}  // namespace kkc::levels
