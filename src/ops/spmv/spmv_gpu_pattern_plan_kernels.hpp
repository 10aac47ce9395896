// Builds dictionaries of row and column patterns on the device: rows are hashed, hashes meet in a small table, one row
// of each stands for its pattern, and every row is compared with the pattern it was given. Matrices with many patterns
// are given up early.
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

/// What the passes find, in device memory; zero at first.
struct PatternTable {
  unsigned long long keys[pattern_slots];  // 0: free
  long long items[pattern_slots];          // a row or column of this hash
  int32_t lengths[pattern_slots];
  int32_t starts[pattern_slots];   // -1: left out
  int32_t numbers[pattern_slots];  // of the pattern, -1: left out
  unsigned long long left_out;     // entries in rows without a pattern, once compared
  int32_t abandoned;               // too many patterns
  int32_t used, patterns, relative, longest;
  int32_t listed;  // entries of all patterns so far
};

/// Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA'14, figure 14.
__device__ inline unsigned long long mix(unsigned long long x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
  return x ^ (x >> 31);
}

__device__ inline bool is_abandoned(const PatternTable& table) {
  return *const_cast<const volatile int32_t*>(&table.abandoned) != 0;
}

/// The slot of a key, new or known; -1 and the table abandoned when there is no room.
__device__ inline int find_slot(PatternTable& table, unsigned long long key, int64_t item, int32_t length) {
  for (int probe = 0; probe < pattern_probes; ++probe) {
    const int slot = static_cast<int>((key + static_cast<unsigned>(probe)) & (pattern_slots - 1));
    unsigned long long found = table.keys[slot];
    if (found != key && is_abandoned(table)) return -1;
    if (found != key) found = atomicCAS(&table.keys[slot], 0ull, key);
    if (found == 0) {
      table.items[slot] = item;
      table.lengths[slot] = length;
      if (atomicAdd(&table.used, 1) >= max_patterns || atomicAdd(&table.listed, length) + length > max_relative) break;
    }
    if (found == 0 || found == key) return slot;
  }
  table.abandoned = 1;
  return -1;
}

/// The same for 32 neighbours that mostly agree: their first asks for all of them.
__device__ inline int find_slot32(PatternTable& table, unsigned long long key, bool asks, int64_t item,
                                  int32_t length) {
  const bool first = (threadIdx.x & 31) == 0;
  const unsigned long long first_key = gpu::shuffle_from(key, 0, 32);
  int slot = -1;
  if (first && asks) slot = find_slot(table, key, item, length);
  const int first_slot = gpu::shuffle_from(slot, 0, 32);
  if (first || !asks) return slot;
  return key == first_key && first_slot >= 0 ? first_slot : find_slot(table, key, item, length);
}

/// 2^lanes_log2 lanes a row.
template <class I, class O>
struct HashRows {
  static constexpr int threads = 256;
  Offsets<O> A;
  PlainColumns<I> columns;
  PatternTable* table;
  uint16_t* slots;  // of each row
  int32_t lanes_log2;
  int32_t every;  // only each so many-th block's rows: a first look

  __device__ void operator()() const {
    if (is_abandoned(*table)) return;
    const int lanes = 1 << lanes_log2, lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const int64_t row = (static_cast<int64_t>(blockIdx.x) * every * threads + threadIdx.x) >> lanes_log2;
    unsigned long long key = 0;
    int64_t length = 0;
    int fits = row < A.rows;
    if (fits) {
      const int64_t begin = A.begin(row);
      length = A.begin(row + 1) - begin;
      fits = length <= longest_pattern;
      for (int64_t k = lane; fits && k < length; k += lanes) {
        const int64_t relative = static_cast<int64_t>(columns.at(begin + k)) - row;
        fits = relative == static_cast<int32_t>(relative);
        key += mix((static_cast<unsigned long long>(k + 1) << 32) | static_cast<uint32_t>(relative));
      }
    }
    for (int mask = lanes >> 1; mask > 0; mask >>= 1) {
      key += gpu::shuffle_xor(key, mask, lanes);
      fits &= gpu::shuffle_xor(fits, mask, lanes);
    }
    key = mix(key + static_cast<unsigned long long>(length)) | 1;
    const int slot = find_slot32(*table, key, fits != 0 && lane == 0, row, static_cast<int32_t>(length));
    if (lane == 0 && row < A.rows) slots[row] = slot < 0 ? no_pattern : static_cast<uint16_t>(slot);
  }
};

