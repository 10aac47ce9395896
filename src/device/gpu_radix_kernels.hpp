// Kernels of the radix sort from the least significant digit: one histogram of all digits, then for each digit one pass
// that ranks, looks back and moves (Adinets, Merrill, "Onesweep: a faster least significant digit radix sort for GPUs",
// arXiv:2206.01784). Ranks within a warp come from the set of lanes with the same digit (as in
// "GPU multisplit", Ashkiani et al., PPoPP'16), gathered in shared memory. Stable.
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/gpu_launch.hpp"
#include "device/gpu_warp.hpp"

namespace kkc::gpu {

inline constexpr int radix_bits = 8, radix_digits = 1 << radix_bits;
inline constexpr int radix_most_passes = 16;
/// Elements of one launch: counts of a portion fit 30 bits.
inline constexpr int64_t radix_portion = int64_t{1} << 29;

/// What a sort without payload moves beside its keys.
struct NoPayload {};
template <class Payload>
inline constexpr bool has_payload = !std::is_same_v<Payload, NoPayload>;

inline constexpr int radix_threads = 384;
/// Elements of a thread: about 5 blocks' worth of registers and shared memory fit a multiprocessor.
template <class Key, class Payload>
inline constexpr int radix_items = sizeof(Key) >= 16                            ? 8
                                   : (sizeof(Key) == 8 || sizeof(Payload) == 8) ? 12
                                                                                : 16;
template <class Key, class Payload>
inline constexpr int64_t radix_tile = int64_t{radix_threads} * radix_items<Key, Payload>;

/// The digits of unsigned keys in bits begin..end - 1. Other orders have the same members: digit(key, pass), 0..255.
template <class Key>
struct BitDigits {
  int32_t begin, end;

  __device__ unsigned digit(const Key& key, int pass) const {
    const int at = begin + pass * radix_bits, bits = end - at < radix_bits ? end - at : radix_bits;
    return static_cast<unsigned>(key >> at) & ((1u << bits) - 1);
  }
};

/// Of all passes' digits, then the blocks that are done: zero between sorts.
struct RadixCounts {
  static constexpr size_t bytes = (size_t{radix_most_passes} * radix_digits + 1) * sizeof(unsigned long long);
  unsigned long long* words;
  __device__ unsigned long long* done() const { return words + radix_most_passes * radix_digits; }
};

/// Exclusive sum over the block's first 256 threads; every thread takes part.
template <class T>
__device__ inline T scan_digits(T count, T* shared /* [8] */) {
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) / 32;
  const T upto = subgroup_scan(count, 32);
  if (lane == 31 && warp < radix_digits / 32) shared[warp] = upto;
  __syncthreads();
  T before = upto - count;
  for (int w = 0; w < warp && w < radix_digits / 32; ++w) before += shared[w];
  return before;
}

/// Counts all passes' digits and clears what the passes need cleared; the last block makes bases, the places where
/// digits begin, of the counts.
template <class Key, class Digits>
struct RadixHistogram {
  static constexpr int threads = radix_digits, unroll = 4;
  Digits digits;
  const Key* keys;
  int64_t n;
  int passes;
  RadixCounts counts;
  unsigned long long* bases;
  uint32_t* cleared;
  int64_t cleared_words;

