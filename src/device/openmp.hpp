// Device tag of Kokkos::OpenMP: kernels run on the context's number of threads.
#pragma once

#include <Kokkos_Core.hpp>

#include "core/queue.hpp"
#include "host_queue.hpp"

namespace kkc {

/// Holds one execution-space instance, hence one mutex, for each context: contexts do not wait for one another.
class OpenMPQueue final : public HostQueue {
 public:
  /// Of at most `threads` threads: no more than the run-time's limit, above which teams would be smaller than asked
  /// for.
  explicit OpenMPQueue(int threads);
  ~OpenMPQueue() override;
  Device device() const override { return Device::openmp; }
  const DeviceTable& table() const override { return table_openmp; }
  int32_t concurrency() const override { return threads_; }
  const Kokkos::OpenMP& space() const { return *space_; }

 private:
  void enter(Thunk thunk, void* argument, Failure&) const override;
  int threads_;
  std::unique_ptr<Kokkos::OpenMP> space_;
};

struct OpenMP {
  static constexpr Device id = Device::openmp;
  static constexpr bool is_host = true;
  using exec = Kokkos::OpenMP;
  static const exec& space(Queue& queue) { return static_cast<OpenMPQueue&>(queue).space(); }
  static int threads(Queue& queue) { return queue.concurrency(); }
};

}  // namespace kkc
