// Which restrictions deal their products (spgemm_host_dealt_restriction.hpp): a look at a sample of A and B.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include "device/host_pattern_ref.hpp"
#include "ops/spgemm/spgemm.hpp"
#include "ops/spgemm/spgemm_host_short_rows.hpp"

namespace kkc::spgemm {

/// Of C = A^T B with one entry in every row of A, which is stored.
template <class I, class O>
class DealtSample {
  using Pattern = HostPatternRef<I, O>;

 public:
  /// C's rows: more would leave too few bits for what is noted of runs.
  static constexpr int64_t most_rows = int64_t{1} << 24;

  /// Neither do rows of B have many entries, nor lie those of a row of C together, nor are these a grid's: where they
  /// do, RestrictionKernel is faster.
  static bool suits(const CsrRef& stored_A, const CsrRef& B) {
    constexpr int64_t most = std::numeric_limits<int32_t>::max();
    return B.rows < most && B.cols < most && B.nnz < most && stored_A.cols <= most_rows &&
           B.nnz <= most_entries * B.rows && !comes_again(Pattern(stored_A), Pattern(B));
  }

 private:
  /// Entries of B's rows in the mean, and rows of A one behind the other that share a column.
  static constexpr int64_t most_entries = 8, longest_runs = 6;
  static constexpr int64_t rows = 128, furthest = 32, most_stretches = 16;

  /// Whether columns come in long runs, or in three of four stretches of A again some rows further, moved on by fewer,
  /// and so do B's: a grid's aggregates do so along its lines.
  static bool comes_again(const Pattern& A, const Pattern& B) {
    const int64_t stretches = std::min(A.nnz / (rows + furthest), most_stretches);
    int64_t again = 0, runs = 0;
    for (int64_t s = 0; s < stretches; ++s) {
      const int64_t first = sample_at(A.nnz - rows - furthest, stretches, s);
      const I* const columns = A.indices + first;
      runs += rows - alike(columns, 1, 0);
      int64_t best = 0;
      int32_t best_alike = rows / 2;
      bool returns = false;
      for (int64_t period = 2; period <= furthest && !returns; ++period) {
        const I by = columns[rows / 2 + period] - columns[rows / 2];
        if (by < 0 || by >= period) continue;
        const int32_t count = alike(columns, period, by);
        // A large aggregate's unknowns, which come again and again, are not a line's.
        if (by == 0) returns = 4 * count >= 3 * rows;
        if (by == 0 || count <= best_alike) continue;
        best = period;
        best_alike = count;
      }
      again += best > 0 && !returns && moves_on(B, first, best) ? 1 : 0;
    }
    return 4 * again >= 3 * stretches || runs * longest_runs <= stretches * rows;
  }

  static int32_t alike(const I* columns, int64_t period, I by) {
    int32_t count = 0;
    for (int64_t i = 0; i < rows; ++i) count += columns[i + period] - columns[i] == by ? 1 : 0;
    return count;
  }

  /// Whether five of eight rows of B from `first` on have as many entries as those `period` further, which begin as far
  /// from theirs as most do.
  static bool moves_on(const Pattern& B, int64_t first, int64_t period) {
    const auto begins = [&B](int64_t i) { return B.begin(i) < B.end(i) ? B.column(B.begin(i)) : 0; };
    const int64_t middle = first + rows / 2, by = begins(middle + period) - begins(middle);
    int64_t count = 0;
    for (int64_t i = first; i < first + rows; ++i) {
      const int64_t j = i + period;
      count += B.end(i) - B.begin(i) == B.end(j) - B.begin(j) && begins(j) - begins(i) == by ? 1 : 0;
    }
    return 8 * count > 5 * rows;
  }
};

}  // namespace kkc::spgemm