  __device__ void operator()() const {
    __shared__ uint32_t local[radix_most_passes * radix_digits];
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x; i < cleared_words;
         i += static_cast<int64_t>(gridDim.x) * threads)
      cleared[i] = 0;
    for (int i = static_cast<int>(threadIdx.x); i < passes * radix_digits; i += threads) local[i] = 0;
    __syncthreads();
    const int64_t step = static_cast<int64_t>(gridDim.x) * threads * unroll;
    for (int64_t base = static_cast<int64_t>(blockIdx.x) * threads * unroll + threadIdx.x; base < n; base += step) {
      Key key[unroll];
#pragma unroll
      for (int u = 0; u < unroll; ++u)
        if (const int64_t i = base + u * threads; i < n) key[u] = keys[i];
#pragma unroll
      for (int u = 0; u < unroll; ++u)
        if (base + u * threads < n)
          for (int pass = 0; pass < passes; ++pass)
            atomicAdd(&local[pass * radix_digits + digits.digit(key[u], pass)], 1u);
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < passes * radix_digits; i += threads)
      if (local[i] != 0) atomicAdd(&counts.words[i], static_cast<unsigned long long>(local[i]));
    if (is_last()) make_bases();
  }

  /// Whether all other blocks have counted.
  __device__ bool is_last() const {
    __shared__ bool last;
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      last = atomicAdd(counts.done(), 1ull) + 1 == gridDim.x;
      __threadfence();
    }
    __syncthreads();
    return last;
  }

  __device__ void make_bases() const {
    __shared__ unsigned long long shared[radix_digits / 32];
    for (int pass = 0; pass < passes; ++pass) {
      const int i = pass * radix_digits + static_cast<int>(threadIdx.x);
      bases[i] = scan_digits(*static_cast<volatile unsigned long long*>(counts.words + i), shared);
      counts.words[i] = 0;
      __syncthreads();
    }
    if (threadIdx.x == 0) *counts.done() = 0;
  }
};

/// One digit of one portion: a block a tile, in the order of tickets.
template <class Key, class Payload, class Digits>
struct RadixPass {
  static constexpr int threads = radix_threads, items = radix_items<Key, Payload>, warps = threads / 32;
  static constexpr int tile = threads * items, blocks_per_sm = 2;
  static constexpr uint32_t local_flag = 1u << 30, global_flag = 2u << 30, count_mask = local_flag - 1;

  Digits digits;
  const Key* keys;
  Key* sorted_keys;
  const Payload* payload;  // null: the places 0, 1, ... of the keys
  Payload* sorted_payload;
  int64_t begin, end;  // of the portion
  int pass;
  unsigned* ticket;
  const unsigned long long* bases;  // [256]: where the portion's digits begin
  unsigned long long* next_bases;   // those of the next portion
  uint32_t *status, *cleared;       // [tiles][256]: of this launch, all zero; of the next, to be cleared here
  int64_t cleared_words;

  struct Shared {
    union {
      struct {
        uint32_t counts[warps][radix_digits];  // of a warp; then where its elements of a digit begin in the tile
        uint32_t peers[warps][radix_digits];   // lanes with the same digit; zero between elements
      };
      Key keys[tile];
      std::conditional_t<has_payload<Payload>, Payload, char> payload[tile];
    };
    uint32_t sums[radix_digits / 32];
    int64_t moves[radix_digits];  // from an element's place in the sorted tile to that among all
    unsigned ticket;
  };
  static constexpr size_t shared_bytes = sizeof(Shared);

  __device__ void operator()() const {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    Shared& shared = *reinterpret_cast<Shared*>(shared_memory);
    const int thread = static_cast<int>(threadIdx.x), lane = thread & 31, warp = thread / 32;
    if (thread == 0) shared.ticket = atomicAdd(ticket, 1u);
    for (int i = thread; i < warps * radix_digits; i += threads)
      (&shared.counts[0][0])[i] = (&shared.peers[0][0])[i] = 0;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * threads + thread; i < cleared_words;
         i += static_cast<int64_t>(gridDim.x) * threads)
      cleared[i] = 0;
    __syncthreads();
    const unsigned number = shared.ticket;
    const int64_t first = begin + static_cast<int64_t>(number) * tile;
    const int valid = end - first < tile ? static_cast<int>(end - first) : tile;
    const int mine = warp * (32 * items) + lane;

    Key key[items];
#pragma unroll
    for (int k = 0; k < items; ++k)
      if (mine + k * 32 < valid) key[k] = keys[first + mine + k * 32];

