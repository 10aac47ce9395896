// The CUDA module: tag, table and entry.
#include "device/cuda.hpp"
#include "device/gpu_module.hpp"

namespace kkc {

extern const DeviceTable table_cuda;

const Cuda::exec& Cuda::space(Queue& queue) {
  return *static_cast<const exec*>(static_cast<gpu::GpuQueue&>(queue).space());
}

namespace {

struct CudaVendor {
  using exec = Kokkos::Cuda;
  static const DeviceTable& table() { return table_cuda; }
  /// Machine code runs on its own major version, from its minor version on.
  static bool serves(const gpu::DeviceFacts& facts) {
    for (const int code : {__CUDA_ARCH_LIST__})
      if (code / 100 == facts.capability / 10 && code / 10 <= facts.capability) return true;
    return false;
  }
  static const void* scratch() { return Kokkos::Impl::CudaInternal::singleton().m_scratchSpace; }
  static void forget() {
    auto& own = Kokkos::Impl::CudaInternal::singleton();
    own.m_scratchSpace = nullptr;
    own.m_scratchFlags = nullptr;
    own.m_scratchUnified = nullptr;
  }
};

}  // namespace
}  // namespace kkc

extern "C" __attribute__((visibility("default"))) kkc_status_t kkc_module_entry(const char* build_id,
                                                                                const kkc::CoreTable* core,
                                                                                kkc::Backend** backend, char* text,
                                                                                size_t capacity) {
  return kkc::gpu::Module<kkc::CudaVendor>::enter(build_id, core, backend, text, capacity);
}
