// What the adapters to cuSPARSE and rocSPARSE share: the cases they take, a plan's trial operands, and y = beta y where
// the libraries would read A or x although alpha is 0.
#pragma once

#include <algorithm>
#include <string>

#include "core/dispatch.hpp"
#include "device/gpu_launch.hpp"
#include "device/gpu_scalar.hpp"
#include "ops/spmv/spmv.hpp"
#include "vendor/vendor_panel.hpp"

namespace kkc::spmv {

/// conj of a real matrix is none, hermitian is transpose.
inline Op plain_op(const Desc& desc) {
  if (is_complex_scalar(desc.A.scalar)) return desc.op;
  return transposes(desc.op) ? Op::transpose : Op::none;
}

/// Why a vendor library does not take the case, or "".
inline std::string vendor_unsupported(const Desc& desc, const char* library) {
  if (desc.A.scalar == Scalar::none) return "a pattern has no values";
  if (plain_op(desc) == Op::conjugate) return cat(library, " has no conjugate without transpose");
  if (desc.A.rows > 0 && desc.A.nnz / desc.A.rows >= desc.A.cols && desc.A.nnz > desc.A.rows * desc.A.cols)
    return cat(library, " takes no more entries than rows times columns");
  if (desc.device_scalars) return cat(library, " reads A and x even when a coefficient on the device is 0");
  if (desc.x.rank == 1) {
    const bool strided =
        (desc.x.extents[0] > 1 && desc.x.strides[0] != 1) || (desc.y.extents[0] > 1 && desc.y.strides[0] != 1);
    return strided ? cat(library, " takes no strided vectors") : "";
  }
  if (!panel_of(desc.x).valid || !panel_of(desc.y).valid)
    return cat(library, " takes no multi-vectors whose dimensions are both strided");
  return "";
}

/// Elements that a view's memory spans.
inline int64_t span_of_elements(const DenseRef& v) {
  int64_t last = 0;
  for (int32_t i = 0; i < v.rank; ++i) {
    if (v.extents[i] == 0) return 0;
    last += (v.extents[i] - 1) * v.strides[i];
  }
  return last + 1;
}

/// Memory that a plan lends its library to run once: analysis wants values and vectors, which a plan has none of.
class Trial {
 public:
  explicit Trial(const Desc& desc)
      : A(desc.A),
        x(desc.x),
        y(desc.y),
        values_(desc.memory, Space::device, static_cast<size_t>(desc.A.nnz) * size_of(desc.A.scalar)),
        x_(desc.memory, Space::device, static_cast<size_t>(span_of_elements(desc.x)) * size_of(desc.x.scalar)),
        y_(desc.memory, Space::device, static_cast<size_t>(span_of_elements(desc.y)) * size_of(desc.y.scalar)) {
    A.values = values_.data();
    x.data = x_.data();
    y.data = y_.data();
  }
  CsrRef A;
  DenseRef x, y;

 private:
  Buffer values_, x_, y_;
};

/// y = beta y for any strides; beta = 0 does not read y.
template <class S>
struct ScaleKernel {
  static constexpr int threads = 256;
  S* y;
  int64_t rows, vectors, row_stride, vector_stride;
  S beta;

  __device__ void operator()() const {
    for (int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x; i < rows * vectors;
         i += int64_t{gridDim.x} * threads) {
      S& target = y[i / vectors * row_stride + i % vectors * vector_stride];
      target = gpu::is_zero(beta) ? S{} : gpu::multiply(beta, target);
    }
  }
};

template <class F>
void with_scale(const DenseRef& y, F&& f) {
  dispatch_scalar(Scalars{}, y.scalar, [&](auto s) {
    using S = gpu::Element<typename decltype(s)::type>;
    f(ScaleKernel<S>{static_cast<S*>(y.data), y.extents[0], y.rank == 2 ? y.extents[1] : 1, y.strides[0],
                     y.rank == 2 ? y.strides[1] : 0, S{}});
  });
}

inline void prepare_scale(const Queue& queue, const DenseRef& y) {
  with_scale(y, [&]<class S>(const ScaleKernel<S>&) { gpu::prepare<ScaleKernel<S>>(queue); });
}

inline void scale(const Queue& queue, const Coefficient& beta, const DenseRef& y) {
  with_scale(y, [&]<class S>(ScaleKernel<S> kernel) {
    kernel.beta = factor<S>(beta).value;
    const int64_t blocks = (kernel.rows * kernel.vectors + kernel.threads - 1) / kernel.threads;
    gpu::launch(queue, static_cast<unsigned>(std::min<int64_t>(blocks, 65536)), kernel.threads, 0, kernel);
  });
}

/// Whether alpha, a value of A's type in host memory, is 0.
inline bool is_zero(const Coefficient& alpha, Scalar scalar) {
  bool zero = false;
  dispatch_scalar(Scalars{}, scalar, [&](auto s) { zero = alpha.known_to_be(typename decltype(s)::type{}); });
  return zero;
}

/// Coefficients of any type, for trial runs.
template <int value>
const void* constant(Scalar scalar) {
  static constexpr double wide[2] = {value, 0};
  static constexpr float narrow[2] = {value, 0};
  return scalar == Scalar::f32 || scalar == Scalar::c64 ? static_cast<const void*>(narrow) : wide;
}
inline const void* zero(Scalar scalar) { return constant<0>(scalar); }
inline const void* one(Scalar scalar) { return constant<1>(scalar); }
inline const void* two(Scalar scalar) { return constant<2>(scalar); }

}  // namespace kkc::spmv
