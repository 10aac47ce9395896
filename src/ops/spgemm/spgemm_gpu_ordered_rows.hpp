// Which rows, and classes of rows, gather their products in the plan's order (spgemm_gpu_ordered_kernels.hpp). Knows no
// element type.
#pragma once

#include "spgemm_gpu_found.hpp"
#include "spgemm_gpu_ordered_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

inline constexpr double most_ordered_mean = 20;                  // entries of a row of B
inline constexpr double least_compression = 1.5;                 // products an entry of C, in classes
inline constexpr int64_t most_rows_of_lanes = int64_t{1} << 18;  // more keep a device's threads busy, a row each
inline constexpr double most_mean_of_lanes = 14;  // entries of a row of B, where C's are too long for a thread

/// Whether words can name the products.
template <class Left, class I>
bool words_name_products(const Problem<Left, I>& p) {
  return p.longest_a <= most_ordered_entries && p.nnz_b <= UINT32_MAX &&
         bits_of(p.longest_a) + bits_of(p.longest_b) <= word_bits;
}

/// And rows of B are so short that gathering is the faster way.
template <class Left, class I>
bool names_short_rows(const Problem<Left, I>& p, int64_t products) {
  return words_name_products(p) && static_cast<double>(products) <= most_ordered_mean * static_cast<double>(p.nnz_a);
}

/// The same for classes of rows.
template <class Left, class I>
bool can_order_classes(const Problem<Left, I>& p, const Found& found) {
  return names_short_rows(p, found.products) && p.longest_a * p.longest_b <= most_ordered_products;
}

/// Whether gathering is faster than what reads together what neighbouring rows have in common: rows of A are far longer
/// than B's, have nothing in common, or are fewer than a device's threads.
template <class Left, class I>
bool orders_classes(const Problem<Left, I>& p, const Found& found) {
  const auto products = static_cast<double>(found.products), mean_b = products / static_cast<double>(p.nnz_a);
  if (!can_order_classes(p, found) || products < least_compression * static_cast<double>(found.output.nnz))
    return false;
  return (found.longest <= thread_rows_longest
              ? p.rows <= most_rows_of_lanes || static_cast<double>(p.nnz_a) > 2 * mean_b * static_cast<double>(p.rows)
              : mean_b <= most_mean_of_lanes) ||
         (p.nnz_a <= p.B.B.rows && found.products >= least_summed * found.output.nnz);
}

/// The longest rows of A in each bin of a list.
template <class Left>
struct LongestOfBins {
  static constexpr int threads = 256;
  Left A;
  const int32_t* list;
  int64_t rows;
  Bins bins;
  int32_t* longest;  // [survey_bins], zero at first

  __device__ void operator()() const {
    __shared__ int32_t local[survey_bins];
    const auto thread = static_cast<int>(threadIdx.x);
    if (thread < survey_bins) local[thread] = 0;
    __syncthreads();
    for (int64_t at = static_cast<int64_t>(blockIdx.x) * threads + thread; at < rows;
         at += static_cast<int64_t>(gridDim.x) * threads) {
      int bin = 0;
      for (int b = 0; b < survey_bins; ++b)
        if (at >= bins[b].first && at < bins[b].first + bins[b].count) bin = b;
      atomicMax(local + bin, A.row(list[at]).length);
    }
    __syncthreads();
    if (thread < survey_bins && local[thread] > 0) atomicMax(longest + thread, local[thread]);
  }
};

/// Of a plan by rows of several bins, or of one.
template <class Left, class I>
void find_longest_of_bins(Queue& queue, const Problem<Left, I>& p, Found& found) {
  found.longest_a_of.fill(found.longest_a);
  if (found.list.data() == nullptr) return;
  const Buffer longest = p.template array<int32_t>(survey_bins);
  clear(queue, longest);
  launch_round(queue, p.rows,
               LongestOfBins<Left>{p.A, found.list.template as<int32_t>(), p.rows, found.bins, longest.as<int32_t>()});
  found.longest_a_of = read_back<std::array<int32_t, survey_bins>>(queue, longest.data());
}

/// Turns the slots of `f.count` classes into words; their rows of C have `ends` entries together.
template <class Left, class I>
void order_classes(Queue& queue, const Problem<Left, I>& p, Found& found, OrderProducts<Left, I> f, int64_t ends) {
  const auto most_products = static_cast<int32_t>(p.longest_a * p.longest_b);
  found.ends = p.template array<uint16_t>(ends);
  found.place_bits = bits_of(p.longest_b);
  found.longest_a = static_cast<int32_t>(p.longest_a);
  f.B = p.B.B;
  f.begins = found.begins.template as<int64_t>();
  f.most_products = (most_products + 1) / 2 * 2;
  f.most_entries = found.longest;
  f.place_bits = found.place_bits;
  f.words = found.slots.template as<uint16_t>();
  f.ends = found.ends.template as<uint16_t>();
  launch_blocks(queue, f.count, f, f.shared_bytes());
}

}  // namespace kkc::spgemm::gpu_parts
