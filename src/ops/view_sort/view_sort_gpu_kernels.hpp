// Kernels of view_sort on GPUs beside those of device/gpu_radix_kernels.hpp: moves, short lines, the reference's steps.
#pragma once

#include "device/gpu_bitonic.hpp"
#include "device/gpu_launch.hpp"
#include "view_sort_order.hpp"
#include "view_sort_route.hpp"

namespace kkc::view_sort::gpu_parts {

/// The digits of a key's order, for gpu::radix_sort.
template <class K>
struct KeyDigits {
  Order<K> order;
  __device__ unsigned digit(const K& key, int pass) const { return order.digit(key, pass); }
};

/// to[i] = from[i], each with its step.
template <class W>
struct MoveLine {
  static constexpr int threads = 256;
  const W* from;
  W* to;
  int64_t from_step, to_step, n;

  __device__ void operator()() const {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (i < n) to[i * to_step] = from[i * from_step];
  }
};

/// to[i] = from[places[i]].
template <class W, class P>
struct GatherLine {
  static constexpr int threads = 256;
  const W* from;
  const P* places;
  W* to;
  int64_t from_step, n;

  __device__ void operator()() const {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (i < n) to[i] = from[static_cast<int64_t>(places[i]) * from_step];
  }
};

// ---- short lines ----

/// A key's rank and place: compared by both, so that equal keys keep their order. Ranks of up to 4 bytes and the place
/// are one number.
template <class K, bool narrow = (sizeof(K) <= 4)>
struct Item {
  uint64_t both;

  __device__ static Item of(const Order<K>& order, const K& key, uint32_t place) {
    return {static_cast<uint64_t>(order.rank(key)) << 32 | place};
  }
  __device__ static Item last() { return {~uint64_t{0}}; }
  __device__ uint32_t place() const { return static_cast<uint32_t>(both); }
  __device__ bool operator<(const Item& other) const { return both < other.both; }
};
template <class K>
struct Item<K, false> {
  using Rank = decltype(Order<K>{}.rank(K{}));
  Rank rank;
  uint32_t where;

  __device__ static Item of(const Order<K>& order, const K& key, uint32_t place) { return {order.rank(key), place}; }
  __device__ static Item last() {
    Item item;
    memset(&item, 0xff, sizeof item);
    return item;
  }
  __device__ uint32_t place() const { return where; }
  __device__ bool operator<(const Item& other) const {
    return rank < other.rank || (!(other.rank < rank) && where < other.where);
  }
};

struct Less {
  template <class T>
  __device__ bool operator()(const T& a, const T& b) const {
    return a < b;
  }
};

/// What short-line kernels share: reads of a line, and its outputs once all of it has been read.
template <class K>
struct ShortLines {
  Order<K> order;
  Lines keys, sorted_keys, values, sorted_values;  // null data: not wanted
  int64_t lines;
  int32_t length;
  int32_t value_bytes;  // 0: no values move
  int32_t place_bytes;  // 4 or 8: sorted_values receives places

  __device__ Item<K> item(int64_t line, int32_t i) const {
    if (i >= length) return Item<K>::last();
    const K key = static_cast<const K*>(keys.data)[line * keys.line + i * keys.step];
    return Item<K>::of(order, key, static_cast<uint32_t>(i));
  }

