// levels: of blocks of few rows, by several host threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "device/host_team.hpp"

namespace kkc::levels {

/// Rows are numbered in the order of a sequential solve: step s is row s, or row rows - 1 - s when they descend.
struct Block {
  int64_t first, count;  // steps
  int64_t run;           // where in BlockSchedule::runs the first step lies
};

/// Where each of `parts` parts of neighbouring blocks begins, and the last one ends: about the same work in each.
inline std::vector<int64_t> parts_by_work(const std::vector<int64_t>& work, int parts) {
  int64_t all = 0, done = 0;
  for (const int64_t each : work) all += each;
  std::vector<int64_t> begins{0};
  for (size_t i = 0; i < work.size(); ++i) {
    while (static_cast<int>(begins.size()) < parts && done * parts >= all * static_cast<int64_t>(begins.size()))
      begins.push_back(static_cast<int64_t>(i));
    done += work[i];
  }
  begins.resize(static_cast<size_t>(parts) + 1, static_cast<int64_t>(work.size()));
  return begins;
}

/// A level for each block, from those of the rows it depends on: for blocks of few rows, of which a list of what they
/// need would be no shorter than the pattern. A level is its own flag (Liu et al., "A synchronization-free algorithm
/// for parallel sparse triangular solves", Euro-Par 2016, section 3). Each thread goes through a part of neighbouring
/// blocks of about the same work. Where one needs a level that is not known yet, and that another thread will soon come
/// to, it waits; else it leaves the block for a second pass. A factor's rows in an order of nested dissection thus keep
/// all threads busy: a part's end cuts few subtrees.
template <class I, class Rows>
class BlockLevels {
 public:
  /// row_level: n zeros, or with what BlockDomains found. block_level: written where it is negative.
  BlockLevels(const Rows& rows, int64_t n, bool ascending, const std::vector<Block>& blocks,
              const std::vector<int64_t>& work, I* row_level, std::vector<I>& block_level)
      : rows_(rows),
        n_(n),
        ascending_(ascending),
        blocks_(blocks),
        work_(work),
        row_level_(row_level),
        block_level_(block_level) {}

  template <class Dev>
  void find(Queue& queue, int threads) {
    cut(threads);
    if (host_team<Dev>(queue, threads, [&](int thread) { find_part(thread); })) return;
    cut(1);
    find_part(0);
  }

 private:
  struct alignas(128) Part {
    std::atomic<int64_t> step{0};  // those before have been looked at
    int64_t begin = 0, end = 0;    // blocks
  };

  int64_t row_of(int64_t step) const { return ascending_ ? step : n_ - 1 - step; }  // and the step of a row
  int64_t first_step(int64_t block) const {
    return block < static_cast<int64_t>(blocks_.size()) ? blocks_[static_cast<size_t>(block)].first : n_;
  }

  void cut(int threads) {
    parts_ = std::vector<Part>(static_cast<size_t>(threads));
    const std::vector<int64_t> begins = parts_by_work(work_, threads);
    for (size_t part = 0; part < parts_.size(); ++part) {
      parts_[part].begin = begins[part];
      parts_[part].end = begins[part + 1];
      parts_[part].step = first_step(begins[part]);
    }
    near_ = n_ / threads / 8;
  }

  void find_part(int thread) {
    Part& mine = parts_[static_cast<size_t>(thread)];
    for (int64_t i = mine.begin; i < mine.end; ++i) {
      if (block_level_[static_cast<size_t>(i)] < 0) find_block(i, false);
      mine.step.store(first_step(i + 1), std::memory_order_release);
    }
    for (int64_t i = mine.begin; i < mine.end; ++i)
      if (block_level_[static_cast<size_t>(i)] < 0) find_block(i, true);
  }

  /// Whether the block's level is known now.
  bool find_block(int64_t i, bool patient) {
    const Block& block = blocks_[static_cast<size_t>(i)];
    const int64_t first_row = row_of(block.first), last = block.first + block.count;
    I level = 0;
    for (int64_t step = block.first; step < last; ++step) {
      int64_t begin = rows_.begin(row_of(step)), end = rows_.end(row_of(step));
      if (rows_.ascending()) {
        // Inside the block anything may stand there.
        while (begin < end && !outside(rows_.column(ascending_ ? end - 1 : begin), first_row))
          ascending_ ? --end : ++begin;
        const I highest = highest_of(begin, end);
        level = std::max(level, highest);
        if (highest >= 0) continue;
      }
      // In the order of steps: what is waited for is what will be known first.
      for (int64_t k = 0; k < end - begin; ++k) {
        const int64_t column = rows_.column(ascending_ ? begin + k : end - 1 - k);
        if (!outside(column, first_row)) continue;
        I after = level_of(column);
        if (after == 0) after = await(column, patient);
        if (after == 0) return false;
        level = std::max(level, after);
      }
    }
    for (int64_t step = block.first; step < last; ++step)
      std::atomic_ref<I>(row_level_[row_of(step)]).store(level + 1, std::memory_order_relaxed);
    block_level_[static_cast<size_t>(i)] = level;
    return true;
  }

  bool outside(int64_t column, int64_t first_row) const { return ascending_ ? column < first_row : column > first_row; }

  /// The highest level of rows that entries need, counted from 1; 0 without entries, negative where one is not known.
  I highest_of(int64_t begin, int64_t end) const {
    using U = std::make_unsigned_t<I>;
    U most = 0;  // counted from 0: what is not known is more than all others
    for (int64_t p = begin; p < end; ++p) most = std::max(most, static_cast<U>(level_of(rows_.column(p)) - 1));
    return begin < end ? (most == ~U{0} ? I{-1} : static_cast<I>(most + 1)) : I{0};
  }

  /// A row's level, counted from 1; 0: not known yet.
  I level_of(int64_t row) const { return std::atomic_ref<I>(row_level_[row]).load(std::memory_order_relaxed); }

  /// The same when it is known; 0 when it is far off, or left for the second pass.
  I await(int64_t row, bool patient) const {
    I level = 0;
    if (patient) {
      wait_until([&] { return (level = level_of(row)) != 0; });
      return level;
    }
    const int64_t step = row_of(row);
    size_t part = 0;
    while (first_step(parts_[part].end) <= step) ++part;
    wait_until([&] {
      const int64_t reached = parts_[part].step.load(std::memory_order_acquire);
      level = level_of(row);
      return level != 0 || reached > step || step - reached > near_;
    });
    return level;
  }

  const Rows& rows_;
  int64_t n_;
  bool ascending_;
  const std::vector<Block>& blocks_;
  const std::vector<int64_t>& work_;
  I* row_level_;
  std::vector<I>& block_level_;
  std::vector<Part> parts_;
  int64_t near_ = 0;  // steps that are waited for
};

}  // namespace kkc::levels
