// Running sums over blocks of work that threads take one after the other: what lies before a block is known when its
// turn comes, which is soon, for the blocks before were begun before. Sizes and results then need one pass.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>

namespace kkc::spgemm {

template <size_t n>
class Turns {
 public:
  using Sums = std::array<int64_t, n>;

  /// Waits until all blocks before have had their turn, adds to the sums, and gives what they were. False where
  /// another block has failed. Blocks must be begun in ascending order, and each take its turn once or fail.
  bool take(int64_t block, const Sums& add, Sums& before) {
    while (turn_.load(std::memory_order_acquire) != block) {
      if (failed()) return false;
      std::this_thread::yield();
    }
    before = sums_;
    for (size_t s = 0; s < n; ++s) sums_[s] += add[s];
    turn_.store(block + 1, std::memory_order_release);
    return true;
  }
  /// Nobody waits any longer.
  void fail() { failed_.store(true, std::memory_order_relaxed); }
  bool failed() const { return failed_.load(std::memory_order_relaxed); }
  /// After the last block.
  const Sums& sums() const { return sums_; }

 private:
  std::atomic<int64_t> turn_{0};
  std::atomic<bool> failed_{false};
  Sums sums_{};
};

}  // namespace kkc::spgemm
