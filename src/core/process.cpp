#include "process.hpp"

#include <pthread.h>

#include <atomic>
#include <mutex>

namespace kkc {
namespace {
std::atomic<bool> forked{false};
}

void note_device_use() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { forked.store(true, std::memory_order_relaxed); }); });
}

bool in_forked_child() noexcept { return forked.load(std::memory_order_relaxed); }

}  // namespace kkc
