// Sees every call into the CUDA runtime and driver of this process, whoever makes it, through CUPTI.
#pragma once

#include <string>
#include <vector>

namespace kkc_test {

/// Opens CUPTI; false when it is not there.
bool open_callbacks();

/// From now on calls that allocate, free, wait for the device, copy synchronously or load code are noted.
void watch_calls();

/// Their names since then, in order.
std::vector<std::string> watched_calls();

}  // namespace kkc_test
