// List scheduling of rows in their own order: each row goes to the thread that is likely to finish it first, as the
// rows before it were dealt (the earliest finish time of Topcuoglu, Hariri, Wu, "Performance-effective and
// low-complexity task scheduling for heterogeneous computing", IEEE TPDS 13(3), 2002, without its ranks: in their own
// order rows lie near those that they need, and memory is read forwards).
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "ilu_host_schedule.hpp"

namespace kkc::ilu {

template <class I, class O>
class HostList {
 public:
  HostList(const LowerRows<I, O>& lower, int64_t threads, RowCost cost)
      : lower_(lower),
        cost_{fixed(cost.row), fixed(cost.needed)},
        threads_(static_cast<size_t>(threads)),
        thread_bits_(std::bit_width(threads_ - 1)),
        lanes_(threads_),
        free_(threads_, 0),
        known_(threads_ * threads_, 0),
        made_(threads_) {
    const double mean = cost.row + cost.needed * needed_in_the_mean();
    most_rows_ = std::clamp(static_cast<int32_t>(longest_granule / mean), 1, 64);
    for (size_t t = 0; t < threads_; ++t) known_[t * threads_ + t] = std::numeric_limits<int32_t>::max();
    granule_of_.resize(static_cast<size_t>(lower.rows));
    last_.assign(threads_, -1);
    needed_.resize(threads_ + 1);
    for (int64_t i = 0; i < lower.rows; ++i) deal(i);
  }

  /// Time that the threads work over the time that they take.
  double efficiency() const {
    const int64_t last = *std::max_element(free_.begin(), free_.end());
    return last > 0 ? static_cast<double>(work_) / (static_cast<double>(last) * static_cast<double>(threads_)) : 1;
  }
  HostSchedule schedule() && {
    for (HostSchedule::Lane& lane : made_) {
      lane.granules.shrink_to_fit();
      lane.waits.shrink_to_fit();
    }
    const double found = efficiency();
    return HostSchedule(lower_.rows, std::move(made_), found, "rows to the thread that finishes them first");
  }

 private:
  // Nanoseconds. What other threads have finished is seen after 60 to 300, and their numbers are not in the own cache:
  // counted twice, so that neighbouring rows stay together.
  static constexpr double hop_cost = 500, longest_granule = 8192;

  static int64_t fixed(double nanoseconds) { return static_cast<int64_t>(16 * nanoseconds); }

  struct Place {
    int32_t thread, granule;
  };
  struct Cost {  // fixed()
    int64_t row, needed;
  };
  struct Lane {
    std::vector<int64_t> ends;  // of its granules, fixed()
    int64_t next = -1;          // the row that the last granule takes, if the thread is given that
  };

  double needed_in_the_mean() const {
    int64_t all = 0;
    const int64_t step = 1 | (lower_.rows / 4096);  // odd: rows at multiples of powers of two may be special
    for (int64_t i = 0; i < lower_.rows; i += step) all += lower_.diagonal[i] - lower_.offsets[i];
    return static_cast<double>(all) * static_cast<double>(step) /
           static_cast<double>(std::max<int64_t>(1, lower_.rows));
  }

