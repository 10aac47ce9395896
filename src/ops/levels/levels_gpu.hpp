// levels, GPUs whose running blocks may make no progress while others wait: the host's pass over a copy of the
// pattern.
#pragma once

#include <algorithm>
#include <vector>

#include "ops/levels/levels_by_rows.hpp"

namespace kkc::levels {
namespace gpu_level_parts {

template <class T>
std::vector<T> fetched(Queue& queue, const void* from, int64_t count) {
  std::vector<T> to(static_cast<size_t>(count));
  if (count > 0) queue.copy(to.data(), from, to.size() * sizeof(T));
  return to;
}

template <class T>
std::shared_ptr<const Buffer> sent(Queue& queue, const Desc& desc, const std::vector<T>& from) {
  auto to = std::make_shared<const Buffer>(desc.memory, Space::device, from.size() * sizeof(T));
  if (!from.empty()) queue.copy(to->data(), from.data(), to->bytes());
  return to;
}

template <class I, class O>
void fill_in(Queue& queue, const Desc& desc, Levels& levels) {
  const int64_t n = desc.A.rows;
  const std::vector<O> offsets = fetched<O>(queue, desc.A.offsets, n == 0 ? 0 : n + 1);
  const std::vector<I> indices = fetched<I>(queue, desc.A.indices, desc.A.nnz);
  const HostPattern<I, O> A{offsets.data(), indices.data(), n, static_cast<O>(desc.A.base)};
  std::vector<O> diagonal(static_cast<size_t>(n));
  std::vector<I> level(static_cast<size_t>(n)), order(static_cast<size_t>(n));
  const Diagonals found = find_diagonals(A, 0, n, diagonal.data());
  if (found.missing < n) levels.missing = found.missing;
  levels.parted = found.parted;
  levels.count = find_row_levels(A, desc.uplo, desc.transposed, diagonal.data(), found.parted, level.data());
  levels.starts = sort_by_level(level.data(), n, levels.count, order.data());
  levels.order = sent(queue, desc, order);
  levels.device_starts = sent(queue, desc, std::vector<I>(levels.starts.begin(), levels.starts.end()));
  double entries = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto u = static_cast<size_t>(i);
    entries += desc.uplo == Uplo::lower ? static_cast<double>(diagonal_place(diagonal[u]) + A.base - offsets[u])
                                        : static_cast<double>(offsets[u + 1] - A.base - behind_diagonal(diagonal[u]));
  }
  levels.entries_a_row = entries / static_cast<double>(std::max<int64_t>(1, n));
  levels.diagonal = sent(queue, desc, diagonal);
  queue.synchronize();
}

inline std::shared_ptr<const Levels> find(Queue& queue, const Desc& desc) {
  return find_typed(desc, [&]<class I, class O>(I, O, Levels& levels) { fill_in<I, O>(queue, desc, levels); });
}

}  // namespace gpu_level_parts

template <class Dev>
constexpr Implementation gpu() {
  return {{"gpu"}, gpu_level_parts::find};
}

}  // namespace kkc::levels
