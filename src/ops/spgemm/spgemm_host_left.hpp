// Rows of the left operand as the host kernels of spgemm walk them: entry k of row i names a row of B and, in the
// numeric phase, the factor of that row. Operations that multiply something else than a matrix's rows (a unit row
// before them, scaled entries) give rows of their own with the same functions.
#pragma once

#include "core/parts.hpp"
#include "device/host_pattern_ref.hpp"

namespace kkc::spgemm {

template <class I, class O>
struct LeftPattern {
  HostPatternRef<I, O> A;

  struct Row {
    const I* columns;
    int64_t base, count;
    int64_t size() const { return count; }
    int64_t column(int64_t k) const { return static_cast<int64_t>(columns[k]) - base; }
  };
  Row row(int64_t i) const {
    const int64_t begin = A.begin(i);
    return {A.indices + begin, A.base, A.end(i) - begin};
  }
  int64_t rows() const { return A.rows; }
};

/// Factors alpha a_ik.
template <class E, class I, class O>
struct LeftValues {
  LeftPattern<I, O> pattern;
  const E* values;
  E alpha;

  struct Row : LeftPattern<I, O>::Row {
    const E* values;
    E alpha;
    E factor(int64_t k) const { return times(alpha, values[k]); }
    /// Factors from k on in a vector.
    template <class V>
    V factors(int64_t k, unsigned lanes) const {
      return V::load(values + k, lanes).times(alpha);
    }
  };
  Row row(int64_t i) const { return {pattern.row(i), values + pattern.A.begin(i), alpha}; }
};

}  // namespace kkc::spgemm
