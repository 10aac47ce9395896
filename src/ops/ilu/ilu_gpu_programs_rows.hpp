// Which rows of the factors are eliminated alike, on GPUs: rows are of one kind when they hold columns at the same
// distances from themselves, and share a program when they and the rows that they need, one by one, are of one kind,
// as on grids. Found by hashes in tables of bounded size, then compared entry by entry.
#pragma once

#include "device/gpu_warp.hpp"
#include "ops/ilu/ilu_gpu_found.hpp"

namespace kkc::ilu::gpu_parts {

inline constexpr int table_slots_log2 = 13;
inline constexpr int table_slots = 1 << table_slots_log2;

/// Open addressing; empty keys are all ones. A slot keeps the first row that came.
struct RowTable {
  unsigned long long* keys;
  int64_t* rows;
};

/// What is learnt about all rows.
struct RowCensus {
  int32_t kinds, programs, too_many, differs, longest, longest_lower;
};

struct ClearTables {
  static constexpr int threads = 256;
  unsigned long long *kinds, *programs;
  RowCensus* census;

  __device__ void operator()() const {
    const int begin = static_cast<int>(blockIdx.x) * threads + static_cast<int>(threadIdx.x);
    if (begin == 0) *census = {};
    for (int k = begin; k < table_slots; k += static_cast<int>(gridDim.x) * threads) kinds[k] = programs[k] = ~0ull;
  }
};

__device__ inline uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}
__device__ inline uint64_t term(int64_t place, int64_t value) {
  return mixed(static_cast<uint64_t>(value) * 0x9e3779b97f4a7c15ull + static_cast<uint64_t>(place));
}

/// Slots that a block has seen, in shared memory: rows of a grid look there, not all at one place of the table.
struct SeenSlots {
  static constexpr int places = 256;
  volatile unsigned long long* words;

  __device__ void clear() const {
    for (int k = static_cast<int>(threadIdx.x); k < places; k += static_cast<int>(blockDim.x)) words[k] = ~0ull;
    __syncthreads();
  }

  /// The slot of each lane's `hash`, made where there is none; of lanes that do not ask, nothing. All lanes of a warp
  /// call together, and of those with one hash one at a time writes to an empty slot: the first rows of all warps come
  /// to few slots.
  __device__ int slot(bool asks, const RowTable& table, uint64_t hash, int64_t row, int32_t most, int32_t* count,
                      int32_t* too_many) const {
    constexpr unsigned long long low = table_slots - 1;
    const uint32_t self = 1u << (threadIdx.x & 31);
    const unsigned long long key = hash >> 1;  // never all ones
    volatile unsigned long long* const near = words + (key >> 20) % places;
    const unsigned long long seen = *near;
    const bool known = ((seen ^ key) & ~low) == 0;
    int at = static_cast<int>((known ? seen : key) & low);
    bool open = asks && !known;
    const uint32_t alike = gpu::ballot32(open) == 0 ? 0 : gpu::equal32(key);
    while (gpu::ballot32(open) != 0) {
      if (open && gpu::load_fresh(too_many) != 0) open = false;  // there may be no empty slot any more
      unsigned long long there = open ? gpu::load_fresh(table.keys + at) : key;
      const uint32_t empty = gpu::ballot32(there == ~0ull);
      if (!open) continue;
      if (there == ~0ull) {
        if ((empty & alike & (self - 1)) != 0) continue;  // looks again
        there = atomicCAS(table.keys + at, ~0ull, key);
        if (there == ~0ull) {
          table.rows[at] = row;
          if (atomicAdd(count, 1) >= most) *static_cast<volatile int32_t*>(too_many) = 1;
          there = key;
        }
      }
      if (there == key) {
        *near = (key & ~low) | static_cast<unsigned long long>(at);
        open = false;
      } else {
        at = (at + 1) & (table_slots - 1);
      }
    }
    return at;
  }
};

/// What the three kernels share: a lane or several a row, each block its share of the rows.
template <class I, class O>
struct AlikeRows {
  static constexpr int threads = 256;
  const O *offsets, *diagonal;
  const I* indices;
  int64_t rows;
  int lanes;  // a row
  RowCensus* census;
  int32_t most;  // programs, and kinds
  RowTable kinds, programs;
  int32_t *kind_of, *program_of;  // slots

  /// What makes a row's kind, and how long it is; nothing of row -1. All lanes of a warp call together.
  struct Kind {
    uint64_t hash;
    int64_t count, middle;
  };
  __device__ Kind kind(int64_t row, int lane) const {
    uint64_t sum = 0;
    int64_t count = 0, middle = 0;
    if (row >= 0) {
      const O first = offsets[row];
      count = offsets[row + 1] - first;
      middle = diagonal[row] - first;
      for (int64_t e = lane; e < count; e += lanes)
        sum += term(e, static_cast<int64_t>(indices[first + static_cast<O>(e)]) - row);
    }
    sum = gpu::subgroup_sum(sum, lanes);
    return {mixed(sum + static_cast<uint64_t>(count)), count, middle};
  }

  /// f(row or -1, lane): all lanes of a warp call together.
  template <class F>
  __device__ void each_row(const F& f) const {
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1), at_once = threads / lanes;
    for (int64_t first = int64_t{blockIdx.x} * at_once; first < rows; first += int64_t{gridDim.x} * at_once) {
      const int64_t row = first + static_cast<int>(threadIdx.x) / lanes;
      f(row < rows ? row : int64_t{-1}, lane);
    }
  }
};

