// ic, gpu_band: rows of a narrow band, one pivot after the other in shared memory.
#pragma once

#include "ops/ic/ic.hpp"
#include "ops/ilu/ilu_gpu_band_factors.hpp"

namespace kkc::ic {

template <class Dev>
constexpr Implementation gpu_band() {
  return {{"gpu_band"},
          true,
          ilu::gpu_parts::band_unsupported<ilu::Form::cholesky>,
          ilu::gpu_parts::make_band<ilu::Form::cholesky>};
}

}  // namespace kkc::ic
