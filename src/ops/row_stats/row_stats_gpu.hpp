// row_stats, GPU: counts in device memory, read back once.
#pragma once

#include <algorithm>

#include "core/dispatch.hpp"
#include "device/gpu_launch.hpp"
#include "device/gpu_read.hpp"
#include "row_stats_gpu_kernels.hpp"

namespace kkc::row_stats {
namespace gpu_parts {

inline RowStats from_counts(const Counts& counts, int64_t rows) {
  RowStats stats{};
  const auto index = [](unsigned long long i) { return i == none ? int64_t{-1} : static_cast<int64_t>(i); };
  stats.shortest = rows == 0 ? 0 : static_cast<int64_t>(counts.shortest);
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

inline void run(Queue& queue, std::span<const Pass> passes, RowStats* stats) {
  static_assert(most_matrices * sizeof(Counts) <= gpu::KeepingQueue::most_read);
  require(passes.size() <= most_matrices, KKC_STATUS_INTERNAL, "row_stats got ", passes.size(), " matrices");
  gpu::KeepingQueue& keeping = gpu::keeping(queue);
  gpu::KeptWords& kept = keeping.kept_words(gpu::KeptWords::row_stats, most_matrices * sizeof(Counts));
  auto* const in_memory = reinterpret_cast<Counts*>(kept.data);
  const auto read_and_start = [&](size_t matrices, const gpu::Watched& to) {
    gpu::launch(queue, 1, ReadAndStart::threads, 0, ReadAndStart{in_memory, static_cast<int>(matrices), to});
  };
  if (kept.number == 0) read_and_start(most_matrices, {});
  kept.number = 0;  // until they are read and started anew
  const unsigned most = static_cast<unsigned>(8 * queue.concurrency());
  for (size_t i = 0; i < passes.size(); ++i) {
    const CsrRef& A = passes[i].matrix;
    dispatch_index_pair(AllIndexPairs{}, A.pair, [&](auto p) {
      using P = decltype(p);
      using I = typename P::ordinal;
      using O = typename P::offset;
      const CountRows<O> rows{static_cast<const O*>(A.offsets), A.rows, A.nnz, A.base, in_memory + i};
      if (passes[i].offsets_only) {
        gpu::launch(queue, std::min(most, gpu::blocks_for(A.rows, rows.threads)), rows.threads, 0, rows);
        return;
      }
      const CheckPattern<I, O> check{rows, {static_cast<const I*>(A.indices), A.nnz, A.cols, A.base, in_memory + i}};
      const unsigned blocks =
          std::min(most, gpu::blocks_for(std::max(A.rows, A.nnz), int64_t{check.threads} * check.columns.batch));
      gpu::launch(queue, blocks, check.threads, 0, check);
    });
  }
  Counts counts[most_matrices];
  read_and_start(passes.size(), keeping.watch());
  kept.number = 1;
  keeping.await(counts, passes.size() * sizeof(Counts));
  for (size_t i = 0; i < passes.size(); ++i) stats[i] = from_counts(counts[i], passes[i].matrix.rows);
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu() {
  return {{"gpu"}, gpu_parts::run};
}

}  // namespace kkc::row_stats
