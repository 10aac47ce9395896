// Even rows of scattered columns: a block's entries are read as one run, whatever the rows' lengths, and their products
// are staged in shared memory (CSR-stream: Greathouse and Daga, "Efficient sparse matrix-vector multiplication on GPUs
// using the CSR storage format", SC'14, section IV.A).
#pragma once

#include "spmv_gpu_parts.hpp"

namespace kkc::spmv::gpu_parts {

template <class T, class I, class O, int LanesLog2>
struct RowStaged {
  static constexpr int threads = 512;
  static constexpr int entries = 4;  // of a thread, all under way at once
  static constexpr int capacity = threads * entries;
  static constexpr int lanes = 1 << LanesLog2;
  Rows<T, O> A;
  PlainColumns<I> columns;
  Vectors<T> v;
  Coefficients<T> c;
  int32_t rows_a_block;  // of which each has at most capacity / rows_a_block entries

  __device__ void operator()() const {
    __shared__ T products[capacity];
    const int thread = static_cast<int>(threadIdx.x);
    const int64_t first = static_cast<int64_t>(blockIdx.x) * rows_a_block;
    const int64_t last = first + rows_a_block < A.rows ? first + rows_a_block : A.rows;
    const int64_t from = A.begin(first);
    const T alpha = c.alpha.get();
    const bool live = !is_zero(alpha);
    if (live) {
      // Values and columns are read once: they leave the cache to x.
      const int count = static_cast<int>(A.begin(last) - from);
      const T* values = A.values + from;
      const I* indices = columns.indices + from;
      I column[entries];
      T value[entries];
#pragma unroll
      for (int u = 0; u < entries; ++u) {
        const int i = thread + u * threads;
        column[u] = i < count ? load_once(indices + i) - static_cast<I>(columns.base) : I{-1};
      }
#pragma unroll
      for (int u = 0; u < entries; ++u) {
        const int i = thread + u * threads;
        if (i < count) value[u] = load_once(values + i);
      }
#pragma unroll
      for (int u = 0; u < entries; ++u)
        if (column[u] >= 0)
          products[thread + u * threads] = multiply(conjugate_if(value[u], A.conjugate), v.x[column[u] * v.x_row]);
    }
    __syncthreads();
    // Whole turns: all lanes of a warp take part in its sums.
    const int rows = static_cast<int>(last - first), lane = thread & (lanes - 1);
    for (int turn = 0; turn < rows; turn += threads >> LanesLog2) {
      const int r = turn + (thread >> LanesLog2);
      T sum{};
      if (live && r < rows) {
        const int begin = static_cast<int>(A.begin(first + r) - from),
                  end = static_cast<int>(A.begin(first + r + 1) - from);
        for (int k = begin + lane; k < end; k += lanes) sum = add(sum, products[k]);
      }
      sum = gpu::subgroup_sum(sum, lanes);
      if (lane == 0 && r < rows) update(v.y[(first + r) * v.y_row], sum, alpha, c.beta.get());
    }
  }
};

}  // namespace kkc::spmv::gpu_parts
