// spadd: C = alpha op(A) + beta op(B) for CSR matrices. Contract of its implementations.
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

namespace kkc::spadd {

/// What the caller says of rows (option rows).
enum class RowOrder { detect, sorted, unsorted };

/// A or B, with its pattern while the plan is made.
struct Operand {
  Op op;
  CsrRef matrix;   // values may be null
  RowStats stats;  // unless the implementation looks at patterns itself
};

/// Everything an implementation may decide on; the patterns' arrays are valid during make() and complete() only.
struct Desc {
  Operand A, B;  // of one index pair and one scalar
  IndexPair pair_C;
  int64_t rows, cols;  // of C
  RowOrder order;
  bool deterministic;
  bool device_scalars;
  int64_t max_workspace;                 // bytes; -1: no bound
  std::shared_ptr<const Memory> memory;  // for plan data
};

struct Args {
  Coefficient alpha, beta;
  CsrRef A, B;
  CsrRef C;  // its values are written
  void* workspace;
};

/// C's pattern: rows + 1 offsets (null for no rows) and columns, base 0.
struct Pattern {
  std::shared_ptr<const Buffer> offsets, indices;
};

/// A plan's numeric part. Host kernels block; GPU kernels enqueue on the queue's stream and never allocate.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// C's entries, known once the kernel is made. Whether they can be counted is asked before complete().
  virtual int64_t nnz() const = 0;
  /// False: an implementation that looks at patterns itself found one bad. Then only this is asked.
  virtual bool good_patterns() const { return true; }
  /// Writes C's pattern, the first time it is called.
  void complete(Queue& queue) {
    if (!completed_) pattern_ = write_pattern(queue);
    completed_ = true;
  }
  const Pattern& pattern() const { return pattern_; }
  virtual void execute(Queue& queue, const Args& args) = 0;
  virtual size_t workspace_bytes() const { return 0; }
  virtual void describe(Info&) const {}

 private:
  virtual Pattern write_pattern(Queue& queue) = 0;
  Pattern pattern_;
  bool completed_ = false;
};

struct Implementation : Entry {
  bool deterministic;  // the same bits run to run
  /// Why not, or "" when it takes the case.
  std::string (*unsupported)(const Desc& desc);
  /// Symbolic phase up to the number of C's entries. Refuses rows that are stated sorted and are not.
  std::unique_ptr<Kernel> (*make)(const Desc& desc, Queue& queue);
  /// make() reads offsets and columns only as far as it has found them good. Others get patterns that are.
  bool looks_at_patterns = false;
};

/// For implementations that find a row out of order although the rows are stated sorted. Not for transposed operands,
/// whose rows are others than the caller's.
[[noreturn]] inline void fail_not_sorted(const char* argument, int64_t row) {
  fail(KKC_STATUS_NOT_SORTED, argument, ": row ", row,
       " is not sorted or has a column twice, expected strictly ascending rows under option rows = sorted");
}

}  // namespace kkc::spadd
