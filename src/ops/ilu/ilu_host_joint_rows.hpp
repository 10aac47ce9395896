// Neighbouring rows of the factors with the same columns, e.g. of one point's unknowns: they are eliminated together
// where rows have no programs (PETSc's i-nodes).
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "device/host_parallel.hpp"
#include "ilu_host_panels.hpp"

namespace kkc::ilu {

template <class I, class O>
class JointRows {
 public:
  JointRows() = default;
  JointRows(Queue& queue, const LowerRows<I, O>& lower) {
    const int64_t n = lower.rows, parts = (n + block - 1) / block;
    if (!some_share(lower)) return;
    left_.resize(static_cast<size_t>(n));
    std::vector<int64_t> before(static_cast<size_t>(parts) + 1);
    host_parts<Host>(queue, parts, [&](int64_t part) {
      const int64_t end = std::min(n, (part + 1) * block);
      for (int64_t i = part * block; i < end;) {
        int32_t rows = panel_rows(lower, i, std::min<int64_t>(most_panel_rows, end - i));
        ++before[static_cast<size_t>(part) + 1];
        for (; rows > 0; --rows) left_[static_cast<size_t>(i++)] = static_cast<uint8_t>(rows);
      }
    });
    std::partial_sum(before.begin(), before.end(), before.begin());
    if (before.back() * least_rows_numerator > n * least_rows_denominator) {
      left_ = {};
      return;
    }
    firsts_.resize(static_cast<size_t>(before.back()) + 1, static_cast<I>(n));
    host_parts<Host>(queue, parts, [&](int64_t part) {
      int64_t group = before[static_cast<size_t>(part)];
      for (int64_t i = part * block; i < std::min(n, (part + 1) * block); i += left_[static_cast<size_t>(i)])
        firsts_[static_cast<size_t>(group++)] = static_cast<I>(i);
    });
  }

  /// Every row is alone.
  bool empty() const { return firsts_.empty(); }
  int64_t count() const { return static_cast<int64_t>(firsts_.size()) - 1; }
  int64_t first(int64_t group) const { return firsts_[static_cast<size_t>(group)]; }
  /// Rows from this one to the last of its group; null where every row is alone.
  const uint8_t* left() const { return left_.empty() ? nullptr : left_.data(); }
  int64_t bytes() const { return static_cast<int64_t>(firsts_.size() * sizeof(I) + left_.size()); }

  /// Which groups need which.
  class Graph {
   public:
    Graph(Queue& queue, const JointRows& joint, const LowerRows<I, O>& lower)
        : offsets_(static_cast<size_t>(joint.count()) + 1), diagonal_(static_cast<size_t>(joint.count())) {
      const int64_t n = lower.rows, count = joint.count(),
                    parts = std::clamp<int64_t>(n / 8192, 1, queue.concurrency());
      std::vector<I> group_of(static_cast<size_t>(n));
      const auto each_group = [&](auto&& f) {
        host_parts<Host>(queue, parts, [&](int64_t part) {
          for (int64_t g = part_begin(count, parts, part); g < part_begin(count, parts, part + 1); ++g) f(g);
        });
      };
      each_group([&](int64_t g) {
        std::fill(group_of.begin() + joint.first(g), group_of.begin() + joint.first(g + 1), static_cast<I>(g));
      });
      const auto each_needed = [&](int64_t g, auto&& f) {
        const int64_t i = joint.first(g);
        I last = -1;
        for (O p = lower.offsets[i]; p < lower.diagonal[i]; ++p)
          if (const I needed = group_of[static_cast<size_t>(lower.indices[p])]; needed != last) f(last = needed);
      };
      each_group([&](int64_t g) {
        O entries = 1;
        each_needed(g, [&](I) { ++entries; });
        offsets_[static_cast<size_t>(g) + 1] = entries;
      });
      std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
      indices_.resize(static_cast<size_t>(offsets_.back()));
      each_group([&](int64_t g) {
        auto at = static_cast<size_t>(offsets_[static_cast<size_t>(g)]);
        each_needed(g, [&](I needed) { indices_[at++] = needed; });
        indices_[at] = static_cast<I>(g);
        diagonal_[static_cast<size_t>(g)] = static_cast<O>(at);
      });
    }
    LowerRows<I, O> rows() const {
      return {offsets_.data(), diagonal_.data(), indices_.data(), static_cast<int64_t>(diagonal_.size())};
    }

   private:
    std::vector<O> offsets_, diagonal_;
    std::vector<I> indices_;
  };

 private:
  // Groups lie in blocks, whatever the number of threads; there are some where they have so many rows in the mean.
  static constexpr int64_t block = 8192, least_rows_numerator = 5, least_rows_denominator = 4;

  /// Whether rows of a sample ever have the columns of those before them; half as often as joint rows do.
  static bool some_share(const LowerRows<I, O>& lower) {
    constexpr int64_t windows = 64, window = 32;
    int64_t groups = 0, rows = 0;
    const int64_t step = std::max<int64_t>(1, lower.rows / windows);
    for (int64_t first = 0; first + window <= lower.rows; first += std::max(step, window))
      for (int64_t i = first, end = first + window; i < end; ++groups) {
        const int64_t joint = panel_rows(lower, i, std::min<int64_t>(most_panel_rows, end - i));
        i += joint;
        rows += joint;
      }
    return rows == 0 || rows * 8 >= groups * 9;
  }

  std::vector<uint8_t> left_;
  std::vector<I> firsts_;
};

}  // namespace kkc::ilu
