#include "gpu_queue.hpp"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>

#include "gpu_guard.hpp"

namespace kkc::gpu {
namespace {

constexpr size_t most_kept_bytes = size_t{256} << 20;
constexpr size_t least_kept_words = size_t{64} << 10;  // bytes
constexpr size_t watched_bytes = KeepingQueue::most_read / sizeof(uint32_t) * sizeof(WatchedWord);
constexpr auto longest_watch = std::chrono::microseconds(200);  // then the device is asked, which may let the core rest

}  // namespace

GpuQueue::GpuQueue(GpuBackend& backend, Gpu& gpu)
    : backend_(backend),
      gpu_(gpu),
      lane_{&gpu, take_stream(gpu), {}, false, KeptBlocks(std::min(most_kept_bytes, gpu.facts.memory / 64))},
      stream_(lane_.own),
      space_(backend.space_on(gpu, stream_)) {
  join(lane_);
}

GpuQueue::~GpuQueue() {
  if (!backend_.usable()) return;
  Surroundings in(gpu_.context);
  if (scratch_ != nullptr) deallocate(Space::device, scratch_, scratch_bytes);
  for (const KeptWords& kept : kept_words_)
    if (kept.data != nullptr) deallocate(Space::device, kept.data, kept.bytes);
  if (landing_ != nullptr) deallocate(Space::pinned, landing_, landing_bytes);
  if (watched_ != nullptr) deallocate(Space::pinned, watched_, watched_bytes);
  for (const auto& block : lane_.kept.take_all()) deallocate(Space::device, block.data, block.bytes);
  leave(lane_);
}

const DeviceTable& GpuQueue::table() const { return backend_.table(); }

void GpuQueue::enter(Thunk thunk, void* argument, Failure& failure) const {
  if (!backend_.usable()) return backend_.run_guarded(thunk, argument, failure);
  Surroundings in(gpu_.context);
  backend_.run_guarded(thunk, argument, failure);
  if (!lane_.foreign || !used_.exchange(false)) return;
  // The caller may destroy the stream as soon as this call has returned: later waits are for the event.
  const stream_t stream = stream_;
  const uint64_t capture = capture_of(stream);
  last_capture_ = capture;
  if (capture == not_capturing) static_cast<void>(record(lane_.event, stream));
}

bool GpuQueue::give(void* data, size_t bytes) noexcept {
  if (!backend_.usable()) return false;
  return lane_.kept.keep({data, bytes}, [this](const KeptBlocks::Block& oldest) {
    Surroundings in(gpu_.context);
    gpu::deallocate(gpu_, Space::device, oldest.data);
  });
}

void GpuQueue::copy(void* destination, const void* source, size_t bytes) {
  const stream_t stream = used_stream();
  const Place to = place_of(destination), from = place_of(source);
  const bool blocks = to.pageable || from.pageable;
  if (blocks) require_not_captured(stream);
  const auto are_words = [&](const void* device) { return (reinterpret_cast<uintptr_t>(device) | bytes) % 4 == 0; };
  if (from.pageable && to.ordinal == gpu_.ordinal && bytes <= most_written && are_words(destination))
    return write_words(destination, source, bytes);
  // The runtime's own way from a device to pageable memory takes several times as long.
  if (blocks && bytes <= landing_bytes && !from.pageable) {
    const bool small = from.ordinal == gpu_.ordinal && bytes <= most_read && are_words(source);
    if (small) return read_words(destination, source, bytes);
    check(copy_async(landing(), source, bytes, stream), "copying");
    check(gpu::synchronize(stream), "waiting for a copy");
    std::memcpy(destination, landing_, bytes);
    return;
  }
  check(copy_async(destination, source, bytes, stream), "copying");
  if (blocks) check(gpu::synchronize(stream), "waiting for a copy");
}

void GpuQueue::read_words(void* destination, const void* source, size_t bytes) {
  const Watched to = watch();
  check(backend_.small_copies().read(used_stream(), to, source, bytes), "copying");
  await(destination, bytes);
}

void GpuQueue::write_words(void* destination, const void* source, size_t bytes) {
  require_not_captured(used_stream());
  check(backend_.small_copies().write(used_stream(), destination, source, bytes), "copying");
}

void GpuQueue::require_not_captured(stream_t stream) {
  require(capture_of(stream) == not_capturing, KKC_STATUS_WRONG_STATE,
          "plans, and copies from or to pageable host memory, block, which the context's stream cannot while it is "
          "being captured");
}

Watched GpuQueue::watch() {
  require_not_captured(used_stream());
  if (watched_ == nullptr) watched_ = static_cast<WatchedWord*>(allocate(Space::pinned, watched_bytes));
  require(watched_ != nullptr, KKC_STATUS_OUT_OF_MEMORY, "no pinned memory left for a queue's results");
  if (reads_++ % UINT32_MAX == 0) {  // no word is of a read to come
    std::memset(watched_, 0, watched_bytes);
    reads_ = 1;
  }
  return {watched_, reads_};
}

void GpuQueue::await(void* destination, size_t bytes) {
  const auto give_up = std::chrono::steady_clock::now() + longest_watch;
  bool ended = false;
  for (size_t i = 0; i < bytes / sizeof(uint32_t);) {
    const WatchedWord word = std::atomic_ref(watched_[i]).load(std::memory_order_acquire);
    if (word >> 32 == reads_) {
      const auto value = static_cast<uint32_t>(word);
      std::memcpy(static_cast<char*>(destination) + i++ * sizeof value, &value, sizeof value);
    } else if (std::chrono::steady_clock::now() > give_up) {  // or the device has failed
      require(!ended, KKC_STATUS_INTERNAL, "a kernel has ended without the words that it was to hand over");
      check(gpu::synchronize(used_stream()), "waiting for a kernel");
      ended = true;
    }
  }
}

void* GpuQueue::scratch() {
  if (scratch_ == nullptr) scratch_ = allocate(Space::device, scratch_bytes);
  require(scratch_ != nullptr, KKC_STATUS_OUT_OF_MEMORY, "no device memory left for a queue's scratch");
  return scratch_;
}

KeptWords& GpuQueue::kept_words(KeptWords::Use use, size_t bytes) {
  require_not_captured(used_stream());  // what is enqueued next must run before what comes after it
  KeptWords& kept = kept_words_[use];
  if (bytes <= kept.bytes) return kept;
  bytes = std::bit_ceil(std::max(bytes, least_kept_words));
  auto* const data = static_cast<unsigned long long*>(allocate(Space::device, bytes));
  require(data != nullptr, KKC_STATUS_OUT_OF_MEMORY, "no device memory left for a queue's words");
  if (kept.data != nullptr) deallocate(Space::device, kept.data, kept.bytes);
  kept = {data, bytes, 0, 0};
  return kept;
}

void* GpuQueue::landing() {
  if (landing_ == nullptr) landing_ = allocate(Space::pinned, landing_bytes);
  require(landing_ != nullptr, KKC_STATUS_OUT_OF_MEMORY, "no pinned memory left for a queue's results");
  return landing_;
}

void GpuQueue::synchronize() {
  require(capture_of(stream_) == not_capturing, KKC_STATUS_WRONG_STATE,
          "the context's stream is being captured, so nothing can wait for it");
  check(gpu::synchronize(stream_), "waiting for the device");
  collect();
}

void GpuQueue::set_stream(void* stream) {
  const stream_t next = stream == nullptr ? lane_.own : static_cast<stream_t>(stream);
  // A stream of the same name may be another one, made after the caller destroyed the first.
  if (next == stream_ && !lane_.foreign) return;
  require(!is_per_thread(next), KKC_STATUS_INVALID_ARGUMENT,
          "stream is the per-thread default stream, which is another one in each thread; expected a ", stream_type,
          " of its own");
  require(belongs_to(next, gpu_.context), KKC_STATUS_INVALID_ARGUMENT, "stream does not belong to device ", gpu_.id,
          ", the context's");
  const uint64_t capture = capture_of(next);
  std::shared_ptr<void> space = backend_.space_on(gpu_, next, capture == not_capturing);
  if (capture != not_capturing && capture == last_capture_) {
    // Within one graph, so the stream before is still there.
    check(record(lane_.event, stream_), "recording an event");
    check(wait(next, lane_.event), "waiting for an event");
  } else {
    if (!lane_.foreign) check(record(lane_.event, stream_), "recording an event");
    // A graph cannot wait for work outside of it, so the caller does.
    if (capture == not_capturing)
      check(wait(next, lane_.event), "waiting for an event");
    else
      check(gpu::synchronize(lane_.event), "waiting for the device");
  }
  redirect(lane_, next != lane_.own);
  stream_ = next;
  space_ = std::move(space);
  last_capture_ = not_capturing;
}

const void* GpuQueue::space() {
  used_ = true;
  if (!space_) {
    require(
        capture_of(stream_) == not_capturing, KKC_STATUS_WRONG_STATE,
        "the context got its stream while it was being captured; expected kkc_context_set_stream before the capture");
    space_ = backend_.space_on(gpu_, stream_);
  }
  return space_.get();
}

void GpuQueue::describe(Info& info) const {
  int driver = 0;
  check(driver_version(driver), "asking for the driver's version");
  info.add("name", gpu_.facts.name);
  info.add("architecture", gpu_.facts.architecture);
  info.add("multiprocessors", int64_t{gpu_.facts.multiprocessors});
  info.add("memory_bytes", static_cast<int64_t>(gpu_.facts.memory));
  info.add("driver", int64_t{driver});
  info.add("ordinal", int64_t{gpu_.ordinal});
  info.add("module", backend_.file());
}

GpuBackend::GpuBackend(const CoreTable& core, const DeviceTable& table, const std::vector<int>& ordinals,
                       std::string file, MakeSpace make_space, const SmallCopies& small)
    : core_(core),
      table_(table),
      file_(std::move(file)),
      make_space_(make_space),
      small_(small),
      gpus_(ordinals.size()),
      ordinals_(ordinals) {
  for (size_t i = 0; i < ordinals.size(); ++i) {
    gpus_[i].id = static_cast<int32_t>(i);
    gpus_[i].ordinal = ordinals[i];
  }
}

void GpuBackend::enter(Thunk thunk, void* argument, Failure& failure) const {
  if (!usable()) return run_guarded(thunk, argument, failure);
  Surroundings in;
  run_guarded(thunk, argument, failure);
}

void GpuBackend::run_guarded(Thunk thunk, void* argument, Failure& failure) const {
  guarded(failure, [&] {
    require(!core_.in_forked_child(), KKC_STATUS_WRONG_STATE, "device ", name(gpu::device),
            " cannot be used in a child of fork whose parent had used a device");
    require(!closed_, KKC_STATUS_DEVICE_UNAVAILABLE, "device ", name(gpu::device), " is closed: the process is ending");
    thunk(argument);
  });
}

std::shared_ptr<Queue> GpuBackend::open(int32_t device_id, const QueueSettings&) {
  Gpu& gpu = gpus_.at(static_cast<size_t>(device_id));
  {
    std::lock_guard lock(mutex_);
    if (gpu.frees == stream_t{})
      start(gpu, ordinals_);
    else
      make_current(gpu.context);
  }
  return std::make_shared<GpuQueue>(*this, gpu);
}

std::shared_ptr<void> GpuBackend::space_on(const Gpu& gpu, stream_t stream, bool may_make) {
  std::lock_guard lock(mutex_);
  Cached* oldest = nullptr;
  for (Cached& cached : spaces_) {
    if (cached.ordinal == gpu.ordinal && cached.stream == stream) {
      cached.last_use = ++uses_;
      return cached.space;
    }
    if (cached.space.use_count() == 1 && (oldest == nullptr || cached.last_use < oldest->last_use)) oldest = &cached;
  }
  if (!may_make) return nullptr;
  if (spaces_.size() >= most_cached && oldest != nullptr) spaces_.erase(spaces_.begin() + (oldest - spaces_.data()));
  std::shared_ptr<void> space = make_space_(gpu.ordinal, stream);
  spaces_.push_back({gpu.ordinal, stream, space, ++uses_});
  return space;
}

}  // namespace kkc::gpu
