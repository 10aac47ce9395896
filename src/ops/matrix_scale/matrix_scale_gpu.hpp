// matrix_scale, GPUs: entries dealt evenly; a block finds the rows of its entries, so long rows cost no more than
// short.
#pragma once

#include "core/dispatch.hpp"
#include "device/gpu_rows.hpp"
#include "device/gpu_scalar.hpp"
#include "ops/matrix_scale/matrix_scale.hpp"

namespace kkc::matrix_scale {
namespace gpu_parts {

template <class T, class I, class O>
struct Scale {
  static constexpr int threads = 256, items = 8, tile = threads * items;
  const O* offsets;
  const I* indices;
  T* values;
  int64_t base, rows, nnz;
  const T *r, *c;  // or null
  int64_t r_stride, c_stride;

  __device__ void operator()() const {
    __shared__ int64_t bounds[2];
    const int64_t first = int64_t{blockIdx.x} * tile, end = first + tile < nnz ? first + tile : nnz;
    if (r != nullptr) gpu::rows_of_tile(offsets, base, rows, first, end - 1, bounds);
    for (int64_t p = first + threadIdx.x; p < end; p += threads) {
      T value = values[p];
      if (r != nullptr)
        value = gpu::multiply(r[gpu::row_of_entry(offsets, base, bounds[0], bounds[1], p) * r_stride], value);
      if (c != nullptr) value = gpu::multiply(value, c[(static_cast<int64_t>(indices[p]) - base) * c_stride]);
      values[p] = value;
    }
  }
};

inline void run(Queue& queue, const Args& args) {
  const CsrRef& A = args.A;
  dispatch(A.scalar, A.pair, [&]<class S, class P>(Type<S>, P) {
    using T = gpu::Element<S>;
    using I = typename P::ordinal;
    using O = typename P::offset;
    using Kernel = Scale<T, I, O>;
    gpu::launch(
        queue, gpu::blocks_for(A.nnz, Kernel::tile), Kernel::threads, 0,
        Kernel{static_cast<const O*>(A.offsets), static_cast<const I*>(A.indices), static_cast<T*>(args.values), A.base,
               A.rows, A.nnz, static_cast<const T*>(args.row_factors.data),
               static_cast<const T*>(args.col_factors.data), args.row_factors.strides[0], args.col_factors.strides[0]});
  });
}

inline void prepare(Queue& queue) {
  const auto all = [&]<class... S, class... P>(TypeList<S...>, TypeList<P...> pairs) {
    const auto one = [&]<class T, class... Q>(Type<T>, TypeList<Q...>) {
      (gpu::prepare<Scale<gpu::Element<T>, typename Q::ordinal, typename Q::offset>>(queue), ...);
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

}  // namespace kkc::matrix_scale
