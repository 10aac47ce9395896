// levels: of each row of a triangle its level, by one thread, for rows of few entries. Sixteen rows at once where most
// do not need each other, by gathers; what they need of each other comes after that, row by row.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "ops/levels/levels_host_schedule.hpp"

#if defined(__AVX512VL__)
#include <immintrin.h>
#endif

namespace kkc::levels {

/// Keys tell rows by level, and those of a level by length.
template <class I, class Rows>
class LevelSearch {
 public:
  using Length = BlockSchedule::Length;

  /// key and length: for `n` rows; see find().
  LevelSearch(const Rows& rows, int64_t n, bool ascending, I* key, Length* length)
      : rows_(rows), n_(n), ascending_(ascending), key_(key), length_(length) {}

  static constexpr int64_t rows_at_once = 1024;  // before levels are counted
  /// Of so many keys are no larger than an I, until they are counted.
  static constexpr int64_t most_levels = (std::numeric_limits<I>::max() >> length_bits) - rows_at_once;

  /// Fills in keys, of each row its level times lengths_of_level and its entries, and lengths. chained: most rows need
  /// their neighbour. longest: becomes for each level the longest of its rows that are long, else 0. False: there are
  /// more than `most` levels, which are at most most_levels.
  bool find(int64_t most, bool chained, std::vector<int64_t>& longest) {
    there_ = rows_.end(n_ - 1) > 0;
    if (there_) key_[rows_.column(0)] = I{0};  // which rows without entries look at
    for (int64_t done = 0; done < n_;) {
      const int64_t count = std::min(n_ - done, rows_at_once);
      look(done, count, chained);
      done += count;
      if (highest() >= most) return false;
    }
    longest.assign(static_cast<size_t>(highest()) + 1, 0);
    for (const int64_t row : long_rows_) {
      int64_t& of = longest[static_cast<size_t>(key_[row] >> length_bits)];
      of = std::max(of, rows_.end(row) - rows_.begin(row));
    }
    return true;
  }

 private:
  static constexpr int64_t long_row = 32;

  /// Level.
  int64_t highest() {
#if defined(__AVX512VL__)
    if constexpr (sizeof(I) == 4) {
      alignas(64) I some[lanes];
      _mm512_store_si512(some, high_lanes_);
      high_ = std::max(high_, *std::max_element(some, some + lanes));
    }
#endif
    return high_ >> length_bits;
  }

  /// The next `count` rows.
  void look(int64_t done, int64_t count, [[maybe_unused]] bool chained) {
    int64_t step = done;
    const int64_t end = done + count;
#if defined(__AVX512VL__)
    if constexpr (sizeof(I) == 4)
      for (; there_ && !chained && step + lanes <= end; step += lanes) {
        if (pause_ == 0) {
          const int again = look_at_lanes(ascending_ ? step : n_ - step - lanes);
          next_pause_ = again <= most_again ? 0 : std::min(2 * next_pause_ + 4, longest_pause);
          pause_ = next_pause_;
        } else {
          for (int64_t k = 0; k < lanes; ++k) look_at(ascending_ ? step + k : n_ - 1 - step - k);
          --pause_;
        }
      }
#endif
    for (; step < end; ++step) look_at(ascending_ ? step : n_ - 1 - step);
  }

  void look_at(int64_t row) {
    constexpr int64_t at_once = 4;
    const int64_t begin = rows_.begin(row), end = rows_.end(row), of_row = end - begin;
    const I* const known = key_;
    I before{0};  // of what is needed the highest, with an entry's lengths
    int64_t p = begin;
    if (there_) {
      // No branch on few entries' number: of fewer the last one is looked at again, for none any one.
      const int64_t some = -static_cast<int64_t>(of_row > 0);
      for (int64_t k = 0; k < at_once; ++k)
        before = std::max(before, known[rows_.column(std::min(begin + k, end - 1) & some)]);
      p += at_once;
    }
    for (; p < end; ++p) before = std::max(before, known[rows_.column(p)]);
    note(row, before, of_row);
  }

  void note(int64_t row, I before, int64_t of_row) {
    const I level = of_row > 0 ? static_cast<I>((before >> length_bits) + 1) : I{0};
    key_[row] = static_cast<I>(level << length_bits | static_cast<I>(std::min(of_row, lengths_of_level - 1)));
    high_ = std::max(high_, key_[row]);
    length_[row] = static_cast<Length>(std::min(of_row, BlockSchedule::longest));
    if (of_row > long_row) [[unlikely]]
      long_rows_.push_back(row);
  }

#if defined(__AVX512VL__)
  static constexpr int64_t lanes = 16, few = 4;
  static constexpr int most_again = 5, longest_pause = 64;

