// Stretches of rows along a line of a grid: each row has the columns of the one before it, moved by one.
#pragma once

#include <algorithm>
#include <type_traits>

#include "device/host_pattern_ref.hpp"

namespace kkc::spgemm {

/// One past the last row of the stretch that begins with row `first`, at most `limit`.
template <class I, class O>
int64_t end_of_stretch(const HostPatternRef<I, O>& A, int64_t first, int64_t limit) {
  using U = std::make_unsigned_t<I>;
  const int64_t length = A.end(first) - A.begin(first);
  // Rows from..to-1, each behind one of that length.
  const auto go_on = [&](int64_t from, int64_t to) {
    const I* const before = A.indices + A.begin(from - 1);
    const I* const rows = before + length;
    if (A.end(from) - A.begin(from) != length || (length > 0 && static_cast<U>(*rows) - static_cast<U>(*before) != 1))
      return false;
    O other = 0;
    for (int64_t row = from; row < to; ++row)
      other |= static_cast<O>((A.offsets[row + 1] - A.offsets[row]) ^ static_cast<O>(length));
    if (other != 0) return false;
    U differ = 0;
    for (int64_t p = 0, n = (to - from) * length; p < n; ++p)
      differ |= static_cast<U>(static_cast<U>(rows[p]) - static_cast<U>(before[p])) ^ U { 1 };
    return differ == 0;
  };
  // Twice as many rows each time, by vectors; then half as many, to the last.
  constexpr int64_t most = 64;
  int64_t end = first + 1;
  bool grows = true;
  for (int64_t step = 1; end < limit && step > 0;) {
    const int64_t to = std::min(limit, end + step);
    if (go_on(end, to))
      end = to;
    else
      grows = false;
    step = grows ? std::min(2 * step, most) : step / 2;
  }
  return end;
}

}  // namespace kkc::spgemm
