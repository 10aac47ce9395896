// List scheduling of rows in their own order: each row goes to the thread that is likely to finish it first, as the
// rows before it were dealt (the earliest finish time of Topcuoglu, Hariri, Wu, "Performance-effective and
// low-complexity task scheduling for heterogeneous computing", IEEE TPDS 13(3), 2002, without its ranks: in their own
// order rows lie near those that they need, and memory is read forwards).
#pragma once

#include <algorithm>
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
        cost_(cost),
        threads_(static_cast<size_t>(threads)),
        lanes_(threads_),
        free_(threads_, 0),
        made_(threads_) {
    const double mean = cost.row + cost.needed * needed_in_the_mean();
    most_rows_ = std::clamp(static_cast<int32_t>(longest_granule / mean), 1, 64);
    for (Lane& lane : lanes_) lane.known.assign(threads_, 0);
    granule_of_.resize(static_cast<size_t>(lower.rows));
    last_.assign(threads_, -1);
    for (int64_t i = 0; i < lower.rows; ++i) deal(i);
  }

  /// Time that the threads work over the time that they take.
  double efficiency() const {
    double last = 0;
    for (const double free : free_) last = std::max(last, free);
    return last > 0 ? work_ / (last * static_cast<double>(threads_)) : 1;
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

  struct Place {
    int32_t thread, granule;
  };
  struct Lane {
    std::vector<double> ends;    // of its granules
    std::vector<int32_t> known;  // granules that each thread must have finished before the last of these
    bool closed = true;          // the last granule takes no more rows
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
    // The last granule of each thread that the row needs is also the latest.
    needed_.clear();
    for (O p = lower_.offsets[i]; p < lower_.diagonal[i]; ++p) {
      const Place needed = granule_of_[static_cast<size_t>(lower_.indices[p])];
      int32_t& last = last_[static_cast<size_t>(needed.thread)];
      if (last < 0) needed_.push_back(static_cast<size_t>(needed.thread));
      last = std::max(last, needed.granule);
    }
    const size_t owner = first_to_start();
    Lane& lane = lanes_[owner];
    HostSchedule::Lane& made = made_[owner];
    bool waits = false;
    for (const size_t u : needed_) {
      if (u == owner) continue;
      if (static_cast<size_t>(last_[u]) + 1 == lanes_[u].ends.size()) lanes_[u].closed = true;
      waits = waits || last_[u] >= lane.known[u];
    }
    if (waits || lane.closed || made.granules.back().first + made.granules.back().rows != i ||
        made.granules.back().rows == most_rows_) {
      if (waits)
        for (const size_t u : needed_) {
          if (u == owner || last_[u] < lane.known[u]) continue;
          lane.known[u] = last_[u] + 1;
          made.waits.push_back({static_cast<int32_t>(made.granules.size()), static_cast<int32_t>(u), lane.known[u]});
        }
      made.granules.push_back({static_cast<int32_t>(i), 0});
      lane.ends.push_back(0);
      lane.closed = false;
    }
    for (const size_t u : needed_) last_[u] = -1;
    ++made.granules.back().rows;
    const double cost = cost_.row + cost_.needed * static_cast<double>(lower_.diagonal[i] - lower_.offsets[i]);
    free_[owner] = start_ + cost;
    lane.ends.back() = free_[owner];
    work_ += cost;
    granule_of_[static_cast<size_t>(i)] = {static_cast<int32_t>(owner), static_cast<int32_t>(lane.ends.size() - 1)};
  }

  /// The thread that can begin a row first, less what it would idle until then; sets start_.
  size_t first_to_start() {
    // When what a thread must wait for is there: the latest of all threads', and without it for its own.
    double latest = 0, second = 0;
    size_t latest_of = threads_;
    for (const size_t u : needed_) {
      const double there = lanes_[u].ends[static_cast<size_t>(last_[u])] + hop_cost;
      if (there > latest) {
        second = latest;
        latest = there;
        latest_of = u;
      } else {
        second = std::max(second, there);
      }
    }
    size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (size_t t = 0; t < threads_; ++t) {
      const double start = std::max(free_[t], t == latest_of ? second : latest), score = 2 * start - free_[t];
      if (score >= least) continue;
      least = score;
      best = t;
      start_ = start;
    }
    return best;
  }

  LowerRows<I, O> lower_;
  RowCost cost_;
  size_t threads_;
  int32_t most_rows_ = 1;
  std::vector<Lane> lanes_;
  std::vector<double> free_;  // when each thread has done what it has
  std::vector<HostSchedule::Lane> made_;
  std::vector<Place> granule_of_;  // of each row
  std::vector<int32_t> last_;      // granule of each thread that the row at hand needs, or -1
  std::vector<size_t> needed_;     // threads that have any
  double start_ = 0, work_ = 0;
};

}  // namespace kkc::ilu
