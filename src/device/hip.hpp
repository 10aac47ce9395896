// The tag Hip with Kokkos: what kernels written as Kokkos patterns include.
#pragma once

#include <Kokkos_Core.hpp>

#include "device/hip_tag.hpp"

namespace kkc {

/// At plan time, called directly from every translation unit whose kernels execute launches through Kokkos: the unit's
/// first launch otherwise copies the unit's own lock arrays synchronously, which breaks a stream capture. Static, so
/// that the linker does not merge the units' copies.
[[maybe_unused]] static void prepare_kokkos(Hip) { desul::ensure_hip_lock_arrays_on_device(); }

}  // namespace kkc
