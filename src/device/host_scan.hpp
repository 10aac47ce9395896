// Prefix sums on hosts, for plans and execute of any operation:
//
//   const int64_t total = host_exclusive_scan<Dev>(queue, counts, offsets, n);   // offsets[n + 1], the total last
//
// counts may be offsets where both have the same type. Nothing is allocated. Each part of the elements is summed, then
// scanned behind the parts before it.
#pragma once

#include <algorithm>
#include <cstdint>

#include "device/host_parallel.hpp"

namespace kkc {

/// Below this, one thread is faster than a parallel region.
inline constexpr int64_t host_scan_grain = 16384;
inline constexpr int64_t host_scan_most_parts = 256;

/// offsets[i] = first + counts[0] + ... + counts[i - 1] for i = 0..n. Returns the sum of the counts in 64 bits,
/// whatever Out holds: where Out is narrower, the caller compares.
template <class Dev, class In, class Out>
int64_t host_exclusive_scan(Queue& queue, const In* counts, Out* offsets, int64_t n, Out first = 0) {
  const int64_t parts =
      std::clamp<int64_t>(n / host_scan_grain, 1, std::min<int64_t>(queue.concurrency(), host_scan_most_parts));
  int64_t sums[host_scan_most_parts];
  if (parts > 1)
    host_parts<Dev>(queue, parts, [&](int64_t part) {
      int64_t sum = 0;
      for (int64_t i = part_begin(n, parts, part), end = part_begin(n, parts, part + 1); i < end; ++i) sum += counts[i];
      sums[part] = sum;
    });
  int64_t total = 0;
  for (int64_t part = 0; part + 1 < parts; ++part) {
    const int64_t sum = sums[part];
    sums[part] = total;
    total += sum;
  }
  sums[parts - 1] = total;
  int64_t last = 0;
  host_parts<Dev>(queue, parts, [&](int64_t part) {
    int64_t before = sums[part];
    for (int64_t i = part_begin(n, parts, part), end = part_begin(n, parts, part + 1); i < end; ++i) {
      const int64_t count = counts[i];
      offsets[i] = static_cast<Out>(first + before);
      before += count;
    }
    if (part == parts - 1) last = before;
  });
  offsets[n] = static_cast<Out>(first + last);
  return last;
}

}  // namespace kkc
