// The search behind products with aggregates (spgemm_host_aggregates.hpp): which rows of A are like rows before, and
// the columns of C and the marks of those that are not.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "ops/spgemm/spgemm_host_aggregate_loose.hpp"
#include "ops/spgemm/spgemm_host_known_blocks.hpp"
#include "ops/spgemm/spgemm_host_known_rows.hpp"

namespace kkc::spgemm {

/// What a thread searches with. `unit`: rows of I + A, each with its diagonal entry in A.
template <class E, class I, class O, bool unit>
class AggregateSearch {
  using Pattern = HostPatternRef<I, O>;
  using Known = KnownRows<I, O, unit>;
  using Blocks = KnownBlocks<I, O, unit>;
  using Found = SearchedRows<I>;

 public:
  explicit AggregateSearch(int64_t cols) : places_(static_cast<size_t>(cols), no_place<uint32_t>) {}

  /// The first aggregate that row i meets; 0 if there is none.
  template <bool full>
  static I origin(const Pattern& A, const Pattern& B, int64_t i) {
    const int64_t begin = A.begin(i), count = A.end(i) - begin + unit;
    for (int64_t k = 0; k < count; ++k)
      if (const I g = aggregate_of<full>(B, left_column(A, i, begin, k)); full || g >= 0) return g;
    return 0;
  }

  /// Searches rows begin_of_chunk..end-1. kinds[i]: a known row, a group of `known`, or listed_row.
  template <bool full>
  void run(const Pattern& A, const Pattern& B, int64_t begin_of_chunk, int64_t end, Known& known, uint16_t* kinds,
           Found& found) {
    int32_t last = -1;
    int64_t unforeseen = 0;  // entries of rows that are not like the one that followed last time
    found.loose = end;
    const auto note_unforeseen = [&](int64_t i, int64_t count) {
      unforeseen += count;
      const int64_t rows = i + 1 - begin_of_chunk, seen = A.end(i) - A.begin(begin_of_chunk) + unit * rows;
      const bool compared = rows >= tried_ || seen >= entries_compared;
      if (has_batches<E> && compared && 2 * unforeseen > seen) found.loose = i + 1;
    };
    int32_t block = -1;  // the last one
    int64_t alike = 0;   // known rows in turn, of one length, that are in no block
    for (int64_t i = begin_of_chunk; i < found.loose; ++i) {
      if constexpr (full) {
        if (const int32_t next = i + Blocks::rows > end ? -1 : blocks_.next(block, known, A, B, i); next >= 0) {
          const auto& rows = blocks_[next];
          std::copy(rows.kinds.begin(), rows.kinds.end(), kinds + i);
          found.entries += rows.columns;
          found.products += rows.products;
          last = rows.kinds.back();
          block = next;
          alike = 0;
          i += Blocks::rows - 1;
          continue;
        }
      }
      const int64_t begin = A.begin(i), count = A.end(i) - begin + unit;
      const I first = origin<full>(A, B, i);
      // Mostly the row is as the one that followed last time.
      int32_t id = last < 0 ? -1 : known.rows[static_cast<size_t>(last)].after;
      if (id >= 0) {
        const auto& row = known.rows[static_cast<size_t>(id)];
        if (row.n != count || !known.template is<full>(row, A, B, i, begin, first)) id = -1;
      }
      if (id < 0 && !describe<full>(A, B, i, first)) {
        found.without_diagonal = i;
        return;
      }
      if (id < 0 && count <= Known::longest) {
        size_t slot = 0;
        id = known.find(row_, count, slot);
        if (id < 0 && known.rows.size() < Known::most) {
          id = static_cast<int32_t>(known.rows.size());
          known.table[slot] = static_cast<uint16_t>(id + 1);
          typename Known::Row row{known.from.size(),
                                  known.distances.size(),
                                  known.columns.size(),
                                  known.marks.size(),
                                  static_cast<int32_t>(count),
                                  0,
                                  0,
                                  id};
          known.from.insert(known.from.end(), row_.from.data(), row_.from.data() + count);
          known.distances.insert(known.distances.end(), row_.distances.data(), row_.distances.data() + count - unit);
          row.products = static_cast<int32_t>(mark_row(count, first, known.columns, known.marks));
          row.columns = static_cast<int32_t>(known.columns.size() - row.columns_at);
          known.note_runs(row);
          known.rows.push_back(row);
        }
        if (id >= 0) note_unforeseen(i, count);
        if (last >= 0 && id >= 0) known.rows[static_cast<size_t>(last)].after = id;
      }
      last = id;
      if (id >= 0) {
        const auto& row = known.rows[static_cast<size_t>(id)];
        kinds[i] = static_cast<uint16_t>(id);
        found.entries += row.columns;
        found.products += row.products;
        if constexpr (full) {
          alike = alike > 0 && known.rows[kinds[i - 1]].n == row.n ? alike + 1 : 1;
          if (alike == Blocks::rows) {
            const int64_t begin_of_block = i + 1 - Blocks::rows;
            block = blocks_.find(kinds + begin_of_block, block, known, B, begin_of_block);
            alike = 0;
          }
        }
        continue;
      }
      alike = 0;
      kinds[i] = listed_row;
      note_unforeseen(i, count);
      const size_t at = found.columns.size();
      found.products += mark_row(count, first, found.columns, found.marks);
      for (size_t p = at; p < found.columns.size(); ++p) found.columns[p] += first;
      found.counts.push_back(static_cast<uint32_t>(found.columns.size() - at));
      found.entries += static_cast<int64_t>(found.columns.size() - at);
    }
    tried_ = found.loose < end ? fewest_tried : most_tried;
    if constexpr (full && has_groups<E>) known.group(kinds + begin_of_chunk, found.loose - begin_of_chunk);
    if constexpr (has_batches<E>) {
      if (found.loose < end) {
        if (loose_ == nullptr) loose_ = std::make_unique<LooseRows<E, I, O, unit>>(B.cols);
        loose_->template find<full>(A, B, end, found);
      }
    }
    found.columns.resize(found.columns.size() + copied_at_once);
  }

