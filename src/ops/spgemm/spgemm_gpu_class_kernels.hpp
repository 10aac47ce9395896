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

/// A word of the table for each class; zero at first. A word is 32 bits of the hash behind a one, then the row that
/// came first, so that who finds the word can compare with that row at once.
struct ClassTable {
  static constexpr int row_bits = 31;
  unsigned long long* words;  // [class_places]
  int32_t* count;
  int32_t* failed;  // set: too many classes, or a collision

  __device__ static unsigned long long word(uint64_t hash, int64_t row) {
    return 1ull << 63 | hash >> 1 >> row_bits << row_bits | static_cast<unsigned long long>(row);
  }
  __device__ static int32_t row_of(unsigned long long word) { return static_cast<int32_t>(word & 0x7fffffffu); }
  __device__ static bool alike(unsigned long long a, unsigned long long b) { return (a ^ b) >> row_bits == 0; }

  __device__ bool has_failed() const { return *static_cast<volatile int32_t*>(failed) != 0; }

  /// The word of this one's class: its own if it comes first.
  __device__ unsigned long long find(unsigned long long mine) const {
    auto place = static_cast<uint32_t>(mine >> row_bits) & (class_places - 1);
    for (int probe = 0; probe < most_class_probes; ++probe, place = (place + 1) & (class_places - 1)) {
      // Unlike rows fill the table before the first of them sees that there are too many.
      if ((probe & 7) == 7 && has_failed()) return mine;
      unsigned long long there = *static_cast<volatile unsigned long long*>(words + place);
      if (there == 0) {
        there = atomicCAS(words + place, 0ull, mine);
        if (there == 0) {
          if (atomicAdd(count, 1) == most_classes) *failed = 1;
          return mine;
        }
      }
      if (alike(there, mine)) return there;
    }
    *failed = 1;
    return mine;
  }
  /// The same where `met`, 64 words in shared memory, zero at first, holds what the block met last. Threads read and
  /// write it in no order: whatever word one finds, it compares its row with that word's.
  __device__ unsigned long long find(unsigned long long mine, unsigned long long* met) const {
    volatile unsigned long long* const last = met + (mine >> 40 & 63);
    unsigned long long there = *last;
    if (alike(there, mine)) return there;
    *last = there = find(mine);
    return there;
  }
};

/// A row: where it begins, and the first row of its class.
struct alignas(8) RowClass {
  int32_t first, row;
};
inline constexpr int32_t nowhere = 0x7fffffff;  // where empty rows begin

/// The finalizer of splitmix64 (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", OOPSLA'14).
__device__ inline uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}
/// A term of the sum over compared pairs; what collides is noticed when rows are compared. (NH of Black, Halevi,
/// Krawczyk, Krovetz, Rogaway, "UMAC: fast and secure message authentication", CRYPTO'99, with keys by position.)
__device__ inline uint64_t mixed(int32_t k, int32_t a, int32_t b) {
  const auto at = static_cast<uint32_t>(k);
  return uint64_t{static_cast<uint32_t>(a) + at * 0x9e3779b9u + 0x7f4a7c15u} *
         (static_cast<uint32_t>(b) + at * 0x85ebca6bu + 0xc2b2ae35u);
}

/// Kinds of rows in a sample of a matrix, all rows alike but for a shift being of one. If there are far more of them
/// than classes may be, `failed` is set before all rows are looked at: by how many were met in all and once, as words
/// of a text, which grow by a power of its length (Heaps, "Information retrieval", Academic Press 1978, section 7.5).
struct SampledKinds {
  static constexpr int rows = 2048, places_log2 = 12, most = 1700;  // of `most_classes` about 1610 would be met
  static constexpr float most_foretold = 4 * most_classes;          // which is up to four times too many
  unsigned long long* words;  // [1 << places_log2], zero at first; null: not wanted
  KindCounts* counts;
  int32_t* failed;

