#include "host_queue.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <mutex>
#include <new>
#include <string>
#include <thread>

#include "core/kept_blocks.hpp"
#include "core/memory.hpp"
#include "core/process.hpp"
#include "host_simd.hpp"
#include "host_threads.hpp"
#include "serial.hpp"
#ifdef KOKKOS_ENABLE_OPENMP
#include "openmp.hpp"
#endif

namespace kkc {
namespace {

void finalize_at_exit() {
  if (!in_forked_child() && !in_parallel_region() && Kokkos::is_initialized()) Kokkos::finalize();
}

void initialize_kokkos() {
  static std::once_flag once;
  std::call_once(once, [] {
    note_device_use();
    on_fresh_thread([] { Kokkos::initialize(Kokkos::InitializationSettings().set_disable_warnings(true)); });
    std::atexit(finalize_at_exit);
  });
}

std::string processor_name() {
  std::ifstream cpuinfo("/proc/cpuinfo");
  for (std::string line; std::getline(cpuinfo, line);)
    if (line.rfind("model name", 0) == 0) {
      const size_t colon = line.find(':');
      if (colon != std::string::npos && colon + 2 <= line.size()) return line.substr(colon + 2);
    }
  return "processor";
}

/// Large arrays ask for huge pages: gathers from them otherwise wait for the page tables (1.3x on random columns).
constexpr size_t huge_page = size_t{1} << 21, huge_from = huge_page;
/// Smaller arrays the C library keeps well enough.
constexpr size_t kept_from = size_t{1} << 19, kept_step = size_t{1} << 16;

constexpr std::align_val_t alignment_for(size_t bytes) {
  return std::align_val_t{bytes >= huge_from ? huge_page : memory_alignment};
}

/// Finds reads of freed memory, if it is given back.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool address_sanitizer = true;
#elif defined(__has_feature)
constexpr bool address_sanitizer = __has_feature(address_sanitizer);
#else
constexpr bool address_sanitizer = false;
#endif

/// Large arrays that were freed, for the next allocations: the system clears every page that it gives out, which takes
/// longer than to plan and to make many a product.
KeptBlocks& kept_arrays() {
  // Never destroyed: objects may be freed after the end of main.
  static auto* arrays = new KeptBlocks([] {
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    const size_t memory = pages > 0 && page > 0 ? static_cast<size_t>(pages) * static_cast<size_t>(page) : 0;
    return std::min(size_t{512} << 20, memory / 32);
  }());
  return *arrays;
}
bool is_kept(size_t bytes) { return !address_sanitizer && bytes >= kept_from && kept_arrays().keeps(bytes); }
size_t room_for(size_t bytes) {
  const size_t room = size_class(bytes, bytes < huge_from ? kept_step : huge_page);
  return is_kept(bytes) && is_kept(room) ? room : bytes;
}
void free_array(const KeptBlocks::Block& array) { ::operator delete(array.data, alignment_for(array.bytes)); }

class HostBackend final : public Backend {
 public:
  HostBackend(Device device, const DeviceTable& table) : device_(device), table_(table) {}
  Device device() const override { return device_; }
  int32_t count() const override { return 1; }
  const DeviceTable& table() const override { return table_; }
  std::shared_ptr<Queue> open(int32_t, [[maybe_unused]] const QueueSettings& settings) override {
    initialize_kokkos();
#ifdef KOKKOS_ENABLE_OPENMP
    if (device_ == Device::openmp)
      return std::make_shared<OpenMPQueue>(settings.threads > 0 ? settings.threads : omp_get_max_threads());
#endif
    return std::make_shared<SerialQueue>();
  }

 private:
  void enter(Thunk thunk, void* argument, Failure&) const override { thunk(argument); }
  Device device_;
  const DeviceTable& table_;
};

}  // namespace

void* HostQueue::allocate(Space, size_t bytes) {
  // The system's function rounds up to the alignment, and would wrap around to nothing.
  if (bytes > SIZE_MAX - huge_page) return nullptr;
  const size_t room = room_for(bytes);
  if (is_kept(room))
    if (void* const kept = kept_arrays().take(room)) return kept;
  void* data = ::operator new(room, alignment_for(room), std::nothrow);
  if (data == nullptr) {
    for (const auto& array : kept_arrays().take_all()) free_array(array);
    data = ::operator new(room, alignment_for(room), std::nothrow);
  }
#ifdef MADV_HUGEPAGE
  if (data != nullptr && room >= huge_from) madvise(data, room / huge_page * huge_page, MADV_HUGEPAGE);
#endif
  return data;
}

void HostQueue::deallocate(Space, void* data, size_t bytes) noexcept {
  const KeptBlocks::Block array{data, room_for(bytes)};
  if (!is_kept(array.bytes) || !kept_arrays().keep(array, free_array)) free_array(array);
}

void HostQueue::copy(void* destination, const void* source, size_t bytes) { std::memcpy(destination, source, bytes); }

void HostQueue::set_stream(void*) {
  fail(KKC_STATUS_NOT_SUPPORTED, "ctx is of device ", name(device()), ", which has no streams; expected a GPU context");
}

void HostQueue::describe(Info& info) const {
  info.add("name", processor_name());
  info.add("threads", int64_t{concurrency()});
  info.add("memory_bytes", int64_t{sysconf(_SC_PHYS_PAGES)} * int64_t{sysconf(_SC_PAGESIZE)});
  info.add("simd_bits", int64_t{8 * simd_bytes});
}

Backend& host_backend(Device device) {
  if (device == Device::openmp) {
#ifdef KOKKOS_ENABLE_OPENMP
    static auto* openmp = new HostBackend(Device::openmp, table_openmp);
    return *openmp;
#else
    fail(KKC_STATUS_DEVICE_UNAVAILABLE, "device openmp is not in this build of kkc (its Kokkos has no OpenMP)");
#endif
  }
  static auto* serial = new HostBackend(Device::serial, table_serial);
  return *serial;
}

}  // namespace kkc
