// Factors of a sparse direct solver. Plain types only: seen by the program and by the module that holds SuperLU.
#pragma once

#include <cstdint>
#include <vector>

namespace kkc::bench {

/// CSR, base 0, rows ascend.
struct DirectFactor {
  std::vector<int64_t> offsets;
  std::vector<int32_t> columns;
  std::vector<double> values;
};

/// P A P^T = L U, pivots on the diagonal; L's unit diagonal is stored. What a direct solver pads its supernodes with is
/// left out.
struct DirectFactors {
  DirectFactor L, U;
};

/// A: n x n, CSR, base 0, rows ascend, symmetric pattern.
using DirectFactorize = DirectFactors (*)(int64_t n, const int32_t* offsets, const int32_t* columns,
                                          const double* values);

}  // namespace kkc::bench
