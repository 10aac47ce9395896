// What spgemm_jacobi's implementations on GPUs share: diagonals that are missing or zero, arithmetic of a row's scale.
#pragma once

#include <cstdint>

#include "core/operands.hpp"
#include "device/gpu_launch.hpp"
#include "device/gpu_scalar.hpp"
#include "device/gpu_warp.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi.hpp"

namespace kkc::spgemm_jacobi::gpu_parts {

/// Rows that cannot be scaled: the first, and how many.
struct Zeros {
  unsigned long long first, count;

  __device__ void note(int64_t row) {
    atomicMin(&first, static_cast<unsigned long long>(row));
    atomicAdd(&count, 1ull);
  }
};

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

/// Counts rows of zero diagonals for kkc_plan_check.
class ZeroRows {
 public:
  ZeroRows(const Desc& desc, Queue& queue) : zeros_(desc.product.memory, Space::device, sizeof(Zeros)) { clear(queue); }
  Zeros* counter() const { return zeros_.as<Zeros>(); }

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

  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) {
    Zeros found;
    queue.copy(&found, zeros_.data(), sizeof found);
    queue.synchronize();
    if (found.count == 0) return KKC_STATUS_SUCCESS;
    where = static_cast<int64_t>(found.first);
    count = static_cast<int64_t>(found.count);
    clear(queue);
    return KKC_STATUS_ZERO_PIVOT;
  }

 private:
  void clear(Queue& queue) {
    const Zeros none{~0ull, 0};
    queue.copy(zeros_.data(), &none, sizeof none);
    queue.synchronize();
  }

  Buffer zeros_;
};

}  // namespace kkc::spgemm_jacobi::gpu_parts
