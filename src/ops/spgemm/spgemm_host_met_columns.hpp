// Columns of rows of C that are like no other, collected as the products of each row meet them and then put in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "ops/spgemm/spgemm_host_column_vectors.hpp"
#include "ops/spgemm/spgemm_host_columns.hpp"

namespace kkc::spgemm {

/// A column says which row met it last, so that nothing is emptied between two rows and no branch has to be guessed.
/// Few columns of a row are put in order without such a branch either: in registers, or by comparing each with all.
/// Count counts rows.
template <class I, class Count = uint32_t>
class MetColumns {
  struct Column {
    Count row = 0;  // that met it last
    uint32_t place = 0;
  };

 public:
  explicit MetColumns(int64_t cols) : known_(static_cast<size_t>(cols)), set_(cols) {}

  /// A row whose columns are being met.
  class Row {
   public:
    void meet(I column) {
      Count& last = known_[column].row;
      columns_[met_] = column;
      met_ += last == row_ ? 0 : 1;
      last = row_;
    }
    /// How many there are so far.
    int64_t size() const { return met_; }
    /// As they were met.
    const I* columns() const { return columns_; }

   private:
    friend MetColumns;
    Column* const known_;
    I* const columns_;
    const Count row_;
    int64_t met_ = 0;
    Row(Column* known, I* columns, Count row) : known_(known), columns_(columns), row_(row) {}
  };

  /// The next row, which names at most so many columns.
  Row begin(int64_t most) {
    if (static_cast<int64_t>(columns_.size()) < most + more_room)
      columns_.resize(static_cast<size_t>(most + more_room));
    if (row_ == std::numeric_limits<Count>::max()) {
      std::fill(known_.begin(), known_.end(), Column());
      row_ = 0;
    }
    return {known_.data(), columns_.data(), ++row_};
  }

  /// Ends the row: writes its columns to `to` in ascending order, where there is room for more_room more. The
  /// first one's place is `before`.
  void end(const Row& row, uint32_t before, I* to) {
    const int64_t m = row.size();
    if (!sorts && m <= most_compared)
      compare(m, to);
    else if (sorts && m <= ColumnVectors::most)
      sort(m, to);
    else
      mark(m, to);
    for (int64_t p = 0; p < m; ++p) known_[static_cast<size_t>(to[p])].place = before + static_cast<uint32_t>(p);
  }
  /// Where the last row that has ended has a column of its own.
  uint32_t place_of(I column) const { return known_[static_cast<size_t>(column)].place; }

  static constexpr int64_t more_room = 16;

 private:
  static constexpr int64_t compared_at_once = 8;
  static constexpr int64_t most_compared = 64;
  static constexpr bool sorts = ColumnVectors::suit<I>();

  void sort([[maybe_unused]] int64_t m, [[maybe_unused]] I* to) {
#if defined(__AVX512F__) || defined(__AVX2__)
    if constexpr (sorts)
      if (m > 0)
        ColumnVectors::with_vectors(m, [&](auto used) {
          ColumnVectors::V v[used];
          ColumnVectors::load<used>(columns_.data(), m, v);
          ColumnVectors::sort<used>(v);
          for (int i = 0; i < used && i * ColumnVectors::lanes < m; ++i)
            ColumnVectors::write(to + i * ColumnVectors::lanes, v[i]);
        });
#endif
  }

  void compare(int64_t m, I* to) {
    I* const columns = columns_.data();
    std::fill_n(columns + m, compared_at_once, std::numeric_limits<I>::max());
    for (int64_t p = 0; p < m; p += compared_at_once) {  // those behind the last column go behind the row
      I behind[compared_at_once] = {};
      for (int64_t q = 0; q < m; ++q)
        for (int64_t lane = 0; lane < compared_at_once; ++lane)
          behind[lane] = static_cast<I>(behind[lane] + (columns[q] < columns[p + lane] ? 1 : 0));
      for (int64_t lane = 0; lane < compared_at_once; ++lane) to[behind[lane]] = columns[p + lane];
    }
  }
  void mark(int64_t m, I* to) {
    using Visits = ColumnSet::Visits;
    const Visits visits = set_.expect(m);
    if (visits == Visits::words)
      insert<Visits::words>(m);
    else if (visits == Visits::groups)
      insert<Visits::groups>(m);
    else
      insert<Visits::levels>(m);
    set_.rank();
    const I* const columns = columns_.data();
    for (int64_t p = 0; p < m; ++p) to[set_.place(columns[p])] = columns[p];
    std::fill_n(to + m, compared_at_once, std::numeric_limits<I>::max());
    set_.forget_all(columns, m);
  }
  template <ColumnSet::Visits visits>
  void insert(int64_t m) {
    for (int64_t p = 0; p < m; ++p) set_.insert<visits>(columns_[static_cast<size_t>(p)]);
  }

  std::vector<Column> known_;
  Count row_ = 0;
  std::vector<I> columns_;  // of the row, as they were met
  ColumnSet set_;
};

}  // namespace kkc::spgemm
