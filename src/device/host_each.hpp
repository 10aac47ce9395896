// A loop over elements that the compiler may turn into vectors.
#pragma once

#include <cstdint>

namespace kkc {

/// Calls f(0) .. f(count - 1), which touch no place of one another: the compiler may use vectors without proving it.
template <class F>
inline void each_alone(int64_t count, const F& f) {
#if defined(__clang__)
#pragma clang loop vectorize(assume_safety)
#else
#pragma GCC ivdep
#endif
  for (int64_t i = 0; i < count; ++i) f(i);
}

}  // namespace kkc
