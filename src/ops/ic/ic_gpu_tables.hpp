// ic, gpu_tables: ilu's, with another form of factors.
#pragma once

#include "ops/ic/ic.hpp"
#include "ops/ilu/ilu_gpu_tables_factors.hpp"

namespace kkc::ic {

template <class Dev>
constexpr Implementation gpu_tables() {
  return {{"gpu_tables"},
          true,
          ilu::gpu_parts::tables_unsupported<ilu::Form::cholesky>,
          ilu::gpu_parts::make_tables<ilu::Form::cholesky>};
}

}  // namespace kkc::ic
