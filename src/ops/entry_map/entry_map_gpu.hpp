// entry_map, GPUs.
#pragma once

#include "core/dispatch.hpp"
#include "device/gpu_launch.hpp"
#include "device/gpu_scalar.hpp"
#include "ops/entry_map/entry_map.hpp"

namespace kkc::entry_map {
namespace gpu_parts {

/// Positions are loaded before the values they lead to, to keep several in flight.
template <class T, class O>
struct Gather {
  static constexpr int threads = 256, items = 4, tile = threads * items;
  const T* source;
  const O* positions;  // or null
  T* target;
  int64_t count;
  bool conjugate;

  __device__ void operator()() const {
    const int64_t first = int64_t{blockIdx.x} * tile + threadIdx.x;
    int64_t place[items];
    T value[items];
#pragma unroll
    for (int u = 0; u < items; ++u) {
      const int64_t k = first + u * threads;
      place[u] = positions == nullptr || k >= count ? k : static_cast<int64_t>(positions[k]);
    }
#pragma unroll
    for (int u = 0; u < items; ++u)
      if (first + u * threads < count) value[u] = source[place[u]];
#pragma unroll
    for (int u = 0; u < items; ++u)
      if (first + u * threads < count) target[first + u * threads] = gpu::conjugate_if(value[u], conjugate);
  }
};

/// An output a thread, its sources in order.
template <class T, class O>
struct GatherSums {
  static constexpr int threads = 256;
  const T* source;
  const O* positions;  // or null
  const O* starts;
  T* target;
  int64_t count;
  bool conjugate;

  __device__ void operator()() const {
    const int64_t k = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (k >= count) return;
    const int64_t begin = starts[k], end = starts[k + 1];
    const auto at = [&](int64_t s) { return source[positions == nullptr ? s : static_cast<int64_t>(positions[s])]; };
    T sum = at(begin);
    for (int64_t s = begin + 1; s < end; ++s) sum = gpu::add(sum, at(s));
    target[k] = gpu::conjugate_if(sum, conjugate);
  }
};

template <class To, class From>
struct Convert {
  static constexpr int threads = 256;
  To* target;
  const From* source;  // or null
  int64_t count;

  __device__ void operator()() const {
    const int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i < count) target[i] = source == nullptr ? static_cast<To>(i) : static_cast<To>(source[i]);
  }
};

template <class T, class O>
void gather_typed(Queue& queue, const Args& args) {
  const auto* const source = static_cast<const T*>(args.source);
  const auto* const positions = static_cast<const O*>(args.positions);
  auto* const target = static_cast<T*>(args.target);
  if (args.starts == nullptr) {
    using Kernel = Gather<T, O>;
    gpu::launch(queue, gpu::blocks_for(args.count, Kernel::tile), Kernel::threads, 0,
                Kernel{source, positions, target, args.count, args.conjugate});
  } else {
    using Kernel = GatherSums<T, O>;
    gpu::launch(queue, gpu::blocks_for(args.count, Kernel::threads), Kernel::threads, 0,
                Kernel{source, positions, static_cast<const O*>(args.starts), target, args.count, args.conjugate});
  }
}

/// Calls f(T{}, O{}).
template <class F>
void with_types(Scalar scalar, IndexPair pair, const F& f) {
  dispatch_scalar(Scalars{}, scalar, [&]<class S>(Type<S>) {
    if (offset_size(pair) == 4)
      f(gpu::Element<S>{}, int32_t{});
    else
      f(gpu::Element<S>{}, int64_t{});
  });
}

inline void prepare(Queue& queue) {
  gpu::prepare<Convert<int32_t, int32_t>>(queue);
  gpu::prepare<Convert<int32_t, int64_t>>(queue);
  gpu::prepare<Convert<int64_t, int32_t>>(queue);
  gpu::prepare<Convert<int64_t, int64_t>>(queue);
}

inline void prepare_gather(Queue& queue, Scalar scalar, IndexPair pair) {
  with_types(scalar, pair, [&]<class T, class O>(T, O) {
    gpu::prepare<Gather<T, O>>(queue);
    gpu::prepare<GatherSums<T, O>>(queue);
  });
}

inline void gather(Queue& queue, const Args& args) {
  with_types(args.scalar, args.pair, [&]<class T, class O>(T, O) { gather_typed<T, O>(queue, args); });
}

inline void convert(Queue& queue, void* target, size_t target_bytes_each, const void* source, size_t source_bytes_each,
                    int64_t count) {
  const auto typed = [&]<class To, class From>(To* to, const From* from) {
    using Kernel = Convert<To, From>;
    gpu::launch(queue, gpu::blocks_for(count, Kernel::threads), Kernel::threads, 0, Kernel{to, from, count});
  };
  const auto from_either = [&]<class To>(To* to) {
    if (source_bytes_each == 4)
      typed(to, static_cast<const int32_t*>(source));
    else
      typed(to, static_cast<const int64_t*>(source));
  };
  if (target_bytes_each == 4)
    from_either(static_cast<int32_t*>(target));
  else
    from_either(static_cast<int64_t*>(target));
}

}  // namespace gpu_parts

template <class Dev>
constexpr Implementation gpu() {
  return {{"gpu", gpu_parts::prepare}, gpu_parts::prepare_gather, gpu_parts::gather, gpu_parts::convert};
}

}  // namespace kkc::entry_map
