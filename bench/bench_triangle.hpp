// Triangles that solves are timed on, and how far a solution is from solving.
#pragma once

#include <vector>

#include "bench_matrix.hpp"

namespace kkc::bench {

/// A CSR matrix in host memory: sorted rows, base 0, index pair and element type (f32 or f64) as asked for.
struct HostTriangle {
  kkc_index_pair_t index;
  kkc_scalar_t scalar;
  bool lower;
  int64_t rows, nnz;
  std::vector<unsigned char> offsets, indices, values;
};

/// What a triangle has on its diagonal. dominant: A's, but where it does not dominate its row and its column it is made
/// to, and added where it is missing: solutions stay as large as the right side.
enum class Diagonal { dominant, given, ones };

/// The lower or upper triangle of a square matrix with sorted rows.
HostTriangle triangle_of(const CsrArrays& A, bool lower, Diagonal diagonal);

/// NAME is as for load_matrix, the triangle of which has a dominant diagonal, or one of these with NAME in it, whose
/// factor L (lower, its ones are stored) or U is taken: ilu0:NAME, ilu1:NAME and so on are incomplete factors of NAME
/// with a dominant diagonal; superlu:NAME are those of SuperLU in METIS' order.
HostTriangle load_triangle(const Session& session, kkc_context_t* ctx, const std::string& name, bool lower,
                           kkc_index_pair_t index, kkc_scalar_t scalar);

/// The largest |op(T) x - b| / (|op(T)| |x| + |b|) of all rows and vectors; negative when one is not a number or beyond
/// what its terms' roundings explain.
double solve_error(const HostTriangle& T, kkc_op_t op, int64_t vectors, const void* b, const void* x,
                   int64_t row_stride, int64_t vector_stride);

}  // namespace kkc::bench
