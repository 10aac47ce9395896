// The tag Cuda with Kokkos: what kernels written as Kokkos patterns include.
#pragma once

#include <Kokkos_Core.hpp>

#include "device/cuda_tag.hpp"

namespace kkc {

/// At plan time, called directly from every translation unit whose kernels execute launches through Kokkos: the unit's
/// first launch otherwise copies the unit's own lock arrays synchronously, which breaks a stream capture. Static, so
/// that the linker does not merge the units' copies.
[[maybe_unused]] static void prepare_kokkos(Cuda) { desul::ensure_cuda_lock_arrays_on_device(); }

}  // namespace kkc
