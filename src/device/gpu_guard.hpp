// What surrounds every call into a GPU module: exceptions become a status and a sentence, and the caller's thread gets
// its device back.
#pragma once

#include <cstdio>
#include <exception>
#include <new>

#include "core/queue.hpp"
#include "device/gpu_api.hpp"

namespace kkc::gpu {

/// The module's counterpart of the C boundary's guard.
template <class F>
void guarded(Failure& failure, F&& f) noexcept {
  const auto set = [&](kkc_status_t status, const char* text) {
    failure.status = status;
    std::snprintf(failure.text, sizeof failure.text, "%s", text);
  };
  try {
    f();
  } catch (const Error& error) {
    set(error.status(), error.what());
  } catch (const std::bad_alloc&) {
    set(KKC_STATUS_OUT_OF_MEMORY, "no host memory left");
  } catch (const std::exception& error) {
    set(KKC_STATUS_DEVICE, error.what());  // Kokkos' own, mostly a runtime's error
  } catch (...) {
    set(KKC_STATUS_INTERNAL, "an unknown exception");
  }
}

/// Restores the thread's device at its end; its calls do not break stream captures of other threads.
class Surroundings {
 public:
  Surroundings() = default;
  explicit Surroundings(context_t context) : place_(context) {}
  Surroundings(const Surroundings&) = delete;
  Surroundings& operator=(const Surroundings&) = delete;

 private:
  struct Place {
    Place() : caller(current_context()) {}
    explicit Place(context_t context) : Place() {
      if (context != caller) make_current(context);
    }
    ~Place() {
      if (current_context() != caller) make_current(caller);
    }
    context_t caller;
  };
  Place place_;  // first in, last out
  RelaxedCapture relaxed_;
};

}  // namespace kkc::gpu
