// Elimination of rows that are like no other, spread over all columns while they are worked on (Saad, "Iterative
// Methods for Sparse Linear Systems", algorithm 10.4): where a needed row's entries belong need not be looked up.
#pragma once

#include "ilu_host_joint_rows_kernels.hpp"

namespace kkc::ilu::host {

template <class E, Form form, class I, class O>
struct FactorSpread {
  FactorRow<E, form, I, O> rows;

  /// `spread`: a number for each column; between rows of cholesky 0, between rows of lu whatever it is.
  void operator()(int64_t i, E* spread, Breakdown& found) const {
    if constexpr (form == Form::lu)
      eliminate_one(rows, i, found, [&](E* numbers) { lose_to_needed(i, numbers, spread); });
    else
      one_of_cholesky(i, spread, found);
  }

 private:
  /// What needed rows have beside the row's columns falls where no row looks before it has written there.
  void lose_to_needed(int64_t i, E* numbers, E* spread) const {
    const O first = rows.offsets[i];
    const I* const columns = rows.indices + first;
    const int64_t entries = rows.offsets[i + 1] - first, middle = rows.diagonal[i] - first;
    if (middle == 0) return;
    for (int64_t t = 0; t < entries; ++t) spread[columns[t]] = numbers[t];
    for (int64_t t = 0; t < middle; ++t) {
      if (t + rows.ahead < middle) rows.fetch(rows.diagonal[columns[t + rows.ahead]]);
      const I k = columns[t];
      const O pivot = rows.diagonal[k];
      const E* const u = rows.values + pivot + 1;
      const I* const others = rows.indices + pivot + 1;
      const int64_t count = rows.offsets[k + 1] - pivot - 1;
      const E l = spread[k] = quotient(spread[k], rows.values[pivot]);
      // Copies: the loop would read them again after each store.
      const auto lose = [=](I column, int64_t q) { spread[column] = minus_product(spread[column], l, u[q]); };
      if (each_searched(others, count, columns, t + 1, entries, [=](int64_t at, int64_t q) { lose(columns[at], q); }))
        continue;
      for (int64_t q = 0; q < count; ++q) lose(others[q], q);
    }
    for (int64_t t = 0; t < entries; ++t) numbers[t] = spread[columns[t]];
  }

  void one_of_cholesky(int64_t i, E* spread, Breakdown& found) const {
    rows.gather(i);
    const O first = rows.offsets[i];
    const I* const columns = rows.indices + first;
    const int64_t count = rows.diagonal[i] - first;
    bool finite = find_entries(i, [&](int64_t t, E l) {
      const O begin = rows.offsets[columns[t]];
      l = plus(l,
               lost(rows.indices + begin, rows.values + begin, rows.diagonal[columns[t]] - begin, columns, t, spread));
      return spread[columns[t]] = quotient(l, rows.values[rows.diagonal[columns[t]]]);
    });
    for (int64_t t = 0; t < count; ++t) spread[columns[t]] = E{};
    if (!finite) [[unlikely]] {  // for a number that is not in one of the row's columns, perhaps
      rows.gather(i);
      finite = find_entries(i, [&](int64_t t, E l) {
        const auto k = static_cast<int64_t>(columns[t]);
        rows.shared(first, first + static_cast<O>(t), rows.offsets[k], rows.diagonal[k],
                    [&](O at, O q) { l = minus_conjugate_product(l, rows.values[at], rows.values[q]); });
        return quotient(l, rows.values[rows.diagonal[k]]);
      });
    }
    rows.finish(i, rows.values[rows.diagonal[i]], finite, found);
  }

  /// entry(t, what it is in A): what it is in L; and the pivot's square. Whether all are finite.
  template <class Entry>
  bool find_entries(int64_t i, Entry&& entry) const {
    E* const numbers = rows.values + rows.offsets[i];
    E& pivot = rows.values[rows.diagonal[i]];
    RealPart<E> d = real_part(pivot) + rows.rule.shift;
    const int64_t count = rows.diagonal[i] - rows.offsets[i];
    for (int64_t t = 0; t < count; ++t) {
      if (t + rows.ahead < count)
        rows.fetch(rows.offsets[rows.indices[rows.offsets[i] + static_cast<O>(t + rows.ahead)]]);
      numbers[t] = entry(t, numbers[t]);
      d -= rows.square_of(numbers[t]);
    }
    pivot = from_real<E>(d);
    return all_finite(numbers, count + 1);
  }

  /// Minus the products of a needed row's numbers and those of the row before entry t, which are spread.
  static E lost(const I* others, const E* numbers, int64_t count, const I* columns, int64_t t, const E* spread) {
    constexpr int several = 4;  // sums that do not wait for each other
    E sums[several] = {};
    const auto lose = [&](E& sum, I column, int64_t q) {
      sum = minus_conjugate_product(sum, spread[column], numbers[q]);
    };
    if (each_searched(others, count, columns, 0, t, [&](int64_t at, int64_t q) { lose(sums[0], columns[at], q); }))
      return sums[0];
    int64_t q = 0;
    for (; q + several <= count; q += several)
      for (int s = 0; s < several; ++s) lose(sums[s], others[q + s], q + s);
    for (; q < count; ++q) lose(sums[0], others[q], q);
    return plus(plus(sums[0], sums[1]), plus(sums[2], sums[3]));
  }
};

}  // namespace kkc::ilu::host
