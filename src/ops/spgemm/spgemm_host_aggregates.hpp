// Products with a B of at most one entry in a row, as tentative prolongators have (Vanek, Mandel, Brezina, Computing
// 56, 1996, section 5: unknowns of one aggregate share a column). A row of C has a value for each aggregate that A's
// row meets, and each entry of A adds to one of them. The plan keeps which, the entry's mark: a place, or for up to
// eight columns a mask with one bit, so that a row is summed in a vector register without a store between two additions
// to one value. On grids a few rows come again and again, shifted: their columns and marks are kept once. Where most
// rows are like none before, the rest of a chunk is loose: made in batches (spgemm_host_aggregate_batches.hpp).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/matrix_parallel.hpp"
#include "device/host_shared_parts.hpp"
#include "device/host_stream.hpp"
#include "ops/spgemm/spgemm.hpp"
#include "ops/spgemm/spgemm_host_aggregate_search.hpp"

namespace kkc::spgemm {

/// A row of A with its marks, in memory of any alignment; columns relative to `origin`.
template <class E, class I>
struct MarkedRow {
  const E* a;
  const I* columns;
  int64_t n, origin;
  const std::byte* marks;
  int64_t column(int64_t k) const { return static_cast<int64_t>(columns[k]) + origin; }
  template <class M>
  M mark(int64_t k) const {
    M mark;
    std::memcpy(&mark, marks + static_cast<size_t>(k) * sizeof(M), sizeof(M));
    return mark;
  }
};

/// add(k) for the row's entries, whose values of B are fetched ahead.
template <bool full, class E, class I, class Pattern, class Add>
void each_entry(const MarkedRow<E, I>& row, const Pattern& B, const E* b, const Add& add) {
  int64_t k = 0;
  for (; k < row.n - entries_fetched_ahead; ++k) {
    fetch_single_entry<full>(B, b, row.column(k + entries_fetched_ahead));
    add(k);
  }
  for (; k < row.n; ++k) add(k);
}

/// Why B is not for AggregateRows, or "".
inline std::string not_aggregates(const Desc& desc) {
  if (desc.rows_b.longest > 1) return "B has rows of several entries";
  return desc.cols() > desc.B.rows ? "B has more columns than rows" : "";
}

/// C's pattern, and what execute needs of it. `unit`: of (I + A) B, with a mark for row i of B before those of A's
/// entries, where each row of A must have its diagonal entry.
template <class E, class I, class O, bool unit>
class AggregateRows {
  using Pattern = HostPatternRef<I, O>;
  using U = std::make_unsigned_t<I>;

 public:
  /// Returns the first row without a diagonal entry if `unit` asks for one, or -1: fill() comes next.
  int64_t find(Queue& queue, const Desc& desc) {
    const Pattern A(desc.A), B(desc.B);
    full_ = B.nnz == B.rows;
    const int64_t chunks = std::clamp<int64_t>((A.nnz + A.rows) / 4096, 1, int64_t{16} * queue.concurrency());
    for (int64_t chunk = 0; chunk <= chunks; ++chunk) first_.push_back(A.first_row(chunks, chunk));
    found_.resize(static_cast<size_t>(chunks));
    known_.resize(static_cast<size_t>(queue.concurrency()));
    kinds_ = host_array<uint16_t>(desc.memory, A.rows);
    auto* const kinds = kinds_.template as<uint16_t>();
    std::vector<std::unique_ptr<Search>> searches(known_.size());
    deal(queue, chunks, [&](int64_t id, int64_t chunk) {
      auto& search = searches[static_cast<size_t>(id)];
      if (!search) search = std::make_unique<Search>(B.cols);
      Found& found = found_[static_cast<size_t>(chunk)];
      found.by = static_cast<size_t>(id);
      if (full_)
        search->template run<true>(A, B, first_row(chunk), first_row(chunk + 1), known_[found.by], kinds, found);
      else
        search->template run<false>(A, B, first_row(chunk), first_row(chunk + 1), known_[found.by], kinds, found);
    });
    for (Known& known : known_) known.finish();
    for (const Found& found : found_)
      if (found.without_diagonal >= 0) return found.without_diagonal;
    return -1;
  }

  /// C's pattern; once.
  void fill(Queue& queue, const Desc& desc, OutputPattern& C) {
    std::vector<int64_t> starts{0};
    marks_at_.push_back(0);
    for (const Found& found : found_) {
      starts.push_back(starts.back() + found.entries);
      marks_at_.push_back(marks_at_.back() + static_cast<int64_t>(found.marks.size()));
      products_ += found.products;
      rows_listed_ += static_cast<int64_t>(found.counts.size());
      loose_.push_back(found.loose);
    }
    allocate_output(desc, starts.back(), C);
    marks_ = host_array<std::byte>(desc.memory, marks_at_.back());
    if (offset_size(C.pair) == 8)
      write<int64_t>(queue, desc, C, starts);
    else
      write<int32_t>(queue, desc, C, starts);
    found_.clear();
  }

