// levels, hosts.
#pragma once

#include "device/host_parallel.hpp"
#include "ops/levels/levels_by_rows.hpp"

namespace kkc::levels {
namespace host_level_parts {

template <class Dev, class I, class O>
void fill_in(Queue& queue, const Desc& desc, Levels& levels) {
  const HostPattern<I, O> A{static_cast<const O*>(desc.A.offsets), static_cast<const I*>(desc.A.indices), desc.A.rows,
                            static_cast<O>(desc.A.base)};
  const auto order = std::make_shared<const Buffer>(desc.memory, Space::host, static_cast<size_t>(A.rows) * sizeof(I));
  const auto diagonal =
      std::make_shared<const Buffer>(desc.memory, Space::host, static_cast<size_t>(A.rows) * sizeof(O));
  const int64_t parts = std::max<int64_t>(1, std::min<int64_t>(queue.concurrency(), (A.rows + desc.A.nnz) / 16384));
  std::vector<Diagonals> found(static_cast<size_t>(parts));
  host_parts<Dev>(queue, parts, [&](int64_t part) {
    found[static_cast<size_t>(part)] =
        find_diagonals(A, part_begin(A.rows, parts, part), part_begin(A.rows, parts, part + 1), diagonal->as<O>());
  });
  Diagonals all;
  for (const Diagonals& of_part : found) all.join(of_part);
  if (all.missing < A.rows) levels.missing = all.missing;
  levels.parted = all.parted;
  std::vector<I> level(static_cast<size_t>(A.rows));
  levels.count = find_row_levels(A, desc.uplo, desc.transposed, diagonal->as<O>(), all.parted, level.data());
  levels.starts = sort_by_level(level.data(), A.rows, levels.count, order->as<I>());
  levels.order = order;
  levels.diagonal = diagonal;
}

template <class Dev>
std::shared_ptr<const Levels> find(Queue& queue, const Desc& desc) {
  return find_typed(desc, [&]<class I, class O>(I, O, Levels& levels) { fill_in<Dev, I, O>(queue, desc, levels); });
}

}  // namespace host_level_parts

template <class Dev>
constexpr Implementation host() {
  return {{"host"}, host_level_parts::find<Dev>};
}

}  // namespace kkc::levels
