// ilu, gpu_few_levels: gpu_levels where that is faster than all others.
#pragma once

#include "ops/ilu/ilu.hpp"
#include "ops/ilu/ilu_gpu_levels_factors.hpp"

namespace kkc::ilu {

template <class Dev>
constexpr Implementation gpu_few_levels() {
  return {{"gpu_few_levels"}, true, gpu_parts::few_levels_unsupported<Form::lu>, gpu_parts::make_levels<Form::lu>};
}

}  // namespace kkc::ilu
