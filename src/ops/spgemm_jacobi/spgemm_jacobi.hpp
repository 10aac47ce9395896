// spgemm_jacobi: C = (I - omega D^-1 A) B, a step of Jacobi's method on the columns of B, whose rows the plan unites as
// spgemm does. Contract of its implementations.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ops/spgemm/spgemm.hpp"

namespace kkc::spgemm_jacobi {

/// Everything an implementation may decide on.
struct Desc {
  /// A and B as spgemm multiplies them: op none, no mask, coefficients on the host. Its max_workspace bounds all of the
  /// workspace.
  spgemm::Desc product;
  std::string product_name;  // option "product": implementation of spgemm; "" when the plan chooses
  bool device_scalars;       // omega lies in device memory
};

struct Args {
  Coefficient omega;
  const void* inverse;     // D^-1: one element a row, or null: from A's diagonal
  int64_t inverse_stride;  // in elements
  CsrRef A, B;
  void* C;  // values in the order of the planned pattern; not null
  void* workspace;
};

/// A plan's numeric part.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// Without D^-1 given, a row of A whose diagonal is zero is a failure (ZERO_PIVOT): thrown on hosts, counted on GPUs.
  virtual void execute(Queue& queue, const Args& args) = 0;
  virtual OutputPattern& output() = 0;
  virtual size_t workspace_bytes() const { return 0; }
  virtual void describe(Info& info) const = 0;
  /// GPUs: what executes have counted since the last call; the queue has been waited for.
  virtual kkc_status_t check(Queue&, int64_t&, int64_t&) { return KKC_STATUS_SUCCESS; }
};

struct Implementation : Entry {
  bool deterministic;
  std::string (*unsupported)(const Desc& desc);
  /// Symbolic phase. Refuses an A with a row that has no diagonal entry (refuse_missing), and a C that its index pair
  /// cannot count.
  std::unique_ptr<Kernel> (*make)(const Desc& desc, Queue& queue);
};

/// `row`: the first row of A without a diagonal entry, or at least rows when there is none.
inline void refuse_missing(const CsrRef& A, int64_t row) {
  require(row >= A.rows, KKC_STATUS_INVALID_ARGUMENT, "A has no diagonal entry in row ", row,
          " (counted from 0), expected one in every row");
}

}  // namespace kkc::spgemm_jacobi
