// Classes of rows: matrices from grids have few kinds of rows, the same but for a shift of all columns. B's rows are
// classed by their columns relative to the first; C's rows by the classes of the rows of B that they unite and by where
// these begin relative to the leftmost. One row of each class is then multiplied symbolically, and the others copy its
// columns, shifted, and its product slots. Classes are found by a hash of what is compared and then compared in full,
// so a collision is noticed, not trusted.
#pragma once

#include "spgemm_gpu_block.hpp"

namespace kkc::spgemm::gpu_parts {

inline constexpr int class_places_log2 = 14;
inline constexpr int class_places = 1 << class_places_log2;
inline constexpr int most_classes = 4096;
/// Places at which a key is looked for: so few classes need no more of a table a quarter full.
inline constexpr int most_class_probes = 64;
/// Rows of more entries make rows of C that are too long for classes, and would be one subgroup's work.
inline constexpr int32_t longest_classed = 2048;

/// A place of the table for each class; zero at first.
struct ClassTable {
  unsigned long long* keys;  // [class_places]
  int32_t* rows;             // [class_places]: the class's first row to come
  int32_t* count;
  int32_t* failed;  // set: too many classes, or a collision

  __device__ bool has_failed() const { return *static_cast<volatile int32_t*>(failed) != 0; }

