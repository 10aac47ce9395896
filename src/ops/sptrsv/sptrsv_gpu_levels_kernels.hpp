// Kernel of gpu_levels: rows of a level in parallel, levels one after the other (Anderson, Saad, "Solving sparse
// triangular linear systems on parallel computers", Int. J. High Speed Comput. 1(1), 1989).
#pragma once

#include "sptrsv_gpu_kernels.hpp"

namespace kkc::sptrsv::gpu_parts {

/// Levels first..last - 1: one level by any number of blocks, several by one block, which waits between them. A row for
/// 1 << entry_lanes_log2 lanes and each of 1 << column_lanes_log2 right-hand sides.
template <class T, class I, class O>
struct SolveLevels {
  static constexpr int threads = 512;
  Triangle<T, I, O> A;
  Operands<T> operands;
  const I *order, *starts;
  gpu::Zeros* zeros;
  int64_t first, last;
  int entry_lanes_log2, column_lanes_log2;

  __device__ void operator()() const {
    const T alpha = operands.alpha.get();
    for (int64_t level = first; level < last; ++level) {
      const int64_t begin = starts[level], end = starts[level + 1];
      if (gpu::is_zero(alpha))
        clear(begin, end);
      else
        solve(begin, end, alpha);
      if (level + 1 < last) __syncthreads();
    }
  }

 private:
  __device__ int64_t tiles() const {
    return (operands.vectors + (int64_t{1} << column_lanes_log2) - 1) >> column_lanes_log2;
  }
  __device__ T& x_at(int64_t row, int64_t column) const {
    return operands.x[row * operands.x_row + column * operands.x_column];
  }

  __device__ void clear(int64_t begin, int64_t end) const {
    const int64_t items = (end - begin) * operands.vectors;
    for (int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x; i < items; i += int64_t{gridDim.x} * threads)
      x_at(order[begin + i / operands.vectors], i % operands.vectors) = T{};
  }

  __device__ void solve(int64_t begin, int64_t end, const T& alpha) const {
    const int lanes_log2 = entry_lanes_log2 + column_lanes_log2, lanes = 1 << lanes_log2;
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1), column_lanes = 1 << column_lanes_log2;
    const int e = lane >> column_lanes_log2;
    const int64_t items = (end - begin) * tiles(), at_once = int64_t{gridDim.x} * (threads >> lanes_log2);
    // The lanes of a warp turn together: all of them take part in the sums.
    const int64_t of_warp = (int64_t{blockIdx.x} * threads + (threadIdx.x & ~31u)) >> lanes_log2;
    for (int64_t base = of_warp; base < items; base += at_once) {
      const int64_t item = base + ((threadIdx.x & 31u) >> lanes_log2);
      const int64_t column = ((item % tiles()) << column_lanes_log2) + (lane & (column_lanes - 1));
      const bool wanted = item < items && column < operands.vectors;
      const int64_t row = wanted ? order[begin + item / tiles()] : 0;
      const Span<O> span = wanted ? span_of(A, row) : Span<O>{};
      T sum{}, diagonal{};
      for (O p = span.from + static_cast<O>(e); p < span.to; p += static_cast<O>(1 << entry_lanes_log2)) {
        const int64_t of = static_cast<int64_t>(A.indices[p]) - A.base;
        if (A.parted || A.needs(row, of))
          sum = gpu::multiply_add(A.value(p), x_at(of, column), sum);
        else if (of == row && !A.unit)
          diagonal = gpu::add(diagonal, A.value(p));
      }
      for (int mask = lanes >> 1; mask >= column_lanes; mask >>= 1) {
        sum = gpu::add(sum, gpu::shuffle_xor(sum, mask, 32));
        if (!A.parted) diagonal = gpu::add(diagonal, gpu::shuffle_xor(diagonal, mask, 32));
      }
      if (!wanted || e != 0) continue;
      if (A.unit)
        diagonal = one<T>();
      else if (A.parted)
        diagonal = A.value(span.diagonal);
      const T right = gpu::multiply(alpha, operands.b[row * operands.b_row + column * operands.b_column]);
      x_at(row, column) = gpu::multiply(subtract(right, sum), reciprocal(diagonal));
      if (column == 0 && gpu::is_zero(diagonal)) zeros->note(row);
    }
  }
};

}  // namespace kkc::sptrsv::gpu_parts