  __device__ void meet(uint64_t hash) const {
    const unsigned long long mine = hash & ~3ull | 1;  // and 2 when it is met again
    for (auto place = static_cast<uint32_t>(hash >> (64 - places_log2));; place = (place + 1) % (1u << places_log2)) {
      const unsigned long long there = atomicCAS(words + place, 0ull, mine);
      if (there == 0) {
        atomicAdd(&counts->once, 1);
        if (atomicAdd(&counts->kinds, 1) == most) *failed = 1;
        return;
      }
      if ((there | 2) != (mine | 2)) continue;
      if (there == mine && atomicCAS(words + place, mine, mine | 2) == mine) atomicAdd(&counts->once, -1);
      return;
    }
  }

  /// By one lane for each row of the sample; of so many rows in all.
  __device__ void looked(int64_t all_rows) const {
    __threadfence();
    if (atomicAdd(&counts->looks, 1) != rows - 1) return;
    __threadfence();
    const volatile KindCounts& met = *counts;
    const auto kinds = static_cast<float>(met.kinds), once = static_cast<float>(met.once);
    if (kinds * powf(static_cast<float>(all_rows) / rows, once / fmaxf(kinds, 1)) > most_foretold) *failed = 1;
  }
};

/// The row after `s` strides of a sample; not the same place of every i-node.
__device__ inline int64_t sampled_row(int64_t s, int64_t rows, int64_t samples) {
  const int64_t stride = (rows - 1) / samples;
  return 1 + s * stride + s % stride;
}

/// A warp a row of A.
template <class I>
struct SampleKinds {
  static constexpr int threads = 128;
  static constexpr int32_t most_entries = 256;  // looked at
  Pattern<I> A;
  SampledKinds kinds;

  __device__ void operator()() const {
    const int64_t s = (static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x) >> 5;
    if (s < SampledKinds::rows) look(A, sampled_row(s, A.rows, SampledKinds::rows), kinds);
  }
  __device__ static void look(const Pattern<I>& A, int64_t i, const SampledKinds& kinds) {
    const int64_t begin = A.begin(i), length = A.end(i) - begin;
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const I first = length > 0 ? A.column(begin) : 0;
    uint64_t sum = 0;
    for (int32_t k = lane; k < length && k < most_entries; k += 32)
      sum += mixed(k, 0, static_cast<int32_t>(A.column(begin + k) - first));
    sum = gpu::subgroup_sum(sum, 32);
    if (lane != 0) return;
    if (length > 0) kinds.meet(mixed(sum + static_cast<uint64_t>(length)));
    kinds.looked(A.rows);
  }
};

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
    return {begin, length, length > 0 ? static_cast<int32_t>(B.column(begin)) : nowhere};
  }
  __device__ Signed at(const Row& row, int32_t k) const {
    return {0, static_cast<int32_t>(B.column(row.begin + k)) - row.base};
  }
  __device__ bool ascends(const Row& row, int32_t k) const {
    return k == 0 || B.columns[row.begin + k - 1] < B.columns[row.begin + k];
  }

  using Staged = int32_t;
  __device__ int64_t begin(int64_t i) const { return B.begin(i); }
  __device__ Staged staged(int64_t p) const { return static_cast<int32_t>(B.column(p)); }
  __device__ static int32_t base(const Staged* row, int32_t length) { return length > 0 ? row[0] : nowhere; }
  __device__ static Signed signed_of(Staged column) { return {0, column}; }
  __device__ static bool ascends(const Staged* row, int32_t k) { return k == 0 || row[k - 1] < row[k]; }
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
    int32_t base = nowhere;
#pragma unroll 4
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
    return {c.row, c.first == nowhere ? nowhere : c.first - row.base};
  }
  __device__ bool ascends(const Row&, int32_t) const { return true; }

  using Staged = RowClass;
  __device__ int64_t begin(int64_t i) const requires requires(const Left& A) { A.begin(i); }
  { return A.begin(i); }
  __device__ Staged staged(int64_t p) const { return classes[A.column(p)]; }
  __device__ static int32_t base(const Staged* row, int32_t length) {
    int32_t base = nowhere;  // of the first row of B that is not empty: as good as the leftmost
    for (int32_t k = 0; base == nowhere && k < length; ++k) base = row[k].first;
    return base;
  }
  __device__ static Signed signed_of(Staged c) { return {c.row, c.first}; }
  __device__ static bool ascends(const Staged*, int32_t) { return true; }
};

