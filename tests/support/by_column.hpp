// Rows of sparse matrices in the making.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "support/host_csr.hpp"

namespace kkc_test {

/// One row after the other, of entries that are found by their column.
template <class Entry>
class ByColumn {
 public:
  /// The entry of that column, a new one at its first mention.
  Entry& operator[](int64_t column) {
    const auto c = static_cast<size_t>(column);
    if (c >= places_.size()) places_.resize(std::max(c + 1, 2 * places_.size()), -1);
    if (places_[c] < 0) {
      places_[c] = static_cast<int32_t>(row_.size());
      row_.emplace_back(column, Entry());
    }
    return row_[static_cast<size_t>(places_[c])].second;
  }

  /// The row by columns.
  const std::vector<std::pair<int64_t, Entry>>& in_order() {
    const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
    if (!std::is_sorted(row_.begin(), row_.end(), before)) std::sort(row_.begin(), row_.end(), before);
    for (size_t k = 0; k < row_.size(); ++k) places_[static_cast<size_t>(row_[k].first)] = static_cast<int32_t>(k);
    return row_;
  }
  void clear() {
    for (const auto& entry : row_) places_[static_cast<size_t>(entry.first)] = -1;
    row_.clear();
  }
  /// Both.
  std::vector<std::pair<int64_t, Entry>> take() {
    std::vector<std::pair<int64_t, Entry>> taken(in_order());
    clear();
    return taken;
  }

 private:
  std::vector<int32_t> places_;  // by column; -1: not in the row
  std::vector<std::pair<int64_t, Entry>> row_;
};

/// The rows of A, or of its transpose: each entry's column and the place of its value.
class PlacesByRow {
 public:
  template <class T>
  PlacesByRow(const HostCsr<T>& A, bool transposed)
      : offsets_(static_cast<size_t>(transposed ? A.cols : A.rows) + 1), entries_(A.indices.size()) {
    const auto row_of = [&](int64_t i, size_t p) { return static_cast<size_t>(transposed ? A.indices[p] : i); };
    for_each_entry(A, [&](int64_t i, size_t p) { ++offsets_[row_of(i, p) + 1]; });
    std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
    std::vector<size_t> next(offsets_.begin(), offsets_.end() - 1);
    for_each_entry(A, [&](int64_t i, size_t p) {
      entries_[next[row_of(i, p)]++] = {transposed ? i : A.indices[p], p};
    });
  }
  size_t size() const { return offsets_.size() - 1; }
  std::span<const std::pair<int64_t, size_t>> operator[](size_t row) const {
    return {entries_.data() + offsets_[row], offsets_[row + 1] - offsets_[row]};
  }

 private:
  template <class T, class F>
  static void for_each_entry(const HostCsr<T>& A, F&& f) {
    for (int64_t i = 0; i < A.rows; ++i)
      for (auto p = static_cast<size_t>(A.offsets[static_cast<size_t>(i)]);
           p < static_cast<size_t>(A.offsets[static_cast<size_t>(i) + 1]); ++p)
        f(i, p);
  }

  std::vector<size_t> offsets_;
  std::vector<std::pair<int64_t, size_t>> entries_;
};

}  // namespace kkc_test
