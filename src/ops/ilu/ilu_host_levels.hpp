// Rows by levels, on hosts: each level's rows are shared by work, neighbours together, and levels with too little work
// for several threads go to one. Made by all threads, where to deal row after row (HostList) is one thread's work.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "device/host_bucket.hpp"
#include "ilu_host_schedule.hpp"
#include "ops/levels/levels_host_block_levels.hpp"

namespace kkc::ilu {

template <class I, class O>
class HostLevels {
 public:
  HostLevels(Queue& queue, const LowerRows<I, O>& lower, int64_t threads, RowCost cost)
      : lower_(lower), cost_(cost), threads_(threads), order_(std::make_unique_for_overwrite<I[]>(at(lower.rows))) {
    sort_by_level(queue);
    add_up_work(queue);
    find_phases(queue);
  }

  /// Time that the threads work over the time that they take.
  double efficiency() const { return efficiency_; }

  HostSchedule schedule(Queue& queue) const {
    std::vector<HostSchedule::Lane> lanes(at(threads_));
    const auto granule_of = std::make_unique_for_overwrite<Place[]>(at(lower_.rows));
    host_parts_checked<Host>(queue, threads_, [&](int64_t t) { deal(t, lanes[at(t)], granule_of.get()); });
    host_parts_checked<Host>(queue, threads_, [&](int64_t t) { find_waits(t, lanes[at(t)], granule_of.get()); });
    return HostSchedule(lower_.rows, std::move(lanes), efficiency_, "levels shared by work");
  }

 private:
  // Nanoseconds: what all threads' waiting for each other takes, and for how long one thread works by itself.
  static constexpr double wait_cost = 500, longest_granule = 8192;

  struct Place {
    int32_t thread, granule;
  };
  struct Phase {
    int64_t begin, end;  // in the order
    bool serial;         // one thread's
  };
  struct Columns {  // of a row's entries before the diagonal
    LowerRows<I, O> lower;
    int64_t begin(int64_t row) const { return lower.offsets[row]; }
    int64_t end(int64_t row) const { return lower.diagonal[row]; }
    int64_t column(int64_t entry) const { return lower.indices[entry]; }
  };

  static size_t at(int64_t i) { return static_cast<size_t>(i); }

  void sort_by_level(Queue& queue) {
    const int64_t n = lower_.rows;
    std::vector<I> counted(at(n), I{0}), level(at(n), I{-1});
    const Columns columns{lower_};
    levels::BlockLevels<I, Columns, levels::SingleRows> finder(columns, n, true, {n}, counted.data(), level);
    finder.template find<Host>(queue, static_cast<int>(threads_));
    const int64_t parts = std::clamp<int64_t>(n / 4096, 1, threads_);
    const auto first = [&](int64_t part) { return part_begin(n, parts, part); };
    std::vector<I> highest(at(parts), I{0});
    host_parts<Host>(queue, parts, [&](int64_t part) {
      for (int64_t i = first(part); i < first(part + 1); ++i)
        highest[at(part)] = std::max(highest[at(part)], level[at(i)]);
    });
    const int64_t count = int64_t{*std::max_element(highest.begin(), highest.end())} + 1;
    starts_.resize(at(count) + 1);
    host_bucket<Host>(queue, level.data(), 0, count, parts, starts_.data(), first, [&](int64_t part, const auto& next) {
      for (int64_t i = first(part); i < first(part + 1); ++i) order_[at(next(i))] = static_cast<I>(i);
    });
  }

  void add_up_work(Queue& queue) {
    const int64_t n = lower_.rows, parts = std::clamp<int64_t>(n / 4096, 1, threads_);
    work_before_ = std::make_unique_for_overwrite<double[]>(at(n) + 1);
    std::vector<double> sums(at(parts) + 1, 0);
    host_parts<Host>(queue, parts, [&](int64_t part) {
      double sum = 0;
      for (int64_t k = part_begin(n, parts, part); k < part_begin(n, parts, part + 1); ++k) {
        work_before_[at(k)] = sum;
        const auto row = static_cast<int64_t>(order_[at(k)]);
        sum += cost_.row + cost_.needed * static_cast<double>(lower_.diagonal[row] - lower_.offsets[row]);
      }
      sums[at(part) + 1] = sum;
    });
    std::partial_sum(sums.begin(), sums.end(), sums.begin());
    host_parts<Host>(queue, parts, [&](int64_t part) {
      for (int64_t k = part_begin(n, parts, part); k < part_begin(n, parts, part + 1); ++k)
        work_before_[at(k)] += sums[at(part)];
    });
    work_before_[at(n)] = sums.back();
  }

  double work_of(int64_t begin, int64_t end) const { return work_before_[at(end)] - work_before_[at(begin)]; }

