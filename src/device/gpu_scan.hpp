// Prefix sums on GPUs in one pass over the elements. For plans of any operation:
//
//   gpu::exclusive_scan(queue, counts, offsets, n);   // offsets[n + 1], the total last
//
// It only enqueues, in one launch. counts may be offsets where both have the same type. An execute, which may be
// captured, has scratch of its own: launch_scan with scan_scratch_bytes, which needs no preparation and may be used
// again by the next call on the stream.
//
// Decoupled look-back (Merrill, Garland, "Single-pass parallel prefix scan with decoupled look-back", NVR-2016-002)
// with a fixed order of additions, so that floating-point sums too have the same bits in every run: a tile adds the
// sums of the earlier tiles of its group in fixed order to the group's prefix, which the last tile of the group before
// announces.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "device/gpu_clear.hpp"
#include "device/gpu_kept_words.hpp"
#include "device/gpu_launch.hpp"
#include "device/gpu_read.hpp"
#include "device/gpu_warp.hpp"

namespace kkc::gpu {

inline constexpr int scan_threads = 256;
inline constexpr int scan_group = 128;  // tiles whose sums a tile reads at most

/// Elements of a thread.
template <class T>
inline constexpr int scan_items = sizeof(T) == 4   ? 24
                                  : sizeof(T) <= 8 ? 16
                                                   : 8;
template <class T>
inline constexpr int64_t scan_tile = int64_t{scan_threads} * scan_items<T>;

/// 64-bit words in which a value is announced. Half of each is the value's, the other half says of which launch it is:
/// words are written and read whole, so no fence stands between value and flag (the LL protocol of NCCL).
template <class T>
inline constexpr int scan_words = static_cast<int>((sizeof(T) + 3) / 4);

template <class T>
__device__ inline void announce(unsigned long long* words, const T& value, uint32_t launch = 1) {
  uint32_t parts[scan_words<T>] = {};
  memcpy(parts, &value, sizeof(T));
  for (int i = 0; i < scan_words<T>; ++i)
    *static_cast<volatile unsigned long long*>(words + i) = static_cast<unsigned long long>(launch) << 32 | parts[i];
}

template <class T>
__device__ inline T await(const unsigned long long* words, uint32_t launch = 1) {
  uint32_t parts[scan_words<T>];
  for (int i = 0; i < scan_words<T>; ++i) {
    unsigned long long word;
    do {
      word = *static_cast<const volatile unsigned long long*>(words + i);
    } while (static_cast<uint32_t>(word >> 32) != launch);
    parts[i] = static_cast<uint32_t>(word);
  }
  T value;
  memcpy(&value, parts, sizeof(T));
  return value;
}

/// A run of elements, or several of the same length; converted to T as they are read.
template <class In, class T>
struct RunSource {
  const In* data;
  int64_t line_stride;

  template <int vector>
  __device__ void load(int64_t line, int64_t i, T (&x)[vector]) const {
    constexpr size_t bytes = vector * sizeof(In);
    struct alignas(bytes < 16 ? bytes : 16) Vector {
      In element[vector];
    };
    const Vector v = *reinterpret_cast<const Vector*>(data + line * line_stride + i);
#pragma unroll
    for (int k = 0; k < vector; ++k) x[k] = static_cast<T>(v.element[k]);
  }
};

template <class Out>
struct RunTarget {
  Out* data;
  int64_t line_stride;

