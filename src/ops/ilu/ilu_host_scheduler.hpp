// Makes a HostSchedule: candidates are simulated with an estimate of each granule's time, the best one is kept.
#pragma once

#include <algorithm>
#include <bit>
#include <span>

#include "ilu_host_schedule.hpp"

namespace kkc::ilu {

/// Of a matrix with sorted rows whose row i needs row k < i where it holds (i, k): entries of row i before `diagonal`.
template <class I, class O>
struct LowerRows {
  const O *offsets, *diagonal;
  const I* indices;
  int64_t rows;
};

class HostScheduler {
 public:
  /// For at most `threads` threads. `entry_cost`: about how many nanoseconds an entry takes.
  template <class I, class O>
  static HostSchedule make(Queue& queue, const LowerRows<I, O>& lower, int64_t threads, double entry_cost = 1) {
    const int64_t n = lower.rows;
    if (threads < 2 || n < 2) return HostSchedule(n);
    HostScheduler best;
    const auto consider = [&](HostScheduler&& candidate, double handicap) {
      candidate.add_waits(queue, lower);
      candidate.simulate(lower);
      if (candidate.made_.efficiency_ * handicap > best.score_) {
        candidate.score_ = candidate.made_.efficiency_ * handicap;
        best = std::move(candidate);
      }
    };
    best.score_ = 1.2 / static_cast<double>(threads);  // of one thread, which needs no others
    for (const int64_t distance : distances(queue, lower, threads)) {
      HostScheduler blocks(n, threads, granule_rows(lower, entry_cost), entry_cost);
      blocks.deal_blocks(lower, distance);
      consider(std::move(blocks), 1);
    }
    // Rows of a level are not neighbours, which matters less the more work each is.
    const double row =
        entry_cost > 1 ? entry_cost * static_cast<double>(lower.offsets[n] - lower.offsets[0]) / static_cast<double>(n)
                       : 0;
    if (best.score_ < (row > 60 ? 0.8 : 0.6)) {
      HostScheduler levels(n, threads, granule_rows(lower, entry_cost), entry_cost);
      levels.deal_levels(lower);
      consider(std::move(levels), row > 200 ? 0.95 : row > 60 ? 0.8 : 0.7);
    }
    if (best.made_.granules() == 0) return HostSchedule(n);
    best.made_.progress_ = std::make_unique<HostSchedule::Progress[]>(static_cast<size_t>(threads));
    return std::move(best.made_);
  }

 private:
  // Nanoseconds, about.
  static constexpr double row_cost = 6, wait_cost = 120, granule_cost = 20;

  HostScheduler() = default;
  HostScheduler(int64_t rows, int64_t threads, int64_t granule_rows, double entry_cost)
      : rows_(rows), granule_rows_(granule_rows), entry_cost_(entry_cost) {
    made_.threads_ = threads;
  }

  static size_t at(int64_t i) { return static_cast<size_t>(i); }

  template <class I, class O>
  static int64_t granule_rows(const LowerRows<I, O>& lower, double entry_cost) {
    const double row = entry_cost * static_cast<double>(lower.offsets[lower.rows] - lower.offsets[0]) /
                       static_cast<double>(lower.rows);
    return std::clamp<int64_t>(static_cast<int64_t>(2048 / std::max(row, 1.0)), row > 1000 ? 1 : 4, 64);
  }

  /// How far the nearest row is that row i needs.
  template <class I, class O>
  static int64_t nearest(const LowerRows<I, O>& lower, int64_t i) {
    return lower.diagonal[i] == lower.offsets[i] ? INT64_MAX : i - int64_t{lower.indices[lower.diagonal[i] - 1]};
  }

