// gpu_sync_free: how long a solve would take with so many lanes for a row, by the widths of levels and their longest
// rows. Only the order of such estimates counts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kkc::sptrsv {
namespace gpu_parts {

namespace estimate_tuning {
// Microseconds, fitted to solves on an H200: from one level to the next; without gates; where rows look at more than 32
// unknowns all the time, too; of one more entry of a lane, and of a transposed row's, whose value lies anywhere; of a
// warp among as many as there is room for; of a launch.
inline constexpr double level = 0.6, ungated_level = 0.7, crowded_level = 1.2, step = 0.45, transposed_step = 0.9;
inline constexpr double a_warp = 1.0 / 1800;
inline constexpr double launch = 4;
inline constexpr int64_t warps_at_once = 5000;
}  // namespace estimate_tuning

inline constexpr int segment_length = 128;  // of a long row: what a warp of SolveRows has under way at once
inline constexpr int64_t long_row = 256;    // entries that a warp takes alone, at most

/// How rows are shared.
struct RowShare {
  int64_t lanes;      // that have a row of at most `limit` entries
  int64_t batch = 1;  // entries of a lane under way at once
  int64_t limit = INT64_MAX;
  double long_warps = 0;  // of longer rows, all together
  int64_t gate = 0;       // levels that a warp waits for before it takes more than its first entries; 0: none
  bool transposed = false;
};

/// starts: of levels, and behind the last; longest: entries of each level's longest row; done: room for these.
inline double estimate(const std::vector<int64_t>& starts, const std::vector<unsigned>& longest, const RowShare& share,
                       std::vector<double>& done) {
  using namespace estimate_tuning;
  const auto count = static_cast<int64_t>(longest.size());
  const int64_t rows = starts[static_cast<size_t>(count)], window = warps_at_once * 32 / share.lanes;
  const double a_row = a_warp * (static_cast<double>(share.lanes) / 32 +
                                 share.long_warps / static_cast<double>(std::max<int64_t>(1, rows)));
  const double next_level = share.gate > 0 ? level : share.lanes * share.batch > 32 ? crowded_level : ungated_level;
  const double a_step = share.transposed ? transposed_step : step;
  done.resize(static_cast<size_t>(count));
  int64_t behind = 0;  // the first level of which a row is under way when level l begins
  for (int64_t l = 0; l < count; ++l) {
    const auto at = static_cast<size_t>(l);
    while (starts[at] - starts[static_cast<size_t>(behind)] > window) ++behind;
    double begun = behind > 0 ? done[static_cast<size_t>(behind) - 1] : 0;
    if (share.gate > 0 && l >= share.gate) begun = std::max(begun, done[at - static_cast<size_t>(share.gate)]);
    const int64_t most = longest[at], at_once = share.lanes * share.batch;
    int64_t steps = (std::min(most, share.limit) + at_once - 1) / at_once;
    if (most > share.limit)
      steps =
          std::max(steps, (std::min(most, long_row) + segment_length - 1) / segment_length + (most > long_row ? 1 : 0));
    const double before = l > 0 ? done[at - 1] : 0;
    done[at] = std::max(before + std::max(next_level, static_cast<double>(starts[at + 1] - starts[at]) * a_row),
                        begun + static_cast<double>(steps) * a_step);
  }
  return launch + (count > 0 ? done.back() : 0);
}

}  // namespace gpu_parts
}  // namespace kkc::sptrsv
