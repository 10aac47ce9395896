// gpu_sync_free: which levels one block of threads solves, a chain, and which all blocks, in turns.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ops/levels/levels.hpp"

namespace kkc::sptrsv {
namespace gpu_parts {

namespace chain_tuning {
inline constexpr int64_t narrow_rows = 64;     // of a level in a chain, at most
inline constexpr double narrow_entries = 128;  // of a level in a chain, about, at most
inline constexpr double chained_entries = 8;   // a row in the triangle's mean, to which chains pay
inline constexpr int64_t chain_levels = 256;   // at least
inline constexpr int64_t slim_rows = 16;       // of a level that a chain's block has under way with a warp a row
inline constexpr int64_t slim_levels = 64;     // of at most so many rows are a chain of their own, at least
inline constexpr double chain_entries = 16;    // a row of a chain, from which more than four lanes pay
inline constexpr size_t most_launches = 64;    // else longer chains are asked for
}  // namespace chain_tuning

/// Positions in the order that one launch solves.
struct SyncFreeRun {
  bool chain;
  int64_t first, end, levels;
  int lanes_log2 = 0;  // of a row in a chain
};

/// Levels l..end - 1 from `l` on that are all of at most `rows` rows.
inline int64_t end_of_narrow(const Levels& levels, int64_t l, int64_t end, int64_t rows) {
  const auto width = [&](int64_t level) {
    return levels.starts[static_cast<size_t>(level) + 1] - levels.starts[static_cast<size_t>(level)];
  };
  while (l < end && width(l) <= rows) ++l;
  return l;
}

/// Of the first `count` levels. Chains are `times` as long as they have to be. A block of threads solves levels of few
/// entries faster than all blocks, which wait for each other through memory, and levels of many entries more slowly.
inline std::vector<SyncFreeRun> sync_free_runs(const Levels& levels, int64_t count, int64_t times) {
  using namespace chain_tuning;
  const int64_t narrow =
      std::min(narrow_rows, static_cast<int64_t>(narrow_entries / std::max(1.0, levels.entries_a_row)));
  std::vector<SyncFreeRun> runs;
  const auto add = [&](bool chain, int64_t from, int64_t to) {
    if (from == to) return;
    if (!chain && !runs.empty() && !runs.back().chain) {
      runs.back().end = levels.starts[static_cast<size_t>(to)];
      runs.back().levels += to - from;
    } else {
      runs.push_back(
          {chain, levels.starts[static_cast<size_t>(from)], levels.starts[static_cast<size_t>(to)], to - from});
    }
  };
  for (int64_t l = 0; l < count;) {
    const int64_t after = end_of_narrow(levels, l, count, narrow);
    const bool chain = after - l >= chain_levels * times;
    // Those of the fewest rows apart from the others: more threads share a row there.
    int64_t begun = l;
    while (l < after) {
      const int64_t slim = end_of_narrow(levels, l, after, std::min(narrow, slim_rows));
      if (slim - l >= slim_levels * times) {
        add(chain, begun, l);
        add(true, l, slim);
        begun = slim;
      }
      l = std::max(slim, l + 1);
    }
    add(chain, begun, after);
    if (after < count) add(false, after, after + 1);
    l = after + 1;
  }
  return runs;
}

/// Of the first `count` levels.
inline std::vector<SyncFreeRun> sync_free_runs(const Levels& levels, int64_t count) {
  if (count == 0) return {};
  if (levels.entries_a_row > chain_tuning::chained_entries)
    return {{false, 0, levels.starts[static_cast<size_t>(count)], count}};
  for (int64_t times = 1;; times *= 4) {
    std::vector<SyncFreeRun> runs = sync_free_runs(levels, count, times);
    if (runs.size() <= chain_tuning::most_launches) return runs;
  }
}

/// Whether chains hold most of the first `count` levels, and these most of all.
inline bool mostly_chained(const Levels& levels, int64_t count) {
  if (2 * count <= levels.count) return false;
  int64_t chained = 0;
  for (const SyncFreeRun& run : sync_free_runs(levels, count))
    if (run.chain) chained += run.levels;
  return 2 * chained > count;
}

}  // namespace gpu_parts
}  // namespace kkc::sptrsv
