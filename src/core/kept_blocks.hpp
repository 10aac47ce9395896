// Blocks of memory that were freed, for the next allocations of their size.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <mutex>
#include <vector>

namespace kkc {

/// What is allocated for `bytes`, so that blocks of like sizes can take each other's place: an eighth more at most, or
/// a multiple of `step`.
inline size_t size_class(size_t bytes, size_t step) {
  step = std::max(step, std::bit_floor(bytes) / 8);
  return (bytes + step - 1) / step * step;
}

/// The newest is taken first, the oldest is let go first. Thread-safe.
class KeptBlocks {
 public:
  struct Block {
    void* data;
    size_t bytes;
  };

  /// So many bytes in all, half of it in one block.
  explicit KeptBlocks(size_t most_bytes) : most_(most_bytes) {}
  KeptBlocks(const KeptBlocks&) = delete;
  KeptBlocks& operator=(const KeptBlocks&) = delete;

  bool keeps(size_t bytes) const { return bytes <= most_ / 2; }

  /// A block of exactly so many bytes, or null.
  void* take(size_t bytes) noexcept {
    if (!keeps(bytes)) return nullptr;
    const std::lock_guard lock(mutex_);
    for (size_t i = count_; i-- > 0;)
      if (blocks_[i].bytes == bytes) return remove(i).data;
    return nullptr;
  }

  /// False: it is too large. free(Block) lets go of others, any time.
  template <class Free>
  bool keep(const Block& block, const Free& free) noexcept {
    if (!keeps(block.bytes)) return false;
    for (;;) {
      Block oldest{};
      {
        const std::lock_guard lock(mutex_);
        if (count_ < blocks_.size() && bytes_ + block.bytes <= most_) {
          blocks_[count_++] = block;
          bytes_ += block.bytes;
          return true;
        }
        oldest = remove(0);
      }
      free(oldest);
    }
  }

  std::vector<Block> take_all() {
    const std::lock_guard lock(mutex_);
    std::vector<Block> all(blocks_.begin(), blocks_.begin() + static_cast<std::ptrdiff_t>(count_));
    count_ = bytes_ = 0;
    return all;
  }

 private:
  Block remove(size_t i) noexcept {
    const Block block = blocks_[i];
    bytes_ -= block.bytes;
    const auto at = blocks_.begin() + static_cast<std::ptrdiff_t>(i);
    std::move(at + 1, blocks_.begin() + static_cast<std::ptrdiff_t>(count_--), at);
    return block;
  }

  std::mutex mutex_;
  std::array<Block, 128> blocks_{};  // the oldest first
  size_t count_ = 0, bytes_ = 0;
  const size_t most_;
};

}  // namespace kkc
