// Sets of columns of one row on a host thread: a bitmap that gives them in order, and a hash of their places.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "device/hash_accumulator.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace kkc::spgemm {

/// Columns 0..cols-1 as bits, with two coarser levels that say which words have any: sorted without sorting, emptied in
/// time proportional to what it holds.
class ColumnSet {
 public:
  explicit ColumnSet(int64_t cols) {
    size_t words = static_cast<size_t>(cols);
    for (auto& level : levels_) {
      words = words / 64 + 1;
      level.assign(words, 0);
    }
  }

  /// Which words a set of many columns looks at: those that its levels name, those of all groups, or all.
  enum class Visits { levels, groups, words };
  /// Before the first of so many columns, not all different: insert<the result>() is then for them.
  Visits expect(int64_t columns) {
    const auto many = static_cast<size_t>(columns);
    visits_ = many >= levels_[0].size() / 4 ? Visits::words
              : many >= levels_[1].size()   ? Visits::groups
                                            : Visits::levels;
    return visits_;
  }
  template <Visits visits>
  void insert(int64_t column) {
    const auto c = static_cast<size_t>(column);
    if constexpr (visits == Visits::levels) {
      insert(column);
    } else {  // without a branch
      levels_[0][c >> 6] |= uint64_t{1} << (c & 63);
      if (visits == Visits::groups) levels_[1][c >> 12] |= uint64_t{1} << (c >> 6 & 63);
    }
  }

  void insert(int64_t column) {
    const auto c = static_cast<size_t>(column);
    insert_word(c >> 6, uint64_t{1} << (c & 63));
  }
  /// Columns 64 index + the bits of `bits`.
  void insert_word(size_t index, uint64_t bits) {
    uint64_t& word = levels_[0][index];
    if (word == 0) note(index);
    word |= bits;
  }
  template <Visits visits>
  void insert_word(size_t index, uint64_t bits) {
    if constexpr (visits == Visits::levels) {
      insert_word(index, bits);
    } else {
      levels_[0][index] |= bits;
      if (visits == Visits::groups) levels_[1][index >> 6] |= uint64_t{1} << (index & 63);
    }
  }
  /// All columns as bits, word_count() words. For Visits::words.
  void unite(const uint64_t* bits) {
    uint64_t* const words = levels_[0].data();
    for (size_t i = 0, n = levels_[0].size(); i < n; ++i) words[i] |= bits[i];
  }
  static size_t word_count(int64_t cols) { return static_cast<size_t>(cols) / 64 + 1; }

  /// f(column) in ascending order; empties the set.
  template <class F>
  void drain(const F& f) {
    words<true>([&](size_t index, uint64_t word) { each_bit(index, word, f); });
  }
  /// Whether words hold so many of its columns that drain_to() is faster than drain().
  bool is_full(int64_t columns) const {
    return visits_ == Visits::words && columns >= 4 * static_cast<int64_t>(levels_[0].size());
  }
  /// Writes the columns in ascending order and empties the set. `to` has room for so many more.
  static constexpr size_t more_room = 16;
  template <class I>
  void drain_to(I* to) {
    words<true>([&](size_t index, uint64_t word) { to = write_word(index, word, to); });
  }
  /// Writes columns 64 index + the bits of `word`, as drain_to(), and returns where they end.
  template <class I>
  static I* write_word(size_t index, uint64_t word, I* to) {
#if defined(__AVX512F__)
    if constexpr (sizeof(I) == 4) {
      const __m512i lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
      for (int part = 0; part < 4; ++part, word >>= 16) {
        const auto bits = static_cast<__mmask16>(word);
        const __m512i columns =
            _mm512_add_epi32(lanes, _mm512_set1_epi32(static_cast<int32_t>(index) * 64 + part * 16));
        _mm512_storeu_si512(to, _mm512_maskz_compress_epi32(bits, columns));
        to += std::popcount(static_cast<uint64_t>(bits));
      }
      return to;
    }
#endif
    each_bit(index, word, [&](int64_t column) { *to++ = static_cast<I>(column); });
    return to;
  }
  /// Empties the set and returns how many columns it held.
  int64_t clear() {
    int64_t count = 0;
    words<true>([&](size_t, uint64_t word) { count += std::popcount(word); });
    return count;
  }

  /// Whether the column is new. For callers that forget each column one by one: nothing else sees these.
  bool add(int64_t column) {
    const auto c = static_cast<size_t>(column);
    uint64_t& word = levels_[0][c >> 6];
    const uint64_t bit = uint64_t{1} << (c & 63);
    if ((word & bit) != 0) return false;
    word |= bit;
    return true;
  }
  void forget(int64_t column) { levels_[0][static_cast<size_t>(column) >> 6] = 0; }

