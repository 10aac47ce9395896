// A queue without a library behind it, for tests of the pieces that operations are built from.
#pragma once

#include "core/queue.hpp"

namespace kkc::testing {

template <class Base = Queue>
class BasicPartsQueue : public Base {
 public:
  explicit BasicPartsQueue(int32_t concurrency, Device device = Device::openmp)
      : device_(device), concurrency_(concurrency) {}
  Device device() const override { return device_; }
  int32_t device_id() const override { return 0; }
  const DeviceTable& table() const override { return table_; }
  int32_t concurrency() const override { return concurrency_; }
  bool reads(Space) const override { return true; }
  void* allocate(Space, size_t) override { return nullptr; }
  void deallocate(Space, void*, size_t) noexcept override {}
  void copy(void*, const void*, size_t) override {}
  void synchronize() override {}
  void set_stream(void*) override {}
  void* stream() const override { return nullptr; }
  void describe(Info&) const override {}

 private:
  void enter(Thunk thunk, void* argument, Failure&) const override { thunk(argument); }

  Device device_;
  int32_t concurrency_;
  DeviceTable table_{};
};

using PartsQueue = BasicPartsQueue<>;

}  // namespace kkc::testing