  __device__ int32_t place_of(unsigned long long key, int32_t row) const {
    auto place = static_cast<uint32_t>(key) & (class_places - 1);
    for (int probe = 0; probe < most_class_probes; ++probe, place = (place + 1) & (class_places - 1)) {
      // Unlike rows fill the table before the first of them sees that there are too many.
      if ((probe & 7) == 7 && has_failed()) return 0;
      unsigned long long there = *static_cast<volatile unsigned long long*>(keys + place);
      if (there == 0) {
        there = atomicCAS(keys + place, 0ull, key);
        if (there == 0) {
          rows[place] = row;
          if (atomicAdd(count, 1) == most_classes) *failed = 1;
          return static_cast<int32_t>(place);
        }
      }
      if (there == key) return static_cast<int32_t>(place);
    }
    *failed = 1;
    return 0;
  }
};

/// A row of B: its first column, and its class's place in the table.
struct RowClass {
  int32_t first, place;
};

/// The finalizer of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA'14).
__device__ inline uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
/// One round for each compared pair: what collides is noticed when rows are compared.
__device__ inline uint64_t mixed(int32_t k, int32_t a, int32_t b) {
  uint64_t x = static_cast<uint64_t>(static_cast<uint32_t>(a)) << 32 | static_cast<uint32_t>(b);
  x = (x + static_cast<uint64_t>(k) * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  return x ^ (x >> 29);
}

/// What is compared of a row: `length` pairs of integers.
struct Signed {
  int32_t a, b;
};

/// B's rows: columns relative to the first.
template <class I>
struct RightSignature {
  Pattern<I> B;
  struct Row {
    int64_t begin;
    int32_t length, base;
  };
  __device__ int64_t length(int64_t i) const { return B.end(i) - B.begin(i); }
  __device__ Row row(int64_t i, int, int) const {
    const int64_t begin = B.begin(i);
    const auto length = static_cast<int32_t>(B.end(i) - begin);
    return {begin, length, length > 0 ? static_cast<int32_t>(B.column(begin)) : 0x7fffffff};
  }
  __device__ Signed at(const Row& row, int32_t k) const {
    return {static_cast<int32_t>(B.column(row.begin + k)) - row.base, 0};
  }
  __device__ bool ascends(const Row& row, int32_t k) const {
    return k == 0 || B.columns[row.begin + k - 1] < B.columns[row.begin + k];
  }
};

/// C's rows: classes and beginnings of the rows of B, relative to the leftmost.
template <class Left>
struct LeftSignature {
  Left A;
  const RowClass* classes;
  struct Row {
    LeftRow left;
    int32_t length, base;
  };
  __device__ int64_t length(int64_t i) const { return A.row(i).length; }
  __device__ Row row(int64_t i, int lane, int lanes) const {
    const LeftRow left = A.row(i);
    int32_t base = 0x7fffffff;
    for (int32_t k = lane; k < left.length; k += lanes) {
      const int32_t first = classes[A.column(left, k)].first;
      base = first < base ? first : base;
    }
    for (int mask = lanes >> 1; mask > 0; mask >>= 1) {
      const int32_t other = gpu::shuffle_xor(base, mask, lanes);
      base = other < base ? other : base;
    }
    return {left, left.length, base};
  }
  __device__ Signed at(const Row& row, int32_t k) const {
    const RowClass c = classes[A.column(row.left, k)];
    return {c.place, c.first == 0x7fffffff ? c.first : c.first - row.base};
  }
  __device__ bool ascends(const Row&, int32_t) const { return true; }
};

/// A subgroup a row: its place in the table of classes and its base.
template <class Signature>
struct ClassifyRows {
  static constexpr int threads = 256;
  Signature signature;
  int64_t rows;
  int32_t lanes_log2;
  ClassTable table;
  RowClass* classes;

  __device__ void operator()() const {
    // What this block met last: a class in most of the 64 bits, its place in the others.
    __shared__ unsigned long long met[64];
    if (*table.failed != 0) return;
    if (threadIdx.x < 64) met[threadIdx.x] = 0;
    __syncthreads();
    const int lanes = 1 << lanes_log2, lane = static_cast<int>(threadIdx.x) & (lanes - 1),
              group = static_cast<int>(threadIdx.x) >> lanes_log2, groups = threads >> lanes_log2;
    for (int64_t first = static_cast<int64_t>(blockIdx.x) * groups; first < rows;
         first += static_cast<int64_t>(gridDim.x) * groups) {
      if (gpu::ballot32(table.has_failed()) != 0) return;
      const int64_t i = first + group < rows ? first + group : rows - 1;
      if (gpu::ballot32(signature.length(i) > longest_classed) != 0) {
        *table.failed = 1;
        return;
      }
      const auto row = signature.row(i, lane, lanes);
      unsigned long long sum = 0;
      for (int32_t k = lane; k < row.length; k += lanes) {
        const Signed s = signature.at(row, k);
        sum += mixed(k, s.a, s.b);
      }
      sum = gpu::subgroup_sum(sum, lanes);
      if (lane != 0 || first + group >= rows) continue;
      const unsigned long long key = mixed(sum + static_cast<uint32_t>(row.length)) | 1;
      constexpr unsigned long long low = class_places - 1;
      volatile unsigned long long* const last = met + (key >> 40 & 63);
      const unsigned long long seen = *last;
      int32_t place;
      if (seen != 0 && ((seen ^ key) & ~low) == 0) {
        place = static_cast<int32_t>(seen & low);
      } else {
        place = table.place_of(key, static_cast<int32_t>(i));
        *last = (key & ~low) | static_cast<unsigned long long>(place);
      }
      classes[i] = {row.base, place};
    }
  }
};

/// Numbers the classes from 0 in any order. A thread a place.
struct NumberClasses {
  static constexpr int threads = 256;
  ClassTable table;
  int32_t* next;     // zero at first
  int32_t* numbers;  // [class_places]
  int32_t* rows;     // [most_classes]
  const RowClass* classes;
  int32_t* bases;  // [most_classes]

  __device__ void operator()() const {
    if (*table.failed != 0) return;
    const int place = static_cast<int>(blockIdx.x * threads + threadIdx.x);
    const uint32_t taken = gpu::ballot32(table.keys[place] != 0);
    if (taken == 0) return;
    const int lane = static_cast<int>(threadIdx.x) & 31;
    int32_t number = 0;
    if (lane == 0) number = atomicAdd(next, __popc(taken));
    number = gpu::shuffle_from(number, 0, 32) + __popc(taken & ((1u << lane) - 1));
    if ((taken >> lane & 1u) == 0) return;
    numbers[place] = number;
    rows[number] = table.rows[place];
    bases[number] = classes[table.rows[place]].first;
  }
};

/// Compares each row with its class's; writes the class's number if `numbers` is given.
template <class Signature>
struct CompareRows {
  static constexpr int threads = 256;
  Signature signature;
  int64_t rows;
  int32_t lanes_log2;
  ClassTable table;
  const RowClass* classes;
  const int32_t* numbers;
  uint16_t* number_of;
  int32_t* base_of;
  int32_t* broken;  // set when a row does not ascend strictly

  __device__ void operator()() const {
    if (*table.failed != 0) return;
    const int lanes = 1 << lanes_log2, lane = static_cast<int>(threadIdx.x) & (lanes - 1),
              group = static_cast<int>(threadIdx.x) >> lanes_log2, groups = threads >> lanes_log2;
    for (int64_t first = static_cast<int64_t>(blockIdx.x) * groups; first < rows;
         first += static_cast<int64_t>(gridDim.x) * groups) {
      if (gpu::ballot32(table.has_failed()) != 0) return;
      const int64_t item = first + group, i = item < rows ? item : rows - 1;
      const RowClass mine = classes[i];
      const auto row = signature.row(i, lane, lanes);
      const auto other = signature.row(table.rows[mine.place], lane, lanes);
      bool same = row.length == other.length;
      if (same)
        for (int32_t k = lane; k < row.length; k += lanes) {
          const Signed a = signature.at(row, k), b = signature.at(other, k);
          same = same && a.a == b.a && a.b == b.b;
          if (!signature.ascends(row, k)) *broken = 1;
        }
      if (!same) *table.failed = 1;
      if (number_of == nullptr || lane != 0 || item >= rows) continue;
      number_of[i] = static_cast<uint16_t>(numbers[mine.place]);
      base_of[i] = row.base;
    }
  }
};

/// Sizes of C's rows from those of their classes; sums of both kinds.
struct SizesOfClasses {
  static constexpr int threads = 256;
  const uint16_t* number_of;
  const int32_t* class_counts;
  const int64_t* class_products;
  int64_t rows;
  int32_t* counts;
  unsigned long long *total, *products;
  int32_t* largest;

  __device__ void operator()() const {
    __shared__ unsigned long long sums[2];
    __shared__ int32_t most;
    if (threadIdx.x == 0) sums[0] = sums[1] = 0, most = 0;
    __syncthreads();
    int64_t found = 0, multiplied = 0;
    int32_t longest = 0;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x; i < rows;
         i += static_cast<int64_t>(gridDim.x) * threads) {
      const int number = number_of[i];
      const int32_t count = class_counts[number];
      counts[i] = count;
      found += count;
      multiplied += class_products[number];
      longest = count > longest ? count : longest;
    }
    found = gpu::subgroup_sum(found, 32);
    multiplied = gpu::subgroup_sum(multiplied, 32);
    longest = warp_max(longest);
    if ((threadIdx.x & 31u) == 0) {
      atomicAdd(&sums[0], static_cast<unsigned long long>(found));
      atomicAdd(&sums[1], static_cast<unsigned long long>(multiplied));
      atomicMax(&most, longest);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    atomicAdd(total, sums[0]);
    atomicAdd(products, sums[1]);
    atomicMax(largest, most);
  }
};

/// The same for short rows: a thread a row into shared memory, then all of a warp's rows to C.
template <class I>
struct ShiftShortColumns {
  static constexpr int threads = 128;
  const uint16_t* number_of;
  const int32_t* base_of;
  const int64_t* columns_at;
  const int32_t* class_columns;
  Offsets offsets;
  I* columns;
  int64_t rows;
  int32_t longest;

  static size_t shared_bytes(int32_t longest) {
    return static_cast<size_t>(threads) * static_cast<size_t>(longest) * sizeof(I);
  }

  __device__ void operator()() const {
    extern __shared__ char shared[];
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    I* const staged = reinterpret_cast<I*>(shared) + warp * 32 * longest;
    const int64_t first = static_cast<int64_t>(blockIdx.x) * threads + warp * 32, i = first + lane;
    if (first >= rows) return;
    const int64_t begin = offsets.at(i < rows ? i : rows), end = offsets.at(i < rows ? i + 1 : rows);
    const int64_t from = gpu::shuffle_from(begin, 0, 32);
    if (i < rows) {
      const int32_t* const relative = class_columns + columns_at[number_of[i]];
      const int32_t base = base_of[i];
      for (int32_t j = 0; j < static_cast<int32_t>(end - begin); ++j)
        staged[begin - from + j] = static_cast<I>(base + relative[j]);
    }
    gpu::sync32();
    const auto total = static_cast<int32_t>(gpu::shuffle_from(end, 31, 32) - from);
    for (int32_t j = lane; j < total; j += 32) columns[from + j] = staged[j];
  }
};

/// C's columns: those of the class, shifted. A subgroup a row.
template <class I>
struct ShiftColumns {
  static constexpr int threads = 256;
  const uint16_t* number_of;
  const int32_t* base_of;
  const int64_t* columns_at;
  const int32_t* class_columns;
  Offsets offsets;
  I* columns;
  int64_t rows;
  int32_t lanes_log2;

  __device__ void operator()() const {
    const int64_t i = (static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x) >> lanes_log2;
    const int lanes = 1 << lanes_log2, lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    if (i >= rows) return;
    const int64_t begin = offsets.at(i);
    const auto length = static_cast<int32_t>(offsets.at(i + 1) - begin);
    const int32_t* const from = class_columns + columns_at[number_of[i]];
    const int32_t base = base_of[i];
    for (int32_t j = lane; j < length; j += lanes) columns[begin + j] = static_cast<I>(base + from[j]);
  }
};

}  // namespace kkc::spgemm::gpu_parts
