// Columns of one row of C, as the symbolic phase of spgemm on hosts finds them (spgemm_host_symbolic.hpp).
#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>
#include <vector>

#include "ops/spgemm/spgemm_host_blocks.hpp"
#include "ops/spgemm/spgemm_host_columns.hpp"
#include "ops/spgemm/spgemm_host_kept_columns.hpp"
#include "ops/spgemm/spgemm_host_left.hpp"
#include "ops/spgemm/spgemm_host_listed_rows.hpp"
#include "ops/spgemm/spgemm_host_rows_ahead.hpp"
#include "ops/spgemm/spgemm_host_sorted_columns.hpp"
#include "ops/spgemm/spgemm_host_sorted_products.hpp"
#include "ops/spgemm/spgemm_host_stamped_blocks.hpp"
#include "ops/spgemm/spgemm_host_stamped_columns.hpp"

namespace kkc::spgemm {

/// What a thread works with.
template <class I>
struct RowWorker {
  explicit RowWorker(int64_t cols, bool masked) : columns(cols) {
    if (masked) open.assign(static_cast<size_t>(cols) / 64 + 1, 0);
  }
  ColumnSet columns;
  std::vector<uint64_t> open;   // columns that the mask lets in
  std::vector<I> met;           // unsorted rows: columns in the order of the products,
  std::vector<uint16_t> place;  // and each column's place in it
  int64_t met_count = 0;
  std::vector<uint16_t> places;  // one pass: of a block's products
  std::vector<int64_t> ends;     // and where its rows end
  std::optional<SortedColumns> sorted;
  std::optional<StampedColumns> stamped;
  std::optional<StampedBlocks> stamped_blocks;
  std::optional<ListedRows> listed;
  bool few_meet = true;  // of the products of the last short row
  int64_t rows_of[5] = {}, rows_in_classes = 0, longest_hash = 0;
};

/// Of the rows of a product with `left` on the left. mask: C's pattern is restricted to it. blocks: B's columns by
/// blocks, where they are used. single: every row of B has one entry.
template <class Left, class I, class O>
class RowColumns {
  using B = HostPatternRef<I, O>;
  using Worker = RowWorker<I>;
  using Kept = KeptColumns<I>;

 public:
  RowColumns(const Left& left, const B& b, const std::optional<B>& mask,
             const std::optional<ColumnBlocks<I, O>>& blocks, bool single)
      : left_(left), B_(b), mask_(mask), blocks_(blocks), single_(single), ahead_(left.A, b) {}

  /// Puts the columns of a row of C into the worker's set. Returns the products that the mask lets in.
  int64_t collect(int64_t i, Worker& worker) const {
    const auto row = left_.row(i);
    int64_t products = 0;
    if (!mask_) {
      const auto each_row = [&](const auto& f) {
        for (int64_t k = 0; k < row.size(); ++k) f(row.column(k));
      };
      constexpr int64_t line = 64 / sizeof(I), first_lines = 3, most_lines = 16;
      const auto each_column = [&](const auto& f) {
        constexpr int64_t ahead = 2;
        for (int64_t k = 0; k < row.size(); ++k) {
          if (k + ahead < row.size()) {  // what follows the lines that were asked for below
            const int64_t begin = B_.begin(row.column(k + ahead)), end = B_.end(row.column(k + ahead));
            for (int64_t q = begin + first_lines * line, last = std::min(end, begin + most_lines * line); q < last;
                 q += line)
              __builtin_prefetch(B_.indices + q);
          }
          for (int64_t q = B_.begin(row.column(k)), end = B_.end(row.column(k)); q < end; ++q) f(B_.column(q));
        }
      };
      each_row([&](int64_t j) {
        const int64_t begin = B_.begin(j), end = B_.end(j);
        products += end - begin;
        // The rows' first lines are waited for together.
        if (blocks_) return blocks_->prefetch(j);
        for (int64_t q = begin, last = std::min(end, begin + first_lines * line); q < last; q += line)
          __builtin_prefetch(B_.indices + q);
      });
      using Visits = ColumnSet::Visits;
      ColumnSet& columns = worker.columns;
      const Visits visits = columns.expect(products);
      const auto insert = [&](auto visited) {
        if (blocks_)
          each_row([&](int64_t j) { blocks_->template insert<visited()>(j, columns); });
        else
          each_column([&](int64_t column) { columns.insert<visited()>(column); });
      };
      if (visits == Visits::words)
        insert(std::integral_constant<Visits, Visits::words>{});
      else if (visits == Visits::groups)
        insert(std::integral_constant<Visits, Visits::groups>{});
      else
        insert(std::integral_constant<Visits, Visits::levels>{});
      return products;
    }
    const auto word = [&](int64_t column) -> uint64_t& { return worker.open[static_cast<size_t>(column) >> 6]; };
    const auto bit = [](int64_t column) { return uint64_t{1} << (static_cast<size_t>(column) & 63); };
    for (int64_t p = mask_->begin(i); p < mask_->end(i); ++p) word(mask_->column(p)) |= bit(mask_->column(p));
    for (int64_t k = 0; k < row.size(); ++k)
      for (int64_t q = B_.begin(row.column(k)), end = B_.end(row.column(k)); q < end; ++q) {
        const int64_t column = B_.column(q);
        if ((word(column) & bit(column)) == 0) continue;
        ++products;
        worker.columns.insert(column);
      }
    for (int64_t p = mask_->begin(i); p < mask_->end(i); ++p) word(mask_->column(p)) = 0;
    return products;
  }

