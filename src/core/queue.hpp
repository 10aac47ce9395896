// Interface to a device: what the core asks of src/device, on hosts and in GPU modules alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include "error.hpp"
#include "info.hpp"
#include "registry.hpp"
#include "types.hpp"

namespace kkc {

/// How a failure leaves a module: no exception crosses its border.
struct Failure {
  kkc_status_t status = KKC_STATUS_SUCCESS;
  char text[1024] = "";
};

using Thunk = void (*)(void*);

/// Runs calls inside a device's surroundings: a GPU module catches its exceptions there, makes the device current
/// and restores the caller's afterwards; a host simply calls.
class Border {
 public:
  virtual ~Border() = default;

  template <class F>
  void run(F&& f) const {
    using Call = std::remove_reference_t<F>;
    Failure failure;
    enter([](void* call) { (*static_cast<Call*>(call))(); }, const_cast<void*>(static_cast<const void*>(&f)), failure);
    if (failure.status != KKC_STATUS_SUCCESS) [[unlikely]]
      throw Error(failure.status, failure.text);
  }

 private:
  virtual void enter(Thunk thunk, void* argument, Failure& failure) const = 0;
};

/// A device and one stream of work on it. Used by one thread at a time, except allocate and deallocate.
class Queue : public Border {
 public:
  virtual Device device() const = 0;
  virtual int32_t device_id() const = 0;
  virtual const DeviceTable& table() const = 0;

  /// Host threads or GPU multiprocessors.
  virtual int32_t concurrency() const = 0;
  /// Whether kernels of this device may follow pointers into `space`.
  virtual bool reads(Space space) const = 0;

  // The following run inside run(). Sizes are never 0.
  virtual void* allocate(Space space, size_t bytes) = 0;  // null when there is none left
  virtual void deallocate(Space space, void* data, size_t bytes) noexcept = 0;
  /// Device memory for this queue's work alone, in its order, so that what was given back may be taken at once: a block
  /// of exactly so many bytes, or null. Needs no run().
  virtual void* take(size_t) noexcept { return nullptr; }
  /// False: the caller deallocates.
  virtual bool give(void*, size_t) noexcept { return false; }
  /// Any two places that do not overlap. On a GPU pageable host memory has been read or written when this returns;
  /// other copies are only enqueued.
  virtual void copy(void* destination, const void* source, size_t bytes) = 0;
  virtual void synchronize() = 0;
  virtual void set_stream(void* stream) = 0;
  virtual void* stream() const = 0;
  virtual void describe(Info& info) const = 0;
};

struct QueueSettings {
  int32_t threads = 0;  // 0: the run-time's choice
};

/// All devices of one kind.
class Backend : public Border {
 public:
  virtual Device device() const = 0;
  virtual int32_t count() const = 0;
  virtual const DeviceTable& table() const = 0;
  virtual std::shared_ptr<Queue> open(int32_t device_id, const QueueSettings& settings) = 0;
};

/// The backend of a device kind; loads its module on first use. Throws DEVICE_UNAVAILABLE.
Backend& backend(Device device);

}  // namespace kkc
