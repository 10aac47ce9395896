// What the library knows of its process: whether devices were used, and whether this is a forked child of such use.
#pragma once

namespace kkc {

/// Devices are about to start threads or drivers: from now on children of fork are refused.
void note_device_use();

/// True in a child whose parent had used a device before it forked.
bool in_forked_child() noexcept;

}  // namespace kkc
