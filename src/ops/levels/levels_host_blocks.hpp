// levels: work of host threads on the rows of a triangle, with few waits. Runs of neighbouring rows become blocks where
// each row depends on the one before it (a chain would gain nothing from more threads, and its rows are read as they
// lie); blocks get levels; a level's blocks are dealt to threads by work, and runs of levels with too little work go to
// one thread without a wait in between (the aims of Böhnlein, Papp, Steiner, Yzelman, "Efficient parallel scheduling
// for sparse triangular solvers", arXiv 2503.05408; by levels instead of by growing). Of long blocks the threads list
// which others each needs, and only these lists are gone through in order. Where blocks would be short and rows seldom
// need those right before them, there are no levels: threads take rows in turn; else each thread begins with what needs
// only its own part, if that is most of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "core/info.hpp"
#include "core/memory.hpp"
#include "device/host_parallel.hpp"
#include "ops/levels/levels_host_block_domains.hpp"
#include "ops/levels/levels_host_block_levels.hpp"
#include "ops/levels/levels_host_runs.hpp"

namespace kkc::levels {

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
  /// Not 0: no blocks. Threads solve so many steps each in turn, in their order, and wait for single rows.
  int64_t steps_in_turn = 0;

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
    }
    info.add("threads", int64_t{threads});
  }
};

/// What a row costs beside its entries, in entries, among rows that are alike and elsewhere; what a phase must hold for
/// more than one thread.
inline constexpr int64_t row_work = 4, lone_row_work = 20, least_phase_work = 3000;
inline constexpr int64_t most_block_rows = 128, most_block_work = 8192;
/// Of more threads some have far less of their own than others: not worth the look.
inline constexpr int most_own_parts = 4;
/// What waiting for all others at a phase's beginning costs.
constexpr int64_t phase_work(int threads) { return 400 + 60 * int64_t{threads}; }

/// A part's steps: runs, and blocks with what they cost. Block::run counts from the part's first.
struct BlockPart {
  std::vector<Run> runs;
  std::vector<Block> blocks;
  std::vector<int64_t> work;
  int64_t lone_work = 0;  // of rows that are not alike
  /// Of blocks that a block depends on, each about once: those of block i are before ends[i].
  std::vector<int32_t> needed;
  std::vector<int64_t> ends;
};

/// The last step before `first` that a row depends on, or -1. step_of: of a row; the row's columns ascend.
template <class Rows, class StepOf>
int64_t nearest_before(const Rows& rows, int64_t row, int64_t first, const StepOf& step_of) {
  const int64_t begin = rows.begin(row), end = rows.end(row);
  const bool last_is_nearest = step_of(1) > step_of(0);
  for (int64_t k = 0; k < end - begin; ++k) {
    const int64_t step = step_of(rows.column(last_is_nearest ? end - 1 - k : begin + k));
    if (step < first) return step;
  }
  return -1;
}

/// rows: as for schedule_blocks. part.runs are there, of steps.
template <class Rows>
void cut_blocks(const Rows& rows, int64_t n, bool ascending, BlockPart& part) {
  const auto row_of = [&](int64_t step) { return ascending ? step : n - 1 - step; };
  // Rows are mostly sorted, so that the neighbour is at one end.
  const auto follows = [&](int64_t step) {
    const int64_t row = row_of(step), from = rows.begin(row), to = rows.end(row);
    return from < to && rows.column(ascending ? to - 1 : from) == row_of(step - 1);
  };
  bool open = false;  // the last block takes more rows
  const auto add = [&](int64_t step, int64_t count, int64_t work, int64_t run) {
    if (!open) {
      part.blocks.push_back({step, 0, run});
      part.work.push_back(0);
    }
    Block& block = part.blocks.back();
    block.count += count;
    part.work.back() += work;
    open = block.count < most_block_rows && part.work.back() < most_block_work;
  };
  for (size_t r = 0; r < part.runs.size(); ++r) {
    const Run run = part.runs[r];
    const auto at = static_cast<int64_t>(r);
    const int64_t end = run.first + run.rows;
    const auto entries_of = [&](int64_t step) { return rows.end(row_of(step)) - rows.begin(row_of(step)); };
    if (!run.alike) {
      for (int64_t step = run.first; step < end; ++step) {
        open = open && follows(step);
        add(step, 1, entries_of(step) + lone_row_work, at);
        part.lone_work += entries_of(step) + lone_row_work;
      }
      continue;
    }
    open = open && follows(run.first);
    const int64_t each = entries_of(run.first) + row_work;
    // Rows without entries wait for nothing, and nothing is gained by dealing them singly.
    const bool together = each == row_work || follows(run.first + 1);
    for (int64_t step = run.first; step < end;) {
      int64_t count = 1;
      if (together) {
        const int64_t has = open ? part.blocks.back().count : 0, did = open ? part.work.back() : 0;
        count = std::min({end - step, most_block_rows - has, (most_block_work - did + each - 1) / each});
      }
      add(step, count, count * each, at);
      step += count;
      open = open && together;
    }
  }
}

