// spgemm: C = alpha op(A) op(B) + beta C for CSR matrices, C's pattern found by the plan. Contract of its
// implementations.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/info.hpp"
#include "core/memory.hpp"
#include "core/operands.hpp"
#include "core/output_pattern.hpp"
#include "core/queue.hpp"
#include "core/registry.hpp"
#include "ops/row_stats/row_stats.hpp"

namespace kkc::spgemm {

/// Everything an implementation may decide on. A (rows x inner) and B (inner x cols) are the operands as they are
/// multiplied: spgemm.cpp has transposed and conjugated them where op says so. The patterns' arrays are valid during
/// make() only; their offsets and columns have been checked. Rows may be unsorted and hold duplicates.
struct Desc {
  CsrRef A, B;  // of one index pair and scalar; values are null
  bool masked;
  CsrRef mask;              // if masked: rows x cols, of A's index pair; values are null
  IndexPair pair;           // of C: ordinals as wide as A's
  RowStats rows_a, rows_b;  // hosts: rows_b may only tell by longest that B has rows of several entries
  bool sorted;              // C's rows must be sorted; else they may be
  bool deterministic;
  bool device_scalars;
  int64_t max_workspace;  // bytes; -1: no bound. Kernels that need more go through C in slices, with the same bits
  std::shared_ptr<const Memory> memory;  // for plan data
  bool named = false;                    // the caller named an implementation, or lets all be measured
  /// With arrays: A is this matrix's transpose, whose pattern nobody has made (A's arrays are null), and rows_a are
  /// those of this one. For implementations that asked for it by transposes_itself.
  CsrRef stored_A{};
  /// Of operands that are transposes, unless their values are conjugated: entry k is the caller's values[positions[k]],
  /// positions of the operand's offset type. Valid as long as the patterns; null for others.
  const void *positions_A = nullptr, *positions_B = nullptr;

  Scalar scalar() const { return A.scalar; }
  int64_t rows() const { return A.rows; }
  int64_t cols() const { return B.cols; }
};

struct Args {
  Coefficient alpha, beta;
  CsrRef A, B;      // of the planned patterns and bases; A: Desc::stored_A's, if that was planned
  void* C;          // values in the order of the planned pattern; not null
  void* workspace;  // workspace_bytes() of device memory, 256-byte aligned, or null
  /// For kernels that read A's values where the caller has them: entry k is values[positions_A[k]], positions of A's
  /// offset type; null: entry k is values[k].
  const void* positions_A = nullptr;
};

/// A plan's numeric part. Host kernels block; GPU kernels enqueue on the queue's stream and never allocate.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// C = alpha A B + beta C. beta = 0 does not read C, alpha = 0 reads neither A nor B. Only for a C with entries.
  virtual void execute(Queue& queue, const Args& args) = 0;
  /// Sizes, types and memory of C's pattern, of base 0; `base` is spgemm.cpp's. Each column once a row.
  OutputPattern output;
  virtual size_t workspace_bytes() const { return 0; }
  /// Whether execute takes Args::positions_A, which saves the room and the time to put A's values in order.
  virtual bool takes_positions() const { return false; }
  /// Whether Desc's positions are in the plan: execute then wants the values of A and B where the caller has them.
  virtual bool knows_positions() const { return false; }
  /// At least "products" (scalar multiplications) and "plan_bytes" (memory kept, C's pattern aside).
  virtual void describe(Info& info) const = 0;
};

struct Implementation : Entry {
  bool deterministic;  // the same bits run to run
  /// Why not, or "" when it takes the case.
  std::string (*unsupported)(const Desc& desc);
  /// Symbolic phase: reads the patterns and fills Kernel::output. Refuses a C that its index pair cannot count
  /// (require_countable) before anything of its size is allocated.
  std::unique_ptr<Kernel> (*make)(const Desc& desc, Queue& queue);
  /// Whether make() wants Desc::stored_A, which is there, instead of A's pattern; null: never. Hosts only.
  bool (*transposes_itself)(const Desc& desc) = nullptr;
};

}  // namespace kkc::spgemm
