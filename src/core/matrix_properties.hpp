// What a CSR matrix in host memory is: validity of its pattern, its properties, and facts about its values.
#pragma once

#include <memory>

#include "info.hpp"
#include "memory.hpp"
#include "operands.hpp"

namespace kkc {

/// KKC_MATRIX_* bits. Reads offsets and indices only. Throws INVALID_ARGUMENT (offsets) or INDEX_OUT_OF_RANGE, each
/// with the first bad row and the value.
kkc_matrix_properties_t validate_matrix(const CsrRef& a, const std::shared_ptr<const Memory>& memory);

/// Validates, and describes sizes, rows' lengths, bandwidth, symmetry and dominance (kkc_matrix_info).
Info describe_matrix(const CsrRef& a, const std::shared_ptr<const Memory>& memory);

}  // namespace kkc