/// By one block of 1024: numbers the patterns in the order of their slots and finds their places.
__device__ inline void number_patterns(PatternTable& table, int32_t* starts, int32_t* lengths) {
  __shared__ int32_t counts[1024], sizes[1024];
  static_assert(pattern_slots == 2 * 1024);
  const int t = static_cast<int>(threadIdx.x);
  const bool kept0 = table.keys[2 * t] != 0, kept1 = table.keys[2 * t + 1] != 0;
  const int size0 = kept0 ? table.lengths[2 * t] : 0, size1 = kept1 ? table.lengths[2 * t + 1] : 0;
  counts[t] = kept0 + kept1;
  sizes[t] = min(size0, max_relative) + min(size1, max_relative);
  __syncthreads();
  for (int step = 1; step < 1024; step *= 2) {
    const int count = t >= step ? counts[t - step] : 0, size = t >= step ? sizes[t - step] : 0;
    __syncthreads();
    counts[t] += count;
    sizes[t] += size;
    __syncthreads();
  }
  int number = counts[t] - kept0 - kept1, start = sizes[t] - min(size0, max_relative) - min(size1, max_relative);
  for (int i = 0; i < 2; ++i) {
    const int slot = 2 * t + i, size = i == 0 ? size0 : size1;
    const bool used = i == 0 ? kept0 : kept1, kept = used && start + size <= max_relative;
    table.starts[slot] = kept ? start : -1;
    table.numbers[slot] = kept ? number : -1;
    if (used) {
      starts[number] = kept ? start : 0;
      lengths[number] = kept ? size : 0;
      ++number;
      start += min(size, max_relative);
      atomicMax(&table.longest, size);
    }
  }
  if (t == 1023) {
    table.patterns = counts[t];
    table.relative = min(sizes[t], max_relative);
  }
  __syncthreads();
}

/// One block: copies the patterns.
template <class I, class O>
struct CopyPatterns {
  static constexpr int threads = 1024;
  Offsets<O> A;
  PlainColumns<I> columns;
  PatternTable* table;
  int32_t *starts, *lengths;  // [pattern]
  int32_t* relative;          // [max_relative]

  __device__ void operator()() const {
    if (is_abandoned(*table)) return;
    number_patterns(*table, starts, lengths);
    for (int slot = static_cast<int>(threadIdx.x >> 5); slot < pattern_slots; slot += threads / 32) {
      if (table->keys[slot] == 0 || table->starts[slot] < 0) continue;
      const int64_t row = table->items[slot], begin = A.begin(row);
      for (int k = static_cast<int>(threadIdx.x) & 31; k < table->lengths[slot]; k += 32)
        relative[table->starts[slot] + k] = static_cast<int32_t>(static_cast<int64_t>(columns.at(begin + k)) - row);
    }
  }
};

/// Compares each row with its pattern, 2^lanes_log2 lanes a row, and describes groups of 32 rows. slots become ids.
template <class I, class O>
struct CheckPatterns {
  static constexpr int threads = 256;
  Offsets<O> A;
  PlainColumns<I> columns;
  PatternTable* table;
  const int32_t* relative;
  uint16_t* ids;
  RowGroup* groups;
  int32_t lanes_log2;

