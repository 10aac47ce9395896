// Rows of a product with aggregates (spgemm_host_aggregates.hpp) that come again and again, shifted, as on grids.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "device/host_pattern_ref.hpp"
#include "ops/spgemm/spgemm_host_aggregate_groups.hpp"

namespace kkc::spgemm {

/// Rows of C of so few columns have masks, where there are vectors for them.
inline constexpr int64_t mask_columns = 8;
/// Columns are copied so many at a time.
inline constexpr int64_t copied_at_once = 8;

/// Kind of a row of which the plan keeps the marks, not the number among the known ones.
inline constexpr uint16_t listed_row = std::numeric_limits<uint16_t>::max();
/// Set in the kind of the first row of a group; the rest is the group's number.
inline constexpr uint16_t first_of_group = 0x8000;
/// In KnownRows::from: B's row has no entry.
template <class I>
inline constexpr I missing = std::numeric_limits<I>::min();

/// The column of B's entry in row j, or -1; `full`: every row has one.
template <bool full, class I, class O>
I aggregate_of(const HostPatternRef<I, O>& B, int64_t j) {
  if constexpr (full) return static_cast<I>(B.column(j));
  return static_cast<I>(B.begin(j) < B.end(j) ? B.column(B.begin(j)) : -1);
}
/// The same relative to `first`.
template <bool full, class I, class O>
I relative_aggregate(const HostPatternRef<I, O>& B, int64_t j, I first) {
  const I g = aggregate_of<full>(B, j);
  return full || g >= 0 ? static_cast<I>(g - first) : missing<I>;
}

/// Rows that a thread met, by the columns of A's entries relative to the row and by their aggregates relative to the
/// first one (the row's origin).
template <class I, class O, bool unit>
struct KnownRows {
  using Pattern = HostPatternRef<I, O>;
  using U = std::make_unsigned_t<I>;
  static constexpr size_t most = 2048, slots = 4 * most;
  static constexpr int64_t longest = 256;

  /// A row that is looked for.
  struct Wanted {
    std::vector<I> from, distances;
  };
  struct Row {
    size_t from_at, distances_at, columns_at, marks_at;
    int32_t n, columns, products;
    int32_t after;  // the row that was met after it: grids repeat themselves
    size_t runs_at = 0;
    int32_t runs = 0;  // 0: not noted
  };
  /// Entries of A from k on whose columns follow each other, up to eight: a bit each.
  struct Run {
    uint16_t k;
    uint8_t entries;
  };
  std::vector<Row> rows;
  std::vector<I> from, distances, columns;  // from: of I + A if `unit`; columns of C, relative to the origin
  std::vector<std::byte> marks;
  std::vector<Run> runs;
  std::vector<uint16_t> table;  // 1 + the row
  RowGroups<I, unit> groups;

  /// The row of a kind that is not listed_row.
  const Row& row_of(uint16_t kind) const {
    const RowGroup* const group = group_of(kind);
    return rows[group != nullptr ? group->kinds[0] : kind];
  }
  const RowGroup* group_of(uint16_t kind) const {
    return kind < first_of_group || kind == listed_row ? nullptr : &groups.groups[kind - first_of_group];
  }
  /// Notes groups among the rows of `kinds`.
  void group(uint16_t* kinds, int64_t count) {
    int32_t last = -1;
    for (int64_t i = 0; i < count;) {
      // Up to the first row with which there is no group.
      int64_t alike = 0;
      for (const int64_t most_alike = std::min(group_rows, count - i); alike < most_alike; ++alike) {
        if (kinds[i + alike] == listed_row) break;
        const Row& row = rows[kinds[i + alike]];
        if (row.columns > most_grouped_columns || row.n == unit || row.n != rows[kinds[i]].n) break;
      }
      int32_t id = -1;
      const bool grouped =
          alike == group_rows || (alike >= fewest_grouped_rows && rows[kinds[i]].n - unit >= fewest_entries);
      if (grouped) {
        typename RowGroups<I, unit>::Kinds wanted;
        wanted.fill(no_row);
        std::copy(kinds + i, kinds + i + alike, wanted.begin());
        id = groups.find(wanted, last, [this](uint16_t kind) {
          const Row& row = rows[kind];
          return GroupedRow<I>{distances.data() + row.distances_at, marks.data() + row.marks_at,
                               row.columns <= mask_columns, row.n - unit, row.columns};
        });
      }
      if (id >= 0) {
        kinds[i] = static_cast<uint16_t>(first_of_group + id);
        last = id;
      }
      // Rows that do not fit together may do so from the next one on.
      i += id >= 0 || !grouped ? std::max<int64_t>(alike, 1) : 1;
    }
  }

