// The HIP module: tag, table and entry.
#include "device/gpu_module.hpp"
#include "device/hip.hpp"

namespace kkc {

extern const DeviceTable table_hip;

const Hip::exec& Hip::space(Queue& queue) {
  return *static_cast<const exec*>(static_cast<gpu::GpuQueue&>(queue).space());
}

namespace {

struct HipVendor {
  using exec = Kokkos::HIP;
  static const DeviceTable& table() { return table_hip; }
  /// The loader has compared architectures; loading the first kernel shows whether there is code for the device.
  static bool serves(const gpu::DeviceFacts&) { return true; }
  static const void* scratch() { return Kokkos::Impl::HIPInternal::singleton().m_scratchSpace; }
  static void forget() {}  // HIP's own instance is never destroyed
};

}  // namespace
}  // namespace kkc

extern "C" __attribute__((visibility("default"))) kkc_status_t kkc_module_entry(const char* build_id,
                                                                                const kkc::CoreTable* core,
                                                                                kkc::Backend** backend, char* text,
                                                                                size_t capacity) {
  return kkc::gpu::Module<kkc::HipVendor>::enter(build_id, core, backend, text, capacity);
}
