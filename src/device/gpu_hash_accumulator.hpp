// A hash table of sums in shared (or global) memory for the lanes of a warp or a block, with linear probing: the
// accumulator of sparse rows (Nagasaka, Nukada, Matsuoka, "High-performance and memory-saving sparse general
// matrix-matrix multiplication for NVIDIA Pascal GPU", ICPP'17, section III). hash_accumulator.hpp is the hosts' one.
//
//   const gpu::HashAccumulator<int32_t, double> row{keys, values, gpu::hash_capacity(most_keys) - 1};
//   row.clear(thread, threads);                     // sync (sync32 or __syncthreads)
//   for each row of B, its columns distinct:        // lanes run along ONE such row
//     row.add(column, a * b);                       // sync before the next row: no two lanes meet in a value
//   row.compact(keys_out, values_out, &cursor, thread, threads);   // unordered: sort after
//
// Keys are claimed by compare-and-swap; values are added by plain +=, since floating-point atomics in shared memory are
// compare-and-swap loops: lanes that add at the same time must hold distinct keys. Symbolic use: Value = void, insert()
// alone. Keys are 4 or 8 bytes, any but -1. The order of additions to a value is that of the calls: the same bits in
// each run.
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/gpu_scalar.hpp"

namespace kkc::gpu {

/// Places for so many keys, a power of two.
__host__ __device__ constexpr uint32_t hash_capacity(uint32_t keys) {
  uint32_t places = 8;
  while (places < keys + keys / 2) places *= 2;
  return places;
}

/// Multiplicative hashing (Knuth, TAOCP 3, section 6.4).
template <class Key>
__device__ inline uint32_t hash_place(Key key) {
  if constexpr (sizeof(Key) == 8)
    return static_cast<uint32_t>((static_cast<uint64_t>(key) * 0x9e3779b97f4a7c15u) >> 32);
  else {
    const uint32_t product = static_cast<uint32_t>(key) * 0x9e3779b1u;
    return product ^ (product >> 15);
  }
}

template <class Key, class Value>
struct HashAccumulator {
  static_assert(sizeof(Key) == 4 || sizeof(Key) == 8);
  static constexpr Key empty = static_cast<Key>(-1);

  Key* keys;
  Value* values;  // null with Value = void
  uint32_t mask;  // places - 1

  __device__ void clear(int thread, int threads) const {
    for (uint32_t i = static_cast<uint32_t>(thread); i <= mask; i += static_cast<uint32_t>(threads)) {
      keys[i] = empty;
      if constexpr (!std::is_void_v<Value>) values[i] = Value{};
    }
  }

  /// The key's place; `fresh` when this call claimed it. The table must have room. With `most` probes it gives up and
  /// returns -1.
  __device__ int insert(Key key, bool& fresh, uint32_t most = ~0u) const {
    uint32_t place = hash_place(key) & mask;
    for (uint32_t probe = 0; probe < most && probe <= mask; ++probe, place = (place + 1) & mask) {
      Key there = *static_cast<volatile Key*>(keys + place);
      if (there == empty) there = claim(keys + place, key);
      if (there == key || there == empty) {
        fresh = there == empty;
        return static_cast<int>(place);
      }
    }
    fresh = false;
    return -1;
  }

  /// The place of a key that is or is not there: -1 when not. After a sync behind the inserts.
  __device__ int find(Key key) const {
    uint32_t place = hash_place(key) & mask;
    for (uint32_t probe = 0; probe <= mask; ++probe, place = (place + 1) & mask) {
      if (keys[place] == key) return static_cast<int>(place);
      if (keys[place] == empty) return -1;
    }
    return -1;
  }

  /// values[key] += value; false when the table is full. Keys of simultaneous calls are distinct.
  template <class V>
  __device__ bool add(Key key, const V& value) const {
    bool fresh;
    const int place = insert(key, fresh);
    if (place < 0) return false;
    values[place] = gpu::add(values[place], static_cast<Value>(value));
    return true;
  }

  /// Moves the entries to the front of other arrays in no fixed order; `cursor` is a zero in shared memory. The number
  /// of entries is in *cursor after a sync.
  template <class V>
  __device__ void compact(Key* keys_out, V* values_out, int* cursor, int thread, int threads) const {
    for (uint32_t i = static_cast<uint32_t>(thread); i <= mask; i += static_cast<uint32_t>(threads)) {
      if (keys[i] == empty) continue;
      const int to = atomicAdd(cursor, 1);
      keys_out[to] = keys[i];
      if constexpr (!std::is_void_v<Value>) values_out[to] = values[i];
    }
  }

 private:
  /// What lay there before.
  __device__ static Key claim(Key* place, Key key) {
    if constexpr (sizeof(Key) == 8)
      return static_cast<Key>(atomicCAS(reinterpret_cast<unsigned long long*>(place),
                                        static_cast<unsigned long long>(empty), static_cast<unsigned long long>(key)));
    else
      return static_cast<Key>(atomicCAS(reinterpret_cast<unsigned int*>(place), static_cast<unsigned int>(empty),
                                        static_cast<unsigned int>(key)));
  }
};

}  // namespace kkc::gpu
