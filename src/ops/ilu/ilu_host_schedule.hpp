// Order and threads of rows that depend on earlier rows, on hosts. Rows come in granules of neighbours; every thread
// takes its own in ascending order and, before one, waits until other threads have finished those that its rows need:
// point-to-point instead of barriers (Park, Smelyanskiy, Sundaram, Dubey, "Sparsifying synchronization for
// high-performance shared-memory sparse triangular solver", ISC 2014).
#pragma once

#include <algorithm>
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

/// Of a matrix with sorted rows whose row i needs row k < i where it holds (i, k): entries of row i before `diagonal`.
template <class I, class O>
struct LowerRows {
  const O *offsets, *diagonal;
  const I* indices;
  int64_t rows;
};

/// Calls f(t, q) for the entries t of one row's part and q of another's that lie in the same column.
template <class I, class O, class F>
void each_shared(const I* indices, O t, O t_end, O q, O q_end, F&& f) {
  constexpr O longer = 16;  // times as long: looked up instead of passed over
  if ((q_end - q) / longer > t_end - t) {
    for (; t < t_end && q < q_end; ++t) {
      q = static_cast<O>(std::lower_bound(indices + q, indices + q_end, indices[t]) - indices);
      if (q < q_end && indices[q] == indices[t]) f(t, q++);
    }
  } else if ((t_end - t) / longer > q_end - q) {
    for (; q < q_end && t < t_end; ++q) {
      t = static_cast<O>(std::lower_bound(indices + t, indices + t_end, indices[q]) - indices);
      if (t < t_end && indices[t] == indices[q]) f(t++, q);
    }
  } else {
    while (t < t_end && q < q_end) {
      const I a = indices[t], b = indices[q];
      if (a == b) f(t, q);
      t += a <= b;
      q += b <= a;
    }
  }
}

/// Nanoseconds, about: of a row, and of each row that it needs.
struct RowCost {
  double row = 6, needed = 2;
};

class HostSchedule {
 public:
  struct Granule {
    int32_t first, rows;
  };
  struct Wait {
    int32_t before;  // which granule of the waiting thread
    int32_t thread;  // waited for
    int32_t done;    // granules that it must have finished
  };
  struct Lane {  // of a thread
    std::vector<Granule> granules;
    std::vector<Wait> waits;  // in the order of `before`
  };

  HostSchedule() = default;

  /// One thread takes all rows.
  explicit HostSchedule(int64_t rows) : rows_(rows) {}

  HostSchedule(int64_t rows, std::vector<Lane> lanes, double efficiency, std::string why)
      : rows_(rows),
        lanes_(std::move(lanes)),
        efficiency_(efficiency),
        why_(std::move(why)),
        progress_(std::make_unique<Progress[]>(lanes_.size())) {}

  int64_t threads() const { return lanes_.empty() ? 1 : static_cast<int64_t>(lanes_.size()); }
  /// None where one thread takes all rows.
  const std::vector<Lane>& lanes() const { return lanes_; }
  const std::string& why() const { return why_; }
  int64_t granules() const {
    int64_t all = lanes_.empty();
    for (const Lane& lane : lanes_) all += static_cast<int64_t>(lane.granules.size());
    return all;
  }
  int64_t waits() const {
    int64_t all = 0;
    for (const Lane& lane : lanes_) all += static_cast<int64_t>(lane.waits.size());
    return all;
  }
  /// Time that the threads work over the time that they take, as estimated.
  double efficiency() const { return efficiency_; }
  int64_t bytes() const {
    size_t all = 0;
    for (const Lane& lane : lanes_)
      all += lane.granules.capacity() * sizeof(Granule) + lane.waits.capacity() * sizeof(Wait) + sizeof(Progress);
    return static_cast<int64_t>(all);
  }

  /// Calls f(thread, row) for every row after those that it needs, from `threads()` threads. Neither f nor fetch
  /// throws; fetch(row) is called some rows of the same thread earlier.
  template <class F, class Fetch>
  void run(Queue& queue, F&& f, Fetch&& fetch) const {
    if (threads() > 1) {
      for (size_t t = 0; t < lanes_.size(); ++t) progress_[t].done.store(0, std::memory_order_relaxed);
      if (host_team<Host>(queue, static_cast<int>(threads()), [&](int t) { run_lane(t, f, fetch); })) return;
    }
    for (int64_t row = 0; row < rows_; ++row) {
      if (row + ahead < rows_) fetch(row + ahead);
      f(0, row);
    }
  }
  template <class F>
  void run(Queue& queue, F&& f) const {
    run(queue, f, [](int64_t) {});
  }

 private:
  static constexpr int64_t ahead = 4;
  struct alignas(128) Progress {
    std::atomic<int32_t> done{0};
  };
  /// The rows of a thread, one after the other.
  class Rows {
   public:
    Rows(const Lane& lane, int64_t skipped) : granule_(lane.granules.begin()), end_(lane.granules.end()) {
      for (; skipped > 0 && any(); --skipped) next();
    }
    bool any() const { return granule_ != end_; }
    int64_t row() const { return granule_->first + at_; }
    void next() {
      if (++at_ < granule_->rows) return;
      at_ = 0;
      ++granule_;
    }

   private:
    std::vector<Granule>::const_iterator granule_, end_;
    int32_t at_ = 0;
  };

  template <class F, class Fetch>
  void run_lane(int64_t thread, F&& f, Fetch&& fetch) const {
    const Lane& lane = lanes_[static_cast<size_t>(thread)];
    Rows later(lane, ahead);
    auto& done = progress_[static_cast<size_t>(thread)].done;
    auto wait = lane.waits.begin();
    int32_t finished = 0;
    for (const Granule& granule : lane.granules) {
      for (; wait != lane.waits.end() && wait->before == finished; ++wait) await(*wait);
      for (int64_t row = granule.first, end = row + granule.rows; row < end; ++row) {
        if (later.any()) {
          fetch(later.row());
          later.next();
        }
        f(thread, row);
      }
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

  int64_t rows_ = 0;
  std::vector<Lane> lanes_;  // none: one thread
  double efficiency_ = 1;
  std::string why_ = "one thread";
  std::unique_ptr<Progress[]> progress_;
};

}  // namespace kkc::ilu
