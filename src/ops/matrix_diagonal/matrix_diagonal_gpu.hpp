// matrix_diagonal, GPUs: eight lanes a row, a warp where rows are long, a block for those much longer.
#pragma once

#include "core/dispatch.hpp"
#include "device/gpu_launch.hpp"
#include "device/gpu_warp.hpp"
#include "ops/matrix_diagonal/matrix_diagonal.hpp"

namespace kkc::matrix_diagonal {
namespace gpu_parts {

/// A warp's rows follow each other, those of a block's warps lie far apart: long rows are often neighbours.
template <class T, class I, class O>
struct Diagonal {
  static constexpr int threads = 256, warps = threads / 32, least_lanes = 8;
  static constexpr int64_t most_of_lane = 64;  // entries; longer rows are the block's, one after the other
  const O* offsets;
  const I* indices;
  const T* values;
  int64_t base, n, stride;
  T* d;
  int lanes;

  __device__ void operator()() const {
    __shared__ int64_t longer[threads / least_lanes];
    __shared__ int count;
    __shared__ T sums[warps];
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32;
    if (thread == 0) count = 0;
    __syncthreads();
    const int64_t row = (int64_t{warp} * gridDim.x + blockIdx.x) * (32 / lanes) + thread % 32 / lanes;
    const bool is_longer = row < n && length(row) > lanes * most_of_lane;
    T sum{};
    if (row < n && !is_longer) sum = part(row, thread % lanes, lanes);
    sum = gpu::subgroup_sum(sum, lanes);
    if (row < n && thread % lanes == 0) {
      if (is_longer)
        longer[atomicAdd(&count, 1)] = row;
      else
        d[row * stride] = sum;
    }
    __syncthreads();
    for (int k = 0; k < count; ++k) {
      sum = gpu::subgroup_sum(part(longer[k], thread, threads), 32);
      if (thread % 32 == 0) sums[warp] = sum;
      __syncthreads();
      if (thread == 0) {
        for (int w = 1; w < warps; ++w) sum = gpu::add(sum, sums[w]);
        d[longer[k] * stride] = sum;
      }
      __syncthreads();
    }
  }

  __device__ int64_t length(int64_t row) const { return static_cast<int64_t>(offsets[row + 1]) - offsets[row]; }

  /// The sum over every step-th entry.
  __device__ T part(int64_t row, int from, int step) const {
    constexpr int batch = 4;
    const I column = static_cast<I>(row + base);
    const int64_t end = static_cast<int64_t>(offsets[row + 1]) - base;
    T sum{};
    for (int64_t p = static_cast<int64_t>(offsets[row]) - base + from; p < end; p += batch * step) {
      I j[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u) j[u] = p + u * step < end ? indices[p + u * step] : I{-1};
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (j[u] == column) sum = gpu::add(sum, values[p + u * step]);
    }
    return sum;
  }
};

inline void run(Queue& queue, const Args& args) {
  const CsrRef& A = args.A;
  const int64_t n = args.d.extents[0];
  const int lanes = A.nnz / A.rows <= 64 ? 8 : 32;  // least_lanes or more
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
