#include "spmv_oracle.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kkc::bench {
namespace {

using Wide = std::complex<double>;

template <class F>
void with_scalar(kkc_scalar_t scalar, F&& f) {
  switch (scalar) {
    case KKC_TYPE_F32: f(float{}); break;
    case KKC_TYPE_F64: f(double{}); break;
    case KKC_TYPE_C64: f(std::complex<float>{}); break;
    default: f(std::complex<double>{}); break;
  }
}

template <class F>
void with_indices(kkc_index_pair_t index, F&& f) {
  switch (index) {
    case KKC_INDEX_32_32: f(int32_t{}, int32_t{}); break;
    case KKC_INDEX_32_64: f(int32_t{}, int64_t{}); break;
    default: f(int64_t{}, int64_t{}); break;
  }
}

double length(double re, double im) { return std::sqrt(re * re + im * im); }

}  // namespace

SpmvOracle::SpmvOracle(const CsrArrays& A, kkc_op_t op, int64_t vectors, const void* x_data, int64_t row_stride,
                       int64_t vector_stride)
    : vectors_(vectors) {
  const bool transposed = op == KKC_OP_TRANSPOSE || op == KKC_OP_HERMITIAN;
  const double sign = op == KKC_OP_CONJUGATE || op == KKC_OP_HERMITIAN ? -1.0 : 1.0;
  const int64_t rows = transposed ? A.cols : A.rows;
  value.assign(static_cast<size_t>(rows * vectors), Wide{});
  weight.assign(value.size(), 0.0);
  terms.assign(static_cast<size_t>(rows), 0);
  with_scalar(A.scalar, [&](auto scalar) {
    with_indices(A.index, [&](auto ordinal, auto offset) {
      using T = decltype(scalar);
      const auto* offsets = static_cast<const decltype(offset)*>(A.offsets);
      const auto* indices = static_cast<const decltype(ordinal)*>(A.indices);
      const auto* values = static_cast<const T*>(A.values);
      const auto* x = static_cast<const T*>(x_data);
      const auto add = [&](int64_t to, int64_t from, const T& a) {
        const Wide w = a;
        const double re = w.real(), im = sign * w.imag(), size = length(re, im);
        ++terms[static_cast<size_t>(to)];
        for (int64_t v = 0; v < vectors; ++v) {
          const Wide z = x[from * row_stride + v * vector_stride];
          const auto place = static_cast<size_t>(to * vectors + v);
          value[place] += Wide(re * z.real() - im * z.imag(), re * z.imag() + im * z.real());
          weight[place] += size * length(z.real(), z.imag());
        }
      };
      const auto row = [&](int64_t i) {
        for (int64_t k = offsets[i] - A.base; k < offsets[i + 1] - A.base; ++k) {
          const int64_t j = indices[k] - A.base;
          if (transposed)
            add(j, i, values[k]);
          else
            add(i, j, values[k]);
        }
      };
      if (transposed) {
        for (int64_t i = 0; i < A.rows; ++i) row(i);
      } else {
#pragma omp parallel for schedule(dynamic, 1024)
        for (int64_t i = 0; i < A.rows; ++i) row(i);
      }
    });
  });
}

double SpmvOracle::error(kkc_scalar_t scalar, const void* y_data, int64_t row_stride, int64_t vector_stride) const {
  double largest = 0.0;
  bool wrong = false;
  with_scalar(scalar, [&](auto kind) {
    using T = decltype(kind);
    const double epsilon = sizeof(T) == 4 || scalar == KKC_TYPE_C64 ? 0x1p-23 : 0x1p-52;
    const auto* y = static_cast<const T*>(y_data);
    const auto rows = static_cast<int64_t>(terms.size());
#pragma omp parallel for schedule(static) reduction(max : largest) reduction(|| : wrong)
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t v = 0; v < vectors_; ++v) {
        const auto place = static_cast<size_t>(i * vectors_ + v);
        const Wide difference = Wide(y[i * row_stride + v * vector_stride]) - value[place];
        const double distance = length(difference.real(), difference.imag());
        const double allowed = epsilon * (8.0 + static_cast<double>(terms[static_cast<size_t>(i)])) * weight[place];
        if (!(distance <= allowed)) wrong = true;
        if (weight[place] > 0.0) largest = std::max(largest, distance / weight[place]);
      }
    }
  });
  return wrong ? -1.0 : largest;
}

}  // namespace kkc::bench
