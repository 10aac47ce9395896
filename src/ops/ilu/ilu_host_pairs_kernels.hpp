// Elimination of a row by the pairs of entries that it shares with the rows it needs (ilu_host_pairs.hpp).
#pragma once

#include <cstdint>

#include "ilu_host_pairs.hpp"
#include "ilu_host_rows_kernels.hpp"

namespace kkc::ilu::host {

template <class E, Form form, class I, class O>
struct FactorByPairs {
  FactorRow<E, form, I, O> rows;

  /// Row i with pairs of its own; notes breakdowns.
  void operator()(int64_t i, const typename HostPairs<I, O>::Row& list, Breakdown& found) const {
    rows.gather(i);
    const O first = rows.offsets[i];
    const int64_t middle = rows.diagonal[i] - first;
    const I* const columns = rows.indices + first;
    E* const row = rows.values + first;
    E& pivot = row[middle];
    pivot = plus(pivot, from_real<E>(rows.rule.shift));
    const HostPair* pair = list.pairs;
    RealPart<E> square = 0;
    for (int64_t s = 0; s < middle; ++s) {
      const auto k = static_cast<int64_t>(columns[s]);
      const HostPair* const end = pair + list.counts[s];
      if constexpr (form == Form::lu) {
        const E* const needed = rows.values + rows.diagonal[k];
        // Not a division, which the next entries would wait for.
        const E l = row[s] = rows.by_inverses ? times_inverse(row[s], k) : quotient(row[s], *needed);
        // All numbers of four pairs are read before any is written: they are of different entries, which processors do
        // not foresee.
        for (; end - pair >= 4; pair += 4) {
          E &a = row[pair[0].own], &b = row[pair[1].own], &c = row[pair[2].own], &d = row[pair[3].own];
          const E next_a = minus_product(a, l, needed[pair[0].needed]),
                  next_b = minus_product(b, l, needed[pair[1].needed]),
                  next_c = minus_product(c, l, needed[pair[2].needed]),
                  next_d = minus_product(d, l, needed[pair[3].needed]);
          a = next_a;
          b = next_b;
          c = next_c;
          d = next_d;
        }
        for (; pair < end; ++pair) row[pair->own] = minus_product(row[pair->own], l, needed[pair->needed]);
      } else {
        const E* const needed = rows.values + rows.offsets[k];
        E l = row[s];
        for (; pair < end; ++pair) l = minus_conjugate_product(l, row[pair->own], needed[pair->needed]);
        l = row[s] = quotient(l, rows.values[rows.diagonal[k]]);
        square += rows.square_of(l);
      }
    }
    if constexpr (form == Form::cholesky) pivot = from_real<E>(real_part(pivot) - square);
    const bool finite = all_finite(row, rows.offsets[i + 1] - first);
    if constexpr (form == Form::lu)
      if (rows.by_inverses && !finite) [[unlikely]]  // an inverse may lack digits
        return rows.by_search(i, found);
    rows.finish(i, pivot, finite, found);
  }

 private:
  E times_inverse(const E& a, int64_t k) const {
    if constexpr (has_parts<E>)
      return a;
    else
      return a * rows.inverses[k];
  }
};

/// Asks for the numbers of the rows that a row needs which comes soon.
template <class E, Form form, class I, class O>
struct FetchForPairs {
  const FactorRow<E, form, I, O>& rows;

  /// always_inline: GCC 12 drops calls of functions that do nothing else.
  [[gnu::always_inline]] void operator()(int64_t i) const {
    for (O p = rows.offsets[i]; p < rows.diagonal[i]; ++p) {
      const auto k = static_cast<int64_t>(rows.indices[p]);
      const auto* const needed =
          reinterpret_cast<const char*>(rows.values + (form == Form::lu ? rows.diagonal[k] : rows.offsets[k]));
      __builtin_prefetch(needed);
      __builtin_prefetch(needed + 64);
      __builtin_prefetch(needed + 128);
    }
  }
};

}  // namespace kkc::ilu::host
