// Entries dealt to buckets by key on GPUs, stable, for plans: few entries in short buckets by counting
// (device/gpu_bucket_counted.hpp), others by a radix sort of the keys' places (device/gpu_sort.hpp).
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "core/memory.hpp"
#include "device/gpu_bucket_counted.hpp"
#include "device/gpu_sort.hpp"

namespace kkc::gpu {

/// The digits of key - base.
template <class Key>
struct DigitsFromBase {
  Key base;
  BitDigits<Key> digits;
  __device__ unsigned digit(const Key& key, int pass) const { return digits.digit(static_cast<Key>(key - base), pass); }
};

/// Sorted keys become the bounds of their buckets. A warp fills long runs of empty buckets together.
template <class Key, class O>
struct BucketBounds {
  static constexpr int threads = 256;
  const Key* keys;
  Key base;
  int64_t n, buckets;
  O* offsets;  // [buckets + 1]

  __device__ void operator()() const {
    const int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x;
    // Entry i begins the buckets first..last; beyond the end: none.
    int64_t first = 0, last = -1;
    if (i <= n) {
      first = i == 0 ? 0 : static_cast<int64_t>(static_cast<Key>(keys[i - 1] - base)) + 1;
      last = i < n ? static_cast<int64_t>(static_cast<Key>(keys[i] - base)) : buckets;
    }
    constexpr int64_t few = 4;
    const bool many = last - first >= few;
    if (!many)
      for (int64_t b = first; b <= last; ++b) offsets[b] = static_cast<O>(i);
    const int lane = static_cast<int>(threadIdx.x) & 31;
    for (uint32_t left = ballot32(many); left != 0; left &= left - 1) {
      const int from = __ffs(static_cast<int>(left)) - 1;
      const int64_t begin = shuffle_from(first, from, 32), end = shuffle_from(last, from, 32);
      const int64_t value = shuffle_from(i, from, 32);
      for (int64_t b = begin + lane; b <= end; b += 32) offsets[b] = static_cast<O>(value);
    }
  }
};

/// bucket() by a radix sort; never blocks.
template <class I, class O>
void bucket_by_digits(Queue& queue, const std::shared_ptr<const Memory>& memory, const I* keys, int64_t base,
                      int64_t buckets, int64_t n, O* offsets, O* positions) {
  using Key = std::make_unsigned_t<I>;
  const int bits = buckets <= 1 ? 1 : std::bit_width(static_cast<uint64_t>(buckets - 1));
  const int passes = radix_passes(0, bits);
  const auto array = [&](int64_t count, size_t bytes_each) {
    return Buffer(Memory::in_order(memory), Space::device, static_cast<size_t>(count) * bytes_each);
  };
  const Buffer sorted = array(n, sizeof(Key)), other_keys = array(passes > 1 ? n : 0, sizeof(Key)),
               other_places = array(passes > 1 ? n : 0, sizeof(O));
  const Buffer scratch = array(static_cast<int64_t>(sort_scratch_bytes<Key, O>(n)), 1);
  // The last pass writes to `sorted` and `positions`.
  const auto route = [&](int pass, bool output) -> RadixArrays<Key, O> {
    if (pass == 0 && !output) return {reinterpret_cast<Key*>(const_cast<I*>(keys)), nullptr};
    const bool final_arrays = (passes - pass - (output ? 1 : 0)) % 2 == 0;
    return final_arrays ? RadixArrays<Key, O>{sorted.as<Key>(), positions}
                        : RadixArrays<Key, O>{other_keys.as<Key>(), other_places.as<O>()};
  };
  const DigitsFromBase<Key> digits{static_cast<Key>(base), {0, bits}};
  prepare_sort<Key, O, DigitsFromBase<Key>>(queue);
  radix_sort<Key, O>(queue, digits, passes, n, scratch.data(), counts_of_plans(queue), route);
  using Bounds = BucketBounds<Key, O>;
  launch(queue, blocks_for(n + 1, Bounds::threads), Bounds::threads, 0,
         Bounds{sorted.as<Key>(), static_cast<Key>(base), n, buckets, offsets});
}

/// offsets[buckets + 1]: where the entries of each bucket begin; positions[n]: the entries of all buckets in turn,
/// those of one bucket in their own order. keys[i] - base is the bucket of entry i. May block. Scratch comes from
/// `memory` and goes when the call returns, behind what it enqueued.
template <class I, class O>
void bucket(Queue& queue, const std::shared_ptr<const Memory>& memory, const I* keys, int64_t base, int64_t buckets,
            int64_t n, O* offsets, O* positions) {
  CountedBuckets<I, O> counted(queue, memory, keys, base, buckets, n, offsets, positions);
  if (counted.takes()) {
    counted.count();
    if (counted.deal(counted.longest())) return;
  }
  bucket_by_digits(queue, memory, keys, base, buckets, n, offsets, positions);
}

}  // namespace kkc::gpu
