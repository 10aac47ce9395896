// row_stats, host: offsets, then indices, each in one parallel pass.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <limits>
#include <type_traits>
#include <vector>

#include "core/dispatch.hpp"
#include "device/host_parallel.hpp"
#include "ops/row_stats/row_stats.hpp"

namespace kkc::row_stats {

namespace host_parts_of_rows {

inline constexpr int64_t none = std::numeric_limits<int64_t>::max();

/// Counts rows by length: short ones in several tables, so that neighbours of one length do not wait for each other.
struct Counter {
  static constexpr int64_t short_length = 64, tables = 4;
  RowStats stats{};
  int64_t short_rows[tables][short_length] = {};

  void add(int64_t row, int64_t length) {
    if (length < short_length) [[likely]]
      ++short_rows[static_cast<uint64_t>(row) % tables][length];
    else
      add(Alike{length, 1});
  }
  struct Alike {
    int64_t length, rows;
  };
  void add(const Alike& alike) {
    const auto [length, rows] = alike;
    if (rows == 0) return;
    const int bin = length < 2 ? 0 : static_cast<int>(std::bit_width(static_cast<uint64_t>(length - 1)));
    stats.histogram[std::min(bin, 39)] += rows;
    stats.nonzeros[std::min(bin, 39)] += rows * length;
    if (length == 0) stats.empty += rows;
    stats.shortest = std::min(stats.shortest, length);
    stats.longest = std::max(stats.longest, length);
  }
  struct Rows {
    int64_t begin, end;
  };
  /// Rows of few entries each, fewer than 2^31 in all, by vectors: how many are longer than each class's limit, and
  /// their entries.
  static constexpr int64_t few = 16;
  template <class O>
  void add_few(const O* offsets, Rows rows, int64_t shortest, int64_t longest) {
    struct Sum {
      int32_t rows, entries;
    };
    const auto longer_than = [&](int64_t limit) {
      Sum sum{0, 0};
      for (int64_t row = rows.begin; row < rows.end; ++row) {
        const auto length = static_cast<int32_t>(offsets[row + 1] - offsets[row]);
        sum.rows += length > limit ? 1 : 0;
        sum.entries += length > limit ? length : 0;
      }
      return sum;
    };
    Sum left{static_cast<int32_t>(rows.end - rows.begin),
             static_cast<int32_t>(offsets[rows.end] - offsets[rows.begin])};
    if (shortest == 0) stats.empty += left.rows - longer_than(0).rows;
    for (int bin = 0; left.rows > 0; ++bin) {
      const int64_t limit = int64_t{1} << bin;
      const Sum longer = limit < longest ? longer_than(limit) : Sum{0, 0};
      stats.histogram[bin] += left.rows - longer.rows;
      stats.nonzeros[bin] += left.entries - longer.entries;
      left = longer;
    }
    stats.shortest = std::min(stats.shortest, shortest);
    stats.longest = std::max(stats.longest, longest);
  }
  void finish() {
    for (const auto& table : short_rows)
      for (int64_t length = 0; length < short_length; ++length) add(Alike{length, table[length]});
  }
};

/// Wraps around for offsets that no matrix has, instead of overflowing.
template <class O>
int64_t from_base(O offset, int64_t base) {
  return static_cast<int64_t>(static_cast<uint64_t>(static_cast<int64_t>(offset)) - static_cast<uint64_t>(base));
}

/// Rows begin..end-1, whose offsets must ascend; those of all rows from 0 to nnz. Blocks that do, and those of rows of
/// one length, are found by vectors.
template <class O>
RowStats count_rows(const O* offsets, int64_t base, int64_t rows, int64_t nnz, int64_t begin, int64_t end) {
  using U = std::make_unsigned_t<O>;
  constexpr int64_t block = 2048;
  Counter counter;
  counter.stats.shortest = none;
  counter.stats.first_bad_row = none;
  for (int64_t first = begin; first < end; first += block) {
    const int64_t last = std::min(first + block, end);
    O lowest = offsets[first], highest = offsets[first], shortest = std::numeric_limits<O>::max(), longest = 0;
    for (int64_t row = first; row < last; ++row) {
      const O to = offsets[row + 1], length = static_cast<O>(static_cast<U>(to) - static_cast<U>(offsets[row]));
      lowest = std::min(lowest, to);
      highest = std::max(highest, to);
      shortest = std::min(shortest, length);
      longest = std::max(longest, length);
    }
    // Lengths of offsets outside may have wrapped around.
    const bool good = lowest >= base && from_base(highest, base) <= nnz && shortest >= 0 &&
                      (first > 0 || offsets[0] == base) && (last < rows || from_base(offsets[rows], base) == nnz);
    if (!good) [[unlikely]]
      for (int64_t row = first; row < last; ++row) {
        const int64_t from = from_base(offsets[row], base), to = from_base(offsets[row + 1], base);
        if (from < 0 || to < from || to > nnz || (row == 0 && from != 0) || (row == rows - 1 && to != nnz)) {
          counter.stats.first_bad_row = row;
          return counter.stats;
        }
      }
    if (shortest == longest)
      counter.add(Counter::Alike{shortest, last - first});
    else if (longest <= Counter::few)
      counter.add_few(offsets, {first, last}, static_cast<int64_t>(shortest), static_cast<int64_t>(longest));
    else
      for (int64_t row = first; row < last; ++row) counter.add(row, int64_t{offsets[row + 1]} - offsets[row]);
  }
  counter.finish();
  return counter.stats;
}

/// First index of begin..end-1 outside 0..cols-1. One unsigned comparison an entry, blocks vectorised.
template <class I>
int64_t find_bad_entry(const I* indices, int64_t base, int64_t cols, int64_t begin, int64_t end) {
  using U = std::make_unsigned_t<I>;
  constexpr int64_t block = 4096;
  const U shift = static_cast<U>(base);
  // More columns than the type can count: every non-negative index is in range.
  const U limit = static_cast<U>(
      std::min<uint64_t>(static_cast<uint64_t>(cols), static_cast<uint64_t>(std::numeric_limits<I>::max()) + 1));
  for (int64_t from = begin; from < end; from += block) {
    const int64_t to = std::min(from + block, end);
    U highest = 0;
    for (int64_t p = from; p < to; ++p) highest = std::max(highest, static_cast<U>(static_cast<U>(indices[p]) - shift));
    if (highest >= limit) [[unlikely]]
      for (int64_t p = from; p < to; ++p)
        if (static_cast<U>(static_cast<U>(indices[p]) - shift) >= limit) return p;
  }
  return none;
}

template <class Dev, class I, class O>
RowStats run_typed(Queue& queue, const CsrRef& A, bool offsets_only) {
  RowStats total{};
  total.shortest = none;
  total.first_bad_row = total.first_bad_entry = none;
  const int64_t parts = std::max<int64_t>(1, std::min<int64_t>(queue.concurrency(), (A.rows + A.nnz) / 16384));
  if (A.rows > 0) {
    std::vector<RowStats> part_stats(static_cast<size_t>(parts));
    host_parts<Dev>(queue, parts, [&](int64_t part) {
      part_stats[static_cast<size_t>(part)] =
          count_rows(static_cast<const O*>(A.offsets), A.base, A.rows, A.nnz, part_begin(A.rows, parts, part),
                     part_begin(A.rows, parts, part + 1));
    });
    for (const RowStats& s : part_stats) {
      total.shortest = std::min(total.shortest, s.shortest);
      total.longest = std::max(total.longest, s.longest);
      total.empty += s.empty;
      total.first_bad_row = std::min(total.first_bad_row, s.first_bad_row);
      for (int i = 0; i < 40; ++i) {
        total.histogram[i] += s.histogram[i];
        total.nonzeros[i] += s.nonzeros[i];
      }
    }
  }
  if (!offsets_only && total.first_bad_row == none && A.nnz > 0) {
    std::vector<int64_t> bad(static_cast<size_t>(parts), none);
    host_parts<Dev>(queue, parts, [&](int64_t part) {
      bad[static_cast<size_t>(part)] =
          find_bad_entry(static_cast<const I*>(A.indices), A.base, A.cols, part_begin(A.nnz, parts, part),
                         part_begin(A.nnz, parts, part + 1));
    });
    total.first_bad_entry = *std::min_element(bad.begin(), bad.end());
  }
  if (total.shortest == none) total.shortest = 0;
  if (total.first_bad_row == none) total.first_bad_row = -1;
  if (total.first_bad_entry == none) total.first_bad_entry = -1;
  return total;
}

template <class Dev>
void run(Queue& queue, std::span<const Pass> passes, RowStats* stats) {
  // Patterns have index types that this build may hold no kernels for, so all of them are dispatched here.
  for (const Pass& pass : passes)
    dispatch_index_pair(AllIndexPairs{}, pass.matrix.pair, [&](auto pair) {
      using P = decltype(pair);
      *stats++ = run_typed<Dev, typename P::ordinal, typename P::offset>(queue, pass.matrix, pass.offsets_only);
    });
}

}  // namespace host_parts_of_rows

template <class Dev>
constexpr Implementation host() {
  return {{"host"}, host_parts_of_rows::run<Dev>};
}

}  // namespace kkc::row_stats
