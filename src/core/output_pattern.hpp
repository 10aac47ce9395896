// Operations whose output is a matrix: the pattern that a plan found, given out to callers.
#pragma once

#include <limits>
#include <memory>

#include "matrix.hpp"

namespace kkc {

class Plan;

/// The pattern of an output matrix: base 0, in memory of the plan's device. Matrices that the library makes share its
/// arrays, so nobody writes to them after planning.
struct OutputPattern {
  IndexPair pair = IndexPair::i32_32;
  Scalar scalar = Scalar::none;
  int32_t base = 0;  // of matrices that the library makes
  int64_t rows = 0, cols = 0, nnz = 0;
  std::shared_ptr<const Buffer> offsets;  // rows + 1 of the pair's offset type, also for no rows
  std::shared_ptr<const Buffer> indices;  // nnz of its ordinal type

  /// Base 0, values NULL.
  CsrRef ref() const {
    return {
        pair,   scalar, 0, rows, cols, nnz, offsets ? offsets->data() : nullptr, indices ? indices->data() : nullptr,
        nullptr};
  }
};

/// Refuses a C whose device, sizes or types are not the planned output's; for executes.
void require_planned_output(const Matrix& C, const OutputPattern& planned, Queue& queue, const char* argument);
/// Refuses a C whose offsets or columns are not the planned ones, for checked executes; blocks, copies GPU patterns to
/// the host.
void require_planned_pattern(const Matrix& C, const OutputPattern& planned, Queue& queue, const char* argument);
/// Refuses a result whose entries or columns index pair `pair` cannot count, with the number; before anything of that
/// size is allocated. Inline: kernels' modules hold no core.
inline void require_countable(int64_t cols, int64_t nnz, IndexPair pair, const char* result) {
  constexpr int64_t narrow = std::numeric_limits<int32_t>::max();
  if (ordinal_size(pair) == 4)
    require(cols < narrow, KKC_STATUS_OVERFLOW, result, " has ", cols, " columns, more than index pair ", name(pair),
            " counts");
  if (offset_size(pair) == 4)
    require(nnz < narrow, KKC_STATUS_OVERFLOW, result, " has ", nnz, " entries, more than index pair ", name(pair),
            " counts");
}

/// Refused for plans whose output is not a matrix.
const OutputPattern& output_of(const Plan& plan);

}  // namespace kkc
