// The CUDA runtime under the names that the shared GPU sources use (hip_api.hpp: the same for HIP).
#pragma once

#include <cuda_runtime.h>

#include "core/types.hpp"

namespace kkc::gpu {

inline constexpr Device device = Device::cuda;

using status_t = cudaError_t;
using stream_t = cudaStream_t;
using attributes_t = cudaFuncAttributes;
inline constexpr status_t success = cudaSuccess;
inline constexpr status_t out_of_memory = cudaErrorMemoryAllocation;

inline const char* error_name(status_t s) { return cudaGetErrorName(s); }
inline const char* error_text(status_t s) { return cudaGetErrorString(s); }
/// Reads and clears the thread's last launch error.
inline status_t last_error() { return cudaGetLastError(); }

inline status_t get_device(int& id) { return cudaGetDevice(&id); }
inline status_t set_device(int id) { return cudaSetDevice(id); }

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
inline status_t launch_kernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes, stream_t stream) {
  return cudaLaunchKernel(kernel, grid, block, arguments, shared_bytes, stream);
}
inline status_t launch_cooperative_kernel(const void* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                                          stream_t stream) {
  return cudaLaunchCooperativeKernel(kernel, grid, block, arguments, shared_bytes, stream);
}

#ifdef __CUDACC__
/// Every raw kernel: the functor is the kernel's only argument and is read from constant memory, not copied.
template <class F, int threads, int blocks_per_sm>
__global__ __launch_bounds__(threads, blocks_per_sm) void run_functor(const __grid_constant__ F f) {
  f();
}
template <class F, int threads>
__global__ __launch_bounds__(threads) void run_functor(const __grid_constant__ F f) {
  f();
}
#endif

}  // namespace kkc::gpu
