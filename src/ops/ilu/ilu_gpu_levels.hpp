// ilu, gpu_levels: the rows of a level at once, one level after another.
#pragma once

#include "ops/ilu/ilu_gpu_levels_factors.hpp"

namespace kkc::ilu {

template <class Dev>
constexpr Implementation gpu_levels() {
  return {{"gpu_levels"}, true, gpu_parts::levels_unsupported, gpu_parts::make_levels<Form::lu>};
}

}  // namespace kkc::ilu
