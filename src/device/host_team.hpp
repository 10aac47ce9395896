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
/// (inside a caller's parallel region). f must not throw. The region has all of the queue's threads: GCC's OpenMP ends
/// those that a smaller one leaves out, and beginning them again takes some 35 us each.
template <class Dev, class F>
bool host_team(Queue& queue, int threads, F&& f) {
  static_assert(Dev::is_host);
  if (threads == 1) {
    f(0);
    return true;
  }
#ifdef _OPENMP
  if (threads <= queue.concurrency() && omp_in_parallel() == 0) {
    bool complete = false;
#pragma omp parallel num_threads(queue.concurrency())
    {
      const int me = omp_get_thread_num();
      const bool enough = omp_get_num_threads() >= threads;
      if (me == 0) complete = enough;
      if (enough && me < threads) f(me);
    }
    return complete;
  }
#endif
  (void)queue;
  return false;
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
