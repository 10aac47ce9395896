// transpose, GPUs: a stable radix sort of the entries by column (device/gpu_bucket.hpp), then the rows of the sorted
// places.
#pragma once

#include <type_traits>

#include "core/dispatch.hpp"
#include "device/gpu_bucket.hpp"
#include "device/gpu_rows.hpp"
#include "ops/transpose/transpose.hpp"

namespace kkc::transpose {
namespace gpu_parts {

template <class I, class O>
void transpose(const Desc& desc, Queue& queue, EntryMap& map) {
  const CsrRef& A = desc.A;
  map.offsets = shared_array<O>(desc.memory, Space::device, A.cols + 1);
  map.positions = shared_array<O>(desc.memory, Space::device, A.nnz);
  O* const positions = map.positions->template as<O>();
  gpu::bucket(queue, desc.memory, static_cast<const I*>(A.indices), A.base, A.cols, A.nnz,
              map.offsets->template as<O>(), positions);
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
