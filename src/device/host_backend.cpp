// Which backend serves a device: those of hosts are here, those of GPUs in modules.
#include "core/module_loader.hpp"
#include "host_queue.hpp"

namespace kkc {

Backend& backend(Device device) {
  if (is_host(device)) return host_backend(device);
  return load_module(device);
}

}  // namespace kkc
