// Rows of C through an accumulator of every column, to which a vector of products is added at once
// (spgemm_host_column_groups.hpp).
#pragma once

#include "device/host_pattern_ref.hpp"
#include "ops/spgemm/spgemm_host_column_groups.hpp"
#include "ops/spgemm/spgemm_host_steps.hpp"

namespace kkc::spgemm {

/// Adds the products of a row of A to the sums of their columns.
template <class E, class Row, class I, class O>
void add_by_groups(const ColumnGroups& groups, const Row& row, const HostPatternRef<I, O>& B, const E* b, E* sums) {
  using V = StepVector<E>;
  constexpr int64_t ahead = 2;
  const int64_t last_whole = B.nnz - V::lanes;
  for (int64_t k = 0, n = row.size(); k < n; ++k) {
    if (k + ahead < n) {
      const int64_t next = row.column(k + ahead);
      __builtin_prefetch(groups.begin(next));
      __builtin_prefetch(b + B.begin(next));
    }
    const int64_t j = row.column(k);
    const E a = row.factor(k);
    const E* const entries = b + B.begin(j);
    const ColumnGroups::Group *group = groups.begin(j), *const end = groups.end(j);
    const auto add = [&](const auto& products) {
      for (; group < end; ++group) {
        const ColumnGroups::Group g = *group;
        E* const at = sums + g.number() * V::lanes;
        V sum = V::load(at);
        products(sum, entries + g.first(), g.lanes());
        sum.store(at);
      }
    };
    if (B.end(j) <= last_whole)
      add([&](V& sum, const E* from, unsigned lanes) { sum.add_spread(a, from, lanes); });
    else
      add([&](V& sum, const E* from, unsigned lanes) { sum.add(a, from, lanes); });
  }
}

/// Row of C with these columns: beta times `old`, which may be c, and the products of the row of A.
template <class E, class Row, class I, class O>
void make_by_groups(const ColumnGroups& groups, const Row& row, const HostPatternRef<I, O>& B, const E* b, E beta,
                    const E* old, const I* columns, int64_t count, E* sums, E* c) {
  if (beta == E{})
    for (int64_t p = 0; p < count; ++p) sums[columns[p]] = E{};
  else
    for (int64_t p = 0; p < count; ++p) sums[columns[p]] = times(beta, old[p]);
  add_by_groups(groups, row, B, b, sums);
  for (int64_t p = 0; p < count; ++p) c[p] = sums[columns[p]];
}

}  // namespace kkc::spgemm
