#include "gpu_memory.hpp"

#include <algorithm>
#include <mutex>

namespace kkc::gpu {
namespace {

/// Pinned and managed memory: the runtime frees it at once, so an event says when it may.
struct Waiting {
  event_t event;
  Space space;
  void* data;
};

struct State {
  std::mutex mutex;
  std::vector<Lane*> lanes;
  std::vector<Waiting> waiting;
};

// Never destroyed: calls may come from other libraries' exit handlers.
State& state() {
  static auto* only = new State;
  return *only;
}

// Ends of life have no one to report to; the runtime keeps its own record of what went wrong.
void ignore(status_t status) {
  if (status != success) static_cast<void>(last_error());
}

/// `frees` of `gpu` waits for the lane's work of now.
void follow(Gpu& gpu, Lane& lane) {
  if (!lane.foreign) ignore(record(lane.event, lane.own));
  ignore(wait(gpu.frees, lane.event));
}

void free_waiting(State& all) {
  std::erase_if(all.waiting, [](const Waiting& w) {
    if (!is_done(w.event)) return false;
    ignore(destroy_event(w.event));
    ignore(w.space == Space::managed ? free_managed(w.data) : free_pinned(w.data));
    return true;
  });
  ignore(last_error());  // of the events that are not done
}

}  // namespace

void start(Gpu& gpu, const std::vector<int>& peers) {
  check(set_device(gpu.ordinal), "setting the device");
  gpu.context = current_context();
  check(device_facts(gpu.facts, gpu.ordinal), "reading the device's properties");
  if (gpu.pool == pool_t{}) check(create_pool(gpu.pool, gpu.ordinal), "creating a memory pool");
  // The pool may keep an eighth of the memory for the next allocations; the rest goes back to the system.
  check(keep_in_pool(gpu.pool, gpu.facts.memory / 8), "setting up a memory pool");
  for (const int peer : peers) {
    int yes = 0;
    if (peer != gpu.ordinal && can_access_peer(yes, gpu.ordinal, peer) == success && yes != 0)
      ignore(let_peer_use(gpu.pool, peer));
  }
  if (gpu.allocations == stream_t{}) check(create_stream(gpu.allocations), "creating a stream");
  if (gpu.frees == stream_t{}) check(create_stream(gpu.frees), "creating a stream");
}

void join(Lane& lane) {
  check(create_event(lane.event), "creating an event");
  std::lock_guard lock(state().mutex);
  state().lanes.push_back(&lane);
}

void leave(Lane& lane) noexcept {
  State& all = state();
  std::lock_guard lock(all.mutex);
  std::erase(all.lanes, &lane);
  // Every device's frees: copies between devices read and write memory of both.
  std::vector<Gpu*> gpus{lane.gpu};
  for (const Lane* other : all.lanes)
    if (std::find(gpus.begin(), gpus.end(), other->gpu) == gpus.end()) gpus.push_back(other->gpu);
  for (Gpu* gpu : gpus) follow(*gpu, lane);
  ignore(destroy_event(lane.event));
  lane.gpu->idle_streams.push_back(lane.own);
  free_waiting(all);
}

void redirect(Lane& lane, bool foreign) {
  std::lock_guard lock(state().mutex);
  lane.foreign = foreign;
}

stream_t take_stream(Gpu& gpu) {
  std::lock_guard lock(state().mutex);
  if (!gpu.idle_streams.empty()) {
    const stream_t stream = gpu.idle_streams.back();
    gpu.idle_streams.pop_back();
    return stream;
  }
  stream_t stream{};
  check(create_stream(stream), "creating a stream");
  return stream;
}

namespace {

/// What lanes keep for themselves.
void free_kept(Gpu& gpu) {
  std::vector<KeptBlocks::Block> blocks;
  {
    State& all = state();
    std::lock_guard lock(all.mutex);
    for (Lane* lane : all.lanes) {
      if (lane->gpu != &gpu) continue;
      const auto more = lane->kept.take_all();
      blocks.insert(blocks.end(), more.begin(), more.end());
    }
  }
  for (const auto& block : blocks) deallocate(gpu, Space::device, block.data);
}

}  // namespace

void* allocate(Gpu& gpu, Space space, size_t bytes) {
  collect();
  void* data = nullptr;
  if (space == Space::device) {
    status_t status = allocate_from(gpu.pool, data, bytes, gpu.allocations);
    if (status == out_of_memory) {
      // What is kept or being freed may be enough, in one piece once the pool has let go of it.
      static_cast<void>(last_error());
      free_kept(gpu);
      check(synchronize(gpu.frees), "waiting for memory");
      ignore(trim_pool(gpu.pool));
      status = allocate_from(gpu.pool, data, bytes, gpu.allocations);
    }
    if (status == success) status = synchronize(gpu.allocations);
    if (status == out_of_memory) {
      static_cast<void>(last_error());
      return nullptr;
    }
    check(status, "allocating device memory");
    return data;
  }
  status_t status = success;
  if (space == Space::managed)
    status = allocate_managed(data, bytes);
  else
    status = allocate_pinned(data, bytes);
  if (status == out_of_memory) {
    static_cast<void>(last_error());
    return nullptr;
  }
  check(status, space == Space::managed ? "allocating managed memory" : "allocating pinned memory");
  return data;
}

void deallocate(Gpu& gpu, Space space, void* data) noexcept {
  State& all = state();
  std::lock_guard lock(all.mutex);
  for (Lane* lane : all.lanes) follow(gpu, *lane);
  if (space == Space::device) {
    ignore(free_async(data, gpu.frees));
    return;
  }
  event_t event{};
  if (create_event(event) != success) return;
  ignore(record(event, gpu.frees));
  all.waiting.push_back({event, space, data});
}

void collect() noexcept {
  State& all = state();
  std::lock_guard lock(all.mutex);
  if (!all.waiting.empty()) free_waiting(all);
}

}  // namespace kkc::gpu
