// All products of A B by entry of C, where rows are like no other and most entries of C are few products: for an A that
// names each row of B about once (the second half of a Galerkin product), or whose dense rows have most of the products
// (with the transpose, for example): a row's products are the entries of the rows of B that it names, one behind
// the other, so that each row is put in order as if it were one of a matrix (order_rows). The numeric phase is
// GatherTiles' or GatherEntries'.
#pragma once

#include "spgemm_gpu_gathered_tiles_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

/// Products of each entry of A, for a scan.
template <class I>
struct NamedLengths {
  Pattern<I> A, B;

  template <int vector>
  __device__ void load(int64_t, int64_t e, int32_t (&x)[vector]) const {
    int64_t j[vector];
#pragma unroll
    for (int k = 0; k < vector; ++k) j[k] = A.column(e + k);
#pragma unroll
    for (int k = 0; k < vector; ++k) x[k] = static_cast<int32_t>(B.end(j[k]) - B.begin(j[k]));
  }
};

/// The products one behind the other as A names them.
template <class I>
struct ExpandedProducts {
  Pattern<I> A, B;
  const int32_t* begins;     // of each entry of A
  const uint32_t* of_entry;  // whose product it is
  int64_t count;

  /// Where in B product p is.
  __device__ int64_t position(int64_t p, uint32_t entry) const {
    return B.begin(A.column(entry)) + (p - begins[entry]);
  }
};

/// Their columns.
template <class I>
struct ColumnsOfExpanded {
  static constexpr int threads = 256, items = 4;
  ExpandedProducts<I> products;
  int32_t* columns;

  __device__ void operator()() const {
    const int64_t first = static_cast<int64_t>(blockIdx.x) * (threads * items) + threadIdx.x;
    int64_t position[items];
#pragma unroll
    for (int u = 0; u < items; ++u)
      if (const int64_t p = first + u * threads; p < products.count)
        position[u] = products.position(p, products.of_entry[p]);
#pragma unroll
    for (int u = 0; u < items; ++u)
      if (const int64_t p = first + u * threads; p < products.count)
        columns[p] = static_cast<int32_t>(products.B.column(position[u]));
  }
};

/// The factors of the products in the order of C's entries, where the caller has their values.
template <class I>
struct ListExpanded {
  static constexpr int threads = 256, items = 4;
  ExpandedProducts<I> products;
  Offsets positions_a, positions_b;  // no data: their own order
  const uint32_t* order;
  uint32_t *of_a, *of_b;

  __device__ void operator()() const {
    const int64_t first = static_cast<int64_t>(blockIdx.x) * (threads * items) + threadIdx.x;
    uint32_t product[items], entry[items];
#pragma unroll
    for (int u = 0; u < items; ++u)
      if (const int64_t k = first + u * threads; k < products.count) product[u] = order[k];
#pragma unroll
    for (int u = 0; u < items; ++u)
      if (first + u * threads < products.count) entry[u] = products.of_entry[product[u]];
#pragma unroll
    for (int u = 0; u < items; ++u)
      if (const int64_t k = first + u * threads; k < products.count) {
        of_a[k] = in_values(positions_a, entry[u]);
        of_b[k] = in_values(positions_b, products.position(product[u], entry[u]));
      }
  }
};

}  // namespace kkc::spgemm::gpu_parts
