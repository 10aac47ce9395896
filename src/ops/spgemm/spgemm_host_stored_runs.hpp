// Runs of rows that share a column, by column, for host_restriction: where A has one entry in every row, they are the
// rows of its transpose.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <new>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/matrix_parallel.hpp"
#include "device/host_pattern_ref.hpp"
#include "device/host_team.hpp"
#include "ops/spgemm/spgemm_host_restriction_rows.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace kkc::spgemm {

/// Runs of Desc::stored_A, by column: a counting sort in parts as device/host_bucket.hpp, but of runs, not of entries.
template <class I, class O>
class StoredRuns {
 public:
  using Rows = RunRows<I, O>;

  StoredRuns(const Desc& desc, Queue& queue) : pair_(desc.A.pair), rows_(desc.A.rows), cols_(desc.A.cols) {
    const Pattern A(desc.stored_A);
    const int64_t parts = parts_for_items(queue, A.nnz + A.cols, grain);
    offsets_ = host_array<O>(desc.memory, rows_ + 1);
    if (parts >= 4 && scatters(A))
      deal_by_ranges(desc, queue, A, parts);
    else
      count_in_parts(desc, queue, A, parts);
  }

  Rows rows(const Desc&) const { return rows(); }
  Rows rows(const Args&) const { return rows(); }
  size_t bytes() const { return offsets_.bytes() + firsts_.bytes() + counts_.bytes(); }

  using Pattern = HostPatternRef<I, O>;

  /// f(column, starts, n) for the runs of a part of A's rows, in order: n of them, of this column and those behind it,
  /// run r with rows starts[r]..starts[r + 1]-1. Lines of grids have many such runs.
  template <class F>
  static void each_run(const Pattern& A, int64_t parts, int64_t part, const F& f) {
    constexpr int64_t block = 1024;
    I starts[block + 17], columns[block + 17];  // written by vectors
    int64_t first = part_begin(A.nnz, parts, part);
    const int64_t last = part_begin(A.nnz, parts, part + 1);
    if (first == last) return;
    starts[0] = static_cast<I>(first);
    columns[0] = A.indices[first];
    for (++first; first < last; first += block) {
      const int64_t end = std::min(first + block, last),
                    count = find_starts(A.indices, first, end, starts + 1, columns + 1);
      if (2 * count > end - first)
        emit_short(A.base, starts, columns, count, f);
      else
        emit(A.base, starts, columns, count, f);
      starts[0] = starts[count];
      columns[0] = columns[count];
    }
    starts[1] = static_cast<I>(last);
    emit(A.base, starts, columns, 1, f);
  }

 private:
  static constexpr int64_t grain = 2048;  // entries and columns that are worth a thread
  // Enough of them that a part seldom counts in the same one soon again, which processors do not foresee.
  static constexpr int64_t wanted_ranges = 192;
  static constexpr int64_t longest = std::numeric_limits<uint8_t>::max();

  /// Where a part's runs of a column go next; columns begin .. begin + next.size() - 1.
  struct Counters {
    int64_t begin = 0;
    std::vector<O> next;
    int64_t end() const { return begin + static_cast<int64_t>(next.size()); }

    void count(const Pattern& A, int64_t parts, int64_t part) {
      each_run(A, parts, part, [&](int64_t column, const I*, int64_t runs) {
        if (column < begin || column >= end()) widen(column, A.cols);
        if (column + runs > end()) widen(column + runs - 1, A.cols);
        O* const counted = next.data() + (column - begin);
        for (int64_t r = 0; r < runs; ++r) ++counted[r];
      });
    }
    void widen(int64_t column, int64_t cols) {
      const int64_t more = static_cast<int64_t>(next.size()) / 2 + 4096;
      if (next.empty()) begin = column;
      const int64_t low = column < begin ? std::max<int64_t>(0, column - more) : begin,
                    high = column >= end() ? std::min(cols, column + more) : end();
      std::vector<O> wider(static_cast<size_t>(high - low), 0);
      std::copy(next.begin(), next.end(), wider.begin() + (begin - low));
      next.swap(wider);
      begin = low;
    }
  };

