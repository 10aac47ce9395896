// sptrsv: op(T) x = alpha b for a triangle T of a CSR matrix and one or many vectors. Contract of its implementations.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/info.hpp"
#include "core/memory.hpp"
#include "core/operands.hpp"
#include "core/queue.hpp"
#include "core/registry.hpp"
#include "ops/levels/levels.hpp"
#include "ops/row_stats/row_stats.hpp"

namespace kkc::sptrsv {

/// Everything an implementation may decide on; the pattern's arrays are valid during make() only.
struct Desc {
  Op op;
  Uplo uplo;
  Diag diag;
  CsrRef A;         // values may be null; rows may be unsorted and hold columns twice
  DenseRef b, x;    // rank 1 or 2; data may be null
  int64_t vectors;  // 1 for rank 1
  RowStats rows;    // of A
  bool deterministic;
  bool values_kept;  // option values = kept: the kernel may copy values in set_values
  bool device_scalars;
  int64_t max_workspace;                 // bytes; -1: no bound
  std::shared_ptr<const Memory> memory;  // for plan data
  /// Those that an earlier plan found of this pattern, uplo and transposes(op), or null. levels_of() finds them.
  std::shared_ptr<const Levels> known_levels;
};

struct Args {
  Coefficient alpha;
  CsrRef A;
  DenseRef b, x;    // the same elements, or no common ones
  void* workspace;  // workspace_bytes() of device memory, 256-byte aligned, or null
};

/// A plan's numeric part. Host kernels block; GPU kernels enqueue on the queue's stream and never allocate.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// A zero on the diagonal is a failure (ZERO_PIVOT): thrown on hosts (refuse_zero), counted on GPUs. Not looked for
  /// where alpha is 0.
  virtual void execute(Queue& queue, const Args& args) = 0;
  /// Only under values = kept.
  virtual void set_values(Queue&, const CsrRef&) {}
  virtual bool keeps_values() const { return false; }
  virtual size_t workspace_bytes() const { return 0; }
  virtual void describe(Info&) const {}
  /// GPUs: what executes have counted since the last call; blocks.
  virtual kkc_status_t check(Queue&, int64_t&, int64_t&) { return KKC_STATUS_SUCCESS; }
  /// For later plans on the same pattern; null if it has none.
  virtual std::shared_ptr<const Levels> levels() const { return nullptr; }
};

struct Implementation : Entry {
  bool deterministic;  // the same bits run to run
  /// Why not, or "" when it takes the case.
  std::string (*unsupported)(const Desc& desc);
  /// Symbolic phase: reads the pattern. Under Diag::stored it refuses a row without a diagonal entry (refuse_missing).
  std::unique_ptr<Kernel> (*make)(const Desc& desc, Queue& queue);
};

/// Row i of op(T) ends at its diagonal: rows are solved in ascending order.
inline bool solves_ascending(const Desc& desc) { return (desc.uplo == Uplo::lower) != transposes(desc.op); }

/// `row`: the first row of A without a diagonal entry; -1, or at least rows, when there is none.
inline void refuse_missing(const Desc& desc, int64_t row) {
  require(desc.diag == Diag::unit || row < 0 || row >= desc.A.rows, KKC_STATUS_INVALID_ARGUMENT,
          "A has no diagonal entry in row ", row, " (counted from 0), expected one in every row, or diag unit");
}

/// For hosts. `row`: the first one whose diagonal is zero; -1, or at least rows, when there is none.
inline void refuse_zero(int64_t row, int64_t rows) {
  require(row < 0 || row >= rows, KKC_STATUS_ZERO_PIVOT, "A's diagonal is zero in row ", row,
          " (counted from 0), expected another value");
}

/// For make(): those known, or new ones; missing diagonals have been refused.
inline std::shared_ptr<const Levels> levels_of(const Desc& desc, Queue& queue) {
  std::shared_ptr<const Levels> levels = desc.known_levels;
  if (!levels) levels = levels::find(queue, {desc.A, desc.uplo, transposes(desc.op), desc.memory});
  refuse_missing(desc, levels->missing);
  return levels;
}

}  // namespace kkc::sptrsv
