// The product computed by a plain loop in double precision, and how far a result is from it.
#pragma once

#include <complex>
#include <vector>

#include "bench_matrix.hpp"

namespace kkc::bench {

/// op(A) x with, per element, the sum of |a| |x| (what a rounding error is measured against) and its number of terms.
struct SpmvOracle {
  std::vector<std::complex<double>> value;  // element (row, vector) at row * vectors + vector
  std::vector<double> weight;
  std::vector<int64_t> terms;

  /// x: dense, element (row, vector) at row * row_stride + vector * vector_stride.
  SpmvOracle(const CsrArrays& A, kkc_op_t op, int64_t vectors, const void* x, int64_t row_stride,
             int64_t vector_stride);

  /// The largest |y - value| / weight; negative when any element is not a number or beyond what `terms` roundings
  /// explain.
  double error(kkc_scalar_t scalar, const void* y, int64_t row_stride, int64_t vector_stride) const;

 private:
  int64_t vectors_;
};

}  // namespace kkc::bench
