// levels: one pass over the rows in an order in which each finds what it depends on done, and a counting sort.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>
#include <vector>

#include "ops/levels/levels.hpp"

#if defined(__AVX512VL__)
#include <immintrin.h>
#endif

namespace kkc::levels {

/// A pattern in host memory; entries count from 0.
template <class I, class O>
struct HostPattern {
  const O* offsets;
  const I* indices;
  int64_t rows;
  O base;

  int64_t begin(int64_t row) const { return static_cast<int64_t>(offsets[row] - base); }
  int64_t column(int64_t entry) const { return static_cast<int64_t>(indices[entry]) - static_cast<int64_t>(base); }
};

/// What the search for diagonals learns of some rows.
struct Diagonals {
  int64_t missing = std::numeric_limits<int64_t>::max();  // the first row without one
  bool parted = true;
  bool ascending = true;  // strictly, in each row

  void join(const Diagonals& other) {
    missing = std::min(missing, other.missing);
    parted = parted && other.parted;
    ascending = ascending && other.ascending;
  }
};

/// The row's diagonal, as Levels says.
template <class I, class O>
int64_t find_diagonal(const HostPattern<I, O>& A, int64_t row, Diagonals& found) {
  const int64_t from = A.begin(row), to = A.begin(row + 1);
  // Loops without branches: rows that are as they should be are by far the most.
  bool ascending = true;
  for (int64_t p = from + 1; p < to; ++p) ascending &= A.indices[p - 1] < A.indices[p];
  int64_t place = to;
  bool present = false, ordered = true;
  if (ascending) {
    if (from < to && A.column(to - 1) <= row)
      place = A.column(to - 1) == row ? to - 1 : to;
    else if (from < to)
      place = std::lower_bound(A.indices + from, A.indices + to, row,
                               [&](I index, int64_t column) { return int64_t{index} - A.base < column; }) -
              A.indices;
    present = place < to && A.column(place) == row;
  } else {
    found.ascending = false;
    place = from;
    while (place < to && A.column(place) < row) ++place;
    present = place < to && A.column(place) == row;
    for (int64_t p = place + (present ? 1 : 0); p < to; ++p) ordered &= A.column(p) > row;
    if (!ordered) {
      found.parted = false;
      for (place = from; place < to && A.column(place) != row;) ++place;
      present = place < to;
      if (!present)
        for (place = from; place < to && A.column(place) < row;) ++place;
    }
  }
  if (!present) found.missing = std::min(found.missing, row);
  return present ? place : ~place;
}

/// Whether in all rows begin..end-1 columns ascend and the diagonal is the last (`at_end`) or first. Looks at all
/// entries as at one row's.
template <class I, class O>
bool diagonals_at_end(const HostPattern<I, O>& A, int64_t begin, int64_t end, bool at_end) {
  const int64_t from = A.begin(begin), to = A.begin(end);
  if (to - from < end - begin) return false;
  int64_t descents = 0, between = 0;  // of the latter those from row to row, where all is as said
  for (int64_t p = from + 1; p < to; ++p) descents += A.indices[p - 1] >= A.indices[p] ? 1 : 0;
  bool as_said = true;
  int64_t row = begin;
#if defined(__AVX512VL__)
  if constexpr (sizeof(I) == 4 && sizeof(O) == 4) {
    const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0),
                  base = _mm512_set1_epi32(A.base), one = _mm512_set1_epi32(1), none = _mm512_setzero_si512(),
                  least = _mm512_set1_epi32(static_cast<int32_t>(from)),
                  most = _mm512_set1_epi32(static_cast<int32_t>(to - 1));
    unsigned wrong = 0;
    for (; row < end; row += 16) {
      const auto inside = static_cast<__mmask16>(0xffffu >> (16 - std::min<int64_t>(end - row, 16)));
      const auto offset = [&](int64_t i) {
        return _mm512_sub_epi32(_mm512_maskz_loadu_epi32(inside, A.offsets + i), base);
      };
      const auto column = [&](__m512i entry) {
        const __m512i at = _mm512_maskz_max_epi32(inside, _mm512_maskz_min_epi32(inside, entry, most), least);
        return _mm512_mask_i32gather_epi32(none, inside, at, A.indices, sizeof(I));
      };
      const __m512i first = offset(row), behind = offset(row + 1),
                    rows = _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int32_t>(row + A.base)));
      wrong |= _mm512_mask_cmpge_epi32_mask(inside, first, behind);
      wrong |= _mm512_mask_cmpneq_epi32_mask(inside, column(at_end ? _mm512_sub_epi32(behind, one) : first), rows);
      const __mmask16 descends = at_end
                                     ? _mm512_mask_cmpgt_epi32_mask(inside, rows, column(first))
                                     : _mm512_mask_cmpge_epi32_mask(inside, column(_mm512_sub_epi32(first, one)), rows);
      between += std::popcount(static_cast<unsigned>(row == begin ? descends & ~1u : descends));
    }
    as_said = wrong == 0;
  }
