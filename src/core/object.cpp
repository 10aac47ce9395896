#include "object.hpp"

#include <array>
#include <atomic>
#include <mutex>
#include <unordered_map>

#include "log.hpp"

namespace kkc {
namespace {

struct Shard {
  std::mutex mutex;
  std::unordered_map<uintptr_t, std::shared_ptr<Object>> live;
};

// Handles start far from where Linux puts heaps, stacks and code, and stay within 47 bits.
constexpr uintptr_t first_handle = 0x6b6b'0000'0000;
constexpr uintptr_t handle_step = 64;
constexpr size_t shard_count = 64;

// Never destroyed: calls may come from other libraries' exit handlers.
Shard& shard_of(uintptr_t handle) {
  static auto* shards = new std::array<Shard, shard_count>;
  return (*shards)[(handle / handle_step) % shard_count];
}

}  // namespace

const char* name(Kind kind) {
  switch (kind) {
    case Kind::context: return "context";
    case Kind::allocator: return "allocator";
    case Kind::options: return "options";
    case Kind::view: return "view";
    case Kind::matrix: return "matrix";
    case Kind::plan: return "plan";
  }
  return "object";
}

void* handle_create(std::shared_ptr<Object> object) {
  static std::atomic<uintptr_t> next{first_handle};
  const uintptr_t handle = next.fetch_add(handle_step, std::memory_order_relaxed);
  log(LogLevel::debug, name(object->kind()), " handle ", reinterpret_cast<void*>(handle), " given out");
  Shard& shard = shard_of(handle);
  std::lock_guard lock(shard.mutex);
  shard.live.emplace(handle, std::move(object));
  return reinterpret_cast<void*>(handle);
}

std::shared_ptr<Object> handle_find(const void* handle) {
  const auto key = reinterpret_cast<uintptr_t>(handle);
  Shard& shard = shard_of(key);
  std::lock_guard lock(shard.mutex);
  const auto it = shard.live.find(key);
  return it == shard.live.end() ? nullptr : it->second;
}

std::shared_ptr<Object> handle_remove(const void* handle, Kind kind) {
  const auto key = reinterpret_cast<uintptr_t>(handle);
  Shard& shard = shard_of(key);
  std::shared_ptr<Object> object;
  {
    std::lock_guard lock(shard.mutex);
    const auto it = shard.live.find(key);
    if (it == shard.live.end() || it->second->kind() != kind) return nullptr;
    object = std::move(it->second);
    shard.live.erase(it);
  }
  log(LogLevel::debug, name(kind), " handle ", handle, " withdrawn");
  return object;
}

void fail_handle(const void* handle, const char* argument, Kind expected, const Object* found) {
  if (handle == nullptr) fail(KKC_STATUS_NULL_POINTER, argument, " is NULL, expected a ", name(expected), " handle");
  if (found != nullptr)
    fail(KKC_STATUS_INVALID_HANDLE, argument, " is a handle of kind ", name(found->kind()), ", expected a ",
         name(expected));
  fail(KKC_STATUS_INVALID_HANDLE, argument, " is not a live handle (destroyed, or never given out by kkc), expected a ",
       name(expected));
}

}  // namespace kkc
