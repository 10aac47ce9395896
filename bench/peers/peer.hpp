// What a peer library is to the benchmark: one loadable module with one adapter class.
//
// A module `kkc_bench_<peer>.so` exports `kkc_bench_peer()`. It is opened when it lies beside the program; a module
// that does not open (its library is missing on this machine) is reported with the loader's words and left out.
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "kkc.h"

namespace kkc::bench {

/// y = op(A) x on arrays in the device's memory, the same for every entrant.
struct SpmvProblem {
  kkc_device_t device;
  int32_t device_id;
  void* stream;     // GPUs: all work is enqueued here
  int32_t threads;  // hosts
  kkc_scalar_t scalar;
  kkc_index_pair_t index;
  int32_t base;
  int64_t rows, cols, nnz;
  const void* offsets;
  const void* indices;
  void* values;
  kkc_op_t op;
  int64_t vectors;
  kkc_layout_t layout;  // left or right
  const void* x;
  int64_t ldx;
  void* y;
  int64_t ldy;

  bool transposed() const { return op == KKC_OP_TRANSPOSE || op == KKC_OP_HERMITIAN; }
  int64_t x_rows() const { return transposed() ? rows : cols; }
  int64_t y_rows() const { return transposed() ? cols : rows; }
};

/// op(T) x = b for a triangle T that lies alone: sorted rows, each column once, base 0, the diagonal stored.
struct SptrsvProblem {
  kkc_device_t device;
  int32_t device_id;
  void* stream;         // GPUs: all work is enqueued here
  int32_t threads;      // hosts
  kkc_scalar_t scalar;  // f32 or f64
  kkc_index_pair_t index;
  int64_t rows, nnz;
  const void *offsets, *indices;
  void* values;
  kkc_op_t op;  // N or T
  bool lower;
  int64_t vectors;
  kkc_layout_t layout;  // of b and x; left or right
  const void* b;
  void* x;
  int64_t ld;  // of b and x
};

/// C = A^T, or A with sorted rows, or as CSR, on arrays in the device's memory. C's arrays have room for A's entries.
struct ReorderProblem {
  kkc_device_t device;
  int32_t device_id;
  void* stream;     // GPUs: all work is enqueued here
  int32_t threads;  // hosts
  kkc_scalar_t scalar;
  kkc_index_pair_t index;
  int32_t base;  // of A and C
  int64_t rows, cols, nnz;
  const void *offsets, *indices, *values;
  void *offsets_C, *indices_C, *values_C;
  const void* row_indices = nullptr;  // A is given by coordinates in no order, and has no offsets
};

/// One pass through a CSR matrix in the device's memory. `result` takes the diagonal, or each entry's row.
struct PassProblem {
  kkc_device_t device;
  int32_t device_id;
  void* stream;     // GPUs: all work is enqueued here
  int32_t threads;  // hosts
  kkc_scalar_t scalar;
  kkc_index_pair_t index;
  int32_t base;
  int64_t rows, cols, nnz;
  const void *offsets, *indices;
  void* values;
  void* result;
  const void *row_factors, *col_factors;  // to scale the values by, in place
};

/// y = prefix sums of x, or sorted = x sorted: n elements in the device's memory, or `lines` runs of n each.
struct LinesProblem {
  kkc_device_t device;
  void* stream;
  int32_t threads;
  kkc_scalar_t scalar;  // f32 or f64
  int64_t lines, n;
  const void* x;
  void* y;
  int32_t* places;  // sorts: where each sorted element was, or null
};

/// One way to do the job. `run` owns what it needs; on a GPU it only enqueues.
struct Entrant {
  std::string name;
  bool keeps_values = false;   // runs on a copy of the values that was made in set-up
  double setup_seconds = 0.0;  // analysis, conversion, optimisation: once per pattern (or per values)
  std::function<void()> run;
  std::function<void()> fetch;  // brings the result to y where `run` leaves it in the library's own memory
};

/// A CSR matrix in the device's memory.
struct SparseOperand {
  int64_t rows = 0, cols = 0, nnz = 0;
  kkc_index_pair_t index = KKC_INDEX_32_32;
  int32_t base = 0;
  const void* offsets = nullptr;
  const void* indices = nullptr;
  void* values = nullptr;
};

/// C = op_A(A) op_B(B), of the operands' element type.
struct SpgemmProblem {
  kkc_device_t device;
  int32_t device_id;
  void* stream;     // GPUs: all work is enqueued here
  int32_t threads;  // hosts
  kkc_scalar_t scalar;
  kkc_index_pair_t index_c;
  SparseOperand A, B;
  kkc_op_t op_a, op_b;  // none or transpose
};

/// C = B - omega diag(inverse) A B.
struct JacobiProblem {
  SpgemmProblem product;  // without ops
  double omega;
  const void* inverse;  // of A's diagonal, of the element type, in the device's memory
};

/// One way to multiply.
struct SpgemmEntrant {
  std::string name;
  std::function<void()> whole;              // from nothing to C; drops what an earlier call made
  std::function<void()> numeric;            // after whole: C's values again, for new values of A and B; null: it cannot
  std::function<SparseOperand()> result;    // after whole: C; rows in any order
  std::function<size_t()> workspace_bytes;  // after whole: the most beside A, B and C; null: unknown
  bool converts = false;                    // it cannot transpose but by a conversion, which is timed with it
};

/// C = alpha op(A) + beta op(B) for matrices with sorted rows and base 0; op_A and op_B are N or T.
struct SpaddProblem {
  kkc_device_t device;
  int32_t device_id;
  void* stream;     // GPUs: all work is enqueued here
  int32_t threads;  // hosts
  kkc_scalar_t scalar;
  kkc_index_pair_t index;
  kkc_op_t op_A, op_B;
  SparseOperand A, B;
  double alpha, beta;
};

/// A ~ L U (as one matrix, L without its unit diagonal) or L L^H on A's own pattern, or its lower triangle's. A's rows
/// are sorted and hold their diagonal.
struct FactorProblem {
  kkc_device_t device;
  int32_t device_id;
  void* stream;     // GPUs: all work is enqueued here
  int32_t threads;  // hosts
  kkc_scalar_t scalar;
  bool cholesky;
  SparseOperand A;
};

/// A CSR matrix in host memory, with widths of its arrays' elements.
struct HostResult {
  int64_t rows, nnz;
  int offset_bytes, index_bytes;
  int32_t base;
  const void *offsets, *indices, *values;
};

/// One way to make a matrix. `symbolic` finds the pattern and may be null; `numeric` then computes values for the
/// pattern, or everything where the library knows no phases. Both own what they need.
struct TwoPhases {
  std::string name;
  std::function<void()> symbolic;
  std::function<void()> numeric;
  std::function<HostResult()> fetch;  // what the last numeric gave; valid until the next
};

/// Thrown by an adapter for a case that its library does not take; the text is the reason.
class NotTaken : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class Peer {
 public:
  virtual ~Peer() = default;
  virtual std::string name() const = 0;
  virtual std::string version() const = 0;
  virtual bool serves(kkc_device_t device) const = 0;
  // One member per operation; what is not overridden is not taken.
  virtual std::vector<Entrant> spmv(const SpmvProblem&) { throw NotTaken("has no such operation"); }
  virtual std::vector<Entrant> transpose(const ReorderProblem&) { throw NotTaken("has no such operation"); }
  virtual std::vector<Entrant> sort_rows(const ReorderProblem&) { throw NotTaken("has no such operation"); }
  virtual std::vector<Entrant> matrix_diagonal(const PassProblem&) { throw NotTaken("has no such operation"); }
  virtual std::vector<Entrant> matrix_scale(const PassProblem&) { throw NotTaken("has no such operation"); }
  virtual std::vector<Entrant> csr_to_coo(const PassProblem&) { throw NotTaken("has no such operation"); }
  virtual std::vector<Entrant> coo_to_csr(const ReorderProblem&) { throw NotTaken("has no such operation"); }
  virtual std::vector<SpgemmEntrant> spgemm(const SpgemmProblem&) { throw NotTaken("has no such operation"); }
  virtual std::vector<SpgemmEntrant> spgemm_jacobi(const JacobiProblem&) { throw NotTaken("has no such operation"); }
  virtual std::vector<Entrant> view_scan(const LinesProblem&) { throw NotTaken("has no such operation"); }
  virtual std::vector<Entrant> view_sort(const LinesProblem&) { throw NotTaken("has no such operation"); }
  virtual std::vector<Entrant> sptrsv(const SptrsvProblem&) { throw NotTaken("has no such operation"); }
  virtual std::vector<TwoPhases> factors(const FactorProblem&) { throw NotTaken("has no such operation"); }
  virtual std::vector<TwoPhases> spadd(const SpaddProblem&) { throw NotTaken("has no such operation"); }
};

}  // namespace kkc::bench

#if defined(__GNUC__)
#define KKC_BENCH_EXPORT extern "C" __attribute__((visibility("default")))
#endif