  void deal(int64_t i) {
    constexpr int64_t ahead = 8;  // rows: where those lie that they need comes in no order
    if (i + ahead < lower_.rows)
      for (O p = lower_.offsets[i + ahead]; p < lower_.diagonal[i + ahead]; ++p)
        __builtin_prefetch(granule_of_.data() + lower_.indices[p]);
    // The last granule of each thread that the row needs is also the latest. Without branches: nothing foretells them.
    const O begin = lower_.offsets[i], end = lower_.diagonal[i];
    size_t count = 0;
    for (O p = begin; p < end; ++p) {
      const Place needed = granule_of_[static_cast<size_t>(lower_.indices[p])];
      int32_t& last = last_[static_cast<size_t>(needed.thread)];
      needed_[count] = needed.thread;
      count += last < 0;
      last = std::max(last, needed.granule);
    }
    const size_t owner = first_to_start(i, count);
    Lane& lane = lanes_[owner];
    HostSchedule::Lane& made = made_[owner];
    int32_t* const known = known_.data() + owner * threads_;
    const int64_t next = lane.next;
    bool waits = false;
    for (size_t k = 0; k < count; ++k) {
      const auto u = static_cast<size_t>(needed_[k]);
      const int32_t last = last_[u];
      if (static_cast<size_t>(last) + 1 == lanes_[u].ends.size()) lanes_[u].next = -1;
      waits |= last >= known[u];
    }
    const auto granule = static_cast<int32_t>(lane.ends.size());
    if (waits || next != i || made.granules.back().rows == most_rows_) {
      if (waits)
        for (size_t k = 0; k < count; ++k) {
          const auto u = static_cast<size_t>(needed_[k]);
          if (last_[u] < known[u]) continue;
          known[u] = last_[u] + 1;
          made.waits.push_back({granule, static_cast<int32_t>(u), known[u]});
        }
      made.granules.push_back({static_cast<int32_t>(i), 0});
      lane.ends.push_back(0);
    }
    for (size_t k = 0; k < count; ++k) last_[static_cast<size_t>(needed_[k])] = -1;
    ++made.granules.back().rows;
    lane.next = i + 1;
    const int64_t cost = cost_.row + cost_.needed * static_cast<int64_t>(end - begin);
    free_[owner] = start_ + cost;
    lane.ends.back() = free_[owner];
    work_ += cost;
    granule_of_[static_cast<size_t>(i)] = {static_cast<int32_t>(owner), static_cast<int32_t>(lane.ends.size() - 1)};
  }

  /// The thread that can begin row i first, less what it would idle until then; sets start_. Where what the row needs
  /// is long there, that of the row before, whose granule has room: neighbours share lines of memory.
  size_t first_to_start(int64_t i, size_t count) {
    // When what a thread must wait for is there: the latest of all threads', and without it for its own. Numbers of
    // threads stand below times.
    int64_t latest = 0, second = 0;
    for (size_t k = 0; k < count; ++k) {
      const auto u = static_cast<size_t>(needed_[k]);
      const int64_t there =
          (lanes_[u].ends[static_cast<size_t>(last_[u])] + fixed(hop_cost)) << thread_bits_ | static_cast<int64_t>(u);
      second = std::max(second, std::min(latest, there));
      latest = std::max(latest, there);
    }
    const auto latest_of = static_cast<size_t>(latest & ((int64_t{1} << thread_bits_) - 1));
    latest >>= thread_bits_;
    second >>= thread_bits_;
    int64_t least = std::numeric_limits<int64_t>::max();
    const int64_t* const free = free_.data();
    if (i > 0) {
      const auto before = static_cast<size_t>(granule_of_[static_cast<size_t>(i - 1)].thread);
      if (lanes_[before].next == i && made_[before].granules.back().rows < most_rows_ && latest <= free[before] &&
          free[before] <= *std::min_element(free_.begin(), free_.end()) + fixed(longest_granule)) {
        start_ = free[before];
        return before;
      }
    }
    for (size_t t = 0; t < threads_; ++t) {
      const int64_t start = std::max(free[t], latest);
      least = std::min(least, (2 * start - free[t]) << thread_bits_ | static_cast<int64_t>(t));
    }
    if (count > 0) {
      const int64_t start = std::max(free[latest_of], second);
      least = std::min(least, (2 * start - free[latest_of]) << thread_bits_ | static_cast<int64_t>(latest_of));
    }
    const auto best = static_cast<size_t>(least & ((int64_t{1} << thread_bits_) - 1));
    start_ = std::max(free[best], count > 0 && best == latest_of ? second : latest);
    return best;
  }

  LowerRows<I, O> lower_;
  Cost cost_;
  size_t threads_;
  int thread_bits_;
  int32_t most_rows_ = 1;
  std::vector<Lane> lanes_;
  std::vector<int64_t> free_;   // when each thread has done what it has
  std::vector<int32_t> known_;  // of each thread, granules that each must have finished before its last
  std::vector<HostSchedule::Lane> made_;
  std::vector<Place> granule_of_;  // of each row
  std::vector<int32_t> last_;      // granule of each thread that the row at hand needs, or -1
  std::vector<int32_t> needed_;    // threads that have any
  int64_t start_ = 0, work_ = 0;
};

}  // namespace kkc::ilu
