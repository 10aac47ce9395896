// Test matrices by name, the same on every machine (docs/matrices.md).
#pragma once

#include <string_view>

#include "host_matrix.hpp"

namespace kkc {

class Options;

/// Throws INVALID_ARGUMENT (unknown name, bad sizes), UNKNOWN_OPTION, and OVERFLOW before anything is allocated.
HostCsr generate_matrix(std::string_view name, const Options& options, IndexPair pair, Scalar scalar,
                        const std::shared_ptr<const Memory>& memory);

}  // namespace kkc
