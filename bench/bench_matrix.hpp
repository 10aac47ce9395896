// Matrices that operations are timed on, and vectors to go with them.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "bench_session.hpp"

namespace kkc::bench {

/// A CSR matrix's sizes and arrays as kkc_csr_get gives them.
struct CsrArrays {
  int64_t rows = 0, cols = 0, nnz = 0;
  kkc_index_pair_t index = KKC_INDEX_32_32;
  kkc_scalar_t scalar = KKC_TYPE_F64;
  int32_t base = 0;
  const void* offsets = nullptr;
  const void* indices = nullptr;
  void* values = nullptr;
};
CsrArrays arrays_of(const kkc_matrix_t* A);

/// The generator's name in NAME@ROWS.
std::string family_of(const std::string& name);

/// A generated matrix of the session's size, or NAME@ROWS of about so many rows, or a file (as given, or in the folder
/// KKC_DATA_DIR); NAME:laplacian is the graph Laplacian of NAME's pattern plus the identity. dominant: generated ones
/// get a diagonal that dominates their rows.
Matrix load_matrix(const Session& session, kkc_context_t* ctx, const std::string& name, kkc_index_pair_t index,
                   kkc_scalar_t scalar, bool dominant = false);

/// Reproducible numbers in [-1, 1) of the element type; `seed` tells vectors apart.
std::vector<unsigned char> random_vector(kkc_scalar_t scalar, int64_t count, uint64_t seed);

/// `value` as one element of the type.
std::array<unsigned char, 16> element(kkc_scalar_t scalar, double value);

}  // namespace kkc::bench
