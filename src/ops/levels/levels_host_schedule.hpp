// levels: which host thread solves which rows of a triangle, and when.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "core/info.hpp"
#include "core/memory.hpp"
#include "ops/levels/levels_host_block_parts.hpp"
#include "ops/levels/levels_host_runs.hpp"

namespace kkc::levels {

/// What beginning a block elsewhere costs: always, and at most for its own entries, whose lines nobody foresees where
/// rows are not alike. level_row: what a row by level costs beside its entries, 0: none goes by level; lone_row: one of
/// a level too small to be shared; level_entries: rows by level have fewer in the mean; any_rows: what several rows go
/// at once by needs neither equal lengths nor large levels.
struct BlockCost {
  int64_t place, entries = 0, level_row = 0, lone_row = 0, level_entries = 0;
  bool any_rows = false;
};

/// Of runs of rows that one thread solves several at a time.
inline int64_t rows_alike(const std::vector<Run>& runs) {
  int64_t rows = 0;
  for (const Run& run : runs)
    if (run.alike && run.rows >= shortest_run) rows += run.rows;
  return rows;
}

/// Block::run of rows by level that are of more than one.
inline constexpr int64_t several_levels = -1;

/// Rows of a level are told apart by their entries, up to 31: so many keys a level.
inline constexpr int length_bits = 5;
inline constexpr int64_t lengths_of_level = int64_t{1} << length_bits;

struct BlockSchedule {
  int threads = 1;
  int64_t blocks = 0, levels = 0, phases = 0;
  int64_t serial_rows = 0;  // in phases of one thread
  int64_t own_rows = 0;     // in the first phase, where that is of each thread's own part
  /// Of each thread: its blocks in order; phase p is those from ends[p - 1] to before ends[p].
  struct Share {
    std::vector<Block> blocks;
    std::vector<int64_t> ends;
    /// What a phase's blocks need of other threads that no phase before had to wait for: waits before wait_ends[p]. No
    /// wait_ends: everything of all phases before.
    struct Wait {
      int32_t thread, phase;
    };
    std::vector<Wait> waits;
    std::vector<int64_t> wait_ends;
    /// The first phase from p on with blocks; phases when there is none.
    std::vector<int32_t> next;
    int64_t begin(int64_t phase) const { return phase == 0 ? 0 : ends[static_cast<size_t>(phase) - 1]; }
    int64_t end(int64_t phase) const { return ends[static_cast<size_t>(phase)]; }
    int64_t waits_begin(int64_t phase) const { return phase == 0 ? 0 : wait_ends[static_cast<size_t>(phase) - 1]; }
    int64_t waits_end(int64_t phase) const { return wait_ends[static_cast<size_t>(phase)]; }
  };
  std::vector<Share> shares;
  std::vector<Run> runs;  // of steps, all of them in order
  /// Rows by level, of the triangle's ordinal type: blocks are of these, one after the other, not of steps. Else empty.
  Buffer order;
  /// With `order`: entries of each row, up to `longest`; for the plan.
  using Length = uint16_t;
  static constexpr int64_t longest = std::numeric_limits<Length>::max();
  Buffer lengths;
  /// With `order`, where stretches of a level's rows are in order of their lengths, those of lengths_of_level - 1 and
  /// more being of one: where each stretch's rows of each length begin, and the end of all; for the plan. Else empty.
  std::vector<int64_t> length_starts;
  /// Not 0: no blocks. Threads solve so many steps each in turn, in their order, and wait for single rows.
  int64_t steps_in_turn = 0;

  void forget_lengths() {
    lengths = Buffer();
    length_starts = {};
  }

  /// Fills in each share's `next`.
  void find_next() {
    for (Share& share : shares) {
      share.next.assign(static_cast<size_t>(phases) + 1, static_cast<int32_t>(phases));
      for (int64_t p = phases - 1; p >= 0; --p)
        share.next[static_cast<size_t>(p)] =
            share.end(p) > share.begin(p) ? static_cast<int32_t>(p) : share.next[static_cast<size_t>(p) + 1];
    }
  }

  void describe(int64_t rows, Info& info) const {
    if (steps_in_turn > 0) {
      info.add("rows_in_turn", steps_in_turn);
    } else {
      info.add("levels", levels);
      info.add("blocks", blocks);
      info.add("rows_per_level", static_cast<double>(rows) / static_cast<double>(std::max<int64_t>(1, levels)));
      info.add("phases", phases);
      info.add("rows_of_one_thread", serial_rows);
      info.add("rows_of_own_parts", own_rows);
      int64_t listed = 0;
      for (const Share& share : shares) listed += std::ssize(share.waits);
      info.add("waits_listed", listed);
    }
    info.add("threads", int64_t{threads});
  }
};

/// f(length, count) for a block's rows, in order. starts: BlockSchedule::length_starts.
template <class F>
void each_length(const std::vector<int64_t>& starts, const Block& block, F f) {
  const int64_t *const all = starts.data(), *const behind = all + starts.size() - 1;
  for (const int64_t* at = std::upper_bound(all, behind, block.first) - 1;
       at < behind && *at < block.first + block.count; ++at) {
    const int64_t begin = std::max(at[0], block.first), end = std::min(at[1], block.first + block.count);
    if (begin < end) f((at - all) % lengths_of_level, end - begin);
  }
}

/// What a phase must hold for more than one thread, in entries.
inline constexpr int64_t least_phase_work = 3000;
/// Of more threads some have far less of their own than others: not worth the look.
inline constexpr int most_own_parts = 4;
/// What waiting for all others at a phase's beginning costs.
constexpr int64_t phase_work(int threads) { return 400 + 60 * int64_t{threads}; }

}  // namespace kkc::levels
