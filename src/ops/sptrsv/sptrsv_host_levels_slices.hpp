// sptrsv, host_levels: rows by level (levels_host_row_levels.hpp), eight of a level at once: sliced ELLPACK (Monakov,
// Lokhmotov, Avetisyan, "Automatically tuning sparse matrix-vector multiplication for GPU architectures", HiPEAC 2010,
// section 3) of columns alone; values are gathered where the caller has them. A row's terms are added as in any other
// row, so that the bits do not depend on which rows are together.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/memory.hpp"
#include "ops/levels/levels_host_schedule.hpp"
#include "ops/sptrsv/sptrsv_host_group.hpp"
#include "ops/sptrsv/sptrsv_host_levels_runs.hpp"
#include "ops/sptrsv/sptrsv_host_short_rows.hpp"

#if defined(__AVX512VL__)
#include <immintrin.h>
#endif

namespace kkc::sptrsv::host_levels_parts {

/// Rows of one thread, of real numbers.
template <class S, class I, class O>
class LevelSlices {
 public:
  static constexpr int lanes = group_rows;

  struct Vectors {
    S alpha;
    const S* b;
    S* x;
    bool unit;
  };

  /// A thread's share of the schedule, which has an order. rows: HostTriangle's; own: listed by the plan.
  template <class Rows>
  void plan(const std::shared_ptr<const Memory>& memory, const levels::BlockSchedule& schedule, int64_t thread,
            const Rows& rows, bool ascending, bool own) {
    own_ = own;
    const levels::BlockSchedule::Share& share = schedule.shares[static_cast<size_t>(thread)];
    int64_t most = 0, steps = 0;
    for (const levels::Block& block : share.blocks)
      if (block.run != levels::several_levels) most += block.count + classes * (lanes - 1);
    const auto all = std::make_unique_for_overwrite<I[]>(static_cast<size_t>(most));
    begins_.reserve(share.blocks.size() + 1);
    begins_.push_back({0, 0});
    for (const levels::Block& block : share.blocks) {
      if (block.run != levels::several_levels) cut(schedule, block, all.get(), steps);
      begins_.push_back({std::ssize(slices_), steps});
    }
    const auto buffer = [&](int64_t count, size_t each) {
      return Buffer(memory, Space::host, static_cast<size_t>(count) * each);
    };
    const int64_t count = std::ssize(slices_) * lanes;
    rows_ = buffer(count, sizeof(I));
    firsts_ = buffer(own ? 0 : count, sizeof(O));
    lasts_ = buffer(count, sizeof(O));
    columns_ = buffer(steps * lanes, sizeof(I));
    masks_ = buffer(masked ? steps : 0, 1);
    places_ = buffer(own ? steps * lanes : 0, sizeof(O));
    std::copy(all.get(), all.get() + count, rows_.template as<I>());
    if constexpr (masked)
      fill_masked(rows, ascending ? 1 : -1);
    else
      fill(rows, ascending ? 1 : -1);
  }

  /// A block of the share. solve_rows(rows, count): solves those for which vectors do not pay. first_zero: gets the
  /// first row whose diagonal is zero.
  template <bool ascending, bool own, class ByRow>
  void solve(int64_t block, const S* values, const Vectors& vectors, const ByRow& solve_rows,
             int64_t& first_zero) const {
    const Place begin = begins_[static_cast<size_t>(block)];
    At at = {slices_.data() + begin.slice,
             rows_.template as<I>() + begin.slice * lanes,
             (own ? lasts_ : firsts_).template as<O>() + begin.slice * lanes,
             lasts_.template as<O>() + begin.slice * lanes,
             columns_.template as<I>() + begin.step * lanes,
             masked ? masks_.template as<uint8_t>() + begin.step : nullptr,
             own ? places_.template as<O>() + begin.step * lanes : nullptr};
    const Slice* const end = slices_.data() + begins_[static_cast<size_t>(block) + 1].slice;
    for (; at.slice < end; ++at.slice, at.row += lanes, at.first += lanes, at.last += lanes)
      if (at.slice->fours == by_row)
        solve_rows(at.row, at.slice->rows);
      else if constexpr (masked)
        solve_masked<ascending, own>(at, values, vectors, first_zero);
      else
        solve_all<ascending, own>(at, values, vectors, first_zero);
  }

  size_t bytes() const {
    return rows_.bytes() + firsts_.bytes() + lasts_.bytes() + columns_.bytes() + masks_.bytes() + places_.bytes() +
           slices_.size() * sizeof(Slice) + begins_.size() * sizeof(Place);
  }

 private:
  /// Lanes may be left out: slices have rows of several lengths, or less than eight. Else all eight have one length.
  static constexpr bool masked = has_short_rows<S, I>;
  static constexpr int64_t longest_in_vectors = 24, few_rows = 2, few_long_rows = 4;