  template <int vector>
  __device__ void store(int64_t line, int64_t i, const Out (&x)[vector]) const {
    constexpr size_t bytes = vector * sizeof(Out);
    struct alignas(bytes < 16 ? bytes : 16) Vector {
      Out element[vector];
    };
    Vector v;
#pragma unroll
    for (int k = 0; k < vector; ++k) v.element[k] = x[k];
    *reinterpret_cast<Vector*>(data + line * line_stride + i) = v;
  }
  __device__ void finish(int64_t, int64_t, const Out&) const {}
};

/// The same with the total behind the last element.
template <class Out>
struct OffsetsTarget : RunTarget<Out> {
  __device__ void finish(int64_t line, int64_t length, const Out& total) const {
    this->data[line * this->line_stride + length] = total;
  }
};

/// What a launch needs besides the elements: a ticket, the tiles' sums, the groups' prefixes, none of its number.
struct ScanWords {
  unsigned* ticket;
  unsigned long long *sums, *prefixes;
  uint32_t launch;        // its number
  uint32_t first_ticket;  // that it takes
};

/// A block a tile. Source: load<vector>(line, i, x); Target: store<vector>(line, i, x), finish(line, length, total).
template <class T, class Source, class Target, int vector>
struct ScanTiles {
  static constexpr int threads = scan_threads;
  static constexpr int items = scan_items<T>, rounds = items / vector, warps = threads / 32;

  Source source;
  Target target;
  int64_t length;   // of a line
  unsigned tiles;   // of a line
  unsigned groups;  // of a line
  bool inclusive;
  T first;        // before the first element
  const T* base;  // device memory to be added to it, or null
  T* carry;       // where the last line's total goes, or null
  ScanWords words;

  /// The sum of everything before a tile, in every lane of the first warp.
  __device__ T prefix_of(int64_t line, unsigned tile, const T& sum) const {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const unsigned group = tile / scan_group, place = tile % scan_group;
    unsigned long long* const sums =
        words.sums + (line * tiles + static_cast<int64_t>(group) * scan_group) * scan_words<T>;
    unsigned long long* const prefixes = words.prefixes + (line * groups + group) * scan_words<T>;
    if (lane == 0 && place + 1 < scan_group) announce(sums + place * scan_words<T>, sum, words.launch);
    T before{};
    for (unsigned i = static_cast<unsigned>(lane); i < place; i += 32)
      before = add(before, await<T>(sums + i * scan_words<T>, words.launch));
    before = subgroup_sum(before, 32);
    T prefix = group == 0 ? start() : await<T>(prefixes, words.launch);
    if (lane == 0 && place + 1 == scan_group && group + 1 < groups)
      announce(prefixes + scan_words<T>, add(prefix, add(before, sum)), words.launch);
    return add(prefix, before);
  }

  __device__ T start() const { return base != nullptr ? add(*base, first) : first; }

  __device__ void operator()() const {
    __shared__ T warp_sums[warps], shared_prefix;
    __shared__ unsigned shared_ticket;
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) / 32;
    unsigned number = blockIdx.x;
    if (tiles > 1) {  // tiles are taken in the order in which blocks start: those before a tile are running
      if (threadIdx.x == 0) shared_ticket = atomicAdd(words.ticket, 1u) - words.first_ticket;
      __syncthreads();
      number = shared_ticket;
    }
    const int64_t line = number / tiles;
    const unsigned tile = number % tiles;
    const int64_t begin = static_cast<int64_t>(tile) * (threads * items);
    const bool whole = begin + threads * items <= length;
    const int64_t mine = begin + warp * (32 * items) + lane * vector;

    T x[rounds][vector];
    if (whole) {
#pragma unroll
      for (int r = 0; r < rounds; ++r) source.template load<vector>(line, mine + r * 32 * vector, x[r]);
    } else {
#pragma unroll
      for (int r = 0; r < rounds; ++r)
#pragma unroll
        for (int k = 0; k < vector; ++k) {
          T one[1] = {};
          if (const int64_t i = mine + r * 32 * vector + k; i < length) source.template load<1>(line, i, one);
          x[r][k] = one[0];
        }
    }

