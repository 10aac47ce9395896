// Elimination without programs: a thread's map of columns says where needed rows' entries belong in its rows (Saad,
// "Iterative Methods for Sparse Linear Systems", algorithm 10.4). Up to four rows with the same columns lose to up to
// four that have theirs in common at once, so that each column is looked up once for up to 16 products.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ilu_host_held_rows.hpp"

namespace kkc::ilu::host {

inline constexpr int32_t lanes = 8;  // columns at once

/// Of up to `lanes` columns those that `place` knows: their places and which of the columns they are, from `at` and
/// `which` on, where `lanes` may be written. Without a branch, which nobody could foretell.
template <class I>
int32_t collect(const I* columns, int32_t count, int32_t first, const I* place, I* at, int32_t* which) {
  int32_t met = 0;
  for (int32_t e = 0; e < count; ++e) {
    const I known = place[columns[e]];
    at[met] = known;
    which[met] = first + e;
    met += known != 0;
  }
  return met;
}
#if defined(__AVX512F__) && defined(__AVX512VL__)
inline int32_t collect(const int32_t* columns, int32_t count, int32_t first, const int32_t* place, int32_t* at,
                       int32_t* which) {
  const auto mine = static_cast<__mmask8>((1u << count) - 1u);
  const __m256i these = _mm256_maskz_loadu_epi32(mine, columns);
  const __m256i known = _mm256_mmask_i32gather_epi32(_mm256_setzero_si256(), mine, these, place, 4);
  const __mmask8 met = _mm256_test_epi32_mask(known, known);
  const __m256i numbers = _mm256_add_epi32(_mm256_set1_epi32(first), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(at), _mm256_maskz_compress_epi32(met, known));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(which), _mm256_maskz_compress_epi32(met, numbers));
  return __builtin_popcount(met);
}
#endif

/// Calls f(t, q) for the entries q of `entries` columns that are also those of a row, its columns t from `from` on, if
/// they are so many more that they are better searched than passed over, and says whether they are.
template <class I, class F>
bool each_searched(const I* columns, int64_t entries, const I* row, int64_t from, int64_t count, F&& f) {
  constexpr int64_t longer = 16;
  if (entries / longer <= count - from) return false;
  int64_t q = 0;
  for (int64_t t = from; t < count && q < entries; ++t) {
    q = std::lower_bound(columns + q, columns + entries, row[t]) - columns;
    if (q < entries && columns[q] == row[t]) f(t, q++);
  }
  return true;
}

/// The same in any case; of the row's columns `place` knows t + 1, and 0 of all other columns. stretch(t, q): the same
/// for `lanes` of them that follow one another in both.
template <class I, class F, class G>
void each_shared(const I* columns, int64_t entries, const I* row, int64_t from, int64_t count, const I* place, F&& f,
                 G&& stretch) {
  if (each_searched(columns, entries, row, from, count, f)) return;
  constexpr int64_t chunk = 64;
  I at[chunk + lanes];
  int32_t which[chunk + lanes];
  for (int64_t begin = 0; begin < entries; begin += chunk) {
    const auto size = static_cast<int32_t>(std::min(chunk, entries - begin));
    int32_t met = 0;
    for (int32_t e = 0; e < size; e += lanes) {
      const I* const these = columns + begin + e;
      const int32_t here = std::min(lanes, size - e);
      if (here == lanes && these[lanes - 1] - these[0] == lanes - 1) {
        const I known = place[these[0]];
        if (known != 0 && place[these[lanes - 1]] - known == lanes - 1) {
          stretch(int64_t{known} - 1, begin + e);
          continue;
        }
      }
      met += collect(these, here, e, place, at + met, which + met);
    }
    for (int32_t m = 0; m < met; ++m) f(int64_t{at[m]} - 1, begin + which[m]);
  }
}

