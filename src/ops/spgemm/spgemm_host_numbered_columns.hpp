// Columns of rows of C that are like no other, numbered as the products of each row meet them and then put in order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "ops/spgemm/spgemm_host_columns.hpp"

namespace kkc::spgemm {

/// Numbers run on from row to row, so that a column's last number tells whether a row met it, and nothing is emptied
/// between two rows. Few columns of a row are put in order by comparing each with all, without a branch that nothing
/// foretells.
template <class I>
class NumberedColumns {
 public:
  using Number = std::make_unsigned_t<I>;

  explicit NumberedColumns(int64_t cols) : last_(static_cast<size_t>(cols), 0), set_(cols) {}

  /// A row whose columns are being numbered.
  class Row {
   public:
    /// Of a column, the same however often it comes.
    Number number_of(I column) {
      Number& last = last_[column];
      // The smaller of both without a branch; what other rows met is far too large.
      const Number known = last - first_, is_new = known >= met_ ? 1 : 0,
                   number = known ^ ((known ^ met_) & (Number{0} - is_new));
      columns_[met_] = column;
      met_ += is_new;
      return last = first_ + number;
    }
    /// How many there are so far.
    int64_t size() const { return static_cast<int64_t>(met_); }

   private:
    friend NumberedColumns;
    Number *const last_, first_;
    I* const columns_;
    Number met_ = 0;
    Row(Number* last, Number first, I* columns) : last_(last), first_(first), columns_(columns) {}
  };

  /// The next row, which names at most so many columns.
  Row begin(int64_t most) {
    if (static_cast<int64_t>(columns_.size()) < most + compared_at_once)
      columns_.resize(static_cast<size_t>(most + compared_at_once));
    return {last_.data(), next_, columns_.data()};
  }
  /// Its first number; the others follow.
  Number next() const { return next_; }

  /// Ends the row: writes its columns to `to` in ascending order, and `before` and each number's place in them to
  /// ranks. Both have room for compared_at_once more.
  void end(const Row& row, uint32_t before, uint32_t* ranks, I* to) {
    const int64_t m = row.size();
    if (m <= most_compared)
      compare(m, before, ranks, to);
    else
      mark(m, before, ranks, to);
    next_ += row.met_;
  }
  static constexpr int64_t compared_at_once = 8;

  /// Numbers of rows that have ended are not asked for any more.
  void forget() {
    if (next_ <= std::numeric_limits<Number>::max() / 2) return;
    std::fill(last_.begin(), last_.end(), 0);
    next_ = 1;
  }

 private:
  static constexpr int64_t most_compared = 64;

  void compare(int64_t m, uint32_t before, uint32_t* ranks, I* to) {
    I* const columns = columns_.data();
    std::fill_n(columns + m, compared_at_once, std::numeric_limits<I>::max());
    for (int64_t p = 0; p < m; p += compared_at_once) {  // those behind the last column go behind the row
      I behind[compared_at_once] = {};
      for (int64_t q = 0; q < m; ++q)
        for (int64_t lane = 0; lane < compared_at_once; ++lane)
          behind[lane] = static_cast<I>(behind[lane] + (columns[q] < columns[p + lane] ? 1 : 0));
      for (int64_t lane = 0; lane < compared_at_once; ++lane) {
        ranks[p + lane] = before + static_cast<uint32_t>(behind[lane]);
        to[behind[lane]] = columns[p + lane];
      }
    }
  }
  void mark(int64_t m, uint32_t before, uint32_t* ranks, I* to) {
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
    for (int64_t p = 0; p < m; ++p) {
      const int64_t place = set_.place(columns[p]);
      ranks[p] = before + static_cast<uint32_t>(place);
      to[place] = columns[p];
    }
    set_.forget_all(columns, m);
  }
  template <ColumnSet::Visits visits>
  void insert(int64_t m) {
    for (int64_t p = 0; p < m; ++p) set_.insert<visits>(columns_[static_cast<size_t>(p)]);
  }

  std::vector<Number> last_;  // of columns
  Number next_ = 1;
  std::vector<I> columns_;  // of the row, by their numbers
  ColumnSet set_;
};

}  // namespace kkc::spgemm
