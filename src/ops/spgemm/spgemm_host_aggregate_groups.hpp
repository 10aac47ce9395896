// Eight consecutive rows (or a few less, where lines of a grid end) of a product with aggregates
// (spgemm_host_aggregates.hpp) at once, a row a lane: on grids such rows have the same columns, shifted from row to
// row, so that entry k of all eight meets consecutive values of B. A's values are transposed in registers. Each value
// of C is the sum of the same products in the same order as in rows by themselves. Cf. SELL-C-sigma: Kreutzer, Hager,
// Wellein, Fehske, Bishop, SIAM J. Sci. Comput. 36(5), 2014.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "device/host_stream.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace kkc::spgemm {

inline constexpr int64_t group_rows = 8;
/// Groups of fewer than eight rows have so many at least, of so many entries each.
inline constexpr int64_t fewest_grouped_rows = 4, fewest_entries = 16;
/// In the kinds of a group: it has fewer rows.
inline constexpr uint16_t no_row = std::numeric_limits<uint16_t>::max();
/// A's columns are transposed so many at once; of the last ones some may be no more.
inline constexpr int64_t columns_at_once = 4;
/// Rows of C of so many columns.
inline constexpr int64_t most_grouped_columns = 64;

/// Whether this build has groups for such elements.
#if defined(__AVX512F__)
template <class E>
inline constexpr bool has_groups = std::is_same_v<E, double>;
#else
template <class E>
inline constexpr bool has_groups = false;
#endif

/// Whether rounded() does what it says: real elements.
#if defined(__SSE2__)
template <class E>
inline constexpr bool rounds_products = std::is_floating_point_v<E>;
#else
template <class E>
inline constexpr bool rounds_products = false;
#endif

/// A product, rounded: the compiler must not make one operation of it and the sum that it is added to, for a row has
/// the same bits in a group, in a batch and by itself.
template <class E>
E rounded(E product) {
#if defined(__SSE2__)
  if constexpr (rounds_products<E>) asm("" : "+x"(product));
#endif
  return product;
}

/// A row as groups see it: its columns relative to itself, and the places of their products in C's row.
template <class I>
struct GroupedRow {
  const I* distances;
  const std::byte* marks;
  bool masks;  // a byte with one bit for each entry, else two bytes
  int64_t n, columns;
  size_t place(int64_t k) const {
    if (masks) return static_cast<size_t>(std::countr_zero(static_cast<unsigned>(marks[k])));
    uint16_t place;
    std::memcpy(&place, marks + 2 * k, sizeof place);
    return place;
  }
};

/// A kind of eight rows. Lane r is row r.
struct RowGroup {
  /// Entry k of the rows of `lanes`.
  struct Step {
    uint8_t k, lanes;
  };

  /// A place of C's rows: how many steps, and the rows whose own column has it.
  struct Place {
    uint16_t steps;
    uint8_t own;
  };

  std::array<uint16_t, group_rows> kinds;       // of the rows
  std::array<uint16_t, group_rows + 1> starts;  // of rows in C, and their end
  std::array<uint8_t, group_rows> spread;       // a row's column, relative to the leftmost of its entry number
  bool consecutive;                             // spread is 0, 1, 2, ...
  uint8_t reach;                                // the largest of spread
  uint8_t rows;                                 // the lanes from here on are not used
  uint16_t places, diagonals;                   // columns of the longest row of C; steps of the diagonal
  int32_t n, after;                             // entries of a row of A; the group that was met after it
  size_t distances_at, places_at, steps_at;

  int64_t entries() const { return starts[group_rows]; }
  /// Entries of A that are read from the first row's first on.
  int64_t read() const { return (group_rows - 1) * n + (n + columns_at_once - 1) / columns_at_once * columns_at_once; }
};

/// Kinds of eight rows in turn.
using RowKinds = std::array<uint16_t, group_rows>;
inline size_t hash_of_kinds(const RowKinds& kinds) {
  uint64_t hash = 0;
  for (const uint16_t kind : kinds) hash = (hash ^ kind) * 0x9e3779b97f4a7c15u;
  return hash ^ hash >> 32;
}