  /// Of as many offsets what they are more than `less`.
  template <class O>
  static __m512i from(const O* offsets, int64_t less) {
    if constexpr (sizeof(O) == 4) {
      return _mm512_sub_epi32(_mm512_loadu_si512(offsets), _mm512_set1_epi32(static_cast<int32_t>(less)));
    } else {
      const auto half = [less](const O* of) {
        return _mm512_maskz_cvtepi64_epi32(0xff, _mm512_sub_epi64(_mm512_loadu_si512(of), _mm512_set1_epi64(less)));
      };
      return _mm512_maskz_inserti64x4(0xff, _mm512_maskz_inserti64x4(0xff, _mm512_setzero_si512(), half(offsets), 0),
                                      half(offsets + lanes / 2), 1);
    }
  }

  /// Rows first .. first + lanes - 1. Returns how many it had to look at one by one.
  int look_at_lanes(int64_t first) {
    const int64_t at = rows_.begin(first);
    const Rows read = rows_;  // no store makes it read its pointers again
    if (read.end(first + lanes - 1) - at > std::numeric_limits<int32_t>::max()) [[unlikely]] {
      for (int64_t k = 0; k < lanes; ++k) look_at(ascending_ ? first + k : first + lanes - 1 - k);
      return lanes;
    }
    const __m512i base = _mm512_set1_epi32(static_cast<int32_t>(read.base())), none = _mm512_setzero_si512(),
                  bound = _mm512_set1_epi32(static_cast<int32_t>(ascending_ ? first : first + lanes - 1)),
                  begin = from(read.begins() + first, at + read.begin_base()),
                  length = _mm512_sub_epi32(from(read.ends() + first, at + read.end_base()), begin);
    __m512i entry = begin, before = none;
    unsigned each_other = 0;  // those that need one of these rows
    __mmask16 left = _mm512_cmpgt_epi32_mask(length, none);
    const unsigned some = left;
    for (int32_t k = 0; std::popcount(static_cast<unsigned>(left)) >= few || (k < 2 && left != 0);) {
      const __m512i column =
          _mm512_sub_epi32(_mm512_mask_i32gather_epi32(none, left, entry, read.indices() + at, sizeof(I)), base);
      const __mmask16 inside = ascending_ ? _mm512_mask_cmpge_epi32_mask(left, column, bound)
                                          : _mm512_mask_cmple_epi32_mask(left, column, bound);
      each_other |= inside;
      const auto outside = static_cast<__mmask16>(left & ~inside);
      before = _mm512_mask_max_epi32(before, outside, before,
                                     _mm512_mask_i32gather_epi32(none, outside, column, key_, sizeof(I)));
      entry = _mm512_add_epi32(entry, _mm512_set1_epi32(1));
      left = _mm512_cmpgt_epi32_mask(length, _mm512_set1_epi32(++k));
    }
    const __m512i level = _mm512_maskz_add_epi32(static_cast<__mmask16>(some),
                                                 _mm512_maskz_srli_epi32(0xffff, before, length_bits),
                                                 _mm512_set1_epi32(1)),
                  keys =
                      _mm512_or_epi32(_mm512_maskz_slli_epi32(0xffff, level, length_bits),
                                      _mm512_maskz_min_epi32(0xffff, length, _mm512_set1_epi32(lengths_of_level - 1)));
    _mm512_storeu_si512(key_ + first, keys);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(length_ + first), _mm512_maskz_cvtusepi32_epi16(0xffff, length));
    unsigned again = each_other | left;
    const int count = std::popcount(again);
    const auto done = static_cast<__mmask16>(~again);
    high_lanes_ = _mm512_mask_max_epi32(high_lanes_, done, high_lanes_, keys);
    for (unsigned rest = _mm512_mask_cmpgt_epi32_mask(done, length, _mm512_set1_epi32(long_row)); rest != 0;
         rest &= rest - 1)
      long_rows_.push_back(first + std::countr_zero(rest));
    while (again != 0) {
      const int k = ascending_ ? std::countr_zero(again) : std::bit_width(again) - 1;
      look_at(first + k);
      again &= ~(1u << k);
    }
    return count;
  }
#endif

  const Rows rows_;
  const int64_t n_;
  const bool ascending_;
  I* const key_;
  Length* const length_;
  bool there_ = false;  // entries
  I high_{0};           // the highest key
#if defined(__AVX512VL__)
  __m512i high_lanes_ = _mm512_setzero_si512();
  int pause_ = 0, next_pause_ = 0;  // so many times lanes are not looked at at once
#endif
  std::vector<int64_t> long_rows_;
};

}  // namespace kkc::levels
