// dot on hosts: fixed blocks of rows, their sums added in order (the same bits for any number of threads).
#pragma once

#include "core/dispatch.hpp"
#include "device/host_reduce.hpp"
#include "dot.hpp"
#include "dot_host_kernels.hpp"

namespace kkc::dot {

template <class T>
struct HostDot {
  const T* x;
  const T* y;
  T* result;
  int64_t x_row, x_column, y_row, y_column, result_stride;
  double sign;
  bool by_column;

  Sum column(int64_t c, int64_t first, int64_t last) const {
    return run_dot(x + c * x_column + first, y + c * y_column + first, last - first, sign);
  }
  void rows(int64_t c, int64_t columns, int64_t first, int64_t last, Sum* sums) const {
    rows_dot(x + c * x_column, x_row, x_column, y + c * y_column, y_row, y_column, columns, first, last, sign, sums);
  }
  void finish(int64_t c, const Sum& sum) const { store(result[c * result_stride], sum); }
};

template <class Dev>
void run_host(Queue& queue, void* scratch, const Args& args) {
  dispatch_scalar(Scalars{}, args.x.scalar, [&](auto type) {
    using T = Element<typename decltype(type)::type>;
    const bool many = args.x.rank == 2;
    HostDot<T> kernel{static_cast<const T*>(args.x.data), static_cast<const T*>(args.y.data),
                      static_cast<T*>(args.result.data),  args.x.strides[0],
                      many ? args.x.strides[1] : 0,       args.y.strides[0],
                      many ? args.y.strides[1] : 0,       many ? args.result.strides[0] : 0,
                      args.conjugate ? -1.0 : 1.0,        false};
    kernel.by_column = (kernel.x_row == 1 && kernel.y_row == 1) || args.x.extents[0] == 1;
    host_reduce<Dev, Sum>(queue, scratch, args.x.extents[0], many ? args.x.extents[1] : 1, kernel);
  });
}

template <class Dev>
constexpr Implementation host() {
  return {{"host"}, &run_host<Dev>};
}

}  // namespace kkc::dot
