// Writes Matrix Market files, gzipped when the path ends in .gz. A file appears whole or not at all.
#pragma once

#include <memory>
#include <string>

#include "memory.hpp"
#include "operands.hpp"

namespace kkc {

class Options;

/// Coordinate format of a CSR matrix in host memory. Options: symmetry, precision, comment (kkc_matrix_write).
/// Throws IO, UNKNOWN_OPTION, INVALID_ARGUMENT (the matrix lacks the wanted symmetry).
void write_matrix_market(const CsrRef& a, const std::string& path, const Options& options,
                         const std::shared_ptr<const Memory>& memory);

/// Array format of a rank-1 (one column) or rank-2 array of any element type in host memory.
void write_matrix_market_dense(const DenseRef& a, const std::string& path, const std::shared_ptr<const Memory>& memory);

}  // namespace kkc
