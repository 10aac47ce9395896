// What a processor keeps near.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstdint>

namespace kkc {

/// Bytes of a core's own outer cache; where the system does not say, of a small one.
inline int64_t own_cache_bytes() {
  constexpr int64_t small = int64_t{1} << 19;
#ifdef _SC_LEVEL2_CACHE_SIZE
  static const int64_t bytes = std::max(small, int64_t{sysconf(_SC_LEVEL2_CACHE_SIZE)});
  return bytes;
#else
  return small;
#endif
}

}  // namespace kkc
