// ilu_pattern, on host memory: diagonal entries and levels of fill. An entry (i, j) has level 0 where A has it, else
// the least of lev(i, h) + lev(h, j) + 1 over h < min(i, j) (Saad, "Iterative Methods for Sparse Linear Systems", 2nd
// edition, section 10.3.3). Entries of level m come from pairs of levels that add up to m - 1, so a pass for each level
// finds them for all rows at once, from the rows of the pass before.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "ops/ilu_pattern/ilu_pattern.hpp"

namespace kkc::ilu_pattern {

/// Columns in any order in, ascending out: a bit each, and a bit for each word of those.
class ColumnSet {
 public:
  explicit ColumnSet(int64_t columns)
      : words_(static_cast<size_t>(columns + 63) / 64), summary_((words_.size() + 63) / 64) {}

  void insert(int64_t column) {
    const auto word = static_cast<size_t>(column) / 64;
    words_[word] |= uint64_t{1} << (column % 64);
    summary_[word / 64] |= uint64_t{1} << (word % 64);
    low_ = std::min(low_, word / 64);
    high_ = std::max(high_, word / 64 + 1);
  }

  /// Calls f(column) in ascending order and empties the set.
  template <class F>
  void drain(F&& f) {
    for (size_t s = low_; s < high_; ++s) {
      for (uint64_t words = summary_[s]; words != 0; words &= words - 1) {
        const size_t word = s * 64 + static_cast<size_t>(std::countr_zero(words));
        for (uint64_t bits = words_[word]; bits != 0; bits &= bits - 1)
          f(static_cast<int64_t>(word * 64) + std::countr_zero(bits));
        words_[word] = 0;
      }
      summary_[s] = 0;
    }
    low_ = std::numeric_limits<size_t>::max();
    high_ = 0;
  }

 private:
  std::vector<uint64_t> words_, summary_;
  size_t low_ = std::numeric_limits<size_t>::max(), high_ = 0;
};

/// Rows with the level of each entry; sorted, each column once, a diagonal entry in each.
template <class I>
struct LeveledRows {
  std::vector<int64_t> offsets{0}, diagonal;
  std::vector<I> columns;
  std::vector<uint8_t> levels;  // empty: all 0
};

/// Run: run.parts() and run(parts, f), which calls f(part) for each and passes on what it throws.
template <class I, class O, class Run>
class Builder {
 public:
  /// offsets and columns: a pattern of sorted rows, each column once, base 0.
  Builder(const Desc& desc, const O* offsets, const I* columns, const Run& run)
      : desc_(desc), rows_(desc.A.rows), offsets_(offsets), columns_(columns), run_(run) {}

  /// Where each row's diagonal entry lies or would lie; returns the first row that lacks it, or -1.
  int64_t find_diagonal(O* diagonal) const {
    std::atomic<int64_t> first{rows_};
    each_part([&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const I* const row_end = columns_ + offsets_[i + 1];
        const I* const at = std::lower_bound(columns_ + offsets_[i], row_end, static_cast<I>(i));
        diagonal[i] = static_cast<O>(at - columns_);
        if (at != row_end && *at == static_cast<I>(i)) continue;
        int64_t known = first.load(std::memory_order_relaxed);
        while (i < known && !first.compare_exchange_weak(known, i)) continue;
      }
    });
    return first.load() == rows_ ? -1 : first.load();
  }

  /// The rows of the factors; diagonal as find_diagonal() left it.
  LeveledRows<I> build(const O* diagonal) const {
    LeveledRows<I> rows = first_rows(diagonal);
    for (int32_t level = 1; level <= desc_.level; ++level) rows = next_rows(rows, level);
    return rows;
  }

