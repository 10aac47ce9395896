// norm2 on hosts: fixed blocks of rows, their sums added in order (the same bits for any number of threads).
#pragma once

#include <cmath>

#include "core/dispatch.hpp"
#include "device/host_reduce.hpp"
#include "norm2.hpp"
#include "norm2_host_kernels.hpp"

namespace kkc::norm2 {

template <class T, class R>
struct HostNorm {
  const T* x;
  R* result;
  int64_t row, column_stride, result_stride;
  bool by_column;

  Sum column(int64_t c, int64_t first, int64_t last) const {
    return run_squares(x + c * column_stride + first, last - first);
  }
  void rows(int64_t c, int64_t columns, int64_t first, int64_t last, Sum* sums) const {
    rows_squares(x + c * column_stride, row, column_stride, columns, first, last, sums);
  }
  void finish(int64_t c, const Sum& sum) const {
    result[c * result_stride] = static_cast<R>(root(sum, [](double v) { return std::sqrt(v); }));
  }
};

template <class Dev>
void run_host(Queue& queue, void* scratch, const Args& args) {
  dispatch_scalar(Scalars{}, args.x.scalar, [&](auto type) {
    using Scalar = typename decltype(type)::type;
    const bool many = args.x.rank == 2;
    HostNorm<Element<Scalar>, Real<Scalar>> kernel{static_cast<const Element<Scalar>*>(args.x.data),
                                                   static_cast<Real<Scalar>*>(args.result.data),
                                                   args.x.strides[0],
                                                   many ? args.x.strides[1] : 0,
                                                   many ? args.result.strides[0] : 0,
                                                   args.x.strides[0] == 1 || args.x.extents[0] == 1};
    host_reduce<Dev, Sum>(queue, scratch, args.x.extents[0], many ? args.x.extents[1] : 1, kernel);
  });
}

template <class Dev>
constexpr Implementation host() {
  return {{"host"}, &run_host<Dev>};
}

}  // namespace kkc::norm2