  /// Distances that cut the rows into different numbers of blocks, each of them enough for the threads.
  template <class I, class O>
  static std::vector<int64_t> distances(Queue& queue, const LowerRows<I, O>& lower, int64_t threads) {
    constexpr int classes = 64;
    const int64_t parts = std::clamp<int64_t>(lower.rows / 4096, 1, queue.concurrency());
    std::vector<int64_t> counts(at(parts) * classes);
    host_parts<Host>(queue, parts, [&](int64_t part) {
      int64_t* const mine = counts.data() + part * classes;
      for (int64_t i = part_begin(lower.rows, parts, part); i < part_begin(lower.rows, parts, part + 1); ++i)
        ++mine[std::bit_width(static_cast<uint64_t>(nearest(lower, i))) - 1];
    });
    std::vector<int64_t> found;
    int64_t blocks = 0, last = 0;
    for (int c = classes - 1; c >= 1; --c) {
      for (int64_t part = 0; part < parts; ++part) blocks += counts[at(part * classes + c)];
      if (blocks < 2 * threads || blocks < last + last / 4) continue;
      if (blocks > lower.rows / 8) break;
      found.push_back(int64_t{1} << c);
      last = blocks;
    }
    return found;
  }

  template <class I, class O>
  void deal_blocks(const LowerRows<I, O>& lower, int64_t distance) {
    made_.granules_.clear();
    int64_t block = -1, begun = 0;
    for (int64_t i = 0; i < rows_; ++i) {
      const bool starts = i == 0 || nearest(lower, i) >= distance;
      if (starts) ++block;
      if (!starts && i - begun < granule_rows_) continue;
      made_.granules_.push_back(i);
      made_.owner_.push_back(static_cast<int32_t>(block % made_.threads_));
      begun = i;
    }
    made_.granules_.push_back(rows_);
    made_.why_ = cat("blocks of neighbouring rows, ", block + 1);
  }

  template <class I, class O>
  void deal_levels(const LowerRows<I, O>& lower) {
    std::vector<int32_t> level(at(rows_));
    std::vector<int64_t> starts{0, 0};
    for (int64_t i = 0; i < rows_; ++i) {
      int32_t own = 0;
      for (O p = lower.offsets[i]; p < lower.diagonal[i]; ++p)
        own = std::max(own, level[static_cast<size_t>(lower.indices[p])] + 1);
      level[at(i)] = own;
      if (at(own) + 2 > starts.size()) starts.resize(at(own) + 2);
      ++starts[at(own) + 1];
    }
    for (size_t l = 1; l < starts.size(); ++l) starts[l] += starts[l - 1];
    made_.order_.resize(at(rows_));
    std::vector<int64_t> next(starts.begin(), starts.end() - 1);
    for (int64_t i = 0; i < rows_; ++i) made_.order_[at(next[static_cast<size_t>(level[at(i)])]++)] = i;
    made_.granules_.clear();
    const auto add = [&](int64_t begin, int64_t thread) {
      made_.granules_.push_back(begin);
      made_.owner_.push_back(static_cast<int32_t>(thread));
    };
    for (size_t l = 0; l + 1 < starts.size(); ++l) {
      const int64_t begin = starts[l], count = starts[l + 1] - begin;
      // A level too narrow to share joins the one before it, if that is as narrow: its thread goes on.
      const int64_t parts = std::clamp<int64_t>(count / granule_rows_, 1, made_.threads_);
      const bool narrow_before = l > 0 && starts[l] - starts[l - 1] < 2 * granule_rows_;
      if (parts == 1 && narrow_before && starts[l + 1] - made_.granules_.back() < 8 * granule_rows_) continue;
      for (int64_t part = 0; part < parts; ++part) add(begin + part_begin(count, parts, part), part);
    }
    made_.granules_.push_back(rows_);
    made_.why_ = cat("levels, ", starts.size() - 1);
  }

