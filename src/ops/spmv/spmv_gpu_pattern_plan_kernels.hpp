// Builds dictionaries of row and column patterns on the device in one pass: a small table names one row for each
// pattern, found by a hash, and every row is compared with the row that stands for it, so hashes that collide do no
// harm. Matrices with many patterns are given up early.
#pragma once

#include "spmv_gpu_plan_kernels.hpp"
#include "spmv_gpu_row_pattern_kernels.hpp"

namespace kkc::spmv::gpu_parts {

inline constexpr int pattern_slots = 2048;
inline constexpr int pattern_probes = 16;
inline constexpr int max_patterns = 1024;
inline constexpr int max_relative = 1 << 16;  // entries of all patterns together
inline constexpr int max_diagonals = 512;
inline constexpr int longest_pattern = 2048;

/// What the host needs of a table.
struct PatternFacts {
  unsigned long long left_out;          // entries in rows without a pattern
  int32_t abandoned;                    // too many patterns
  int32_t patterns, longest, relative;  // relative: entries of all patterns
};

/// What a pass finds, in device memory; zero at first. A pattern's id is its slot.
struct PatternTable {
  /// 0: free; else 24 bits of a hash and 1 + the row or column that stands for the pattern, of 40 bits.
  unsigned long long words[pattern_slots];
  int32_t lengths[pattern_slots];
  int32_t starts[pattern_slots];  // among the entries of all patterns
  PatternFacts facts;
};
inline constexpr int64_t most_items = (int64_t{1} << 40) - 2;
inline constexpr unsigned long long item_bits = (1ull << 40) - 1;
inline constexpr unsigned long long abandoned_word = ~0ull;  // no item's

/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA'14, figure 14.
__device__ inline unsigned long long mix(unsigned long long x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

/// What other blocks of this launch found as well.
__device__ inline bool is_abandoned_now(const PatternTable& table) { return load_fresh(&table.facts.abandoned) != 0; }
/// What earlier launches found.
__device__ inline bool is_abandoned(const PatternTable& table) { return table.facts.abandoned != 0; }

/// Whether `condition` holds in all of a subgroup's lanes, at most 16.
__device__ inline bool all_of(bool condition, int lanes) {
  const uint32_t there = gpu::ballot32(condition), lane = threadIdx.x & 31u;
  const uint32_t mine = ((1u << lanes) - 1) << (lane & ~static_cast<uint32_t>(lanes - 1));
  return (there & mine) == mine;
}

/// By all 32 neighbours together: the slot of `item`, whose hash and length they know, new or known; -1 and the table
/// abandoned when there is no room. `seen` is the block's copy of the words, which saves most questions to the one
/// table that all blocks share; `same(other)` compares items.
template <class Same>
__device__ inline int find_slot32(PatternTable& table, unsigned long long* seen, unsigned long long hash, int64_t item,
                                  int32_t length, int64_t& representative, const Same& same) {
  const unsigned long long tag = hash >> 40, word = tag << 40 | static_cast<unsigned long long>(item + 1);
  const bool first = (threadIdx.x & 31) == 0;
  for (int probe = 0; probe < pattern_probes; ++probe) {
    const int slot = static_cast<int>((hash + static_cast<unsigned>(probe)) & (pattern_slots - 1));
    unsigned long long found = 0;
    if (first) {
      found = atomicCAS(&seen[slot], 0ull, 0ull);
      if (found == 0) {
        found = is_abandoned_now(table) ? abandoned_word : atomicCAS(&table.words[slot], 0ull, word);
        if (found != abandoned_word) atomicCAS(&seen[slot], 0ull, found == 0 ? word : found);
        if (found == 0) {
          const int32_t start = atomicAdd(&table.facts.relative, length);
          table.lengths[slot] = length;
          table.starts[slot] = start;
          atomicMax(&table.facts.longest, length);
          if (atomicAdd(&table.facts.patterns, 1) >= max_patterns || start + length > max_relative)
            table.facts.abandoned = 1;
        }
      }
    }
    found = gpu::shuffle_from(found, 0, 32);
    if (found == abandoned_word) return -1;
    if (found == 0) {
      representative = item;
      return slot;
    }
    if (found >> 40 != tag) continue;
    representative = static_cast<int64_t>(found & item_bits) - 1;
    if (same(representative)) return slot;
  }
  table.facts.abandoned = 1;
  return -1;
}

/// By a block: its copy of the table's words.
__device__ inline void copy_words(const PatternTable& table, unsigned long long* seen) {
  for (int i = static_cast<int>(threadIdx.x); i < pattern_slots; i += static_cast<int>(blockDim.x))
    seen[i] = table.words[i];
  __syncthreads();
}

/// Finds the pattern of each row, 2^lanes_log2 lanes a row. Most rows are alike, so a row is compared with the two
/// patterns that its lanes met last before the table is asked.
template <class I, class O>
struct FindPatterns {
  static constexpr int threads = 256;
  static constexpr int blocks_per_sm = 6;  // few loads of a thread are under way at once
  Offsets<O> A;
  PlainColumns<I> columns;
  PatternTable* table;
  uint16_t* ids;  // of each row
  int32_t lanes_log2;
  bool sample;  // a first look: one turn of each block, blocks all over the matrix

  struct Row {
    int64_t row, begin;
    int32_t length;
  };
  __device__ Row row_at(int64_t row) const {
    const int64_t begin = A.begin(row), length = A.begin(row + 1) - begin;
    return {row, begin, static_cast<int32_t>(length < longest_pattern + 1 ? length : longest_pattern + 1)};
  }
  __device__ int64_t relative(const Row& r, int k) const {
    return static_cast<int64_t>(columns.at(r.begin + k)) - r.row;
  }
  /// Entries lane, lane + lanes, ... of two rows; loads of a batch are under way at once.
  __device__ bool agree(const Row& a, const Row& b, int lane, int lanes) const {
    if (a.length != b.length) return false;
    constexpr int batch = 8;
    bool same = true;
    for (int k = lane; same && k < a.length; k += batch * lanes) {
      int64_t left[batch], right[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        const int i = k + u * lanes;
        left[u] = i < a.length ? relative(a, i) : 0;
        right[u] = i < a.length ? relative(b, i) : 0;
      }
#pragma unroll
      for (int u = 0; u < batch; ++u) same &= left[u] == right[u];
    }
    return same;
  }
  __device__ void operator()() const {
    __shared__ unsigned long long seen[pattern_slots];
    copy_words(*table, seen);
    const int lanes = 1 << lanes_log2, lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const int thread32 = static_cast<int>(threadIdx.x) & 31;
    const int64_t here = static_cast<int64_t>(threads) >> lanes_log2, turns = (A.rows + here - 1) / here;
    const int64_t turn0 = sample ? turns * blockIdx.x / gridDim.x : blockIdx.x;
    Row last{0, 0, -1}, previous = last;
    int last_slot = -1, previous_slot = -1;
    for (int64_t turn = turn0; turn < turns; turn += sample ? turns : gridDim.x) {
      const int64_t row = turn * here + (threadIdx.x >> lanes_log2);
      const int64_t row32 = row - (thread32 >> lanes_log2);  // the first of these neighbours
      const bool there = row < A.rows;
      const Row mine = there ? row_at(row) : Row{row, 0, -1};
      int slot = all_of(there && agree(mine, last, lane, lanes), lanes) ? last_slot : -1;
      uint32_t open = gpu::ballot32(there && slot < 0);
      if (open != 0) {
        const bool wants = there && slot < 0;
        if (all_of(wants && agree(mine, previous, lane, lanes), lanes)) {
          slot = previous_slot;
          previous_slot = last_slot;
          last_slot = slot;
          const Row swapped = previous;
          previous = last;
          last = swapped;
        }
        open = gpu::ballot32(there && slot < 0);
      }
      while (open != 0) {
        const int leader = __ffs(static_cast<int>(open)) - 1;
        const Row asked = row_at(row32 + (leader >> lanes_log2));
        unsigned long long hash = 0;
        bool fits = asked.length <= longest_pattern;
        for (int k = thread32; fits && k < asked.length; k += 32) {
          const int64_t d = relative(asked, k);
          // INT32_MIN marks free places in tables of diagonals.
          if (d != static_cast<int32_t>(d) || d == INT32_MIN) fits = false;
          hash += mix((static_cast<unsigned long long>(k + 1) << 32) | static_cast<uint32_t>(d));
        }
        fits = gpu::ballot32(!fits) == 0;
        for (int mask = 16; mask > 0; mask >>= 1) hash += gpu::shuffle_xor(hash, mask, 32);
        hash = mix(hash + static_cast<unsigned long long>(asked.length));
        int found = no_pattern;
        int64_t representative = asked.row;
        if (fits) {
          found = find_slot32(*table, seen, hash, asked.row, asked.length, representative, [&](int64_t other) {
            return gpu::ballot32(!agree(asked, row_at(other), thread32, 32)) == 0;
          });
          if (found < 0) return;
        } else if (thread32 == 0 && !sample) {
          atomicAdd(&table->facts.left_out, static_cast<unsigned long long>(A.begin(asked.row + 1) - asked.begin));
        }
        const Row pattern = row_at(representative);
        const bool wants = there && slot < 0;
        const bool same = fits ? all_of(wants && agree(mine, pattern, lane, lanes), lanes) : mine.row == asked.row;
        if (same && wants) {
          slot = found;
          if (fits) {
            previous = last;
            previous_slot = last_slot;
            last = pattern;
            last_slot = slot;
          }
        }
        open = gpu::ballot32(there && slot < 0);
      }
      if (lane == 0 && there) ids[row] = static_cast<uint16_t>(slot);
    }
  }
};

/// Describes groups of 32 rows, and copies the patterns' columns.
template <class I, class O>
struct DescribeRows {
  static constexpr int threads = 256;
  Offsets<O> A;
  PlainColumns<I> columns;
  const PatternTable* table;
  const uint16_t* ids;
  RowGroup* groups;
  int32_t* starts;    // [pattern_slots]
  int32_t* lengths;   // [pattern_slots]
  int32_t* relative;  // [max_relative]

  __device__ void operator()() const {
    if (is_abandoned(*table)) return;
    const int64_t item = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x, row = item;
    const int lane = static_cast<int>(threadIdx.x) & 31;
    for (int64_t slot = item >> 5; slot < pattern_slots; slot += (static_cast<int64_t>(gridDim.x) * threads) >> 5) {
      const unsigned long long word = table->words[slot];
      const int length = word == 0 ? 0 : table->lengths[slot], start = word == 0 ? 0 : table->starts[slot];
      if (lane == 0) {
        starts[slot] = start;
        lengths[slot] = length;
      }
      if (word == 0) continue;
      const int64_t from = static_cast<int64_t>(word & item_bits) - 1, begin = A.begin(from);
      for (int k = lane; k < length; k += 32)
        relative[start + k] = static_cast<int32_t>(static_cast<int64_t>(columns.at(begin + k)) - from);
    }
    const bool there = row < A.rows;
    const int id = there ? ids[row] : no_pattern;
    const int64_t begin = there ? A.begin(row) : 0;
    const int length = id == no_pattern ? 0 : table->lengths[id];
    const int first_id = gpu::shuffle_from(id, 0, 32);
    const bool uniform = gpu::ballot32(id == first_id && length > 0) == 0xffffffffu;
    if (lane == 0 && there) {
      groups[row >> 5] =
          uniform ? RowGroup{begin, table->starts[id], static_cast<uint16_t>(length), static_cast<uint16_t>(id)}
                  : RowGroup{begin, 0, 0, 0};
    }
  }
};

/// What is known of the diagonals, in device memory.
struct DiagonalTable {
  int32_t distance[max_diagonals];  // column - row, ascending
  int32_t count;                    // -1: more than max_diagonals
  int32_t repeated;                 // a row names a column twice
};

/// One block: the diagonals of all patterns.
struct CollectDiagonals {
  static constexpr int threads = 1024;
  const PatternTable* table;
  const int32_t* relative;
  DiagonalTable* diagonals;

  __device__ void operator()() const {
    __shared__ int32_t found[2 * max_diagonals];
    __shared__ int32_t total;
    constexpr int32_t empty = INT32_MIN;
    const int thread = static_cast<int>(threadIdx.x);
    for (int i = thread; i < 2 * max_diagonals; i += threads) found[i] = empty;
    if (thread == 0) total = 0;
    __syncthreads();
    if (!is_abandoned(*table)) {
      for (int i = thread; i < table->facts.relative; i += threads) {
        const int32_t d = relative[i];
        for (int probe = 0; probe < 2 * max_diagonals; ++probe) {
          const int slot = static_cast<int>((static_cast<uint32_t>(d) * 0x9e3779b1u + static_cast<uint32_t>(probe)) &
                                            (2 * max_diagonals - 1));
          const int32_t seen = atomicCAS(&found[slot], empty, d);
          if (seen == empty) atomicAdd(&total, 1);
          if (seen == empty || seen == d) break;
        }
      }
    }
    __syncthreads();
    if (total <= max_diagonals) {
      for (int i = thread; i < 2 * max_diagonals; i += threads) {
        if (found[i] == empty) continue;
        int rank = 0;
        for (int j = 0; j < 2 * max_diagonals; ++j) rank += found[j] != empty && found[j] < found[i];
        diagonals->distance[rank] = found[i];
      }
    }
    if (thread == 0) diagonals->count = total <= max_diagonals ? total : -1;
  }
};

/// positions[pattern][diagonal]: entry of the row on this diagonal; -1, which they are before: none. A block a pattern.
struct PlacePatterns {
  static constexpr int threads = 128;
  const PatternTable* table;
  const int32_t* relative;
  DiagonalTable* diagonals;
  int16_t* positions;  // [pattern_slots][max_diagonals]

  __device__ void operator()() const {
    const int pattern = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
    if (is_abandoned(*table) || diagonals->count < 0 || table->words[pattern] == 0) return;
    __shared__ int32_t found[max_diagonals];
    for (int d = thread; d < diagonals->count; d += threads) found[d] = -1;
    __syncthreads();
    for (int k = thread; k < table->lengths[pattern]; k += threads) {
      const int32_t d = relative[table->starts[pattern] + k];
      int low = 0, high = diagonals->count - 1;
      while (low < high) {
        const int middle = (low + high) / 2;
        if (diagonals->distance[middle] < d)
          low = middle + 1;
        else
          high = middle;
      }
      if (atomicCAS(&found[low], -1, k) != -1) diagonals->repeated = 1;
    }
    __syncthreads();
    for (int d = thread; d < diagonals->count; d += threads)
      positions[pattern * max_diagonals + d] = static_cast<int16_t>(found[d]);
  }
};

/// Finds the entry of a column on a diagonal: its row's place, -1: none.
struct ColumnReader {
  const uint16_t* row_ids;
  const int16_t* positions;
  const DiagonalTable* diagonals;
  int64_t rows;

  __device__ int at(int64_t column, int diagonal) const {
    const int64_t row = column - diagonals->distance[diagonal];
    if (row < 0 || row >= rows) return -1;
    const int id = row_ids[row];
    return id == no_pattern ? -1 : positions[id * max_diagonals + diagonal];
  }
  /// Whether two columns have the same entry on a diagonal; mostly seen from the rows' patterns.
  __device__ bool agree(int64_t a, int64_t b, int diagonal) const {
    const int64_t distance = diagonals->distance[diagonal], row_a = a - distance, row_b = b - distance;
    const int id_a = row_a < 0 || row_a >= rows ? no_pattern : row_ids[row_a];
    const int id_b = row_b < 0 || row_b >= rows ? no_pattern : row_ids[row_b];
    if (id_a == id_b) return true;
    const int at_a = id_a == no_pattern ? -1 : positions[id_a * max_diagonals + diagonal];
    const int at_b = id_b == no_pattern ? -1 : positions[id_b * max_diagonals + diagonal];
    return at_a == at_b;
  }
};

/// Finds the pattern of each column, as FindPatterns does of rows; more lanes a column where there are many diagonals.
struct FindColumns {
  static constexpr int threads = 256;
  static constexpr int blocks_per_sm = 6;
  ColumnReader reader;
  const PatternTable* rows;
  PatternTable* table;
  uint16_t* ids;
  int64_t cols;

  __device__ void operator()() const {
    __shared__ unsigned long long seen[pattern_slots];
    const int count = reader.diagonals->count;
    if (is_abandoned(*rows) || count < 0 || reader.diagonals->repeated != 0) return;
    copy_words(*table, seen);
    const int lanes_log2 = count <= 12 ? 0 : count <= 40 ? 2 : 4, lanes = 1 << lanes_log2;
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1), thread32 = static_cast<int>(threadIdx.x) & 31;
    const int64_t here = static_cast<int64_t>(threads) >> lanes_log2;
    int64_t last = -1, previous = -1;
    int last_slot = -1, previous_slot = -1;
    for (int64_t first = blockIdx.x * here; first < cols; first += gridDim.x * here) {
      const int64_t column = first + (threadIdx.x >> lanes_log2), column32 = column - (thread32 >> lanes_log2);
      const bool there = column < cols;
      int slot = all_of(there && agree(column, last, lane, lanes, count), lanes) ? last_slot : -1;
      uint32_t open = gpu::ballot32(there && slot < 0);
      if (open != 0) {
        const bool wants = there && slot < 0;
        if (all_of(wants && agree(column, previous, lane, lanes, count), lanes)) {
          slot = previous_slot;
          previous_slot = last_slot;
          last_slot = slot;
          const int64_t swapped = previous;
          previous = last;
          last = swapped;
        }
        open = gpu::ballot32(there && slot < 0);
      }
      while (open != 0) {
        const int64_t asked = column32 + ((__ffs(static_cast<int>(open)) - 1) >> lanes_log2);
        unsigned long long hash = 0;
        int length = 0;
        for (int d = thread32; d < count; d += 32) {
          const int position = reader.at(asked, d);
          if (position < 0) continue;
          hash += mix((static_cast<unsigned long long>(d + 1) << 32) | static_cast<uint32_t>(position));
          ++length;
        }
        for (int mask = 16; mask > 0; mask >>= 1) {
          hash += gpu::shuffle_xor(hash, mask, 32);
          length += gpu::shuffle_xor(length, mask, 32);
        }
        int64_t representative = asked;
        const int found = find_slot32(*table, seen, mix(hash), asked, length, representative, [&](int64_t other) {
          return gpu::ballot32(!agree(asked, other, thread32, 32, count)) == 0;
        });
        if (found < 0) return;
        const bool wants = there && slot < 0;
        if (all_of(wants && agree(column, representative, lane, lanes, count), lanes)) {
          previous = last;
          previous_slot = last_slot;
          slot = last_slot = found;
          last = representative;
        }
        open = gpu::ballot32(there && slot < 0);
      }
      if (lane == 0 && there) ids[column] = static_cast<uint16_t>(slot);
    }
  }

 private:
  /// Diagonals lane, lane + lanes, ...; loads of a batch are under way at once.
  __device__ bool agree(int64_t a, int64_t b, int lane, int lanes, int count) const {
    constexpr int batch = 8;
    bool same = b >= 0;
    for (int d = lane; same && d < count; d += batch * lanes)
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (d + u * lanes < count) same &= reader.agree(a, b, d + u * lanes);
    return same;
  }
};

/// Copies the columns' patterns: a block a pattern.
struct CopyColumns {
  static constexpr int threads = 32;
  ColumnReader reader;
  const PatternTable* table;
  int32_t* starts;   // [pattern_slots]
  int32_t* lengths;  // [pattern_slots]
  ColumnEntry* entries;

  __device__ void operator()() const {
    if (is_abandoned(*table)) return;
    const int lane = static_cast<int>(threadIdx.x), slot = static_cast<int>(blockIdx.x),
              count = reader.diagonals->count;
    if (table->words[slot] == 0) return;
    const int64_t column = static_cast<int64_t>(table->words[slot] & item_bits) - 1;
    int place = table->starts[slot];
    if (lane == 0) {
      starts[slot] = place;
      lengths[slot] = table->lengths[slot];
    }
    for (int d0 = 0; d0 < count; d0 += 32) {
      const int d = d0 + lane, position = d < count ? reader.at(column, d) : -1;
      const uint32_t there = gpu::ballot32(position >= 0);
      if (position >= 0)
        entries[place + __popc(there & ((1u << lane) - 1))] = {-reader.diagonals->distance[d], position};
      place += __popc(there);
    }
  }
};

}  // namespace kkc::spmv::gpu_parts
