// levels: work of host threads on the rows of a triangle, with few waits. Runs of neighbouring rows become blocks where
// each row depends on the one before it (a chain would gain nothing from more threads, and its rows are read as they
// lie); blocks get levels; a level's blocks are dealt to threads by work, and runs of levels with too little work go to
// one thread without a wait in between (the aims of Böhnlein, Papp, Steiner, Yzelman, "Efficient parallel scheduling
// for sparse triangular solvers", arXiv 2503.05408; by levels instead of by growing). Of long blocks the threads list
// which others each needs, and only these lists are gone through in order. Where blocks would be short and rows seldom
// need those right before them, few threads make no levels but take rows in turn; else each thread begins with what
// needs only its own part, if that is most of it.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "core/memory.hpp"
#include "device/host_bucket.hpp"
#include "device/host_parallel.hpp"
#include "ops/levels/levels_host_block_domains.hpp"
#include "ops/levels/levels_host_block_levels.hpp"
#include "ops/levels/levels_host_block_parts.hpp"
#include "ops/levels/levels_host_row_levels.hpp"
#include "ops/levels/levels_host_runs.hpp"
#include "ops/levels/levels_host_schedule.hpp"

namespace kkc::levels {

/// From so many threads on levels are faster than rows in turn, whose threads look at the flags of all others.
inline constexpr int least_threads_by_levels = 12;

/// Whether threads that take `each` steps in turn would seldom wait: few of these reach the steps right before them,
/// which others have under way, and hardly any the last one before, for then turns are a chain. Rows ascend. Looks at
/// every fourth turn.
template <class Rows>
bool seldom_waits(const Rows& rows, int64_t n, bool ascending, int threads, int64_t each) {
  const auto step_of = [&](int64_t row) { return ascending ? row : n - 1 - row; };  // and the row of a step
  int64_t turns = 0, waiting = 0, chained = 0;
  for (int64_t first = 0; first < n; first += 4 * each) {
    bool waits = false;
    for (int64_t step = first; step < std::min(n, first + each) && !waits; ++step) {
      const int64_t nearest = nearest_before(rows, step_of(step), first, step_of);
      waits = nearest >= first - (threads - 1) * each && nearest >= 0;
      chained += waits && nearest == first - 1;
    }
    ++turns;
    waiting += waits;
  }
  return waiting * 2 <= turns && chained * 8 <= turns;
}

/// Whether most rows need some before their part, of `threads` equal parts of neighbouring rows. Looks at some.
template <class Rows>
bool parts_reach_out(const Rows& rows, int64_t n, bool ascending, int threads) {
  constexpr int64_t looks = 64;                                                     // a part
  const auto step_of = [&](int64_t row) { return ascending ? row : n - 1 - row; };  // and the row of a step
  int64_t looked = 0, reaching = 0;
  for (int64_t part = 1; part < threads; ++part) {
    const int64_t first = part_begin(n, threads, part), count = part_begin(n, threads, part + 1) - first;
    for (int64_t k = 0; k < std::min(looks, count); ++k, ++looked) {
      const int64_t row = step_of(first + k * count / looks), end = rows.end(row);
      bool out = false;
      for (int64_t p = rows.begin(row); p < end; ++p) out |= step_of(rows.column(p)) < first;
      reaching += out;
    }
  }
  return 2 * reaching > looked;
}

/// Where a block is solved.
struct BlockOwner {
  int32_t thread = 0, phase = 0;
};

/// The waits of a thread's phases, of which blocks_of(phase, f) calls f(block) for all blocks (Park, Smelyanskiy,
/// Sundaram, Dubey, "Sparsifying synchronization for high-performance shared-memory sparse triangular solver", ISC'14,
/// section 3).
template <class BlocksOf>
void find_waits(const NeededBlocks& needed, const std::vector<BlockOwner>& owners, int32_t thread, int threads,
                int64_t phases, const BlocksOf& blocks_of, BlockSchedule::Share& share) {
  std::vector<int32_t> waited(static_cast<size_t>(threads), -1), wanted = waited;  // phases of each thread
  for (int64_t phase = 0; phase < phases; ++phase) {
    blocks_of(phase, [&](int64_t block) {
      for (const int32_t other : needed.of(block)) {
        const BlockOwner owner = owners[static_cast<size_t>(other)];
        int32_t& of = wanted[static_cast<size_t>(owner.thread)];
        of = std::max(of, owner.phase);
      }
    });
    for (int32_t other = 0; other < threads; ++other) {
      const auto at = static_cast<size_t>(other);
      if (other == thread || wanted[at] <= waited[at]) continue;
      waited[at] = wanted[at];
      share.waits.push_back({other, wanted[at]});
    }
    share.wait_ends.push_back(std::ssize(share.waits));
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

/// rows: rows.begin(row), rows.end(row), rows.column(entry) of those that a row depends on; solved in order of steps.
/// runs: of those rows, ascending, by parts. memory: for what is needed on the way. Where threads would not make up for
/// what blocks cost, all is one thread's.
template <class Dev, class I, class Rows>
BlockSchedule schedule_blocks(Queue& queue, const std::shared_ptr<const Memory>& memory, const Rows& rows, int64_t n,
                              bool ascending, int threads, const BlockCost& cost, std::vector<std::vector<Run>> runs) {
  BlockSchedule made;
  if (cost.level_row > 0) {
    int64_t alike = 0;
    for (const auto& of_part : runs) alike += rows_alike(of_part);
    if (schedule_row_levels<Dev, I>(queue, memory, rows, n, ascending, threads, cost, alike, made)) return made;
  }
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
  int64_t alike = 0;  // rows that one thread solves several at a time
  for (const BlockPart& part : parts) alike += rows_alike(part.runs);
  if (threads < least_threads_by_levels && !long_blocks && 2 * alike <= n && rows.ascending() &&
      seldom_waits(rows, n, ascending, threads, in_turn)) {
    made.threads = threads;
    made.steps_in_turn = in_turn;
    return made;
  }
  int64_t lone_work = 0, alone = 0;
  for (const BlockPart& part : parts) {
    lone_work += part.lone_work;
    alone += part.all_work;
  }
  const int64_t block_work =
      cost.place + std::min(cost.entries, lone_work / std::max<int64_t>(1, static_cast<int64_t>(count_of_blocks)));
  const bool dear =
      !long_blocks && 7 * (alone + static_cast<int64_t>(count_of_blocks) * block_work) >= 6 * alone * threads;
  const bool may_own = !long_blocks && threads <= most_own_parts && !parts_reach_out(rows, n, ascending, threads);
  if (dear && !may_own) return schedule_for_one_thread(all_runs(), n);
  // Filled by all threads: their pages are new.
  const auto all_blocks = std::make_unique_for_overwrite<Block[]>(count_of_blocks);
  const auto all_work = std::make_unique_for_overwrite<int64_t[]>(count_of_blocks);
  const std::span<const Block> blocks(all_blocks.get(), count_of_blocks);
  const std::span<const int64_t> work(all_work.get(), count_of_blocks);
  host_parts<Dev>(queue, std::ssize(parts), [&](int64_t p) {
    size_t at = 0;
    int64_t runs_before = 0;
    for (int64_t other = 0; other < p; ++other) {
      at += parts[static_cast<size_t>(other)].blocks.size();
      runs_before += std::ssize(parts[static_cast<size_t>(other)].runs);
    }
    const BlockPart& part = parts[static_cast<size_t>(p)];
    std::copy(part.work.begin(), part.work.end(), all_work.get() + at);
    for (const Block& block : part.blocks) all_blocks[at++] = {block.first, block.count, block.run + runs_before};
  });
  std::vector<I> block_level(blocks.size(), I{-1});
  std::vector<int64_t> own_begins;  // where each thread's part of level 0 begins, if it is not dealt by work
  int64_t own_work = 0;             // the most that one has there
  const auto find_all_needed = [&] {
    const BlockFinder finder(blocks, n);
    host_parts_checked<Dev>(queue, static_cast<int64_t>(parts.size()), [&](int64_t i) {
      find_needed(rows, n, ascending, blocks, finder, parts[static_cast<size_t>(i)]);
    });
  };
  if (long_blocks) {
    find_all_needed();
    find_levels_of_needed(parts, block_level);
  } else {
    const Buffer row_level(memory, Space::host, static_cast<size_t>(n) * sizeof(I));
    std::fill(row_level.as<I>(), row_level.as<I>() + n, I{0});
    BlockDomains<I, Rows> domains(rows, n, ascending, blocks, work, row_level.as<I>(), block_level);
    if (may_own && domains.template find<Dev>(queue, threads, block_work)) {
      own_begins = domains.begins();
      own_work = domains.most_work();
    } else if (dear) {
      return schedule_for_one_thread(all_runs(), n);
    }
    BlockLevels<I, Rows> finder(rows, n, ascending, blocks, row_level.as<I>(), block_level);
    finder.template find<Dev>(queue, threads);
  }
  made.runs = all_runs();
  I count = 0;
  for (const I level : block_level) count = std::max<I>(count, static_cast<I>(level + 1));
  made.blocks = static_cast<int64_t>(blocks.size());
  made.levels = count;
  made.threads = threads;
  made.shares.resize(static_cast<size_t>(threads));

  const auto order = std::make_unique_for_overwrite<int64_t[]>(blocks.size());
  std::vector<int64_t> starts(static_cast<size_t>(count) + 1);
  const int64_t sorts = std::clamp<int64_t>(made.blocks / 4096, 1, threads);
  const auto first_sorted = [&](int64_t part) { return part_begin(made.blocks, sorts, part); };
  host_bucket<Dev>(queue, block_level.data(), 0, count, sorts, starts.data(), first_sorted,
                   [&](int64_t part, const auto& next) {
                     for (int64_t i = first_sorted(part); i < first_sorted(part + 1); ++i)
                       order[static_cast<size_t>(next(i))] = i;
                   });
  const auto work_before = std::make_unique_for_overwrite<int64_t[]>(blocks.size() + 1);  // in this order
  work_before[0] = 0;
  host_parts<Dev>(queue, threads, [&](int64_t part) {
    for (int64_t i = part_begin(made.blocks, threads, part), end = part_begin(made.blocks, threads, part + 1); i < end;
         ++i)
      work_before[static_cast<size_t>(i) + 1] = work[static_cast<size_t>(order[static_cast<size_t>(i)])];
  });
  std::partial_sum(work_before.get(), work_before.get() + blocks.size() + 1, work_before.get());
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
  // Of short blocks less comes true than the estimate says.
  if (long_blocks ? shared >= alone : 5 * shared >= 4 * alone) {
    BlockSchedule one = schedule_for_one_thread(std::move(made.runs), n);
    one.levels = count;
    return one;
  }
  made.phases = static_cast<int64_t>(phases.size());
  // Looking at the flags of many others takes longest where short blocks lie one behind the other.
  const bool lists_waits = long_blocks || (threads >= least_threads_by_levels && cost.entries == 0 &&
                                           2 * made.phases * phase_work(threads) >= shared);
  if (lists_waits && !long_blocks) find_all_needed();
  for (const Phase& phase : phases) {
    if (phase.serial) std::sort(order.get() + phase.begin, order.get() + phase.end);  // as the rows lie
    for (int64_t i = phase.begin; (phase.serial || phase.own) && i < phase.end; ++i)
      (phase.own ? made.own_rows : made.serial_rows) +=
          blocks[static_cast<size_t>(order[static_cast<size_t>(i)])].count;
  }
  std::vector<BlockOwner> owners(lists_waits ? blocks.size() : 0);
  // A level's blocks are shared by where the middle of their work lies.
  const auto first_of = [&](const Phase& phase, int64_t thread) {
    if (phase.serial) return thread == 0 ? phase.begin : phase.end;
    if (phase.own)
      return static_cast<int64_t>(
          std::lower_bound(order.get(), order.get() + phase.end, own_begins[static_cast<size_t>(thread)]) -
          order.get());
    if (thread == threads) return phase.end;
    int64_t low = phase.begin, high = phase.end;
    while (low < high) {
      const int64_t i = low + (high - low) / 2;
      const int64_t before = work_before[static_cast<size_t>(i)], after = work_before[static_cast<size_t>(i) + 1],
                    done = before - work_before[static_cast<size_t>(phase.begin)];
      if ((done + (after - before) / 2) * threads / phase.work < thread)
        low = i + 1;
      else
        high = i;
    }
    return low;
  };
  host_parts_checked<Dev>(queue, threads, [&](int64_t thread) {
    auto& share = made.shares[static_cast<size_t>(thread)];
    share.blocks.reserve(2 * blocks.size() / static_cast<size_t>(threads));
    for (const Phase& phase : phases) {
      const auto phase_begin = share.blocks.size();
      for (int64_t i = first_of(phase, thread), end = first_of(phase, thread + 1); i < end; ++i) {
        const auto at = static_cast<size_t>(order[static_cast<size_t>(i)]);
        if (lists_waits) owners[at] = {static_cast<int32_t>(thread), static_cast<int32_t>(share.ends.size())};
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
  if (lists_waits) {
    const NeededBlocks needed(parts);
    host_parts_checked<Dev>(queue, threads, [&](int64_t thread) {
      const auto blocks_of = [&](int64_t p, const auto& f) {
        const Phase& phase = phases[static_cast<size_t>(p)];
        for (int64_t i = first_of(phase, thread), end = first_of(phase, thread + 1); i < end; ++i)
          f(order[static_cast<size_t>(i)]);
      };
      find_waits(needed, owners, static_cast<int32_t>(thread), threads, made.phases, blocks_of,
                 made.shares[static_cast<size_t>(thread)]);
    });
  }
  made.find_next();
  return made;
}

}  // namespace kkc::levels