 private:
  /// Entry k of row i of A, or of I + A.
  static int64_t left_column(const Pattern& A, int64_t i, int64_t begin, int64_t k) {
    if (unit && k == 0) return i;
    return A.column(begin + k - unit);
  }
  /// Row i in row_.from and row_.distances. False: the diagonal entry that `unit` asks for is missing.
  template <bool full>
  bool describe(const Pattern& A, const Pattern& B, int64_t i, I first) {
    const int64_t begin = A.begin(i), n = A.end(i) - begin;
    if (static_cast<int64_t>(row_.from.size()) < n + unit) {
      row_.from.resize(static_cast<size_t>(n + unit));
      row_.distances.resize(static_cast<size_t>(n + unit));
    }
    bool diagonal = !unit;
    if (unit) row_.from[0] = relative_aggregate<full>(B, i, first);
    I* const from = row_.from.data() + unit;
    I* const distances = row_.distances.data();
    for (int64_t k = 0; k < n; ++k) {
      const int64_t j = A.column(begin + k);
      diagonal |= j == i;
      from[k] = relative_aggregate<full>(B, j, first);
      distances[k] = static_cast<I>(j - i);
    }
    return diagonal;
  }

  /// Appends the columns, relative to `first`, and the marks of the row of row_.from. Returns its products.
  int64_t mark_row(int64_t count, I first, std::vector<I>& columns, std::vector<std::byte>& marks) {
    const I* const from = row_.from.data();
    const auto place_of = [&](I g) -> uint32_t& {
      return places_[static_cast<size_t>(static_cast<int64_t>(g) + first)];
    };
    const size_t begin = columns.size();
    int64_t products = 0;
    for (int64_t k = 0; k < count; ++k) {
      if (from[k] == missing<I>) continue;
      if (k >= unit) ++products;
      uint32_t& place = place_of(from[k]);
      if (place == 0) continue;
      place = 0;
      columns.push_back(from[k]);
    }
    std::sort(columns.begin() + static_cast<std::ptrdiff_t>(begin), columns.end());
    const size_t m = columns.size() - begin;
    for (size_t p = 0; p < m; ++p) place_of(columns[begin + p]) = static_cast<uint32_t>(p);
    const size_t each = mark_bytes<E>(static_cast<int64_t>(m));
    marks.resize(marks.size() + each * static_cast<size_t>(count));
    std::byte* to = marks.data() + marks.size() - each * static_cast<size_t>(count);
    for (int64_t k = 0; k < count; ++k, to += each) {
      const uint32_t place = from[k] == missing<I> ? no_place<uint32_t> : place_of(from[k]);
      const auto narrow = static_cast<uint16_t>(place);
      const auto mask = static_cast<uint8_t>(place < mask_columns ? 1u << place : 0);
      const void* mark = &place;
      if (each == 1) mark = &mask;
      if (each == 2) mark = &narrow;
      std::memcpy(to, mark, each);
    }
    for (size_t p = 0; p < m; ++p) place_of(columns[begin + p]) = no_place<uint32_t>;
    return products;
  }

  /// Rows, or their entries, of a chunk after which those that are like none before may be too many. Few rows where
  /// they were in the thread's chunk before.
  static constexpr int64_t most_tried = 128, fewest_tried = 16, entries_compared = 8192;

  std::vector<uint32_t> places_;  // of columns; no_place between two rows
  typename Known::Wanted row_;
  int64_t tried_ = most_tried;  // rows of the next chunk
  Blocks blocks_;
  std::unique_ptr<LooseRows<E, I, O, unit>> loose_;
};

}  // namespace kkc::spgemm
