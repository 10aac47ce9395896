// Rows split among 2^LanesLog2 lanes of a warp (Bell and Garland, "Implementing sparse matrix-vector multiplication
// on throughput-oriented processors", SC'09, section 4.2, with subgroups for the warp).
#pragma once

#include "spmv_gpu_parts.hpp"

namespace kkc::spmv::gpu_parts {

/// Unit: x and y are contiguous.
template <class T, class O, class Columns, bool Unit, int LanesLog2, int Batch>
struct RowSplit {
  static constexpr int threads = 256;
  static constexpr int lanes = 1 << LanesLog2;
  Rows<T, O> A;
  Columns columns;
  Vectors<T> v;
  Coefficients<T> c;

  __device__ void operator()() const {
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const int64_t row = (static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x) >> LanesLog2;
    const T alpha = c.alpha.get();
    T sum{};
    if (row < A.rows && !is_zero(alpha)) {
      const int64_t begin = A.begin(row);
      const int length = static_cast<int>(A.begin(row + 1) - begin);
      const T* values = A.values + begin;
      const auto value = [=](int k) { return values[k]; };
      const auto x = [&](auto column) { return v.x[Unit ? static_cast<int64_t>(column) : column * v.x_row]; };
      sum = dot_row<Batch, T>(lane, lanes, length, A.conjugate, value, columns.row(row, begin), x);
    }
    sum = gpu::subgroup_sum(sum, lanes);
    if (lane == 0 && row < A.rows) update(v.y[Unit ? row : row * v.y_row], sum, alpha, c.beta.get());
  }
};

}  // namespace kkc::spmv::gpu_parts
