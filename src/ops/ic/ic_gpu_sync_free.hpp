// ic, gpu_sync_free: ilu's, with another form of factors.
#pragma once

#include "ops/ic/ic.hpp"
#include "ops/ilu/ilu_gpu_factors.hpp"

namespace kkc::ic {

template <class Dev>
constexpr Implementation gpu_sync_free() {
  return {{"gpu_sync_free"},
          true,
          ilu::gpu_parts::sync_free_unsupported,
          ilu::gpu_parts::make_sync_free<ilu::Form::cholesky>};
}

}  // namespace kkc::ic
