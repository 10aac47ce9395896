// The HIP runtime under the names that the shared GPU sources use (cuda_api.hpp: the same for CUDA).
#pragma once

#include <hip/hip_runtime.h>

#include <cstdint>
#include <string>

#include "core/types.hpp"

namespace kkc::gpu {

inline constexpr Device device = Device::hip;

using status_t = hipError_t;
using stream_t = hipStream_t;
using event_t = hipEvent_t;
using pool_t = hipMemPool_t;
using context_t = int;  // HIP has only primary contexts: the device's number
using attributes_t = hipFuncAttributes;
inline constexpr status_t success = hipSuccess;
inline constexpr status_t out_of_memory = hipErrorOutOfMemory;
inline constexpr const char* stream_type = "hipStream_t";

inline const char* error_name(status_t s) { return hipGetErrorName(s); }
inline const char* error_text(status_t s) { return hipGetErrorString(s); }
/// Reads and clears the thread's last launch error.
inline status_t last_error() { return hipGetLastError(); }

// Devices.
inline status_t device_count(int& count) { return hipGetDeviceCount(&count); }
inline status_t set_device(int id) { return hipSetDevice(id); }
inline context_t current_context() {
  context_t context = 0;
  return hipGetDevice(&context) == hipSuccess ? context : 0;
}
inline void make_current(context_t context) { static_cast<void>(hipSetDevice(context)); }
/// HIP 5.2 cannot say which device a stream is of.
inline bool belongs_to(stream_t, context_t) { return true; }

struct DeviceFacts {
  std::string name, architecture;
  int capability;  // 90 for gfx90a: major and minor version
  int multiprocessors;
  size_t memory;
};
inline status_t device_facts(DeviceFacts& facts, int id) {
  hipDeviceProp_t properties;
  if (const status_t status = hipGetDeviceProperties(&properties, id); status != success) return status;
  facts.name = properties.name;
  const std::string target = properties.gcnArchName;  // "gfx90a:sramecc+:xnack-"
  facts.architecture = target.substr(0, target.find(':'));
  facts.capability = 10 * properties.major + properties.minor;
  facts.multiprocessors = properties.multiProcessorCount;
  facts.memory = properties.totalGlobalMem;
  return success;
}
inline status_t synchronize_device() { return hipDeviceSynchronize(); }
inline status_t driver_version(int& version) { return hipDriverGetVersion(&version); }
inline status_t can_access_peer(int& yes, int id, int peer) { return hipDeviceCanAccessPeer(&yes, id, peer); }

// Streams and events.
inline status_t create_stream(stream_t& stream) { return hipStreamCreateWithFlags(&stream, hipStreamNonBlocking); }
inline status_t synchronize(stream_t stream) { return hipStreamSynchronize(stream); }
inline status_t synchronize(event_t event) { return hipEventSynchronize(event); }
inline status_t create_event(event_t& event) { return hipEventCreateWithFlags(&event, hipEventDisableTiming); }
inline status_t destroy_event(event_t event) { return hipEventDestroy(event); }
inline status_t record(event_t event, stream_t stream) { return hipEventRecord(event, stream); }
inline status_t wait(stream_t stream, event_t event) { return hipStreamWaitEvent(stream, event, 0); }
inline bool is_done(event_t event) { return hipEventQuery(event) == hipSuccess; }
/// A handle that means another stream in each thread.
inline bool is_per_thread(stream_t stream) { return stream == hipStreamPerThread; }

inline constexpr uint64_t not_capturing = 0;
inline constexpr uint64_t unknown_capture = ~uint64_t{0};
/// The capture that `stream` takes part in.
inline uint64_t capture_of(stream_t stream) {
  hipStreamCaptureStatus status = hipStreamCaptureStatusNone;
  unsigned long long id = 0;
  if (hipStreamGetCaptureInfo(stream, &status, &id) != hipSuccess) {
    static_cast<void>(hipGetLastError());
    return unknown_capture;
  }
  if (status == hipStreamCaptureStatusNone) return not_capturing;
  return status == hipStreamCaptureStatusActive ? static_cast<uint64_t>(id) : unknown_capture;
}
/// While it lives, this thread's calls do not break captures of other threads.
class RelaxedCapture {
 public:
  RelaxedCapture() { static_cast<void>(hipThreadExchangeStreamCaptureMode(&mode_)); }
  ~RelaxedCapture() { static_cast<void>(hipThreadExchangeStreamCaptureMode(&mode_)); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  hipStreamCaptureMode mode_ = hipStreamCaptureModeRelaxed;
};

// Memory.
inline status_t create_pool(pool_t& pool, int id) {
  hipMemPoolProps properties{};
  properties.allocType = hipMemAllocationTypePinned;
  properties.location.type = hipMemLocationTypeDevice;
  properties.location.id = id;
  return hipMemPoolCreate(&pool, &properties);
}
inline status_t let_peer_use(pool_t pool, int peer) {
  hipMemAccessDesc access{};
  access.location.type = hipMemLocationTypeDevice;
  access.location.id = peer;
  access.flags = hipMemAccessFlagsProtReadWrite;
  return hipMemPoolSetAccess(pool, &access, 1);
}
inline status_t keep_in_pool(pool_t pool, uint64_t bytes) {
  return hipMemPoolSetAttribute(pool, hipMemPoolAttrReleaseThreshold, &bytes);
}
inline status_t trim_pool(pool_t pool) { return hipMemPoolTrimTo(pool, 0); }
inline status_t allocate_from(pool_t pool, void*& data, size_t bytes, stream_t stream) {
  return hipMallocFromPoolAsync(&data, bytes, pool, stream);
}
inline status_t free_async(void* data, stream_t stream) { return hipFreeAsync(data, stream); }
inline status_t allocate_pinned(void*& data, size_t bytes) {
  return hipHostMalloc(&data, bytes, hipHostMallocPortable);
}
inline status_t free_pinned(void* data) { return hipHostFree(data); }
inline status_t allocate_managed(void*& data, size_t bytes) {
  return hipMallocManaged(&data, bytes, hipMemAttachGlobal);
}
inline status_t free_managed(void* data) { return hipFree(data); }
inline status_t copy_async(void* destination, const void* source, size_t bytes, stream_t stream) {
  return hipMemcpyAsync(destination, source, bytes, hipMemcpyDefault, stream);
}
/// As for CUDA; the device is not asked for: the member that tells a device's memory has another name in each version.
struct Place {
  bool pageable;
  int ordinal;
};
inline Place place_of(const void* data) {
  hipPointerAttribute_t attributes{};
  if (hipPointerGetAttributes(&attributes, data) == hipSuccess) return {false, -1};
  static_cast<void>(hipGetLastError());
  return {true, -1};
}

// Kernels.

inline status_t function_attributes(attributes_t& a, const void* kernel) { return hipFuncGetAttributes(&a, kernel); }
inline status_t set_dynamic_shared(const void* kernel, int bytes) {
  return hipFuncSetAttribute(kernel, hipFuncAttributeMaxDynamicSharedMemorySize, bytes);
}
inline status_t largest_shared(int& bytes, int id) {
  return hipDeviceGetAttribute(&bytes, hipDeviceAttributeMaxSharedMemoryPerBlock, id);
}
inline status_t resident_blocks(int& blocks, const void* kernel, int threads, size_t shared_bytes) {
  return hipOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes);
}
inline status_t launch_kernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                              stream_t stream) {
  return hipLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}
inline status_t launch_cooperative_kernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                          size_t shared_bytes, stream_t stream) {
  return hipLaunchCooperativeKernel(kernel, grid, block, arguments, static_cast<unsigned>(shared_bytes), stream);
}

#ifdef __HIP__
/// Every raw kernel: the functor is the kernel's only argument.
template <class F, int threads, int blocks_per_sm>
__global__ __launch_bounds__(threads, blocks_per_sm) void run_functor(const F f) {
  f();
}
template <class F, int threads>
__global__ __launch_bounds__(threads) void run_functor(const F f) {
  f();
}
#endif

}  // namespace kkc::gpu
