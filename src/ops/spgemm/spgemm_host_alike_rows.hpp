// Rows of C that the numeric phase of spgemm on hosts makes at once (spgemm_host_numeric.hpp): they follow each other,
// are of one class and have steps (spgemm_host_steps.hpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace kkc::spgemm {

/// Points, each one column further right than the one before, of so many rows that have the same rows of B; or one row.
struct Alike {
  int points = 1, unknowns = 1;
  int rows() const { return points * unknowns; }
};

/// Whether the columns of rows of the left operand, which are of one class, grow by one from row to row.
template <class Pattern>
bool consecutive(const Pattern& left, int64_t i, int64_t rows) {
  const auto row = left.row(i);
  const auto* const columns = row.columns;
  using U = std::make_unsigned_t<std::remove_cvref_t<decltype(*columns)>>;
  U differ = 0;
  for (int64_t k = 0, n = row.size(), end = n * (rows - 1); k < end; ++k)
    differ |= static_cast<U>(columns[k + n] - columns[k]) ^ 1u;
  return differ == 0;
}
/// Of rows of one class.
template <class Pattern>
bool same_columns(const Pattern& left, int64_t i, int64_t j) {
  const auto a = left.row(i), b = left.row(j);
  if (a.size() == 0 || a.column(0) != b.column(0)) return false;
  int64_t differ = 0;
  for (int64_t k = 1; k < a.size(); ++k) differ |= a.column(k) ^ b.column(k);
  return differ == 0;
}

/// From row i on, below `last`; its class has steps.
template <class Pattern>
Alike alike_from(const Pattern& left, const int32_t* kinds_of_rows, int64_t i, int64_t last) {
  constexpr int64_t most_of_eight = 16;  // entries of eight left rows at once: B's rows stay in the innermost cache
  const int32_t* const kinds = kinds_of_rows + i;
  if (i + 1 == last || kinds[1] != kinds[0]) return {};
  int rows = 8;
  int32_t differ = i + 8 <= last ? 0 : 1;
  for (int r = 1; r < 8 && i + 8 <= last; ++r) differ |= kinds[r] ^ kinds[0];
  if (differ != 0)
    for (rows = 2; rows < std::min<int64_t>(7, last - i) && kinds[rows] == kinds[0];) ++rows;
  int unknowns = 1;
  while (unknowns < std::min(4, rows) && same_columns(left, i, i + unknowns)) ++unknowns;
  if (unknowns == 1) {
    const int points = rows < 8 ? rows & 4 : left.row(i).size() > most_of_eight ? 4 : 8;
    return {points > 0 && consecutive(left, i, points) ? points : 2, 1};
  }
  if (rows < 2 * unknowns) return {1, unknowns};
  for (int r = 1; r < unknowns; ++r)
    if (!same_columns(left, i + unknowns, i + unknowns + r)) return {1, unknowns};
  return {2, unknowns};
}

}  // namespace kkc::spgemm
