// spmv: y = beta y + alpha op(A) x for a CSR matrix and one or many vectors. Contract of its implementations.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "core/info.hpp"
#include "core/memory.hpp"
#include "core/operands.hpp"
#include "core/queue.hpp"
#include "core/registry.hpp"
#include "ops/row_stats/row_stats.hpp"

namespace kkc::spmv {

/// What an implementation found out about a pattern.
class Findings {
 public:
  virtual ~Findings() = default;
};

/// Kept from one candidate's look at the pattern for those asked next, and for make().
struct SharedFindings {
  std::shared_ptr<Findings> patterns;    // of rows and columns
  std::shared_ptr<Findings> compressed;  // columns in fewer bits
};

/// Everything an implementation may decide on; the pattern's arrays are valid during make() only.
struct Desc {
  Op op;
  CsrRef A;         // values may be null
  DenseRef x, y;    // rank 1 or 2; data may be null
  int64_t vectors;  // 1 for rank 1
  RowStats rows;    // of A
  bool deterministic;
  bool values_kept;     // option values = kept: the kernel may copy values in set_values
  bool transpose_kept;  // option transpose = kept
  bool device_scalars;
  int64_t max_workspace;                 // bytes; -1: no bound
  std::shared_ptr<const Memory> memory;  // for plan data
  mutable SharedFindings findings;       // of A; gone when the plan is made
};

struct Args {
  Coefficient alpha, beta;
  CsrRef A;
  DenseRef x, y;
  void* workspace;  // workspace_bytes() of device memory, 256-byte aligned, or null
};

/// A plan's numeric part. Host kernels block; GPU kernels enqueue on the queue's stream and never allocate.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual void execute(Queue& queue, const Args& args) = 0;
  /// Only under values = kept.
  virtual void set_values(Queue&, const CsrRef&) {}
  virtual bool keeps_values() const { return false; }
  virtual size_t workspace_bytes() const { return 0; }
  virtual void describe(Info&) const {}
};

struct Implementation : Entry {
  bool deterministic;  // the same bits run to run
  /// Why not, or "" when it takes the case.
  std::string (*unsupported)(const Desc& desc);
  /// Symbolic phase: reads the pattern.
  std::unique_ptr<Kernel> (*make)(const Desc& desc, Queue& queue);
};

}  // namespace kkc::spmv
