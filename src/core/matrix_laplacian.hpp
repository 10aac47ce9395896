// The graph Laplacian of a matrix's pattern.
#pragma once

#include "host_matrix.hpp"

namespace kkc {

/// D - G + shift I, where G is the symmetrised pattern of `a` (host memory) without its diagonal and D its degrees.
/// Index pair and scalar are a's (f64 for a pattern). Throws SIZE_MISMATCH when `a` is not square, OVERFLOW, and what
/// validate_matrix throws.
HostCsr matrix_laplacian(const CsrRef& a, double shift, const std::shared_ptr<const Memory>& memory);

}  // namespace kkc
