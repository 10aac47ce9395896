// levels: work of host threads on the rows of a triangle, with few waits. Runs of neighbouring rows become blocks where
// each row depends on the one before it (a chain would gain nothing from more threads, and its rows are read as they
// lie); blocks get levels; a level's blocks are dealt to threads by work, and runs of levels with too little work go to
// one thread without a wait in between (the aims of Böhnlein, Papp, Steiner, Yzelman, "Efficient parallel scheduling
// for sparse triangular solvers", arXiv 2503.05408; by levels instead of by growing). Threads wait for flags of the
// others, not at barriers (Park, Smelyanskiy, Sundaram, Dubey, "Sparsifying synchronization for high-performance
// shared-memory sparse triangular solver", ISC'14).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "core/memory.hpp"
#include "device/host_team.hpp"

namespace kkc::levels {

/// Rows are numbered in the order of a sequential solve: step s is row s, or row rows - 1 - s when they descend.
struct Block {
  int64_t first, count;  // steps
};

struct BlockSchedule {
  int threads = 1;
  int64_t blocks = 0, levels = 0, phases = 0;
  int64_t serial_rows = 0;  // in phases of one thread
  /// Of each thread: its blocks in order; phase p is those from ends[p - 1] to before ends[p].
  struct Share {
    std::vector<Block> blocks;
    std::vector<int64_t> ends;
    /// The first phase from p on with blocks; phases when there is none.
    std::vector<int32_t> next;
    int64_t begin(int64_t phase) const { return phase == 0 ? 0 : ends[static_cast<size_t>(phase) - 1]; }
    int64_t end(int64_t phase) const { return ends[static_cast<size_t>(phase)]; }
  };
  std::vector<Share> shares;
};

/// What a row costs beside its entries, in entries; what a phase must hold for more than one thread.
inline constexpr int64_t row_work = 4, least_phase_work = 3000;
inline constexpr int64_t most_block_rows = 128, most_block_work = 8192;

/// Gives the core away when the wait is long: what is waited for may not have one.
template <class Reached>
void wait_until(const Reached& reached) {
  for (int turns = 0; !reached(); ++turns) {
    if (turns < 4000) {
#if defined(__x86_64__)
      _mm_pause();
#endif
    } else {
      std::this_thread::yield();
    }
  }
}

/// Blocks of steps begin..end-1 and what they cost. rows: as for schedule_blocks.
template <class Rows>
void cut_blocks(const Rows& rows, int64_t n, bool ascending, int64_t begin, int64_t end, std::vector<Block>& blocks,
                std::vector<int64_t>& work) {
  const auto row_of = [&](int64_t step) { return ascending ? step : n - 1 - step; };
  for (int64_t step = begin; step < end;) {
    const int64_t first = step;
    int64_t sum = 0;
    for (;;) {
      const int64_t row = row_of(step);
      sum += rows.end(row) - rows.begin(row) + row_work;
      if (++step >= end || step - first >= most_block_rows || sum >= most_block_work) break;
      // Rows are mostly sorted, so that the neighbour is at one end.
      const int64_t next = row_of(step), from = rows.begin(next), to = rows.end(next);
      if (from >= to || (rows.column(ascending ? to - 1 : from) != row)) break;
    }
    blocks.push_back({first, step - first});
    work.push_back(sum);
  }
}

/// A level for each block, from those of the rows it depends on. By one thread: neighbouring blocks mostly depend on
/// each other, and a thread that waits for every other block waits long where the other one's core is busy.
template <class I, class Rows>
void find_block_levels(const Rows& rows, int64_t n, bool ascending, const std::vector<Block>& blocks, I* row_level,
                       std::vector<I>& block_level) {
  const auto row_of = [&](int64_t step) { return ascending ? step : n - 1 - step; };
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Block block = blocks[i];
    const int64_t first_row = row_of(block.first);
    I level = 0;
    for (int64_t step = block.first; step < block.first + block.count; ++step) {
      const int64_t row = row_of(step), end = rows.end(row);
      for (int64_t p = rows.begin(row); p < end; ++p) {
        const int64_t column = rows.column(p);
        const bool outside = ascending ? column < first_row : column > first_row;
        // Inside the block anything may stand there.
        const I after = static_cast<I>(row_level[column] + 1);
        level = std::max(level, outside ? after : I{0});
      }
    }
    for (int64_t step = block.first; step < block.first + block.count; ++step) row_level[row_of(step)] = level;
    block_level[i] = level;
  }
}

