// Host threads that may wait for one another.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "host_parallel.hpp"

namespace kkc {

/// f(thread) on each of `threads` threads at the same time; false, and nothing is called, where no such team can be had
/// (inside a caller's parallel region). f must not throw.
template <class Dev, class F>
bool host_team(Queue& queue, int threads, F&& f) {
  static_assert(Dev::is_host);
#ifdef _OPENMP
  if (threads <= queue.concurrency() && omp_in_parallel() == 0) {
    bool complete = false;
#pragma omp parallel num_threads(threads)
    {
      const bool mine = omp_get_num_threads() == threads;
      if (omp_get_thread_num() == 0) complete = mine;
      if (mine) f(omp_get_thread_num());
    }
    return complete;
  }
#endif
  (void)queue;
  if (threads > 1) return false;
  f(0);
  return true;
}

/// Gives the core away when the wait is long: what is waited for may not have one.
template <class Reached>
void wait_until(const Reached& reached) {
  for (int turns = 0; !reached(); ++turns) {
    if (turns < 4000) {
#if defined(__x86_64__)
      _mm_pause();
#endif
    } else {
      std::this_thread::yield();
    }
  }
}

/// first(part) for parts 0..parts-1, then second(part) for them, by one team where one can be had: beginning another
/// takes longer than to wait for each other. Neither may throw.
template <class Dev, class First, class Second>
void host_two_phases(Queue& queue, int64_t parts, First&& first, Second&& second) {
  std::atomic<int64_t> begun{0};
  const bool together =
      parts > 1 && parts <= queue.concurrency() && host_team<Dev>(queue, static_cast<int>(parts), [&](int part) {
        first(part);
        begun.fetch_add(1, std::memory_order_acq_rel);
        wait_until([&] { return begun.load(std::memory_order_acquire) >= parts; });
        second(part);
      });
  if (together) return;
  host_parts<Dev>(queue, parts, first);
  host_parts<Dev>(queue, parts, second);
}

}  // namespace kkc