/// One block: whether rows may be of few kinds, by short stretches of them from all over. Where these are of more
/// kinds than half their number, all rows would crowd into the table at once only to find it full.
template <class I, class O>
struct SampleKinds : AlikeRows<I, O> {
  static constexpr int threads = 1024, stretches = 8, stretch = 32, sampled = stretches * stretch;
  static constexpr int most_kinds = sampled / 2, places = 2 * sampled;

  __device__ void operator()() const {
    __shared__ unsigned long long seen[places];
    __shared__ int kinds;
    for (int k = static_cast<int>(threadIdx.x); k < places; k += threads) seen[k] = ~0ull;
    if (threadIdx.x == 0) kinds = 0;
    __syncthreads();
    const int lane = static_cast<int>(threadIdx.x) & (this->lanes - 1);
    for (int at_once = threads / this->lanes, n = static_cast<int>(threadIdx.x) / this->lanes;
         n - n % at_once < sampled; n += at_once) {
      const int64_t row = n < sampled ? this->rows / stretches * (n / stretch) + n % stretch : int64_t{-1};
      const unsigned long long key = this->kind(row, lane).hash >> 1;  // never all ones
      if (row < 0 || lane != 0) continue;
      for (int at = static_cast<int>(key % places);; at = (at + 1) % places) {
        const unsigned long long there = atomicCAS(seen + at, ~0ull, key);
        if (there == ~0ull) atomicAdd(&kinds, 1);
        if (there == ~0ull || there == key) break;
      }
    }
    __syncthreads();
    if (threadIdx.x == 0 && kinds > most_kinds) this->census->too_many = 1;
  }
};

template <class I, class O>
struct FindKinds : AlikeRows<I, O> {
  __device__ void operator()() const {
    __shared__ unsigned long long seen[SeenSlots::places];
    if (this->census->too_many != 0) return;
    const SeenSlots slots{seen};
    slots.clear();
    int longest = 0, longest_lower = 0;
    this->each_row([&](int64_t row, int lane) {
      const auto [hash, count, middle] = this->kind(row, lane);
      longest = max(longest, static_cast<int>(count));
      longest_lower = max(longest_lower, static_cast<int>(middle));
      const bool asks = row >= 0 && lane == 0;
      const int kind =
          slots.slot(asks, this->kinds, hash, row, this->most, &this->census->kinds, &this->census->too_many);
      if (asks) this->kind_of[row] = kind;
    });
    for (int mask = 16; mask > 0; mask >>= 1) {
      longest = max(longest, gpu::shuffle_xor(longest, mask, 32));
      longest_lower = max(longest_lower, gpu::shuffle_xor(longest_lower, mask, 32));
    }
    if (threadIdx.x % 32 != 0) return;
    atomicMax(&this->census->longest, longest);
    atomicMax(&this->census->longest_lower, longest_lower);
  }
};

/// Also compares each row with the first of its kind.
template <class I, class O>
struct FindPrograms : AlikeRows<I, O> {
  __device__ void operator()() const {
    __shared__ unsigned long long seen[SeenSlots::places];
    if (this->census->too_many != 0) return;
    const SeenSlots slots{seen};
    slots.clear();
    this->each_row([&](int64_t row, int lane) {
      uint64_t sum = 0;
      int32_t kind = 0;
      bool differs = false;
      if (row >= 0) {
        kind = this->kind_of[row];
        const int64_t other = this->kinds.rows[kind];
        const O first = this->offsets[row], other_first = this->offsets[other];
        const int64_t count = this->offsets[row + 1] - first, middle = this->diagonal[row] - first;
        differs = this->offsets[other + 1] - other_first != count;
        const int64_t compared = differs ? 0 : count;
        for (int64_t e = lane; e < compared; e += this->lanes) {
          const auto column = static_cast<int64_t>(this->indices[first + static_cast<O>(e)]);
          differs |= column - row != static_cast<int64_t>(this->indices[other_first + static_cast<O>(e)]) - other;
          if (e < middle) sum += term(e, this->kind_of[column]);
        }
      }
      if (differs) this->census->differs = 1;
      sum = gpu::subgroup_sum(sum, this->lanes);
      const bool asks = row >= 0 && lane == 0;
      const int program = slots.slot(asks, this->programs, mixed(sum + static_cast<uint64_t>(kind)), row, this->most,
                                     &this->census->programs, &this->census->too_many);
      if (asks) this->program_of[row] = program;
    });
  }
};

/// Compares what each row needs with what the first row of its program needs.
template <class I, class O>
struct ComparePrograms : AlikeRows<I, O> {
  __device__ void operator()() const {
    if (this->census->too_many != 0 || this->census->differs != 0) return;
    this->each_row([&](int64_t row, int lane) {
      if (row < 0) return;
      const int64_t other = this->programs.rows[this->program_of[row]];
      bool differs = this->kind_of[row] != this->kind_of[other];
      const O first = this->offsets[row], other_first = this->offsets[other];
      const int64_t middle = this->diagonal[row] - first;
      const int64_t compared = differs ? 0 : middle;  // rows of one kind are equally long
      for (int64_t e = lane; e < compared; e += this->lanes)
        differs |= this->kind_of[this->indices[first + static_cast<O>(e)]] !=
                   this->kind_of[this->indices[other_first + static_cast<O>(e)]];
      if (differs) this->census->differs = 1;
    });
  }
};

}  // namespace kkc::ilu::gpu_parts
