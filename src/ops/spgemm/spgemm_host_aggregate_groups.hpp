// Eight consecutive rows of a product with aggregates (spgemm_host_aggregates.hpp) at once, a row a lane: on grids such
// rows have the same columns, shifted from row to row, so that entry k of all eight meets consecutive values of B.
// A's values are transposed in registers. Each value of C is the sum of the same products in the same order as in rows
// by themselves. Cf. SELL-C-sigma: Kreutzer, Hager, Wellein, Fehske, Bishop, SIAM J. Sci. Comput. 36(5), 2014.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <vector>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace kkc::spgemm {

inline constexpr int64_t group_rows = 8;
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
  uint16_t places, diagonals;                   // columns of the longest row of C; steps of the diagonal
  int32_t n, after;                             // entries of a row of A; the group that was met after it
  size_t distances_at, places_at, steps_at;

  int64_t entries() const { return starts[group_rows]; }
  /// Entries of A that are read from the first row's first on.
  int64_t read() const { return (group_rows - 1) * n + (n + group_rows - 1) / group_rows * group_rows; }
};

/// Kinds of groups that a thread met. `unit`: rows have a mark of their own before those of their entries.
template <class I, bool unit>
class RowGroups {
  static constexpr size_t slots = 4096, most = slots / 2, most_bytes = size_t{512} << 10;

 public:
  using Kinds = std::array<uint16_t, group_rows>;

  /// The group's number or -1; `last`: the group before it. row_of(kind) is a GroupedRow.
  template <class RowOf>
  int32_t find(const Kinds& kinds, int32_t last, const RowOf& row_of) {
    if (last >= 0)
      if (const int32_t next = groups[static_cast<size_t>(last)].after; next >= 0 && same(next, kinds)) return next;
    if (table_.empty()) table_.assign(slots, 0);
    uint64_t hash = 0;
    for (const uint16_t kind : kinds) hash = (hash ^ kind) * 0x9e3779b97f4a7c15u;
    size_t slot = (hash ^ hash >> 32) % slots;
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
  void finish() { table_ = {}; }
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
    std::array<GroupedRow<I>, group_rows> rows;
    for (size_t r = 0; r < rows.size(); ++r) rows[r] = row_of(kinds[r]);
    const int64_t n = rows[0].n;
    RowGroup group{};
    group.kinds = kinds;
    group.n = static_cast<int32_t>(n);
    group.after = -1;
    // Columns of entry 0 in all rows, seen from the first row; the other entries must lie in the same way.
    std::array<int64_t, group_rows> column;
    const auto from_first = [&](size_t r, int64_t k) {
      return int64_t{rows[r].distances[k]} + static_cast<int64_t>(r);
    };
    for (size_t r = 0; r < rows.size(); ++r) column[r] = from_first(r, 0) - from_first(0, 0);
    const auto [low, high] = std::minmax_element(column.begin(), column.end());
    if (*high - *low >= 2 * group_rows) return false;
    for (size_t r = 1; r < rows.size(); ++r)
      for (int64_t k = 0; k < n; ++k)
        if (from_first(r, k) - from_first(0, k) != column[r]) return false;
    group.reach = static_cast<uint8_t>(*high - *low);
    group.consecutive = true;
    for (size_t r = 0; r < rows.size(); ++r) {
      group.spread[r] = static_cast<uint8_t>(column[r] - *low);
      group.consecutive &= group.spread[r] == r;
      group.starts[r + 1] = static_cast<uint16_t>(group.starts[r] + rows[r].columns);
      group.places = std::max(group.places, static_cast<uint16_t>(rows[r].columns));
    }
    group.distances_at = distances.size();
    for (int64_t k = 0; k < n; ++k) distances.push_back(static_cast<I>(rows[0].distances[k] + *low));
    group.steps_at = steps.size();
    const auto list = [&](const auto& takes) {
      const size_t before = steps.size();
      for (int64_t k = 0; k < n; ++k) {
        unsigned lanes = 0;
        for (size_t r = 0; r < rows.size(); ++r)
          if (takes(rows[r], k)) lanes |= 1u << r;
        if (lanes != 0) steps.push_back({static_cast<uint8_t>(k), static_cast<uint8_t>(lanes)});
      }
      return steps.size() - before;
    };
    group.places_at = places.size();
    for (size_t place = 0; place < group.places; ++place) {
      RowGroup::Place found{};
      found.steps =
          static_cast<uint16_t>(list([&](const auto& row, int64_t k) { return row.place(k + unit) == place; }));
      for (size_t r = 0; unit && r < rows.size(); ++r)
        if (rows[r].place(0) == place) found.own |= static_cast<uint8_t>(1u << r);
      places.push_back(found);
    }
    group.diagonals = static_cast<uint16_t>(list([](const auto& row, int64_t k) { return row.distances[k] == 0; }));
    groups.push_back(group);
    return true;
  }

  std::vector<uint16_t> table_;  // 1 + the group
};

