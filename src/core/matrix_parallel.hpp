// Host threads and typed arrays for the work on whole matrices: reading, generating, checking. Only the calling thread
// allocates through the context's memory; workers get their room beforehand.
#pragma once

#include <algorithm>
#include <cstdint>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "memory.hpp"

namespace kkc {

/// Threads that a context grants: those of a host device; for a GPU, whose calls here block, the process's own.
inline int host_threads(const Memory& memory) {
  const Queue& queue = memory.queue();
  const bool host = is_host(queue.device());
  return host ? std::max(1, queue.concurrency())
              : static_cast<int>(std::clamp(std::thread::hardware_concurrency(), 1u, 16u));
}

/// As many parts as threads, but none smaller than `grain` items.
inline int part_count(int threads, int64_t items, int64_t grain) {
  return static_cast<int>(std::clamp<int64_t>(items / grain, 1, threads));
}

struct Range {
  int64_t begin, end;
};

inline Range part_of(int64_t items, int part, int parts) {
  const int64_t each = items / parts, more = items % parts;
  const int64_t begin = each * part + std::min<int64_t>(part, more);
  return {begin, begin + each + (part < more ? 1 : 0)};
}

/// Rows of a part, so that parts have about as many entries; offsets of base `base`.
template <class O>
Range rows_of(const O* offsets, int64_t rows, O base, int part, int parts) {
  if (rows == 0) return {0, 0};
  const int64_t nnz = static_cast<int64_t>(offsets[rows] - base);
  const auto row_at = [&](int p) {
    if (p == 0) return int64_t{0};
    if (p == parts) return rows;
    const O entry = static_cast<O>(part_of(nnz, p, parts).begin + base);
    return static_cast<int64_t>(std::lower_bound(offsets, offsets + rows, entry) - offsets);
  };
  return {row_at(part), row_at(part + 1)};
}

/// Calls f(part) for each part on threads of their own, the first on the caller's. Rethrows the failure of the lowest
/// part once all have ended.
template <class F>
void run_parts(int parts, const F& f) {
  if (parts <= 1) return f(0);
  std::vector<std::exception_ptr> failures(static_cast<size_t>(parts));
  const auto guarded = [&](int part) noexcept {
    try {
      f(part);
    } catch (...) {
      failures[static_cast<size_t>(part)] = std::current_exception();
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(static_cast<size_t>(parts));
  int started = 1;
  try {
    for (; started < parts; ++started) threads.emplace_back(guarded, started);
  } catch (const std::system_error&) {
    // The system gives no more threads: the caller's does the rest.
  }
  guarded(0);
  for (int part = started; part < parts; ++part) guarded(part);
  for (auto& thread : threads) thread.join();
  for (const auto& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

/// Room for `count` elements in host memory.
template <class T>
Buffer host_array(const std::shared_ptr<const Memory>& memory, int64_t count) {
  require(static_cast<uint64_t>(count) <= static_cast<uint64_t>(PTRDIFF_MAX) / sizeof(T), KKC_STATUS_OUT_OF_MEMORY,
          "no memory left for ", count, " elements of ", sizeof(T), " bytes");
  return Buffer(memory, Space::host, static_cast<size_t>(count) * sizeof(T));
}

/// Turns counts[0..n-1] into offsets[0..n], which may be the same array; the total must fit O.
template <class O>
void counts_to_offsets(const O* counts, int64_t n, O* offsets, int threads) {
  const int parts = part_count(threads, n, 1 << 18);
  std::vector<O> sums(static_cast<size_t>(parts) + 1, O{0});
  run_parts(parts, [&](int part) {
    const Range r = part_of(n, part, parts);
    O sum = 0;
    for (int64_t i = r.begin; i < r.end; ++i) sum += counts[i];
    sums[static_cast<size_t>(part) + 1] = sum;
  });
  for (int part = 0; part < parts; ++part) sums[static_cast<size_t>(part) + 1] += sums[static_cast<size_t>(part)];
  // counts[r.end] may be offsets[r.end], which the next part writes: only a part's own places are read before they
  // are written.
  run_parts(parts, [&](int part) {
    const Range r = part_of(n, part, parts);
    O sum = sums[static_cast<size_t>(part)];
    for (int64_t i = r.begin; i < r.end; ++i) {
      const O count = counts[i];
      offsets[i] = sum;
      sum += count;
    }
  });
  offsets[n] = sums[static_cast<size_t>(parts)];
}

}  // namespace kkc