/// Kinds of groups that a thread met. `unit`: rows have a mark of their own before those of their entries.
template <class I, bool unit>
class RowGroups {
  static constexpr size_t slots = 4096, most = slots / 2, most_bytes = size_t{512} << 10;

 public:
  using Kinds = RowKinds;

  /// The group's number or -1; `last`: the group before it. row_of(kind) is a GroupedRow.
  template <class RowOf>
  int32_t find(const Kinds& kinds, int32_t last, const RowOf& row_of) {
    if (last >= 0)
      if (const int32_t next = groups[static_cast<size_t>(last)].after; next >= 0 && same(next, kinds)) return next;
    if (table_.empty()) table_.assign(slots, 0);
    size_t slot = hash_of_kinds(kinds) % slots;
    while (table_[slot] != 0 && !same(table_[slot] - 1, kinds)) slot = (slot + 1) % slots;
    int32_t id = table_[slot] - 1;
    if (id < 0) {
      if (groups.size() == most || bytes() > most_bytes || !add(kinds, row_of)) return -1;
      id = static_cast<int32_t>(groups.size()) - 1;
      table_[slot] = static_cast<uint16_t>(id + 1);
    }
    if (last >= 0) groups[static_cast<size_t>(last)].after = id;
    return id;
  }
  void finish() {
    table_ = {};
    by_entries_ = {};
  }
  size_t bytes() const {
    return groups.size() * sizeof(RowGroup) + distances.size() * sizeof(I) + places.size() * sizeof(RowGroup::Place) +
           steps.size() * sizeof(RowGroup::Step);
  }

  std::vector<RowGroup> groups;
  std::vector<I> distances;
  std::vector<RowGroup::Place> places;
  std::vector<RowGroup::Step> steps;  // of each group: place after place, then of the diagonal

 private:
  bool same(int32_t id, const Kinds& kinds) const { return groups[static_cast<size_t>(id)].kinds == kinds; }

  template <class RowOf>
  bool add(const Kinds& kinds, const RowOf& row_of) {
    std::vector<GroupedRow<I>> rows;
    for (size_t r = 0; r < group_rows && kinds[r] != no_row; ++r) rows.push_back(row_of(kinds[r]));
    const int64_t n = rows[0].n;
    RowGroup group{};
    group.kinds = kinds;
    group.n = static_cast<int32_t>(n);
    group.after = -1;
    // Columns of entry 0 in all rows, seen from the first row; the other entries must lie in the same way.
    std::array<int64_t, group_rows> column{};
    const auto from_first = [&](size_t r, int64_t k) {
      return int64_t{rows[r].distances[k]} + static_cast<int64_t>(r);
    };
    for (size_t r = 0; r < rows.size(); ++r) column[r] = from_first(r, 0) - from_first(0, 0);
    const auto [low, high] =
        std::minmax_element(column.begin(), column.begin() + static_cast<std::ptrdiff_t>(rows.size()));
    if (*high - *low >= 2 * group_rows) return false;
    for (size_t r = 1; r < rows.size(); ++r)
      for (int64_t k = 0; k < n; ++k)
        if (from_first(r, k) - from_first(0, k) != column[r]) return false;
    group.reach = static_cast<uint8_t>(*high - *low);
    group.rows = static_cast<uint8_t>(rows.size());
    group.consecutive = group.rows == group_rows;
    for (size_t r = 0; r < group_rows; ++r) {
      group.starts[r + 1] = group.starts[r];
      if (r >= rows.size()) continue;
      group.spread[r] = static_cast<uint8_t>(column[r] - *low);
      group.consecutive &= group.spread[r] == r;
      group.starts[r + 1] = static_cast<uint16_t>(group.starts[r] + rows[r].columns);
      group.places = std::max(group.places, static_cast<uint16_t>(rows[r].columns));
    }
    group.distances_at = distances.size();
    for (int64_t k = 0; k < n; ++k) distances.push_back(static_cast<I>(rows[0].distances[k] + *low));
    // Products of entries that are no more are not used.
    while ((distances.size() - group.distances_at) % columns_at_once != 0) distances.push_back(distances.back());
    group.steps_at = steps.size();
    group.places_at = places.size();
    list_steps(rows, n, group.places);
    for (size_t r = 0; unit && r < rows.size(); ++r)
      if (const size_t own = rows[r].place(0); own < group.places)
        places[group.places_at + own].own |= static_cast<uint8_t>(1u << r);
    for (int64_t k = 0; k < n; ++k) {
      unsigned lanes = 0;
      for (size_t r = 0; r < rows.size(); ++r)
        if (rows[r].distances[k] == 0) lanes |= 1u << r;
      if (lanes == 0) continue;
      steps.push_back({static_cast<uint8_t>(k), static_cast<uint8_t>(lanes)});
      ++group.diagonals;
    }
    groups.push_back(group);
    return true;
  }

