// What vendor libraries do not tell: zeros on the diagonal, and rows out of order.
#pragma once

#include <cstdint>

#include "device/gpu_scalar.hpp"
#include "device/gpu_zero_rows.hpp"

namespace kkc::sptrsv::gpu_parts {

/// Notes the rows, each column once, whose diagonal entry is zero.
template <class T, class I, class O>
struct FindZeros {
  static constexpr int threads = 256;
  const O* offsets;
  const I* indices;
  const T* values;
  int64_t rows;
  int32_t base;
  gpu::Zeros* zeros;

  __device__ void operator()() const {
    const int64_t row = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (row >= rows) return;
    for (O p = offsets[row] - base; p < offsets[row + 1] - base; ++p)
      if (static_cast<int64_t>(indices[p]) - base == row && gpu::is_zero(values[p])) zeros->note(row);
  }
};

/// Notes the rows that do not ascend strictly.
template <class I, class O>
struct CheckOrder {
  static constexpr int threads = 256;
  const O* offsets;
  const I* indices;
  int64_t rows;
  int32_t base;
  gpu::Zeros* unordered;

  __device__ void operator()() const {
    const int64_t row = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (row >= rows) return;
    for (O p = offsets[row] - base + 1; p < offsets[row + 1] - base; ++p)
      if (indices[p - 1] >= indices[p]) return unordered->note(row);
  }
};

struct ResetZeros {
  static constexpr int threads = 1;
  gpu::Zeros* zeros;
  __device__ void operator()() const { *zeros = {~0ull, 0}; }
};

struct AddZeros {
  static constexpr int threads = 1;
  const gpu::Zeros* from;
  gpu::Zeros* to;
  __device__ void operator()() const {
    if (from->count == 0) return;
    to->first = min(to->first, from->first);
    to->count += from->count;
  }
};

}  // namespace kkc::sptrsv::gpu_parts
