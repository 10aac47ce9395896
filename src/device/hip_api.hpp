// The HIP runtime under the names that the shared GPU sources use (cuda_api.hpp: the same for CUDA).
#pragma once

#include <hip/hip_runtime.h>

#include "core/types.hpp"

namespace kkc::gpu {

inline constexpr Device device = Device::hip;

using status_t = hipError_t;
using stream_t = hipStream_t;
using attributes_t = hipFuncAttributes;
inline constexpr status_t success = hipSuccess;
inline constexpr status_t out_of_memory = hipErrorOutOfMemory;

inline const char* error_name(status_t s) { return hipGetErrorName(s); }
inline const char* error_text(status_t s) { return hipGetErrorString(s); }
/// Reads and clears the thread's last launch error.
inline status_t last_error() { return hipGetLastError(); }

inline status_t get_device(int& id) { return hipGetDevice(&id); }
inline status_t set_device(int id) { return hipSetDevice(id); }

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
inline status_t launch_kernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes, stream_t stream) {
  return hipLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}
inline status_t launch_cooperative_kernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                                          stream_t stream) {
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