  /// Of rows of one level, whose terms are added to four sums as long as there are `fours`, then up to `rest` to the
  /// first of them; each row's last one, if any row has one, comes after the sums were joined. Those of own rows are
  /// all added to one sum.
  struct Slice {
    int16_t rows, rest;
    int32_t fours;  // by_row: no vectors
    int32_t width() const { return rest < 0 ? 0 : fours + rest + 1; }
  };
  static constexpr int32_t by_row = -1;
  struct Place {
    int64_t slice, step;
  };

  /// Rows of up to longest_in_vectors entries are put in order of their lengths; the others are of one class.
  static constexpr int64_t classes = longest_in_vectors + 2;

  int64_t fours_of(int64_t length) const { return own_ ? 0 : taken_by_fours(length); }

  /// Slices of rows of a level that leave as many terms to four sums, at the end of `all`, in order of their lengths.
  void cut(const levels::BlockSchedule& schedule, const levels::Block& block, I* all, int64_t& steps) {
    const I* const rows = schedule.order.template as<I>() + block.first;
    const auto* const lengths = schedule.lengths.template as<levels::BlockSchedule::Length>();
    const auto class_of = [](int64_t length) {
      return static_cast<size_t>(std::min<int64_t>(length, longest_in_vectors + 1));
    };
    std::array<int64_t, classes> next{};
    const bool in_order = !schedule.length_starts.empty();
    if (in_order)
      levels::each_length(schedule.length_starts, block,
                          [&](int64_t length, int64_t count) { next[class_of(length)] += count; });
    else
      for (int64_t i = 0; i < block.count; ++i) ++next[class_of(lengths[rows[i]])];
    int64_t end = std::ssize(slices_) * lanes;
    for (int64_t shortest = 0; shortest < classes;) {
      // Those that share slices follow each other.
      const int64_t fours = fours_of(shortest), begin = end;
      int64_t behind = shortest;
      for (; behind < classes && (masked ? fours_of(behind) == fours : behind == shortest); ++behind)
        end += std::exchange(next[static_cast<size_t>(behind)], end);
      for (int64_t at = begin; at < end; at += lanes) {
        const int64_t in_slice = std::min<int64_t>(lanes, end - at);
        // The last row's.
        int64_t longest = behind - 1;
        while (longest > shortest && next[static_cast<size_t>(longest)] >= at + in_slice) --longest;
        Slice slice = {static_cast<int16_t>(in_slice), static_cast<int16_t>(longest - fours - 1),
                       static_cast<int32_t>(fours)};
        if (longest > longest_in_vectors || in_slice <= (!masked ? lanes - 1 : fours > 0 ? few_long_rows : few_rows))
          slice = {slice.rows, -1, by_row};
        slices_.push_back(slice);
        steps += slice.width();
      }
      end = std::ssize(slices_) * lanes;
      shortest = behind;
    }
    if (in_order) {
      levels::each_length(schedule.length_starts, block, [&, from = rows](int64_t length, int64_t count) mutable {
        std::copy_n(from, count, all + std::exchange(next[class_of(length)], next[class_of(length)] + count));
        from += count;
      });
    } else {
      for (int64_t i = 0; i < block.count; ++i) all[next[class_of(lengths[rows[i]])]++] = rows[i];
    }
    // What a slice lacks.
    for (int64_t i = begins_.back().slice; i < std::ssize(slices_); ++i) {
      I* const of = all + i * lanes;
      std::fill(of + slices_[static_cast<size_t>(i)].rows, of + lanes, *of);
    }
  }

  /// All but which rows: where their terms are, and these' columns.
  template <class Rows>
  void fill(const Rows& rows, int64_t way) {
    const I* row = rows_.template as<I>();
    O *first = firsts_.template as<O>(), *last = lasts_.template as<O>(), *place = places_.template as<O>();
    I* column = columns_.template as<I>();
    for (const Slice& slice : slices_) {
      std::array<int64_t, lanes> from;
      for (size_t j = 0; j < lanes; ++j) {
        const int64_t begin = rows.begin(row[j]), end = rows.end(row[j]);
        from[j] = way > 0 ? begin : end - 1;
        last[j] = static_cast<O>(own_ ? rows.diagonal(row[j]) : way > 0 ? end - 1 : begin);
        if (!own_) first[j] = static_cast<O>(from[j]);
      }
      for (int32_t k = 0; k < slice.width(); ++k, column += lanes) {
        for (size_t j = 0; j < lanes; ++j) column[j] = static_cast<I>(rows.column(from[j] + way * k));
        if (!own_) continue;
        for (size_t j = 0; j < lanes; ++j) place[j] = static_cast<O>(rows.place(from[j] + way * k));
        place += lanes;
      }
      row += lanes;
      if (!own_) first += lanes;
      last += lanes;
    }
  }
  template <class Rows>
  void fill_masked(const Rows& rows, int64_t way);

