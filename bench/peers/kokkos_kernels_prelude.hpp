// What every use of Kokkos Kernels 4.4 includes first.
#pragma once

#include <KokkosKernels_config.h>

#include <Kokkos_Core.hpp>

// Release 4.4 needs a header and functions that Kokkos calls deprecated; Kokkos itself is built without such code.
#if !defined(KOKKOS_ENABLE_DEPRECATED_CODE_4)
#define KOKKOS_ENABLE_DEPRECATED_CODE_4
#include <Kokkos_StaticCrsGraph.hpp>
#undef KOKKOS_ENABLE_DEPRECATED_CODE_4
namespace Kokkos {
template <class T>
KOKKOS_INLINE_FUNCTION void atomic_assign(T* destination, const T& value) {
  atomic_store(destination, value);
}
template <class T>
KOKKOS_INLINE_FUNCTION bool atomic_compare_exchange_strong(volatile T* destination, T expected, T value) {
  return atomic_compare_exchange(const_cast<T*>(destination), expected, value) == expected;
}
template <class T>
KOKKOS_INLINE_FUNCTION void atomic_increment(volatile T* destination) {
  atomic_inc(const_cast<T*>(destination));
}
}  // namespace Kokkos
#endif

#include "peer.hpp"

namespace kkc::bench::kokkos_kernels {

using Exec = Kokkos::DefaultExecutionSpace;
using Space = Exec::memory_space;
using DeviceType = Kokkos::Device<Exec, Space>;
using Unmanaged = Kokkos::MemoryTraits<Kokkos::Unmanaged>;

/// Where work is enqueued: the stream of a GPU, Kokkos' default threads of a host.
inline Exec on_stream([[maybe_unused]] void* stream) {
#if defined(KOKKOS_ENABLE_CUDA)
  return Exec(static_cast<cudaStream_t>(stream));
#else
  return {};
#endif
}

template <class V>
using Borrowed = Kokkos::View<const V*, Kokkos::LayoutLeft, DeviceType, Unmanaged>;

/// A CSR matrix of 32-bit indices.
template <class T>
struct Arrays {
  Borrowed<int32_t> offsets, indices;
  Borrowed<T> values;
  explicit Arrays(const SparseOperand& A)
      : offsets(static_cast<const int32_t*>(A.offsets), static_cast<size_t>(A.rows + 1)),
        indices(static_cast<const int32_t*>(A.indices), static_cast<size_t>(A.nnz)),
        values(static_cast<const T*>(A.values), static_cast<size_t>(A.nnz)) {}
};

}  // namespace kkc::bench::kokkos_kernels
