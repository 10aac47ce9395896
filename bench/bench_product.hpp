// Cases whose result is a product of sparse matrices, for benchmarks of several operations: kkc's variants, kkc's other
// ways and one peer at a time beside them (results are too large to hold many), each as two cases: execute (C's values
// again, for new values) and whole (from nothing to C).
#pragma once

#include <complex>
#include <functional>

#include "bench_matrix.hpp"

namespace kkc::bench {

using Wide = std::complex<double>;

Wide value_at(kkc_scalar_t scalar, const void* values, int64_t p);

/// Where a matrix lies.
SparseOperand operand(const kkc_matrix_t* A);

/// op(A) x, or |op(A)| x, for a matrix in host memory.
std::vector<Wide> apply(const SparseOperand& A, kkc_scalar_t scalar, bool transposed, bool absolute,
                        const std::vector<Wide>& x);

/// x for checks: numbers in [-1, 1).
std::vector<Wide> check_vector(int64_t length);
std::vector<Wide> magnitudes(std::vector<Wide> x);

/// Of op(A) op(B), for matrices in host memory.
int64_t products_of(const SparseOperand& A, bool transposed_a, const SparseOperand& B, bool transposed_b);

/// A's diagonal, entries of one place added, for a matrix in host memory.
std::vector<Wide> diagonal_of(const SparseOperand& A, kkc_scalar_t scalar);

/// The tentative prolongator for the generated matrix `name`: each row has one entry. Grids: aggregates of 3 points a
/// dimension, one column for each unknown of a point. Other matrices: aggregates of 27 rows, grown breadth first.
Matrix prolongator(kkc_context_t* ctx, const std::string& name, const CsrArrays& A);

/// An operation with operands, as the harness runs it.
struct ProductCase {
  std::string operation, op;
  Case c;
  SparseOperand A, B;    // in the device's memory
  int64_t products = 0;  // multiplications of entries
  double flops = 0.0;
  // What C x is, and with absolute values in place of all factors.
  std::vector<Wide> x, value, weight;
  std::function<Plan(kkc_options_t* options)> plan;
  std::function<void(kkc_plan_t* plan, kkc_matrix_t* C)> execute;
  std::function<std::vector<SpgemmEntrant>()> others;  // kkc's other ways
  std::function<std::vector<SpgemmEntrant>(Peer& peer)> entrants;
};

void run_product(Session& session, Bench& bench, const ProductCase& product);

/// For each matrix, type, device, threads and op of the command line: runs the case, with the matrix on an OpenMP
/// context.
void each_product_case(
    Session& session, const std::string& operation, const std::vector<std::string>& ops,
    const std::function<Matrix(kkc_context_t* loader, const Case& c)>& load,
    const std::function<void(const Case& c, const std::string& op, kkc_context_t* loader, const Matrix& loaded)>& run);

/// `m` itself for OpenMP, else a copy on the device, kept in `copy`.
kkc_matrix_t* on_device(Bench& bench, const Case& c, kkc_matrix_t* m, Matrix& copy);

}  // namespace kkc::bench