  /// The row, or the slot where it belongs.
  int32_t find(const Wanted& wanted, int64_t n, size_t& slot) {
    if (table.empty()) table.assign(slots, 0);
    uint64_t hash = static_cast<uint64_t>(n);
    const auto add = [&hash](I value) { hash = (hash ^ static_cast<U>(value)) * 0x9e3779b97f4a7c15u; };
    std::for_each(wanted.from.data(), wanted.from.data() + n, add);
    std::for_each(wanted.distances.data(), wanted.distances.data() + n - unit, add);
    for (slot = (hash ^ hash >> 32) % slots; table[slot] != 0; slot = (slot + 1) % slots) {
      const Row& row = rows[table[slot] - 1u];
      if (row.n == n && std::equal(wanted.from.data(), wanted.from.data() + n, from.data() + row.from_at) &&
          std::equal(wanted.distances.data(), wanted.distances.data() + n - unit, distances.data() + row.distances_at))
        return table[slot] - 1;
    }
    return -1;
  }
  /// Whether row i of A has the columns and aggregates of the known row.
  template <bool full>
  bool is(const Row& row, const Pattern& A, const Pattern& B, int64_t i, int64_t begin, I first) const {
    const I* const indices = A.indices + begin;
    const I* const distance = distances.data() + row.distances_at;
    const I* const expected = from.data() + row.from_at;
    const int64_t n = row.n - unit;
    const U shift = static_cast<U>(i + A.base);
#if defined(__AVX512VL__)
    if constexpr (full && sizeof(I) == 4) {
      if (unit && relative_aggregate<full>(B, i, first) != expected[0]) return false;
      const auto* const columns_of_B = B.indices + i;
      const __m256i shifts = _mm256_set1_epi32(static_cast<int>(shift)),
                    firsts = _mm256_set1_epi32(static_cast<int>(static_cast<U>(first) + static_cast<U>(B.base)));
      if (row.runs > 0) {
        unsigned others = 0;
        for (int64_t k = 0; k < n; k += 8) {
          const auto inside = static_cast<__mmask8>((1u << std::min<int64_t>(8, n - k)) - 1);
          const __m256i found = _mm256_sub_epi32(_mm256_maskz_loadu_epi32(inside, indices + k), shifts);
          others |= _mm256_mask_cmpneq_epi32_mask(inside, found, _mm256_maskz_loadu_epi32(inside, distance + k));
        }
        if (others != 0) return false;
        for (const Run *run = runs.data() + row.runs_at, *const end = run + row.runs; run < end; ++run) {
          const auto inside = static_cast<__mmask8>(run->entries);
          const __m256i g = _mm256_maskz_loadu_epi32(inside, columns_of_B + distance[run->k]),
                        there = _mm256_maskz_loadu_epi32(inside, expected + unit + run->k);
          others |= _mm256_mask_cmpneq_epi32_mask(inside, _mm256_sub_epi32(g, firsts), there);
        }
        return others == 0;
      }
      for (int64_t k = 0; k < n; k += 8) {
        const auto inside = static_cast<__mmask8>((1u << std::min<int64_t>(8, n - k)) - 1);
        const __m256i wanted = _mm256_maskz_loadu_epi32(inside, distance + k),
                      found = _mm256_sub_epi32(_mm256_maskz_loadu_epi32(inside, indices + k), shifts);
        if (_mm256_mask_cmpneq_epi32_mask(inside, found, wanted) != 0) return false;
        const __m256i g = _mm256_mmask_i32gather_epi32(firsts, inside, wanted, columns_of_B, 4);
        if (_mm256_mask_cmpneq_epi32_mask(inside, _mm256_sub_epi32(g, firsts),
                                          _mm256_maskz_loadu_epi32(inside, expected + unit + k)) != 0)
          return false;
      }
      return true;
    }
#endif
    U differ = 0;
    for (int64_t k = 0; k < n; ++k) differ |= (static_cast<U>(indices[k]) - shift) ^ static_cast<U>(distance[k]);
    if (differ != 0) return false;
    // Columns are those of the known row, and inside B.
    if (unit && relative_aggregate<full>(B, i, first) != expected[0]) return false;
    for (int64_t k = 0; k < n; ++k)
      differ |=
          static_cast<U>(relative_aggregate<full>(B, i + distance[k], first)) ^ static_cast<U>(expected[k + unit]);
    return differ == 0;
  }
  /// Notes a row's runs: where they are long, B's columns are loaded by runs, not gathered.
  void note_runs(Row& row) {
    const I* const distance = distances.data() + row.distances_at;
    const int64_t n = row.n - unit;
    row.runs_at = runs.size();
    for (int64_t k = 0, next; k < n; k = next) {
      next = k + 1;
      while (next < n && next < k + 8 && distance[next] == distance[next - 1] + 1) ++next;
      runs.push_back({static_cast<uint16_t>(k), static_cast<uint8_t>((1u << (next - k)) - 1)});
    }
    row.runs = static_cast<int32_t>(runs.size() - row.runs_at);
    if (4 * row.runs <= n) return;
    row.runs = 0;
    runs.resize(row.runs_at);
  }
  /// Only columns and marks are wanted from now on.
  void finish() {
    table = {};
    from = {};
    runs = {};
    groups.finish();
    columns.resize(columns.size() + copied_at_once);
  }
  size_t bytes() const {
    return rows.size() * sizeof(Row) + (columns.size() + distances.size()) * sizeof(I) + marks.size() + groups.bytes();
  }
};

}  // namespace kkc::spgemm
