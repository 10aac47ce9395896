// The entry of a GPU module, written once for CUDA and HIP: starts Kokkos, checks that it computes, ends it at exit.
// A Vendor has: exec (Kokkos' space), table(), name, serves(DeviceFacts), scratch() and forget() of Kokkos' own
// instance.
#pragma once

#include <dlfcn.h>

#include <Kokkos_Core.hpp>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "core/build_config.hpp"
#include "core/module.hpp"
#include "device/gpu_guard.hpp"
#include "device/gpu_launch.hpp"
#include "device/gpu_queue.hpp"
#include "device/gpu_read.hpp"

namespace kkc::gpu {

/// Kokkos changes its thread's device (and CUDA's stack of contexts): a fresh thread protects the caller's.
template <class F>
void on_fresh_thread(int ordinal, F f) {
  std::exception_ptr failure;
  std::thread([&] {
    try {
      RelaxedCapture relaxed;
      check(set_device(ordinal), "setting the device");
      f();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

template <class Exec>
struct SelfCheck {
  using Array = Kokkos::View<int64_t*, Exec>;
  using Matrix = Kokkos::View<double**, Exec>;
  struct Holder {
    char before;
    Matrix view;
    int after;
  };

  /// What the device's compiler thinks that a view's size is; also shows whether the module has code for the device.
  struct Sizes {
    static constexpr int threads = 1;
    int64_t* out;
    __device__ void operator()() const {
      out[0] = static_cast<int64_t>(sizeof(Array));
      out[1] = static_cast<int64_t>(sizeof(Matrix));
      out[2] = static_cast<int64_t>(sizeof(Holder));
    }
  };
  struct Fill {
    Array values;
    KOKKOS_FUNCTION void operator()(int i) const { values(i) = i; }
  };
  struct Sum {
    Array values;
    KOKKOS_FUNCTION void operator()(int i, int64_t& sum) const { sum += values(i); }
  };
  struct Scan {
    Array values;
    KOKKOS_FUNCTION void operator()(int i, int64_t& sum, bool last) const {
      const int64_t value = values(i);
      if (last) values(i) = sum;
      sum += value;
    }
  };

  static void run() {
    constexpr int n = 100000;
    constexpr int64_t total = int64_t{n} * (n - 1) / 2;
    const Exec space;
    const Kokkos::RangePolicy<Exec> range(space, 0, n);
    const Array values("kkc self-check", n);
    Kokkos::parallel_for(range, Fill{values});
    int64_t sum = 0, last = 0;
    Kokkos::parallel_reduce(range, Sum{values}, sum);
    require(sum == total, KKC_STATUS_DEVICE_UNAVAILABLE, "its self-check failed: a reduction gave ", sum, " for ",
            total);
    Kokkos::parallel_scan(range, Scan{values}, last);
    int64_t before_last = 0;
    Kokkos::deep_copy(space, before_last, Kokkos::subview(values, n - 1));
    space.fence();
    require(last == total && before_last == total - (n - 1), KKC_STATUS_DEVICE_UNAVAILABLE,
            "its self-check failed: a scan gave ", last, " for ", total);

    Sizes sizes{values.data()};
    void* arguments[] = {&sizes};
    check(launch_kernel(kernel_of<Sizes>(), dim3(1), dim3(1), arguments, 0, nullptr), "launching the self-check");
    check(synchronize_device(), "waiting for the self-check");
    const auto host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, values);
    require(
        host(0) == int64_t{sizeof(Array)} && host(1) == int64_t{sizeof(Matrix)} && host(2) == int64_t{sizeof(Holder)},
        KKC_STATUS_DEVICE_UNAVAILABLE, "its self-check failed: views have ", host(0), ", ", host(1), " and ", host(2),
        " bytes on the device, ", sizeof(Array), ", ", sizeof(Matrix), " and ", sizeof(Holder), " on the host");
  }
};

/// Words for the host, into pinned memory.
struct ReadWords {
  static constexpr int threads = 256;
  Watched to;
  const uint32_t* from;
  int32_t count;

  __device__ void operator()() const {
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < count; i += threads) set(to, i, from[i]);
  }
  static status_t start(stream_t stream, const Watched& to, const void* from, size_t bytes) {
    ReadWords f{to, static_cast<const uint32_t*>(from), static_cast<int32_t>(bytes / 4)};
    void* arguments[] = {&f};
    return launch_kernel(kernel_of<ReadWords>(), dim3(1), dim3(threads), arguments, 0, stream);
  }
};

/// Words from the host, which are the kernel's argument.
struct WriteWords {
  static constexpr int threads = 64;
  uint32_t* to;
  int32_t count;
  uint32_t words[KeepingQueue::most_written / 4];

  __device__ void operator()() const {
    for (int32_t i = static_cast<int32_t>(threadIdx.x); i < count; i += threads) to[i] = words[i];
  }
  static status_t start(stream_t stream, void* to, const void* from, size_t bytes) {
    WriteWords f{static_cast<uint32_t*>(to), static_cast<int32_t>(bytes / 4), {}};
    std::memcpy(f.words, from, bytes);
    void* arguments[] = {&f};
    return launch_kernel(kernel_of<WriteWords>(), dim3(1), dim3(threads), arguments, 0, stream);
  }
};

template <class Vendor>
class Module {
 public:
  static kkc_status_t enter(const char* id, const CoreTable* core, Backend** backend, char* text,
                            size_t capacity) noexcept {
    Failure failure;
    guarded(failure, [&] {
      require(std::string(id) == build_id, KKC_STATUS_DEVICE_UNAVAILABLE, "it is of build ", build_id,
              ", libkkc of build ", id);
      Surroundings in;
      *backend = &open(*core);
    });
    if (capacity > 0) std::snprintf(text, capacity, "%s", failure.text);
    return failure.status;
  }

 private:
  static GpuBackend& open(const CoreTable& core) {
    static std::mutex mutex;
    std::lock_guard lock(mutex);
    if (backend_ != nullptr) return *backend_;
    const std::vector<int> ordinals = usable_devices();
    on_fresh_thread(ordinals[0], [&] {
      attributes_t attributes{};
      check(function_attributes(attributes, kernel_of<typename SelfCheck<typename Vendor::exec>::Sizes>()),
            "loading the module's kernels");
      if (!Kokkos::is_initialized()) {
        Kokkos::InitializationSettings settings;
        settings.set_disable_warnings(true).set_print_configuration(false);
        if (std::getenv("KOKKOS_VISIBLE_DEVICES") == nullptr) settings.set_device_id(ordinals[0]);
        Kokkos::initialize(settings);
        ordinal_ = ordinals[0];
        std::atexit(finalize_at_exit);
      }
      SelfCheck<typename Vendor::exec>::run();
    });
    Dl_info self{};
    const bool known = dladdr(reinterpret_cast<const void*>(&Module::enter), &self) != 0 && self.dli_fname != nullptr;
    backend_ = new GpuBackend(core, Vendor::table(), ordinals, known ? self.dli_fname : "", make_space,
                              {ReadWords::start, WriteWords::start});
    return *backend_;
  }

  static std::vector<int> usable_devices() {
    int count = 0;
    check(device_count(count), "counting devices");
    std::vector<int> ordinals;
    for (int ordinal = 0; ordinal < count; ++ordinal) {
      DeviceFacts facts;
      if (device_facts(facts, ordinal) == success && Vendor::serves(facts)) ordinals.push_back(ordinal);
    }
    require(!ordinals.empty(), KKC_STATUS_DEVICE_UNAVAILABLE, "none of ", count, " GPUs runs its code");
    return ordinals;
  }

  static std::shared_ptr<void> make_space(int ordinal, stream_t stream) {
    std::shared_ptr<void> space;
    on_fresh_thread(ordinal, [&] { space = std::make_shared<typename Vendor::exec>(stream); });
    return space;
  }

  // Kokkos ends the process when the device has failed or was reset: then its instance is forgotten instead, which its
  // own exit would print about.
  static void finalize_at_exit() {
    const bool usable = backend_ == nullptr || backend_->usable();
    if (backend_ != nullptr) backend_->close();
    if (!usable) return Vendor::forget();
    Surroundings in;
    if (set_device(ordinal_) != success || synchronize_device() != success || place_of(Vendor::scratch()).pageable)
      return Vendor::forget();
    try {
      Kokkos::finalize();
    } catch (const std::exception&) {
      Vendor::forget();
    }
  }

  static inline GpuBackend* backend_ = nullptr;
  static inline int ordinal_ = 0;  // of Kokkos' own instance
};

}  // namespace kkc::gpu
