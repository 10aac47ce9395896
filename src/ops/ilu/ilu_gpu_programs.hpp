// ilu, gpu_programs: numbers that are their own flags, and what rows do found in the plan for all that are alike.
#pragma once

#include "ops/ilu/ilu_gpu_programs_factors.hpp"

namespace kkc::ilu {

template <class Dev>
constexpr Implementation gpu_programs() {
  return {{"gpu_programs"}, true, gpu_parts::programs_unsupported<Form::lu>, gpu_parts::make_programs<Form::lu>};
}

}  // namespace kkc::ilu
