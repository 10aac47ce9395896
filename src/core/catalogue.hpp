// What the library can do: devices, operations and their implementations by name.
#pragma once

#include "matrix.hpp"

namespace kkc {

/// 0 for a GPU kind without driver or module.
int32_t device_count(Device device);

/// Refuses unknown operations, with the list.
const OperationTable& implementations_of(Device device, const char* operation);

/// False for a device that is not there.
bool supports(Device device, const char* operation, int32_t index_pair, int32_t scalar);

}  // namespace kkc