  /// Empties the set, which holds those of the columns that are not negative.
  template <class I>
  void forget_all(const I* columns, int64_t count) {
    for (int64_t k = 0; k < count; ++k)
      if (columns[k] >= 0) forget(columns[k]);
    if (visits_ == Visits::groups) std::fill(levels_[1].begin(), levels_[1].end(), 0);
    if (visits_ != Visits::levels) return;
    for (int64_t k = 0; k < count; ++k) {
      if (columns[k] < 0) continue;
      levels_[1][static_cast<size_t>(columns[k]) >> 12] = 0;
      levels_[2][static_cast<size_t>(columns[k]) >> 18] = 0;
    }
    first_ = std::numeric_limits<size_t>::max();
    last_ = 0;
  }

  /// place() then gives each column's number in ascending order, until the set is emptied. Returns how many there are.
  int64_t rank() {
    if (ranks_.empty()) ranks_.resize(levels_[0].size());
    int64_t before = 0;
    words<false>([&](size_t index, uint64_t word) {
      ranks_[index] = static_cast<uint32_t>(before);
      before += std::popcount(word);
    });
    return before;
  }
  int64_t place(int64_t column) const {
    const auto c = static_cast<size_t>(column);
    return ranks_[c >> 6] + std::popcount(levels_[0][c >> 6] & ((uint64_t{1} << (c & 63)) - 1));
  }

 private:
  void note(size_t index) {
    uint64_t& group = levels_[1][index >> 6];
    if (group == 0) {
      levels_[2][index >> 12] |= uint64_t{1} << (index >> 6 & 63);
      first_ = std::min(first_, index >> 12);
      last_ = std::max(last_, index >> 12);
    }
    group |= uint64_t{1} << (index & 63);
  }

  template <class F>
  static void each_bit(size_t index, uint64_t word, const F& f) {
    for (; word != 0; word &= word - 1)
      f(static_cast<int64_t>(index * 64 + static_cast<size_t>(std::countr_zero(word))));
  }

  template <bool empties, class F>
  void words(const F& f) {
    const auto group = [&](size_t i1) {
      for (uint64_t w1 = levels_[1][i1]; w1 != 0; w1 &= w1 - 1) {
        const size_t i0 = i1 * 64 + static_cast<size_t>(std::countr_zero(w1));
        f(i0, levels_[0][i0]);
        if (empties) levels_[0][i0] = 0;
      }
      if (empties) levels_[1][i1] = 0;
    };
    if (visits_ == Visits::words) {
      for (size_t i0 = 0; i0 < levels_[0].size(); ++i0) {
        f(i0, levels_[0][i0]);
        if (empties) levels_[0][i0] = 0;
      }
      return;
    }
    if (visits_ == Visits::groups) {
      for (size_t i1 = 0; i1 < levels_[1].size(); ++i1) group(i1);
      return;
    }
    for (size_t i2 = first_; i2 <= last_ && i2 < levels_[2].size(); ++i2) {
      for (uint64_t w2 = levels_[2][i2]; w2 != 0; w2 &= w2 - 1)
        group(i2 * 64 + static_cast<size_t>(std::countr_zero(w2)));
      if (empties) levels_[2][i2] = 0;
    }
    if (!empties) return;
    first_ = std::numeric_limits<size_t>::max();
    last_ = 0;
  }

  std::vector<uint64_t> levels_[3];
  std::vector<uint32_t> ranks_;
  size_t first_ = std::numeric_limits<size_t>::max(), last_ = 0;
  Visits visits_ = Visits::levels;  // else the levels that are not asked are not kept
};

/// Column -> place in its row, in memory that the caller gives: linear probing in a table at most half full.
template <class I>
class PlaceTable {
 public:
  struct Entry {
    I column, place;
  };
  static size_t bytes_for(int64_t columns) { return static_cast<size_t>(hash_places(columns)) * sizeof(Entry); }
  /// The most columns that a table of so many bytes takes; 0 for too few bytes.
  static int64_t columns_in(size_t bytes) {
    const auto places = std::bit_floor(bytes / sizeof(Entry));
    return places < 8 ? 0 : static_cast<int64_t>(places / 2);
  }

  /// Columns first..first+count-1 of a row, at their places.
  PlaceTable(void* memory, const I* columns, int64_t first, int64_t count)
      : entries_(static_cast<Entry*>(memory)), mask_(static_cast<uint64_t>(hash_places(count)) - 1) {
    for (uint64_t i = 0; i <= mask_; ++i) entries_[i].column = -1;
    for (int64_t p = first; p < first + count; ++p) {
      uint64_t at = hash_of(columns[p]) & mask_;
      while (entries_[at].column >= 0) at = (at + 1) & mask_;
      entries_[at] = {columns[p], static_cast<I>(p)};
    }
  }

  /// The place, or -1.
  int64_t find(int64_t column) const {
    for (uint64_t at = hash_of(static_cast<I>(column)) & mask_;; at = (at + 1) & mask_) {
      if (entries_[at].column == column) return entries_[at].place;
      if (entries_[at].column < 0) return -1;
    }
  }

 private:
  Entry* entries_;
  uint64_t mask_;
};

}  // namespace kkc::spgemm