    // Ranks among the warp's elements with the same digit. What lies beyond the end counts as the last digit's end.
    uint16_t rank[items];
    uint8_t digit[items];
    uint32_t *const counts = shared.counts[warp], *const peers_of = shared.peers[warp];
#pragma unroll
    for (int k = 0; k < items; ++k) {
      const unsigned d = mine + k * 32 < valid ? digits.digit(key[k], pass) : radix_digits - 1;
      atomicOr(&peers_of[d], 1u << lane);
      sync32();
      const uint32_t peers = peers_of[d], before = counts[d], lower = peers & ((1u << lane) - 1);
      sync32();
      if (lower == 0) {
        counts[d] = before + static_cast<uint32_t>(__popc(peers));
        peers_of[d] = 0;
      }
      sync32();
      rank[k] = static_cast<uint16_t>(before + static_cast<uint32_t>(__popc(lower)));
      digit[k] = static_cast<uint8_t>(d);
    }
    __syncthreads();

    // Thread d: the warps' counts of digit d become places; the tiles before say where the digit goes on.
    uint32_t count = 0;
    if (thread < radix_digits)
      for (int w = 0; w < warps; ++w) {
        const uint32_t c = shared.counts[w][thread];
        shared.counts[w][thread] = count;
        count += c;
      }
    uint32_t* const mine_status = status + static_cast<int64_t>(number) * radix_digits + thread;
    if (thread < radix_digits) publish(mine_status, (number == 0 ? global_flag : local_flag) | count);
    const uint32_t start = scan_digits(count, shared.sums);
    if (thread < radix_digits) {
      for (int w = 0; w < warps; ++w) shared.counts[w][thread] += start;
      const uint32_t before = number > 0 ? look_back(mine_status, number) : 0;
      if (number > 0) publish(mine_status, global_flag | (before + count));
      const unsigned long long base = bases[thread];
      if (number + 1 == gridDim.x) next_bases[thread] = base + before + count;
      shared.moves[thread] = static_cast<int64_t>(base) + before - start;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < items; ++k) rank[k] = static_cast<uint16_t>(rank[k] + counts[digit[k]]);
    __syncthreads();

    // Through shared memory, so that neighbours write neighbours.
#pragma unroll
    for (int k = 0; k < items; ++k)
      if (mine + k * 32 < valid) shared.keys[rank[k]] = key[k];
    __syncthreads();
    [[maybe_unused]] uint8_t sorted_digit[items];
#pragma unroll
    for (int k = 0; k < items; ++k)
      if (const int i = thread + k * threads; i < valid) {
        const Key moved = shared.keys[i];
        const unsigned d = digits.digit(moved, pass);
        sorted_digit[k] = static_cast<uint8_t>(d);
        sorted_keys[shared.moves[d] + i] = moved;
      }
    if constexpr (has_payload<Payload>) {
      Payload value[items];
#pragma unroll
      for (int k = 0; k < items; ++k)
        if (mine + k * 32 < valid) {
          const int64_t i = first + mine + k * 32;
          value[k] = payload != nullptr ? payload[i] : static_cast<Payload>(i);
        }
      __syncthreads();
#pragma unroll
      for (int k = 0; k < items; ++k)
        if (mine + k * 32 < valid) shared.payload[rank[k]] = value[k];
      __syncthreads();
#pragma unroll
      for (int k = 0; k < items; ++k)
        if (const int i = thread + k * threads; i < valid)
          sorted_payload[shared.moves[sorted_digit[k]] + i] = shared.payload[i];
    }
  }

  /// The digit's elements in the tiles before: their words are read several at a time.
  __device__ static uint32_t look_back(const uint32_t* from, unsigned number) {
    constexpr int ahead = 8;
    uint32_t before = 0;
    for (int64_t left = number;; left -= ahead) {
      uint32_t words[ahead];
#pragma unroll
      for (int a = 0; a < ahead; ++a)
        words[a] = a < left ? *static_cast<const volatile uint32_t*>(from - (a + 1) * radix_digits) : global_flag;
#pragma unroll
      for (int a = 0; a < ahead; ++a) {
        while (words[a] == 0) words[a] = *static_cast<const volatile uint32_t*>(from - (a + 1) * radix_digits);
        before += words[a] & count_mask;
        if ((words[a] & global_flag) != 0) return before;
      }
      from -= ahead * radix_digits;
    }
  }
  __device__ static void publish(uint32_t* word, uint32_t value) { *static_cast<volatile uint32_t*>(word) = value; }
};

}  // namespace kkc::gpu
