// spgemm_jacobi, gpu_scaled: lanes of a warp scale a row of A into the workspace; the fastest implementation of spgemm
// that takes the product multiplies.
#pragma once

#include "device/gpu_launch.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi_gpu_scaled_kernels.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi_scaled.hpp"

namespace kkc::spgemm_jacobi {
namespace gpu_parts {

template <class E, class I, class O>
class Scaler {
 public:
  Scaler(const Desc& desc, Queue& queue) : zeros_(desc, queue) {
    const CsrRef& A = desc.product.A;
    gpu::prepare<ScaleRows<E, I, O>>(queue);
    while (lanes_ < 32 && lanes_ * 4 * A.rows < A.nnz) lanes_ *= 2;
    zeros_.refuse_rows_without_diagonal<I, O>(A, queue);
  }

  void scale(Queue& queue, const Args& args, void* values) {
    const CsrRef& A = args.A;
    const ScaleRows<E, I, O> f{static_cast<const O*>(A.offsets),
                               static_cast<const I*>(A.indices),
                               static_cast<const E*>(A.values),
                               static_cast<const E*>(args.inverse),
                               static_cast<E*>(values),
                               factor<E>(args.omega),
                               args.inverse_stride,
                               A.rows,
                               zeros_.counter(),
                               A.base,
                               lanes_};
    gpu::launch(queue, gpu::blocks_for(A.rows, f.threads / lanes_), f.threads, 0, f);
  }

  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) { return zeros_.check(queue, where, count); }

 private:
  ZeroRows zeros_;
  int lanes_ = 1;
};

inline std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.product.scalar(), desc.product.A.pair, [&](auto scalar, auto pair) {
    using E = gpu::Element<typename decltype(scalar)::type>;
    using P = decltype(pair);
    kernel = std::make_unique<ScaledKernel<Scaler<E, typename P::ordinal, typename P::offset>>>(desc, queue,
                                                                                                desc.product_name);
  });
  return kernel;
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu_scaled() {
  return {{"gpu_scaled"}, true, scaled_unsupported, gpu_parts::make};
}

}  // namespace kkc::spgemm_jacobi
