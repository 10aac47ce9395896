// transpose, hosts: entries dealt to columns by a counting sort in parts (device/host_bucket.hpp).
#pragma once

#include "core/dispatch.hpp"
#include "device/host_bucket.hpp"
#include "device/host_pattern_ref.hpp"
#include "ops/transpose/transpose.hpp"

namespace kkc::transpose {
namespace host_transpose_parts {

template <class Dev, class I, class O>
void transpose(const Desc& desc, Queue& queue, EntryMap& map) {
  const HostPatternRef<I, O> A(desc.A);
  map.offsets = shared_array<O>(desc.memory, Space::host, A.cols + 1);
  map.indices = shared_array<I>(desc.memory, Space::host, A.nnz);
  map.positions = shared_array<O>(desc.memory, Space::host, A.nnz);
  I* const rows = map.indices->template as<I>();
  O* const positions = map.positions->template as<O>();
  const int64_t parts = parts_for_items(queue, A.nnz + A.cols);
  host_bucket<Dev>(
      queue, A.indices, A.base, A.cols, parts, map.offsets->template as<O>(),
      [&](int64_t part) { return part == parts ? A.nnz
                                 : A.rows == 0 ? 0
                                               : A.begin(A.first_row(parts, part)); },
      [&](int64_t part, auto&& next) {
        for (int64_t row = A.first_row(parts, part), last = A.first_row(parts, part + 1); row < last; ++row)
          for (int64_t p = A.begin(row), end = A.end(row); p < end; ++p) {
            const O to = next(p);
            rows[to] = static_cast<I>(row);
            positions[to] = static_cast<O>(p);
          }
      });
}

template <class Dev>
std::unique_ptr<EntryMap> make(const Desc& desc, Queue& queue) {
  auto map = std::make_unique<EntryMap>();
  map->pair = desc.A.pair;
  map->rows = desc.A.cols;
  map->cols = desc.A.rows;
  map->nnz = map->sources = desc.A.nnz;
  dispatch_index_pair(IndexPairs{}, desc.A.pair, [&](auto pair) {
    using P = decltype(pair);
    transpose<Dev, typename P::ordinal, typename P::offset>(desc, queue, *map);
  });
  return map;
}

inline std::string unsupported(const Desc&) { return {}; }

}  // namespace host_transpose_parts

template <class Dev>
constexpr Implementation host() {
  return {{"host"}, true, host_transpose_parts::unsupported, host_transpose_parts::make<Dev>};
}

}  // namespace kkc::transpose
