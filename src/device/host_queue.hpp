// The host devices: Serial and OpenMP share memory functions and differ in threads.
#pragma once

#include "core/queue.hpp"

namespace kkc {

extern const DeviceTable table_serial;
extern const DeviceTable table_openmp;

/// Work on host threads; every call blocks, so there is nothing to wait for.
class HostQueue : public Queue {
 public:
  int32_t device_id() const override { return 0; }
  bool reads(Space space) const override { return space == Space::host; }
  void* allocate(Space space, size_t bytes) override;
  void deallocate(Space space, void* data, size_t bytes) noexcept override;
  void copy(void* destination, const void* source, size_t bytes) override;
  void synchronize() override {}
  void set_stream(void* stream) override;
  void* stream() const override { return nullptr; }
  void describe(Info& info) const override;

 private:
  void enter(Thunk thunk, void* argument, Failure&) const override { thunk(argument); }
};

/// Serial and OpenMP.
Backend& host_backend(Device device);

}  // namespace kkc
