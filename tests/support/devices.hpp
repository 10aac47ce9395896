// The devices that this run of the tests visits, and its random seed.
#pragma once

#include <algorithm>
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

/// Hosts take longer over sizes that only a GPU needs.
inline bool any_gpu() { return std::any_of(devices().begin(), devices().end(), is_gpu); }

/// A device as tests visit it: OpenMP also with more threads than some parts have work.
struct Visit {
  kkc_device_t device;
  std::string options;
};

inline std::vector<Visit> visits() {
  std::vector<Visit> all;
  for (const kkc_device_t device : devices()) {
    all.push_back({device, ""});
    if (device == KKC_DEVICE_OPENMP) all.push_back({device, R"({"threads": 3})"});
  }
  return all;
}

}  // namespace kkc_test