    T below[rounds], running{};  // sums of the warp's elements before a thread's
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      T sum = x[r][0];
#pragma unroll
      for (int k = 1; k < vector; ++k) sum = add(sum, x[r][k]);
      below[r] = subgroup_scan(sum, 32);
    }
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const T all = shuffle_from(below[r], 31, 32);
      const T before = shuffle_up(below[r], 1, 32);
      below[r] = lane == 0 ? running : add(running, before);
      running = add(running, all);
    }
    if (lane == 0) warp_sums[warp] = running;
    __syncthreads();
    T before_warp{}, sum{};
    for (int w = 0; w < warps; ++w) {
      if (w == warp) before_warp = sum;
      sum = add(sum, warp_sums[w]);
    }
    if (warp == 0) {
      const T prefix = tiles > 1 ? prefix_of(line, tile, sum) : start();
      if (lane == 0) {
        shared_prefix = prefix;
        if (tile + 1 == tiles) {
          const T total = add(prefix, sum);
          target.finish(line, length, total);
          if (carry != nullptr) *carry = total;
        }
      }
    }
    __syncthreads();
    before_warp = add(shared_prefix, before_warp);

#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      T before = add(before_warp, below[r]);
#pragma unroll
      for (int k = 0; k < vector; ++k) {
        const T after = add(before, x[r][k]);
        x[r][k] = inclusive ? after : before;
        before = after;
      }
      const int64_t i = mine + r * 32 * vector;
      if (whole) {
        target.template store<vector>(line, i, x[r]);
      } else {
#pragma unroll
        for (int k = 0; k < vector; ++k) {
          const T one[1] = {x[r][k]};
          if (i + k < length) target.template store<1>(line, i + k, one);
        }
      }
    }
  }
};

inline constexpr int64_t scan_tiles_of(int64_t length, int64_t tile) {
  return length == 0 ? 1 : (length + tile - 1) / tile;
}

/// Device memory for `lines` lines of `length` elements; 0 where every line is one tile.
template <class T>
size_t scan_scratch_bytes(int64_t length, int64_t lines = 1) {
  const int64_t tiles = scan_tiles_of(length, scan_tile<T>);
  if (tiles == 1) return 0;
  const int64_t groups = (tiles + scan_group - 1) / scan_group;
  return static_cast<size_t>(1 + lines * (tiles + groups) * scan_words<T>) * 8;
}

/// The scan of lines of `length` elements; `words` for more than one tile a line.
template <class T, class Source, class Target, int vector>
ScanTiles<T, Source, Target, vector> scan_with(ScanTiles<T, Source, Target, vector> f, int64_t length,
                                               ScanWords words) {
  const int64_t tiles = scan_tiles_of(length, scan_tile<T>);
  f.length = length;
  f.tiles = static_cast<unsigned>(tiles);
  f.groups = static_cast<unsigned>((tiles + scan_group - 1) / scan_group);
  f.words = words;
  return f;
}

template <class T>
ScanWords scan_words_at(unsigned long long* words, int64_t tiles, uint32_t launch, uint32_t first_ticket) {
  return {reinterpret_cast<unsigned*>(words), words + 1, words + 1 + tiles * scan_words<T>, launch, first_ticket};
}

/// Enqueues the scan of `lines` lines of `length` elements; f has source, target, first and inclusive.
template <class T, class Source, class Target, int vector>
void launch_scan(const Queue& queue, const ScanTiles<T, Source, Target, vector>& f, int64_t length, int64_t lines,
                 void* scratch) {
  const int64_t tiles = scan_tiles_of(length, scan_tile<T>);
  ScanWords words{};
  if (tiles > 1) {
    clear_words(queue, scratch, scan_scratch_bytes<T>(length, lines));
    words = scan_words_at<T>(static_cast<unsigned long long*>(scratch), tiles * lines, 1, 0);
  }
  launch(queue, blocks_for(tiles * lines, 1), scan_threads, 0, scan_with(f, length, words));
}