  /// Each part counts and places its runs, with counters of the columns that they reach.
  void count_in_parts(const Desc& desc, Queue& queue, const Pattern& A, int64_t parts) {
    std::vector<Counters> counters(static_cast<size_t>(parts));
    std::vector<O> totals(static_cast<size_t>(parts) + 1, 0);
    std::atomic<bool> no_memory{false};
    O* const offsets = offsets_.template as<O>();
    host_two_phases<Host>(
        queue, parts,
        [&](int64_t part) {
          try {
            counters[static_cast<size_t>(part)].count(A, parts, part);
          } catch (const std::bad_alloc&) {
            no_memory.store(true, std::memory_order_relaxed);
          }
        },
        [&](int64_t part) { totals[static_cast<size_t>(part) + 1] = sum_up(parts, part, counters, offsets); });
    if (no_memory) throw std::bad_alloc();
    std::partial_sum(totals.begin(), totals.end(), totals.begin());
    count_ = static_cast<int64_t>(totals.back());
    firsts_ = host_array<I>(desc.memory, count_);
    counts_ = host_array<uint8_t>(desc.memory, count_);
    host_two_phases<Host>(
        queue, parts,
        [&](int64_t part) { move_behind(parts, part, totals[static_cast<size_t>(part)], counters, offsets); },
        [&](int64_t part) { place(A, parts, part, counters[static_cast<size_t>(part)]); });
  }

  /// A run's first row; its column behind the first one of the range, and its rows in the lowest bits.
  struct Item {
    I first;
    std::make_unsigned_t<I> column_and_rows;
  };
  static constexpr int bits_of_rows = 8;

  /// Where runs lie far from those before, parts would write to the same cache lines: runs go to ranges of columns
  /// first, each of which one part puts in order (a radix sort as in device/host_bucket_scattered.hpp, but of runs).
  void deal_by_ranges(const Desc& desc, Queue& queue, const Pattern& A, int64_t parts) {
    const int shift = std::bit_width(static_cast<uint64_t>(rows_ / wanted_ranges));
    const int64_t ranges = ((rows_ - 1) >> shift) + 1, all = parts * ranges;
    const Buffer counters = host_array<O>(desc.memory, 2 * all), items = host_array<Item>(desc.memory, A.nnz);
    O *const counts = counters.template as<O>(), *const next = counts + all;
    auto* const dealt = items.template as<Item>();
    host_two_phases<Host>(
        queue, parts,
        [&](int64_t part) {
          O* const mine = counts + part * ranges;
          std::fill(mine, mine + ranges, O{0});
          each_run(A, parts, part, [&](int64_t column, const I*, int64_t runs) {
            for (int64_t r = 0; r < runs; ++r) ++mine[(column + r) >> shift];
          });
        },
        [&](int64_t part) {
          O* const mine = next + part * ranges;
          O before = 0;
          for (int64_t range = 0; range < ranges; ++range)
            for (int64_t p = 0; p < parts; ++p) {
              if (p == part) mine[range] = before;
              before += counts[p * ranges + range];
            }
          each_run(A, parts, part, [&](int64_t column, const I* starts, int64_t runs) {
            for (int64_t r = 0; r < runs; ++r) {
              const int64_t range = (column + r) >> shift, behind = column + r - (range << shift);
              const int64_t packed = behind << bits_of_rows | static_cast<int64_t>(starts[r + 1] - starts[r]);
              dealt[mine[range]++] = {starts[r], static_cast<std::make_unsigned_t<I>>(packed)};
            }
          });
        });
    // Each part's items of a range end where those of the next begin.
    const auto end_of = [&](int64_t range) { return static_cast<int64_t>(next[(parts - 1) * ranges + range]); };
    count_ = end_of(ranges - 1);
    firsts_ = host_array<I>(desc.memory, count_);
    counts_ = host_array<uint8_t>(desc.memory, count_);
    offsets_.template as<O>()[rows_] = static_cast<O>(count_);
    host_parts_checked<Host>(queue, parts, [&](int64_t part) {
      std::vector<O> places(size_t{1} << shift);
      for (int64_t range = part; range < ranges; range += parts) {
        const int64_t first = range << shift, begin = range == 0 ? 0 : end_of(range - 1);
        put_in_order(dealt + begin, dealt + end_of(range), begin, offsets_.template as<O>() + first,
                     std::min(rows_ - first, int64_t{1} << shift), places.data());
      }
    });
  }

