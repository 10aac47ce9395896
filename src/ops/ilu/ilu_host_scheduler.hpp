// Chooses how threads share rows (HostSchedule): ways are tried on paper, with an estimate of each row's time.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "ilu_host_blocks.hpp"
#include "ilu_host_list.hpp"

namespace kkc::ilu {

/// For at most `threads` threads.
template <class I, class O>
HostSchedule host_schedule(Queue& queue, const LowerRows<I, O>& lower, int64_t threads, RowCost cost) {
  constexpr double good = 0.9;
  const double least_gain = threads > 2 ? 1.5 : 1.2;  // what many threads write is in no near cache
  if (threads < 2 || lower.rows < 2 || lower.rows > std::numeric_limits<int32_t>::max())
    return HostSchedule(lower.rows);
  std::optional<HostBlocks<I, O>> blocks;
  for (const int64_t distance : HostBlocks<I, O>::distances(queue, lower, threads)) {
    HostBlocks<I, O> more(queue, lower, threads, cost, distance);
    if (!blocks || more.efficiency() > blocks->efficiency()) blocks.emplace(std::move(more));
  }
  const double least = least_gain / static_cast<double>(threads);
  if (blocks && blocks->efficiency() >= good) return blocks->schedule();
  HostList<I, O> list(lower, threads, cost);
  if (blocks && blocks->efficiency() >= std::max(least, list.efficiency())) return blocks->schedule();
  return list.efficiency() >= least ? std::move(list).schedule() : HostSchedule(lower.rows);
}

}  // namespace kkc::ilu