  /// sources[k] for entry k of `rows`.
  void find_sources(const LeveledRows<I>& rows, O* sources) const {
    each_part([&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        O s = offsets_[i];
        for (int64_t k = rows.offsets[index(i)]; k < rows.offsets[index(i + 1)]; ++k) {
          const bool there = s < offsets_[i + 1] && columns_[s] == rows.columns[index(k)];
          sources[k] = there ? s++ : O{-1};
        }
      }
    });
  }

 private:
  static size_t index(int64_t i) { return static_cast<size_t>(i); }

  /// Calls f(first row, last row + 1) for parts of about as many entries each.
  template <class F>
  void each_part(F&& f) const {
    const int64_t parts = std::clamp<int64_t>(rows_ / 256, 1, run_.parts());
    run_(parts, [&](int64_t part) { f(boundary(part, parts), boundary(part + 1, parts)); });
  }
  int64_t boundary(int64_t part, int64_t parts) const {
    if (part >= parts) return rows_;
    if (part == 0) return 0;
    const int64_t entries = (offsets_[rows_] + rows_) / parts * part;
    int64_t low = 0, high = rows_;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (offsets_[middle] + middle < entries)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  static constexpr int64_t most_entries = sizeof(O) == 4 ? std::numeric_limits<int32_t>::max() - 1 : INT64_MAX;

  /// What a part of the rows becomes: row(i, take) calls take(column, level) in ascending order of columns.
  template <class Row>
  LeveledRows<I> collect(bool with_levels, Row&& make_row) const {
    struct Part {
      int64_t begin, end;
      int64_t entries = 0;
      std::vector<I> columns;
      std::vector<uint8_t> levels;
    };
    LeveledRows<I> to;
    to.offsets.resize(index(rows_ + 1));
    to.diagonal.resize(index(rows_));
    const int64_t parts = std::clamp<int64_t>(rows_ / 256, 1, run_.parts());
    std::vector<Part> made(index(parts));
    std::atomic<int64_t> entries{0};  // of all parts, about
    run_(parts, [&](int64_t p) {
      Part& part = made[index(p)];
      part.begin = boundary(p, parts);
      part.end = boundary(p + 1, parts);
      auto row = make_row();
      constexpr int64_t told_at_once = int64_t{1} << 20;
      int64_t told = 0;
      bool kept = true;  // what cannot be counted is no longer kept, but counted to its end
      for (int64_t i = part.begin; i < part.end; ++i) {
        row(i, [&](int64_t column, int level) {
          if (column == i) to.diagonal[index(i)] = part.entries;
          ++part.entries;
          if (!kept) return;
          part.columns.push_back(static_cast<I>(column));
          if (with_levels) part.levels.push_back(static_cast<uint8_t>(level));
        });
        to.offsets[index(i + 1)] = part.entries;
        if (part.entries - told < told_at_once) continue;
        kept = entries.fetch_add(part.entries - told, std::memory_order_relaxed) + part.entries - told <= most_entries;
        told = part.entries;
      }
    });
    std::vector<int64_t> firsts(index(parts) + 1);
    for (size_t p = 0; p < made.size(); ++p) firsts[p + 1] = firsts[p] + made[p].entries;
    require(firsts.back() <= most_entries, KKC_STATUS_OVERFLOW, "the factors have ", firsts.back(),
            " entries, more than A's index pair counts");
    to.columns.resize(index(firsts.back()));
    if (with_levels) to.levels.resize(to.columns.size());
    run_(parts, [&](int64_t p) {
      Part& part = made[index(p)];
      const int64_t first = firsts[index(p)];
      for (int64_t i = part.begin; i < part.end; ++i) {
        to.offsets[index(i + 1)] += first;
        to.diagonal[index(i)] += first;
      }
      std::copy(part.columns.begin(), part.columns.end(), to.columns.begin() + first);
      std::copy(part.levels.begin(), part.levels.end(), to.levels.begin() + (with_levels ? first : 0));
      part = {};
    });
    return to;
  }

  /// Level 0: A's entries and missing diagonal ones.
  LeveledRows<I> first_rows(const O* diagonal) const {
    return collect(desc_.level > 0, [&] {
      return [&](int64_t i, auto&& take) {
        O p = offsets_[i];
        for (; p < diagonal[i]; ++p) take(columns_[p], 0);
        take(i, 0);
        if (p < offsets_[i + 1] && columns_[p] == static_cast<I>(i)) ++p;
        if (!desc_.lower)
          for (; p < offsets_[i + 1]; ++p) take(columns_[p], 0);
      };
    });
  }

  /// Entries right of the diagonal, each row's in order of levels: a row that others fill has many, of which a pass
  /// wants those of one level.
  struct ByLevel {
    std::vector<int64_t> offsets{0};
    std::vector<I> columns;
    std::vector<uint8_t> levels;

    template <class F>
    void each(int64_t row, int level, F&& f) const {
      const auto [begin, end] = std::equal_range(levels.begin() + offsets[index(row)],
                                                 levels.begin() + offsets[index(row + 1)], static_cast<uint8_t>(level));
      for (auto q = begin - levels.begin(); q < end - levels.begin(); ++q) f(columns[index(q)]);
    }
  };

  /// Of levels below `end`.
  ByLevel by_level(const LeveledRows<I>& rows, int end) const {
    ByLevel to;
    to.offsets.resize(index(rows_ + 1));
    for (int64_t i = 0; i < rows_; ++i)
      to.offsets[index(i + 1)] = to.offsets[index(i)] + rows.offsets[index(i + 1)] - rows.diagonal[index(i)] - 1;
    to.columns.resize(index(to.offsets.back()));
    to.levels.resize(to.columns.size());
    each_part([&](int64_t first, int64_t last) {
      std::vector<int64_t> next(static_cast<size_t>(end) + 1);
      for (int64_t i = first; i < last; ++i) {
        const int64_t from = rows.diagonal[index(i)] + 1, stop = rows.offsets[index(i + 1)];
        std::fill(next.begin(), next.end(), 0);
        for (int64_t q = from; q < stop; ++q) ++next[size_t{rows.levels[index(q)]} + 1];
        next[0] = to.offsets[index(i)];
        for (size_t level = 1; level < next.size(); ++level) next[level] += next[level - 1];
        for (int64_t q = from; q < stop; ++q) {
          const int64_t at = next[rows.levels[index(q)]]++;
          to.columns[index(at)] = rows.columns[index(q)];
          to.levels[index(at)] = rows.levels[index(q)];
        }
      }
    });
    return to;
  }

  /// The entries of `rows` and those of the given level.
  LeveledRows<I> next_rows(const LeveledRows<I>& rows, int level) const {
    const ByLevel right = level > 1 ? by_level(rows, level) : ByLevel{};
    return collect(true, [&] {
      return [&, filled = ColumnSet(rows_)](int64_t i, auto&& take) mutable {
        const int64_t begin = rows.offsets[index(i)], end = rows.offsets[index(i + 1)];
        for (int64_t p = begin; rows.columns[index(p)] < i; ++p) {
          const auto h = static_cast<int64_t>(rows.columns[index(p)]);
          if (level > 1)
            right.each(h, level - 1 - rows.levels[index(p)], [&](I column) { filled.insert(column); });
          else
            for (int64_t q = rows.diagonal[index(h)] + 1; q < rows.offsets[index(h + 1)]; ++q)
              filled.insert(rows.columns[index(q)]);
        }
        int64_t p = begin;
        const auto take_until = [&](int64_t column) {
          for (; p < end && rows.columns[index(p)] < column; ++p) take(rows.columns[index(p)], rows.levels[index(p)]);
        };
        filled.drain([&](int64_t column) {
          take_until(column);
          if (p < end && rows.columns[index(p)] == column) return;
          take(column, level);
        });
        take_until(rows_);
      };
    });
  }

  const Desc& desc_;
  int64_t rows_;
  const O* offsets_;
  const I* columns_;
  const Run& run_;
};

}  // namespace kkc::ilu_pattern
