// levels: of blocks of few rows, by several host threads.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "device/host_team.hpp"

namespace kkc::levels {

/// Rows are numbered in the order of a sequential solve: step s is row s, or row rows - 1 - s when they descend.
struct Block {
  int64_t first, count;  // steps
  int64_t run;           // where in BlockSchedule::runs the first step lies
};

/// Blocks of one row each.
struct SingleRows {
  int64_t rows;
  int64_t size() const { return rows; }
  Block operator[](size_t i) const { return {static_cast<int64_t>(i), 1, 0}; }
};

/// Where each of `parts` parts of neighbouring blocks begins, and the last one ends: about the same work in each.
inline std::vector<int64_t> parts_by_work(std::span<const int64_t> work, int parts) {
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
/// need would be no shorter than the pattern. Threads take chunks of neighbouring blocks in turn, find the levels of
/// those that need only what is known or their own chunk (most, in an order of nested dissection), and list the others
/// with the rows whose levels are missing: those of the chunks right before. One thread finishes chunk after chunk from
/// these lists (self-executing loops after an inspector: Saltz, Mirchandaney, Crowley, "Run-time parallelization and
/// scheduling of loops", IEEE Trans. Computers 40(5), 1991, section 3).
template <class I, class Rows, class Blocks = std::span<const Block>>
class BlockLevels {
 public:
  /// row_level: n zeros, or with what BlockDomains found. block_level: written where it is negative.
  BlockLevels(const Rows& rows, int64_t n, bool ascending, Blocks blocks, I* row_level, std::vector<I>& block_level)
      : rows_(rows), n_(n), ascending_(ascending), blocks_(blocks), row_level_(row_level), block_level_(block_level) {}

  template <class Dev>
  void find(Queue& queue, int threads) {
    const int64_t count = static_cast<int64_t>(blocks_.size());
    chunk_blocks_ = std::clamp<int64_t>(count / (16 * int64_t{threads}), 64, most_blocks);
    chunks_ = (count + chunk_blocks_ - 1) / chunk_blocks_;
    ahead_ = std::min<int64_t>(chunks_, threads + 2);
    looks_ = std::make_unique_for_overwrite<Look[]>(static_cast<size_t>(ahead_));
    const auto work = [&](int thread) { thread == 0 ? finish_all() : look_at_all(); };
    if (!host_team<Dev>(queue, threads, work)) work(0);
  }

 private:
  static constexpr int64_t most_blocks = 512, most_open = 16384, piece = 64;
  static constexpr int32_t too_many = -1;

  /// What is missing of a chunk's blocks.
  struct Unfinished {
    int32_t block;  // of the chunk's
    int32_t end;    // its open rows are before it, fours of them; or too_many
    I highest;      // level of others that it needs, counted from 1; 0: none
  };
  struct alignas(128) Look {
    std::atomic<int64_t> chunk{-1};  // of which all stands here
    int64_t count;
    Unfinished unfinished[most_blocks];
    I open[most_open];  // rows
  };

  int64_t row_of(int64_t step) const { return ascending_ ? step : n_ - 1 - step; }  // and the step of a row
  int64_t begin_of(int64_t chunk) const { return chunk * chunk_blocks_; }
  int64_t end_of(int64_t chunk) const { return std::min(begin_of(chunk + 1), static_cast<int64_t>(blocks_.size())); }
  Look& look_of(int64_t chunk) { return looks_[static_cast<size_t>(chunk % ahead_)]; }

  void look_at_all() {
    for (int64_t chunk; (chunk = next_.fetch_add(1, std::memory_order_relaxed)) < chunks_;) {
      wait_until([&] { return finished_.load(std::memory_order_acquire) > chunk - ahead_; });
      look_at(chunk);
    }
  }

  void finish_all() {
    for (int64_t chunk = 0; chunk < chunks_; ++chunk) {
      const auto ready = [&] { return look_of(chunk).chunk.load(std::memory_order_acquire) == chunk; };
      wait_until([&] {
        if (ready()) return true;
        int64_t other = next_.load(std::memory_order_relaxed);
        if (other < std::min(chunks_, chunk + ahead_) &&
            next_.compare_exchange_strong(other, other + 1, std::memory_order_relaxed))
          look_at(other);
        return ready();
      });
      finish(chunk);
      finished_.store(chunk + 1, std::memory_order_release);
    }
  }

  void look_at(int64_t chunk) {
    Look& look = look_of(chunk);
    const auto first_step = [&](int64_t c) { return blocks_[static_cast<size_t>(begin_of(c))].first; };
    const int64_t known = first_step(finished_.load(std::memory_order_acquire)), own = first_step(chunk),
                  first_row = row_of(0);
    int64_t count = 0, open = 0;
    std::array<uint64_t, 1024> listed;  // an open row and its block, in a place of its own or another's
    listed.fill(~uint64_t{0});
    for (int64_t i = begin_of(chunk); i < end_of(chunk); ++i) {
      if (block_level_[static_cast<size_t>(i)] >= 0) continue;
      const Block block = blocks_[static_cast<size_t>(i)];
      const int64_t begun = open;
      I highest = 0;
      bool fits = true;
      for (int64_t step = block.first; step < block.first + block.count && fits; ++step) {
        const int64_t row = row_of(step), end = rows_.end(row);
        for (int64_t p = rows_.begin(row), stop; p < end && fits; p = stop) {
          stop = std::min(end, p + piece);
          fits = open + piece + 4 <= most_open;
          // No branches, and no look at levels that others are about to write.
          for (; fits && p < stop; ++p) {
            const int64_t column = rows_.column(p), needed = row_of(column);
            const bool may_know = needed < known || needed >= own;
            const I level = static_cast<I>(level_of(may_know ? column : first_row) & -I{may_know});
            highest = std::max(highest, level);
            const uint64_t key =
                static_cast<uint64_t>(column) * most_blocks + static_cast<uint64_t>(i - begin_of(chunk));
            uint64_t& last = listed[static_cast<size_t>(column) % listed.size()];
            const bool missing = level == 0 && needed < block.first;
            look.open[open] = static_cast<I>(column);
            open += missing && last != key;
            last = missing ? key : last;
          }
        }
      }
      if (fits && open == begun) {
        set(i, highest);
        continue;
      }
      if (!fits) open = begun;
      for (; (open - begun) % 4 != 0; ++open) look.open[open] = look.open[begun];
      look.unfinished[count++] = {static_cast<int32_t>(i - begin_of(chunk)),
                                  fits ? static_cast<int32_t>(open) : too_many, highest};
    }
    look.count = count;
    look.chunk.store(chunk, std::memory_order_release);
  }

  void finish(int64_t chunk) {
    const Look& look = look_of(chunk);
    int32_t open = 0;
    for (int64_t u = 0; u < look.count; ++u) {
      const Unfinished& at = look.unfinished[u];
      const int64_t i = begin_of(chunk) + at.block;
      if (at.end == too_many) [[unlikely]] {
        set(i, highest_of(blocks_[static_cast<size_t>(i)]));
        continue;
      }
      I level = at.highest;
      for (; open < at.end; open += 4) {
        const I* const four = look.open + open;
        level = std::max({level, level_of(four[0]), level_of(four[1]), level_of(four[2]), level_of(four[3])});
      }
      set(i, level);
    }
  }

  void set(int64_t i, I level) {
    block_level_[static_cast<size_t>(i)] = level;
    const Block block = blocks_[static_cast<size_t>(i)];
    for (int64_t step = block.first; step < block.first + block.count; ++step)
      std::atomic_ref<I>(row_level_[row_of(step)]).store(level + 1, std::memory_order_relaxed);
  }

  I highest_of(const Block& block) const {
    I highest = 0;
    for (int64_t step = block.first; step < block.first + block.count; ++step) {
      const int64_t row = row_of(step), end = rows_.end(row);
      for (int64_t p = rows_.begin(row); p < end; ++p)
        if (row_of(rows_.column(p)) < block.first) highest = std::max(highest, level_of(rows_.column(p)));
    }
    return highest;
  }

  /// A row's level, counted from 1; 0: not known yet.
  I level_of(int64_t row) const { return std::atomic_ref<I>(row_level_[row]).load(std::memory_order_relaxed); }

  const Rows& rows_;
  int64_t n_;
  bool ascending_;
  Blocks blocks_;
  I* row_level_;
  std::vector<I>& block_level_;
  int64_t chunk_blocks_ = 1, chunks_ = 0;
  int64_t ahead_ = 0;  // chunks under way at most
  std::unique_ptr<Look[]> looks_;
  std::atomic<int64_t> next_{0}, finished_{0};  // chunks
};

}  // namespace kkc::levels
