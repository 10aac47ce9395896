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
        if (!make_row<full>(A, B, i, begin, found)) {
          found.without_diagonal = i;
          return;
        }
    }
    close(found.marks);
    found.columns.resize(static_cast<size_t>(filled_));
  }

 private:
  static constexpr int64_t looked_at_once = 2048, placed_at_once = 4;

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
    found.products += n - missing;
    found.counts.push_back(static_cast<uint32_t>(m));
    found.entries += m;
    if (columns_ + m > batch_room<E> || rows_ == batch_room<E>) close(found.marks);
    const int64_t room = filled_ + m + Columns::compared_at_once;
    if (static_cast<int64_t>(found.columns.size()) < room) found.columns.resize(static_cast<size_t>(2 * room));
    met_.end(row, static_cast<uint32_t>(columns_), found.columns.data() + filled_);
    filled_ += m;
    if (m > batch_room<E>) {
      append_alone(own, aggregates, n, mark_bytes<E>(m), found.marks);
      return true;
    }
    if (unit) own_.push_back(place_of<full>(own));
    place<full>(aggregates, n);
    ++rows_;
    columns_ += m;
    return true;
  }

  template <bool full>
  uint16_t place_of(I aggregate) const {
    return full || aggregate >= 0 ? static_cast<uint16_t>(met_.place_of(aggregate)) : no_place<uint16_t>;
  }
  /// Of a row's entries. Some at once, also behind the last, so that rows of like lengths take as many steps.
  template <bool full>
  void place(const I* aggregates, int64_t n) {
    const size_t room = placed_ + static_cast<size_t>(n + placed_at_once);
    if (places_.size() < room) places_.resize(2 * room);
    uint16_t* const to = places_.data() + placed_;
    for (int64_t k = 0; k < n; k += placed_at_once)
      for (int64_t e = k; e < k + placed_at_once; ++e) to[e] = place_of<full>(aggregates[e]);
    placed_ += static_cast<size_t>(n);
  }
  /// The marks of a row in no batch, `each` bytes for each.
  void append_alone(I own, const I* aggregates, int64_t n, size_t each, std::vector<std::byte>& marks) {
    marks.resize(marks.size() + each * static_cast<size_t>(n + unit));
    std::byte* to = marks.data() + marks.size() - each * static_cast<size_t>(n + unit);
    const auto append = [&](I aggregate) {
      const uint16_t narrow = place_of<false>(aggregate);
      const uint32_t wide = aggregate < 0 ? no_place<uint32_t> : met_.place_of(aggregate);
      std::memcpy(to, each == 2 ? static_cast<const void*>(&narrow) : &wide, each);
      to += each;
    };
    if (unit) append(own);
    for (int64_t k = 0; k < n; ++k) append(aggregates[k]);
  }

  /// Appends the marks of the batch and begins anew.
  void close(std::vector<std::byte>& marks) {
    const auto append = [&marks](const std::vector<uint16_t>& places, size_t count) {
      const auto* const bytes = reinterpret_cast<const std::byte*>(places.data());
      marks.insert(marks.end(), bytes, bytes + count * sizeof(uint16_t));
    };
    append(own_, own_.size());
    append(places_, placed_);
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
  // Of the batch.
  std::vector<uint16_t> own_, places_;
  size_t placed_ = 0;  // of places_
  int64_t rows_ = 0, columns_ = 0;
};

}  // namespace kkc::spgemm
