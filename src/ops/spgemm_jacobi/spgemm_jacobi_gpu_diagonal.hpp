// What spgemm_jacobi's implementations on GPUs share: diagonals that are missing or zero, arithmetic of a row's scale.
#pragma once

#include <cstdint>

#include "core/operands.hpp"
#include "device/gpu_launch.hpp"
#include "device/gpu_scalar.hpp"
#include "device/gpu_warp.hpp"
#include "device/gpu_zero_rows.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi.hpp"

namespace kkc::spgemm_jacobi::gpu_parts {

using gpu::Zeros;

/// Notes the rows without a diagonal entry.
template <class I, class O>
struct FindDiagonal {
  static constexpr int threads = 256;
  const O* offsets;
  const I* indices;
  int64_t rows;
  int32_t base;
  Zeros* missing;

  __device__ void operator()() const {
    const int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i >= rows) return;
    for (int64_t p = offsets[i] - base; p < offsets[i + 1] - base; ++p)
      if (indices[p] - base == i) return;
    missing->note(i);
  }
};

template <class E>
__device__ inline E inverse_of(const E& d) {
  if constexpr (gpu::is_pair<E>) {
    const auto scale = d.re * d.re + d.im * d.im;
    return {d.re / scale, -d.im / scale};
  } else {
    return 1 / d;
  }
}

template <class E>
__device__ inline E negative(const E& a) {
  if constexpr (gpu::is_pair<E>)
    return {-a.re, -a.im};
  else
    return -a;
}

template <class E>
__host__ __device__ inline E one() {
  if constexpr (gpu::is_pair<E>)
    return {1, 0};
  else
    return 1;
}

class ZeroRows : public gpu::ZeroRows {
 public:
  ZeroRows(const Desc& desc, Queue& queue) : gpu::ZeroRows(desc.product.memory, queue) {}

  /// Refuses an A with a row that has no diagonal entry.
  template <class I, class O>
  void refuse_rows_without_diagonal(const CsrRef& A, Queue& queue) {
    const FindDiagonal<I, O> find{static_cast<const O*>(A.offsets), static_cast<const I*>(A.indices), A.rows, A.base,
                                  counter()};
    gpu::launch(queue, gpu::blocks_for(A.rows, find.threads), find.threads, 0, find);
    int64_t row = A.rows, count = 0;
    check(queue, row, count);
    refuse_missing(A, row);
  }
};

}  // namespace kkc::spgemm_jacobi::gpu_parts
