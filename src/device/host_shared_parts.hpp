// Parts of host work that threads take over from each other.
#pragma once

#include <atomic>
#include <memory>

#include "device/host_parallel.hpp"

namespace kkc {

/// More parts than threads: each thread takes those of its own block in ascending order, then what is left of others'
/// (affinity scheduling: Markatos, LeBlanc, "Using processor affinity in loop scheduling on shared-memory
/// multiprocessors", IEEE TPDS 5(4), 1994, section 3). Parts of unequal cost and threads that are held up then delay
/// nobody, and what a thread touched first it mostly gets again. One run at a time.
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
        for (int64_t i = 0; i < blocks_; ++i) {
          const int64_t block = (me + i) % blocks_, end = part_begin(parts_, blocks_, block + 1);
          std::atomic<int64_t>& next = next_[static_cast<size_t>(block)].part[set];
          while (next.load(std::memory_order_relaxed) < end) {
            const int64_t part = next.fetch_add(1, std::memory_order_relaxed);
            if (part < end) f(part);
          }
        }
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
