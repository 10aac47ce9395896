// Order and threads of rows that depend on earlier rows, on hosts. Rows come in granules; every thread takes its own in
// a fixed order and, before one, waits until other threads have finished those that its rows need: point-to-point
// instead of barriers (Park, Smelyanskiy, Sundaram, Dubey, "Sparsifying synchronization for high-performance
// shared-memory sparse triangular solver", ISC 2014). Blocks of neighbouring rows that begin where a row needs only
// distant ones, e.g. lines and planes of grids, are dealt to threads in turn: their neighbours follow one another like
// waves. Where there are no such rows, levels are dealt.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "device/host_team.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace kkc::ilu {

class HostSchedule {
 public:
  HostSchedule() = default;

  /// One thread takes all rows in their own order.
  explicit HostSchedule(int64_t rows) : threads_(1), granules_{0, rows}, why_("one thread") {}

  int64_t threads() const { return threads_; }
  const std::string& why() const { return why_; }
  int64_t granules() const { return static_cast<int64_t>(granules_.size()) - 1; }
  int64_t waits() const { return static_cast<int64_t>(waits_.size()); }
  /// Time of the threads over the time that they work, as estimated.
  double efficiency() const { return efficiency_; }
  int64_t bytes() const {
    return static_cast<int64_t>(granules_.size() * sizeof(int64_t) + lane_.size() * sizeof(int32_t) +
                                sequence_.size() * sizeof(int32_t) + first_wait_.size() * sizeof(int64_t) +
                                waits_.size() * sizeof(Wait) + order_.size() * sizeof(int64_t));
  }

  /// Calls f(thread, row) for every row after those that it needs, from `threads()` threads. f does not throw.
  template <class F>
  void run(Queue& queue, F&& f) const {
    if (threads_ > 1) {
      for (int64_t t = 0; t < threads_; ++t) progress_[static_cast<size_t>(t)].done.store(0, std::memory_order_relaxed);
      if (host_team<Host>(queue, static_cast<int>(threads_), [&](int t) { run_lane(t, f); })) return;
    }
    run_all(f);
  }

 private:
  struct Wait {
    int32_t thread;
    int32_t done;  // granules that the thread must have finished
  };
  struct alignas(128) Progress {
    std::atomic<int32_t> done{0};
  };

  template <class F>
  void run_granule(int64_t thread, int64_t granule, F&& f) const {
    const int64_t begin = granules_[static_cast<size_t>(granule)], end = granules_[static_cast<size_t>(granule) + 1];
    if (order_.empty())
      for (int64_t row = begin; row < end; ++row) f(thread, row);
    else
      for (int64_t k = begin; k < end; ++k) f(thread, order_[static_cast<size_t>(k)]);
  }

  template <class F>
  void run_all(F&& f) const {
    for (int64_t granule = 0; granule < granules(); ++granule) run_granule(0, granule, f);
  }

  template <class F>
  void run_lane(int64_t thread, F&& f) const {
    auto& done = progress_[static_cast<size_t>(thread)].done;
    int32_t finished = 0;
    for (int32_t s = lane_[static_cast<size_t>(thread)]; s < lane_[static_cast<size_t>(thread) + 1]; ++s) {
      const auto granule = static_cast<size_t>(sequence_[static_cast<size_t>(s)]);
      for (int64_t w = first_wait_[granule]; w < first_wait_[granule + 1]; ++w) await(waits_[static_cast<size_t>(w)]);
      run_granule(thread, static_cast<int64_t>(granule), f);
      done.store(++finished, std::memory_order_release);
    }
  }

  void await(const Wait& wait) const {
    const auto& done = progress_[static_cast<size_t>(wait.thread)].done;
    for (int tries = 0; done.load(std::memory_order_acquire) < wait.done; ++tries) {
      if (tries > 256) std::this_thread::yield();  // more threads than cores
#if defined(__SSE2__)
      _mm_pause();
#endif
    }
  }

  friend class HostScheduler;

  int64_t threads_ = 1;
  std::vector<int64_t> granules_{0};      // first row (or place in order_) of each, and the end
  std::vector<int32_t> owner_;            // thread of each granule
  std::vector<int32_t> lane_, sequence_;  // each thread's granules
  std::vector<int64_t> first_wait_;       // of each granule
  std::vector<Wait> waits_;
  std::vector<int64_t> order_;  // rows by level; empty: their own order
  double efficiency_ = 1;
  std::string why_;
  std::unique_ptr<Progress[]> progress_;
};

}  // namespace kkc::ilu
