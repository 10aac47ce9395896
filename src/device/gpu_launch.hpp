// Starts a functor as a raw kernel on a queue's stream, for what Kokkos' launches cannot do: subgroups of a warp, more
// than 48 KB of shared memory, cooperative grids. Never includes Kokkos.
//
//   struct Kernel {
//     static constexpr int threads = 256;       // largest block
//     static constexpr int blocks_per_sm = 4;   // optional: bound the registers
//     ...arguments...
//     __device__ void operator()() const;
//   };
//   plan:     const gpu::Prepared p = gpu::prepare<Kernel>(queue, shared_bytes);
//   execute:  gpu::launch(queue, gpu::blocks_for(n, Kernel::threads), Kernel::threads, shared_bytes, Kernel{...});
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <type_traits>
#include <vector>

#include "core/queue.hpp"
#include "device/gpu_api.hpp"

namespace kkc::gpu {

/// What a plan learns about a kernel on its device.
struct Prepared {
  int blocks_per_sm;   // resident with F::threads threads and the shared memory asked for
  int registers;       // a thread
  size_t local_bytes;  // spilled, a thread
};

template <class F>
const void* kernel_of() {
  static_assert(std::is_trivially_copyable_v<F>, "a kernel's functor is copied bit by bit");
  static_assert(sizeof(F) <= 4096, "a kernel's arguments take at most 4 KiB");
  if constexpr (requires { F::blocks_per_sm; }) {
    return reinterpret_cast<const void*>(static_cast<void (*)(F)>(&run_functor<F, F::threads, F::blocks_per_sm>));
  } else {
    return reinterpret_cast<const void*>(static_cast<void (*)(F)>(&run_functor<F, F::threads>));
  }
}

inline stream_t stream_of(const Queue& queue) { return static_cast<stream_t>(queue.stream()); }

/// At plan time, for every kernel that execute launches: loads it (the first launch otherwise loads it, which a stream
/// capture forbids), lets it use the device's whole shared memory and asks how many blocks fit.
template <class F>
Prepared prepare(const Queue& queue, size_t shared_bytes = 0) {
  // Each question costs about a microsecond and plans prepare many kernels: the answer is kept for each device.
  struct Known {
    int32_t device;
    size_t shared_bytes;
    Prepared prepared;
  };
  static std::mutex mutex;
  static auto& known = *new std::vector<Known>;  // never destroyed: calls may come from exit handlers
  const std::lock_guard lock(mutex);
  Known* here = nullptr;
  for (Known& k : known)
    if (k.device == queue.device_id()) here = &k;
  if (here != nullptr && here->shared_bytes == shared_bytes) return here->prepared;
  const void* kernel = kernel_of<F>();
  attributes_t attributes{};
  check(function_attributes(attributes, kernel), "loading a kernel");
  int largest = 0;
  check(largest_shared(largest, queue.device_id()), "reading the shared memory's size");
  const size_t room = static_cast<size_t>(largest) - attributes.sharedSizeBytes;
  require(shared_bytes <= room, KKC_STATUS_INTERNAL, "a kernel asks for ", shared_bytes,
          " bytes of shared memory, the device has ", room);
  // Always the most there is: plans of one kernel with different needs must not lower each other's limit.
  check(set_dynamic_shared(kernel, static_cast<int>(room)), "setting a kernel's shared memory");
  Prepared prepared{0, attributes.numRegs, attributes.localSizeBytes};
  check(resident_blocks(prepared.blocks_per_sm, kernel, F::threads, shared_bytes), "asking a kernel's occupancy");
  require(prepared.blocks_per_sm > 0, KKC_STATUS_INTERNAL, "a kernel does not fit a multiprocessor");
  if (here == nullptr) here = &known.emplace_back();
  *here = {queue.device_id(), shared_bytes, prepared};
  return prepared;
}

/// Enqueues f. An empty grid does nothing.
template <class F>
void launch(const Queue& queue, dim3 grid, dim3 block, size_t shared_bytes, const F& f) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  void* arguments[] = {const_cast<void*>(static_cast<const void*>(&f))};
  check(launch_kernel(kernel_of<F>(), grid, block, arguments, shared_bytes, stream_of(queue)), "launching a kernel");
}

/// The same with all blocks resident at once: at most blocks_per_sm * queue.concurrency() of them.
template <class F>
void launch_cooperative(const Queue& queue, dim3 grid, dim3 block, size_t shared_bytes, const F& f) {
  if (grid.x == 0 || grid.y == 0 || grid.z == 0) return;
  void* arguments[] = {const_cast<void*>(static_cast<const void*>(&f))};
  check(launch_cooperative_kernel(kernel_of<F>(), grid, block, arguments, shared_bytes, stream_of(queue)),
        "launching a cooperative kernel");
}

/// Blocks that cover `items` at `per_block` each, as a grid's first extent.
inline unsigned blocks_for(int64_t items, int64_t per_block) {
  const int64_t blocks = (items + per_block - 1) / per_block;
  require(blocks <= INT32_MAX, KKC_STATUS_NOT_SUPPORTED, "a kernel would need ", blocks, " blocks, a grid holds ",
          INT32_MAX);
  return static_cast<unsigned>(blocks);
}

/// A thread an item, in whole blocks.
template <class F>
void launch_over(const Queue& queue, int64_t items, const F& f, size_t shared_bytes = 0) {
  launch(queue, blocks_for(items, F::threads), F::threads, shared_bytes, f);
}

}  // namespace kkc::gpu