/// Which block a step is in.
class BlockFinder {
 public:
  BlockFinder(const std::vector<Block>& blocks, int64_t steps) : blocks_(blocks) {
    firsts_.reserve(static_cast<size_t>(steps / spacing + 2));
    for (size_t i = 0; i < blocks.size(); ++i)
      while (static_cast<int64_t>(firsts_.size()) * spacing < blocks[i].first + blocks[i].count)
        firsts_.push_back(static_cast<int32_t>(i));
  }
  int64_t find(int64_t step) const {
    int64_t i = firsts_[static_cast<size_t>(step / spacing)];
    while (blocks_[static_cast<size_t>(i)].first + blocks_[static_cast<size_t>(i)].count <= step) ++i;
    return i;
  }

 private:
  static constexpr int64_t spacing = 32;
  const std::vector<Block>& blocks_;
  std::vector<int32_t> firsts_;  // the block of every spacing-th step
};

/// part.needed and part.ends, all blocks known. Of runs only the first row's entries are looked at.
template <class Rows>
void find_needed(const Rows& rows, int64_t n, bool ascending, const std::vector<Block>& blocks,
                 const BlockFinder& finder, BlockPart& part) {
  constexpr size_t recent = 16;
  const auto step_of = [&](int64_t row) { return ascending ? row : n - 1 - row; };  // and the row of a step
  for (const Block& block : part.blocks) {
    const size_t begin = part.needed.size();
    int64_t low = 0, high = 0;  // steps of the block that was found last
    const auto need = [&](int64_t from, int64_t to) {
      for (int64_t step = from; step < to; step = high) {
        if (step < low || step >= high) {
          const int64_t i = finder.find(step);
          low = blocks[static_cast<size_t>(i)].first;
          high = low + blocks[static_cast<size_t>(i)].count;
          const size_t end = part.needed.size();
          bool known = false;
          for (size_t k = end - std::min(end - begin, recent); k < end; ++k) known |= part.needed[k] == i;
          if (!known) part.needed.push_back(static_cast<int32_t>(i));
        }
      }
    };
    const int64_t end = block.first + block.count;
    auto r = static_cast<size_t>(block.run);
    int64_t before = 0, before_end = 0;  // entries of the row before
    for (int64_t step = block.first; step < end; ++r) {
      const Run& run = part.runs[r];
      const int64_t stop = std::min(end, run.first + run.rows);
      while (step < stop) {
        const int64_t row = step_of(step), count = run.alike ? stop - step : 1;
        int64_t p = rows.begin(row), last = rows.end(row);
        // Unknowns of one point share their columns: those that the row before had need no second look.
        const int64_t shared = run.alike ? 0 : std::min(last - p, before_end - before);
        const int64_t first = p, other = before, other_end = before_end;
        before = first;
        before_end = last;
        if (ascending)
          p += rows.same_columns(first, other, shared);
        else
          last -= rows.same_columns(last - shared, other_end - shared, shared) == shared ? shared : 0;
        for (; p < last; ++p) {
          const int64_t from = step_of(rows.column(p));
          if (from < block.first) need(from, std::min(from + count, block.first));
        }
        step += count;
      }
    }
    part.ends.push_back(static_cast<int64_t>(part.needed.size()));
  }
}

/// A level for each block, from those of the blocks that it needs.
template <class I>
void find_levels_of_needed(const std::vector<BlockPart>& parts, std::vector<I>& block_level) {
  size_t i = 0;
  for (const BlockPart& part : parts) {
    int64_t at = 0;
    for (const int64_t end : part.ends) {
      I level = 0;
      for (; at < end; ++at)
        level =
            std::max(level, static_cast<I>(block_level[static_cast<size_t>(part.needed[static_cast<size_t>(at)])] + 1));
      block_level[i++] = level;
    }
  }
}

