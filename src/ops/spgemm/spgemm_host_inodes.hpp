// I-nodes on hosts: rows that follow each other and have the same columns, as the unknowns of a point of a finite
// element mesh do (PETSc's term). Tiles are parts of i-nodes; the reduced pattern has a row for each tile of A and an
// entry for each tile of B that these rows meet.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

#include "core/matrix_parallel.hpp"
#include "device/hash_accumulator.hpp"
#include "device/host_pattern_ref.hpp"
#include "device/host_shared_parts.hpp"
#include "ops/spgemm/spgemm_host_classify.hpp"

namespace kkc::spgemm {

template <class I, class O>
bool is_twin(const HostPatternRef<I, O>& A, int64_t i) {
  const int64_t before = A.begin(i - 1), begin = A.begin(i), length = A.end(i) - begin;
  return begin - before == length && std::equal(A.indices + before, A.indices + begin, A.indices + begin);
}

/// Of rows here and there that have entries.
struct SampledNodes {
  int64_t rows = 0, twins = 0;  // twins: that are like the row before
  int64_t kinds = 0;            // that differ by more than a shift of all columns

  /// Rows of an i-node in the mean.
  double rows_of_node() const { return static_cast<double>(rows + 1) / static_cast<double>(rows - twins + 1); }
};

template <class I, class O>
SampledNodes sample_nodes(Queue& queue, const HostPatternRef<I, O>& A) {
  constexpr int64_t most = 2048, worth_a_thread = 128, no_kind = 0;
  const int64_t count = std::min(most, A.rows - 1);
  if (count <= 0) return {};
  const int64_t stride = (A.rows - 1) / count, parts = parts_for_items(queue, count, worth_a_thread);
  std::vector<int64_t> kinds(static_cast<size_t>(count), no_kind);
  std::atomic<int64_t> twins{0};
  host_parts<Host>(queue, parts, [&](int64_t part) {
    int64_t of_part = 0;
    for (int64_t s = part_begin(count, parts, part), last = part_begin(count, parts, part + 1); s < last; ++s) {
      const int64_t i = 1 + s * stride + s % stride;  // not the same place of every i-node
      if (A.begin(i) == A.end(i)) continue;
      of_part += is_twin(A, i) ? 1 : 0;
      uint64_t hash = 0;
      for (int64_t p = A.begin(i); p < A.end(i); ++p)
        hash = (hash ^ static_cast<uint64_t>(A.indices[p] - A.indices[A.begin(i)] + 1)) * 0x9e3779b97f4a7c15u;
      kinds[static_cast<size_t>(s)] = static_cast<int64_t>((hash ^ hash >> 32) | 1);
    }
    twins += of_part;
  });
  SampledNodes sampled;
  HashAccumulator<int64_t, uint8_t> distinct(count);
  for (const int64_t kind : kinds)
    if (kind != no_kind) {
      ++sampled.rows;
      distinct.insert(kind);
    }
  sampled.twins = twins;
  sampled.kinds = distinct.size();
  return sampled;
}

inline constexpr int64_t rows_of_part = 4096;

/// heads[i]: whether a tile begins at row i. I-nodes are cut into tiles of at most `most` rows, as many each.
template <class I, class O>
std::vector<uint8_t> tile_heads(Queue& queue, const HostPatternRef<I, O>& A, int64_t most) {
  std::vector<uint8_t> heads(static_cast<size_t>(A.rows));
  deal(queue, (A.rows + rows_of_part - 1) / rows_of_part, [&](int64_t, int64_t part) {
    for (int64_t i = part * rows_of_part; i < std::min(A.rows, (part + 1) * rows_of_part); ++i)
      heads[static_cast<size_t>(i)] = i == 0 || !is_twin(A, i);
  });
  for (int64_t first = 0, end = 0; first < A.rows; first = end) {
    for (end = first + 1; end < A.rows && heads[static_cast<size_t>(end)] == 0;) ++end;
    const int64_t size = end - first, tiles = (size + most - 1) / most, each = (size + tiles - 1) / tiles;
    for (int64_t i = first; i < end; i += each) heads[static_cast<size_t>(i)] = 1;
  }
  return heads;
}

inline constexpr int64_t most_deep = 4;  // rows of a tile of B

/// The rows of tiles of A, each reduced to one that names the first row of each tile of B.
template <class I, class O>
struct ReducedRows {
  std::vector<int64_t> firsts;       // row of each tile; behind the last one, all rows
  Buffer offsets, columns, entries;  // O, I; of each entry the place of its first in A's row, int32_t

  int64_t tiles() const { return static_cast<int64_t>(firsts.size()) - 1; }
  int64_t begin(int64_t tile) const { return static_cast<int64_t>(offsets.template as<O>()[tile]); }

  ReducedRows(Queue& queue, const std::shared_ptr<const Memory>& memory, const HostPatternRef<I, O>& A,
              const HostPatternRef<I, O>& B, int64_t most_rows) {
    const std::vector<uint8_t> heads_b = tile_heads(queue, B, most_deep);
    {
      const std::vector<uint8_t> heads = tile_heads(queue, A, most_rows);
      for (int64_t i = 0; i < A.rows; ++i)
        if (heads[static_cast<size_t>(i)] != 0) firsts.push_back(i);
      firsts.push_back(A.rows);
    }
    offsets = host_array<O>(memory, tiles() + 1);
    O* const at = offsets.template as<O>();
    const auto each = [&](int64_t tile, const auto& take) {
      const int64_t first = A.begin(firsts[static_cast<size_t>(tile)]), end = A.end(firsts[static_cast<size_t>(tile)]);
      for (int64_t p = first; p < end; ++p)
        if (p == first || heads_b[static_cast<size_t>(A.column(p))] != 0 || A.indices[p] != A.indices[p - 1] + 1)
          take(A.column(p), p - first);
    };
    const int64_t parts = (tiles() + rows_of_part - 1) / rows_of_part;
    const auto tiles_of = [&](int64_t part, const auto& f) {
      for (int64_t t = part * rows_of_part; t < std::min(tiles(), (part + 1) * rows_of_part); ++t) f(t);
    };
    deal(queue, parts, [&](int64_t, int64_t part) {
      tiles_of(part, [&](int64_t t) {
        O count = 0;
        each(t, [&](int64_t, int64_t) { ++count; });
        at[t + 1] = count;
      });
    });
    at[0] = 0;
    for (int64_t t = 0; t < tiles(); ++t) at[t + 1] += at[t];
    columns = host_array<I>(memory, begin(tiles()));
    entries = host_array<int32_t>(memory, begin(tiles()));
    deal(queue, parts, [&](int64_t, int64_t part) {
      tiles_of(part, [&](int64_t t) {
        int64_t to = begin(t);
        each(t, [&](int64_t column, int64_t k) {
          columns.template as<I>()[to] = static_cast<I>(column);
          entries.template as<int32_t>()[to++] = static_cast<int32_t>(k);
        });
      });
    });
  }

  size_t bytes() const { return firsts.size() * sizeof(int64_t) + offsets.bytes() + columns.bytes() + entries.bytes(); }
};

}  // namespace kkc::spgemm
