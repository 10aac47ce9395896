// Device tag of Kokkos::Serial: kernels run on the calling thread.
#pragma once

#include <Kokkos_Core.hpp>

#include "core/queue.hpp"
#include "host_queue.hpp"

namespace kkc {

/// Holds an instance of its own, hence a mutex of its own: contexts do not wait for one another.
class SerialQueue final : public HostQueue {
 public:
  SerialQueue() : space_(Kokkos::NewInstance{}) {}
  Device device() const override { return Device::serial; }
  const DeviceTable& table() const override { return table_serial; }
  int32_t concurrency() const override { return 1; }
  const Kokkos::Serial& space() const { return space_; }

 private:
  Kokkos::Serial space_;
};

struct Serial {
  static constexpr Device id = Device::serial;
  static constexpr bool is_host = true;
  using exec = Kokkos::Serial;
  static const exec& space(Queue& queue) { return static_cast<SerialQueue&>(queue).space(); }
  static int threads(Queue&) { return 1; }
};

}  // namespace kkc
