// A CSR pattern with its types, as host kernels read it, and rows dealt by entries.
#pragma once

#include <algorithm>
#include <cstdint>

#include "core/operands.hpp"
#include "device/host_parallel.hpp"

namespace kkc {

template <class I, class O>
struct HostPatternRef {
  const O* offsets;
  const I* indices;
  int64_t base, rows, cols, nnz;

  explicit HostPatternRef(const CsrRef& A)
      : offsets(static_cast<const O*>(A.offsets)),
        indices(static_cast<const I*>(A.indices)),
        base(A.base),
        rows(A.rows),
        cols(A.cols),
        nnz(A.nnz) {}

  int64_t begin(int64_t row) const { return static_cast<int64_t>(offsets[row]) - base; }
  int64_t end(int64_t row) const { return begin(row + 1); }
  int64_t column(int64_t p) const { return static_cast<int64_t>(indices[p]) - base; }

  /// Whether a row's columns do, each once.
  bool ascends(int64_t row) const {
    for (int64_t p = begin(row) + 1; p < end(row); ++p)
      if (indices[p - 1] >= indices[p]) return false;
    return true;
  }

  /// First row of `part`, so that parts have about as many entries and rows together.
  int64_t first_row(int64_t parts, int64_t part) const {
    if (part <= 0) return 0;
    if (part >= parts) return rows;
    const int64_t want = part_begin(nnz + rows, parts, part);
    int64_t low = 0, high = rows;
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (begin(middle) + middle < want)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
  /// The row of entry p.
  int64_t row_of(int64_t p) const {
    return std::upper_bound(offsets, offsets + rows + 1, static_cast<O>(p + base)) - offsets - 1;
  }
};

/// As many parts as threads, but none too small to be worth one.
inline int64_t parts_for_items(Queue& queue, int64_t items, int64_t grain = 16384) {
  return std::max<int64_t>(1, std::min<int64_t>(queue.concurrency(), items / grain));
}

}  // namespace kkc
