// norm2 on GPUs: one launch. A thread sums its squares plainly; where that left the safe range, it reads its elements
// again and scales them.
#pragma once

#include "core/dispatch.hpp"
#include "device/gpu_reduce.hpp"
#include "norm2.hpp"
#include "norm2_sum.hpp"

namespace kkc::norm2 {

template <class T, class R>
struct GpuNorm {
  static constexpr int resident = 2, unroll = gpu::streams_unroll<1>;
  const T* x;
  R* result;
  int64_t rows, row, column, result_stride;

  __device__ Sum sum(int64_t c, int64_t first, int64_t step) const {
    const gpu::Streams<1, T> stream{{x + c * column}, {row}};
    double plain = 0;
    gpu::for_streams<unroll>(stream, rows, first, step, [&](const T& e) { plain += square(e); });
    Sum sum{plain, 0, 0};
    if (always_safe<T> || safe(plain)) return sum;
    sum = {};
    gpu::for_streams<1>(stream, rows, first, step, [&](const T& e) { accumulate_parts(sum, e); });
    return sum;
  }
  __device__ void finish(int64_t c, const Sum& sum) const {
    result[c * result_stride] = static_cast<R>(root(sum, [](double v) { return ::sqrt(v); }));
  }
};

template <class Dev>
void prepare_gpu(Queue& queue) {
  const auto one = [&]<class S>(Type<S>) {
    gpu::prepare<gpu::ReduceColumns<Sum, GpuNorm<Element<S>, Real<S>>>>(queue);
  };
  [&]<class... S>(TypeList<S...>) { (one(Type<S>{}), ...); }(Scalars{});
}

template <class Dev>
void run_gpu(Queue& queue, void* scratch, const Args& args) {
  dispatch_scalar(Scalars{}, args.x.scalar, [&](auto type) {
    using Scalar = typename decltype(type)::type;
    using T = Element<Scalar>;
    const bool many = args.x.rank == 2;
    const GpuNorm<T, Real<Scalar>> kernel{static_cast<const T*>(args.x.data),
                                          static_cast<Real<Scalar>*>(args.result.data),
                                          args.x.extents[0],
                                          args.x.strides[0],
                                          many ? args.x.strides[1] : 0,
                                          many ? args.result.strides[0] : 0};
    const bool by_column = !many || kernel.row <= kernel.column;
    gpu::reduce_columns<Sum>(queue, scratch, kernel.rows, many ? args.x.extents[1] : 1, by_column,
                             static_cast<int64_t>(16 / sizeof(T)), kernel);
  });
}

template <class Dev>
constexpr Implementation gpu() {
  return {{"gpu", &prepare_gpu<Dev>}, &run_gpu<Dev>};
}

}  // namespace kkc::norm2
