// Elimination of a short row that lies in vector registers from its first entry to its last (AVX-512, real numbers):
// the entries of a needed row find their lanes by comparing their columns with all of the row's at once, without a
// branch, and wait in other registers until it is known by how much they are multiplied.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

#include "ilu_host_rows_kernels.hpp"

namespace kkc::ilu::host {

/// Eight columns in a register.
template <class I>
struct ColumnLanes;

#if defined(__AVX512F__) && defined(__AVX512VL__)
template <>
struct ColumnLanes<int32_t> {
  using V = __m256i;
  static V load(__mmask8 m, const int32_t* p) { return _mm256_mask_loadu_epi32(_mm256_set1_epi32(-1), m, p); }
  static __mmask8 equal(V v, int32_t column) { return _mm256_cmpeq_epi32_mask(v, _mm256_set1_epi32(column)); }
  static __mmask8 equal(__mmask8 m, V v, const int32_t* p) {
    return _mm256_mask_cmpeq_epi32_mask(m, v, _mm256_maskz_loadu_epi32(m, p));
  }
};
template <>
struct ColumnLanes<int64_t> {
  using V = __m512i;
  static V load(__mmask8 m, const int64_t* p) { return _mm512_mask_loadu_epi64(_mm512_set1_epi64(-1), m, p); }
  static __mmask8 equal(V v, int64_t column) { return _mm512_cmpeq_epi64_mask(v, _mm512_set1_epi64(column)); }
  static __mmask8 equal(__mmask8 m, V v, const int64_t* p) {
    return _mm512_mask_cmpeq_epi64_mask(m, v, _mm512_maskz_loadu_epi64(m, p));
  }
};
#endif

template <class E, class I, class O>
class HeldRows {
  using L = Lanes<E, program_lanes>;

 public:
  static constexpr int64_t most_registers = 4;
  /// Entries of the longest row that is held; 0 without such registers.
  static constexpr int64_t longest = L::registers ? most_registers * program_lanes : 0;

  explicit HeldRows(const FactorRow<E, Form::lu, I, O>& rows) : rows_(rows) {}

  /// Row i of at most `longest` entries; notes breakdowns.
  void eliminate(int64_t i, Breakdown& found) const {
    if constexpr (L::registers) {
      switch ((rows_.offsets[i + 1] - rows_.offsets[i] - 1) / program_lanes) {
        case 0: return in_registers<1>(i, found);
        case 1: return in_registers<2>(i, found);
        case 2: return in_registers<3>(i, found);
        default: return in_registers<4>(i, found);
      }
    }
  }

 private:
  template <int count>
  void in_registers(int64_t i, Breakdown& found) const {
    using C = ColumnLanes<I>;
    const O first = rows_.offsets[i];
    const auto entries = static_cast<int>(rows_.offsets[i + 1] - first),
               middle = static_cast<int>(rows_.diagonal[i] - first);
    const I* const columns = rows_.indices + first;
    E* const values = rows_.values + first;
    if (!rows_.in_order) rows_.gather(i);
    const E* const from = rows_.in_order ? rows_.A + first : values;
    typename L::V row[count];
    typename C::V keys[count];
    for (int v = 0; v < count; ++v) {
      const uint8_t mine = v + 1 < count ? uint8_t{0xff} : bits((1u << (entries - v * program_lanes)) - 1u);
      row[v] = L::load(mine, from + v * program_lanes);
      keys[v] = C::load(mine, columns + v * program_lanes);
      const int own = middle - v * program_lanes;
      if (own >= 0 && own < program_lanes)
        row[v] = L::plus(row[v], L::chosen(bits(1u << own), L::all(rows_.rule.shift), L::zero()));
    }
    // All that the row needs is asked for at once.
    for (int t = 0; t < middle; ++t) {
      const O at = rows_.diagonal[columns[t]];
      __builtin_prefetch(rows_.indices + at);
      __builtin_prefetch(rows_.values + at);
      __builtin_prefetch(rows_.values + at + program_lanes);
    }
    lose<0>(columns, middle, entries, row, keys);
    auto spoilt = L::zero();
    for (int v = 0; v < count; ++v) spoilt = L::plus(spoilt, L::minus(row[v], row[v]));
    // Lanes of columns that a needed row has not took part, and an inverse may lack digits.
    if (L::sum(spoilt) != 0) [[unlikely]]
      return rows_.by_search(i, found);
    for (int v = 0; v < count; ++v)
      L::store(v + 1 < count ? uint8_t{0xff} : bits((1u << (entries - v * program_lanes)) - 1u),
               values + v * program_lanes, row[v]);
    rows_.finish(i, values[middle], true, found);
  }

