// The search behind rows of products with aggregates of which no two are alike: C's columns, and the places of A's
// entries in batches of rows (spgemm_host_aggregate_batches.hpp). What every entry takes runs over the entries of many
// rows at once, so that rows of any length cost few branches of their own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "ops/spgemm/spgemm_host_aggregate_batches.hpp"
#include "ops/spgemm/spgemm_host_known_rows.hpp"
#include "ops/spgemm/spgemm_host_numbered_columns.hpp"
#include "ops/spgemm/spgemm_host_steps.hpp"

namespace kkc::spgemm {

/// Bytes of a mark in a row of so many columns; 1: masks.
template <class E>
constexpr size_t mark_bytes(int64_t columns) {
  if (columns <= mask_columns && StepVector<E>::expands) return 1;
  return columns < std::numeric_limits<uint16_t>::max() ? 2 : 4;
}

/// Rows of a chunk, as a search left them: in all, and the listed ones.
template <class I>
struct SearchedRows {
  int64_t entries = 0, products = 0, without_diagonal = -1;
  int64_t loose = 0;  // the first row of those in batches
  size_t by = 0;      // the thread whose known rows are meant
  std::vector<uint32_t> counts;
  std::vector<I> columns;
  std::vector<std::byte> marks;
};

/// What a thread searches such rows with. `unit`: rows of I + A, each with its diagonal entry in A.
template <class E, class I, class O, bool unit>
class LooseRows {
  using Pattern = HostPatternRef<I, O>;
  using Numbered = NumberedColumns<I>;
  using Number = typename Numbered::Number;
  using Found = SearchedRows<I>;

 public:
  explicit LooseRows(int64_t cols) : numbered_(cols) {}

  /// The rows from found.loose on.
  template <bool full>
  void find(const Pattern& A, const Pattern& B, int64_t end, Found& found) {
    filled_ = static_cast<int64_t>(found.columns.size());
    if (found.loose < end) {
      const int64_t rows = end - found.loose, entries = A.end(end - 1) - A.begin(found.loose) + unit * rows;
      found.marks.reserve(found.marks.size() + 2 * static_cast<size_t>(entries));
      found.counts.reserve(found.counts.size() + static_cast<size_t>(rows));
    }
    begin_batch();
    for (int64_t i = found.loose; i < end;) {
      const int64_t begin = A.begin(i);
      int64_t last = i + 1;
      while (last < end && A.end(last) - begin <= looked_at_once) ++last;
      look<full>(A, B, begin, A.end(last - 1) - begin);
      for (; i < last; ++i)
        if (!number_row<full>(A, B, i, begin, found)) {
          found.without_diagonal = i;
          return;
        }
      place<full>(A.end(last - 1) - begin);
    }
    close(found.marks);
    found.columns.resize(static_cast<size_t>(filled_));
  }

 private:
  static constexpr int64_t looked_at_once = 2048;
  static constexpr Number none = std::numeric_limits<Number>::max();

  /// The aggregates of `count` entries from `begin` on; negative: none.
  template <bool full>
  void look(const Pattern& A, const Pattern& B, int64_t begin, int64_t count) {
    numbered_.forget();
    first_ = numbered_.next();
    placed_ = 0;
    if (static_cast<int64_t>(aggregates_.size()) < count) {
      aggregates_.resize(static_cast<size_t>(count));
      numbers_.resize(static_cast<size_t>(count));
    }
    const int64_t fetched = std::clamp<int64_t>(A.nnz - begin - entries_fetched_ahead, 0, count);
    I* const to = aggregates_.data();
    for (int64_t k = 0; k < fetched; ++k) {
      fetch_single_entry<full>(B, B.indices, A.column(begin + k + entries_fetched_ahead));
      to[k] = aggregate_of<full>(B, A.column(begin + k));
    }
    for (int64_t k = fetched; k < count; ++k) to[k] = aggregate_of<full>(B, A.column(begin + k));
  }

