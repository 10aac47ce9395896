// ilut: incomplete factors whose pattern is chosen by the size of their entries. Contract of its implementations.
#pragma once

#include <algorithm>

#include "core/host_matrix.hpp"
#include "ops/ilu/ilu.hpp"

namespace kkc::ilut {

/// Of a row of L, or of U, of a matrix whose larger triangle may keep `entries`: four times the average row that `fill`
/// allows, at least 64, which grids do not reach; of long rows fewer, down to that average, as the next sweep takes the
/// square.
inline int64_t most_candidates(int64_t entries, int64_t rows) {
  const int64_t average = entries / std::max<int64_t>(rows, 1);
  return average >= 256 ? average : std::clamp<int64_t>(4 * average, 64, 256);
}

/// Everything an implementation may decide on. A's arrays are valid during make() only.
struct Desc {
  CsrRef A;                          // values may be null
  ilu_pattern::FactorPattern start;  // A's pattern, sorted, with its diagonal
  ilu::PivotRule pivots;
  double fill;         // most entries of L, and of U, beside those of A's triangles (without the diagonal)
  int32_t iterations;  // that add entries and drop the smallest
  int32_t sweeps;      // over the last pattern
  std::shared_ptr<const Memory> memory;
};

/// L strictly lower, U with its diagonal; arrays in memory of the device.
struct Factors {
  HostCsr L, U;
};

class Kernel {
 public:
  virtual ~Kernel() = default;
  /// Allocates and blocks; refuses breakdowns (ilu::refuse) and factors that A's index pair cannot count.
  virtual Factors execute(Queue& queue, const CsrRef& A) = 0;
  static constexpr size_t workspace_bytes() { return 0; }
};

struct Implementation : Entry {
  bool deterministic;  // the same bits run to run
  /// Why not, or "" when it takes the case.
  std::string (*unsupported)(const Desc& desc);
  std::unique_ptr<Kernel> (*make)(const Desc& desc, Queue& queue);
};

}  // namespace kkc::ilut
