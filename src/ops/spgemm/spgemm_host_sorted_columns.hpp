// Columns of one row of C by sorting those of its products: for rows whose products nearly all have columns of their
// own, where a bitmap of all columns would leave the innermost cache at each product.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "device/host_pattern_ref.hpp"

namespace kkc::spgemm {

/// A stable radix sort of (column, product) pairs, lowest digit first [Knuth, The Art of Computer Programming
/// 3, 5.2.5].
class SortedColumns {
  static constexpr int digit_bits = 11;

 public:
  /// Rows of so many products are worth clearing the digits' counts, and can be numbered.
  static constexpr int64_t fewest = 256, most = 1 << 16;
  /// Fewer columns are a bitmap in the innermost cache; more would take a third digit.
  static constexpr int64_t fewest_columns = 1 << 17, most_columns = int64_t{1} << (2 * digit_bits);

  explicit SortedColumns(int64_t cols) : shift_((std::bit_width(static_cast<uint64_t>(cols - 1)) + 1) / 2) {}

  static bool takes(int64_t products, int64_t cols) {
    return products >= fewest && products <= most && cols >= fewest_columns && cols <= most_columns;
  }

  /// The rows of B of the row that comes next: they lie far apart, and a row takes longer than their way.
  template <class Row, class I, class O>
  [[gnu::always_inline]] static void fetch(const Row& row, const HostPatternRef<I, O>& B) {
    constexpr int64_t line = 64 / sizeof(I);
    for (int64_t k = 0; k < row.size(); ++k)
      for (int64_t q = B.begin(row.column(k)), last = std::min(B.end(row.column(k)), q + 3 * line); q < last; q += line)
        __builtin_prefetch(B.indices + q);
  }

  /// Writes the columns of the rows of B that `row` reaches, of so many products, in ascending order, each once, and
  /// the place of each product in them. Returns the columns' number.
  template <class Row, class I, class O>
  int64_t make(const Row& row, const HostPatternRef<I, O>& B, int64_t products, I* columns, uint16_t* places) {
    clear(static_cast<size_t>(products));
    size_t product = 0;
    for (int64_t k = 0; k < row.size(); ++k)
      for (int64_t q = B.begin(row.column(k)), end = B.end(row.column(k)); q < end; ++q) add(product++, B.column(q));
    return take(product, columns, places);
  }

 private:
  using Counts = std::array<uint32_t, size_t{1} << digit_bits>;

  void clear(size_t products) {
    if (pairs_.size() < products) {
      pairs_.resize(products);
      turned_.resize(products);
    }
    const size_t digits = size_t{1} << shift_;
    std::fill_n(low_.begin(), digits, 0);
    std::fill_n(high_.begin(), digits, 0);
  }

  void add(size_t product, int64_t column) {
    const auto c = static_cast<uint64_t>(column);
    pairs_[product] = c << 16 | product;
    ++low_[c & mask()];
    ++high_[c >> shift_];
  }

  template <class I>
  int64_t take(size_t products, I* columns, uint16_t* places) {
    start(low_);
    start(high_);
    uint64_t *const pairs = pairs_.data(), *const turned = turned_.data();
    for (size_t p = 0; p < products; ++p) turned[low_[pairs[p] >> 16 & mask()]++] = pairs[p];
    for (size_t p = 0; p < products; ++p) pairs[high_[turned[p] >> (16 + shift_)]++] = turned[p];
    int64_t last = -1;
    uint64_t before = ~uint64_t{0};
    for (size_t p = 0; p < products; ++p) {
      const uint64_t column = pairs[p] >> 16;
      last += column != before ? 1 : 0;
      columns[last] = static_cast<I>(column);
      places[pairs[p] & 0xffff] = static_cast<uint16_t>(last);
      before = column;
    }
    return last + 1;
  }

  uint64_t mask() const { return (uint64_t{1} << shift_) - 1; }
  void start(Counts& counts) const {
    uint32_t before = 0;
    for (size_t digit = 0, digits = size_t{1} << shift_; digit < digits; ++digit) {
      const uint32_t here = counts[digit];
      counts[digit] = before;
      before += here;
    }
  }

  int shift_;                             // of the higher digit
  std::vector<uint64_t> pairs_, turned_;  // column << 16 | product
  Counts low_, high_;
};

}  // namespace kkc::spgemm
