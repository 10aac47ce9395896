// Parts of host work: one loop for one thread, one OpenMP region for several.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>

#include "core/queue.hpp"

#ifdef _OPENMP
#include <omp.h>
#endif

namespace kkc {

/// Device tag of Serial and OpenMP alike: what needs no Kokkos is compiled once, and its queue knows the threads.
struct Host {
  static constexpr bool is_host = true;
  static int threads(Queue& queue) { return queue.concurrency(); }
};

/// Calls f(part) for every part in 0..parts-1, parts of one thread in ascending order. The team may be smaller than
/// asked for (one thread inside a caller's parallel region), so parts are dealt by stride. f must not throw.
template <class Dev, class F>
void host_parts(Queue& queue, int64_t parts, F&& f) {
  static_assert(Dev::is_host);
#ifdef _OPENMP
  const int threads = queue.concurrency();  // 1 on Serial
  if (threads > 1 && parts > 1 && omp_in_parallel() == 0) {
#pragma omp parallel num_threads(threads)
    {
      const int64_t team = omp_get_num_threads();
      for (int64_t part = omp_get_thread_num(); part < parts; part += team) f(part);
    }
    return;
  }
#endif
  (void)queue;
  for (int64_t part = 0; part < parts; ++part) f(part);
}

/// The same for parts that may throw, e.g. for want of memory: the first exception goes on after all parts have ended.
template <class Dev, class F>
void host_parts_checked(Queue& queue, int64_t parts, F&& f) {
  std::exception_ptr failure;
  std::atomic<bool> failed{false};
  host_parts<Dev>(queue, parts, [&](int64_t part) {
    try {
      f(part);
    } catch (...) {
      if (!failed.exchange(true)) failure = std::current_exception();
    }
  });
  if (failure) std::rethrow_exception(failure);
}

/// First item of `part` when `items` are dealt evenly.
constexpr int64_t part_begin(int64_t items, int64_t parts, int64_t part) {
  const int64_t each = items / parts, rest = items % parts;
  return part * each + (part < rest ? part : rest);
}

}  // namespace kkc