  bool full() const { return full_; }
  int64_t products() const { return products_; }
  int64_t rows_listed() const { return rows_listed_; }
  int64_t row_classes() const {
    int64_t count = 0;
    for (const Known& known : known_) count += static_cast<int64_t>(known.rows.size());
    return count;
  }
  int64_t bytes() const {
    size_t bytes =
        marks_.bytes() + kinds_.bytes() + (first_.size() + marks_at_.size() + loose_.size()) * sizeof(int64_t);
    for (const Known& known : known_) bytes += known.bytes();
    return static_cast<int64_t>(bytes);
  }

  /// For run(): rows are made one after the other.
  struct NoGroups {};

  /// Calls make_row(i, row, columns, old, to) for each row of C: `columns` values to `to`, where `old`
  /// is what c has; make_batch(batch, old, to) for the rows of a batch, where `to` has room for batch_margin more;
  /// make_group(i, groups, group, a, to) for eight rows from i on, with their values of A.
  template <class MakeRow, class MakeBatch, class MakeGroup = NoGroups>
  void run(Queue& queue, const CsrRef& left, const OutputPattern& C, E* c, const MakeRow& make_row,
           [[maybe_unused]] const MakeBatch& make_batch, [[maybe_unused]] const MakeGroup& make_group = {}) const {
    const Pattern A(left);
    const auto* const a = static_cast<const E*>(left.values);
    const bool wide = offset_size(C.pair) == 8,
               streamed = C.nnz * static_cast<int64_t>(sizeof(E)) >= stream_threshold_bytes;
    const auto start = [&](int64_t i) {
      return wide ? C.offsets->template as<int64_t>()[i] : int64_t{C.offsets->template as<int32_t>()[i]};
    };
    const auto* const kinds = kinds_.template as<uint16_t>();
    deal(queue, chunks(), [&](int64_t, int64_t chunk) {
      const Known& known = known_[by_[static_cast<size_t>(chunk)]];
      const std::byte* listed = marks_.template as<std::byte>() + marks_at_[static_cast<size_t>(chunk)];
      // Rows leave a block that stays in the innermost cache together.
      constexpr int64_t room = 8192 / sizeof(E), burst = 2048 / sizeof(E);
      alignas(cache_line) E block[room + group_rows];
      int64_t filled = 0, at = start(first_row(chunk)), begin = A.begin(first_row(chunk));
      const auto leave = [&](const E* from, int64_t to, int64_t count) {
        if (streamed)
          stream_out(c + to, from, static_cast<size_t>(count) * sizeof(E));
        else
          std::copy(from, from + count, c + to);
      };
      // Whole lines, a few at a time: while many leave at once nothing is made.
      const auto flush = [&](bool all) {
        int64_t count = filled;
        if (!all && streamed) {
          if (filled < burst) return;
          count -= static_cast<int64_t>(reinterpret_cast<uintptr_t>(c + at) % cache_line / sizeof(E));
        }
        leave(block, at - filled, count);
        std::copy(block + count, block + filled, block);
        filled -= count;
      };
      const int64_t loose = loose_[static_cast<size_t>(chunk)];
      for (int64_t i = first_row(chunk); i < loose; ++i) {
        if constexpr (!std::is_same_v<MakeGroup, NoGroups>) {
          if (const RowGroup* const group = known.group_of(kinds[i]);
              group != nullptr && begin + group->read() <= A.nnz) {
            if (filled + group->entries() > room) flush(true);
            make_group(i, known.groups, *group, a + begin, block + filled);
            begin += group->rows * group->n;
            at += group->entries();
            filled += group->entries();
            i += group->rows - 1;
            flush(false);
            continue;
          }
        }
        MarkedRow<E, I> row{a + begin, nullptr, 0, 0, nullptr};
        int64_t m;
        if (kinds[i] == listed_row) {
          row.n = A.end(i) - begin;
          row.columns = A.indices + begin;
          row.origin = -A.base;
          row.marks = listed;
          m = start(i + 1) - at;
          listed += mark_bytes<E>(m) * static_cast<size_t>(row.n + unit);
        } else {
          const auto& like = known.row_of(kinds[i]);
          row.n = like.n - unit;
          row.columns = known.distances.data() + like.distances_at;
          row.origin = i;
          row.marks = known.marks.data() + like.marks_at;
          m = like.columns;
        }
        if (filled > 0 && filled + m > room) flush(true);
        if constexpr (!std::is_same_v<MakeGroup, NoGroups>) fetch_ahead(row.a, row.n);
        make_row(i, row, m, c + at, m <= room ? block + filled : c + at);
        begin += row.n;
        at += m;
        if (m <= room) filled += m;
      }
      flush(true);
      if constexpr (has_batches<E>) {
        constexpr int64_t most = batch_room<E>;
        alignas(cache_line) E values[most + batch_margin];
        uint16_t ends[most];
        for (int64_t i = loose, last = first_row(chunk + 1); i < last;) {
          int64_t rows = 0;
          for (; i + rows < last && rows < most && start(i + rows + 1) - at <= most; ++rows)
            ends[rows] = static_cast<uint16_t>(start(i + rows + 1) - at);
          const int64_t n = A.end(rows > 0 ? i + rows - 1 : i) - A.begin(i);
          if (rows == 0) {  // too long for a batch
            const int64_t m = start(i + 1) - at;
            make_row(i, MarkedRow<E, I>{a + A.begin(i), A.indices + A.begin(i), n, -A.base, listed}, m, c + at, c + at);
            listed += mark_bytes<E>(m) * static_cast<size_t>(n + unit);
            at += m;
            ++i;
            continue;
          }
          const std::byte* const places = listed + 2 * unit * rows;
          const int64_t m = ends[rows - 1];
          make_batch(RowBatch<E, I, O>{A, a, i, i + rows, listed, places, ends}, c + at, values);
          leave(values, at, m);
          listed = places + 2 * n;
          at += m;
          i += rows;
        }
      }
      if (streamed) stream_fence();
    });
  }

