// levels: threads go through a schedule of blocks, or take steps in turn, and wait for flags of the others that they
// need, not at barriers (Park et al., as in levels_host_blocks.hpp).
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <limits>
#include <vector>

#include "device/host_team.hpp"
#include "ops/levels/levels_host_blocks.hpp"

namespace kkc::levels {

/// A BlockRunner::Turn where nothing has to be waited for.
struct NoTurn {
  static void need(int64_t) {}
  static void passed(int64_t) {}
};

/// Threads of one schedule wait for one another here.
class BlockRunner {
 public:
  explicit BlockRunner(int threads) : flags_(static_cast<size_t>(threads)) {}

  /// f(thread, phase) for all phases with blocks; a thread begins one when the others have ended those before it that
  /// it needs. Not for two calls at a time. f must not throw.
  template <class Dev, class F>
  void run(Queue& queue, const BlockSchedule& schedule, F&& f) {
    const int64_t base = base_;
    base_ += schedule.phases + 1;
    const auto work = [&](int thread) {
      const auto& mine = schedule.shares[static_cast<size_t>(thread)];
      int64_t phase = mine.next[0];
      flag(thread).store(base + phase, std::memory_order_release);
      while (phase < schedule.phases) {
        if (mine.wait_ends.empty()) {
          for (int other = 0; other < schedule.threads; ++other)
            if (other != thread) wait(flag(other), base + phase);
        } else {
          for (int64_t i = mine.waits_begin(phase); i < mine.waits_end(phase); ++i) {
            const auto& what = mine.waits[static_cast<size_t>(i)];
            wait(flag(what.thread), base + what.phase + 1);
          }
        }
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

  /// A thread's view of the others under run_in_turn.
  class Turn {
   public:
    Turn(BlockRunner& runner, int thread, int64_t base, int64_t safe)
        : runner_(runner), thread_(thread), base_(base), safe_(safe) {}
    /// Returns when all others have passed `step`.
    void need(int64_t step) {
      if (step >= safe_) safe_ = runner_.wait_for_others(thread_, base_ + step) - base_;
    }
    /// Of this thread's steps those before `step` are solved.
    void passed(int64_t step) { runner_.flag(thread_).store(base_ + step, std::memory_order_release); }

   private:
    BlockRunner& runner_;
    int thread_;
    int64_t base_, safe_;
  };

  /// f(thread, first, count, turn) for all turns of n steps; a thread's own in order. The first of the steps that are
  /// not solved needs only solved ones, so that someone always goes on. f must not throw.
  template <class Dev, class F>
  void run_in_turn(Queue& queue, const BlockSchedule& schedule, int64_t n, F&& f) {
    const int64_t each = schedule.steps_in_turn, stride = each * schedule.threads, base = base_;
    base_ += n + 2 * stride + 1;
    const auto work = [&](int thread) {
      Turn turn(*this, thread, base, 0);
      turn.passed(thread * each);
      for (int64_t first = thread * each; first < n; first += stride) {
        f(thread, first, std::min(each, n - first), turn);
        turn.passed(first + stride);
      }
      turn.passed(n + stride);
    };
    if (schedule.threads > 1 && host_team<Dev>(queue, schedule.threads, work)) return;
    Turn alone(*this, 0, base, n);
    for (int64_t first = 0; first < n; first += each)
      f(static_cast<int>(first / each % schedule.threads), first, std::min(each, n - first), alone);
  }

 private:
  /// The least of the others' flags, once it is above `passed`.
  int64_t wait_for_others(int thread, int64_t passed) {
    int64_t least = 0;
    wait_until([&] {
      least = std::numeric_limits<int64_t>::max();
      for (int other = 0; other < static_cast<int>(flags_.size()); ++other)
        if (other != thread) least = std::min(least, flag(other).load(std::memory_order_acquire));
      return least > passed;
    });
    return least;
  }

  struct alignas(128) Flag {
    std::atomic<int64_t> value{0};
  };
  std::atomic<int64_t>& flag(int thread) { return flags_[static_cast<size_t>(thread)].value; }

  static void wait(const std::atomic<int64_t>& flag, int64_t reached) {
    wait_until([&] { return flag.load(std::memory_order_acquire) >= reached; });
  }

  std::vector<Flag> flags_;
  int64_t base_ = 1;
};

}  // namespace kkc::levels
