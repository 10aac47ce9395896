// Subgroups of a warp (CUDA: 32 lanes) or wavefront (AMD: 32 or 64): a power of two of neighbouring lanes, at most 32,
// the same for all lanes of a call. All lanes of the warp take part in every call.
#pragma once

#include <cstdint>

#include "device/gpu_scalar.hpp"

namespace kkc::gpu {

template <class T>
__device__ inline T shuffle_xor(const T& value, int mask, int lanes) {
  if constexpr (is_pair<T>) {
    return {shuffle_xor(value.re, mask, lanes), shuffle_xor(value.im, mask, lanes)};
  } else {
#if defined(__HIP__)
    return __shfl_xor(value, mask, lanes);
#else
    return __shfl_xor_sync(0xffffffffu, value, mask, lanes);
#endif
  }
}

template <class T>
__device__ inline T shuffle_from(const T& value, int lane, int lanes) {
  if constexpr (is_pair<T>) {
    return {shuffle_from(value.re, lane, lanes), shuffle_from(value.im, lane, lanes)};
  } else {
#if defined(__HIP__)
    return __shfl(value, lane, lanes);
#else
    return __shfl_sync(0xffffffffu, value, lane, lanes);
#endif
  }
}

/// The value of the lane `by` below; the subgroup's first `by` lanes keep their own.
template <class T>
__device__ inline T shuffle_up(const T& value, int by, int lanes) {
  if constexpr (is_pair<T>) {
    return {shuffle_up(value.re, by, lanes), shuffle_up(value.im, by, lanes)};
  } else {
#if defined(__HIP__)
    return __shfl_up(value, by, lanes);
#else
    return __shfl_up_sync(0xffffffffu, value, by, lanes);
#endif
  }
}

/// The sum over a subgroup, in every lane and in the same order in each run.
template <class T>
__device__ inline T subgroup_sum(T value, int lanes) {
  for (int mask = lanes >> 1; mask > 0; mask >>= 1) value = add(value, shuffle_xor(value, mask, lanes));
  return value;
}

/// Sums over a subgroup's lanes up to each lane itself, in the same order in each run.
template <class T>
__device__ inline T subgroup_scan(T value, int lanes) {
  const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
  for (int by = 1; by < lanes; by <<= 1) {
    const T below = shuffle_up(value, by, lanes);
    if (lane >= by) value = add(below, value);
  }
  return value;
}

/// Which of this thread's 32 neighbours (threads 32 i .. 32 i + 31 of the block) hold `condition`.
__device__ inline uint32_t ballot32(bool condition) {
#if defined(__HIP__)
  return static_cast<uint32_t>(__ballot(condition) >> (threadIdx.x & 32u & static_cast<unsigned>(warpSize - 1)));
#else
  return __ballot_sync(0xffffffffu, condition);
#endif
}

/// Which of this thread's 32 neighbours hold the same word, or more than those where the device does not tell.
__device__ inline uint32_t equal32([[maybe_unused]] unsigned long long word) {
#if defined(__HIP__)
  return 0xffffffffu;
#else
  return __match_any_sync(0xffffffffu, word);
#endif
}

/// The bits of all 32 neighbours.
__device__ inline uint32_t or32(uint32_t bits) {
#if defined(__HIP__)
  for (int mask = 16; mask > 0; mask >>= 1) bits |= shuffle_xor(bits, mask, 32);
  return bits;
#else
  return __reduce_or_sync(0xffffffffu, bits);
#endif
}

/// The sum over all 32 neighbours.
__device__ inline uint32_t sum32(uint32_t value) {
#if defined(__HIP__)
  return subgroup_sum(value, 32);
#else
  return __reduce_add_sync(0xffffffffu, value);
#endif
}

/// Orders shared memory among the 32 neighbours.
__device__ inline void sync32() {
#if defined(__HIP__)
  __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
  __builtin_amdgcn_wave_barrier();
#else
  __syncwarp();
#endif
}

/// Reads what another block of the same launch wrote, past this multiprocessor's own cache.
template <class T>
__device__ inline T load_fresh(const T* p) {
  if constexpr (is_pair<T>)
    return {load_fresh(&p->re), load_fresh(&p->im)};
  else
    return *static_cast<const volatile T*>(p);
}

/// Waits about so many nanoseconds before the next look at what others write.
__device__ inline void pause([[maybe_unused]] unsigned nanoseconds) {
#if defined(__HIP__)
  __builtin_amdgcn_s_sleep(1);
#else
  __nanosleep(nanoseconds);
#endif
}

/// A load from global memory that no thread of the launch writes, wherever the compiler believes the pointer to lead.
template <class T>
__device__ inline T load_constant(const T* p) {
#if defined(__HIP__)
  return *p;
#else
  if constexpr (is_pair<T>) {
    if constexpr (sizeof(T) == 8) {
      const float2 v = __ldg(reinterpret_cast<const float2*>(p));
      return {v.x, v.y};
    } else {
      const double2 v = __ldg(reinterpret_cast<const double2*>(p));
      return {v.x, v.y};
    }
  } else {
    return __ldg(p);
  }
#endif
}

/// A load that is not expected again: the caches drop it first.
template <class T>
__device__ inline T load_once(const T* p) {
#if defined(__HIP__)
  return *p;
#else
  if constexpr (is_pair<T>) {
    if constexpr (sizeof(T) == 8) {
      const float2 v = __ldcs(reinterpret_cast<const float2*>(p));
      return {v.x, v.y};
    } else {
      const double2 v = __ldcs(reinterpret_cast<const double2*>(p));
      return {v.x, v.y};
    }
  } else if constexpr (sizeof(T) == 8 && std::is_integral_v<T>) {
    return static_cast<T>(__ldcs(reinterpret_cast<const long long*>(p)));
  } else {
    return __ldcs(p);
  }
#endif
}

/// Brings a line into the second-level cache, where the device can be asked to.
__device__ inline void prefetch([[maybe_unused]] const void* p) {
#if !defined(__HIP__)
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p));
#endif
}

/// A store of what is not read again soon.
template <class T>
__device__ inline void store_once(T* p, const T& value) {
#if defined(__HIP__)
  *p = value;
#else
  if constexpr (is_pair<T>) {
    if constexpr (sizeof(T) == 8)
      __stcs(reinterpret_cast<float2*>(p), make_float2(value.re, value.im));
    else
      __stcs(reinterpret_cast<double2*>(p), make_double2(value.re, value.im));
  } else {
    __stcs(p, value);
  }
#endif
}

}  // namespace kkc::gpu
