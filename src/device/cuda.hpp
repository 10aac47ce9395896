// The tag Cuda with Kokkos: what kernels written as Kokkos patterns include.
#pragma once

#include <Kokkos_Core.hpp>

#include "device/cuda_tag.hpp"

namespace kkc {

/// At plan time, in every translation unit whose kernels execute launches through Kokkos: the unit's first launch
/// otherwise copies its lock arrays synchronously, which breaks a stream capture.
inline void prepare_kokkos(Type<Cuda>) { desul::ensure_cuda_lock_arrays_on_device(); }

}  // namespace kkc