#endif
  for (; row < end; ++row) {
    const int64_t first = A.begin(row), behind = A.begin(row + 1);
    as_said &= first < behind;
    as_said &= A.column(std::clamp(at_end ? behind - 1 : first, from, to - 1)) == row;
    if (row == begin) continue;
    const int64_t inside = std::clamp(first, from + 1, to - 1);
    between += A.indices[inside - 1] >= A.indices[inside] ? 1 : 0;
  }
  return as_said && descents == between;
}

/// diagonal[row] for rows begin..end-1, as Levels says.
template <class I, class O>
Diagonals find_diagonals(const HostPattern<I, O>& A, int64_t begin, int64_t end, O* diagonal) {
  Diagonals found;
  for (int64_t row = begin; row < end; ++row) diagonal[row] = static_cast<O>(find_diagonal(A, row, found));
  return found;
}

/// Levels of the rows; returns how many there are.
template <class I, class O>
int64_t find_row_levels(const HostPattern<I, O>& A, Uplo uplo, bool transposed, const O* diagonal, bool parted,
                        I* level) {
  const bool lower = uplo == Uplo::lower;
  const int64_t n = A.rows;
  int64_t count = 0;
  const auto each_entry = [&](int64_t row, const auto& f) {
    if (parted) {
      const auto d = static_cast<int64_t>(diagonal[row]);
      const int64_t from = lower ? A.begin(row) : behind_diagonal(d), to = lower ? diagonal_place(d) : A.begin(row + 1);
      for (int64_t p = from; p < to; ++p) f(A.column(p));
    } else {
      for (int64_t p = A.begin(row); p < A.begin(row + 1); ++p) {
        const int64_t column = A.column(p);
        if (lower ? column < row : column > row) f(column);
      }
    }
  };
  if (transposed) std::fill(level, level + n, I{0});
  const bool ascending = lower != transposed;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t row = ascending ? i : n - 1 - i;
    if (transposed) {
      const I mine = level[row], next = mine + 1;
      each_entry(row, [&](int64_t column) { level[column] = std::max(level[column], next); });
    } else {
      I mine = 0;
      each_entry(row, [&](int64_t column) { mine = std::max(mine, static_cast<I>(level[column] + 1)); });
      level[row] = mine;
    }
    count = std::max<int64_t>(count, level[row] + 1);
  }
  return count;
}

/// Rows by level, ascending inside one.
template <class I>
std::vector<int64_t> sort_by_level(const I* level, int64_t rows, int64_t count, I* order) {
  std::vector<int64_t> starts(static_cast<size_t>(count) + 2, 0);
  for (int64_t row = 0; row < rows; ++row) ++starts[static_cast<size_t>(level[row]) + 2];
  for (size_t l = 2; l < starts.size(); ++l) starts[l] += starts[l - 1];
  for (int64_t row = 0; row < rows; ++row) order[starts[static_cast<size_t>(level[row]) + 1]++] = static_cast<I>(row);
  starts.pop_back();
  return starts;
}

}  // namespace kkc::levels