/// A subgroup a row: its class and its base. Each row is compared with its class's first at once.
template <class Signature>
struct ClassifyRows {
  static constexpr int threads = 256;
  Signature signature;
  int64_t rows;
  int32_t lanes_log2;
  ClassTable table;
  RowClass* classes;
  int32_t* broken;  // set when a row does not ascend strictly

  __device__ void operator()() const {
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
#pragma unroll 4  // few lanes may have a long row
      for (int32_t k = lane; k < row.length; k += lanes) {
        const Signed s = signature.at(row, k);
        sum += mixed(k, s.a, s.b);
      }
      sum = gpu::subgroup_sum(sum, lanes);
      int32_t like = 0;
      if (lane == 0)
        like = ClassTable::row_of(table.find(ClassTable::word(mixed(sum + static_cast<uint32_t>(row.length)), i), met));
      like = gpu::shuffle_from(like, 0, lanes);
      const auto other = signature.row(like, lane, lanes);
      bool same = row.length == other.length;
      if (same)
#pragma unroll 4
        for (int32_t k = lane; k < row.length; k += lanes) {
          const Signed a = signature.at(row, k), b = signature.at(other, k);
          same = same && a.a == b.a && a.b == b.b;
          if (!signature.ascends(row, k)) *broken = 1;
        }
      if (!same) *table.failed = 1;
      if (lane == 0) classes[i] = {row.base, like};
    }
  }
};

/// The same for rows of few entries that lie one behind the other: a warp stages 32 * Rows of them, a thread takes
/// every 32nd.
template <class Signature, int Rows>
struct ClassifyShortRows {
  static constexpr int threads = 128;
  using Staged = typename Signature::Staged;
  Signature signature;
  int64_t rows;
  int32_t longest;
  ClassTable table;
  RowClass* classes;
  int32_t* broken;

  static size_t shared_bytes(int64_t longest) { return threads * Rows * static_cast<size_t>(longest) * sizeof(Staged); }
  /// Several rows a thread are for short ones, of which as many threads as can be are under way.
  static bool takes(int64_t longest) {
    return longest * int64_t{threads * Rows * sizeof(Staged)} <= (Rows > 1 ? 24 : 48) * 1024;
  }

  __device__ void operator()() const {
    extern __shared__ char shared[];
    __shared__ unsigned long long met[64];
    if (*table.failed != 0) return;
    if (threadIdx.x < 64) met[threadIdx.x] = 0;
    __syncthreads();
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    Staged* const staged = reinterpret_cast<Staged*>(shared) + warp * 32 * Rows * longest;
    bool failed = false;
    for (int64_t first = (static_cast<int64_t>(blockIdx.x) * threads + warp * 32) * Rows; first < rows && !failed;
         first += static_cast<int64_t>(gridDim.x) * threads * Rows) {
      const bool has_failed = table.has_failed();  // asked for here, looked at when it has come
      int64_t begin[Rows], end[Rows];
#pragma unroll
      for (int u = 0; u < Rows; ++u) {
        const int64_t i = first + u * 32 + lane;
        begin[u] = signature.begin(i < rows ? i : rows);
        end[u] = signature.begin(i < rows ? i + 1 : rows);
      }
      const int64_t from = gpu::shuffle_from(begin[0], 0, 32);
      gpu::sync32();
      stage(staged, from, static_cast<int32_t>(gpu::shuffle_from(end[Rows - 1], 31, 32) - from), lane);
      gpu::sync32();
#pragma unroll
      for (int u = 0; u < Rows; ++u) {
        const int64_t i = first + u * 32 + lane;
        if (i < rows) classify(i, staged + (begin[u] - from), static_cast<int32_t>(end[u] - begin[u]), met);
      }
      failed = gpu::ballot32(has_failed) != 0;
    }
  }

