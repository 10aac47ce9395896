#include "host_threads.hpp"
#include "openmp.hpp"

namespace kkc {

OpenMPQueue::OpenMPQueue(int threads) : threads_(threads) {
  outside_parallel([&] { space_ = std::make_unique<Kokkos::OpenMP>(threads); });
}

OpenMPQueue::~OpenMPQueue() {
  outside_parallel([&] { space_.reset(); });
}

}  // namespace kkc
