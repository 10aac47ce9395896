// What the plan does for a B with exactly one entry in every row: finds classes of rows that have the same distances
// from the row to A's columns and, relative to the first of them, the same columns of B; and what each class's row
// sums. Without classes: the products by entry of C.
#pragma once

#include "spgemm_gpu_aggregates_entries_kernels.hpp"
#include "spgemm_gpu_class_kernels.hpp"
#include "spgemm_gpu_rows_by_column.hpp"

namespace kkc::spgemm::gpu_parts {

inline constexpr int aggregate_places_log2 = 12;
inline constexpr int aggregate_places = 1 << aggregate_places_log2;
inline constexpr int32_t most_aggregate_classes = aggregate_places / 2;
inline constexpr int32_t rows_of_aggregate_class = 4;  // on average, or classes do not pay

/// A hash table whose place is the class. Each word, zero at first: 20 bits of the hash, the place, the row that stands
/// for the class plus one.
struct AggregateTable {
  unsigned long long* words;  // [aggregate_places]
  AggregateState* state;
  int32_t most_classes;

  __device__ static int32_t place_of(unsigned long long word) {
    return static_cast<int32_t>(word >> 32) & (aggregate_places - 1);
  }
  __device__ static int64_t row_of(unsigned long long word) { return static_cast<int64_t>(word & 0xffffffffu) - 1; }
  __device__ static uint32_t tag_of(unsigned long long word) {
    return static_cast<uint32_t>(word >> (32 + aggregate_places_log2));
  }
  /// What is at `place`, which the row takes if it is free.
  __device__ unsigned long long claim(int32_t place, uint32_t tag, int64_t row) const {
    unsigned long long there = words[place];  // may be seen as it was: then it is free, and the exchange tells
    if (there != 0) return there;
    const unsigned long long mine = static_cast<unsigned long long>(tag) << (32 + aggregate_places_log2) |
                                    static_cast<unsigned long long>(place) << 32 |
                                    static_cast<unsigned long long>(row + 1);
    there = atomicCAS(words + place, 0ull, mine);
    if (there != 0) return there;
    if (atomicAdd(&state->classes, 1) >= most_classes) state->failed = 1;
    return mine;
  }
  __device__ bool has_failed() const { return *static_cast<volatile int32_t*>(&state->failed) != 0; }
};

/// A column of A relative to the row, and the column of B that it leads to relative to the row's first.
struct alignas(8) Meeting {
  int32_t distance, column;
};

/// The class of each row: its place in the table. A warp stages its rows, each of which is then some lanes'.
template <class I>
struct ClassifyAggregates {
  static constexpr int threads = 128;
  Pattern<I> A;
  SingleEntries<I> B;
  int64_t rows;
  int32_t longest, lanes_log2;
  AggregateTable table;
  uint16_t* classes;
  int32_t* bases;  // B's column that a row's first entry leads to

  static size_t shared_bytes(int lanes_log2, int32_t longest) {
    return static_cast<size_t>(threads >> lanes_log2) * static_cast<size_t>(longest) * sizeof(Meeting);
  }

  __device__ void operator()() const {
    extern __shared__ char shared[];
    __shared__ unsigned long long met[64];  // words of the table that this block has seen
    if (table.has_failed()) return;
    if (threadIdx.x < 64) met[threadIdx.x] = 0;
    __syncthreads();
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    const int lanes = 1 << lanes_log2, part = lane & (lanes - 1), rows_of_warp = 32 >> lanes_log2;
    Meeting* const staged = reinterpret_cast<Meeting*>(shared) + warp * rows_of_warp * longest;
    const int64_t step = static_cast<int64_t>(gridDim.x) * (threads >> lanes_log2);
    for (int64_t first = (static_cast<int64_t>(blockIdx.x) * (threads / 32) + warp) * rows_of_warp; first < rows;
         first += step) {
      if (gpu::ballot32(table.has_failed()) != 0) return;
      const int64_t i = first + (lane >> lanes_log2);
      const bool mine = i < rows;
      const int64_t begin = A.begin(mine ? i : rows), end = A.begin(mine ? i + 1 : rows);
      const int64_t from = gpu::shuffle_from(begin, 0, 32);
      gpu::sync32();
      stage(staged, from, static_cast<int32_t>(gpu::shuffle_from(end, 31, 32) - from), lane);
      gpu::sync32();
      const Meeting* const row = staged + (begin - from);
      const auto length = static_cast<int32_t>(end - begin), at = static_cast<int32_t>(i);
      const int32_t base = length > 0 ? row[0].column : 0;
      uint32_t sum = 0;
      for (int32_t k = part; k < length; k += lanes) sum += mixed(k, row[k].distance - at, row[k].column - base);
      sum = gpu::subgroup_sum(sum, lanes) + static_cast<uint32_t>(length);
      sum = (sum ^ (sum >> 16)) * 0x7feb352du;
      sum = (sum ^ (sum >> 15)) * 0x846ca68bu;
      sum ^= sum >> 16;
      const int32_t place = find(i, mine, sum, row, length, base, lane, met);
      if (part == 0 && mine) {
        classes[i] = static_cast<uint16_t>(place);
        bases[i] = base;
      }
    }
  }

