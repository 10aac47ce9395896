// levels: blocks of few rows that need nobody outside of their own part of the triangle. In an order of nested
// dissection these are whole subtrees, nearly all of the work, and each thread solves its own as they lie, without a
// wait (subtrees to processes: George, Liu, Ng, "Communication results for parallel sparse Cholesky factorization on a
// hypercube", Parallel Computing 10(3), 1989); levels are left to the rest.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "device/host_parallel.hpp"
#include "ops/levels/levels_host_block_levels.hpp"

namespace kkc::levels {

template <class I, class Rows>
class BlockDomains {
 public:
  /// row_level: n zeros. block_level: all negative. Both as BlockLevels has them.
  BlockDomains(const Rows& rows, int64_t n, bool ascending, std::span<const Block> blocks,
               std::span<const int64_t> work, I* row_level, std::vector<I>& block_level)
      : rows_(rows),
        n_(n),
        ascending_(ascending),
        blocks_(blocks),
        work_(work),
        row_level_(row_level),
        block_level_(block_level) {}

  /// Whether each of `threads` threads should solve such blocks of its own part, rather than all share them by work
  /// when beginning a block elsewhere costs block_work. Then they get level 0, their rows 1; else nothing is changed.
  template <class Dev>
  bool find(Queue& queue, int threads, int64_t block_work) {
    begins_ = parts_by_work(work_, threads);
    found_.assign(static_cast<size_t>(threads), {});
    few_ = false;
    const auto each_part = [&](const auto& f) {
      host_parts<Dev>(queue, threads, [&](int64_t part) { f(static_cast<size_t>(part)); });
    };
    each_part([&](size_t part) { find_part(part); });
    int64_t shared = 0;
    for (const Found& found : found_) shared += found.work + found.blocks * block_work;
    if (!few_ && most_work() * threads <= shared) return true;
    each_part([&](size_t part) {
      for (int64_t i = begins_[part]; i < begins_[part + 1]; ++i) {
        set_rows(i, 0);
        block_level_[static_cast<size_t>(i)] = -1;
      }
    });
    return false;
  }

  /// The first block of each part, and the end of the last.
  const std::vector<int64_t>& begins() const { return begins_; }
  /// The work of the part that has most in such blocks.
  int64_t most_work() const {
    int64_t most = 0;
    for (const Found& found : found_) most = std::max(most, found.work);
    return most;
  }

 private:
  struct alignas(64) Found {
    int64_t work = 0, blocks = 0;
  };

  int64_t row_of(int64_t step) const { return ascending_ ? step : n_ - 1 - step; }  // and the step of a row

  void find_part(size_t part) {
    const int64_t first = begins_[part], last = begins_[part + 1];
    int64_t all = 0, looked = 0;
    for (int64_t i = first; i < last; ++i) all += work_[static_cast<size_t>(i)];
    const int64_t first_look = all / 8;
    Found found;
    for (int64_t i = first; i < last && !few_.load(std::memory_order_relaxed); ++i) {
      const int64_t work = work_[static_cast<size_t>(i)];
      if (needs_none_before(i, blocks_[static_cast<size_t>(first)].first)) {
        found.work += work;
        ++found.blocks;
      }
      looked += work;
      // Where a part begins with rows that need the part before, most of it does.
      if (looked >= first_look && looked - work < first_look && found.work * 2 < looked) few_ = true;
    }
    found_[part] = found;
  }

  /// Whether the block needs only its own rows and such as have level 1, from step `first` on; gives it that level.
  bool needs_none_before(int64_t i, int64_t first) {
    const Block& block = blocks_[static_cast<size_t>(i)];
    for (int64_t step = block.first; step < block.first + block.count; ++step) {
      const int64_t row = row_of(step), end = rows_.end(row);
      for (int64_t p = rows_.begin(row); p < end; ++p) {
        const int64_t column = rows_.column(p);
        if (row_of(column) >= first && row_level_[column] == 1) continue;
        set_rows(i, 0);
        return false;
      }
      row_level_[row] = 1;
    }
    block_level_[static_cast<size_t>(i)] = 0;
    return true;
  }

  void set_rows(int64_t i, I level) {
    const Block& block = blocks_[static_cast<size_t>(i)];
    for (int64_t step = block.first; step < block.first + block.count; ++step) row_level_[row_of(step)] = level;
  }

  const Rows& rows_;
  int64_t n_;
  bool ascending_;
  std::span<const Block> blocks_;
  std::span<const int64_t> work_;
  I* row_level_;
  std::vector<I>& block_level_;
  std::vector<int64_t> begins_;
  std::vector<Found> found_;  // in each part
  std::atomic<bool> few_{false};
};

}  // namespace kkc::levels
