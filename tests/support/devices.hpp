// The devices that this run of the tests visits, and its random seed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kkc.h"

namespace kkc_test {

/// What `--device` names; by default every device that is present.
const std::vector<kkc_device_t>& devices();

/// What `--seed` gives; by default another number in every run. Printed at the start.
uint64_t seed();

const char* name(kkc_device_t device);

inline bool is_gpu(kkc_device_t device) { return device == KKC_DEVICE_CUDA || device == KKC_DEVICE_HIP; }

}  // namespace kkc_test
