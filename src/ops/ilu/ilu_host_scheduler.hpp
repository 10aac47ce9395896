// Chooses how threads share rows (HostSchedule): ways are tried on paper, with an estimate of each row's time.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "ilu_host_blocks.hpp"
#include "ilu_host_levels.hpp"
#include "ilu_host_list.hpp"

namespace kkc::ilu {

/// For at most `threads` threads. alike: most rows are, as on grids.
template <class I, class O>
HostSchedule host_schedule(Queue& queue, const LowerRows<I, O>& lower, int64_t threads, RowCost cost, bool alike) {
  // Estimates from which on no other way is tried. Levels leave few neighbouring rows to one thread: by fewer threads
  // than so many, executes take longer than what the search for another way does.
  constexpr double good = 0.8, fair = 0.4;
  constexpr int64_t least_by_levels = 12;
  const double least_gain = threads > 2 ? 1.5 : 1.2;  // what many threads write is in no near cache
  if (threads < 2 || lower.rows < 2 || lower.rows > std::numeric_limits<int32_t>::max())
    return HostSchedule(lower.rows);
  const double least = least_gain / static_cast<double>(threads);
  std::optional<HostLevels<I, O>> levels;
  if (!alike && threads >= least_by_levels) {
    levels.emplace(queue, lower, threads, cost);
    if (levels->efficiency() >= fair) return levels->schedule(queue);
  }
  std::optional<HostList<I, O>> list;
  if (!alike && !levels) {
    list.emplace(lower, threads, cost);
    if (list->efficiency() >= good) return std::move(*list).schedule();
  }
  std::optional<HostBlocks<I, O>> blocks;
  const NearestNeeded nearest(queue, lower);
  for (const int cut : nearest.cuts(threads)) {
    HostBlocks<I, O> more(queue, lower, threads, cost, nearest, cut);
    if (!blocks || more.efficiency() > blocks->efficiency()) blocks.emplace(std::move(more));
  }
  if (blocks && blocks->efficiency() >= good) return blocks->schedule();
  if (!levels && !list) list.emplace(lower, threads, cost);
  const double other = levels ? levels->efficiency() : list->efficiency();
  if (blocks && blocks->efficiency() >= std::max(least, other)) return blocks->schedule();
  if (other < least) return HostSchedule(lower.rows);
  return levels ? levels->schedule(queue) : std::move(*list).schedule();
}

}  // namespace kkc::ilu
