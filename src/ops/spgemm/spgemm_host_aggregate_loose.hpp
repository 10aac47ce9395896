// The search behind rows of products with aggregates of which no two are alike: C's columns, and the places of A's
// entries in batches of rows (spgemm_host_aggregate_batches.hpp). Aggregates are looked up for the entries of many rows
// at once, so that rows of any length cost few branches of their own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "ops/spgemm/spgemm_host_aggregate_batches.hpp"
#include "ops/spgemm/spgemm_host_few_met.hpp"
#include "ops/spgemm/spgemm_host_known_rows.hpp"
#include "ops/spgemm/spgemm_host_met_columns.hpp"
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
  using Columns = MetColumns<I>;
  using Found = SearchedRows<I>;

 public:
  explicit LooseRows(int64_t cols) : met_(cols) {}

  /// The rows from found.loose on.
  template <bool full>
  void find(const Pattern& A, const Pattern& B, int64_t end, Found& found) {
    filled_ = static_cast<int64_t>(found.columns.size());
    marked_ = found.marks.size();
    if (found.loose < end) {
      const int64_t rows = end - found.loose, entries = A.end(end - 1) - A.begin(found.loose) + unit * rows;
      found.marks.resize(marked_ + 2 * static_cast<size_t>(entries + margin));
      found.counts.reserve(found.counts.size() + static_cast<size_t>(rows));
    }
    begin_batch();
    for (int64_t i = found.loose; i < end;) {
      const int64_t begin = A.begin(i);
      int64_t last = i + 1;
      while (last < end && A.end(last) - begin <= looked_at_once) ++last;
      look<full>(A, B, begin, A.end(last - 1) - begin);
      for (; i < last; ++i)
        if (!make_row<full>(A, B, i, begin, found)) {
          found.without_diagonal = i;
          return;
        }
    }
    close(found.marks);
    found.columns.resize(static_cast<size_t>(filled_));
    found.marks.resize(marked_);
  }

 private:
  static constexpr int64_t looked_at_once = 2048, placed_at_once = 4;
  static constexpr int64_t margin = FewMet::most + 1;  // of aggregates and places that are written, but not meant

  /// The aggregates of `count` entries from `begin` on; negative: none.
  template <bool full>
  void look(const Pattern& A, const Pattern& B, int64_t begin, int64_t count) {
    // Entries behind the last are placed, too: without columns there is no aggregate 0.
    if (static_cast<int64_t>(aggregates_.size()) < count + placed_at_once)
      aggregates_.resize(static_cast<size_t>(count + placed_at_once), full ? I{0} : I{-1});
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
  bool make_row(const Pattern& A, const Pattern& B, int64_t i, int64_t begin, Found& found) {
    const int64_t at = A.begin(i) - begin, n = A.end(i) - A.begin(i);
    const I* const aggregates = aggregates_.data() + at;
    if constexpr (FewMet::suits<I>() && full && !unit)
      if (n > 0 && n <= FewMet::most) {
        make_short_row(aggregates, n, found);
        return true;
      }
    auto row = met_.begin(n + unit);
    const auto meet = [&row](I aggregate) {
      if (full || aggregate >= 0) row.meet(aggregate);
    };
    [[maybe_unused]] I own = -1;
    if constexpr (unit) meet(own = aggregate_of<full>(B, i));
    bool diagonal = !unit;
    int64_t missing = 0;
    for (int64_t k = 0; k < n; ++k) {
      if (unit) diagonal |= A.column(A.begin(i) + k) == i;
      meet(aggregates[k]);
      if (!full) missing += aggregates[k] < 0 ? 1 : 0;
    }
    if (!diagonal) return false;
    const int64_t m = row.size();
    met_.end(row, static_cast<uint32_t>(begin_row(m, n - missing, found)), room_for_columns(m, found));
    filled_ += m;
    if (m > batch_room<E>) {
      append_alone(own, aggregates, n, mark_bytes<E>(m), found.marks);
      return true;
    }
    if (unit) own_.push_back(place_of<full>(own));
    place<full>(aggregates, n, found.marks);
    ++rows_;
    columns_ += m;
    return true;
  }

  /// A row of few entries, each of which meets an aggregate.
  void make_short_row([[maybe_unused]] const I* aggregates, [[maybe_unused]] int64_t n, [[maybe_unused]] Found& found) {
    if constexpr (FewMet::suits<I>()) {
      I* const columns = room_for_columns(n, found);
      const int64_t m = FewMet::collect(aggregates, n, columns), before = begin_row(m, n, found);
      FewMet::place(aggregates, n, columns, m, static_cast<uint32_t>(before), room_for_marks(2 * n, found.marks));
      marked_ += 2 * static_cast<size_t>(n);
      filled_ += m;
      ++rows_;
      columns_ += m;
    }
  }

  /// Counts a row of m columns, in the next batch if this one has no room. Returns the batch's columns before it.
  int64_t begin_row(int64_t m, int64_t products, Found& found) {
    found.products += products;
    found.counts.push_back(static_cast<uint32_t>(m));
    found.entries += m;
    if (columns_ + m > batch_room<E> || rows_ == batch_room<E>) close(found.marks);
    return columns_;
  }
  I* room_for_columns(int64_t m, Found& found) const {
    const auto room = static_cast<size_t>(filled_ + m + margin);
    if (found.columns.size() < room) found.columns.resize(2 * room);
    return found.columns.data() + filled_;
  }
  std::byte* room_for_marks(int64_t bytes, std::vector<std::byte>& marks) const {
    return room_in(marks, marked_, bytes);
  }
  static std::byte* room_in(std::vector<std::byte>& marks, size_t filled, int64_t bytes) {
    const size_t room = filled + static_cast<size_t>(bytes + 2 * margin);
    if (marks.size() < room) marks.resize(2 * room);
    return marks.data() + filled;
  }

  template <bool full>
  uint16_t place_of(I aggregate) const {
    return full || aggregate >= 0 ? static_cast<uint16_t>(met_.place_of(aggregate)) : no_place<uint16_t>;
  }
  /// Of a row's entries. Some at once, also behind the last, so that rows of like lengths take as many steps.
  template <bool full>
  void place(const I* aggregates, int64_t n, std::vector<std::byte>& marks) {
    std::byte* const to = unit ? room_in(places_, placed_, 2 * n) : room_for_marks(2 * n, marks);
    for (int64_t k = 0; k < n; k += placed_at_once) {
      uint16_t some[placed_at_once];
      for (int64_t e = 0; e < placed_at_once; ++e) some[e] = place_of<full>(aggregates[k + e]);
      std::memcpy(to + 2 * k, some, sizeof(some));
    }
    (unit ? placed_ : marked_) += 2 * static_cast<size_t>(n);
  }
  /// The marks of a row in no batch, `each` bytes for each.
  void append_alone(I own, const I* aggregates, int64_t n, size_t each, std::vector<std::byte>& marks) {
    const int64_t bytes = static_cast<int64_t>(each) * (n + unit);
    std::byte* to = room_for_marks(bytes, marks);
    marked_ += static_cast<size_t>(bytes);
    const auto append = [&](I aggregate) {
      const uint16_t narrow = place_of<false>(aggregate);
      const uint32_t wide = aggregate < 0 ? no_place<uint32_t> : met_.place_of(aggregate);
      std::memcpy(to, each == 2 ? static_cast<const void*>(&narrow) : &wide, each);
      to += each;
    };
    if (unit) append(own);
    for (int64_t k = 0; k < n; ++k) append(aggregates[k]);
  }

  /// Ends the batch and begins the next. Where rows have a mark of their own, these come before the entries'.
  void close(std::vector<std::byte>& marks) {
    if constexpr (unit) {
      const size_t own = own_.size() * sizeof(uint16_t);
      std::byte* const to = room_for_marks(static_cast<int64_t>(own + placed_), marks);
      std::copy_n(reinterpret_cast<const std::byte*>(own_.data()), own, to);
      std::copy_n(places_.data(), placed_, to + own);
      marked_ += own + placed_;
    }
    begin_batch();
  }
  void begin_batch() {
    own_.clear();
    placed_ = 0;
    rows_ = columns_ = 0;
  }

  Columns met_;                // a row's aggregates
  std::vector<I> aggregates_;  // of the entries looked at
  int64_t filled_ = 0;         // of the chunk's columns
  size_t marked_ = 0;          // bytes of its marks
  // Of the batch; own_, places_: of rows with a mark of their own.
  std::vector<uint16_t> own_;
  std::vector<std::byte> places_;
  size_t placed_ = 0;  // bytes of places_
  int64_t rows_ = 0, columns_ = 0;
};

}  // namespace kkc::spgemm
