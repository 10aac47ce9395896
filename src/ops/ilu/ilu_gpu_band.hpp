// ilu, gpu_band: rows of a narrow band, one pivot after the other in shared memory.
#pragma once

#include "ops/ilu/ilu.hpp"
#include "ops/ilu/ilu_gpu_band_factors.hpp"

namespace kkc::ilu {

template <class Dev>
constexpr Implementation gpu_band() {
  return {{"gpu_band"}, true, gpu_parts::band_unsupported<Form::lu>, gpu_parts::make_band<Form::lu>};
}

}  // namespace kkc::ilu
