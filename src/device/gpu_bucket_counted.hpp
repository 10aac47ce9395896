// The other way to deal entries to buckets (gpu_bucket.hpp): buckets are counted by atomics and filled in any order,
// then each puts its entries in order. For entries whose places the second cache holds, in buckets of few.
#pragma once

#include <cstdint>
#include <type_traits>

#include "core/memory.hpp"
#include "device/gpu_bitonic.hpp"
#include "device/gpu_read.hpp"
#include "device/gpu_scan.hpp"

namespace kkc::gpu {

inline constexpr int64_t most_counted = int64_t{1} << 23;  // entries
inline constexpr int32_t longest_counted = 128;            // entries of a bucket

/// Lanes of a warp with one key behind each other, as rows of aggregates have: the first of them acts for all.
template <class Key>
struct KeyRun {
  bool leads;
  int leader, length;  // length: a leader's

  /// All lanes of the warp take part; those that are not `inside` come last.
  __device__ KeyRun(const Key& key, bool inside) {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const Key before = shuffle_up(key, 1, 32);
    leads = inside && (lane == 0 || before != key);
    const uint32_t leaders = ballot32(leads), all = ballot32(inside);
    leader = max(31 - __clz(static_cast<int>(leaders & (0xffffffffu >> (31 - lane)))), 0);
    const uint32_t later = lane == 31 ? 0 : leaders >> (lane + 1);
    length = (later != 0 ? lane + __ffs(static_cast<int>(later)) : __popc(all)) - lane;
  }
};

template <class I>
struct CountKeys {
  static constexpr int threads = 256, items = 4;
  const I* keys;
  I base;
  int64_t n;
  int32_t* counts;  // of buckets, zero at first

  __device__ void operator()() const {
    const int64_t first = int64_t{blockIdx.x} * threads * items + threadIdx.x;
    I key[items];
#pragma unroll
    for (int u = 0; u < items; ++u) key[u] = first + u * threads < n ? keys[first + u * threads] - base : 0;
#pragma unroll
    for (int u = 0; u < items; ++u) {
      const KeyRun<I> run(key[u], first + u * threads < n);
      if (run.leads) atomicAdd(counts + key[u], run.length);
    }
  }
};

/// The entries of the longest bucket.
template <class O>
struct LongestBucket {
  static constexpr int threads = 256, items = 8;
  const O* offsets;
  int64_t buckets;
  unsigned long long* longest;  // zero at first

  __device__ void operator()() const {
    const int64_t first = int64_t{blockIdx.x} * threads * items + threadIdx.x;
    unsigned long long most = 0;
#pragma unroll
    for (int u = 0; u < items; ++u)
      if (const int64_t b = first + u * threads; b < buckets)
        most = max(most, static_cast<unsigned long long>(offsets[b + 1] - offsets[b]));
    for (int mask = 16; mask > 0; mask >>= 1) most = max(most, shuffle_xor(most, mask, 32));
    if ((threadIdx.x & 31u) == 0 && most > 0) atomicMax(longest, most);
  }
};

template <class I, class O>
struct DealToBuckets {
  static constexpr int threads = 256, items = 4;
  const I* keys;
  I base;
  int64_t n;
  const O* offsets;
  int32_t* left;  // in each bucket: all at first
  O* positions;

  __device__ void operator()() const {
    const int64_t first = int64_t{blockIdx.x} * threads * items + threadIdx.x;
    const int lane = static_cast<int>(threadIdx.x) & 31;
    I key[items];
    O place[items];
    int leader[items];
#pragma unroll
    for (int u = 0; u < items; ++u) key[u] = first + u * threads < n ? keys[first + u * threads] - base : 0;
#pragma unroll
    for (int u = 0; u < items; ++u) {
      const KeyRun<I> run(key[u], first + u * threads < n);
      leader[u] = run.leader;
      place[u] = 0;
      if (run.leads) place[u] = offsets[key[u]] + static_cast<O>(atomicSub(left + key[u], run.length) - run.length);
    }
#pragma unroll
    for (int u = 0; u < items; ++u) {
      const O begin = shuffle_from(place[u], leader[u], 32);
      const int64_t i = first + u * threads;
      if (i < n) positions[begin + static_cast<O>(lane - leader[u])] = static_cast<O>(i);
    }
  }
};

/// Puts the entries of each bucket in order: some lanes of a warp a bucket, all of them for those of more entries.
template <class O, int lanes>
struct OrderBuckets {
  static constexpr int threads = 128;
  const O* offsets;
  int64_t buckets;
  O* positions;

  using Key = std::make_unsigned_t<O>;

