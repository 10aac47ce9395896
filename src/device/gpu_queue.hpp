// Queue and Backend of a GPU module, for CUDA and HIP alike. Knows no Kokkos: the module hands in how instances are
// made.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/module.hpp"
#include "gpu_kept_words.hpp"
#include "gpu_memory.hpp"

namespace kkc::gpu {

class GpuBackend;

/// Copies of a few words by kernels, between memory of the stream's device and the host: they begin right behind the
/// kernel before, where an engine for copies takes several times as long to begin.
struct SmallCopies {
  status_t (*read)(stream_t stream, const Watched& to, const void* from, size_t bytes);
  status_t (*write)(stream_t stream, void* to, const void* from, size_t bytes);  // has read `from` when it returns
};

class GpuQueue final : public KeepingQueue {
 public:
  GpuQueue(GpuBackend& backend, Gpu& gpu);
  ~GpuQueue() override;

  Device device() const override { return gpu::device; }
  int32_t device_id() const override { return gpu_.id; }
  const DeviceTable& table() const override;
  int32_t concurrency() const override { return gpu_.facts.multiprocessors; }
  bool reads(Space space) const override { return space != Space::host; }
  void* allocate(Space space, size_t bytes) override { return gpu::allocate(gpu_, space, bytes); }
  void deallocate(Space space, void* data, size_t) noexcept override { gpu::deallocate(gpu_, space, data); }
  void* take(size_t bytes) noexcept override { return lane_.kept.take(bytes); }
  bool give(void* data, size_t bytes) noexcept override;
  void copy(void* destination, const void* source, size_t bytes) override;
  void read_words(void* destination, const void* source, size_t bytes) override;
  void write_words(void* destination, const void* source, size_t bytes) override;
  void synchronize() override;
  void set_stream(void* stream) override;
  void* stream() const override { return used_stream(); }
  void describe(Info& info) const override;

  /// Kokkos' execution-space instance on the current stream.
  const void* space();

  /// Device memory of the queue's own, for calls that begin and end on its stream with a small result.
  static constexpr size_t scratch_bytes = 4096;
  void* scratch();

  KeptWords& kept_words(KeptWords::Use use, size_t bytes) override;
  Watched watch() override;
  void await(void* destination, size_t bytes) override;

  /// Pinned memory of the queue's own, for what plans read back in one piece: copy() to the host lands there, and
  /// kernels of a call that waits for them may write there.
  static constexpr size_t landing_bytes = size_t{128} << 10;
  void* landing();

 private:
  void enter(Thunk thunk, void* argument, Failure& failure) const override;
  /// Refuses a copy that blocks while the stream is being captured.
  static void require_not_captured(stream_t stream);
  /// The current stream, for one who may enqueue work on it.
  stream_t used_stream() const {
    used_.store(true, std::memory_order_relaxed);
    return stream_.load(std::memory_order_acquire);
  }

  GpuBackend& backend_;
  Gpu& gpu_;
  Lane lane_;
  // Read by allocations and frees of other threads as well.
  std::atomic<stream_t> stream_;
  mutable std::atomic<bool> used_ = false;                      // since the last event behind a call
  mutable std::atomic<uint64_t> last_capture_ = not_capturing;  // that the last call on a caller's stream took part in
  KeptWords kept_words_[KeptWords::uses];
  void* scratch_ = nullptr;         // null: not needed yet
  void* landing_ = nullptr;         // the same, pinned
  WatchedWord* watched_ = nullptr;  // the same, for watch() alone
  uint32_t reads_ = 0;              // how often that was written
  std::shared_ptr<void> space_;     // null: the stream was being captured when it came
};

class GpuBackend final : public Backend {
 public:
  /// Makes Kokkos' instance on a stream of the device that the runtime calls `ordinal`.
  using MakeSpace = std::shared_ptr<void> (*)(int ordinal, stream_t stream);

  GpuBackend(const CoreTable& core, const DeviceTable& table, const std::vector<int>& ordinals, std::string file,
             MakeSpace make_space, const SmallCopies& small);

  Device device() const override { return gpu::device; }
  int32_t count() const override { return static_cast<int32_t>(gpus_.size()); }
  const DeviceTable& table() const override { return table_; }
  std::shared_ptr<Queue> open(int32_t device_id, const QueueSettings& settings) override;

  /// Refuses every later call: the process is ending.
  void close() { closed_ = true; }
  /// Neither closed nor in a forked child.
  bool usable() const { return !closed_ && !core_.in_forked_child(); }
  /// Runs a call, or refuses it.
  void run_guarded(Thunk thunk, void* argument, Failure& failure) const;

  const std::string& file() const { return file_; }
  const SmallCopies& small_copies() const { return small_; }
  /// The cached instance for a stream: each costs several buffers. Null when there is none and none may be made.
  std::shared_ptr<void> space_on(const Gpu& gpu, stream_t stream, bool may_make = true);

 private:
  void enter(Thunk thunk, void* argument, Failure& failure) const override;

  struct Cached {
    int ordinal;
    stream_t stream;
    std::shared_ptr<void> space;
    uint64_t last_use;
  };
  static constexpr size_t most_cached = 64;

  const CoreTable& core_;
  const DeviceTable& table_;
  std::string file_;
  MakeSpace make_space_;
  SmallCopies small_;
  std::vector<Gpu> gpus_;
  std::vector<int> ordinals_;
  std::mutex mutex_;
  std::vector<Cached> spaces_;
  uint64_t uses_ = 0;
  std::atomic<bool> closed_ = false;
};

}  // namespace kkc::gpu