  /// Appends the group's places, and their steps, each place's in the order of entries.
  void list_steps(const std::vector<GroupedRow<I>>& rows, int64_t n, size_t count) {
    const size_t first_place = places.size(), first_step = steps.size();
    places.resize(first_place + count);
    by_entries_.clear();
    for (int64_t k = 0; k < n; ++k)
      for (size_t r = 0, of_entry = by_entries_.size(); r < rows.size(); ++r) {
        const size_t place = rows[r].place(k + unit);
        if (place >= count) continue;  // without a product
        size_t at = of_entry;
        while (at < by_entries_.size() && by_entries_[at].first != place) ++at;
        if (at == by_entries_.size()) {
          by_entries_.push_back({place, {static_cast<uint8_t>(k), 0}});
          ++places[first_place + place].steps;
        }
        by_entries_[at].second.lanes |= static_cast<uint8_t>(1u << r);
      }
    std::array<size_t, most_grouped_columns> next;
    for (size_t place = 0, before = first_step; place < count; before += places[first_place + place++].steps)
      next[place] = before;
    steps.resize(first_step + by_entries_.size());
    for (const auto& [place, step] : by_entries_) steps[next[place]++] = step;
  }

  std::vector<uint16_t> table_;  // 1 + the group
  std::vector<std::pair<size_t, RowGroup::Step>> by_entries_;
};

/// A's values, of which groups read eight rows at once, are fetched so far ahead to the second cache.
inline constexpr int64_t prefetched_bytes = 8192;

/// Fetches what lies so far ahead of `count` values.
[[gnu::always_inline]] inline void fetch_ahead(const double* a, int64_t count) {
  const char* const ahead = reinterpret_cast<const char*>(a) + prefetched_bytes;
  for (size_t at = 0; at < static_cast<size_t>(count) * sizeof(double); at += cache_line)
    __builtin_prefetch(ahead + at, 0, 2);
}

#if defined(__AVX512F__)
inline __mmask8 lanes_of(const RowGroup::Step& step) {
#if defined(__AVX512DQ__)
  __mmask8 lanes;  // not by way of another register, as compilers do
  asm("kmovb %1, %0" : "=k"(lanes) : "m"(step.lanes));
  return lanes;
#else
  return step.lanes;
#endif
}

/// Four doubles from each of eight rows that lie `stride` apart: rows and columns change places. Halves of vectors are
/// put together as they are loaded, which spares a third of the shuffles.
inline void transpose_lanes(const double* from, int64_t stride, __m512d (&column)[4]) {
  const auto halves = [&](int low) {
    const double* const at = from + low * stride;
    return _mm512_maskz_insertf64x4(0xff, _mm512_castpd256_pd512(_mm256_loadu_pd(at)), _mm256_loadu_pd(at + 2 * stride),
                                    1);
  };
  const __m512d rows_02 = halves(0), rows_13 = halves(1), rows_46 = halves(4), rows_57 = halves(5);
  const auto combine = [](__m512d low, __m512d high, __m512d& first, __m512d& third) {
    first = _mm512_maskz_shuffle_f64x2(0xff, low, high, 0x88);
    third = _mm512_maskz_shuffle_f64x2(0xff, low, high, 0xdd);
  };
  combine(_mm512_maskz_unpacklo_pd(0xff, rows_02, rows_13), _mm512_maskz_unpacklo_pd(0xff, rows_46, rows_57), column[0],
          column[2]);
  combine(_mm512_maskz_unpackhi_pd(0xff, rows_02, rows_13), _mm512_maskz_unpackhi_pd(0xff, rows_46, rows_57), column[1],
          column[3]);
}

