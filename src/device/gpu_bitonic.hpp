// Bitonic sort inside a warp or a block (Batcher, "Sorting networks and their applications", AFIPS 1968), for kernels
// of any operation. Not stable by itself: put the place into the element and compare it last.
//
//   T x[2];                                          // in registers: element e * lanes + lane of the subgroup's
//   gpu::bitonic_sort(x, 32, Less{});                // 64 elements of 32 lanes, in that order; any power of two of
//   lanes gpu::bitonic_sort_shared(keys, 1024, Less{});    // the block's elements in shared memory; any power of two
//   gpu::bitonic_sort_shared(keys, values, 1024, Less{});
//   gpu::sort_runs(x);    // unsigned integers in registers, element lane * 2 + e of the warp's
//
// T is any trivially copyable type: a key, or a struct of key and value; less(a, b) a strict order. Fill up with the
// greatest element. bitonic_merge(x, lanes, less) sorts what first ascends and then descends.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "device/gpu_warp.hpp"

namespace kkc::gpu {

/// The element of lane ^ mask, word by word.
template <class T>
__device__ inline T exchange(const T& value, int mask, int lanes) {
  if constexpr (std::is_arithmetic_v<T> && sizeof(T) >= 4) {
    return shuffle_xor(value, mask, lanes);
  } else {
    static_assert(std::is_trivially_copyable_v<T>);
    constexpr int words = static_cast<int>((sizeof(T) + 3) / 4);
    uint32_t parts[words] = {};
    memcpy(parts, &value, sizeof(T));
#pragma unroll
    for (int i = 0; i < words; ++i) parts[i] = shuffle_xor(parts[i], mask, lanes);
    T other;
    memcpy(&other, parts, sizeof(T));
    return other;
  }
}

namespace bitonic_parts {

/// Compares elements at distance `stride` in sequences of `size`, of which every second descends.
template <int per_lane, class T, class Less>
__device__ inline void step(T (&x)[per_lane], int size, int stride, int lanes, const Less& less) {
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
  if (stride >= lanes) {
#pragma unroll
    for (int by = 1; by < per_lane; by <<= 1) {  // constants index registers
      if (by * lanes != stride) continue;
#pragma unroll
      for (int e = 0; e < per_lane; ++e) {
        if ((e & by) != 0) continue;
        const bool descends = ((e * lanes + lane) & size) != 0;
        const T low = x[e], high = x[e + by];
        if (descends ? less(low, high) : less(high, low)) {
          x[e] = high;
          x[e + by] = low;
        }
      }
    }
    return;
  }
#pragma unroll
  for (int e = 0; e < per_lane; ++e) {
    const T other = exchange(x[e], stride, lanes);
    const int i = e * lanes + lane;
    const bool wants_smaller = ((i & stride) == 0) == ((i & size) == 0);
    if (wants_smaller ? less(other, x[e]) : less(x[e], other)) x[e] = other;
  }
}

}  // namespace bitonic_parts

/// Sorts per_lane * lanes elements that ascend and then descend.
template <int per_lane, class T, class Less>
__device__ inline void bitonic_merge(T (&x)[per_lane], int lanes, const Less& less) {
  const int size = per_lane * lanes;
  for (int stride = size / 2; stride > 0; stride >>= 1) bitonic_parts::step(x, size, stride, lanes, less);
}

/// Sorts per_lane * lanes elements; both powers of two. All lanes of the warp take part.
template <int per_lane, class T, class Less>
__device__ inline void bitonic_sort(T (&x)[per_lane], int lanes, const Less& less) {
  static_assert(per_lane > 0 && (per_lane & (per_lane - 1)) == 0);
  for (int size = 2; size <= per_lane * lanes; size <<= 1)
    for (int stride = size / 2; stride > 0; stride >>= 1) bitonic_parts::step(x, size, stride, lanes, less);
}

namespace bitonic_parts {

template <class T>
__device__ inline void order_two(T& low, T& high) {
  const T a = low, b = high;
  low = a < b ? a : b;
  high = a < b ? b : a;
}
template <class T>
__device__ inline T smaller_if(bool wants_smaller, const T& a, const T& b) {
  return wants_smaller == (a < b) ? a : b;
}

/// Sorts sequences of `size` registers whose halves ascend; size at most per_lane.
template <int per_lane, int size, class T>
__device__ inline void merge_registers(T (&x)[per_lane]) {
#pragma unroll
  for (int first = 0; first < per_lane; first += size)
#pragma unroll
    for (int e = 0; e < size / 2; ++e) order_two(x[first + e], x[first + size - 1 - e]);
#pragma unroll
  for (int stride = size / 4; stride > 0; stride >>= 1)
#pragma unroll
    for (int e = 0; e < per_lane; ++e)
      if ((e & stride) == 0) order_two(x[e], x[e + stride]);
}

template <int size, int per_lane, class T>
__device__ inline void sort_registers(T (&x)[per_lane]) {
  if constexpr (size <= per_lane) {
    merge_registers<per_lane, size>(x);
    sort_registers<2 * size>(x);
  }
}

}  // namespace bitonic_parts

/// Sorts group * per_lane integers of each `group` lanes of a warp, both powers of two: a lane's are neighbours, so
/// that most comparisons are between registers. All point the same way: the first of a merge is with the other half's
/// element counted from its end (Knuth, TAOCP 3, section 5.3.4, figure 56).
template <int group = 32, int per_lane, class T>
__device__ inline void sort_runs(T (&x)[per_lane]) {
  static_assert(per_lane > 0 && (per_lane & (per_lane - 1)) == 0 && std::is_unsigned_v<T>);
  using namespace bitonic_parts;
  const int lane = static_cast<int>(threadIdx.x) & 31;
  sort_registers<2>(x);
#pragma unroll
  for (int lanes = 2; lanes <= group; lanes <<= 1) {
    const bool in_first = (lane & (lanes >> 1)) == 0;
    if constexpr (per_lane == 1) {
      x[0] = smaller_if(in_first, x[0], shuffle_xor(x[0], lanes - 1, 32));
    } else {
#pragma unroll
      for (int e = 0; e < per_lane / 2; ++e) {
        const T low = shuffle_xor(x[per_lane - 1 - e], lanes - 1, 32), high = shuffle_xor(x[e], lanes - 1, 32);
        x[e] = smaller_if(in_first, x[e], low);
        x[per_lane - 1 - e] = smaller_if(in_first, x[per_lane - 1 - e], high);
      }
    }
#pragma unroll
    for (int mask = lanes / 4; mask > 0; mask >>= 1)
#pragma unroll
      for (int e = 0; e < per_lane; ++e) x[e] = smaller_if((lane & mask) == 0, x[e], shuffle_xor(x[e], mask, 32));
#pragma unroll
    for (int stride = per_lane / 2; stride > 0; stride >>= 1)
#pragma unroll
      for (int e = 0; e < per_lane; ++e)
        if ((e & stride) == 0) order_two(x[e], x[e + stride]);
  }
}

/// Sorts `count` (a power of two) elements in shared memory and leaves the block in step. Any number of threads; all
/// take part. `values`, if given, move with their keys.
template <class Key, class Value, class Less>
__device__ inline void bitonic_sort_shared(Key* keys, Value* values, int count, const Less& less) {
  for (int size = 2; size <= count; size <<= 1)
    for (int stride = size / 2; stride > 0; stride >>= 1) {
      __syncthreads();
      for (int t = static_cast<int>(threadIdx.x); t < count / 2; t += static_cast<int>(blockDim.x)) {
        const int low = 2 * t - (t & (stride - 1)), high = low + stride;
        const Key a = keys[low], b = keys[high];
        if ((low & size) != 0 ? less(a, b) : less(b, a)) {
          keys[low] = b;
          keys[high] = a;
          if constexpr (!std::is_void_v<Value>) {
            const Value v = values[low];
            values[low] = values[high];
            values[high] = v;
          }
        }
      }
    }
  __syncthreads();
}
template <class Key, class Less>
__device__ inline void bitonic_sort_shared(Key* keys, int count, const Less& less) {
  bitonic_sort_shared(keys, static_cast<void*>(nullptr), count, less);
}

}  // namespace kkc::gpu
