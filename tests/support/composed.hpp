// Patterns composed of random pieces: bands, grids, blocks, long rows, columns that many rows share, rows of few kinds,
// i-nodes, and any of these over parts of the matrix and on top of each other.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <vector>

#include "support/host_csr.hpp"

namespace kkc_test {

using RowsOfColumns = std::vector<std::vector<int64_t>>;

inline bool one_in(Random& random, uint64_t n) { return random() % n == 0; }

/// From low to high, small numbers as often as large ones.
inline int64_t any_size(Random& random, int64_t low, int64_t high) {
  const double share = static_cast<double>(random() >> 11) * 0x1p-53;
  const auto size =
      std::exp(std::log(static_cast<double>(low)) * (1 - share) + std::log(static_cast<double>(high) + 1) * share);
  return std::clamp(static_cast<int64_t>(size), low, high);
}

namespace detail {

/// What some rows have in common. `most`: about as many entries as a row may have in the mean.
class Piece {
 public:
  Piece(Random& random, int64_t rows, int64_t cols, int64_t most)
      : random_(random),
        kind_(static_cast<Kind>(random() % static_cast<uint64_t>(Kind::count))),
        rows_(rows),
        cols_(cols),
        width_(any_size(random, 1, most)),
        reach_(any_size(random, 1, cols)),
        side_(any_size(random, 1, cols)),
        every_(any_size(random, 1, rows)) {
    if (one_in(random, 2)) {
      first_ = random_int(random, 0, rows - 1);
      last_ = random_int(random, first_, rows - 1);
    }
    for (int64_t k = kind_ == Kind::few_kinds ? any_size(random, 1, 3000) : 1; k > 0; --k) {
      auto& distances = kinds_.emplace_back();
      for (int64_t i = any_size(random, 1, width_); i > 0; --i)
        distances.push_back(random_int(random, -reach_, reach_));
    }
    for (int64_t i = any_size(random, 1, 8); i > 0; --i) shared_.push_back(random_int(random, 0, cols - 1));
  }

  void add(int64_t row, std::vector<int64_t>& columns) const {
    if (row < first_ || (last_ >= 0 && row > last_)) return;
    const int64_t center = rows_ == cols_ ? row : row * cols_ / rows_;
    const auto put = [&](int64_t column) {
      if (column >= 0 && column < cols_) columns.push_back(column);
    };
    switch (kind_) {
      case Kind::distances:
        for (const int64_t d : kinds_[0]) put(center + d);
        break;
      case Kind::few_kinds:
        for (const int64_t d : kinds_[random_() % kinds_.size()]) put(center + d);
        break;
      case Kind::star:
      case Kind::box:
        for (int64_t b = -1; b <= 1; ++b)
          for (int64_t a = -1; a <= 1; ++a) {
            if (kind_ == Kind::star && a * b != 0) continue;
            if (center % side_ + a >= 0 && center % side_ + a < side_) put(center + a + b * side_);
          }
        break;
      case Kind::near:
        for (int64_t i = random_int(random_, 0, width_); i > 0; --i) put(center + random_int(random_, -reach_, reach_));
        break;
      case Kind::anywhere:
        for (int64_t i = random_int(random_, 0, width_); i > 0; --i) put(random_int(random_, 0, cols_ - 1));
        break;
      case Kind::blocks:
        for (int64_t j = 0; j < width_; ++j) put(center / width_ * width_ + j);
        break;
      case Kind::long_rows:
        if (row % every_ == 0)
          for (int64_t i = any_size(random_, 1, std::max<int64_t>(1, std::min(cols_, width_ * every_))),
                       begin = random_int(random_, 0, cols_ - 1),
                       step = one_in(random_, 2) ? 1 : random_int(random_, 1, 9);
               i > 0; --i)
            put((begin + i * step) % cols_);
        break;
      case Kind::shared_columns:
        for (const int64_t column : shared_)
          if (random_() % 100 < static_cast<uint64_t>(2 * width_)) put(column);
        break;
      case Kind::power_law:
        for (int64_t i =
                 std::min<int64_t>(cols_, int64_t{1} << std::min<int>(__builtin_ctzll(random_() | (1ull << 40)), 11));
             i > 0; --i)
          put(any_size(random_, 1, cols_) - 1);
        break;
      case Kind::aggregates: put(center / width_ * std::max<int64_t>(1, width_ / 2)); break;
      case Kind::count: break;
    }
  }

 private:
  enum class Kind {
    distances,
    few_kinds,
    star,
    box,
    near,
    anywhere,
    blocks,
    long_rows,
    shared_columns,
    power_law,
    aggregates,
    count
  };
  Random& random_;
  Kind kind_;
  int64_t rows_, cols_, width_, reach_, side_, every_, first_ = 0, last_ = -1;
  RowsOfColumns kinds_;
  std::vector<int64_t> shared_;
};

}  // namespace detail

/// Columns of each row, ascending and distinct; about `entries` of them or fewer, long rows aside.
inline RowsOfColumns composed_rows(Random& random, int64_t rows, int64_t cols, int64_t entries) {
  RowsOfColumns all(static_cast<size_t>(rows));
  if (rows == 0 || cols == 0) return all;
  const int64_t most = std::max<int64_t>(1, std::min(cols, entries / rows));
  std::vector<detail::Piece> pieces;
  for (uint64_t count = 1 + random() % 3; count > 0; --count) pieces.emplace_back(random, rows, cols, most);
  const int64_t alike = one_in(random, 4) ? random_int(random, 2, 9) : 1;
  const bool some_empty = one_in(random, 5);
  for (int64_t row = 0; row < rows; ++row) {
    auto& columns = all[static_cast<size_t>(row)];
    if (row % alike != 0) {
      columns = all[static_cast<size_t>(row - 1)];
      continue;
    }
    if (some_empty && one_in(random, 3)) continue;
    for (const detail::Piece& piece : pieces) piece.add(row, columns);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
  }
  if (one_in(random, 5)) {
    const int64_t first = random_int(random, 0, rows - 1), last = random_int(random, first, rows - 1);
    for (int64_t row = first; row <= last; ++row) all[static_cast<size_t>(row)].clear();
  }
  if (one_in(random, 6)) std::shuffle(all.begin(), all.end(), random);
  if (one_in(random, 6)) {
    std::vector<int64_t> places(static_cast<size_t>(cols));
    std::iota(places.begin(), places.end(), int64_t{0});
    std::shuffle(places.begin(), places.end(), random);
    for (auto& columns : all) {
      for (int64_t& column : columns) column = places[static_cast<size_t>(column)];
      std::sort(columns.begin(), columns.end());
    }
  }
  return all;
}

/// Some of the columns twice, in any order.
inline void leave_order(Random& random, RowsOfColumns& rows) {
  for (auto& columns : rows) {
    if (!columns.empty() && one_in(random, 3)) columns.push_back(columns[random() % columns.size()]);
    if (one_in(random, 2)) std::shuffle(columns.begin(), columns.end(), random);
  }
}

/// Row i has column i.
inline void add_diagonal(RowsOfColumns& rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto column = static_cast<int64_t>(i);
    const auto at = std::lower_bound(rows[i].begin(), rows[i].end(), column);
    if (at == rows[i].end() || *at != column) rows[i].insert(at, column);
  }
}

}  // namespace kkc_test
