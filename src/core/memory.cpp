#include "memory.hpp"

#include "kept_blocks.hpp"

namespace kkc {
namespace {

// Small steps, for arrays of rows. Larger arrays than queues keep are worth the driver's time, and no more room than
// asked for.
constexpr size_t in_order_step = 512, most_in_order = size_t{128} << 20;

}  // namespace

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
    const size_t room = room_for(space, bytes);
    if (is_kept(space, bytes)) data = queue_->take(room);
    if (data == nullptr) queue_->run([&] { data = queue_->allocate(space, room); });
  }
  require(data != nullptr, KKC_STATUS_OUT_OF_MEMORY, "no memory left for ", bytes, " bytes in space ", name(space));
  return data;
}

bool Memory::is_kept(Space space, size_t bytes) const {
  return is_in_order_ && space == Space::device && bytes <= most_in_order;
}

size_t Memory::room_for(Space space, size_t bytes) const {
  return is_kept(space, bytes) ? size_class(bytes, in_order_step) : bytes;
}

void Memory::deallocate(Space space, void* data, size_t bytes) const noexcept {
  if (allocator_) {
    allocator_->free(allocator_->user, data, bytes, static_cast<kkc_space_t>(space), queue_->stream());
    return;
  }
  if (is_kept(space, bytes) && queue_->give(data, room_for(space, bytes))) return;
  try {
    queue_->run([&] { queue_->deallocate(space, data, bytes); });
  } catch (const Error&) {
    // Freeing has no one to report to; the memory stays with the device until it is reset.
  }
}

}  // namespace kkc
