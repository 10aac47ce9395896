// Rows of B that the left operand's next entries name, fetched before their turn: short rows are over before memory
// answers, so that fetching ahead within a row is too late.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/host_pattern_ref.hpp"

namespace kkc::spgemm {

/// Of a core's own caches, about.
inline constexpr int64_t own_cache_bytes = int64_t{1} << 19;

/// Walks ahead of the rows of A, over their ends: first where rows of B begin, then their first lines.
template <class I, class O>
class RowsAhead {
 public:
  /// Longer rows of A are enough to look ahead in by themselves.
  static constexpr int64_t longest = 64;

  /// From row `first` of A on.
  RowsAhead(const HostPatternRef<I, O>& A, const HostPatternRef<I, O>& B, int64_t first)
      : A_(A), B_(B), begins_(A.begin(first)), lines_(begins_) {}

  /// Before row i of A, and those before it, are multiplied: fetches entries of B's rows from B's columns, values or
  /// both, if these may be in no cache of a core's own and row i is short. Returns whether row i's were. (Handed in as
  /// a function that does nothing else, fetching was taken for nothing and left out by GCC 12.)
  template <class... T>
  [[gnu::always_inline]] bool pass(int64_t i, const T*... entries) {
    if (B_.nnz * static_cast<int64_t>((sizeof(T) + ...)) <= own_cache_bytes) return false;
    const int64_t begin = A_.begin(i), end = A_.end(i), passed = end - begin > longest ? end : begin;
    begins_ = std::max(begins_, passed);
    lines_ = std::max(lines_, passed);
    if (passed == end) return false;
    for (const int64_t to = std::min(A_.nnz, end + 2 * distance); begins_ < to; ++begins_)
      __builtin_prefetch(B_.offsets + A_.column(begins_));
    for (const int64_t to = std::min(A_.nnz, end + distance); lines_ < to; ++lines_) {
      const int64_t j = A_.column(lines_), apart = j - fetched_;
      fetched_ = j;
      if (apart < -near || apart > near) (fetch(entries, B_.begin(j), B_.end(j)), ...);
    }
    return true;
  }

 private:
  /// The first lines of entries first..last-1, and the line of the last: without a branch for short rows.
  template <class T>
  [[gnu::always_inline]] static void fetch(const T* array, int64_t first, int64_t last) {
    constexpr int64_t line = 64 / sizeof(T);
    __builtin_prefetch(array + first);
    __builtin_prefetch(array + std::max(first, last - 1));
    if (last - first > line)
      for (int64_t q = first + line, end = std::min(last - 1, first + 3 * line); q < end; q += line)
        __builtin_prefetch(array + q);
  }

  static constexpr int64_t distance = 32, near = 2;

  const HostPatternRef<I, O>&A_, &B_;
  int64_t begins_, lines_, fetched_ = -near;
};

}  // namespace kkc::spgemm
