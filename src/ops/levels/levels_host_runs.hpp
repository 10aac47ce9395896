// levels: rows of a pattern in runs of neighbours that are alike but for a shift, as on grids and bands. What holds for
// a run's first row holds for all of it, so that later passes look at the entries of few rows. One pass compares whole
// stretches of the index array with themselves, a row's length further on.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "ops/levels/levels_by_rows.hpp"

#if defined(__AVX512VL__)
#include <immintrin.h>
#endif

namespace kkc::levels {

/// Alike: every row's columns are those of the row before it, each one more. Else rows each of its own kind.
struct Run {
  int64_t first, rows;
  bool alike;
};

inline constexpr int64_t shortest_run = 4;
/// Rows of so few entries gain nothing by shorter runs than these, which are met by chance where such rows are many.
inline constexpr int64_t short_length = 2, shortest_run_of_short = 8;
constexpr int64_t shortest_run_of(int64_t length) {
  return length <= short_length ? shortest_run_of_short : shortest_run;
}

/// How many of the rows after `first`, before `end`, are alike to it.
template <class I, class O>
int64_t count_alike(const HostPattern<I, O>& A, int64_t first, int64_t end) {
  constexpr int64_t rows_at_once = 16, entries_at_once = 64;
  const int64_t length = A.begin(first + 1) - A.begin(first);
  int64_t row = first + 1;
  // Most that are not alike tell it soon.
  for (const int64_t few = std::min(end, first + shortest_run); row < few; ++row) {
    if (A.begin(row + 1) - A.begin(row) != length) return row - first - 1;
    const I* const now = A.indices + A.begin(row);
    for (int64_t e = 0; e < length; ++e)
      if (static_cast<int64_t>(now[e]) - now[e - length] != 1) return row - first - 1;
  }
  while (row < end) {
    const int64_t most = std::min(rows_at_once, end - row);
    const auto as_long = [&](int64_t i) { return A.offsets[row + i + 1] - A.offsets[row + i] == length; };
    if (!as_long(0)) return row - first - 1;
    bool all = true;
    for (int64_t i = 0; i < most; ++i) all &= as_long(i);
    int64_t same = most;
    if (!all)
      for (same = 1; as_long(same);) ++same;
    const I* now = A.indices + A.begin(row);
    const I* before = now - length;
    const auto shifted = [&](int64_t e) { return static_cast<int64_t>(now[e]) - before[e] == 1; };
    const int64_t entries = same * length;
    int64_t e = 0;
    while (e < entries && shifted(e)) {
      for (; e + entries_at_once <= entries; e += entries_at_once) {
        I wrong = 0;
        for (int64_t k = 0; k < entries_at_once; ++k) wrong |= static_cast<I>((now[e + k] - before[e + k]) ^ 1);
        if (wrong != 0) break;
      }
      while (e < entries && shifted(e)) ++e;
    }
    if (e < entries) return row + e / length - first - 1;
    row += same;
    if (same < most) return row - first - 1;
  }
  return end - first - 1;
}

/// Which rows may begin a run of shortest_run_of(their length) rows and more: by their lengths and first columns,
/// without a branch on these.
template <class I, class O>
class AlikeRows {
  static_assert(shortest_run == 4 && shortest_run_of_short == 8);

 public:
  /// Of a pattern with entries.
  explicit AlikeRows(const HostPattern<I, O>& A) : A_(A), last_(A.begin(A.rows) - 1) {}

  /// The first from `row` on and before `end`, else `end`. Never goes back.
  int64_t next(int64_t row, int64_t end) {
    while (row + shortest_run <= end) {
      if (row >= behind_) look(row, end);
      if (const uint64_t found = may_begin_ >> (row - first_); found != 0) {
        at_once_ = least_at_once;
        return row + std::countr_zero(found);
      }
      row = behind_;
      at_once_ = std::min(2 * at_once_, most_at_once);
    }
    return end;
  }

 private:
  static constexpr int64_t least_at_once = 16, most_at_once = 64;  // behind a line of a grid the next one begins

