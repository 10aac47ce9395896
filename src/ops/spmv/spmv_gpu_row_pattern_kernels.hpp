// Rows that share a pattern of columns relative to the row: one small dictionary replaces the column indices
// (RPCSR: Willcock and Lumsdaine, "Accelerating sparse matrix computations via data compression", ICS'06, section 3.2).
#pragma once

#include "spmv_gpu_parts.hpp"

namespace kkc::spmv::gpu_parts {

inline constexpr uint16_t no_pattern = 0xffff;  // the row's columns are read from the matrix

/// 32 consecutive rows. When all have one pattern its place and length stand here, else length is 0.
struct RowGroup {
  int64_t begin;    // first entry, without base
  int32_t start;    // in Patterns::relative
  uint16_t length;  // of each row
  uint16_t id;
};

struct Patterns {
  const RowGroup* groups;
  const uint16_t* ids;      // of each row
  const int32_t* starts;    // of each pattern in `relative`
  const int32_t* relative;  // column - row
};

/// 2^LanesLog2 lanes a row.
template <class T, class I, class O, int LanesLog2, int Batch>
struct RowPattern {
  static constexpr int threads = 256;
  static constexpr int lanes = 1 << LanesLog2;
  Rows<T, O> A;
  PlainColumns<I> columns;
  Patterns patterns;
  Vectors<T> v;
  Coefficients<T> c;

  __device__ void operator()() const {
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const int64_t row = (static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x) >> LanesLog2;
    const T alpha = c.alpha.get();
    T sum{};
    if (row < A.rows && !is_zero(alpha)) {
      const RowGroup group = patterns.groups[row >> 5];
      int64_t begin = group.begin;
      const int32_t* relative = patterns.relative + group.start;
      int length = group.length;
      bool known = true;
      if (length != 0) {
        begin += static_cast<int>(row & 31) * length;
      } else {
        begin = A.begin(row);
        length = static_cast<int>(A.begin(row + 1) - begin);
        const uint16_t id = patterns.ids[row];
        known = id != no_pattern;
        if (known) relative = patterns.relative + patterns.starts[id];
      }
      const T* values = A.values + begin;
      const T* near = v.x + row;
      const auto value = [=](int k) { return values[k]; };
      if (known) {
        sum = dot_row<Batch, T>(
            lane, lanes, length, A.conjugate, value, [=](int k) { return relative[k]; },
            [=](int32_t d) { return near[d]; });
      } else {
        const auto column = columns.row(row, begin);
        for (int k = lane; k < length; k += lanes)
          sum = multiply_add(conjugate_if(values[k], A.conjugate), v.x[column(k)], sum);
      }
    }
    sum = gpu::subgroup_sum(sum, lanes);
    if (lane == 0 && row < A.rows) update(v.y[row], sum, alpha, c.beta.get());
  }
};

/// An entry of a column: its row - the column, and its place in the row.
struct ColumnEntry {
  int32_t distance;
  int32_t position;
};

/// Columns that share a list of entries.
struct ColumnPatterns {
  const uint16_t* ids;  // of each column
  const int32_t* starts;
  const int32_t* lengths;
  const ColumnEntry* entries;
};

/// y = A^T x without atomics: each column gathers its entries from the rows that its pattern names.
template <class T, class O, int Batch>
struct ColumnPattern {
  static constexpr int threads = 256;
  Rows<T, O> A;
  int64_t cols;
  ColumnPatterns patterns;
  Vectors<T> v;
  Coefficients<T> c;

  __device__ void operator()() const {
    const int64_t column = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (column >= cols) return;
    const T alpha = c.alpha.get();
    T sum{};
    if (!is_zero(alpha)) {
      const int id = patterns.ids[column], length = patterns.lengths[id];
      const ColumnEntry* entries = patterns.entries + patterns.starts[id];
      for (int k = 0; k < length; k += Batch) {
        T a[Batch], b[Batch];
        int64_t place[Batch], row[Batch];
#pragma unroll
        for (int u = 0; u < Batch; ++u) {
          if (k + u >= length) continue;
          const ColumnEntry entry = entries[k + u];
          row[u] = column + entry.distance;
          place[u] = entry.position + A.begin(row[u]);
        }
#pragma unroll
        for (int u = 0; u < Batch; ++u) {
          a[u] = k + u < length ? A.values[place[u]] : T{};
          b[u] = k + u < length ? v.x[row[u]] : T{};
        }
#pragma unroll
        for (int u = 0; u < Batch; ++u) sum = multiply_add(conjugate_if(a[u], A.conjugate), b[u], sum);
      }
    }
    update(v.y[column], sum, alpha, c.beta.get());
  }
};

}  // namespace kkc::spmv::gpu_parts