  /// The runs of `columns` columns, which lie from place `at` on. places: room for as many.
  void put_in_order(const Item* from, const Item* to, int64_t at, O* offsets, int64_t columns, O* places) const {
    std::fill(places, places + columns, O{0});
    for (const Item* item = from; item < to; ++item) ++places[item->column_and_rows >> bits_of_rows];
    O place = static_cast<O>(at);
    for (int64_t c = 0; c < columns; ++c) {
      offsets[c] = place;
      place += std::exchange(places[c], place);
    }
    I* const firsts = firsts_.template as<I>();
    auto* const counts = counts_.template as<uint8_t>();
    for (const Item* item = from; item < to; ++item) {
      const O here = places[item->column_and_rows >> bits_of_rows]++;
      firsts[here] = item->first;
      counts[here] = static_cast<uint8_t>(item->column_and_rows);
    }
  }

  /// Whether runs mostly lie beyond the cache line of the one before: a sample of A's rows.
  static bool scatters(const Pattern& A) {
    constexpr int64_t stretches = 16, rows = 64, near = 64 / sizeof(O);
    if (A.nnz < stretches * rows) return false;
    int64_t far = 0, all = 0;
    for (int64_t s = 0; s < stretches; ++s) {
      const I* const columns = A.indices + part_begin(A.nnz - rows, stretches, s);
      for (int64_t row = 1; row < rows; ++row) {
        const int64_t apart = static_cast<int64_t>(columns[row]) - static_cast<int64_t>(columns[row - 1]);
        all += apart == 0 ? 0 : 1;
        far += apart >= near || -apart >= near ? 1 : 0;
      }
    }
    return 2 * far > all;
  }

  Rows rows() const {
    return {{pair_, Scalar::none, 0, rows_, cols_, count_, offsets_.data(), firsts_.data(), nullptr},
            counts_.template as<uint8_t>()};
  }

  /// The runs of a part go where its counters say.
  void place(const Pattern& A, int64_t parts, int64_t part, Counters& mine) {
    O* const next = mine.next.data();
    each_run(A, parts, part, [&](int64_t column, const I* starts, int64_t runs) {
      O* const places = next + (column - mine.begin);
      I* const firsts = firsts_.template as<I>();
      auto* const counts = counts_.template as<uint8_t>();
      for (int64_t r = 0; r < runs; ++r) {
        const O to = places[r]++;
        firsts[to] = starts[r];
        counts[to] = static_cast<uint8_t>(starts[r + 1] - starts[r]);
      }
    });
  }

  /// Runs 0..count-1 one by one, where most are so short that they are not worth a look at several.
  template <class F>
  static void emit_short(int64_t base, const I* starts, const I* columns, int64_t count, const F& f) {
    for (int64_t run = 0; run < count; ++run)
      if (starts[run + 1] - starts[run] <= longest) [[likely]]
        f(static_cast<int64_t>(columns[run]) - base, starts + run, 1);
      else
        emit(base, starts + run, columns + run, 1, f);
  }

  /// Runs 0..count-1, as many at once as follow each other in columns. Longer ones than counts can say are cut.
  template <class F>
  static void emit(int64_t base, const I* starts, const I* columns, int64_t count, const F& f) {
    for (int64_t run = 0, more = 0; run < count; run += more) {
      const int64_t column = static_cast<int64_t>(columns[run]) - base;
      more = following(starts + run, columns + run, count - run);
      if (more > 0) {
        f(column, starts + run, more);
        continue;
      }
      more = 1;
      for (I first = starts[run], next = first; first < starts[run + 1]; first = next) {
        next = static_cast<I>(std::min<int64_t>(starts[run + 1], static_cast<int64_t>(first) + longest));
        const I bounds[] = {first, next};
        f(column, bounds, 1);
      }
    }
  }

