#include "loans.hpp"

#include <mutex>
#include <unordered_map>

namespace kkc {
namespace {

struct Loan {
  Device device;
  int32_t device_id;
  Buffer buffer;
};

struct Loans {
  std::mutex mutex;
  std::unordered_map<void*, Loan> open;
};

// Never destroyed: what is still lent at exit is left to the system.
Loans& loans() {
  static auto* made = new Loans;
  return *made;
}

}  // namespace

void* loan_memory(const std::shared_ptr<const Memory>& memory, size_t bytes) {
  if (bytes == 0) return nullptr;
  const Queue& queue = memory->queue();
  const bool host = is_host(queue.device());
  Loan loan{queue.device(), queue.device_id(), Buffer(memory, host ? Space::host : Space::device, bytes)};
  void* data = loan.buffer.data();
  std::lock_guard lock(loans().mutex);
  loans().open.emplace(data, std::move(loan));
  return data;
}

void return_memory(const Queue& queue, void* data) {
  if (data == nullptr) return;
  Buffer returned;
  std::lock_guard lock(loans().mutex);
  const auto it = loans().open.find(data);
  require(it != loans().open.end(), KKC_STATUS_INVALID_ARGUMENT, "ptr is ", data,
          ", expected a pointer that kkc_malloc gave and that was not freed");
  require(it->second.device == queue.device() && it->second.device_id == queue.device_id(), KKC_STATUS_INVALID_ARGUMENT,
          "ptr belongs to device ", name(it->second.device), " ", it->second.device_id,
          ", expected the context's device ", name(queue.device()), " ", queue.device_id());
  returned = std::move(it->second.buffer);
  loans().open.erase(it);
}

void copy_bytes(Queue& queue, void* destination, const void* source, size_t bytes, int32_t direction) {
  require(direction >= KKC_COPY_HOST_TO_DEVICE && direction <= KKC_COPY_HOST_TO_HOST, KKC_STATUS_INVALID_ARGUMENT,
          "direction is ", direction,
          ", expected KKC_COPY_HOST_TO_DEVICE (1), _DEVICE_TO_HOST (2), _DEVICE_TO_DEVICE (3) or _HOST_TO_HOST (4)");
  if (bytes == 0) return;
  require(destination != nullptr, KKC_STATUS_NULL_POINTER, "dst is NULL, expected room for ", bytes, " bytes");
  require(source != nullptr, KKC_STATUS_NULL_POINTER, "src is NULL, expected ", bytes, " bytes");
  const auto to = reinterpret_cast<uintptr_t>(destination), from = reinterpret_cast<uintptr_t>(source);
  require(bytes <= UINTPTR_MAX - to && bytes <= UINTPTR_MAX - from, KKC_STATUS_OVERFLOW, "bytes is ", bytes,
          ", more than memory holds after the address");
  require(to + bytes <= from || from + bytes <= to, KKC_STATUS_INVALID_ARGUMENT, "dst and src overlap within ", bytes,
          " bytes, expected separate memory");
  queue.run([&] {
    queue.copy(destination, source, bytes);
    if (direction != KKC_COPY_DEVICE_TO_DEVICE) queue.synchronize();
  });
}

}  // namespace kkc