/// start(f, blocks) launches the scan of one line, for plans.
template <class T, class Source, class Target, int vector, class Start>
void start_scan(Queue& queue, const ScanTiles<T, Source, Target, vector>& f, int64_t length, const Start& start) {
  const int64_t tiles = scan_tiles_of(length, scan_tile<T>);
  if (tiles == 1) return start(scan_with(f, length, {}), 1);
  KeptWords& kept = keeping(queue).kept_words(KeptWords::scans, scan_scratch_bytes<T>(length));
  if (kept.number % UINT32_MAX == 0) {  // no word is of a launch to come
    clear_words(queue, kept.data, kept.bytes);
    kept.number = 0;
    kept.tickets = 0;
  }
  ++kept.number;
  start(scan_with(f, length, scan_words_at<T>(kept.data, tiles, kept.number, kept.tickets)), blocks_for(tiles, 1));
  kept.tickets += static_cast<uint32_t>(tiles);  // none are taken where the launch was refused
}

/// Enqueues the scan of one line, for plans.
template <class T, class Source, class Target, int vector>
void launch_scan(Queue& queue, const ScanTiles<T, Source, Target, vector>& f, int64_t length) {
  start_scan(queue, f, length,
             [&](const auto& scan, unsigned blocks) { launch(queue, blocks, scan_threads, 0, scan); });
}

/// The same, and reads what lies at `device` then; blocks.
template <class R, class T, class Source, class Target, int vector>
R launch_scan_and_read(Queue& queue, const ScanTiles<T, Source, Target, vector>& f, int64_t length,
                       const void* device) {
  R found;
  start_scan(queue, f, length, [&](const auto& scan, unsigned blocks) {
    found = launch_and_read<R>(queue, blocks, scan_threads, 0, scan, device);
  });
  return found;
}

/// Elements of a 16-byte access to the larger type: a warp's accesses stay without gaps.
template <class In, class Out>
inline constexpr int scan_vector = 16 / static_cast<int>(std::max(sizeof(In), sizeof(Out)));

template <class In, class Out, int vector>
using OffsetScan = ScanTiles<Out, RunSource<In, Out>, OffsetsTarget<Out>, vector>;

/// Calls take(f) with the scan that makes offsets of counts.
template <class In, class Out, class Take>
void with_offset_scan(const In* counts, Out* offsets, Out first, const Take& take) {
  const auto scan = [&]<int vector>(std::integral_constant<int, vector>) {
    OffsetScan<In, Out, vector> f{};
    f.source = {counts, 0};
    f.target = {{offsets, 0}};
    f.first = first;
    take(f);
  };
  constexpr int vector = scan_vector<In, Out>;
  constexpr size_t in = std::min<size_t>(16, vector * sizeof(In)), out = std::min<size_t>(16, vector * sizeof(Out));
  if (reinterpret_cast<uintptr_t>(counts) % in == 0 && reinterpret_cast<uintptr_t>(offsets) % out == 0)
    scan(std::integral_constant<int, vector>{});
  else
    scan(std::integral_constant<int, 1>{});
}

/// offsets[i] = first + counts[0] + ... + counts[i - 1] for i = 0..n, in type Out. For plans.
template <class In, class Out>
void exclusive_scan(Queue& queue, const In* counts, Out* offsets, int64_t n, Out first = 0) {
  with_offset_scan(counts, offsets, first, [&](const auto& f) { launch_scan(queue, f, n); });
}

/// The same, and reads what lies at `device` then; blocks.
template <class R, class In, class Out>
R exclusive_scan_and_read(Queue& queue, const In* counts, Out* offsets, int64_t n, const void* device) {
  R found;
  with_offset_scan(counts, offsets, Out{0},
                   [&](const auto& f) { found = launch_scan_and_read<R>(queue, f, n, device); });
  return found;
}

/// The same, and returns the last of them; blocks.
template <class In, class Out>
Out exclusive_scan_total(Queue& queue, const In* counts, Out* offsets, int64_t n) {
  return exclusive_scan_and_read<Out>(queue, counts, offsets, n, offsets + n);
}

}  // namespace kkc::gpu
