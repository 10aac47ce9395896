// Columns of one row of C with products that meet often, a few hundred at most, as on unstructured meshes: the products
// leave each column once, and vector registers put them in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ops/spgemm/spgemm_host_column_vectors.hpp"

namespace kkc::spgemm {

/// A column's stamp says which row met it last. Up to 256 columns are sorted in registers, more by std::sort.
class StampedColumns {
 public:
  /// Whether this build sorts such columns by vectors; of rows of so many products at most.
  template <class I>
  static constexpr bool suits() {
    return ColumnVectors::suit<I>();
  }
  static constexpr int64_t most_products = 2048;

  explicit StampedColumns(int64_t cols) : stamps_(static_cast<size_t>(cols), 0) {}

  /// Writes the columns of the rows of B that `row` reaches, `products` in all, to `to` in ascending order, each once,
  /// and returns their number. `to` has room for as many as there are products, and lanes more. ahead:
  /// RowsAhead::OfRow.
  template <class Row, class B, class Ahead, class I>
  int64_t make(const Row& row, const B& b, const Ahead& ahead, I* to) {
    if (++stamp_ == 0) {
      std::fill(stamps_.begin(), stamps_.end(), 0);
      stamp_ = 1;
    }
    int64_t count = 0;
    for (int64_t k = 0; k < row.size(); ++k) {
      ahead.fetch(row, k, b.indices);
      for (int64_t q = b.begin(row.column(k)), end = b.end(row.column(k)); q < end; ++q) {
        const int64_t column = b.column(q);
        uint16_t& stamp = stamps_[static_cast<size_t>(column)];
        to[count] = static_cast<I>(column);
        count += stamp != stamp_ ? 1 : 0;
        stamp = stamp_;
      }
    }
    sort(to, count);
    return count;
  }
  static constexpr int64_t lanes = ColumnVectors::lanes;

  /// In ascending order; there is room for lanes more.
  template <class I>
  static void sort(I* columns, int64_t count) {
#if defined(__AVX512F__) || defined(__AVX2__)
    if constexpr (sizeof(I) == 4)
      if (count <= ColumnVectors::most) {
        if (count > 1) ColumnVectors::with_vectors(count, [=](auto used) { sort_vectors<used()>(columns, count); });
        return;
      }
#endif
    std::sort(columns, columns + count);
  }

 private:
#if defined(__AVX512F__) || defined(__AVX2__)
  template <int used>
  static void sort_vectors(int32_t* columns, int64_t count) {
    ColumnVectors::V v[used];
    ColumnVectors::load<used>(columns, count, v);
    ColumnVectors::sort<used>(v);
    for (int i = 0; i < used && i * lanes < count; ++i) ColumnVectors::write(columns + i * lanes, v[i]);
  }
#endif

  std::vector<uint16_t> stamps_;
  uint16_t stamp_ = 0;
};

}  // namespace kkc::spgemm
