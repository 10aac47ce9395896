// axpby on GPUs: runs 16 bytes at a time, other layouts one element a thread.
#pragma once

#include "axpby_kernels.hpp"
#include "core/dispatch.hpp"
#include "device/gpu_launch.hpp"

namespace kkc::axpby {

/// Both arrays are runs. Loads stand before their use, to keep several in flight.
template <class T>
struct CombineRuns {
  static constexpr int threads = 256, unroll = 4, vector = 16 / sizeof(T);
  struct alignas(16) Vector {
    T element[vector];
  };

  Combine<T> combine;
  int64_t head, vectors, count;  // elements before the first whole vector; vectors; all elements

  __device__ void operator()() const {
    const T a = combine.alpha.get(), b = combine.beta.get(), zero{};
    const bool with_x = !(a == zero), with_y = !(b == zero);
    const Vector* const x = reinterpret_cast<const Vector*>(combine.x + head);
    Vector* const y = reinterpret_cast<Vector*>(combine.y + head);
    const int64_t first = int64_t{blockIdx.x} * (unroll * threads) + threadIdx.x;
    Vector u[unroll] = {}, v[unroll] = {};
    if (with_x)
#pragma unroll
      for (int k = 0; k < unroll; ++k)
        if (first + k * threads < vectors) u[k] = x[first + k * threads];
    if (with_y)
#pragma unroll
      for (int k = 0; k < unroll; ++k)
        if (first + k * threads < vectors) v[k] = y[first + k * threads];
#pragma unroll
    for (int k = 0; k < unroll; ++k) {
      if (first + k * threads >= vectors) continue;
#pragma unroll
      for (int e = 0; e < vector; ++e) {
        T value{};
        if (with_x) value = times(a, u[k].element[e]);
        if (with_y) value = plus(value, times(b, v[k].element[e]));
        v[k].element[e] = value;
      }
      y[first + k * threads] = v[k];
    }
    // Head and tail are fewer elements than a block has threads.
    const int64_t tail = count - head - vectors * vector;
    if (blockIdx.x == 0 && threadIdx.x < head + tail) {
      const int64_t t = threadIdx.x, at = t < head ? t : count - tail + (t - head);
      const int64_t offsets[2] = {at, at};
      combine(offsets);
    }
  }
};

template <class Dev, class T>
void combine_all(Queue& queue, const Args& args) {
  const DenseRef* const arrays[2] = {&args.y, &args.x};
  const Walk<2> walk = walk_of(arrays);
  const Combine<T> combine{factor<T>(args.alpha), factor<T>(args.beta), static_cast<const T*>(args.x.data),
                           static_cast<T*>(args.y.data)};
  const uintptr_t offset = reinterpret_cast<uintptr_t>(combine.y) % 16;
  if (!walk.contiguous() || reinterpret_cast<uintptr_t>(combine.x) % 16 != offset || offset % sizeof(T) != 0) {
    strided_for<Dev>(queue, walk, combine);
    return;
  }
  using Kernel = CombineRuns<T>;
  const int64_t head = std::min(walk.count, static_cast<int64_t>((16 - offset) % 16 / sizeof(T)));
  const int64_t vectors = (walk.count - head) / Kernel::vector;
  const unsigned blocks = std::max(1u, gpu::blocks_for(vectors, Kernel::threads * Kernel::unroll));
  gpu::launch(queue, blocks, Kernel::threads, 0, Kernel{combine, head, vectors, walk.count});
}

template <class Dev>
void run_gpu(Queue& queue, void*, const Args& args) {
  dispatch_scalar(Scalars{}, args.y.scalar,
                  [&](auto type) { combine_all<Dev, Element<typename decltype(type)::type>>(queue, args); });
}

template <class Dev>
void prepare_gpu(Queue& queue) {
  prepare_kokkos(Dev{});
  const auto one = [&]<class S>(Type<S>) {
    gpu::prepare<CombineRuns<Element<S>>>(queue);
    prepare_strided_for<Dev, 2, Combine<Element<S>>>(queue);
  };
  [&]<class... S>(TypeList<S...>) { (one(Type<S>{}), ...); }(Scalars{});
}

template <class Dev>
constexpr Implementation gpu() {
  return {{"gpu", &prepare_gpu<Dev>}, &run_gpu<Dev>};
}

}  // namespace kkc::axpby
