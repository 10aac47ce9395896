// Owned memory: a queue's own, or the caller's allocator when the context has one.
#pragma once

#include <memory>
#include <utility>

#include "object.hpp"
#include "queue.hpp"

namespace kkc {

class Allocator final : public Object {
 public:
  static constexpr Kind kind_tag = Kind::allocator;
  Allocator(kkc_alloc_fn alloc, kkc_free_fn free, void* user)
      : Object(kind_tag), alloc(alloc), free(free), user(user) {}
  const kkc_alloc_fn alloc;
  const kkc_free_fn free;
  void* const user;
};

inline constexpr size_t memory_alignment = 256;

/// Where a context's allocations come from. Outlives the context while buffers need it. Thread-safe. Virtual, so that
/// modules reach the core's functions.
class Memory {
 public:
  Memory(std::shared_ptr<Queue> queue, std::shared_ptr<Allocator> allocator)
      : queue_(std::move(queue)), allocator_(std::move(allocator)) {
    if (queue_ && !allocator_) in_order_.reset(new Memory(queue_));
  }
  virtual ~Memory() = default;
  Queue& queue() const { return *queue_; }
  /// Never null for bytes > 0: throws OUT_OF_MEMORY.
  virtual void* allocate(Space space, size_t bytes) const;
  virtual void deallocate(Space space, void* data, size_t bytes) const noexcept;

  /// For device memory that only work of this queue uses, in its order: a GPU then waits for no one, neither when the
  /// memory is allocated nor when it is freed.
  static const std::shared_ptr<const Memory>& in_order(const std::shared_ptr<const Memory>& memory) {
    return memory->in_order_ ? memory->in_order_ : memory;
  }

 private:
  explicit Memory(std::shared_ptr<Queue> queue) : queue_(std::move(queue)), is_in_order_(true) {}
  bool is_kept(Space space, size_t bytes) const;
  size_t room_for(Space space, size_t bytes) const;

  std::shared_ptr<Queue> queue_;
  std::shared_ptr<Allocator> allocator_;
  bool is_in_order_ = false;
  std::shared_ptr<const Memory> in_order_;  // null: this is it, or there is none
};

/// A block of memory with an owner. Empty for 0 bytes.
class Buffer {
 public:
  Buffer() = default;
  Buffer(std::shared_ptr<const Memory> memory, Space space, size_t bytes)
      : memory_(std::move(memory)),
        space_(space),
        bytes_(bytes),
        data_(bytes == 0 ? nullptr : memory_->allocate(space, bytes)) {}
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer moved(std::move(other));
    swap(moved);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) memory_->deallocate(space_, data_, bytes_);
  }
  void* data() const { return data_; }
  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }
  size_t bytes() const { return bytes_; }
  Space space() const { return space_; }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(space_, other.space_);
    std::swap(bytes_, other.bytes_);
    std::swap(data_, other.data_);
  }
  std::shared_ptr<const Memory> memory_;
  Space space_ = Space::host;
  size_t bytes_ = 0;
  void* data_ = nullptr;
};

}  // namespace kkc
