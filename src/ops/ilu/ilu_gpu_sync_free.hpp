// ilu, gpu_sync_free: a warp a row in the order of levels, numbers that are their own flags.
#pragma once

#include "ops/ilu/ilu_gpu_factors.hpp"

namespace kkc::ilu {

template <class Dev>
constexpr Implementation gpu_sync_free() {
  return {{"gpu_sync_free"}, true, gpu_parts::sync_free_unsupported, gpu_parts::make_sync_free<Form::lu>};
}

}  // namespace kkc::ilu