  __device__ void operator()() const {
    const int64_t b = (int64_t{blockIdx.x} * threads + threadIdx.x) / lanes;
    const int lane = static_cast<int>(threadIdx.x) & 31, part = lane & (lanes - 1);
    O begin = 0;
    int32_t count = 0;
    if (b < buckets) {
      begin = offsets[b];
      count = static_cast<int32_t>(offsets[b + 1] - begin);
    }
    const bool fits = count <= lanes, mine = fits && part < count;
    Key x[1] = {mine ? static_cast<Key>(positions[begin + part]) : ~Key{0}};
    sort_runs<lanes>(x);
    if (mine) positions[begin + part] = static_cast<O>(x[0]);
    for (uint32_t others = ballot32(!fits && part == 0); others != 0; others &= others - 1) {
      const int from = __ffs(static_cast<int>(others)) - 1;
      O* const of = positions + shuffle_from(begin, from, 32);
      const int32_t size = shuffle_from(count, from, 32);
      if (size <= 32)
        order<1>(of, size, lane);
      else if (size <= 64)
        order<2>(of, size, lane);
      else
        order<longest_counted / 32>(of, size, lane);
    }
  }

  template <int per_lane>
  __device__ static void order(O* positions, int32_t count, int lane) {
    Key x[per_lane];
#pragma unroll
    for (int e = 0; e < per_lane; ++e) {
      const int32_t k = lane * per_lane + e;
      x[e] = k < count ? static_cast<Key>(positions[k]) : ~Key{0};
    }
    sort_runs(x);
#pragma unroll
    for (int e = 0; e < per_lane; ++e)
      if (const int32_t k = lane * per_lane + e; k < count) positions[k] = static_cast<O>(x[e]);
  }
};

/// As bucket() of gpu_bucket.hpp, in two steps, between which somebody learns how long the longest bucket is:
///
///   CountedBuckets<I, O> counted(queue, memory, keys, base, buckets, n, offsets, positions);
///   if (!counted.takes()) ...                         // nothing was done
///   counted.count();                                  // offsets are there
///   if (!counted.deal(longest)) ...                   // too long a bucket: positions hold nothing
template <class I, class O>
class CountedBuckets {
 public:
  CountedBuckets(Queue& queue, std::shared_ptr<const Memory> memory, const I* keys, int64_t base, int64_t buckets,
                 int64_t n, O* offsets, O* positions)
      : queue_(queue),
        memory_(Memory::in_order(std::move(memory))),
        keys_(keys),
        base_(static_cast<I>(base)),
        buckets_(buckets),
        n_(n),
        offsets_(offsets),
        positions_(positions) {}

  bool takes() const { return n_ > 0 && n_ <= most_counted && n_ <= buckets_ * (longest_counted / 2); }

  void count() {
    const size_t words = (static_cast<size_t>(buckets_) + 1) / 2;
    counts_ = Buffer(memory_, Space::device, (words + 1) * sizeof(unsigned long long));
    longest_ = counts_.as<unsigned long long>() + words;
    clear_words(queue_, counts_.data(), counts_.bytes());
    auto* const counts = counts_.as<int32_t>();
    over<CountKeys<I>>(n_, {keys_, base_, n_, counts});
    exclusive_scan<int32_t, O>(queue_, counts, offsets_, buckets_);
  }

  /// Where nobody knows it. Blocks.
  int64_t longest() const {
    using F = LongestBucket<O>;
    return static_cast<int64_t>(
        launch_and_read<unsigned long long>(queue_, blocks_for(buckets_, int64_t{F::threads} * F::items), F::threads, 0,
                                            F{offsets_, buckets_, longest_}, longest_));
  }

  bool deal(int64_t longest) const {
    if (longest > longest_counted) return false;
    over<DealToBuckets<I, O>>(n_, {keys_, base_, n_, offsets_, counts_.template as<int32_t>(), positions_});
    int lanes = 1;
    while (lanes < 32 && lanes < longest && lanes * buckets_ < 2 * n_) lanes *= 2;
    switch (longest > 1 ? lanes : 0) {
      case 0: break;
      case 1:
      case 2: order_by<2>(); break;
      case 4: order_by<4>(); break;
      case 8: order_by<8>(); break;
      case 16: order_by<16>(); break;
      default: order_by<32>();
    }
    return true;
  }

 private:
  template <class F>
  void over(int64_t items, const F& f) const {
    launch(queue_, blocks_for(items, int64_t{F::threads} * F::items), F::threads, 0, f);
  }
  template <int lanes>
  void order_by() const {
    using F = OrderBuckets<O, lanes>;
    launch(queue_, blocks_for(buckets_ * lanes, F::threads), F::threads, 0, F{offsets_, buckets_, positions_});
  }

  Queue& queue_;
  std::shared_ptr<const Memory> memory_;
  const I* keys_;
  I base_;
  int64_t buckets_, n_;
  O *offsets_, *positions_;
  Buffer counts_;
  unsigned long long* longest_ = nullptr;  // behind the counts
};

}  // namespace kkc::gpu
