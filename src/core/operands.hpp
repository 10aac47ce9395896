// Plain descriptions of operands as kernels see them: no ownership, no handles.
#pragma once

#include <cstdint>
#include <cstring>

#include "types.hpp"

namespace kkc {

/// A CSR matrix in memory that the device reads.
struct CsrRef {
  IndexPair pair;
  Scalar scalar;
  int32_t base;  // 0 or 1
  int64_t rows, cols, nnz;
  const void* offsets;
  const void* indices;
  const void* values;
};

inline constexpr int max_rank = 8;

/// A dense array; strides in elements.
struct DenseRef {
  Scalar scalar;
  int32_t rank;
  int64_t extents[max_rank];
  int64_t strides[max_rank];
  void* data;  // outputs and inputs alike; inputs are only read
};

/// alpha or beta: a value in host memory, or a pointer that the device reads at execution.
struct Coefficient {
  const void* pointer;
  bool on_device;

  /// A value whose zeroness the host may not know counts as not zero.
  template <class T>
  bool known_to_be(T value) const {
    return !on_device && *static_cast<const T*>(pointer) == value;
  }
};

/// What kernels take: get() reads the host's copy or the device's memory.
template <class T>
struct Factor {
  T value;
  const T* pointer;
#if defined(__CUDACC__) || defined(__HIPCC__)
  __host__ __device__
#endif
      T
      get() const {
    return pointer != nullptr ? *pointer : value;
  }
};

template <class T>
Factor<T> factor(const Coefficient& c) {
  if (c.on_device) return {T{}, static_cast<const T*>(c.pointer)};
  T value;  // kernels' complex types are aligned as a whole, the caller's number may be aligned as its parts are
  std::memcpy(static_cast<void*>(&value), c.pointer, sizeof value);
  return {value, nullptr};
}

}  // namespace kkc