  /// How many of `count` runs are in columns that follow each other, none of more rows than counts can say. May read
  /// as many behind them as a vector has.
  static int64_t following(const I* starts, const I* columns, int64_t count) {
#if defined(__AVX512F__)
    if constexpr (sizeof(I) == 4) {
      const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
      for (int64_t run = 0; run < count; run += 16) {
        const __m512i expected = _mm512_add_epi32(lanes, _mm512_set1_epi32(columns[0] + static_cast<int32_t>(run))),
                      rows = _mm512_sub_epi32(_mm512_loadu_si512(starts + run + 1), _mm512_loadu_si512(starts + run));
        const unsigned ends = _mm512_cmpneq_epi32_mask(_mm512_loadu_si512(columns + run), expected) |
                              _mm512_cmpgt_epi32_mask(rows, _mm512_set1_epi32(longest));
        if (ends != 0) return std::min<int64_t>(count, run + __builtin_ctz(ends));
      }
      return count;
    }
#endif
    int64_t run = 0;
    while (run < count && columns[run] - columns[0] == run && starts[run + 1] - starts[run] <= longest) ++run;
    return run;
  }

  /// Rows begin..end-1 whose column is not that of the row before, and their columns; their number.
  static int64_t find_starts(const I* columns, int64_t begin, int64_t end, I* starts, I* started) {
    int64_t count = 0, row = begin;
#if defined(__AVX512F__)
    if constexpr (sizeof(I) == 4) {
      const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
      for (; row + 16 <= end; row += 16) {
        const __m512i here = _mm512_loadu_si512(columns + row);
        const __mmask16 differ = _mm512_cmpneq_epi32_mask(here, _mm512_loadu_si512(columns + row - 1));
        const __m512i rows = _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int32_t>(row)));
        _mm512_storeu_si512(starts + count, _mm512_maskz_compress_epi32(differ, rows));
        _mm512_storeu_si512(started + count, _mm512_maskz_compress_epi32(differ, here));
        count += __builtin_popcount(differ);
      }
    }
#endif
    for (; row < end; ++row) {
      starts[count] = static_cast<I>(row);
      started[count] = columns[row];
      count += columns[row] != columns[row - 1] ? 1 : 0;
    }
    return count;
  }

  /// A part's range of columns: offsets from 0, and where in them each part's runs go. Returns the runs.
  O sum_up(int64_t parts, int64_t part, std::vector<Counters>& counters, O* offsets) const {
    const int64_t begin = part_begin(rows_, parts, part), end = part_begin(rows_, parts, part + 1);
    std::fill(offsets + begin + 1, offsets + end + 1, O{0});
    for (Counters& of : counters)
      for (int64_t c = std::max(begin, of.begin); c < std::min(end, of.end()); ++c) {
        O& next = of.next[static_cast<size_t>(c - of.begin)];
        const O count = next;
        next = offsets[c + 1];
        offsets[c + 1] += count;
      }
    O sum = 0;
    for (int64_t c = begin; c < end; ++c) sum = offsets[c + 1] += sum;
    return sum;
  }

  /// The same range behind `before` runs of those before it.
  void move_behind(int64_t parts, int64_t part, O before, std::vector<Counters>& counters, O* offsets) const {
    const int64_t begin = part_begin(rows_, parts, part), end = part_begin(rows_, parts, part + 1);
    if (begin == 0) offsets[0] = 0;
    for (int64_t c = begin; c < end; ++c) offsets[c + 1] += before;
    for (Counters& of : counters)
      for (int64_t c = std::max(begin, of.begin); c < std::min(end, of.end()); ++c)
        of.next[static_cast<size_t>(c - of.begin)] += c == begin ? before : offsets[c];
  }

  IndexPair pair_;
  int64_t rows_, cols_, count_ = 0;
  Buffer offsets_, firsts_, counts_;
};

}  // namespace kkc::spgemm