/// Whether threads that take `each` steps in turn would seldom wait: few of these reach the steps right before them,
/// which others have under way. Rows ascend. Looks at every fourth turn.
template <class Rows>
bool seldom_waits(const Rows& rows, int64_t n, bool ascending, int threads, int64_t each) {
  const auto step_of = [&](int64_t row) { return ascending ? row : n - 1 - row; };  // and the row of a step
  int64_t turns = 0, waiting = 0;
  for (int64_t first = 0; first < n; first += 4 * each) {
    bool waits = false;
    for (int64_t step = first; step < std::min(n, first + each) && !waits; ++step) {
      const int64_t nearest = nearest_before(rows, step_of(step), first, step_of);
      waits = nearest >= first - (threads - 1) * each && nearest >= 0;
    }
    ++turns;
    waiting += waits;
  }
  return waiting * 2 <= turns;
}

/// Where a block is solved.
struct BlockOwner {
  int32_t thread = 0, phase = 0;
};

/// The waits of every thread's phases: an owner for each block, of which `parts` know what it needs (Park, Smelyanskiy,
/// Sundaram, Dubey, "Sparsifying synchronization for high-performance shared-memory sparse triangular solver", ISC'14,
/// section 3).
inline void find_waits(const std::vector<BlockPart>& parts, const std::vector<BlockOwner>& owners,
                       BlockSchedule& schedule) {
  using Wait = BlockSchedule::Share::Wait;
  const auto threads = static_cast<size_t>(schedule.threads);
  std::vector<std::vector<std::pair<int32_t, Wait>>> needs(threads);  // by phases
  size_t i = 0;
  for (const BlockPart& part : parts) {
    int64_t at = 0;
    for (const int64_t end : part.ends) {
      const BlockOwner mine = owners[i++];
      for (; at < end; ++at) {
        const BlockOwner other = owners[static_cast<size_t>(part.needed[static_cast<size_t>(at)])];
        if (other.thread != mine.thread)
          needs[static_cast<size_t>(mine.thread)].push_back({mine.phase, {other.thread, other.phase}});
      }
    }
  }
  for (size_t t = 0; t < threads; ++t) {
    std::sort(needs[t].begin(), needs[t].end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    auto& share = schedule.shares[t];
    std::vector<int32_t> waited(threads, -1), wanted(threads, -1);
    auto need = needs[t].begin();
    for (int64_t phase = 0; phase < schedule.phases; ++phase) {
      for (; need != needs[t].end() && need->first == phase; ++need) {
        auto& of = wanted[static_cast<size_t>(need->second.thread)];
        of = std::max(of, need->second.phase);
      }
      for (size_t other = 0; other < threads; ++other)
        if (wanted[other] > waited[other]) {
          waited[other] = wanted[other];
          share.waits.push_back({static_cast<int32_t>(other), wanted[other]});
        }
      share.wait_ends.push_back(static_cast<int64_t>(share.waits.size()));
    }
  }
}

/// All steps as one block of one thread.
inline BlockSchedule schedule_for_one_thread(std::vector<Run> runs, int64_t n) {
  BlockSchedule made;
  made.blocks = made.levels = made.phases = n > 0 ? 1 : 0;
  made.serial_rows = n;
  made.shares.resize(1);
  auto& share = made.shares[0];
  if (n > 0) {
    share.blocks = {{0, n, 0}};
    share.ends = {1};
    share.next = {0, 1};
  } else {
    share.next = {0};
  }
  made.runs = std::move(runs);
  return made;
}

/// What beginning a block elsewhere costs: always, and at most for its own entries, whose lines nobody foresees where
/// rows are not alike.
struct BlockCost {
  int64_t place, entries = 0;
};

/// rows: rows.begin(row), rows.end(row), rows.column(entry) of those that a row depends on; solved in order of steps.
/// runs: of those rows, ascending, by parts. memory: for what is needed on the way. Where threads would not make up for
/// what blocks cost, all is one thread's.
template <class Dev, class I, class Rows>
BlockSchedule schedule_blocks(Queue& queue, const std::shared_ptr<const Memory>& memory, const Rows& rows, int64_t n,
                              bool ascending, int threads, const BlockCost& cost, std::vector<std::vector<Run>> runs) {
  BlockSchedule made;
  std::vector<BlockPart> parts(runs.size());
  host_parts_checked<Dev>(queue, static_cast<int64_t>(parts.size()), [&](int64_t i) {
    BlockPart& part = parts[static_cast<size_t>(ascending ? i : static_cast<int64_t>(parts.size()) - 1 - i)];
    part.runs = std::move(runs[static_cast<size_t>(i)]);
    if (!ascending) {
      std::reverse(part.runs.begin(), part.runs.end());
      for (Run& run : part.runs) run.first = n - run.first - run.rows;
    }
    if (threads > 1) cut_blocks(rows, n, ascending, part);
  });
  const auto all_runs = [&] {
    std::vector<Run> all;
    for (const BlockPart& part : parts) all.insert(all.end(), part.runs.begin(), part.runs.end());
    return all;
  };
  if (threads == 1) return schedule_for_one_thread(all_runs(), n);
  size_t count_of_blocks = 0;
  for (const BlockPart& part : parts) count_of_blocks += part.blocks.size();
  const bool long_blocks = static_cast<int64_t>(count_of_blocks) * 8 <= n;
  const int64_t in_turn = std::max<int64_t>(8, 64 / threads);
  if (!long_blocks && rows.ascending() && seldom_waits(rows, n, ascending, threads, in_turn)) {
    made.threads = threads;
    made.steps_in_turn = in_turn;
    return made;
  }
  std::vector<Block> blocks;
  std::vector<int64_t> work;
  blocks.reserve(count_of_blocks);
  work.reserve(count_of_blocks);
  for (const BlockPart& part : parts) {
    blocks.insert(blocks.end(), part.blocks.begin(), part.blocks.end());
    work.insert(work.end(), part.work.begin(), part.work.end());
  }
  int64_t lone_work = 0;
  for (const BlockPart& part : parts) lone_work += part.lone_work;
  const int64_t alone = std::accumulate(work.begin(), work.end(), int64_t{0}),
                block_work = cost.place + std::min(cost.entries, lone_work / std::max<int64_t>(1, std::ssize(blocks)));
  std::vector<I> block_level(blocks.size(), I{-1});
  std::vector<int64_t> own_begins;  // where each thread's part of level 0 begins, if it is not dealt by work
  int64_t own_work = 0;             // the most that one has there
  if (long_blocks) {
    const BlockFinder finder(blocks, n);
    host_parts_checked<Dev>(queue, static_cast<int64_t>(parts.size()), [&](int64_t i) {
      find_needed(rows, n, ascending, blocks, finder, parts[static_cast<size_t>(i)]);
    });
    find_levels_of_needed(parts, block_level);
  } else {
    const Buffer row_level(memory, Space::host, static_cast<size_t>(n) * sizeof(I));
    std::fill(row_level.as<I>(), row_level.as<I>() + n, I{0});
    BlockDomains<I, Rows> domains(rows, n, ascending, blocks, work, row_level.as<I>(), block_level);
    std::vector<int64_t> rest = work;
    if (threads <= most_own_parts && domains.template find<Dev>(queue, threads, block_work)) {
      own_begins = domains.begins();
      own_work = domains.most_work();
      for (size_t i = 0; i < rest.size(); ++i) rest[i] = block_level[i] == 0 ? 0 : rest[i];
    } else if (7 * (alone + static_cast<int64_t>(blocks.size()) * block_work) >= 6 * alone * threads) {
      return schedule_for_one_thread(all_runs(), n);
    }
    BlockLevels<I, Rows> finder(rows, n, ascending, blocks, rest, row_level.as<I>(), block_level);
    finder.template find<Dev>(queue, threads);
  }
  made.runs = all_runs();
  int64_t runs_before = 0;
  size_t next_block = 0;
  for (const BlockPart& part : parts) {
    for (size_t i = 0; i < part.blocks.size(); ++i) blocks[next_block++].run += runs_before;
    runs_before += static_cast<int64_t>(part.runs.size());
  }
  I count = 0;
  for (const I level : block_level) count = std::max<I>(count, static_cast<I>(level + 1));
  made.blocks = static_cast<int64_t>(blocks.size());
  made.levels = count;
  made.threads = threads;
  made.shares.resize(static_cast<size_t>(threads));

  std::vector<int64_t> starts(static_cast<size_t>(count) + 2, 0), order(blocks.size());
  for (const I level : block_level) ++starts[static_cast<size_t>(level) + 2];
  for (size_t l = 2; l < starts.size(); ++l) starts[l] += starts[l - 1];
  for (size_t i = 0; i < blocks.size(); ++i)
    order[static_cast<size_t>(starts[static_cast<size_t>(block_level[i]) + 1]++)] = static_cast<int64_t>(i);

  std::vector<int64_t> work_before(blocks.size() + 1, 0);  // in this order
  for (size_t i = 0; i < blocks.size(); ++i) work_before[i + 1] = work_before[i] + work[static_cast<size_t>(order[i])];
  struct Phase {
    int64_t begin, end;  // in the order
    bool serial, own;
    int64_t work;
  };
  std::vector<Phase> phases;
  int64_t shared = 0;  // work of the thread that has most
  for (int64_t l = 0; l < count;) {
    const auto start = [&](int64_t level) { return starts[static_cast<size_t>(level)]; };
    const auto work_of = [&](int64_t from, int64_t to) {
      return work_before[static_cast<size_t>(start(to))] - work_before[static_cast<size_t>(start(from))];
    };
    if (l == 0 && !own_begins.empty()) {
      phases.push_back({0, start(1), false, true, own_work});
      shared += own_work + phase_work(threads);
      l = 1;
      continue;
    }
    int64_t end = l;
    while (end < count && (start(end + 1) - start(end) == 1 || work_of(end, end + 1) < least_phase_work)) ++end;
    const bool serial = end > l;
    if (!serial) ++end;
    const int64_t sum = work_of(l, end), blocks_work = (start(end) - start(l)) * block_work;
    phases.push_back({start(l), start(end), serial, false, sum});
    // One thread's blocks go as the rows lie, many beside one another.
    shared += (serial ? sum + blocks_work / 2 : (sum + blocks_work) / threads) + phase_work(threads);
    l = end;
  }
  if (shared >= alone) {
    BlockSchedule one = schedule_for_one_thread(std::move(made.runs), n);
    one.levels = count;
    return one;
  }
  made.phases = static_cast<int64_t>(phases.size());
  for (const Phase& phase : phases) {
    if (phase.serial) std::sort(order.begin() + phase.begin, order.begin() + phase.end);  // as the rows lie
    for (int64_t i = phase.begin; (phase.serial || phase.own) && i < phase.end; ++i)
      (phase.own ? made.own_rows : made.serial_rows) +=
          blocks[static_cast<size_t>(order[static_cast<size_t>(i)])].count;
  }
  std::vector<BlockOwner> owners(long_blocks ? blocks.size() : 0);
  host_parts_checked<Dev>(queue, threads, [&](int64_t thread) {
    auto& share = made.shares[static_cast<size_t>(thread)];
    share.blocks.reserve(2 * blocks.size() / static_cast<size_t>(threads));
    for (const Phase& phase : phases) {
      // A level's blocks are shared by where the middle of their work lies.
      const auto first_of = [&](int64_t other) {
        if (phase.serial) return other == 0 ? phase.begin : phase.end;
        if (phase.own)
          return static_cast<int64_t>(
              std::lower_bound(order.begin(), order.begin() + phase.end, own_begins[static_cast<size_t>(other)]) -
              order.begin());
        if (other == threads) return phase.end;
        int64_t low = phase.begin, high = phase.end;
        while (low < high) {
          const int64_t i = low + (high - low) / 2;
          const int64_t before = work_before[static_cast<size_t>(i)], after = work_before[static_cast<size_t>(i) + 1],
                        done = before - work_before[static_cast<size_t>(phase.begin)];
          if ((done + (after - before) / 2) * threads / phase.work < other)
            low = i + 1;
          else
            high = i;
        }
        return low;
      };
      const auto phase_begin = share.blocks.size();
      for (int64_t i = first_of(thread), end = first_of(thread + 1); i < end; ++i) {
        const auto at = static_cast<size_t>(order[static_cast<size_t>(i)]);
        if (long_blocks) owners[at] = {static_cast<int32_t>(thread), static_cast<int32_t>(share.ends.size())};
        // Neighbours in one phase are one block.
        const Block& block = blocks[at];
        if (share.blocks.size() > phase_begin && share.blocks.back().first + share.blocks.back().count == block.first)
          share.blocks.back().count += block.count;
        else
          share.blocks.push_back(block);
      }
      share.ends.push_back(static_cast<int64_t>(share.blocks.size()));
    }
  });
  if (long_blocks) find_waits(parts, owners, made);
  for (auto& share : made.shares) {
    share.next.assign(static_cast<size_t>(made.phases) + 1, static_cast<int32_t>(made.phases));
    for (int64_t p = made.phases - 1; p >= 0; --p)
      share.next[static_cast<size_t>(p)] =
          share.end(p) > share.begin(p) ? static_cast<int32_t>(p) : share.next[static_cast<size_t>(p) + 1];
  }
  return made;
}

}  // namespace kkc::levels
