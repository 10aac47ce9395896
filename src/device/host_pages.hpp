// First use of large new arrays by many threads. The system clears a page when it is first written. Threads that write
// neighbouring parts of one huge page at the same time each clear one, and all but one are thrown away: on 16 threads
// more than half of all clearing was in vain.
#pragma once

#include <algorithm>
#include <cstddef>

#include "device/host_parallel.hpp"

namespace kkc {

/// Has each page of an array whose contents do not matter written by one thread, before the threads share its pages out
/// otherwise. Nothing for few threads, which seldom meet, and for smaller arrays, which were often used before.
inline void touch_pages(Queue& queue, void* data, size_t bytes) {
  constexpr int fewest_threads = 4;
  constexpr int64_t huge_page = int64_t{1} << 21, page = 4096;
  const auto size = static_cast<int64_t>(bytes);
  if (queue.concurrency() < fewest_threads || size < 16 * huge_page) return;
  const int64_t pages = (size + huge_page - 1) / huge_page, parts = queue.concurrency();
  host_parts<Host>(queue, parts, [&](int64_t part) {
    auto* const bytes_of = static_cast<volatile char*>(data);
    const int64_t end = std::min(size, part_begin(pages, parts, part + 1) * huge_page);
    for (int64_t at = part_begin(pages, parts, part) * huge_page; at < end; at += page) bytes_of[at] = 0;
  });
}

/// Fills an array that may be new, each thread a part.
template <class T>
void fill_parts(Queue& queue, T* data, int64_t count, const T& value) {
  const int64_t parts = count < (int64_t{1} << 14) ? 1 : queue.concurrency();
  host_parts<Host>(queue, parts, [&](int64_t part) {
    std::fill(data + part_begin(count, parts, part), data + part_begin(count, parts, part + 1), value);
  });
}

}  // namespace kkc