  __device__ void stage(Staged* staged, int64_t from, int32_t total, int lane) const {
    constexpr int batch = 8;
    for (int32_t e = lane; e < total; e += 32 * batch) {
      Staged x[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (e + u * 32 < total) x[u] = signature.staged(from + e + u * 32);
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (e + u * 32 < total) staged[e + u * 32] = x[u];
    }
  }

  /// Returns the first row of the class.
  __device__ int32_t classify(int64_t i, const Staged* row, int32_t length, unsigned long long* met) const {
    const int32_t base = Signature::base(row, length);
    // Threads begin at different entries where rows may lie so far apart as to meet in a bank at each.
    const int32_t begin = length > 0 && length % 2 == 0 ? static_cast<int32_t>(threadIdx.x & 31u) % length : 0;
    unsigned long long sum = 0;
    bool ascends = true;
    for (int32_t n = 0, k = begin; n < length; ++n, k = k + 1 < length ? k + 1 : 0) {
      const Signed s = Signature::signed_of(row[k]);
      sum += mixed(k, s.a, s.b == nowhere ? nowhere : s.b - base);
      ascends = ascends && Signature::ascends(row, k);
    }
    if (!ascends) *broken = 1;
    const int32_t like =
        ClassTable::row_of(table.find(ClassTable::word(mixed(sum + static_cast<uint32_t>(length)), i), met));
    if (like != i && !same(row, length, begin, like)) *table.failed = 1;
    classes[i] = {base, like};
    return like;
  }

  __device__ bool same(const Staged* row, int32_t length, int32_t begin, int32_t other) const {
    const int64_t from = signature.begin(other);
    bool same = signature.begin(other + 1) - from == length, met = false;
    int32_t apart = 0;
    constexpr int batch = 4;
    for (int32_t n = 0, k = begin; same && n < length; n += batch) {
      Staged theirs[batch];
      int32_t at[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u, k = k + 1 < length ? k + 1 : 0) theirs[u] = signature.staged(from + (at[u] = k));
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        const Signed a = Signature::signed_of(row[at[u]]), b = Signature::signed_of(theirs[u]);
        same = same && a.a == b.a;
        if (a.b == nowhere) continue;
        if (!met) apart = b.b - a.b;
        met = true;
        same = same && b.b - a.b == apart;
      }
    }
    return same;
  }
};

/// Numbers the classes from 0 in any order. A thread a place.
struct NumberClasses {
  static constexpr int threads = 256;
  ClassTable table;
  int32_t* next;  // zero at first
  const RowClass* classes;
  uint16_t* number_of;  // each class's first row's
  int32_t* rows;        // [most_classes]
  int32_t* bases;       // [most_classes]

  __device__ void operator()() const {
    if (*table.failed != 0) return;
    const unsigned long long word = table.words[blockIdx.x * threads + threadIdx.x];
    const uint32_t taken = gpu::ballot32(word != 0);
    if (taken == 0) return;
    const int lane = static_cast<int>(threadIdx.x) & 31;
    int32_t number = 0;
    if (lane == 0) number = atomicAdd(next, __popc(taken));
    number = gpu::shuffle_from(number, 0, 32) + __popc(taken & ((1u << lane) - 1));
    if (word == 0) return;
    const int32_t row = ClassTable::row_of(word);
    number_of[row] = static_cast<uint16_t>(number);
    rows[number] = row;
    bases[number] = classes[row].first;
  }
};

/// The classes of all rows, their sizes from those of their classes, and sums of both kinds.
struct SizesOfClasses {
  static constexpr int threads = 256;
  const RowClass* classes;
  uint16_t* number_of;  // known for each class's first row
  const int32_t* class_counts;
  const int64_t* class_products;
  int64_t rows;
  int32_t *base_of, *counts;
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
      const RowClass mine = classes[i];
      const uint16_t number = number_of[mine.row];
      if (mine.row != i) number_of[i] = number;
      base_of[i] = mine.first;
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
