// How many products each row of A B has, whether B's rows ascend, and how many products meet in an entry of C, by a
// sample: what plans on GPUs look at first where rows have no classes. Knows no element type.
#pragma once

#include <limits>

#include "spgemm_gpu_found.hpp"
#include "spgemm_gpu_inode_kernels.hpp"
#include "spgemm_gpu_warp_rows.hpp"

namespace kkc::spgemm::gpu_parts {

struct ProductsOfRows {
  Buffer bounds;  // int32_t[rows], cut off
  Buffer begins;  // int64_t[rows + 1], of the rows' products one behind the other
  int64_t total;
  int32_t largest;  // row's, cut off
  bool distinct;    // B's rows ascend strictly
  SampledTwins twins_a, twins_b;
};

/// Of both operands, to what is zero at first; kinds of B's rows too, of which there are more than SampledKinds::rows.
template <class Left, class I>
void sample_twins(Queue& queue, const Problem<Left, I>& p, SampledTwins* a, SampledTwins* b,
                  const SampledKinds& kinds = {}) {
  if constexpr (std::is_same_v<Left, PlainLeft<I>>) {
    if (p.A.list != nullptr) return;
    const SampleTwins<I> f{p.A.A, p.B.B, a, b, kinds};
    launch_over(queue, f.warps() * 32, f);
  }
}

/// sampled: i-nodes too.
template <class Left, class I>
ProductsOfRows products_of_rows(Queue& queue, const Problem<Left, I>& p, bool sampled) {
  struct Seen {
    int64_t total;
    int32_t broken, largest;
    SampledTwins a, b;
  };
  Buffer begins = p.template array<int64_t>(p.rows + 4);
  auto* const seen = reinterpret_cast<Seen*>(begins.as<int64_t>() + p.rows);  // read in one go
  gpu::clear_words(queue, &seen->broken, sizeof(Seen) - sizeof(int64_t));
  check_ascending(queue, p.B.B, p.nnz_b, &seen->broken);
  if (sampled) sample_twins(queue, p, &seen->a, &seen->b);

  const int lanes_a = lanes_log2_for(p.nnz_a, p.rows);
  Buffer bounds = p.template array<int32_t>(p.rows), exact = p.template array<int64_t>(p.rows), shared;
  BoundRows<Left, PlainRight<I>> bound{p.A, p.B,           p.rows, lanes_a, bounds.as<int32_t>(), exact.as<int64_t>(),
                                       {},  &seen->largest};
  if (p.longest_a > SharedRows::longest_of_block) {
    const int64_t most = p.nnz_a / SharedRows::longest_of_subgroup;
    shared = p.template array<int32_t>(2 + most);
    bound.shared = {shared.as<int32_t>() + 2, static_cast<int32_t>(most), shared.as<int32_t>()};
    gpu::clear_words(queue, shared.data(), 2 * sizeof(int32_t));
  }
  launch_over(queue, p.rows << lanes_a, bound);
  if (shared.data() != nullptr) {
    using F = BoundSharedRows<Left, PlainRight<I>>;
    gpu::launch(queue, static_cast<unsigned>(4 * queue.concurrency()), F::threads, 0, F{bound});
    gpu::launch(queue, 1, CutSharedBounds::threads, 0,
                CutSharedBounds{bound.shared, bound.exact, bound.bounds, bound.largest});
  }
  const auto found = gpu::exclusive_scan_and_read<Seen>(queue, exact.as<int64_t>(), begins.as<int64_t>(), p.rows, seen);
  return {std::move(bounds), std::move(begins), found.total, found.largest, found.broken == 0, found.a, found.b};
}

/// Products an entry of C in rows of few products; infinitely many where these have less than a third of all.
template <class Left, class I>
double sampled_compression(Queue& queue, const Problem<Left, I>& p, const Buffer& bounds, int64_t products) {
  using F = SampleRows<Left, I>;
  const Buffer state = p.template array<Sampled>(1);
  clear(queue, state);
  const F f{{p.A, p.B.B, nullptr, p.rows, nullptr, 10}, bounds.as<int32_t>(), state.as<Sampled>()};
  const auto found =
      launch_blocks_and_read<Sampled>(queue, F::sampled / (F::threads / 32), f, f.rows.shared_bytes(), state.data());
  if (3 * found.products * f.stride() < products) return std::numeric_limits<double>::infinity();
  return static_cast<double>(found.products) / found.columns;
}

}  // namespace kkc::spgemm::gpu_parts