  __device__ static uint32_t mixed(int32_t k, int32_t a, int32_t b) {
    uint32_t x = static_cast<uint32_t>(a) * 0x85ebca6bu + static_cast<uint32_t>(b) * 0xc2b2ae35u +
                 static_cast<uint32_t>(k) * 0x27d4eb2fu;
    x = (x ^ (x >> 15)) * 0x2c1b3c6du;
    return x ^ (x >> 12);
  }

  __device__ void stage(Meeting* staged, int64_t from, int32_t total, int lane) const {
    constexpr int batch = 8;
    for (int32_t e = lane; e < total; e += 32 * batch) {
      int32_t j[batch], column[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (e + u * 32 < total) j[u] = static_cast<int32_t>(A.column(from + e + u * 32));
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (e + u * 32 < total) column[u] = B.column(j[u]);
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (e + u * 32 < total) staged[e + u * 32] = {j[u], column[u]};
    }
  }

  /// All lanes of the warp take part. What the block has met comes first, then the table from the hash's place on.
  __device__ int32_t find(int64_t i, bool mine, uint32_t hash, const Meeting* row, int32_t length, int32_t base,
                          int lane, unsigned long long* met) const {
    const int lanes = 1 << lanes_log2, part = lane & (lanes - 1);
    const uint32_t tag = hash >> aggregate_places_log2;
    // This row's lanes in a ballot.
    const uint32_t group = (lanes == 32 ? 0xffffffffu : (1u << lanes) - 1) << (lane - part);
    volatile unsigned long long* const last = met + (hash & 63u);
    auto place = static_cast<int32_t>(hash & (aggregate_places - 1));
    bool searching = mine, first = true;
    int32_t found = 0;
    for (int probe = 0; gpu::ballot32(searching) != 0; ++probe) {
      unsigned long long there = 0;
      if (searching && part == 0) {
        if (first) there = *last;
        if (!first) there = table.claim(place, tag, i);
      }
      there = gpu::shuffle_from(there, 0, lanes);
      const bool candidate = searching && there != 0 && AggregateTable::tag_of(there) == tag;
      bool same = candidate;
      if (candidate && AggregateTable::row_of(there) != i)
        same = equal(AggregateTable::row_of(there), static_cast<int32_t>(i), row, length, base, part, lanes);
      const uint32_t differing = gpu::ballot32(candidate && !same);
      if (candidate && (differing & group) == 0) {
        found = AggregateTable::place_of(there);
        if (!first && part == 0) *last = there;
        searching = false;
      }
      if (searching && !first) place = (place + 1) & (aggregate_places - 1);
      first = false;
      if (probe >= 4 && gpu::ballot32(table.has_failed()) != 0) break;  // the table may be full
    }
    return found;
  }

  __device__ bool equal(int64_t other, int32_t i, const Meeting* row, int32_t length, int32_t base, int part,
                        int lanes) const {
    const int64_t begin = A.begin(other);
    if (A.end(other) - begin != length) return false;
    if (length == 0) return true;
    const int32_t shift = B.column(static_cast<int64_t>(A.column(begin))) - base;
    const auto apart = static_cast<int32_t>(other) - i;
    bool same = true;
    constexpr int batch = 4;
    for (int32_t k = part; k < length; k += lanes * batch) {
      int32_t j[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (k + u * lanes < length) j[u] = static_cast<int32_t>(A.column(begin + k + u * lanes));
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (k + u * lanes < length) {
          const Meeting m = row[k + u * lanes];
          same = same && j[u] - apart == m.distance && B.column(j[u]) - shift == m.column;
        }
    }
    return same;
  }
};

/// Lengths of C's rows, for a scan.
template <class O>
struct ClassLengths {
  const uint16_t* classes;
  const int32_t* counts;

  template <int vector>
  __device__ void load(int64_t, int64_t i, O (&x)[vector]) const {
    struct alignas(2 * vector) Classes {
      uint16_t of[vector];
    };
    const Classes c = *reinterpret_cast<const Classes*>(classes + i);
#pragma unroll
    for (int k = 0; k < vector; ++k) x[k] = counts[c.of[k] & (aggregate_places - 1)];
  }
};

// ---- C, without classes ----

/// Marks the entries of C to which A's diagonal adds.
struct MarkDiagonalEntries {
  static constexpr int threads = 256;
  Offsets offsets;                   // of C
  const int32_t* entry_of_diagonal;  // in each row, plus one
  int64_t rows;
  uint32_t* row_of;
  AggregateState* state;

  __device__ void operator()() const {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (i >= rows) return;
    if (entry_of_diagonal[i] == 0)
      state->missing = 1;
    else
      row_of[offsets.at(i) + entry_of_diagonal[i] - 1] = static_cast<uint32_t>(i) | diagonal_entry;
  }
};

struct ListManyProducts {
  static constexpr int threads = 256, items = 4;
  const int32_t* starts;
  int64_t entries;
  int32_t* list;
  AggregateState* state;

  __device__ void operator()() const {
    const int64_t first = static_cast<int64_t>(blockIdx.x) * (threads * items) + threadIdx.x;
    int32_t count[items];
#pragma unroll
    for (int u = 0; u < items; ++u) {
      const int64_t e = first + u * threads;
      count[u] = e < entries ? starts[e + 1] - starts[e] : 0;
    }
#pragma unroll
    for (int u = 0; u < items; ++u)
      if (count[u] > most_of_thread) list[atomicAdd(&state->many, 1)] = static_cast<int32_t>(first + u * threads);
  }
};

}  // namespace kkc::spgemm::gpu_parts
