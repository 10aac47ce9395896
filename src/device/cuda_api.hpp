// The CUDA runtime under the names that the shared GPU sources use (hip_api.hpp: the same for HIP).
#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <string>

#include "core/types.hpp"

namespace kkc::gpu {

inline constexpr Device device = Device::cuda;

using status_t = cudaError_t;
using stream_t = cudaStream_t;
using event_t = cudaEvent_t;
using pool_t = cudaMemPool_t;
using context_t = CUcontext;
using attributes_t = cudaFuncAttributes;
inline constexpr status_t success = cudaSuccess;
inline constexpr status_t out_of_memory = cudaErrorMemoryAllocation;
inline constexpr const char* stream_type = "cudaStream_t";

inline const char* error_name(status_t s) { return cudaGetErrorName(s); }
inline const char* error_text(status_t s) { return cudaGetErrorString(s); }
/// Reads and clears the thread's last launch error.
inline status_t last_error() { return cudaGetLastError(); }

// Devices. A thread's context is saved and restored through the driver: callers of the driver API may have made one
// that is not the device's primary context.
inline status_t device_count(int& count) { return cudaGetDeviceCount(&count); }
inline status_t set_device(int id) { return cudaSetDevice(id); }
inline context_t current_context() {
  context_t context = nullptr;
  return cuCtxGetCurrent(&context) == CUDA_SUCCESS ? context : nullptr;
}
inline void make_current(context_t context) { static_cast<void>(cuCtxSetCurrent(context)); }
inline bool belongs_to(stream_t stream, context_t context) {
  context_t owner = nullptr;
  return cuStreamGetCtx(stream, &owner) == CUDA_SUCCESS && owner == context;
}

struct DeviceFacts {
  std::string name, architecture;
  int capability;  // 90 for sm_90
  int multiprocessors;
  size_t memory;
};
inline status_t device_facts(DeviceFacts& facts, int id) {
  cudaDeviceProp properties;
  if (const status_t status = cudaGetDeviceProperties(&properties, id); status != success) return status;
  facts.name = properties.name;
  facts.capability = 10 * properties.major + properties.minor;
  facts.architecture = "sm_" + std::to_string(facts.capability);
  facts.multiprocessors = properties.multiProcessorCount;
  facts.memory = properties.totalGlobalMem;
  return success;
}
inline status_t synchronize_device() { return cudaDeviceSynchronize(); }
inline status_t driver_version(int& version) { return cudaDriverGetVersion(&version); }
inline status_t can_access_peer(int& yes, int id, int peer) { return cudaDeviceCanAccessPeer(&yes, id, peer); }

// Streams and events.
inline status_t create_stream(stream_t& stream) { return cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking); }
inline status_t synchronize(stream_t stream) { return cudaStreamSynchronize(stream); }
inline status_t synchronize(event_t event) { return cudaEventSynchronize(event); }
inline status_t create_event(event_t& event) { return cudaEventCreateWithFlags(&event, cudaEventDisableTiming); }
inline status_t destroy_event(event_t event) { return cudaEventDestroy(event); }
inline status_t record(event_t event, stream_t stream) { return cudaEventRecord(event, stream); }
inline status_t wait(stream_t stream, event_t event) { return cudaStreamWaitEvent(stream, event, 0); }
inline bool is_done(event_t event) { return cudaEventQuery(event) == cudaSuccess; }
/// A handle that means another stream in each thread.
inline bool is_per_thread(stream_t stream) { return stream == cudaStreamPerThread; }

