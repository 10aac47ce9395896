// Matrices in owned host memory: what readers and generators make, before the boundary turns them into handles.
#pragma once

#include <cstdint>
#include <memory>

#include "memory.hpp"
#include "operands.hpp"

namespace kkc {

/// A CSR matrix in host memory: base 0, rows sorted, no duplicates. Buffers are empty where they have no elements
/// (offsets only for 0 rows).
struct HostCsr {
  IndexPair pair = IndexPair::i32_32;
  Scalar scalar = Scalar::none;
  int64_t rows = 0, cols = 0, nnz = 0;
  Buffer offsets, indices, values;

  CsrRef ref() const { return {pair, scalar, 0, rows, cols, nnz, offsets.data(), indices.data(), values.data()}; }
};

/// A contiguous rank-2 array in host memory.
struct HostDense {
  Scalar scalar = Scalar::f64;
  Layout layout = Layout::left;
  int64_t rows = 0, cols = 0;
  Buffer data;

  DenseRef ref() const {
    const bool left = layout == Layout::left;
    return {scalar, 2, {rows, cols}, {left ? 1 : cols, left ? rows : 1}, data.data()};
  }
};

}  // namespace kkc