  /// What the row loses to the rows that register `from` and those behind it name.
  template <int from, int count, class Numbers, class Columns>
  void lose(const I* columns, int middle, int all, Numbers (&row)[count], const Columns (&keys)[count]) const {
    using C = ColumnLanes<I>;
    const int here = middle - from * program_lanes < program_lanes ? middle - from * program_lanes : program_lanes;
    for (int lane = 0; lane < here; ++lane) {
      const auto k = static_cast<int64_t>(columns[from * program_lanes + lane]);
      const E* const u = rows_.values + rows_.diagonal[k];
      const I* const other = rows_.indices + rows_.diagonal[k];
      const auto entries = static_cast<int64_t>(rows_.offsets[k + 1] - rows_.diagonal[k]);
      Numbers theirs[count];
      for (int v = from; v < count; ++v) theirs[v] = L::zero();
      const auto take = [&](int64_t q) {
        for (int v = from; v < count; ++v) theirs[v] = L::chosen(C::equal(keys[v], other[q]), L::all(u[q]), theirs[v]);
      };
      if (entries <= longest) {
        const int t = from * program_lanes + lane;
        uint32_t left = static_cast<uint32_t>((uint64_t{1} << entries) - 2);  // of the other's, without a lane so far
        // Where columns are the same from here on, but for one or two, entry q belongs in lane t + q, or next to it.
        const auto take_shifted = [&](int by) {
          const auto lanes = static_cast<uint32_t>(uint64_t{left} << by) & ~((2u << t) - 1u);
          uint32_t taken = 0;
          for (int v = from; v < count; ++v) {
            const int place = v * program_lanes - by;
            const auto same = C::equal(bits(lanes >> v * program_lanes), keys[v], other + place);
            theirs[v] = L::load(theirs[v], same, u + place);
            taken |= uint32_t{same} << v * program_lanes;
          }
          left &= ~static_cast<uint32_t>(taken >> by);
        };
        take_shifted(t);
        if (std::popcount(left) > few) take_shifted(t + 1);
        if (std::popcount(left) > few && t > 0) take_shifted(t - 1);
        for (; left != 0; left &= left - 1) take(std::countr_zero(left));
      } else if (entries <= longest_passed_over) [[likely]] {
        for (int64_t q = 1; q < entries; ++q) take(q);
      } else {
        int64_t q = 1;
        for (int t = from * program_lanes + lane + 1; t < all && q < entries; ++t) {
          q = std::lower_bound(other + q, other + entries, columns[t]) - other;
          if (q < entries && other[q] == columns[t]) take(q);
        }
      }
      // Not a division, which the next needed row would wait for.
      const auto l = L::times(L::lane(row[from], lane), L::all(inverse_of_pivot(u[0])));
      row[from] = L::chosen(bits(1u << lane), l, row[from]);
      for (int v = from; v < count; ++v) row[v] = L::minus_product(row[v], l, theirs[v]);
    }
    if constexpr (from + 1 < count)
      if (middle > (from + 1) * program_lanes) lose<from + 1>(columns, middle, all, row, keys);
  }

  static constexpr int few = 2;                                 // entries that are taken one by one
  static constexpr int64_t longest_passed_over = 16 * longest;  // longer ones are searched
  static constexpr uint8_t bits(unsigned mask) { return static_cast<uint8_t>(mask); }

  const FactorRow<E, Form::lu, I, O>& rows_;
};

}  // namespace kkc::ilu::host