inline constexpr uint64_t not_capturing = 0;
inline constexpr uint64_t unknown_capture = ~uint64_t{0};
/// The capture that `stream` takes part in.
inline uint64_t capture_of(stream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  if (cudaStreamGetCaptureInfo(stream, &status, &id) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return unknown_capture;
  }
  if (status == cudaStreamCaptureStatusNone) return not_capturing;
  return status == cudaStreamCaptureStatusActive ? static_cast<uint64_t>(id) : unknown_capture;
}
/// While it lives, this thread's calls do not break captures of other threads.
class RelaxedCapture {
 public:
  RelaxedCapture() { static_cast<void>(cuThreadExchangeStreamCaptureMode(&mode_)); }
  ~RelaxedCapture() { static_cast<void>(cuThreadExchangeStreamCaptureMode(&mode_)); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  // The driver's call: the run time's would make a context where the thread has none.
  CUstreamCaptureMode mode_ = CU_STREAM_CAPTURE_MODE_RELAXED;
};

// Memory.
inline status_t create_pool(pool_t& pool, int id) {
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location.type = cudaMemLocationTypeDevice;
  properties.location.id = id;
  return cudaMemPoolCreate(&pool, &properties);
}
inline status_t let_peer_use(pool_t pool, int peer) {
  cudaMemAccessDesc access{};
  access.location.type = cudaMemLocationTypeDevice;
  access.location.id = peer;
  access.flags = cudaMemAccessFlagsProtReadWrite;
  return cudaMemPoolSetAccess(pool, &access, 1);
}
inline status_t keep_in_pool(pool_t pool, uint64_t bytes) {
  return cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &bytes);
}
inline status_t trim_pool(pool_t pool) { return cudaMemPoolTrimTo(pool, 0); }
inline status_t allocate_from(pool_t pool, void*& data, size_t bytes, stream_t stream) {
  return cudaMallocFromPoolAsync(&data, bytes, pool, stream);
}
inline status_t free_async(void* data, stream_t stream) { return cudaFreeAsync(data, stream); }
inline status_t allocate_pinned(void*& data, size_t bytes) {
  return cudaHostAlloc(&data, bytes, cudaHostAllocPortable);
}
inline status_t free_pinned(void* data) { return cudaFreeHost(data); }
inline status_t allocate_managed(void*& data, size_t bytes) {
  return cudaMallocManaged(&data, bytes, cudaMemAttachGlobal);
}
inline status_t free_managed(void* data) { return cudaFree(data); }
inline status_t copy_async(void* destination, const void* source, size_t bytes, stream_t stream) {
  return cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDefault, stream);
}
/// pageable: host memory that the driver does not know, whose copies block. ordinal: the device whose memory it is, -1
/// for any other.
struct Place {
  bool pageable;
  int ordinal;
};
inline Place place_of(const void* data) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, data) != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return {true, -1};
  }
  return {attributes.type == cudaMemoryTypeUnregistered,
          attributes.type == cudaMemoryTypeDevice ? attributes.device : -1};
}

// Kernels.

inline status_t function_attributes(attributes_t& a, const void* kernel) { return cudaFuncGetAttributes(&a, kernel); }
inline status_t set_dynamic_shared(const void* kernel, int bytes) {
  return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
}
inline status_t largest_shared(int& bytes, int id) {
  return cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, id);
}
inline status_t resident_blocks(int& blocks, const void* kernel, int threads, size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, shared_bytes);
}
/// For run_functor's kernels alone: the device starts it while the one before it ends, see follow.
inline status_t launch_kernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                              stream_t stream) {
  cudaLaunchAttribute overlaps{};
  overlaps.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  overlaps.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = grid;
  config.blockDim = block;
  config.dynamicSmemBytes = shared_bytes;
  config.stream = stream;
  config.attrs = &overlaps;
  config.numAttrs = 1;
  return cudaLaunchKernelExC(&config, kernel, arguments);
}
inline status_t launch_cooperative_kernel(const void* kernel, dim3 grid, dim3 block, void** arguments,
                                          size_t shared_bytes, stream_t stream) {
  return cudaLaunchCooperativeKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

/// Functors that need nothing of what was enqueued since the host last waited for the stream, and so run beside it.
template <class F>
inline constexpr bool runs_beside = requires {
  F::runs_beside;
};

#ifdef __CUDACC__
/// The functor once the kernel before it in the stream has ended and all that it wrote is seen; or at once where it may
/// run beside, letting the next kernel start likewise, and the kernel then ends behind the one before it. As all
/// kernels wait once, each begins or at least ends behind all that came before.
template <class F>
__device__ inline void follow(const F& f) {
  if constexpr (runs_beside<F>) {
    // Not in every kernel: told by each of many small blocks it takes longer than it saves.
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    f();
    asm volatile("griddepcontrol.wait;" ::: "memory");
  } else {
    asm volatile("griddepcontrol.wait;" ::: "memory");
    f();
  }
}

/// Every raw kernel: the functor is the kernel's only argument and is read from constant memory, not copied.
template <class F, int threads, int blocks_per_sm>
__global__ __launch_bounds__(threads, blocks_per_sm) void run_functor(const __grid_constant__ F f) {
  follow(f);
}
template <class F, int threads>
__global__ __launch_bounds__(threads) void run_functor(const __grid_constant__ F f) {
  follow(f);
}
#endif

}  // namespace kkc::gpu
