// Asks the GPU drivers which architectures are there, without their headers and without starting a GPU's work.
#pragma once

#include <string>
#include <vector>

#include "types.hpp"

namespace kkc {

/// One entry a GPU, in the driver's order: "sm_90", "gfx90a". Throws DEVICE_UNAVAILABLE without driver or GPU.
std::vector<std::string> gpu_architectures(Device device);

/// Whether code for `module` ("sm90", "gfx90a") runs on `gpu` ("sm_90", "gfx90a").
bool runs_on(Device device, const std::string& module, const std::string& gpu);

}  // namespace kkc
