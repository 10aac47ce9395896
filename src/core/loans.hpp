// kkc_malloc, kkc_free and kkc_copy: raw memory that the caller owns.
#pragma once

#include "memory.hpp"

namespace kkc {

/// Device memory that stays until return_memory; null for 0 bytes.
void* loan_memory(const std::shared_ptr<const Memory>& memory, size_t bytes);
/// Refuses what loan_memory did not give for the queue's device.
void return_memory(const Queue& queue, void* data);
void copy_bytes(Queue& queue, void* destination, const void* source, size_t bytes, int32_t direction);

}  // namespace kkc
