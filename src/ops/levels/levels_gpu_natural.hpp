// levels, gpu_natural: on the device, rows in their natural order.
#pragma once

#include "levels_gpu_find.hpp"

namespace kkc::levels {

template <class Dev>
constexpr Implementation gpu_natural() {
  return {{"gpu_natural"}, gpu_parts::find};
}

}  // namespace kkc::levels
