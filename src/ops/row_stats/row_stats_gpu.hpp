// row_stats, GPU: counts in device memory, read back once.
#pragma once

#include <algorithm>

#include "core/dispatch.hpp"
#include "device/gpu_launch.hpp"
#include "device/gpu_queue.hpp"
#include "row_stats_gpu_kernels.hpp"

namespace kkc::row_stats {
namespace gpu_parts {

inline RowStats run(Queue& queue, const CsrRef& A, bool offsets_only) {
  static_assert(sizeof(Counts) <= gpu::GpuQueue::scratch_bytes);
  auto* in_memory = static_cast<Counts*>(static_cast<gpu::GpuQueue&>(queue).scratch());
  const unsigned most = static_cast<unsigned>(8 * queue.concurrency());
  gpu::launch(queue, 1, Start::threads, 0, Start{in_memory});
  dispatch_index_pair(AllIndexPairs{}, A.pair, [&](auto p) {
    using P = decltype(p);
    using I = typename P::ordinal;
    using O = typename P::offset;
    const CountRows<O> rows{static_cast<const O*>(A.offsets), A.rows, A.nnz, A.base, in_memory};
    gpu::launch(queue, std::min(most, gpu::blocks_for(A.rows, rows.threads)), rows.threads, 0, rows);
    if (offsets_only) return;
    const CheckColumns<I> columns{static_cast<const I*>(A.indices), A.nnz, A.cols, A.base, in_memory};
    gpu::launch(queue, std::min(most, gpu::blocks_for(A.nnz, columns.threads)), columns.threads, 0, columns);
  });
  Counts counts;
  queue.copy(&counts, in_memory, sizeof counts);
  queue.synchronize();
  RowStats stats{};
  const auto index = [](unsigned long long i) { return i == none ? int64_t{-1} : static_cast<int64_t>(i); };
  stats.shortest = A.rows == 0 ? 0 : static_cast<int64_t>(counts.shortest);
  stats.longest = static_cast<int64_t>(counts.longest);
  stats.empty = static_cast<int64_t>(counts.empty);
  for (int i = 0; i < classes; ++i) {
    stats.histogram[i] = static_cast<int64_t>(counts.histogram[i]);
    stats.nonzeros[i] = static_cast<int64_t>(counts.nonzeros[i]);
  }
  stats.first_bad_row = index(counts.first_bad_row);
  stats.first_bad_entry = index(counts.first_bad_entry);
  return stats;
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu() {
  return {{"gpu"}, gpu_parts::run};
}

}  // namespace kkc::row_stats
