// Index arithmetic of dense arrays: the simplest equivalent shape, and whether two arrays share memory.
#pragma once

#include <cstdint>

#include "operands.hpp"

namespace kkc {

/// The shape that N arrays have in common: extents of 1 dropped, dimensions in ascending order of the first array's
/// strides, neighbours merged wherever every array allows it. Rank 0 is one element.
inline constexpr int walk_rank = max_rank + 1;  // room for parts of an element

template <int N>
struct Walk {
  int32_t rank;
  int64_t count;
  int64_t extents[walk_rank];
  int64_t strides[N][walk_rank];

  /// Every array is one contiguous run.
  bool contiguous() const {
    if (rank > 1) return false;
    for (int n = 0; n < N; ++n)
      if (rank == 1 && strides[n][0] != 1) return false;
    return true;
  }
};

template <int N>
Walk<N> walk_of(const DenseRef* const (&arrays)[N]) {
  Walk<N> walk{0, 1, {}, {}};
  for (int d = 0; d < arrays[0]->rank; ++d) {
    const int64_t extent = arrays[0]->extents[d];
    walk.count *= extent;
    if (extent == 1) continue;
    // Insertion by the first array's stride; the others' break ties.
    int at = walk.rank++;
    const auto before = [&](int k) {
      for (int n = 0; n < N; ++n)
        if (arrays[n]->strides[d] != walk.strides[n][k]) return arrays[n]->strides[d] < walk.strides[n][k];
      return false;
    };
    for (; at > 0 && before(at - 1); --at) {
      walk.extents[at] = walk.extents[at - 1];
      for (int n = 0; n < N; ++n) walk.strides[n][at] = walk.strides[n][at - 1];
    }
    walk.extents[at] = extent;
    for (int n = 0; n < N; ++n) walk.strides[n][at] = arrays[n]->strides[d];
  }
  int kept = 0;
  for (int d = 1; d < walk.rank; ++d) {
    bool merges = true;
    for (int n = 0; n < N; ++n) merges = merges && walk.strides[n][d] == walk.strides[n][kept] * walk.extents[kept];
    if (merges) {
      walk.extents[kept] *= walk.extents[d];
      continue;
    }
    ++kept;
    walk.extents[kept] = walk.extents[d];
    for (int n = 0; n < N; ++n) walk.strides[n][kept] = walk.strides[n][d];
  }
  if (walk.rank > 0) walk.rank = kept + 1;
  return walk;
}

inline int64_t count_of(const DenseRef& array) {
  int64_t count = 1;
  for (int d = 0; d < array.rank; ++d) count *= array.extents[d];
  return count;
}

/// Elements from the first to one past the last; 0 when there are none.
inline int64_t span_of(const DenseRef& array) {
  int64_t span = 1;
  for (int d = 0; d < array.rank; ++d) {
    if (array.extents[d] == 0) return 0;
    span += (array.extents[d] - 1) * array.strides[d];
  }
  return span;
}

/// Whether some byte belongs to an element of both. Exact for all practical strides; when the search is cut short, the
/// answer is yes.
bool overlap(const DenseRef& a, const DenseRef& b);

/// Whether both are the same elements in the same order.
inline bool identical(const DenseRef& a, const DenseRef& b) {
  if (a.data != b.data || a.scalar != b.scalar || a.rank != b.rank) return false;
  for (int d = 0; d < a.rank; ++d)
    if (a.extents[d] != b.extents[d] || (a.extents[d] > 1 && a.strides[d] != b.strides[d])) return false;
  return true;
}

/// Division by a number that many threads share: a multiplication and a shift, for dividends below 2^31
/// (Granlund, Montgomery, PLDI 1994).
class Divider {
 public:
  constexpr Divider() = default;
  constexpr explicit Divider(uint32_t divisor) : divisor_(divisor) {
    while ((uint64_t{1} << shift_) < divisor) ++shift_;
    factor_ = static_cast<uint32_t>(((uint64_t{1} << (31 + shift_)) + divisor - 1) / divisor);
    shift_ += 31;
  }
  constexpr uint32_t quotient(uint32_t n) const { return static_cast<uint32_t>((uint64_t{n} * factor_) >> shift_); }
  constexpr uint32_t divisor() const { return divisor_; }

 private:
  uint32_t divisor_ = 1, factor_ = uint32_t{1} << 31, shift_ = 0;
};

}  // namespace kkc