  /// Empties the worker's set.
  static int64_t keep_columns(Worker& worker, Kept& kept) {
    I* const begin = kept.columns + kept.entries;
    I* end = begin;
    worker.columns.drain([&end](int64_t column) { *end++ = static_cast<I>(column); });
    kept.entries += end - begin;
    return end - begin;
  }
  /// Those of row i, whose only entry's row of B has them, if they ascend: else keeps none, and returns -1.
  int64_t keep_copied(int64_t i, Kept& kept) const {
    const auto row = left_.row(i);
    ahead_.of_row(i).fetch(row, 0, B_.indices);
    const int64_t j = row.column(0), begin = B_.begin(j), count = B_.end(j) - begin;
    I* const to = kept.columns + kept.entries;
    int64_t before = -1;
    bool ascend = true;
    for (int64_t q = 0; q < count; ++q) {
      const int64_t column = B_.column(begin + q);
      to[q] = static_cast<I>(column);
      ascend &= before < column;
      before = column;
    }
    if (!ascend) return -1;
    kept.entries += count;
    return count;
  }
  int64_t keep_stamped(int64_t i, Worker& worker, Kept& kept) const {
    if (!worker.stamped) worker.stamped.emplace(B_.cols);
    const int64_t count = worker.stamped->make(left_.row(i), B_, ahead_.of_row(i), kept.columns + kept.entries);
    kept.entries += count;
    return count;
  }
  /// The same by blocks, which B has.
  int64_t keep_stamped_blocks(int64_t i, Worker& worker, Kept& kept) const {
    if (!worker.stamped_blocks) worker.stamped_blocks.emplace(B_.cols);
    const int64_t count = worker.stamped_blocks->make(left_.row(i), *blocks_, kept.columns + kept.entries);
    kept.entries += count;
    return count;
  }
  /// With the places of the row's products behind those that are kept.
  int64_t keep_sorted([[maybe_unused]] int64_t i, [[maybe_unused]] int64_t products, Kept& kept) const {
    int64_t count = 0;
#if defined(__AVX512F__) || defined(__AVX2__)
    if constexpr (sizeof(I) == 4)
      count = SortedProducts::make(left_.row(i), B_, ahead_.of_row(i), products, kept.columns + kept.entries,
                                   kept.places + kept.placed);
#endif
    kept.entries += count;
    return count;
  }
  /// Of the products of row i, whose columns were the last to be kept.
  void keep_places(int64_t i, int64_t columns, Worker& worker, Kept& kept) const {
    const uint16_t* const place_of = place(kept.columns + kept.entries - columns, columns, worker);
    const auto row = left_.row(i);
    for (int64_t k = 0; k < row.size(); ++k)
      for (int64_t q = B_.begin(row.column(k)), end = B_.end(row.column(k)); q < end; ++q)
        kept.places[kept.placed++] = place_of[B_.column(q)];
  }

  /// Columns of row i, each once.
  int64_t count_met(int64_t i, int64_t products, Worker& worker) const {
    const auto most = static_cast<size_t>(std::min(products, B_.cols));
    if (worker.met.size() < most) worker.met.resize(most);
    fill_met(i, worker.met.data(), worker, false, nullptr);
    return worker.met_count;
  }

