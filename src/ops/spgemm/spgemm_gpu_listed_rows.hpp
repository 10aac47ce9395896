// Rows whose entries of C gather their products from lists (GatherEntries), though words in the plan's order would take
// less (spgemm_gpu_ordered_rows.hpp): a thread an entry waits for three reads, one after the other, while lanes of a
// row wait for seven, and some idle where rows are of unlike lengths. Knows no element type.
#pragma once

#include "spgemm_gpu_gathered_rows.hpp"
#include "spgemm_gpu_ordered_rows.hpp"
#include "spgemm_gpu_sorted_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

/// Whether lists are the faster way for all rows of C, of so many products and `longest` entries at most.
inline bool lists_are_faster(const OutputPattern& C, int64_t products, int32_t longest) {
  // Most of the time is spent waiting.
  if (products <= (C.nnz <= 8 * C.rows ? 2 : 1) * (int64_t{1} << 20)) return true;
  if (C.nnz > 4 * C.rows && 2 * int64_t{longest} * C.rows < 3 * C.nnz) return false;  // rows are alike
  if (products <= int64_t{1} << 22) return products <= 3 * C.nnz;
  return products <= int64_t{1} << 24 && products <= (C.nnz <= 8 * C.rows ? 3 : 2) * C.nnz && C.nnz <= 48 * C.rows;
}

/// Lists to be filled.
template <class Problem>
EntryLists make_lists(const Problem& p, int64_t products, int64_t entries, Gathered& found) {
  found.entries = entries;
  found.of_a = p.template array<uint32_t>(products);
  found.of_b = p.template array<uint32_t>(products);
  found.starts = p.template array<int32_t>(entries + 1);
  return {found.of_a.template as<uint32_t>(), found.of_b.template as<uint32_t>(), found.starts.template as<int32_t>(),
          p.positions_a, p.positions_b};
}

/// The entries of C of more products than a thread's, of at most so many in order.
template <class Problem>
void find_long_sums(Queue& queue, const Problem& problem, int64_t products, int64_t most_of_entry, Gathered& found) {
  if (most_of_entry <= most_gathered_of_thread) return;
  const Buffer state = problem.template array<GatherState>(1);
  clear(queue, state);
  find_long_sums(queue, problem, products, nullptr, state, found);
  take_long_sums(read_back<GatherState>(queue, state.data()), found);
}

/// The products of each row, by its class, for a scan.
struct ProductsByClass {
  const uint16_t* number_of;
  const int64_t* products;

  template <int vector>
  __device__ void load(int64_t, int64_t i, int32_t (&x)[vector]) const {
#pragma unroll
    for (int k = 0; k < vector; ++k) x[k] = static_cast<int32_t>(products[number_of[i + k]]);
  }
};

/// Lists of all products from the words of the rows' classes; a few lanes a row.
template <class Left, class I>
struct ListOrdered {
  static constexpr int threads = 128, lanes = 8;
  Left A;
  Pattern<I> B;
  int64_t rows;
  OrderedLists ordered;
  const int32_t* begins;  // of each row's products
  Offsets offsets;        // of C
  EntryLists lists;

  __device__ void operator()() const {
    const int64_t thread = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x, i = thread / lanes;
    if (i >= rows) return;
    const auto lane = static_cast<int32_t>(thread % lanes);
    const int64_t from = begins[i], to = offsets.at(i), number = ordered.number_of[i];
    const auto products = static_cast<int32_t>(begins[i + 1] - from),
               entries = static_cast<int32_t>(offsets.at(i + 1) - to);
    const uint16_t *const words = ordered.words + ordered.begins[number], *const ends =
                                                                              ordered.ends + ordered.end_begins[number];
    const LeftRow row = A.row(i);
    for (int32_t q = lane; q < products; q += lanes) {
      const uint32_t word = words[q], places = (1u << ordered.place_bits) - 1;
      const auto k = static_cast<int32_t>(word >> ordered.place_bits);
      lists.product(from + q, row.begin + k, B.begin(A.column(row, k)) + (word & places));
    }
    for (int32_t e = lane; e < entries; e += lanes) lists.begin_entry(to, e, from, e > 0 ? ends[e - 1] : 0);
    if (lane == 0) lists.end_row(to, entries - 1, from, products, i + 1 == rows);
  }
};

/// For rows of classes whose words are `ordered`, of so many products a class; once C's offsets are there.
template <class Left, class I>
Gathered list_classes(Queue& queue, const Problem<Left, I>& p, const OrderedLists& ordered,
                      const int64_t* products_of_classes, int64_t products, const Offsets& offsets, int64_t entries,
                      int64_t most_of_entry) {
  Gathered found;
  const EntryLists lists = make_lists(p, products, entries, found);
  const Buffer begins = p.template array<int32_t>(p.rows + 1);
  gpu::ScanTiles<int32_t, ProductsByClass, gpu::OffsetsTarget<int32_t>, 4> scan{};
  scan.source = {ordered.number_of, products_of_classes};
  scan.target = {{begins.template as<int32_t>(), 0}};
  gpu::launch_scan(queue, scan, p.rows);
  using F = ListOrdered<Left, I>;
  launch_over(queue, p.rows * F::lanes, F{p.A, p.B.B, p.rows, ordered, begins.template as<int32_t>(), offsets, lists});
  find_long_sums(queue, p, products, most_of_entry, found);
  return found;
}

}  // namespace kkc::spgemm::gpu_parts