  void look(int64_t row, int64_t end) {
    const int64_t count = std::min(at_once_, end - 1 - row);
    uint64_t as_next = 0, are_short = 0;
    int64_t i = 0;
#if defined(__AVX512VL__)
    if constexpr (sizeof(I) == 4 && sizeof(O) == 4)
      for (; i < count; i += 16) {
        const auto inside = static_cast<__mmask16>(0xffffu >> (16 - std::min<int64_t>(count - i, 16)));
        const auto offset = [&](int64_t at) { return _mm512_maskz_loadu_epi32(inside, A_.offsets + row + i + at); };
        const auto first_column = [&](__m512i begin) {
          const __m512i at = _mm512_maskz_min_epi32(inside, _mm512_sub_epi32(begin, _mm512_set1_epi32(A_.base)),
                                                    _mm512_set1_epi32(static_cast<int32_t>(last_)));
          return _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), inside, at, A_.indices, sizeof(I));
        };
        const __m512i begin = offset(0), next = offset(1), behind = offset(2);
        const __m512i length = _mm512_sub_epi32(next, begin);
        const __mmask16 as_long = _mm512_mask_cmpeq_epi32_mask(inside, _mm512_sub_epi32(behind, next), length),
                        shifted = _mm512_cmpeq_epi32_mask(_mm512_sub_epi32(first_column(next), first_column(begin)),
                                                          _mm512_set1_epi32(1)),
                        empty = _mm512_cmpeq_epi32_mask(begin, next);
        as_next |= static_cast<uint64_t>(as_long & (shifted | empty)) << i;
        are_short |= static_cast<uint64_t>(_mm512_cmple_epi32_mask(length, _mm512_set1_epi32(short_length))) << i;
      }
#endif
    for (; i < count; ++i) {
      const int64_t begin = A_.begin(row + i), next = A_.begin(row + i + 1), behind = A_.begin(row + i + 2);
      const bool as_long = behind - next == next - begin,
                 shifted = A_.indices[std::min(next, last_)] - A_.indices[std::min(begin, last_)] == 1;
      as_next |= static_cast<uint64_t>(as_long & ((begin == next) | shifted)) << i;
      are_short |= static_cast<uint64_t>(next - begin <= short_length) << i;
    }
    // What is behind the last row looked at may be alike.
    const uint64_t seen = ~uint64_t{0} >> (64 - count);
    uint64_t unlike = seen & ~as_next;  // among the rows of a short one's run, but for the last
    unlike |= unlike >> 1;
    unlike |= unlike >> 2;
    unlike |= unlike >> 3;
    may_begin_ = as_next & as_next >> 1 & as_next >> 2 & ~(are_short & unlike);
    first_ = row;
    behind_ = row + at_once_ - (shortest_run - 2);
  }

  const HostPattern<I, O>& A_;
  int64_t last_, first_ = 0, behind_ = 0, at_once_ = least_at_once;
  uint64_t may_begin_ = 0;
};

/// Adds the runs of rows begin..end-1; those that are not alike are joined.
template <class I, class O>
void find_runs(const HostPattern<I, O>& A, int64_t begin, int64_t end, std::vector<Run>& runs) {
  const size_t before = runs.size();
  AlikeRows<I, O> alike(A);
  constexpr int64_t long_run = 16;
  bool likely = true;  // a run begins here
  for (int64_t row = begin; row < end;) {
    int64_t rows = likely ? count_alike(A, row, end) + 1 : 0;
    likely = rows >= long_run;
    if (rows >= shortest_run_of(A.begin(row + 1) - A.begin(row))) {
      runs.push_back({row, rows, true});
    } else {
      rows = alike.next(row + rows, end) - row;
      likely = true;
      if (rows == 0) continue;
      if (runs.size() > before && !runs.back().alike)
        runs.back().rows += rows;
      else
        runs.push_back({row, rows, false});
    }
    row += rows;
  }
}

}  // namespace kkc::levels
