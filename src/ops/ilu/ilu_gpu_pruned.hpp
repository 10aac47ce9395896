// ilu, gpu_pruned: entries of L on which no row's U depends are found last, all at once.
#pragma once

#include "ops/ilu/ilu_gpu_pruned_factors.hpp"

namespace kkc::ilu {

template <class Dev>
constexpr Implementation gpu_pruned() {
  return {{gpu_parts::pruned_name}, true, gpu_parts::pruned_unsupported, gpu_parts::make_pruned};
}

}  // namespace kkc::ilu
