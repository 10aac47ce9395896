// matrix_diagonal, GPUs: eight lanes a row, or a warp where rows are long.
#pragma once

#include "core/dispatch.hpp"
#include "device/gpu_launch.hpp"
#include "device/gpu_warp.hpp"
#include "ops/matrix_diagonal/matrix_diagonal.hpp"

namespace kkc::matrix_diagonal {
namespace gpu_parts {

template <class T, class I, class O>
struct Diagonal {
  static constexpr int threads = 256;
  const O* offsets;
  const I* indices;
  const T* values;
  int64_t base, n, stride;
  T* d;
  int lanes;

  __device__ void operator()() const {
    const int64_t row = (int64_t{blockIdx.x} * threads + threadIdx.x) / lanes;
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    T sum{};
    if (row < n) {
      const I column = static_cast<I>(row + base);
      const int64_t end = static_cast<int64_t>(offsets[row + 1]) - base;
      for (int64_t p = static_cast<int64_t>(offsets[row]) - base + lane; p < end; p += lanes)
        if (indices[p] == column) sum = gpu::add(sum, values[p]);
    }
    sum = gpu::subgroup_sum(sum, lanes);
    if (row < n && lane == 0) d[row * stride] = sum;
  }
};

inline void run(Queue& queue, const Args& args) {
  const CsrRef& A = args.A;
  const int64_t n = args.d.extents[0];
  const int lanes = A.nnz / A.rows <= 64 ? 8 : 32;
  dispatch(A.scalar, A.pair, [&]<class S, class P>(Type<S>, P) {
    using T = gpu::Element<S>;
    using I = typename P::ordinal;
    using O = typename P::offset;
    using Kernel = Diagonal<T, I, O>;
    gpu::launch(
        queue, gpu::blocks_for(n, Kernel::threads / lanes), Kernel::threads, 0,
        Kernel{static_cast<const O*>(A.offsets), static_cast<const I*>(A.indices), static_cast<const T*>(A.values),
               A.base, n, args.d.strides[0], static_cast<T*>(args.d.data), lanes});
  });
}

inline void prepare(Queue& queue) {
  const auto all = [&]<class... S, class... P>(TypeList<S...>, TypeList<P...> pairs) {
    const auto one = [&]<class T, class... Q>(Type<T>, TypeList<Q...>) {
      (gpu::prepare<Diagonal<gpu::Element<T>, typename Q::ordinal, typename Q::offset>>(queue), ...);
    };
    (one(Type<S>{}, pairs), ...);
  };
  all(Scalars{}, IndexPairs{});
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu() {
  return {{"gpu", gpu_parts::prepare}, gpu_parts::run};
}

}  // namespace kkc::matrix_diagonal
