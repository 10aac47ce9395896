// Levels that plans have found, for other plans on the same shared pattern, e.g. those of a factorization's solves.
#pragma once

#include "levels.hpp"

namespace kkc::levels {

/// Those of the pattern whose offsets are this buffer, while something still holds them; null if there are none or
/// `offsets` is null. Thread-safe.
std::shared_ptr<const Levels> known(const std::shared_ptr<const Buffer>& offsets, Uplo uplo, bool transposed);

/// `offsets`: of a pattern that is never written again (Matrix::shared_offsets, OutputPattern). Null: does nothing.
void remember(const std::shared_ptr<const Buffer>& offsets, const std::shared_ptr<const Levels>& levels);

}  // namespace kkc::levels
