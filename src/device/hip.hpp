// The tag Hip with Kokkos: what kernels written as Kokkos patterns include.
#pragma once

#include <Kokkos_Core.hpp>

#include "device/hip_tag.hpp"

namespace kkc {

/// At plan time, in every translation unit whose kernels execute launches through Kokkos (see cuda.hpp).
inline void prepare_kokkos(Type<Hip>) { desul::ensure_hip_lock_arrays_on_device(); }

}  // namespace kkc
