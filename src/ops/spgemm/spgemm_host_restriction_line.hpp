// Rows of C of up to eight columns that follow each other along a line of a grid, for host_restriction: they are of one
// kind, and each of their runs begins where that of the row before ends, so that neither offsets nor runs are read. A
// run's rows of B lie in one vector, from which each is taken by a permutation: an expanding load of each takes seven
// cycles on Zen 4.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "ops/spgemm/spgemm_host_restriction_rows.hpp"
#include "ops/spgemm/spgemm_host_steps.hpp"

namespace kkc::spgemm {

template <class E>
class RestrictionLine {
  using V = StepVector<E>;

 public:
  /// Rows for which the tables pay.
  static constexpr int64_t shortest = 4;

  /// Whether rows of the kind of row i, with a mask of B's columns for each row of B, can be made here.
  template <class Rows>
  bool prepare(const Rows& A, int64_t i, const std::byte* masks) {
    if (masks == masks_) return fits_;
    masks_ = masks;
    fits_ = false;
    runs_ = 0;
    size_t row = 0;
    RowRun run{};
    for (auto runs = A.runs(i); runs.next(run);) {
      if (runs_ == most_runs || row + static_cast<size_t>(run.count) > most_rows) return false;
      int next = 0;
      for (int64_t r = 0; r < run.count; ++r, ++row) {
        const auto mask = static_cast<unsigned>(masks[row]);
        if (next + std::popcount(mask) > widest) return false;
        for (unsigned lane = 0; lane < 8; ++lane)
          taken_[row][lane] = static_cast<uint8_t>((mask >> lane & 1) != 0 ? next++ : 0);
      }
      at_[runs_].rows = run.count;
      at_[runs_++].entries = next;
    }
    if (runs_ == 0) return false;
    ahead_ = std::max<int64_t>(1, 48 / static_cast<int64_t>(runs_));
    return fits_ = true;
  }

  /// How many rows from row i on, which prepare() saw or one of its kind, can be made before a vector reads behind row
  /// `whole` - 1 of B.
  template <class Rows>
  int64_t begin(const Rows& A, int64_t i, int64_t rows, int64_t whole, const E* factors, const E* values,
                const auto& begin_of) {
    RowRun run{};
    size_t r = 0;
    for (auto runs = A.runs(i); runs.next(run); ++r) {
      rows = std::min(rows, (whole - run.first) / run.count);
      at_[r].factor = factors + run.first;
      at_[r].from = values + begin_of(run.first);
    }
    return rows;
  }

  /// The next row, of m columns.
  void make(E alpha, E beta, int64_t m, E* c) {
    const unsigned inside = (1u << m) - 1;
    V sum = beta == E{} ? V::zero() : V::load(c, inside).times(beta);
    const std::byte* mask = masks_;
    const auto* taken = taken_.data();
    for (size_t r = 0; r < runs_; ++r) {
      Run& run = at_[r];
      __builtin_prefetch(run.factor + ahead_ * run.rows);
      __builtin_prefetch(run.from + ahead_ * run.entries);
      const typename V::Window entries(run.from);
      const E* const factor = run.factor;
      const int64_t rows = run.rows;
      for (int64_t row = 0; row < rows; ++row)
        sum.add(alpha * factor[row], entries, taken[row], static_cast<unsigned>(mask[row]));
      mask += rows;
      taken += rows;
      run.factor += rows;
      run.from += run.entries;
    }
    sum.store(c, inside);
  }

 private:
  static constexpr size_t most_runs = 32, most_rows = 96;
  static constexpr int widest = 8;  // entries of a run

  struct Run {
    const E *from, *factor;  // the next row's
    int64_t rows, entries;
  };

  const std::byte* masks_ = nullptr;
  bool fits_ = false;
  size_t runs_ = 0;
  int64_t ahead_ = 1;  // rows of C
  std::array<Run, most_runs> at_;
  std::array<std::array<uint8_t, 8>, most_rows> taken_;  // for each row of B, of its run's entries
};

}  // namespace kkc::spgemm
