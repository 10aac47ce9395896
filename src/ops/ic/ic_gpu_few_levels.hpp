// ic, gpu_few_levels: gpu_levels where that is faster than all others.
#pragma once

#include "ops/ic/ic.hpp"
#include "ops/ilu/ilu_gpu_levels_factors.hpp"

namespace kkc::ic {

template <class Dev>
constexpr Implementation gpu_few_levels() {
  return {{"gpu_few_levels"},
          true,
          ilu::gpu_parts::few_levels_unsupported<ilu::Form::cholesky>,
          ilu::gpu_parts::make_levels<ilu::Form::cholesky>};
}

}  // namespace kkc::ic
