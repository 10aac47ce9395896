// dot on GPUs: one launch, 16-byte loads, a fixed order of additions.
#pragma once

#include "core/dispatch.hpp"
#include "device/gpu_reduce.hpp"
#include "dot.hpp"
#include "dot_sum.hpp"

namespace kkc::dot {

template <class T>
struct GpuDot {
  static constexpr int resident = 2, unroll = gpu::streams_unroll<2>;
  const T* x;
  const T* y;
  T* result;
  int64_t rows, x_row, x_column, y_row, y_column, result_stride;
  double sign;

  __device__ Sum sum(int64_t c, int64_t first, int64_t step) const {
    Sum sum{};
    gpu::for_streams<unroll>(gpu::Streams<2, T>{{x + c * x_column, y + c * y_column}, {x_row, y_row}}, rows, first,
                             step, [&](const T& a, const T& b) { accumulate(sum, a, b, sign); });
    return sum;
  }
  __device__ void finish(int64_t c, const Sum& sum) const { store(result[c * result_stride], sum); }
};

template <class Dev>
void prepare_gpu(Queue& queue) {
  const auto one = [&]<class S>(Type<S>) { gpu::prepare<gpu::ReduceColumns<Sum, GpuDot<Element<S>>>>(queue); };
  [&]<class... S>(TypeList<S...>) { (one(Type<S>{}), ...); }(Scalars{});
}

template <class Dev>
void run_gpu(Queue& queue, void* scratch, const Args& args) {
  dispatch_scalar(Scalars{}, args.x.scalar, [&](auto type) {
    using T = Element<typename decltype(type)::type>;
    const bool many = args.x.rank == 2;
    const GpuDot<T> kernel{static_cast<const T*>(args.x.data),
                           static_cast<const T*>(args.y.data),
                           static_cast<T*>(args.result.data),
                           args.x.extents[0],
                           args.x.strides[0],
                           many ? args.x.strides[1] : 0,
                           args.y.strides[0],
                           many ? args.y.strides[1] : 0,
                           many ? args.result.strides[0] : 0,
                           args.conjugate ? -1.0 : 1.0};
    const bool by_column = !many || kernel.x_row <= kernel.x_column;
    gpu::reduce_columns<Sum>(queue, scratch, kernel.rows, many ? args.x.extents[1] : 1, by_column,
                             static_cast<int64_t>(16 / sizeof(T)), kernel);
  });
}

template <class Dev>
constexpr Implementation gpu() {
  return {{"gpu", &prepare_gpu<Dev>}, &run_gpu<Dev>};
}

}  // namespace kkc::dot
