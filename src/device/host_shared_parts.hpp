// Parts of host work that threads take over from each other.
#pragma once

#include <algorithm>
#include <atomic>
#include <memory>

#include "device/host_parallel.hpp"

namespace kkc {

/// f(part) for the parts from `next` on, below `end`, that nobody else takes.
template <class F>
void take_parts(std::atomic<int64_t>& next, int64_t end, const F& f) {
  while (next.load(std::memory_order_relaxed) < end) {
    const int64_t part = next.fetch_add(1, std::memory_order_relaxed);
    if (part < end) f(part);
  }
}

/// More parts than threads: thread `me` takes those of its own block in ascending order, then what is left of others'
/// (affinity scheduling: Markatos, LeBlanc, "Using processor affinity in loop scheduling on shared-memory
/// multiprocessors", IEEE TPDS 5(4), 1994, section 3). Parts of unequal cost and threads that are held up then delay
/// nobody, and what a thread touched first it mostly gets again. next(block), end(block): as above.
template <class Next, class End, class F>
void take_blocks(int64_t me, int64_t blocks, const Next& next, const End& end, const F& f) {
  for (int64_t i = 0; i < blocks; ++i) {
    const int64_t block = (me + i) % blocks;
    take_parts(next(block), end(block), f);
  }
}

/// Calls f(worker, item) for items 0..items-1, handed out one by one, in order; a worker is in one thread, and f may
/// throw.
template <class F>
void deal_in_order(Queue& queue, int64_t items, const F& f) {
  std::atomic<int64_t> next{0};
  host_parts_checked<Host>(queue, std::min<int64_t>(queue.concurrency(), items),
                           [&](int64_t worker) { take_parts(next, items, [&](int64_t item) { f(worker, item); }); });
}

/// The same by take_blocks(), of blocks that are the same in every call; before them `urgent` items are handed out in
/// order.
template <class F>
void deal(Queue& queue, int64_t items, int64_t urgent, const F& f) {
  constexpr int64_t most = 64;
  struct alignas(128) Next {  // processors fetch lines in pairs
    std::atomic<int64_t> item;
  };
  Next next[most], first{0};
  const int64_t workers = std::min<int64_t>(queue.concurrency(), items), blocks = std::clamp<int64_t>(workers, 1, most);
  const auto begin = [&](int64_t block) { return urgent + part_begin(items - urgent, blocks, block); };
  for (int64_t block = 0; block < blocks; ++block) next[block].item = begin(block);
  host_parts_checked<Host>(queue, workers, [&](int64_t worker) {
    const auto take = [&](int64_t item) { f(worker, item); };
    take_parts(first.item, urgent, take);
    take_blocks(
        worker, blocks, [&](int64_t block) -> auto& { return next[block].item; },
        [&](int64_t block) { return begin(block + 1); }, take);
  });
}
template <class F>
void deal(Queue& queue, int64_t items, const F& f) {
  deal(queue, items, 0, f);
}

/// Parts that are taken by take_blocks() again and again, with no more than one team's start and end. One run at a
/// time.
class SharedParts {
 public:
  SharedParts() = default;
  SharedParts(int64_t parts, int64_t threads)
      : parts_(parts), blocks_(threads < parts ? threads : parts), next_(new Next[static_cast<size_t>(blocks_)]) {
    for (int64_t b = 0; b < blocks_; ++b) reset(b, 0);
  }

  /// Calls f(part) for every part in 0..parts-1, in no order. f must not throw.
  template <class Dev, class F>
  void run([[maybe_unused]] Queue& queue, F&& f) {
    static_assert(Dev::is_host);
#ifdef _OPENMP
    if (blocks_ > 1 && omp_in_parallel() == 0) {
      const int set = set_;
      set_ = 1 - set;
#pragma omp parallel num_threads(queue.concurrency())
      {
        const int64_t me = omp_get_thread_num(), team = omp_get_num_threads();
        for (int64_t b = me; b < blocks_; b += team) reset(b, 1 - set);  // for the next run
        take_blocks(
            me, blocks_, [&](int64_t block) -> auto& { return next_[static_cast<size_t>(block)].part[set]; },
            [&](int64_t block) { return part_begin(parts_, blocks_, block + 1); }, f);
      }
      return;
    }
#endif
    for (int64_t part = 0; part < parts_; ++part) f(part);
  }

 private:
  struct alignas(64) Next {
    std::atomic<int64_t> part[2];  // of the runs of even and of odd number
  };
  void reset(int64_t block, int set) {
    next_[static_cast<size_t>(block)].part[set].store(part_begin(parts_, blocks_, block), std::memory_order_relaxed);
  }

  int64_t parts_ = 0, blocks_ = 0;
  int set_ = 0;
  std::unique_ptr<Next[]> next_;
};

}  // namespace kkc
