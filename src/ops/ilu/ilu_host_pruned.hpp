// ilu, host_pruned: entries of L on which no row's U depends are found last, and all of it by lists.
#pragma once

#include "ops/ilu/ilu_host_pruned_factors.hpp"

namespace kkc::ilu {

template <class Dev>
constexpr Implementation host_pruned() {
  return {{"host_pruned"}, true, host::pruned_unsupported, host::make_pruned};
}

}  // namespace kkc::ilu
