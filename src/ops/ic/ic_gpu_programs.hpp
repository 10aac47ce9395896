// ic, gpu_programs: ilu's, with another form of factors.
#pragma once

#include "ops/ic/ic.hpp"
#include "ops/ilu/ilu_gpu_programs_factors.hpp"

namespace kkc::ic {

template <class Dev>
constexpr Implementation gpu_programs() {
  return {{"gpu_programs"},
          true,
          ilu::gpu_parts::programs_unsupported<ilu::Form::cholesky>,
          ilu::gpu_parts::make_programs<ilu::Form::cholesky>};
}

}  // namespace kkc::ic
