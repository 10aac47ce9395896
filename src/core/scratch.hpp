// Device memory that a context owns for the operations without a plan, so that they never allocate.
#pragma once

#include <cstddef>
#include <cstdint>

namespace kkc {

/// Allocated in device memory at a context's creation, zeroed once. Operations of one context follow one another on
/// its stream, so they share it. It begins with tickets: counters that every kernel leaves at zero again.
inline constexpr size_t scratch_bytes = size_t{1} << 20;
inline constexpr size_t scratch_ticket_bytes = size_t{1} << 14;
inline constexpr size_t scratch_tickets = scratch_ticket_bytes / sizeof(uint32_t);

}  // namespace kkc
