// Kokkos neither starts, makes nor drops an OpenMP instance inside a parallel region; a fresh thread is outside, and
// its OpenMP settings are not the caller's.
#pragma once

#ifdef _OPENMP
#include <omp.h>
#endif

#include <exception>
#include <thread>

namespace kkc {

inline bool in_parallel_region() {
#ifdef _OPENMP
  return omp_get_level() > 0;
#else
  return false;
#endif
}

template <class F>
void on_fresh_thread(F f) {
  std::exception_ptr failure;
  std::thread([&] {
    try {
      f();
    } catch (...) {
      failure = std::current_exception();
    }
  }).join();
  if (failure) std::rethrow_exception(failure);
}

template <class F>
void outside_parallel(F f) {
  if (in_parallel_region())
    on_fresh_thread(f);
  else
    f();
}

}  // namespace kkc
