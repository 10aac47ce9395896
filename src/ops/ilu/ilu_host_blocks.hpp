// Blocks of neighbouring rows that begin where a row needs only distant ones, e.g. lines and planes of grids, are dealt
// to threads in turn: their neighbours follow one another like waves.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "device/host_parallel.hpp"
#include "ilu_host_schedule.hpp"

namespace kkc::ilu {

/// How far the nearest row is that each row needs: its binary logarithm, and that of INT64_MAX where it needs none.
class NearestNeeded {
 public:
  template <class I, class O>
  NearestNeeded(Queue& queue, const LowerRows<I, O>& lower)
      : rows_(lower.rows),
        parts_(std::clamp<int64_t>(lower.rows / 4096, 1, queue.concurrency())),
        logarithm_(std::make_unique_for_overwrite<uint8_t[]>(static_cast<size_t>(lower.rows))),
        counts_(static_cast<size_t>(parts_ * logarithms)) {
    host_parts<Host>(queue, parts_, [&](int64_t part) {
      std::array<int64_t, logarithms> mine{};
      for (int64_t i = begin(part); i < begin(part + 1); ++i) {
        const bool needs = lower.diagonal[i] > lower.offsets[i];
        const uint64_t distance = needs ? static_cast<uint64_t>(i - int64_t{lower.indices[lower.diagonal[i] - 1]})
                                        : std::numeric_limits<int64_t>::max();
        const auto logarithm = static_cast<uint8_t>(std::bit_width(distance) - 1);
        logarithm_[static_cast<size_t>(i)] = logarithm;
        ++mine[logarithm];
      }
      std::copy(mine.begin(), mine.end(), counts_.begin() + part * logarithms);
    });
  }

  /// Logarithms that cut the rows into different numbers of blocks, each of them enough for the threads.
  std::vector<int> cuts(int64_t threads) const {
    std::vector<int> found;
    int64_t blocks = 0, last = 0;
    for (int l = logarithms - 1; l >= 1; --l) {
      for (int64_t part = 0; part < parts_; ++part) blocks += counts_[static_cast<size_t>(part * logarithms + l)];
      if (blocks < 2 * threads || blocks < last + last / 4) continue;
      if (blocks > rows_ / 8) break;
      found.push_back(l);
      last = blocks;
    }
    return found;
  }

  /// Where blocks begin: rows of that logarithm or a higher one, and the first.
  std::vector<int64_t> begins(Queue& queue, int cut) const {
    std::vector<std::vector<int64_t>> found(static_cast<size_t>(parts_));
    host_parts_checked<Host>(queue, parts_, [&](int64_t part) {
      for (int64_t i = begin(part); i < begin(part + 1); ++i)
        if (logarithm_[static_cast<size_t>(i)] >= cut || i == 0) found[static_cast<size_t>(part)].push_back(i);
    });
    std::vector<int64_t> all;
    for (const auto& of_part : found) all.insert(all.end(), of_part.begin(), of_part.end());
    return all;
  }

 private:
  static constexpr int logarithms = 64;
  int64_t begin(int64_t part) const { return part_begin(rows_, parts_, part); }

  int64_t rows_, parts_;
  std::unique_ptr<uint8_t[]> logarithm_;  // of each row
  std::vector<int64_t> counts_;           // of each part's rows, by logarithm
};

template <class I, class O>
class HostBlocks {
 public:
  /// Blocks begin where NearestNeeded::begins says.
  HostBlocks(Queue& queue, const LowerRows<I, O>& lower, int64_t threads, RowCost cost, const NearestNeeded& nearest,
             int cut)
      : lower_(lower), cost_(cost), threads_(threads) {
    deal(nearest.begins(queue, cut));
    find_waits(queue);
    simulate();
  }

  /// Time that the threads work over the time that they take.
  double efficiency() const { return efficiency_; }

  HostSchedule schedule() const {
    std::vector<HostSchedule::Lane> lanes(at(threads_));
    for (size_t t = 0; t < lanes.size(); ++t) {
      lanes[t].granules.reserve(static_cast<size_t>(lane_[t + 1] - lane_[t]));
      for (int32_t s = lane_[t]; s < lane_[t + 1]; ++s) {
        const auto g = static_cast<size_t>(sequence_[static_cast<size_t>(s)]);
        for (int64_t w = first_wait_[g]; w < first_wait_[g + 1]; ++w) {
          lanes[t].waits.push_back(waits_[at(w)]);
          lanes[t].waits.back().before = s - lane_[t];
        }
        lanes[t].granules.push_back(
            {static_cast<int32_t>(begins_[g]), static_cast<int32_t>(begins_[g + 1] - begins_[g])});
      }
    }
    return HostSchedule(lower_.rows, std::move(lanes), efficiency_, cat("blocks of neighbouring rows, ", blocks_));
  }

 private:
  static constexpr double granule_cost = 20, hop_cost = 120;  // nanoseconds, about

  static size_t at(int64_t i) { return static_cast<size_t>(i); }

  /// Of rows begin to end - 1; half of the entries are taken to lie left of the diagonal.
  double cost_of(int64_t begin, int64_t end) const {
    return cost_.row * static_cast<double>(end - begin) +
           cost_.needed * static_cast<double>(lower_.offsets[end] - lower_.offsets[begin]) / 2;
  }

