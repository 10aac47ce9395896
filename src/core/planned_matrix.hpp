// What a plan remembers of an input, and the comparison at each execute.
#pragma once

#include "matrix.hpp"
#include "view.hpp"

namespace kkc {

class PlannedMatrix {
 public:
  PlannedMatrix() = default;
  /// `checked`: takes the pattern's fingerprint, for executes to compare.
  PlannedMatrix(Queue& queue, const CsrRef& A, bool checked);

  /// Sizes and types; the arrays are not kept.
  const CsrRef& ref() const { return ref_; }
  /// Refuses a matrix of another device, size, type or (checked) pattern; `argument` is its name in the sentence.
  void check(const Matrix& A, Queue& queue, const char* argument) const;

 private:
  CsrRef ref_{};
  bool checked_ = false;
  uint64_t fingerprint_ = 0;
};

/// Refuses a view of another device, shape, type or other strides than `planned`, or one without data; `argument` is
/// its name in the sentence.
void require_as_planned(const View& view, const DenseRef& planned, Queue& queue, const char* argument);

/// Kernels of GPUs load complex numbers whole; hosts need the alignment of their parts only.
void require_alignment(const void* data, Scalar scalar, const Queue& queue, const char* argument);

}  // namespace kkc
