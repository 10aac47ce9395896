// Memory that a queue keeps for kernels of its plans: of the device (gpu_scan.hpp, gpu_sort.hpp), so that none need be
// cleared for each, and of the host, for what it waits for (gpu_read.hpp). It is for plans alone: a captured execute
// may run at any time, beside others.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/queue.hpp"

namespace kkc::gpu {

struct KeptWords {
  enum Use { scans, sorts, reads, row_stats, uses };
  unsigned long long* data = nullptr;
  size_t bytes = 0;
  uint32_t number = 0;   // of the last use; 0: it holds anything
  uint32_t tickets = 0;  // that blocks took until then
};

/// A word for the host, above it the number of the read that it is of: both arrive at once, so that the host need not
/// wait until the device says that the kernel has ended (the LL protocol of NCCL).
using WatchedWord = unsigned long long;

/// Where a kernel writes words for the host, and the number of the read.
struct Watched {
  WatchedWord* words;
  uint32_t number;
};

class KeepingQueue : public Queue {
 public:
  static constexpr size_t most_read = 4096, most_written = 256;  // bytes

  /// At least so many bytes. Larger ones than before hold anything.
  virtual KeptWords& kept_words(KeptWords::Use use, size_t bytes) = 0;
  /// Words of the device's memory, at most most_read bytes, to pageable memory of the host; blocks.
  virtual void read_words(void* destination, const void* source, size_t bytes) = 0;
  /// The other way, at most most_written bytes, which have been read when this returns.
  virtual void write_words(void* destination, const void* source, size_t bytes) = 0;
  /// For the kernel that is enqueued next.
  virtual Watched watch() = 0;
  /// Blocks until that kernel has written so many bytes, at most most_read.
  virtual void await(void* destination, size_t bytes) = 0;
};

inline KeepingQueue& keeping(Queue& queue) { return static_cast<KeepingQueue&>(queue); }

}  // namespace kkc::gpu
