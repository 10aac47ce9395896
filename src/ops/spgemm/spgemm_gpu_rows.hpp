// Rows as the GPU kernels of sparse products see them. The left operand is a source of rows, so that products with a
// row that is not stored as such (I - omega D^-1 A, say) are the same kernels with another source:
//
//   Left:       row(i), a LeftRow; column(row, k) for k < row.length. Where rows lie one behind the other also
//               begin(i), entries before row i, and column(p) of entry p
//   LeftValues: a Left with value(row, k)
#pragma once

#include <cstdint>

#include "core/operands.hpp"
#include "device/gpu_scalar.hpp"
#include "device/gpu_warp.hpp"

namespace kkc::spgemm::gpu_parts {

/// Row offsets of either width.
struct Offsets {
  const void* data;
  bool wide;
  int32_t base;

  __device__ int64_t at(int64_t row) const {
    return (wide ? static_cast<const int64_t*>(data)[row] : static_cast<const int32_t*>(data)[row]) - base;
  }
};

template <class I>
struct Pattern {
  Offsets offsets;
  const I* columns;
  int64_t rows;

  __device__ int64_t begin(int64_t row) const { return offsets.at(row); }
  __device__ int64_t end(int64_t row) const { return offsets.at(row + 1); }
  __device__ I column(int64_t p) const { return columns[p] - static_cast<I>(offsets.base); }
  /// The first of the entries begin..end - 1, which ascend, whose column is not below `limit`; end if there is none.
  __device__ int64_t lower(int64_t begin, int64_t end, I limit) const {
    while (begin < end) {
      const int64_t middle = begin + (end - begin) / 2;
      if (column(middle) < limit)
        begin = middle + 1;
      else
        end = middle;
    }
    return begin;
  }
};

inline Offsets offsets_of(const CsrRef& A) { return {A.offsets, offset_size(A.pair) == 8, A.base}; }
template <class I>
Pattern<I> pattern_of(const CsrRef& A) {
  return {offsets_of(A), static_cast<const I*>(A.indices), A.rows};
}

struct LeftRow {
  int64_t row, begin;
  int32_t length;
};

/// Rows of A, all of them or those of a list.
template <class I>
struct PlainLeft {
  Pattern<I> A;
  const int32_t* list;  // null: all

  __device__ LeftRow row(int64_t i) const {
    const int64_t r = list != nullptr ? list[i] : i;
    const int64_t begin = A.begin(r);
    return {r, begin, static_cast<int32_t>(A.end(r) - begin)};
  }
  __device__ I column(const LeftRow& row, int32_t k) const { return A.column(row.begin + k); }
  __device__ int64_t begin(int64_t i) const { return A.begin(i); }
  __device__ I column(int64_t p) const { return A.column(p); }
};

template <class T, class I>
struct PlainLeftValues : PlainLeft<I> {
  const T* values;
  Offsets positions;  // of the entries in values; no data: their own order

  __device__ T value(const LeftRow& row, int32_t k) const {
    return values[positions.data != nullptr ? positions.at(row.begin + k) : row.begin + k];
  }
};

/// Rows of B.
template <class T, class I>
struct RightValues {
  Pattern<I> B;
  const T* values;

  __device__ T value(int64_t p) const { return values[p]; }
};

/// Columns are named by blocks of 32: a block's number and a mask of 32 bits.
inline constexpr int block_log2 = 5;

/// The column itself instead, for counting.
template <class I>
struct RightColumns {
  Pattern<I> B;

  __device__ int64_t begin(int64_t row) const { return B.begin(row); }
  __device__ int64_t end(int64_t row) const { return B.end(row); }
  __device__ void load(int64_t p, int32_t& column, uint32_t&) const { column = static_cast<int32_t>(B.column(p)); }
};

/// B's rows: each entry a block with one bit.
template <class I>
struct PlainRight {
  Pattern<I> B;

  __device__ int64_t begin(int64_t row) const { return B.begin(row); }
  __device__ int64_t end(int64_t row) const { return B.end(row); }
  __device__ void load(int64_t p, int32_t& block, uint32_t& mask) const {
    const I column = B.column(p);
    block = static_cast<int32_t>(column >> block_log2);
    mask = 1u << (static_cast<uint32_t>(column) & 31u);
  }
};

/// Of a sample of rows, zero at first: kinds of rows, how many of them were met once, and rows that were looked at.
struct KindCounts {
  int32_t kinds, once, looks;
};

}  // namespace kkc::spgemm::gpu_parts
