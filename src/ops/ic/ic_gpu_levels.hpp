// ic, gpu_levels: ilu's, with another form of factors.
#pragma once

#include "ops/ic/ic.hpp"
#include "ops/ilu/ilu_gpu_levels_factors.hpp"

namespace kkc::ic {

template <class Dev>
constexpr Implementation gpu_levels() {
  return {{"gpu_levels"}, true, ilu::gpu_parts::levels_unsupported, ilu::gpu_parts::make_levels<ilu::Form::cholesky>};
}

}  // namespace kkc::ic