  /// Columns of row i in the order in which products meet them; with `places`, the place of each product too.
  uint16_t* fill_met(int64_t i, I* target, Worker& worker, bool with_places, uint16_t* places) const {
    if (with_places && worker.place.empty()) worker.place.resize(static_cast<size_t>(B_.cols));
    const auto row = left_.row(i);
    int64_t count = 0;
    for (int64_t k = 0; k < row.size(); ++k)
      for (int64_t q = B_.begin(row.column(k)), end = B_.end(row.column(k)); q < end; ++q) {
        const int64_t column = B_.column(q);
        if (worker.columns.add(column)) {
          if (with_places) worker.place[static_cast<size_t>(column)] = static_cast<uint16_t>(count);
          target[count++] = static_cast<I>(column);
        }
        if (with_places) *places++ = worker.place[static_cast<size_t>(column)];
      }
    for (int64_t p = 0; p < count; ++p) worker.columns.forget(target[p]);
    worker.met_count = count;
    return places;
  }

  /// The columns of the rows first..last-1, a chunk's, and their products, all of which are listed in `lists`.
  /// products(i): of row i; counts: columns.
  template <class L, class Products>
  void keep_listed([[maybe_unused]] int64_t first, [[maybe_unused]] int64_t last,
                   [[maybe_unused]] const Products& products, [[maybe_unused]] Worker& worker,
                   [[maybe_unused]] I* counts, [[maybe_unused]] FlatProducts::Lists<L> lists,
                   [[maybe_unused]] bool has_tables, [[maybe_unused]] Kept& kept) const {
#if defined(__AVX512F__) || defined(__AVX2__)
    if constexpr (sizeof(I) == 4 && std::is_same_v<Left, LeftPattern<I, O>>) {
      constexpr int64_t few = 4;
      const auto& A = left_.A;
      if (!worker.listed) worker.listed.emplace();
      lists.to = kept.places;
      *lists.block = {0, A.begin(first), 0, 0};
      for (int64_t i = first; i < last;) {
        if (products(i) <= ListedRows::most) {
          const auto of_row = ahead_.of_row(i);
          i = worker.listed->list(
              i, last, A, B_, products, single_,
              [&](int64_t p) {
                of_row.fetch(typename Left::Row{A.indices + p, A.base, 1}, 0, B_.indices);
              },
              kept.columns + kept.entries, counts, lists);
        } else {
          const int64_t before = kept.entries;
          if (has_tables && products(i) <= StampedColumns::most_products) {
            keep_stamped(i, worker, kept);
          } else {
            collect(i, worker);
            keep_columns(worker, kept);
          }
          counts[i] = static_cast<I>(kept.entries - before);
          const auto list = [&](const auto& numbers) {
            FlatProducts::note_row(lists, i, A, B_, kept.columns + before, kept.entries - before, numbers);
          };
          if (has_tables || few * products(i) >= B_.cols)  // the row repays a table
            list([&](const I* part, int64_t count) { return place(part, count, worker); });
          else
            list([](const I* part, int64_t count) { return FlatProducts::Search<I>{part, count}; });
          ++i;
        }
        kept.entries = lists.block->first;
      }
      kept.placed = lists.block->later;
    }
#endif
  }

  uint16_t* note_places(int64_t i, const ColumnSet& columns, uint16_t* places) const {
    const auto row = left_.row(i);
    for (int64_t k = 0; k < row.size(); ++k)
      for (int64_t q = B_.begin(row.column(k)), end = B_.end(row.column(k)); q < end; ++q)
        *places++ = static_cast<uint16_t>(columns.place(B_.column(q)));
    return places;
  }

 private:
  /// Of each of these columns which one it is; of others anything.
  const uint16_t* place(const I* columns, int64_t count, Worker& worker) const {
    if (worker.place.empty()) worker.place.resize(static_cast<size_t>(B_.cols));
    for (int64_t p = 0; p < count; ++p) worker.place[static_cast<size_t>(columns[p])] = static_cast<uint16_t>(p);
    return worker.place.data();
  }

  const Left& left_;
  const B& B_;
  const std::optional<B>& mask_;
  const std::optional<ColumnBlocks<I, O>>& blocks_;
  const bool single_;
  const RowsAhead<I, O> ahead_;
};

}  // namespace kkc::spgemm
