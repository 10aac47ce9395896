// Kernels of spgemm_jacobi's gpu_scaled.
#pragma once

#include "ops/spgemm_jacobi/spgemm_jacobi_gpu_diagonal.hpp"

namespace kkc::spgemm_jacobi::gpu_parts {

/// `lanes` threads a row: scaled = row of I - omega D^-1 A.
template <class E, class I, class O>
struct ScaleRows {
  static constexpr int threads = 256;
  const O* offsets;
  const I* indices;
  const E *values, *inverse;
  E* scaled;
  Factor<E> omega;
  int64_t inverse_stride, rows;
  Zeros* zeros;
  int32_t base;
  int lanes;

  __device__ void operator()() const {
    const int64_t i = (int64_t{blockIdx.x} * threads + threadIdx.x) / lanes;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    const int64_t begin = i < rows ? offsets[i] - base : 0, end = i < rows ? offsets[i + 1] - base : 0;
    E d{};
    int64_t diagonal = INT64_MAX;
    for (int64_t p = begin + lane; p < end; p += lanes)
      if (indices[p] - base == i) {
        if (p < diagonal) diagonal = p;
        d = gpu::add(d, values[p]);
      }
    d = gpu::subgroup_sum(d, lanes);
    for (int mask = lanes >> 1; mask > 0; mask >>= 1) {
      const int64_t other = gpu::shuffle_xor(diagonal, mask, lanes);
      if (other < diagonal) diagonal = other;
    }
    if (i >= rows) return;
    if (inverse == nullptr && gpu::is_zero(d) && lane == 0) zeros->note(i);
    const E inverted = inverse == nullptr ? inverse_of(d) : inverse[i * inverse_stride];
    const E scale = negative(gpu::multiply(omega.get(), inverted));
    for (int64_t p = begin + lane; p < end; p += lanes) {
      const E entry = gpu::multiply(scale, values[p]);
      scaled[p] = p == diagonal ? gpu::add(one<E>(), entry) : entry;
    }
  }
};

}  // namespace kkc::spgemm_jacobi::gpu_parts