  /// Where a thread's rows begin: rows are shared by where the middle of their work lies.
  int64_t first_of(const Phase& phase, int64_t thread) const {
    if (phase.serial) return thread == 0 ? phase.begin : phase.end;
    if (thread == threads_) return phase.end;
    const double all = work_of(phase.begin, phase.end);
    int64_t low = phase.begin, high = phase.end;
    while (low < high) {
      const int64_t k = low + (high - low) / 2;
      const double middle = work_of(phase.begin, k) + work_of(k, k + 1) / 2;
      if (middle * static_cast<double>(threads_) < all * static_cast<double>(thread))
        low = k + 1;
      else
        high = k;
    }
    return low;
  }

  void find_phases(Queue& queue) {
    const auto shares = static_cast<double>(threads_);
    // Alone, a thread takes so long for what would not be worth a wait.
    const double least = wait_cost * shares / (shares - 1);
    for (size_t l = 0; l + 1 < starts_.size(); ++l) {
      const int64_t begin = starts_[l], end = starts_[l + 1];
      const bool serial = end - begin == 1 || work_of(begin, end) < least;
      if (serial && !phases_.empty() && phases_.back().serial)
        phases_.back().end = end;
      else
        phases_.push_back({begin, end, serial});
    }
    const int64_t count = std::ssize(phases_), parts = std::clamp<int64_t>(count / 64, 1, threads_);
    std::vector<double> times(at(parts), 0);
    host_parts<Host>(queue, parts, [&](int64_t part) {
      double time = 0;
      for (int64_t p = part_begin(count, parts, part); p < part_begin(count, parts, part + 1); ++p) {
        const Phase& phase = phases_[at(p)];
        double most = phase.serial ? work_of(phase.begin, phase.end) : 0;
        for (int64_t t = 0, from = phase.begin; !phase.serial && t < threads_; ++t) {
          const int64_t to = first_of(phase, t + 1);
          most = std::max(most, work_of(from, to));
          from = to;
        }
        time += most + wait_cost;
      }
      times[at(part)] = time;
    });
    const double time = std::accumulate(times.begin(), times.end(), 0.0);
    efficiency_ = time > 0 ? work_before_[at(lower_.rows)] / (time * shares) : 1;
  }

  void deal(int64_t t, HostSchedule::Lane& lane, Place* granule_of) const {
    const double mean = work_before_[at(lower_.rows)] / static_cast<double>(std::max<int64_t>(1, lower_.rows));
    const auto most_rows = std::clamp(static_cast<int32_t>(longest_granule / mean), 1, 64);
    for (const Phase& phase : phases_) {
      int64_t next = -1;
      // What one thread takes of several levels goes as the rows lie.
      int64_t begin = first_of(phase, t), end = first_of(phase, t + 1);
      std::vector<I> sorted;
      const I* rows = order_.get() + begin;
      if (phase.serial && begin < end) {
        sorted.assign(order_.get() + begin, order_.get() + end);
        std::sort(sorted.begin(), sorted.end());
        rows = sorted.data();
      }
      for (int64_t k = 0; k < end - begin; ++k) {
        const auto row = static_cast<int64_t>(rows[k]);
        if (row != next || lane.granules.back().rows == most_rows)
          lane.granules.push_back({static_cast<int32_t>(row), 0});
        ++lane.granules.back().rows;
        next = row + 1;
        granule_of[row] = {static_cast<int32_t>(t), static_cast<int32_t>(lane.granules.size() - 1)};
      }
    }
    lane.granules.shrink_to_fit();
  }

  void find_waits(int64_t t, HostSchedule::Lane& lane, const Place* granule_of) const {
    std::vector<int32_t> known(at(threads_), 0), last(at(threads_), -1), needed(at(threads_) + 1);
    known[at(t)] = std::numeric_limits<int32_t>::max();
    for (size_t g = 0; g < lane.granules.size(); ++g) {
      const HostSchedule::Granule& granule = lane.granules[g];
      size_t count = 0;
      for (int64_t row = granule.first; row < granule.first + granule.rows; ++row)
        for (O p = lower_.offsets[row]; p < lower_.diagonal[row]; ++p) {
          const Place place = granule_of[lower_.indices[p]];
          int32_t& latest = last[static_cast<size_t>(place.thread)];
          needed[count] = place.thread;
          count += latest < 0;
          latest = std::max(latest, place.granule);
        }
      for (size_t k = 0; k < count; ++k) {
        const auto u = static_cast<size_t>(needed[k]);
        if (last[u] >= known[u]) {
          known[u] = last[u] + 1;
          lane.waits.push_back({static_cast<int32_t>(g), static_cast<int32_t>(u), known[u]});
        }
        last[u] = -1;
      }
    }
    lane.waits.shrink_to_fit();
  }

  LowerRows<I, O> lower_;
  RowCost cost_;
  int64_t threads_;
  double efficiency_ = 1;
  std::unique_ptr<I[]> order_;             // rows by level
  std::vector<int64_t> starts_;            // of each level, in the order, and the end
  std::unique_ptr<double[]> work_before_;  // in the order
  std::vector<Phase> phases_;
};

}  // namespace kkc::ilu