  /// Element first + e * step of the sorted line is items[e]; all threads of the line call. sync: all of them have
  /// read.
  template <int count, class Items, class Sync>
  __device__ void finish(int64_t line, int32_t first, int32_t step, const Items& items, const Sync& sync) const {
    const auto move = [&]<class W>(W, const Lines& from, const Lines& to) {
      W words[count];
#pragma unroll
      for (int e = 0; e < count; ++e)
        if (first + e * step < length)
          words[e] = static_cast<const W*>(from.data)[line * from.line + int64_t{items(e).place()} * from.step];
      sync();  // both may be the same array
#pragma unroll
      for (int e = 0; e < count; ++e)
        if (const int32_t i = first + e * step; i < length)
          static_cast<W*>(to.data)[line * to.line + i * to.step] = words[e];
    };
    if (sorted_keys.data != nullptr) move(K{}, keys, sorted_keys);
    switch (value_bytes) {
      case 1: move(Word<1>{}, values, sorted_values); break;
      case 4: move(Word<4>{}, values, sorted_values); break;
      case 8: move(Word<8>{}, values, sorted_values); break;
      case 16: move(Word<16>{}, values, sorted_values); break;
      default: break;
    }
    if (place_bytes == 0) return;
#pragma unroll
    for (int e = 0; e < count; ++e)
      if (const int32_t i = first + e * step; i < length) {
        const int64_t at = line * sorted_values.line + i * sorted_values.step;
        if (place_bytes == 4)
          static_cast<uint32_t*>(sorted_values.data)[at] = items(e).place();
        else
          static_cast<uint64_t*>(sorted_values.data)[at] = items(e).place();
      }
  }
};

/// Subgroups of a warp, each a line, all of it in registers.
template <class K, int per_lane>
struct SortInWarps {
  static constexpr int threads = 256;
  ShortLines<K> all;
  int32_t lanes;  // power of two; lanes * per_lane >= length

  __device__ void operator()() const {
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const int64_t line = (static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x) / lanes;
    const bool active = line < all.lines;
    Item<K> item[per_lane];
#pragma unroll
    for (int e = 0; e < per_lane; ++e) item[e] = active ? all.item(line, e * lanes + lane) : Item<K>::last();
    gpu::bitonic_sort(item, lanes, Less{});
    all.template finish<per_lane>(
        line, active ? lane : all.length, lanes, [&](int e) { return item[e]; }, [] { gpu::sync32(); });
  }
};

/// A block a line, all of it in shared memory.
template <class K>
struct SortInBlocks {
  static constexpr int threads = 512, most_per_thread = 16;
  ShortLines<K> all;
  int32_t count;  // power of two, at least length; at most threads * most_per_thread

  __device__ void operator()() const {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    Item<K>* const items = reinterpret_cast<Item<K>*>(shared_memory);
    const int thread = static_cast<int>(threadIdx.x);
    const int64_t line = blockIdx.x;
    for (int i = thread; i < count; i += threads) items[i] = all.item(line, i);
    gpu::bitonic_sort_shared(items, count, Less{});
    all.template finish<most_per_thread>(
        line, thread, threads, [&](int e) { return items[thread + e * threads]; }, [] { __syncthreads(); });
  }
};

// ---- reference ----

struct ListPlaces {
  static constexpr int threads = 256;
  int64_t* places;
  int64_t n;

  __device__ void operator()() const {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (i < n) places[i] = i;
  }
};

/// One step of a bitonic sort of places in global memory; places from `length` on are behind all others.
template <class K>
struct CompareStep {
  static constexpr int threads = 256;
  Order<K> order;
  const K* keys;
  int64_t key_step, length;
  int64_t* places;
  int64_t count, size, stride;  // count: a power of two

  __device__ bool before(int64_t a, int64_t b) const {
    if (a >= length || b >= length) return a < b;
    const auto first = order.rank(keys[a * key_step]), second = order.rank(keys[b * key_step]);
    return first < second || (!(second < first) && a < b);
  }
  __device__ void operator()() const {
    const int64_t t = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (t >= count / 2) return;
    const int64_t low = 2 * t - (t & (stride - 1)), high = low + stride;
    const int64_t a = places[low], b = places[high];
    if ((low & size) != 0 ? before(a, b) : before(b, a)) {
      places[low] = b;
      places[high] = a;
    }
  }
};

template <class P>
struct WritePlaces {
  static constexpr int threads = 256;
  const int64_t* places;
  P* to;
  int64_t step, n;

  __device__ void operator()() const {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (i < n) to[i * step] = static_cast<P>(places[i]);
  }
};

}  // namespace kkc::view_sort::gpu_parts
