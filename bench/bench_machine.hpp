// The host that a figure belongs to, and what its memory can do.
#pragma once

#include <cstdint>
#include <string>

namespace kkc::bench {

/// GB/s; copy and triad count bytes read and written.
struct Bandwidth {
  double read = 0.0, copy = 0.0, triad = 0.0;
};

struct Machine {
  std::string cpu;               // model in the vendor's words
  int32_t cores = 1;             // that this process may use
  int64_t last_level_cache = 0;  // bytes, all instances that those cores reach
};

Machine this_machine();

/// The best of several passes over three arrays of `bytes`. Destination lines are written past the caches.
Bandwidth host_bandwidth(int32_t threads, int64_t bytes);

}  // namespace kkc::bench