 private:
  using Known = KnownRows<I, O, unit>;
  using Search = AggregateSearch<E, I, O, unit>;
  using Found = SearchedRows<I>;

  int64_t chunks() const { return static_cast<int64_t>(first_.size()) - 1; }
  int64_t first_row(int64_t chunk) const { return first_[static_cast<size_t>(chunk)]; }

  template <class Q>
  void write(Queue& queue, const Desc& desc, const OutputPattern& C, const std::vector<int64_t>& starts) {
    const Pattern A(desc.A), B(desc.B);
    Q* const offsets = C.offsets->template as<Q>();
    I* const indices = C.indices->template as<I>();
    const auto* const kinds = kinds_.template as<uint16_t>();
    const bool streamed = C.nnz * static_cast<int64_t>(sizeof(I)) >= stream_threshold_bytes;
    for (const Found& found : found_) by_.push_back(found.by);
    deal(queue, chunks(), [&](int64_t, int64_t chunk) {
      Found& found = found_[static_cast<size_t>(chunk)];
      const Known& known = known_[found.by];
      std::copy(found.marks.begin(), found.marks.end(),
                marks_.template as<std::byte>() + marks_at_[static_cast<size_t>(chunk)]);
      const I* listed = found.columns.data();
      const uint32_t* listed_count = found.counts.data();
      constexpr int64_t room = 8192 / sizeof(I);
      alignas(cache_line) I block[room];
      int64_t filled = 0, at = starts[static_cast<size_t>(chunk)];
      const auto flush = [&] {
        if (streamed)
          stream_out(indices + at - filled, block, static_cast<size_t>(filled) * sizeof(I));
        else
          std::copy(block, block + filled, indices + at - filled);
        filled = 0;
      };
      for (int64_t i = first_row(chunk); i < found.loose; ++i) {
        offsets[i] = static_cast<Q>(at);
        const I* source = listed;
        U shift = 0;
        int64_t m;
        if (kinds[i] == listed_row) {
          m = *listed_count++;
          listed += m;
        } else {
          const auto& row = known.row_of(kinds[i]);
          m = row.columns;
          source = known.columns.data() + row.columns_at;
          if (!full_)
            shift = static_cast<U>(Search::template origin<false>(A, B, i));
          else if (m > 0)
            shift = static_cast<U>(aggregate_of<true>(B, unit ? i : i + known.distances[row.distances_at]));
        }
        const auto shifted = [&](int64_t p) { return static_cast<I>(static_cast<U>(source[p]) + shift); };
        if (filled + std::max(m, copied_at_once) > room) flush();
        if (m <= copied_at_once) {  // without a loop over m; the next row overwrites what is too much
          for (int64_t p = 0; p < copied_at_once; ++p) block[filled + p] = shifted(p);
        } else if (m <= room) {
          for (int64_t p = 0; p < m; ++p) block[filled + p] = shifted(p);
        } else {
          for (int64_t p = 0; p < m; ++p) indices[at + p] = shifted(p);
        }
        at += m;
        if (m <= room) filled += m;
      }
      flush();
      int64_t rest = 0;
      for (int64_t i = found.loose, last = first_row(chunk + 1); i < last; ++i) {
        offsets[i] = static_cast<Q>(at + rest);
        rest += *listed_count++;
      }
      stream_out(indices + at, listed, static_cast<size_t>(rest) * sizeof(I));
      stream_fence();
    });
    offsets[C.rows] = static_cast<Q>(C.nnz);
  }

  bool full_ = false;           // every row of B has its entry
  std::vector<int64_t> first_;  // rows of chunks, and all rows at the end
  std::vector<size_t> by_;      // for each chunk, whose known rows
  std::vector<Known> known_;
  std::vector<Found> found_;               // between find() and fill()
  Buffer kinds_;                           // uint16_t for each row: a known row, or listed_row
  std::vector<int64_t> marks_at_, loose_;  // of chunks; loose_: the first row in batches
  Buffer marks_;                           // of listed rows
  int64_t products_ = 0, rows_listed_ = 0;
};

}  // namespace kkc::spgemm
