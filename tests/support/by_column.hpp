// Rows of sparse matrices in the making.
#pragma once

#include <algorithm>
#include <cstdint>
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

  /// The row by columns; the next one begins empty.
  std::vector<std::pair<int64_t, Entry>> take() {
    for (const auto& entry : row_) places_[static_cast<size_t>(entry.first)] = -1;
    const auto before = [](const auto& a, const auto& b) { return a.first < b.first; };
    if (!std::is_sorted(row_.begin(), row_.end(), before)) std::sort(row_.begin(), row_.end(), before);
    return std::exchange(row_, {});
  }

 private:
  std::vector<int32_t> places_;  // by column; -1: not in the row
  std::vector<std::pair<int64_t, Entry>> row_;
};

/// The rows of A, or of its transpose: each entry's column and the place of its value.
template <class T>
std::vector<std::vector<std::pair<int64_t, size_t>>> places_by_row(const HostCsr<T>& A, bool transposed) {
  std::vector<std::vector<std::pair<int64_t, size_t>>> rows(static_cast<size_t>(transposed ? A.cols : A.rows));
  for (int64_t i = 0; i < A.rows; ++i)
    for (auto p = static_cast<size_t>(A.offsets[static_cast<size_t>(i)]);
         p < static_cast<size_t>(A.offsets[static_cast<size_t>(i) + 1]); ++p)
      rows[static_cast<size_t>(transposed ? A.indices[p] : i)].emplace_back(transposed ? i : A.indices[p], p);
  return rows;
}

}  // namespace kkc_test
