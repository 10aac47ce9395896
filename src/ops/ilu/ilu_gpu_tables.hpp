// ilu, gpu_tables: numbers that are their own flags, and where each row finds those that it needs found in the plan.
#pragma once

#include "ops/ilu/ilu_gpu_tables_factors.hpp"

namespace kkc::ilu {

template <class Dev>
constexpr Implementation gpu_tables() {
  return {{"gpu_tables"}, true, gpu_parts::tables_unsupported<Form::lu>, gpu_parts::make_tables<Form::lu>};
}

}  // namespace kkc::ilu
