// What the benchmark asks of a GPU: a stream, its clock and its bandwidth. Lives in a module of its own
// (kkc_bench_cuda.so), so that the program needs no CUDA.
#pragma once

#include <cstdint>
#include <string>

#include "bench_machine.hpp"
#include "bench_timing.hpp"

namespace kkc::bench {

class Gpu : public Timer {
 public:
  virtual std::string name() const = 0;
  virtual std::string runtime() const = 0;  // e.g. "CUDA runtime 13.0, driver 13.0"
  virtual int64_t last_level_cache() const = 0;
  virtual void* stream() const = 0;
  virtual Bandwidth bandwidth() = 0;
};

/// Exported by the module.
using OpenGpu = Gpu* (*)(int32_t device_id);

}  // namespace kkc::bench