/// Row i of lu, which loses to the rows that it needs where it lies; short ones are held in registers.
template <class E, class I, class O, class Lose>
void eliminate_one(const FactorRow<E, Form::lu, I, O>& rows, int64_t i, Breakdown& found, Lose&& lose) {
  const O first = rows.offsets[i];
  const int64_t entries = rows.offsets[i + 1] - first;
  if (entries <= HeldRows<E, I, O>::longest) return HeldRows<E, I, O>(rows).eliminate(i, found);
  rows.gather(i);
  E& pivot = rows.values[rows.diagonal[i]];
  pivot = plus(pivot, from_real<E>(rows.rule.shift));
  lose(rows.values + first);
  rows.finish(i, pivot, all_finite(rows.values + first, entries), found);
}

/// Groups of rows of lu.
template <class E, class I, class O>
struct FactorByMap {
  FactorRow<E, Form::lu, I, O> rows;
  const uint8_t* left;  // JointRows::left

  /// Rows i to i + count - 1, which have the same columns. `numbers`: room for them where count > 1.
  void operator()(int64_t i, int64_t count, I* place, E* numbers, Breakdown& found) const {
    switch (count) {
      case 1: return one(i, place, found);
      case 2: return several<2>(i, place, numbers, found);
      case 3: return several<3>(i, place, numbers, found);
      default: return several<4>(i, place, numbers, found);
    }
  }

 private:
  /// The columns of row i while it is worked on.
  class Marked {
   public:
    Marked(const I* columns, int64_t count, I* place) : columns_(columns), count_(count), place_(place) {
      for (int64_t t = 0; t < count; ++t) place[columns[t]] = static_cast<I>(t + 1);
    }
    ~Marked() {
      for (int64_t t = 0; t < count_; ++t) place_[columns_[t]] = 0;
    }
    Marked(const Marked&) = delete;
    Marked& operator=(const Marked&) = delete;

   private:
    const I* columns_;
    int64_t count_;
    I* place_;
  };

  void one(int64_t i, I* place, Breakdown& found) const {
    eliminate_one(rows, i, found, [&](E* numbers) { lose_to_needed<1>(i, place, numbers); });
  }

  template <int count>
  void several(int64_t i, I* place, E* numbers, Breakdown& found) const {
    constexpr int width = count == 3 ? 4 : count;
    const O first = rows.offsets[i];
    const int64_t entries = rows.offsets[i + 1] - first, middle = rows.diagonal[i] - first;
    for (int r = 0; r < count; ++r)
      for (int64_t t = 0; t < entries; ++t)
        numbers[t * width + r] = rows.value_before(first + static_cast<O>(r * entries + t));
    for (int64_t t = 0; width > count && t < entries; ++t) numbers[t * width + count] = E{};
    for (int r = 0; r < count; ++r) {
      E& pivot = numbers[(middle + r) * width + r];
      pivot = plus(pivot, from_real<E>(rows.rule.shift));
    }
    lose_to_needed<width>(i, place, numbers);
    finish_several<count, width>(i, middle, entries, numbers, found);
    for (int r = 0; r < count; ++r)
      for (int64_t t = 0; t < entries; ++t)
        rows.values[first + static_cast<O>(r * entries + t)] = numbers[t * width + r];
  }

  /// What `width` rows lose to all rows before them; number t of each lies beside those of the others.
  template <int width>
  void lose_to_needed(int64_t i, I* place, E* numbers) const {
    const O first = rows.offsets[i];
    const I* const columns = rows.indices + first;
    const int64_t entries = rows.offsets[i + 1] - first, middle = rows.diagonal[i] - first;
    if (middle == 0) return;
    const Marked marked(columns, entries, place);
    for (int64_t t = 0; t < middle;) {
      const int64_t k = columns[t];
      if (t + rows.ahead < middle) rows.fetch(rows.diagonal[columns[t + rows.ahead]]);
      int64_t needed = 1;
      while (needed < left[k] && t + needed < middle && columns[t + needed] == k + needed) ++needed;
      const auto lose = [&]<int n>() { lose_to<width, n>(k, columns, t, entries, place, numbers); };
      switch (needed) {
        case 1: lose.template operator()<1>(); break;
        case 2: lose.template operator()<2>(); break;
        case 3: lose.template operator()<3>(); break;
        default: lose.template operator()<4>(); break;
      }
      t += needed;
    }
  }