  /// Row i, whose entries were looked at with those from `begin` on. False: its diagonal entry is missing.
  template <bool full>
  bool number_row(const Pattern& A, const Pattern& B, int64_t i, int64_t begin, Found& found) {
    const int64_t at = A.begin(i) - begin, n = A.end(i) - A.begin(i);
    auto row = numbered_.begin(n + unit);
    const auto number_of = [&row](I aggregate) { return full || aggregate >= 0 ? row.number_of(aggregate) : none; };
    Number own = none;
    if constexpr (unit) own = number_of(aggregate_of<full>(B, i));
    bool diagonal = !unit;
    int64_t missing = 0;
    const I* const aggregates = aggregates_.data();
    Number* const numbers = numbers_.data();
    for (int64_t k = at; k < at + n; ++k) {
      if (unit) diagonal |= A.column(begin + k) == i;
      numbers[k] = number_of(aggregates[k]);
      if (!full) missing += aggregates[k] < 0 ? 1 : 0;
    }
    if (!diagonal) return false;
    const int64_t m = row.size();
    found.products += n - missing;
    found.counts.push_back(static_cast<uint32_t>(m));
    found.entries += m;
    if (columns_ + m > batch_room<E> || rows_ == batch_room<E>) {
      place<full>(at);
      close(found.marks);
    }
    rank(row, found.columns);
    if (m > batch_room<E>) {
      append_alone(own, at, n, mark_bytes<E>(m), found.marks);
      placed_ = at + n;
      return true;
    }
    if (unit) own_.push_back(place_of(own));
    ++rows_;
    columns_ += m;
    return true;
  }

  /// Appends the row's aggregates, in order, to the columns, and says where each of its numbers stands.
  void rank(const typename Numbered::Row& row, std::vector<I>& columns) {
    const auto from = static_cast<int64_t>(numbered_.next() - first_);
    const int64_t m = row.size(), room = m + Numbered::compared_at_once;
    if (static_cast<int64_t>(ranks_.size()) < from + room) ranks_.resize(static_cast<size_t>(2 * (from + room)));
    if (static_cast<int64_t>(columns.size()) < filled_ + room)
      columns.resize(static_cast<size_t>(2 * (filled_ + room)));
    numbered_.end(row, static_cast<uint32_t>(columns_), ranks_.data() + from, columns.data() + filled_);
    filled_ += m;
  }

  uint32_t rank_of(Number number) const { return ranks_[static_cast<size_t>(number - first_)]; }
  uint16_t place_of(Number number) const {
    return number == none ? no_place<uint16_t> : static_cast<uint16_t>(rank_of(number));
  }
  /// The entries up to `end` of those looked at.
  template <bool full>
  void place(int64_t end) {
    const size_t at = places_.size(), count = static_cast<size_t>(end - placed_);
    places_.resize(at + count);
    const Number* const numbers = numbers_.data() + placed_;
    for (size_t k = 0; k < count; ++k)
      places_[at + k] = full ? static_cast<uint16_t>(rank_of(numbers[k])) : place_of(numbers[k]);
    placed_ = end;
  }
  /// The marks of a row in no batch, `each` bytes for each.
  void append_alone(Number own, int64_t at, int64_t n, size_t each, std::vector<std::byte>& marks) {
    marks.resize(marks.size() + each * static_cast<size_t>(n + unit));
    std::byte* to = marks.data() + marks.size() - each * static_cast<size_t>(n + unit);
    const auto append = [&](Number number) {
      const uint16_t narrow = place_of(number);
      const uint32_t wide = number == none ? no_place<uint32_t> : rank_of(number);
      std::memcpy(to, each == 2 ? static_cast<const void*>(&narrow) : &wide, each);
      to += each;
    };
    if (unit) append(own);
    for (int64_t k = at; k < at + n; ++k) append(numbers_[static_cast<size_t>(k)]);
  }

  /// Appends the marks of the batch and begins anew.
  void close(std::vector<std::byte>& marks) {
    for (const std::vector<uint16_t>* const part : {&own_, &places_}) {
      const auto* const bytes = reinterpret_cast<const std::byte*>(part->data());
      marks.insert(marks.end(), bytes, bytes + part->size() * sizeof(uint16_t));
    }
    begin_batch();
  }
  void begin_batch() {
    own_.clear();
    places_.clear();
    rows_ = columns_ = 0;
  }

  Numbered numbered_;  // a row's aggregates
  // Of the entries looked at; the first placed_ have their places.
  std::vector<I> aggregates_;
  std::vector<Number> numbers_;
  int64_t placed_ = 0;
  Number first_ = 1;             // of their numbers
  std::vector<uint32_t> ranks_;  // the place of each number among the batch's columns
  int64_t filled_ = 0;           // of the chunk's columns
  // Of the batch.
  std::vector<uint16_t> own_, places_;
  int64_t rows_ = 0, columns_ = 0;
};

}  // namespace kkc::spgemm
