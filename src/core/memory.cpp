#include "memory.hpp"

namespace kkc {

void* Memory::allocate(Space space, size_t bytes) const {
  void* data = nullptr;
  if (allocator_) {
    data = allocator_->alloc(allocator_->user, bytes, static_cast<kkc_space_t>(space), queue_->stream());
    if (reinterpret_cast<uintptr_t>(data) % memory_alignment != 0) {
      allocator_->free(allocator_->user, data, bytes, static_cast<kkc_space_t>(space), queue_->stream());
      fail(KKC_STATUS_INVALID_ARGUMENT, "the context's allocator returned ", data, ", expected a multiple of ",
           memory_alignment);
    }
  } else {
    queue_->run([&] { data = queue_->allocate(space, bytes); });
  }
  require(data != nullptr, KKC_STATUS_OUT_OF_MEMORY, "no memory left for ", bytes, " bytes in space ", name(space));
  return data;
}

void Memory::deallocate(Space space, void* data, size_t bytes) const noexcept {
  if (allocator_) {
    allocator_->free(allocator_->user, data, bytes, static_cast<kkc_space_t>(space), queue_->stream());
    return;
  }
  try {
    queue_->run([&] { queue_->deallocate(space, data, bytes); });
  } catch (const Error&) {
    // Freeing has no one to report to; the memory stays with the device until it is reset.
  }
}

}  // namespace kkc