  /// A slice, and where what is its own lies; columns and masks are passed as they are used.
  struct At {
    const Slice* slice;
    const I* row;
    const O *first, *last;
    const I* column;
    const uint8_t* mask;
    const O* place;
  };
  template <bool ascending, bool own>
  void solve_masked(At& at, const S* values, const Vectors& vectors, int64_t& first_zero) const;

  template <bool ascending, bool own>
  void solve_all(At& at, const S* values, const Vectors& vectors, int64_t& first_zero) const {
    using L = Group<S>;
    constexpr int64_t way = ascending ? 1 : -1;
    const auto [alpha, b, x, unit] = vectors;
    L sum, other{}, third{}, fourth{}, inverse;
    sum.pick(b, at.row, 0);
    sum *= alpha;
    if (!unit) {
      Group<typename L::Word> zeros{};
      inverse.pick(values, at.last, own ? 0 : way);
      inverse.note_zeros(zeros);
      for (int j = 0; j < lanes; ++j)
        if (zeros[j] != 0) [[unlikely]]
          first_zero = std::min<int64_t>(first_zero, at.row[j]);
      inverse.invert();
    }
    const auto subtract = [&, x = x ](L & of, const O* places, int64_t term) __attribute__((always_inline)) {
      L value, known;
      value.pick(values, places, way * term);
      known.pick(x, at.column, 0);
      of.subtract_product(value, known);
      at.column += lanes;
    };
    int32_t k = 0;
    if constexpr (own) {
      for (; k < at.slice->width(); ++k, at.place += lanes) subtract(sum, at.place, 0);
    } else {
      for (; k < at.slice->fours; k += 4) {
        subtract(sum, at.first, k);
        subtract(other, at.first, k + 1);
        subtract(third, at.first, k + 2);
        subtract(fourth, at.first, k + 3);
      }
      for (; k < at.slice->fours + at.slice->rest; ++k) subtract(sum, at.first, k);
      sum += other;
      third += fourth;
      sum += third;
      if (at.slice->rest >= 0) subtract(sum, at.last, 0);
    }
    if (!unit) sum *= inverse;
    for (int j = 0; j < lanes; ++j) x[at.row[j]] = sum[j];
  }

  bool own_ = false;
  std::vector<Slice> slices_;
  std::vector<Place> begins_;  // of blocks, and behind the last
  /// lasts_: where rows' last terms are; of own rows, their diagonals. places_: of own rows' terms.
  Buffer rows_, firsts_, lasts_, columns_, masks_, places_;
};

#if defined(__AVX512VL__)
template <class S, class I, class O>
template <class Rows>
void LevelSlices<S, I, O>::fill_masked(const Rows& rows, int64_t way) {
  const int32_t* row = rows_.template as<int32_t>();
  O *first = firsts_.template as<O>(), *lasts = lasts_.template as<O>(), *place = places_.template as<O>();
  int32_t* column = columns_.template as<int32_t>();
  uint8_t* mask = masks_.template as<uint8_t>();
  const __m256i base = _mm256_set1_epi32(static_cast<int32_t>(rows.base())), none = _mm256_setzero_si256();
  // Of the offsets of eight rows.
  const auto positions = [none](const O* from, __m256i of, O less) {
    if constexpr (sizeof(O) == 8)
      return _mm512_sub_epi64(_mm512_mask_i32gather_epi64(_mm512_setzero_si512(), 0xff, of, from, 8),
                              _mm512_set1_epi64(less));
    else
      return _mm512_maskz_cvtepi32_epi64(
          0xff, _mm256_sub_epi32(_mm256_mmask_i32gather_epi32(none, 0xff, of, from, 4), _mm256_set1_epi32(less)));
  };
  const auto keep = [](__m512i places, O* to) {
    if constexpr (sizeof(O) == 8)
      _mm512_storeu_si512(to, places);
    else
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), _mm512_maskz_cvtepi64_epi32(0xff, places));
  };
  for (const Slice& slice : slices_) {
    const __m256i of = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(row));
    const __m512i begin = positions(rows.begins(), of, rows.begin_base()),
                  end = positions(rows.ends(), of, rows.end_base()), one = _mm512_set1_epi64(1),
                  last = _mm512_sub_epi64(end, one), from = way > 0 ? begin : last, behind = way > 0 ? last : begin,
                  length = _mm512_maskz_sub_epi64(static_cast<__mmask8>((1u << slice.rows) - 1), end, begin);
    if (own_) {
      for (int j = 0; j < lanes; ++j) lasts[j] = static_cast<O>(rows.diagonal(row[j]));
    } else {
      keep(from, first);
      keep(behind, lasts);
      first += lanes;
    }
    const auto put = [&](__m512i at, __mmask8 some) __attribute__((always_inline)) {
      const __m256i found = _mm512_mask_i64gather_epi32(none, some, at, rows.indices(), sizeof(int32_t));
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(column), _mm256_maskz_sub_epi32(some, found, base));
      *mask++ = some;
      column += lanes;
    };
    __m512i at = from;
    for (int32_t k = 0; own_ && k < slice.width(); ++k) {
      const __mmask8 some = _mm512_cmpgt_epi64_mask(length, _mm512_set1_epi64(k));
      put(at, some);
      if constexpr (sizeof(O) == 8)
        _mm512_storeu_si512(place,
                            _mm512_mask_i64gather_epi64(_mm512_setzero_si512(), some, at, rows.positions(), sizeof(O)));
      else
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(place),
                            _mm512_mask_i64gather_epi32(none, some, at, rows.positions(), sizeof(O)));
      place += lanes;
      at = _mm512_add_epi64(at, _mm512_set1_epi64(way));
    }
    for (int32_t k = 1; !own_ && k < slice.width(); ++k) {
      put(at, _mm512_cmpgt_epi64_mask(length, _mm512_set1_epi64(k)));
      at = _mm512_add_epi64(at, _mm512_set1_epi64(way));
    }
    if (!own_ && slice.width() > 0) put(behind, _mm512_cmpgt_epi64_mask(length, _mm512_setzero_si512()));
    row += lanes;
    lasts += lanes;
  }
}

