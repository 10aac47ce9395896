// Rows of B that the left operand's next entries name, fetched before their turn: short rows are over before memory
// answers, so that fetching ahead within a row is too late.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/host_caches.hpp"
#include "device/host_pattern_ref.hpp"

namespace kkc::spgemm {

/// Looks ahead of the entries of A, over the ends of A's rows: first where rows of B begin, then their first lines, if
/// these are far from the rows that lie where A's row does.
/// (Members are inlined at once: GCC 12 takes a function that does nothing but fetch for nothing, and leaves out its
/// calls.)
template <class I, class O>
class RowsAhead {
 public:
  RowsAhead(const HostPatternRef<I, O>& A, const HostPatternRef<I, O>& B)
      : B_(B),
        base_(A.base),
        end_(A.indices + A.nnz),
        far_(B.nnz * static_cast<int64_t>(sizeof(I)) > own_cache_bytes()),
        far_offsets_(2 * B.rows * static_cast<int64_t>(sizeof(O)) > own_cache_bytes()),
        rows_of_b_(static_cast<double>(B.rows) / static_cast<double>(std::max<int64_t>(A.rows, 1))),
        reach_(own_cache_bytes() / 4 * B.rows / std::max<int64_t>(B.nnz * static_cast<int64_t>(sizeof(I) + 8), 1)) {}

  /// While row i of A is multiplied.
  class OfRow {
   public:
    OfRow(const RowsAhead& ahead, int64_t i)
        : ahead_(ahead), here_(static_cast<int64_t>(static_cast<double>(i) * ahead.rows_of_b_)) {}

    /// Before its entry k is. of_b: what is read of B's rows, columns, values or both.
    template <class Row, class... T>
    [[gnu::always_inline]] void fetch(const Row& row, int64_t k, const T*... of_b) const {
      const I* const entry = row.columns + k;
      if (!ahead_.far_ || ahead_.end_ - entry <= 2 * distance) return;
      if (ahead_.far_offsets_)
        __builtin_prefetch(ahead_.B_.offsets + (static_cast<int64_t>(entry[2 * distance]) - ahead_.base_));
      // Rows of B that neighbours of this row name, too, are near already.
      const int64_t j = static_cast<int64_t>(entry[distance]) - ahead_.base_, apart = j - here_;
      if (apart < -ahead_.reach_ || apart > ahead_.reach_) (lines(of_b, ahead_.B_.begin(j), ahead_.B_.end(j)), ...);
    }

   private:
    const RowsAhead& ahead_;
    int64_t here_;  // B's row about where A's diagonal names one
  };
  OfRow of_row(int64_t i) const { return {*this, i}; }

 private:
  /// The first lines of entries first..last-1, and the line of the last.
  template <class T>
  [[gnu::always_inline]] static void lines(const T* array, int64_t first, int64_t last) {
    constexpr int64_t line = 64 / sizeof(T);
    const int64_t end = std::max(first, last - 1);
    __builtin_prefetch(array + first);
    __builtin_prefetch(array + end);
    if (last - first <= line) return;
    __builtin_prefetch(array + first + line);
    __builtin_prefetch(array + std::min(first + 2 * line, end));
  }

  static constexpr int64_t distance = 16;

  const HostPatternRef<I, O>& B_;
  int64_t base_;
  const I* end_;
  bool far_, far_offsets_;  // B's rows, and where they begin, may be in no cache of a core's own
  double rows_of_b_;        // to a row of A
  int64_t reach_;           // rows of B that such a cache keeps on either side
};

}  // namespace kkc::spgemm
