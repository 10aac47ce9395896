// transpose, hosts: entries dealt to columns by a counting sort in parts (device/host_bucket.hpp), or in two levels
// where columns come in no order (device/host_bucket_scattered.hpp).
#pragma once

#include "core/dispatch.hpp"
#include "device/host_bucket.hpp"
#include "device/host_bucket_scattered.hpp"
#include "device/host_pattern_ref.hpp"
#include "ops/transpose/transpose.hpp"

namespace kkc::transpose {
namespace host_transpose_parts {

/// Rows of one entry each, as a tentative prolongator has them.
template <class Dev, class I, class O>
bool one_each(Queue& queue, const HostPatternRef<I, O>& A, int64_t parts) {
  if (A.nnz != A.rows) return false;
  std::vector<uint8_t> differs(static_cast<size_t>(parts), 0);
  host_parts<Dev>(queue, parts, [&](int64_t part) {
    uint8_t other = 0;
    for (int64_t row = part_begin(A.rows, parts, part), end = part_begin(A.rows, parts, part + 1); row < end; ++row)
      other |= A.begin(row) != row ? 1 : 0;
    differs[static_cast<size_t>(part)] = other;
  });
  return std::find(differs.begin(), differs.end(), 1) == differs.end();
}

template <class Dev, class I, class O>
void transpose(const Desc& desc, Queue& queue, EntryMap& map) {
  const HostPatternRef<I, O> A(desc.A);
  map.offsets = shared_array<O>(desc.memory, Space::host, A.cols + 1);
  map.indices = shared_array<I>(desc.memory, Space::host, A.nnz);
  const int64_t parts = parts_for_items(queue, A.nnz + A.cols);
  const bool single = one_each<Dev>(queue, A, parts);
  // Entry p is then that of row p.
  map.positions = single && sizeof(I) == sizeof(O) ? map.indices : shared_array<O>(desc.memory, Space::host, A.nnz);
  I* const rows = map.indices->template as<I>();
  O* const positions = map.positions->template as<O>();
  O* const offsets = map.offsets->template as<O>();
  const auto first = [&](int64_t part) { return part_begin(A.nnz, parts, part); };  // of a part: rows may be split
  const auto visit = [&](int64_t part, auto&& each) {
    int64_t p = first(part);
    const int64_t last = first(part + 1);
    for (int64_t row = p < last ? A.row_of(p) : 0; p < last; ++row)
      for (const int64_t end = std::min(A.end(row), last); p < end; ++p) each(p, static_cast<I>(row));
  };
  if (keys_scatter<O>(queue, A.indices, A.nnz, A.cols)) {
    const Buffer room(desc.memory, Space::host, static_cast<size_t>(A.nnz) * sizeof(ScatteredItem<I, O>));
    host_bucket_scattered<Dev>(queue, room.as<ScatteredItem<I, O>>(), A.indices, A.base, A.cols, A.nnz, parts, offsets,
                               positions, rows, visit);
    return;
  }
  host_bucket<Dev>(queue, A.indices, A.base, A.cols, parts, offsets, first, [&](int64_t part, auto&& next) {
    if (single) {
      // Neighbours often go to one column.
      for (int64_t row = first(part), last = first(part + 1); row < last;) {
        int64_t end = row + 1;
        while (end < last && A.indices[end] == A.indices[row]) ++end;
        for (O to = next(row, static_cast<O>(end - row)); row < end; ++row, ++to) {
          rows[to] = static_cast<I>(row);
          if constexpr (sizeof(I) != sizeof(O)) positions[to] = static_cast<O>(row);
        }
      }
      return;
    }
    visit(part, [&](int64_t p, I row) {
      const O to = next(p);
      rows[to] = row;
      positions[to] = static_cast<O>(p);
    });
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
