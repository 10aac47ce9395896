// Points on the path that merges two matrices whose rows ascend strictly, entry by entry and row by row, and pieces of
// equal length between them, however long a row is. Odeh, Green, Mwassi, Shmueli, Birk, "Merge path - parallel merging
// made simple", IPDPSW 2012; Green, McColl, Bader, "GPU merge path", ICS'12. For hosts and GPUs.
#pragma once

#include <cstdint>

namespace kkc::spadd {

/// A CSR pattern as merging sees it; rows, entries and columns count from 0.
template <class I, class O>
struct Rows {
  const O* offsets;  // null: no entries
  const I* columns;
  int32_t base;

  constexpr int64_t begin(int64_t row) const {
    return offsets == nullptr ? 0 : static_cast<int64_t>(offsets[row]) - base;
  }
  constexpr int64_t column(int64_t entry) const { return static_cast<int64_t>(columns[entry]) - base; }
};

/// Entries of A and B before `a` and `b` have been merged; the next one is in `row`.
struct Point {
  int64_t row, a, b;
};

/// How many of A's entries are among the first `diagonal` of those that `a` and `b` give (na and nb of them,
/// ascending); A's come before B's equal ones.
template <class N, class GetA, class GetB>
constexpr N taken_from_a(N diagonal, N na, N nb, const GetA& a, const GetB& b) {
  N low = diagonal > nb ? diagonal - nb : 0, high = diagonal < na ? diagonal : na;
  while (low < high) {
    const N middle = low + (high - low) / 2;
    if (a(middle) <= b(diagonal - 1 - middle))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// The last row of low..high - 1 whose entries begin at or before `diagonal` on the path; empty rows before it are
/// passed. The first one begins there.
template <class I, class O>
constexpr int64_t row_at(const Rows<I, O>& A, const Rows<I, O>& B, int64_t low, int64_t high, int64_t diagonal) {
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    if (A.begin(middle) + B.begin(middle) <= diagonal)
      low = middle;
    else
      high = middle;
  }
  return low;
}

/// The point after `diagonal` entries, in one of the rows low..high - 1, or one entry later where it would part two
/// entries of one column. 0 <= diagonal < entries of A and B.
template <class I, class O>
constexpr Point point_at(const Rows<I, O>& A, const Rows<I, O>& B, int64_t low, int64_t high, int64_t diagonal) {
  const int64_t row = row_at(A, B, low, high, diagonal);
  const int64_t a = A.begin(row), b = B.begin(row), nb = B.begin(row + 1) - b, steps = diagonal - a - b;
  const int64_t x = taken_from_a(
      steps, A.begin(row + 1) - a, nb, [&](int64_t i) { return A.columns[a + i] - A.base; },
      [&](int64_t i) { return B.columns[b + i] - B.base; });
  const int64_t y = steps - x;
  const bool parted = x > 0 && y < nb && A.column(a + x - 1) == B.column(b + y);
  return {row, a + x, b + y + (parted ? 1 : 0)};
}

}  // namespace kkc::spadd
