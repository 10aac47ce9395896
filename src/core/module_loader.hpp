// Finds and opens GPU modules: libkkc_cuda_sm<NN>.so and libkkc_hip_gfx<NNN>.so.
#pragma once

#include "queue.hpp"

namespace kkc {

/// The backend of the best module for the GPUs that the driver shows, opened on the first call that succeeds. Throws
/// DEVICE_UNAVAILABLE with the file and the reason: missing, of another build, no driver, no GPU, another architecture.
/// Thread-safe. Never starts the driver unless there is a module.
Backend& load_module(Device device);

}  // namespace kkc
