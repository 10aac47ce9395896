// levels: neighbouring rows of a triangle in blocks, by parts that host threads make, and what blocks need.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "ops/levels/levels_host_block_levels.hpp"
#include "ops/levels/levels_host_runs.hpp"

namespace kkc::levels {

/// What a row costs beside its entries, in entries, among rows that are alike and elsewhere.
inline constexpr int64_t row_work = 4, lone_row_work = 20;
inline constexpr int64_t most_block_rows = 128, most_block_work = 8192;

/// A part's steps: runs, and blocks with what they cost. Block::run counts from the part's first.
struct BlockPart {
  std::vector<Run> runs;
  std::vector<Block> blocks;
  std::vector<int64_t> work;
  int64_t all_work = 0, lone_work = 0;  // of all rows, of those that are not alike
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
  size_t lone = part.runs.size();
  for (const Run& run : part.runs) lone += run.alike ? 0 : static_cast<size_t>(run.rows);
  part.blocks.reserve(lone);
  part.work.reserve(lone);
  bool open = false;  // the last block takes more rows
  const auto add = [&](int64_t step, int64_t count, int64_t work, int64_t run) {
    if (!open) {
      part.blocks.push_back({step, 0, run});
      part.work.push_back(0);
    }
    Block& block = part.blocks.back();
    block.count += count;
    part.work.back() += work;
    part.all_work += work;
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
  BlockFinder(std::span<const Block> blocks, int64_t steps) : blocks_(blocks) {
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
  std::span<const Block> blocks_;
  std::vector<int32_t> firsts_;  // the block of every spacing-th step
};

/// part.needed and part.ends, all blocks known. Of runs only the first row's entries are looked at.
template <class Rows>
void find_needed(const Rows& rows, int64_t n, bool ascending, std::span<const Block> blocks, const BlockFinder& finder,
                 BlockPart& part) {
  std::array<int64_t, 512> seen;  // a needed block and by which it is, in a place of its own or another's
  seen.fill(-1);
  const auto step_of = [&](int64_t row) { return ascending ? row : n - 1 - row; };  // and the row of a step
  for (const Block& block : part.blocks) {
    int64_t low = 0, high = 0;  // steps of the block that was found last
    const auto need = [&](int64_t from, int64_t to) {
      for (int64_t step = from; step < to; step = high) {
        if (step < low || step >= high) {
          const int64_t i = finder.find(step);
          low = blocks[static_cast<size_t>(i)].first;
          high = low + blocks[static_cast<size_t>(i)].count;
          int64_t& last = seen[static_cast<size_t>(i) % seen.size()];
          const int64_t now = i << 32 | std::ssize(part.ends);
          if (last != now) part.needed.push_back(static_cast<int32_t>(i));
          last = now;
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

/// Of each block what it needs, of all parts.
class NeededBlocks {
 public:
  explicit NeededBlocks(const std::vector<BlockPart>& parts) : parts_(parts) {
    int64_t blocks = 0;
    for (const BlockPart& part : parts) {
      begins_.push_back(blocks);
      blocks += std::ssize(part.blocks);
    }
  }
  std::span<const int32_t> of(int64_t block) const {
    const auto p = static_cast<size_t>(std::upper_bound(begins_.begin(), begins_.end(), block) - begins_.begin() - 1);
    const BlockPart& part = parts_[p];
    const auto at = static_cast<size_t>(block - begins_[p]);
    const int64_t begin = at == 0 ? 0 : part.ends[at - 1];
    return {part.needed.data() + begin, static_cast<size_t>(part.ends[at] - begin)};
  }

 private:
  const std::vector<BlockPart>& parts_;
  std::vector<int64_t> begins_;
};

}  // namespace kkc::levels