  __device__ void operator()() const {
    __shared__ int32_t agrees[threads];
    if (is_abandoned(*table)) return;
    const int thread = static_cast<int>(threadIdx.x), lanes = 1 << lanes_log2;
    const int64_t first = static_cast<int64_t>(blockIdx.x) * threads, row = first + thread;
    agrees[thread] = 1;
    __syncthreads();
    for (int r = thread >> lanes_log2; r < threads && first + r < A.rows; r += threads >> lanes_log2) {
      const int slot = ids[first + r];
      if (slot == no_pattern || table->starts[slot] < 0) {
        agrees[r] = 0;
        continue;
      }
      const int64_t begin = A.begin(first + r);
      const int length = table->lengths[slot];
      const int32_t* pattern = relative + table->starts[slot];
      bool same = A.begin(first + r + 1) - begin == length;
      for (int k = thread & (lanes - 1); same && k < length; k += lanes)
        same = static_cast<int64_t>(columns.at(begin + k)) - (first + r) == pattern[k];
      if (!same) agrees[r] = 0;
    }
    __syncthreads();
    int id = -1, start = 0;
    int64_t begin = 0, length = 0;
    if (row < A.rows) {
      begin = A.begin(row);
      length = A.begin(row + 1) - begin;
      if (agrees[thread] != 0) {
        start = table->starts[ids[row]];
        id = table->numbers[ids[row]];
      }
      ids[row] = id < 0 ? no_pattern : static_cast<uint16_t>(id);
      if (id < 0 && length > 0) atomicAdd(&table->left_out, static_cast<unsigned long long>(length));
    }
    const int first_id = gpu::shuffle_from(id, 0, 32);
    const bool uniform = gpu::ballot32(id == first_id && id >= 0 && length > 0) == 0xffffffffu;
    if ((thread & 31) == 0 && row < A.rows) {
      groups[row >> 5] = uniform ? RowGroup{begin, start, static_cast<uint16_t>(length), static_cast<uint16_t>(id)}
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
      for (int i = thread; i < table->relative; i += threads) {
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
  const int32_t *starts, *lengths;
  const int32_t* relative;
  DiagonalTable* diagonals;
  int32_t* positions;

  __device__ void operator()() const {
    const int pattern = static_cast<int>(blockIdx.x);
    if (is_abandoned(*table) || diagonals->count < 0 || pattern >= table->patterns) return;
    for (int k = static_cast<int>(threadIdx.x); k < lengths[pattern]; k += threads) {
      const int32_t d = relative[starts[pattern] + k];
      int low = 0, high = diagonals->count - 1;
      while (low < high) {
        const int middle = (low + high) / 2;
        if (diagonals->distance[middle] < d)
          low = middle + 1;
        else
          high = middle;
      }
      if (atomicCAS(&positions[pattern * max_diagonals + low], -1, k) != -1) diagonals->repeated = 1;
    }
  }
};

/// Finds the entry of a column on a diagonal: its row's place, -1: none.
struct ColumnReader {
  const uint16_t* row_ids;
  const int32_t* positions;
  const DiagonalTable* diagonals;
  int64_t rows;

  __device__ int at(int64_t column, int diagonal) const {
    const int64_t row = column - diagonals->distance[diagonal];
    if (row < 0 || row >= rows || row_ids[row] == no_pattern) return -1;
    return positions[row_ids[row] * max_diagonals + diagonal];
  }
};

/// A column a thread.
struct HashColumns {
  static constexpr int threads = 256;
  ColumnReader reader;
  PatternTable* table;
  uint16_t* slots;
  int64_t cols;

  __device__ void operator()() const {
    const int64_t column = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    const int count = reader.diagonals->count;
    if (is_abandoned(*table) || count < 0 || reader.diagonals->repeated != 0) return;
    unsigned long long key = 0;
    int length = 0;
    if (column < cols) {
      for (int d = 0; d < count; ++d) {
        const int position = reader.at(column, d);
        if (position < 0) continue;
        key += mix((static_cast<unsigned long long>(d + 1) << 32) | static_cast<uint32_t>(position));
        ++length;
      }
    }
    key = mix(key + static_cast<unsigned long long>(length)) | 1;
    const int slot = find_slot32(*table, key, column < cols, column, length);
    if (column < cols) slots[column] = slot < 0 ? no_pattern : static_cast<uint16_t>(slot);
  }
};

/// One block: copies the columns' patterns.
struct CopyColumns {
  static constexpr int threads = 1024;
  ColumnReader reader;
  PatternTable* table;
  int32_t *starts, *lengths;
  ColumnEntry* entries;  // [max_relative]

  __device__ void operator()() const {
    if (is_abandoned(*table)) return;
    number_patterns(*table, starts, lengths);
    const int lane = static_cast<int>(threadIdx.x) & 31, count = reader.diagonals->count;
    for (int slot = static_cast<int>(threadIdx.x >> 5); slot < pattern_slots; slot += threads / 32) {
      if (table->keys[slot] == 0 || table->starts[slot] < 0) continue;
      int place = table->starts[slot];
      for (int d0 = 0; d0 < count; d0 += 32) {
        const int d = d0 + lane, position = d < count ? reader.at(table->items[slot], d) : -1;
        const uint32_t there = gpu::ballot32(position >= 0);
        if (position >= 0)
          entries[place + __popc(there & ((1u << lane) - 1))] = {-reader.diagonals->distance[d], position};
        place += __popc(there);
      }
    }
  }
};

/// Compares each column with its pattern; a column that differs abandons the table. slots become ids.
struct CheckColumns {
  static constexpr int threads = 256;
  ColumnReader reader;
  PatternTable* table;
  const ColumnEntry* entries;
  uint16_t* ids;
  int64_t cols;

  __device__ void operator()() const {
    const int64_t column = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (column >= cols || is_abandoned(*table)) return;
    const int slot = ids[column], count = reader.diagonals->count;
    int k = 0;
    bool same = slot != no_pattern && table->starts[slot] >= 0;
    for (int d = 0; same && d < count; ++d) {
      const int position = reader.at(column, d);
      if (position < 0) continue;
      same = k < table->lengths[slot] && entries[table->starts[slot] + k].distance == -reader.diagonals->distance[d] &&
             entries[table->starts[slot] + k].position == position;
      ++k;
    }
    if (!same || k != table->lengths[slot]) {
      table->abandoned = 1;
      return;
    }
    ids[column] = static_cast<uint16_t>(table->numbers[slot]);
  }
};

}  // namespace kkc::spmv::gpu_parts