  /// Whole blocks in turn, a granule at a time.
  void deal(std::vector<int64_t> blocks) {
    const int64_t n = lower_.rows;
    const double row = cost_of(0, n) / static_cast<double>(n);
    const int64_t granule_rows =
        std::clamp<int64_t>(static_cast<int64_t>(2048 / std::max(row, 1.0)), row > 1000 ? 1 : 4, 64);
    blocks_ = std::ssize(blocks);
    blocks.push_back(n);
    for (int64_t b = 0; b < blocks_; ++b)
      for (int64_t i = blocks[at(b)]; i < blocks[at(b) + 1]; i += granule_rows) {
        begins_.push_back(i);
        owner_.push_back(static_cast<int32_t>(b % threads_));
      }
    begins_.push_back(n);
  }

  int64_t granules() const { return static_cast<int64_t>(owner_.size()); }

  void find_waits(Queue& queue) {
    struct Place {
      int32_t owner, number;  // of the owner's granules
    };
    const auto place_of = std::make_unique_for_overwrite<Place[]>(at(lower_.rows));  // of each row
    std::vector<int32_t> place(at(granules()));
    lane_.assign(at(threads_) + 1, 0);
    for (const int32_t owner : owner_) ++lane_[static_cast<size_t>(owner) + 1];
    for (int64_t t = 0; t < threads_; ++t) lane_[at(t) + 1] += lane_[at(t)];
    sequence_.resize(at(granules()));
    std::vector<int32_t> next(lane_.begin(), lane_.end() - 1);
    for (int64_t g = 0; g < granules(); ++g) {
      const auto owner = static_cast<size_t>(owner_[at(g)]);
      place[at(g)] = next[owner] - lane_[owner];
      sequence_[static_cast<size_t>(next[owner]++)] = static_cast<int32_t>(g);
    }
    const int64_t parts = std::clamp<int64_t>(granules() / 16, 1, queue.concurrency());
    const auto each_granule = [&](auto&& f) {
      host_parts<Host>(queue, parts, [&](int64_t part) {
        for (int64_t g = part_begin(granules(), parts, part); g < part_begin(granules(), parts, part + 1); ++g) f(g);
      });
    };
    each_granule([&](int64_t g) {
      std::fill(place_of.get() + begins_[at(g)], place_of.get() + begins_[at(g) + 1],
                Place{owner_[at(g)], place[at(g)]});
    });
    std::vector<int32_t> needs(at(granules() * threads_), 0);
    each_granule([&](int64_t g) {
      int32_t* const need = needs.data() + g * threads_;
      const int32_t own = owner_[at(g)];
      for (int64_t i = begins_[at(g)]; i < begins_[at(g) + 1]; ++i)
        for (O p = lower_.offsets[i]; p < lower_.diagonal[i]; ++p) {
          const Place needed = place_of[static_cast<size_t>(lower_.indices[p])];
          need[needed.owner] = std::max(need[needed.owner], needed.number + 1);
        }
      need[own] = 0;
    });
    // What a thread has waited for once need not be waited for again.
    host_parts<Host>(queue, threads_, [&](int64_t t) {
      std::vector<int32_t> known(at(threads_), 0);
      for (int32_t s = lane_[at(t)]; s < lane_[at(t) + 1]; ++s) {
        int32_t* const need = needs.data() + int64_t{sequence_[static_cast<size_t>(s)]} * threads_;
        for (int64_t u = 0; u < threads_; ++u)
          if (need[u] > known[at(u)])
            known[at(u)] = need[u];
          else
            need[u] = 0;
      }
    });
    first_wait_.assign(1, 0);
    for (int64_t g = 0; g < granules(); ++g) {
      for (int64_t u = 0; u < threads_; ++u)
        if (const int32_t done = needs[at(g * threads_ + u)]; done > 0)
          waits_.push_back({0, static_cast<int32_t>(u), done});
      first_wait_.push_back(static_cast<int64_t>(waits_.size()));
    }
  }

  void simulate() {
    std::vector<double> end(at(granules())), free(at(threads_), 0);
    double work = 0, last = 0;
    for (int64_t g = 0; g < granules(); ++g) {
      const auto owner = static_cast<size_t>(owner_[at(g)]);
      double start = free[owner];
      for (int64_t w = first_wait_[at(g)]; w < first_wait_[at(g) + 1]; ++w) {
        const auto& wait = waits_[at(w)];
        const auto before = static_cast<size_t>(
            sequence_[static_cast<size_t>(lane_[static_cast<size_t>(wait.thread)] + wait.done - 1)]);
        start = std::max(start, end[before] + hop_cost);
      }
      const double cost = cost_of(begins_[at(g)], begins_[at(g) + 1]);
      work += cost;
      end[at(g)] = free[owner] = start + cost + granule_cost;
      last = std::max(last, end[at(g)]);
    }
    efficiency_ = last > 0 ? work / (last * static_cast<double>(threads_)) : 1;
  }

  LowerRows<I, O> lower_;
  RowCost cost_;
  int64_t threads_, blocks_ = 0;
  double efficiency_ = 1;
  std::vector<int64_t> begins_;           // first row of each granule, and the end
  std::vector<int32_t> owner_;            // thread of each granule
  std::vector<int32_t> lane_, sequence_;  // each thread's granules
  std::vector<int64_t> first_wait_;       // of each granule
  std::vector<HostSchedule::Wait> waits_;
};

}  // namespace kkc::ilu