template <class S, class I, class O>
template <bool ascending, bool own>
[[gnu::always_inline]] inline void LevelSlices<S, I, O>::solve_masked(At& place, const S* values,
                                                                      const Vectors& vectors,
                                                                      int64_t& first_zero) const {
  constexpr int64_t way = ascending ? 1 : -1;
  const auto [alpha, b, x, unit] = vectors;
  const Slice& slice = *place.slice;
  const __m512d zero = _mm512_setzero_pd();
  const auto positions = [](const O* from) {
    if constexpr (sizeof(O) == 8)
      return _mm512_loadu_si512(from);
    else
      return _mm512_maskz_cvtepi32_epi64(0xff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from)));
  };
  const __m512i one = _mm512_set1_epi64(way);
  const auto inside = static_cast<__mmask8>((1u << slice.rows) - 1);
  const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(place.row));
  const __m512i last = positions(place.last);
  __m512i from = own ? last : positions(place.first);
  __m512d inverse = zero;
  if (!unit) {
    const __m512d diagonal =
        _mm512_mask_i64gather_pd(_mm512_set1_pd(1), inside, own ? last : _mm512_add_epi64(last, one), values, 8);
    if (const __mmask8 zeros = _mm512_cmp_pd_mask(diagonal, zero, _CMP_EQ_OQ); zeros != 0) [[unlikely]]
      for (int j = 0; j < lanes; ++j)
        if ((zeros >> j & 1) != 0) first_zero = std::min<int64_t>(first_zero, place.row[j]);
    inverse = _mm512_div_pd(_mm512_set1_pd(1), diagonal);
  }
  const int32_t* column = place.column;
  const uint8_t* mask = place.mask;
  const auto product = [&, x = x ](__m512i entries) __attribute__((always_inline)) {
    const __mmask8 some = *mask++;
    const __m512d value = _mm512_mask_i64gather_pd(zero, some, entries, values, 8);
    const __m256i of = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(column));
    const __m512d known = _mm512_mask_i32gather_pd(zero, some, of, x, 8);
    column += lanes;
    return _mm512_mul_pd(value, known);
  };
  __m512d sum = _mm512_mul_pd(_mm512_set1_pd(alpha), _mm512_mask_i32gather_pd(zero, inside, at, b, 8));
  __m512d other = zero, third = zero, fourth = zero;
  const auto subtract = [&](__m512d & of) __attribute__((always_inline)) {
    of = _mm512_sub_pd(of, product(from));
    from = _mm512_add_epi64(from, one);
  };
  if constexpr (own) {
    for (int32_t k = 0; k < slice.width(); ++k, place.place += lanes)
      sum = _mm512_sub_pd(sum, product(positions(place.place)));
  } else {
    for (int32_t k = 0; k < slice.fours; k += 4) {
      subtract(sum);
      subtract(other);
      subtract(third);
      subtract(fourth);
    }
    for (int32_t k = 0; k < slice.rest; ++k) subtract(sum);
    sum = _mm512_add_pd(_mm512_add_pd(sum, other), _mm512_add_pd(third, fourth));
    if (slice.rest >= 0) sum = _mm512_sub_pd(sum, product(last));
  }
  _mm512_mask_i32scatter_pd(x, inside, at, unit ? sum : _mm512_mul_pd(sum, inverse), 8);
  place.column = column;
  place.mask = mask;
}
#endif

}  // namespace kkc::sptrsv::host_levels_parts
