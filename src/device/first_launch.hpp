// Kokkos keeps what it asked of a kernel in a map without a lock (Kokkos_Cuda_KernelLaunch.hpp): first launches take
// turns. Later ones only read.
#pragma once

#include <mutex>

namespace kkc {

inline std::unique_lock<std::mutex> first_launches_take_turns() {
  static auto* mutex = new std::mutex;
  return std::unique_lock(*mutex);
}

}  // namespace kkc
