// axpby on hosts: runs in vector registers; results that no one reads before (beta = 0) bypass the caches when large.
#pragma once

#include <algorithm>

#include "axpby_kernels.hpp"
#include "core/dispatch.hpp"
#include "device/host_parallel.hpp"
#include "device/host_stream.hpp"

namespace kkc::axpby {

template <class Dev, class T>
void combine_all(Queue& queue, const Args& args) {
  const DenseRef* const arrays[2] = {&args.y, &args.x};
  const Walk<2> walk = walk_of(arrays);
  const Combine<T> combine{factor<T>(args.alpha), factor<T>(args.beta), static_cast<const T*>(args.x.data),
                           static_cast<T*>(args.y.data)};
  const bool stream = combine.beta.get() == T{} && walk.contiguous() &&
                      walk.count * static_cast<int64_t>(sizeof(T)) >= stream_threshold_bytes;
  if (!stream) {
    strided_for<Dev>(queue, walk, combine);
    return;
  }
  const int64_t parts = Dev::threads(queue);
  host_parts<Dev>(queue, parts, [&](int64_t part) {
    constexpr int64_t chunk = 4096 / sizeof(T);
    alignas(cache_line) T ready[chunk];
    const int64_t end = part_begin(walk.count, parts, part + 1);
    for (int64_t i = part_begin(walk.count, parts, part); i < end; i += chunk) {
      const int64_t count = std::min(chunk, end - i);
      combine.combine_run(ready, combine.x + i, ready, count);
      stream_out(combine.y + i, ready, static_cast<size_t>(count) * sizeof(T));
    }
    stream_fence();
  });
}

template <class Dev>
void run_host(Queue& queue, void*, const Args& args) {
  dispatch_scalar(Scalars{}, args.y.scalar,
                  [&](auto type) { combine_all<Dev, Element<typename decltype(type)::type>>(queue, args); });
}

template <class Dev>
constexpr Implementation host() {
  return {{"host"}, &run_host<Dev>};
}

}  // namespace kkc::axpby