/// rows: rows.begin(row), rows.end(row), rows.column(entry) of those that a row depends on; solved in order of steps.
/// memory: for what is needed on the way.
template <class Dev, class I, class Rows>
BlockSchedule schedule_blocks(Queue& queue, const std::shared_ptr<const Memory>& memory, const Rows& rows, int64_t n,
                              bool ascending, int threads) {
  BlockSchedule made;
  const Buffer row_level(memory, Space::host, static_cast<size_t>(n) * sizeof(I));
  std::vector<std::vector<Block>> part_blocks(static_cast<size_t>(threads));
  std::vector<std::vector<int64_t>> part_work(static_cast<size_t>(threads));
  host_parts_checked<Dev>(queue, threads, [&](int64_t part) {
    const int64_t begin = part_begin(n, threads, part), end = part_begin(n, threads, part + 1);
    std::fill(row_level.as<I>() + begin, row_level.as<I>() + end, I{0});
    cut_blocks(rows, n, ascending, begin, end, part_blocks[static_cast<size_t>(part)],
               part_work[static_cast<size_t>(part)]);
  });
  std::vector<Block> blocks = std::move(part_blocks[0]);
  std::vector<int64_t> work = std::move(part_work[0]);
  for (size_t part = 1; part < part_blocks.size(); ++part) {
    blocks.insert(blocks.end(), part_blocks[part].begin(), part_blocks[part].end());
    work.insert(work.end(), part_work[part].begin(), part_work[part].end());
  }
  std::vector<I> block_level(blocks.size());
  find_block_levels(rows, n, ascending, blocks, row_level.as<I>(), block_level);
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

  const auto close_phase = [&] {
    for (auto& share : made.shares) share.ends.push_back(static_cast<int64_t>(share.blocks.size()));
    ++made.phases;
  };
  const auto give = [&](int thread, int64_t i) {
    auto& list = made.shares[static_cast<size_t>(thread)].blocks;
    const Block& block = blocks[static_cast<size_t>(i)];
    // Neighbours in one phase are one block.
    const auto& ends = made.shares[static_cast<size_t>(thread)].ends;
    const auto phase_begin = ends.empty() ? int64_t{0} : ends.back();
    if (static_cast<int64_t>(list.size()) > phase_begin && list.back().first + list.back().count == block.first)
      list.back().count += block.count;
    else
      list.push_back(block);
  };
  for (int64_t l = 0; l < count;) {
    const auto level_work = [&](int64_t level) {
      int64_t sum = 0;
      for (int64_t i = starts[static_cast<size_t>(level)]; i < starts[static_cast<size_t>(level) + 1]; ++i)
        sum += work[static_cast<size_t>(order[static_cast<size_t>(i)])];
      return sum;
    };
    const auto narrow = [&](int64_t level, int64_t sum) {
      const int64_t width = starts[static_cast<size_t>(level) + 1] - starts[static_cast<size_t>(level)];
      return threads == 1 || width == 1 || sum < least_phase_work;
    };
    int64_t sum = level_work(l), end = l;
    while (end < count && narrow(end, sum))
      if (++end < count) sum = level_work(end);
    if (end > l) {
      const auto from = order.begin() + starts[static_cast<size_t>(l)],
                 to = order.begin() + starts[static_cast<size_t>(end)];
      std::sort(from, to);  // as the rows lie
      for (auto i = from; i != to; ++i) {
        give(0, *i);
        made.serial_rows += blocks[static_cast<size_t>(*i)].count;
      }
      close_phase();
      l = end;
      continue;
    }
    int64_t done = 0;
    for (int64_t i = starts[static_cast<size_t>(l)]; i < starts[static_cast<size_t>(l) + 1]; ++i) {
      const int64_t block = order[static_cast<size_t>(i)], mine = work[static_cast<size_t>(block)];
      give(static_cast<int>(std::min<int64_t>(threads - 1, (done + mine / 2) * threads / sum)), block);
      done += mine;
    }
    close_phase();
    ++l;
  }
  for (auto& share : made.shares) {
    share.next.assign(static_cast<size_t>(made.phases) + 1, static_cast<int32_t>(made.phases));
    for (int64_t p = made.phases - 1; p >= 0; --p)
      share.next[static_cast<size_t>(p)] =
          share.end(p) > share.begin(p) ? static_cast<int32_t>(p) : share.next[static_cast<size_t>(p) + 1];
  }
  return made;
}

/// Threads of one schedule wait for one another here.
class BlockRunner {
 public:
  explicit BlockRunner(int threads) : flags_(static_cast<size_t>(threads)) {}

  /// f(thread, phase) for all phases with blocks; a thread begins one when the others have ended those before it. Not
  /// for two calls at a time. f must not throw.
  template <class Dev, class F>
  void run(Queue& queue, const BlockSchedule& schedule, F&& f) {
    base_ += schedule.phases + 1;
    const int64_t base = base_;
    const auto work = [&](int thread) {
      const auto& mine = schedule.shares[static_cast<size_t>(thread)];
      int64_t phase = mine.next[0];
      flag(thread).store(base + phase, std::memory_order_release);
      while (phase < schedule.phases) {
        for (int other = 0; other < schedule.threads; ++other)
          if (other != thread) wait(flag(other), base + phase);
        f(thread, phase);
        phase = mine.next[static_cast<size_t>(phase) + 1];
        flag(thread).store(base + phase, std::memory_order_release);
      }
    };
    if (schedule.threads > 1 && host_team<Dev>(queue, schedule.threads, work)) return;
    for (int64_t phase = 0; phase < schedule.phases; ++phase)
      for (int thread = 0; thread < schedule.threads; ++thread)
        if (const auto& share = schedule.shares[static_cast<size_t>(thread)]; share.end(phase) > share.begin(phase))
          f(thread, phase);
  }

 private:
  struct alignas(128) Flag {
    std::atomic<int64_t> value{0};
  };
  std::atomic<int64_t>& flag(int thread) { return flags_[static_cast<size_t>(thread)].value; }

  static void wait(const std::atomic<int64_t>& flag, int64_t reached) {
    wait_until([&] { return flag.load(std::memory_order_acquire) >= reached; });
  }

  std::vector<Flag> flags_;
  int64_t base_ = 0;
};

}  // namespace kkc::levels
