// ilu: incomplete factors on a fixed pattern, A ~ L U, and for ic A ~ L L^H. Contract of the implementations of both.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/error.hpp"
#include "core/info.hpp"
#include "core/memory.hpp"
#include "core/operands.hpp"
#include "core/queue.hpp"
#include "core/registry.hpp"
#include "ops/ilu_pattern/ilu_pattern.hpp"
#include "ops/levels/levels.hpp"

namespace kkc::ilu {

using ilu_pattern::FactorPattern;

/// lu: rows of L and U in one matrix. cholesky: rows of L, their diagonal entry last.
enum class Form { lu, cholesky };

/// What is done to diagonal entries of A and to pivots.
struct PivotRule {
  double shift;      // added to A's diagonal
  double threshold;  // pivots of absolute value (cholesky: of real part) below it become ...
  double value;      // ... this, with their sign
};

/// Everything an implementation may decide on. A's arrays are valid during make() only; those of `factors` live as long
/// as a kernel holds its buffers.
struct Desc {
  Form form;
  CsrRef A;  // values may be null
  FactorPattern factors;
  int64_t longest_row;  // no row of the factors has more entries
  PivotRule pivots;
  std::shared_ptr<const Memory> memory;  // for plan data
  bool named = false;                    // the caller named an implementation, or lets all be measured
  /// What unsupported() has found in the pattern and make() goes on with; theirs alone.
  mutable std::shared_ptr<const void> found = nullptr, found_tables = nullptr, found_band = nullptr,
                                      found_inodes = nullptr, found_split = nullptr;
  mutable std::shared_ptr<const Levels> levels = nullptr;  // of the factors, once they are found
};

struct Args {
  CsrRef A;
  CsrRef factors;  // its values are written; they do not overlap A's
  void* workspace;
};

/// What went wrong in an execute. After a zero pivot the row's pivot counts as 1, so that a later row is noted for its
/// own sake; rows that are not finite spoil those that need them.
struct Breakdown {
  int64_t first = INT64_MAX;   // row
  int64_t count = 0;           // rows
  bool first_is_zero = false;  // a zero (cholesky: or negative) pivot, else an entry that is not finite

  kkc_status_t status() const {
    return count == 0 ? KKC_STATUS_SUCCESS : first_is_zero ? KKC_STATUS_ZERO_PIVOT : KKC_STATUS_BREAKDOWN;
  }
};

/// For hosts, at the end of an execute.
inline void refuse(const Breakdown& breakdown, Form form) {
  if (breakdown.count == 0) return;
  const std::string others = breakdown.count == 1 ? "" : cat(", the first of ", breakdown.count, " that failed,");
  if (breakdown.first_is_zero)
    fail(KKC_STATUS_ZERO_PIVOT, "A: the pivot of row ", breakdown.first, " (counted from 0)", others, " is ",
         form == Form::lu ? "zero" : "zero or negative", ", expected another (options shift and pivot_boost help)");
  fail(KKC_STATUS_BREAKDOWN, "A: the factors' row ", breakdown.first, " (counted from 0)", others,
       " holds a number that is not finite, expected finite values in A and no overflow");
}

/// A plan's numeric part. Host kernels block; GPU kernels enqueue on the queue's stream and never allocate.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// Breakdowns are refused on hosts and counted on GPUs.
  virtual void execute(Queue& queue, const Args& args) = 0;
  virtual size_t workspace_bytes() const { return 0; }
  virtual int64_t plan_bytes() const { return 0; }
  /// Of the factors' lower triangle, where it has found them: plans of solves take them over.
  virtual std::shared_ptr<const Levels> levels() const { return nullptr; }
  virtual void describe(Info&) const {}
  /// GPUs: what executes have counted since the last call; the queue has been waited for.
  virtual kkc_status_t check(Queue&, int64_t&, int64_t&) { return KKC_STATUS_SUCCESS; }
};

struct Implementation : Entry {
  bool deterministic;  // the same bits run to run
  /// Why not, or "" when it takes the case.
  std::string (*unsupported)(const Desc& desc);
  std::unique_ptr<Kernel> (*make)(const Desc& desc, Queue& queue);
};

}  // namespace kkc::ilu
