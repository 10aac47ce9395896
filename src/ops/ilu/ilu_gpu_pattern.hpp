// The factors' pattern on GPUs, and its levels, which what looks at implementations finds once for all of them.
#pragma once

#include "ops/ilu/ilu.hpp"
#include "ops/levels/levels.hpp"

namespace kkc::ilu::gpu_parts {

/// The pattern of the factors.
inline CsrRef pattern_of_factors(const Desc& desc) {
  return {desc.A.pair,
          desc.A.scalar,
          0,
          desc.A.rows,
          desc.A.rows,
          desc.factors.nnz,
          desc.factors.offsets->data(),
          desc.factors.indices->data(),
          nullptr};
}

/// Levels of the factors' rows.
inline const std::shared_ptr<const Levels>& levels_of(const Desc& desc, Queue& queue) {
  if (!desc.levels) desc.levels = levels::find(queue, {pattern_of_factors(desc), Uplo::lower, false, desc.memory});
  return desc.levels;
}

/// Why patterns of narrower levels than `least` rows in the mean are not taken, or nothing. Finds levels.
inline std::string narrow_levels(const Desc& desc, Queue& queue, int64_t least) {
  const int64_t levels = levels_of(desc, queue)->count;
  if (desc.A.rows >= least * levels) return {};
  return cat("takes levels of ", least, " rows or more in the mean, ", desc.A.rows, " rows have ", levels);
}

}  // namespace kkc::ilu::gpu_parts