  template <class I, class O>
  void add_waits(Queue& queue, const LowerRows<I, O>& lower) {
    const int64_t granules = made_.granules(), threads = made_.threads_;
    std::vector<int32_t> granule_of(at(rows_)), place(at(granules));
    made_.lane_.assign(at(threads) + 1, 0);
    for (const int32_t owner : made_.owner_) ++made_.lane_[static_cast<size_t>(owner) + 1];
    for (int64_t t = 0; t < threads; ++t) made_.lane_[at(t) + 1] += made_.lane_[at(t)];
    made_.sequence_.resize(at(granules));
    std::vector<int32_t> next(made_.lane_.begin(), made_.lane_.end() - 1);
    for (int64_t g = 0; g < granules; ++g) {
      const auto owner = static_cast<size_t>(made_.owner_[at(g)]);
      place[at(g)] = next[owner] - made_.lane_[owner];
      made_.sequence_[static_cast<size_t>(next[owner]++)] = static_cast<int32_t>(g);
    }
    const auto row_at = [&](int64_t k) { return made_.order_.empty() ? k : made_.order_[at(k)]; };
    const int64_t parts = std::clamp<int64_t>(granules / 16, 1, queue.concurrency());
    const auto each_granule = [&](auto&& f) {
      host_parts<Host>(queue, parts, [&](int64_t part) {
        for (int64_t g = part_begin(granules, parts, part); g < part_begin(granules, parts, part + 1); ++g) f(g);
      });
    };
    each_granule([&](int64_t g) {
      for (int64_t k = made_.granules_[at(g)]; k < made_.granules_[at(g) + 1]; ++k)
        granule_of[at(row_at(k))] = static_cast<int32_t>(g);
    });
    std::vector<int32_t> needs(at(granules * threads), 0);
    each_granule([&](int64_t g) {
      int32_t* const need = needs.data() + g * threads;
      const int32_t own = made_.owner_[at(g)];
      for (int64_t k = made_.granules_[at(g)]; k < made_.granules_[at(g) + 1]; ++k) {
        const int64_t i = row_at(k);
        for (O p = lower.offsets[i]; p < lower.diagonal[i]; ++p) {
          const auto other = static_cast<size_t>(granule_of[static_cast<size_t>(lower.indices[p])]);
          const int32_t owner = made_.owner_[other];
          if (owner != own) need[owner] = std::max(need[owner], place[other] + 1);
        }
      }
    });
    // What a thread has waited for once need not be waited for again.
    host_parts<Host>(queue, threads, [&](int64_t t) {
      std::vector<int32_t> known(at(threads), 0);
      for (int32_t s = made_.lane_[at(t)]; s < made_.lane_[at(t) + 1]; ++s) {
        int32_t* const need = needs.data() + int64_t{made_.sequence_[static_cast<size_t>(s)]} * threads;
        for (int64_t u = 0; u < threads; ++u)
          if (need[u] > known[at(u)])
            known[at(u)] = need[u];
          else
            need[u] = 0;
      }
    });
    made_.first_wait_.assign(1, 0);
    for (int64_t g = 0; g < granules; ++g) {
      for (int64_t u = 0; u < threads; ++u)
        if (const int32_t done = needs[at(g * threads + u)]; done > 0)
          made_.waits_.push_back({static_cast<int32_t>(u), done});
      made_.first_wait_.push_back(made_.waits());
    }
  }

  template <class I, class O>
  void simulate(const LowerRows<I, O>& lower) {
    const int64_t granules = made_.granules(), threads = made_.threads_;
    std::vector<double> end(at(granules)), free(at(threads), 0);
    double work = 0, last = 0;
    for (int64_t g = 0; g < granules; ++g) {
      const auto owner = static_cast<size_t>(made_.owner_[at(g)]);
      double start = free[owner];
      for (int64_t w = made_.first_wait_[at(g)]; w < made_.first_wait_[at(g) + 1]; ++w) {
        const auto& wait = made_.waits_[at(w)];
        const auto before = static_cast<size_t>(
            made_.sequence_[static_cast<size_t>(made_.lane_[static_cast<size_t>(wait.thread)] + wait.done - 1)]);
        start = std::max(start, end[before] + wait_cost);
      }
      const int64_t begin = made_.granules_[at(g)], stop = made_.granules_[at(g) + 1];
      double cost = static_cast<double>(stop - begin) * row_cost;
      if (made_.order_.empty())
        cost += entry_cost_ * static_cast<double>(lower.offsets[stop] - lower.offsets[begin]);
      else
        for (int64_t k = begin; k < stop; ++k) {
          const int64_t i = made_.order_[at(k)];
          cost += entry_cost_ * static_cast<double>(lower.offsets[i + 1] - lower.offsets[i]);
        }
      work += cost;
      end[at(g)] = free[owner] = start + cost + granule_cost;
      last = std::max(last, end[at(g)]);
    }
    made_.efficiency_ = last > 0 ? work / (last * static_cast<double>(threads)) : 1;
  }

  int64_t rows_ = 0, granule_rows_ = 1;
  double entry_cost_ = 1, score_ = 0;
  HostSchedule made_;
};

}  // namespace kkc::ilu