  /// The same to rows k to k + needed - 1 of one group, whose columns are those from entry t on.
  template <int width, int needed>
  void lose_to(int64_t k, const I* columns, int64_t t, int64_t entries, const I* place, E* numbers) const {
    const E* u[needed];  // from the diagonal entry on
    E l[needed][width];
    for (int h = 0; h < needed; ++h) {
      u[h] = rows.values + rows.diagonal[k + h];
      for (int r = 0; r < width; ++r) l[h][r] = numbers[(t + h) * width + r];
    }
    for (int h = 0; h < needed; ++h) {
      for (int r = 0; r < width; ++r) numbers[(t + h) * width + r] = l[h][r] = quotient(l[h][r], u[h][0]);
      for (int g = h + 1; g < needed; ++g)
        for (int r = 0; r < width; ++r) l[g][r] = minus_product(l[g][r], l[h][r], u[h][g - h]);
    }
    for (int h = 0; h < needed; ++h) u[h] += needed - h;
    const O right = rows.diagonal[k] + needed;
    const auto lose_one = [&](int64_t at, int64_t q) {
      E* const to = numbers + at * width;
      E sum[width];
      for (int r = 0; r < width; ++r) sum[r] = to[r];
      for (int h = 0; h < needed; ++h)
        for (int r = 0; r < width; ++r) sum[r] = minus_product(sum[r], l[h][r], u[h][q]);
      for (int r = 0; r < width; ++r) to[r] = sum[r];
    };
    const auto lose_stretch = [&](int64_t at, int64_t q) {
      using L = Lanes<E, lanes>;
      if constexpr (L::registers && width == 1) {
        auto sum = L::load(uint8_t{0xff}, numbers + at);
        for (int h = 0; h < needed; ++h) sum = L::minus_product(sum, L::all(l[h][0]), L::load(uint8_t{0xff}, u[h] + q));
        L::store(uint8_t{0xff}, numbers + at, sum);
      } else {
        for (int e = 0; e < lanes; ++e) lose_one(at + e, q + e);
      }
    };
    each_shared(rows.indices + right, int64_t{rows.offsets[k + 1] - right}, columns, t + needed, entries, place,
                lose_one, lose_stretch);
  }

  /// What the rows lose to each other, and their pivots.
  template <int count, int width>
  void finish_several(int64_t i, int64_t middle, int64_t entries, E* numbers, Breakdown& found) const {
    using R = RealPart<E>;
    R spoilt[width] = {};  // not 0 where a number is not finite, now or in the end
    for (int64_t t = 0; t < entries; ++t)
      for (int r = 0; r < width; ++r) spoilt[r] += not_finite(numbers[t * width + r]);
    for (int p = 0; p < count; ++p) {
      E& pivot = numbers[(middle + p) * width + p];
      rows.finish(i + p, pivot, spoilt[p] == 0, found);
      E l[count];
      for (int r = p + 1; r < count; ++r) {
        l[r] = numbers[(middle + p) * width + r] = quotient(numbers[(middle + p) * width + r], pivot);
        spoilt[r] += not_finite(l[r]);
      }
      for (int64_t t = middle + p + 1; p + 1 < count && t < entries; ++t) {
        E* const to = numbers + t * width;
        for (int r = p + 1; r < count; ++r) {
          to[r] = minus_product(to[r], l[r], to[p]);
          spoilt[r] += not_finite(to[r]);
        }
      }
    }
  }
};

}  // namespace kkc::ilu::host
