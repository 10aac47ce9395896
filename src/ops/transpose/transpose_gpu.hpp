// transpose, GPUs: the entries' places by column (device/gpu_bucket.hpp), then the rows of these places.
#pragma once

#include <type_traits>

#include "core/dispatch.hpp"
#include "device/gpu_bucket.hpp"
#include "device/gpu_rows.hpp"
#include "ops/transpose/transpose.hpp"

namespace kkc::transpose {
namespace gpu_parts {

/// Of the transpose, whose offsets are there; waits for them.
inline RowStats row_stats_of(Queue& queue, const EntryMap& map) {
  const OperationTable* table = find_operation(queue.table(), "row_stats");
  require(table != nullptr && table->count > 0, KKC_STATUS_INTERNAL, "a module has transpose, but not row_stats");
  const row_stats::Pass pass{
      {map.pair, Scalar::none, 0, map.rows, map.cols, map.nnz, map.offsets->data(), nullptr, nullptr}, true};
  RowStats stats;
  static_cast<const row_stats::Implementation*>(table->entries[0])->run(queue, {&pass, 1}, &stats);
  return stats;
}

/// positions and offsets of the transpose, and its rows' lengths where these are asked for and known anyway.
template <class I, class O>
void bucket(const Desc& desc, Queue& queue, const EntryMap& map, O* offsets, O* positions) {
  const CsrRef& A = desc.A;
  const auto* const columns = static_cast<const I*>(A.indices);
  gpu::CountedBuckets<I, O> counted(queue, desc.memory, columns, A.base, A.cols, A.nnz, offsets, positions);
  if (desc.rows != nullptr && counted.takes()) {
    counted.count();
    *desc.rows = row_stats_of(queue, map);
    if (counted.deal((*desc.rows)->longest)) return;
  }
  if (desc.rows == nullptr)
    gpu::bucket(queue, desc.memory, columns, A.base, A.cols, A.nnz, offsets, positions);
  else
    gpu::bucket_by_digits(queue, desc.memory, columns, A.base, A.cols, A.nnz, offsets, positions);
}

template <class I, class O>
void transpose(const Desc& desc, Queue& queue, EntryMap& map) {
  const CsrRef& A = desc.A;
  map.offsets = shared_array<O>(desc.memory, Space::device, A.cols + 1);
  map.positions = shared_array<O>(desc.memory, Space::device, A.nnz);
  O* const positions = map.positions->template as<O>();
  bucket<I>(desc, queue, map, map.offsets->template as<O>(), positions);
  if constexpr (std::is_same_v<I, O>) {
    if (desc.single) {  // entry p is that of row p
      map.indices = map.positions;
      return;
    }
  }
  map.indices = shared_array<I>(desc.memory, Space::device, A.nnz);
  const Buffer rows(Memory::in_order(desc.memory), Space::device, static_cast<size_t>(A.nnz) * sizeof(I));
  gpu::expand_rows(queue, static_cast<const O*>(A.offsets), A.base, A.rows, A.nnz, rows.as<I>());
  gpu::pick(queue, rows.as<I>(), positions, A.nnz, map.indices->template as<I>(), static_cast<I>(A.base));
}

inline std::unique_ptr<EntryMap> make(const Desc& desc, Queue& queue) {
  auto map = std::make_unique<EntryMap>();
  map->pair = desc.A.pair;
  map->rows = desc.A.cols;
  map->cols = desc.A.rows;
  map->nnz = map->sources = desc.A.nnz;
  dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto pair) {
    using P = decltype(pair);
    transpose<typename P::ordinal, typename P::offset>(desc, queue, *map);
  });
  return map;
}

inline std::string unsupported(const Desc&) { return {}; }

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu() {
  return {{"gpu"}, true, gpu_parts::unsupported, gpu_parts::make};
}

}  // namespace kkc::transpose