/// The eight rows of C of a group: rows of A begin at `a` (of which RowGroup::read() values are read), b is B's value
/// of the first row's own number. finish(sums, own) turns sums of alpha A B into C's. c has room for eight values
/// more.
template <class I, bool unit, class Finish>
void make_group(const RowGroups<I, unit>& all, const RowGroup& group, double alpha, const double* a, const double* b,
                double* c, const Finish& finish) {
  alignas(64) double products[256][8], sums_of[most_grouped_columns][8];
  const I* const distances = all.distances.data() + group.distances_at;
  const __m512i spread =
      _mm512_maskz_cvtepu8_epi64(0xff, _mm_loadl_epi64(reinterpret_cast<const __m128i*>(group.spread.data())));
  const unsigned reached = (2u << group.reach) - 1;
  // load(from) brings values of B.
  const auto multiply = [&](const auto& load) {
    for (int64_t first = 0; first < group.n; first += columns_at_once) {
      fetch_ahead(a + group_rows * first, group_rows * columns_at_once);
      __m512d values[columns_at_once];
      transpose_lanes(a + first, group.n, values);
      for (int64_t k = 0; k < columns_at_once; ++k)
        _mm512_store_pd(products[first + k],
                        _mm512_mul_pd(_mm512_mul_pd(_mm512_set1_pd(alpha), values[k]), load(b + distances[first + k])));
    }
  };
  if (group.consecutive)
    multiply([](const double* from) { return _mm512_loadu_pd(from); });
  else if (group.reach < group_rows)
    multiply([=](const double* from) {
      return _mm512_maskz_permutexvar_pd(0xff, spread, _mm512_maskz_loadu_pd(static_cast<__mmask8>(reached), from));
    });
  else
    multiply([=](const double* from) {
      const __m512d high = _mm512_maskz_loadu_pd(static_cast<__mmask8>(reached >> 8), from + 8);
      return _mm512_permutex2var_pd(_mm512_loadu_pd(from), spread, high);
    });
  const RowGroup::Place* const places = all.places.data() + group.places_at;
  const RowGroup::Step* step = all.steps.data() + group.steps_at;
  for (size_t place = 0; place < group.places; ++place) {
    __m512d sums = _mm512_setzero_pd();
    for (const RowGroup::Step* const end = step + places[place].steps; step < end; ++step)
      sums = _mm512_mask_add_pd(sums, lanes_of(*step), sums, _mm512_load_pd(products[step->k]));
    _mm512_store_pd(sums_of[place], finish(sums, places[place].own));
  }
  // From the last columns to the first: what a row writes too much, less than eight values, is overwritten.
  for (int first = (group.places - 1) / 8 * 8; first >= 0; first -= 8) {
    for (int place = group.places; place < first + 8; ++place) _mm512_store_pd(sums_of[place], _mm512_setzero_pd());
    for (int row = 0; row < group_rows; row += 4) {
      __m512d values[4];
      transpose_lanes(sums_of[first] + row, 8, values);
      const uint16_t* const starts = group.starts.data() + row;
      for (int r = 0; r < 4; ++r)
        if (starts[r] + first < starts[r + 1]) _mm512_storeu_pd(c + starts[r] + first, values[r]);
    }
  }
}

/// The rows' diagonal entries, summed up.
template <class I, bool unit>
__m512d group_diagonal(const RowGroups<I, unit>& all, const RowGroup& group, const double* a) {
  const RowGroup::Step* step = all.steps.data() + group.steps_at;
  for (size_t place = 0; place < group.places; ++place) step += all.places[group.places_at + place].steps;
  const __m256i lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
  const __m256i row = _mm256_mullo_epi32(lanes, _mm256_set1_epi32(group.n));
  __m512d sums = _mm512_setzero_pd();
  for (const RowGroup::Step* const end = step + group.diagonals; step < end; ++step) {
    const auto mask = static_cast<__mmask8>(step->lanes);
    sums = _mm512_mask_add_pd(sums, mask, sums, _mm512_mask_i32gather_pd(sums, mask, row, a + step->k, 8));
  }
  return sums;
}
#endif

}  // namespace kkc::spgemm