#if defined(__AVX512F__)
/// Rows and columns change places: eight doubles from each of eight rows that lie `stride` apart.
inline void transpose_lanes(const double* from, int64_t stride, __m512d (&column)[8]) {
  __m512d pair[8], quad[8];
  for (int r = 0; r < 8; r += 2) {
    const __m512d even = _mm512_loadu_pd(from + r * stride), odd = _mm512_loadu_pd(from + (r + 1) * stride);
    pair[r] = _mm512_maskz_unpacklo_pd(0xff, even, odd);      // columns 0, 2, 4, 6 of both
    pair[r + 1] = _mm512_maskz_unpackhi_pd(0xff, even, odd);  // columns 1, 3, 5, 7
  }
  for (int r = 0; r < 8; r += 4)
    for (int side = 0; side < 2; ++side) {
      quad[r + side] = _mm512_maskz_shuffle_f64x2(0xff, pair[r + side], pair[r + 2 + side], 0x88);      // 0, 4 or 1, 5
      quad[r + 2 + side] = _mm512_maskz_shuffle_f64x2(0xff, pair[r + side], pair[r + 2 + side], 0xdd);  // 2, 6 or 3, 7
    }
  for (int k = 0; k < 4; ++k) {
    column[k] = _mm512_maskz_shuffle_f64x2(0xff, quad[k], quad[4 + k], 0x88);
    column[k + 4] = _mm512_maskz_shuffle_f64x2(0xff, quad[k], quad[4 + k], 0xdd);
  }
}

/// A's values, which are read in eight rows at once, are fetched so far ahead to the second cache.
inline constexpr int64_t prefetched_bytes = 8192;

/// The eight rows of C of a group: rows of A begin at `a` (of which RowGroup::read() values are read), b is B's value
/// of the first row's own number. finish(sums, own) turns sums of alpha A B into C's. c has room for eight values
/// more.
template <class I, bool unit, class Finish>
void make_group(const RowGroups<I, unit>& all, const RowGroup& group, double alpha, const double* a, const double* b,
                double* c, const Finish& finish) {
  alignas(64) double products[256][8], sums_of[most_grouped_columns][8];
  const I* const distances = all.distances.data() + group.distances_at;
  const int64_t n = group.n;
  const __m512i spread =
      _mm512_maskz_cvtepu8_epi64(0xff, _mm_loadl_epi64(reinterpret_cast<const __m128i*>(group.spread.data())));
  const unsigned reached = (2u << group.reach) - 1;
  for (int64_t first = 0; first < n; first += 8) {
    for (int line = 0; line < 8; ++line)
      _mm_prefetch(reinterpret_cast<const char*>(a + 8 * first) + prefetched_bytes + 64 * line, _MM_HINT_T1);
    __m512d values[8];
    transpose_lanes(a + first, n, values);
    for (__m512d& value : values) value = _mm512_mul_pd(_mm512_set1_pd(alpha), value);
    const int64_t here = std::min<int64_t>(8, n - first);
    // The products of entries that are no more are not used.
    if (group.consecutive) {
      for (int64_t k = 0; k < 8; ++k)
        if (k < here)
          _mm512_store_pd(products[first + k], _mm512_mul_pd(values[k], _mm512_loadu_pd(b + distances[first + k])));
    } else {
      for (int64_t k = 0; k < 8; ++k) {
        if (k >= here) continue;
        const double* const from = b + distances[first + k];
        const __m512d low = _mm512_maskz_loadu_pd(static_cast<__mmask8>(reached), from),
                      high = _mm512_maskz_loadu_pd(static_cast<__mmask8>(reached >> 8), from + 8);
        _mm512_store_pd(products[first + k], _mm512_mul_pd(values[k], _mm512_permutex2var_pd(low, spread, high)));
      }
    }
  }
  const RowGroup::Place* const places = all.places.data() + group.places_at;
  const RowGroup::Step* step = all.steps.data() + group.steps_at;
  for (size_t place = 0; place < group.places; ++place) {
    __m512d sums = _mm512_setzero_pd();
    for (const RowGroup::Step* const end = step + places[place].steps; step < end; ++step)
      sums = _mm512_mask_add_pd(sums, static_cast<__mmask8>(step->lanes), sums, _mm512_load_pd(products[step->k]));
    _mm512_store_pd(sums_of[place], finish(sums, places[place].own));
  }
  // From the last columns to the first: what a row writes too much, less than eight values, is overwritten.
  for (int first = (group.places - 1) / 8 * 8; first >= 0; first -= 8) {
    __m512d values[8];
    for (int place = group.places; place < first + 8; ++place) _mm512_store_pd(sums_of[place], _mm512_setzero_pd());
    transpose_lanes(sums_of[first], 8, values);
    for (size_t r = 0; r < group_rows; ++r)
      if (group.starts[r] + first < group.starts[r + 1]) _mm512_storeu_pd(c + group.starts[r] + first, values[r]);
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
