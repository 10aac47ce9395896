// Sorted unions of rows on GPUs: what levels of fill and candidates of thresholded factors are made of. A block puts
// the columns of a row into a hash table in shared memory (Nagasaka, Nukada, Matsuoka, "High-performance and
// memory-saving sparse general matrix-matrix multiplication for NVIDIA Pascal GPU", ICPP'17, section III) and goes to
// the next larger table with those that do not fit; the longest rows mark bits in global memory.
#pragma once

#include "device/gpu_bitonic.hpp"
#include "device/gpu_hash_accumulator.hpp"
#include "device/gpu_launch.hpp"
#include "device/gpu_scalar.hpp"
#include "device/gpu_warp.hpp"

namespace kkc::ilu_pattern::gpu_parts {

/// Rows that ascend strictly, each with its diagonal entry.
template <class I>
struct RowsView {
  const int64_t *offsets, *diagonal;  // diagonal: place of (i, i); not read where nothing is multiplied
  const I* columns;
  const uint8_t* levels;  // null: all 0
};

/// Place of `column` in columns[low..high), which ascend strictly, or -1.
template <class I>
__device__ inline int64_t place_of(const I* columns, int64_t low, int64_t high, I column) {
  const int64_t end = high;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (columns[middle] < column)
      low = middle + 1;
    else
      high = middle;
  }
  return low < end && columns[low] == column ? low : -1;
}

/// target[i] = source[i]
template <class To, class From>
struct Convert {
  static constexpr int threads = 256;
  const From* source;
  int64_t count;
  To* target;

  __device__ void operator()() const {
    const int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i < count) target[i] = static_cast<To>(source[i]);
  }
};

/// The union of row i with column i, row i of another pattern, and what lies right of the diagonal in the rows of its
/// columns left of the diagonal.
template <class I>
struct RowUnion {
  RowsView<I> rows;
  RowsView<I> more;  // without offsets: none
  bool lower;        // only columns up to the diagonal
  int level;         // of added entries: from pairs of levels that add up to one less; 0: none

  /// take(column) for each column, some several times, by all threads of the block, until it says no.
  template <class Take>
  __device__ void each(int64_t i, const Take& take) const {
    const int thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    if (thread == 0) take(static_cast<I>(i));
    if (!own(rows, i, take) || (more.offsets != nullptr && !own(more, i, take)) || level == 0) return;
    constexpr int lanes = 8;
    const int64_t end = rows.diagonal[i];
    for (int64_t p = rows.offsets[i] + thread / lanes; p < end; p += threads / lanes) {
      const int wanted = level - 1 - level_at(p);
      const int64_t h = rows.columns[p], h_end = rows.offsets[h + 1];
      for (int64_t q = rows.diagonal[h] + 1 + thread % lanes; q < h_end; q += lanes)
        if (level_at(q) == wanted && !take(rows.columns[q])) return;
    }
  }

  __device__ int level_at(int64_t p) const { return rows.levels != nullptr ? rows.levels[p] : 0; }
  /// Of an entry of the union.
  __device__ int level_of(int64_t i, I column) const {
    const int64_t p = place_of(rows.columns, rows.offsets[i], rows.offsets[i + 1], column);
    return p < 0 ? level : level_at(p);
  }

 private:
  template <class Take>
  __device__ bool own(const RowsView<I>& from, int64_t i, const Take& take) const {
    const int64_t end = from.offsets[i + 1];
    for (int64_t p = from.offsets[i] + threadIdx.x; p < end; p += blockDim.x) {
      const I column = from.columns[p];
      if (!(lower && column > i) && !take(column)) return false;
    }
    return true;
  }
};

/// Where the union's rows go; their diagonals too.
template <class I>
struct RowsTarget {
  const int64_t* offsets;
  int64_t* diagonal;
  I* columns;
  uint8_t* levels;  // null: not wanted

  __device__ void put(const RowUnion<I>& from, int64_t i, int64_t place, I column) const {
    columns[place] = column;
    if (levels != nullptr) levels[place] = static_cast<uint8_t>(from.level_of(i, column));
    if (column == i) diagonal[i] = place;
  }
};

/// Rows for one size of table.
template <class I>
struct RowList {
  const I* rows;  // null: all
  int64_t count;

  __device__ int64_t at(int64_t k) const { return rows != nullptr ? static_cast<int64_t>(rows[k]) : k; }
};

template <class I, int places_log2>
struct UnionTable {
  static constexpr int places = 1 << places_log2, most = places / 4 * 3;
  static constexpr int threads = places_log2 <= 6 ? 32 : places / (places_log2 <= 8 ? 4 : 8);
  using Unsigned = std::make_unsigned_t<I>;

  /// False when the table would be more than three quarters full; leaves the block in step. `held`: columns in it.
  __device__ static bool fill(const RowUnion<I>& from, int64_t i, I* keys, int* held) {
    const gpu::HashAccumulator<I, void> table{keys, nullptr, places - 1};
    const int thread = static_cast<int>(threadIdx.x);
    table.clear(thread, threads);
    if (thread == 0) *held = 0;
    __syncthreads();
    from.each(i, [&](I column) {
      if (*static_cast<volatile int*>(held) > most) return false;
      bool fresh = false;
      const int place = table.insert(column, fresh);
      if (fresh) atomicAdd(held, 1);
      return place >= 0;
    });
    __syncthreads();
    return *held <= most;
  }
};

/// counts[i] for rows whose union fits the table, the others become a list.
template <class I, int places_log2>
struct CountUnion {
  using Table = UnionTable<I, places_log2>;
  static constexpr int threads = Table::threads;
  RowUnion<I> from;
  RowList<I> list;
  int32_t* counts;
  I* longer;
  unsigned long long* longer_count;

  __device__ void operator()() const {
    __shared__ I keys[Table::places];
    __shared__ int held;
    const int64_t i = list.at(blockIdx.x);
    const bool fits = Table::fill(from, i, keys, &held);
    if (threadIdx.x != 0) return;
    if (fits)
      counts[i] = held;
    else
      longer[atomicAdd(longer_count, 1ull)] = static_cast<I>(i);
  }
};

template <class I, int places_log2>
struct WriteUnion {
  using Table = UnionTable<I, places_log2>;
  static constexpr int threads = Table::threads;
  RowUnion<I> from;
  RowList<I> list;
  RowsTarget<I> to;

  __device__ void operator()() const {
    __shared__ I keys[Table::places];
    __shared__ int held;
    using Unsigned = typename Table::Unsigned;
    const int64_t i = list.at(blockIdx.x), first = to.offsets[i], count = to.offsets[i + 1] - first;
    if (count > Table::most) return;
    Table::fill(from, i, keys, &held);
    // Places without a key are the greatest number.
    gpu::bitonic_sort_shared(reinterpret_cast<Unsigned*>(keys), Table::places,
                             [](Unsigned a, Unsigned b) { return a < b; });
    for (int e = static_cast<int>(threadIdx.x); e < count; e += threads) to.put(from, i, first + e, keys[e]);
  }
};

/// For rows of any length: a bit for each column, in global memory, and some for each block; zero before and after.
template <class I>
struct MarkUnion {
  static constexpr int threads = 1024, warps = threads / 32;
  RowUnion<I> from;
  RowList<I> list;
  uint32_t* marks;  // words for each block
  int64_t words;
  int32_t* counts;   // null: the rows are written
  RowsTarget<I> to;  // with counts: not read

  __device__ void operator()() const {
    for (int64_t k = blockIdx.x; k < list.count; k += gridDim.x) unite(list.at(k));
  }

 private:
  __device__ void unite(int64_t i) const {
    __shared__ int32_t of_warps[warps];
    uint32_t* const bits = marks + words * blockIdx.x;
    const int thread = static_cast<int>(threadIdx.x), lane = thread & 31, warp = thread / 32;
    from.each(i, [&](I column) {
      atomicOr(bits + column / 32, 1u << (column % 32));
      return true;
    });
    __threadfence();
    __syncthreads();
    int64_t done = counts == nullptr ? to.offsets[i] : 0;
    for (int64_t base = 0; base < words; base += threads) {
      const int64_t w = base + thread;
      uint32_t word = w < words ? gpu::load_fresh(bits + w) : 0;
      if (word != 0) bits[w] = 0;
      const int32_t up_to = gpu::subgroup_scan(static_cast<int32_t>(__popc(word)), 32);
      if (lane == 31) of_warps[warp] = up_to;
      __syncthreads();
      int32_t before = up_to - __popc(word), all = 0;
      for (int v = 0; v < warps; ++v) {
        if (v == warp) before += all;
        all += of_warps[v];
      }
      if (counts == nullptr)
        for (int64_t place = done + before; word != 0; word &= word - 1, ++place)
          to.put(from, i, place, static_cast<I>(w * 32 + __ffs(static_cast<int>(word)) - 1));
      done += all;
      __syncthreads();
    }
    if (counts != nullptr && thread == 0) counts[i] = static_cast<int32_t>(done);
    __threadfence();
    __syncthreads();
  }
};

}  // namespace kkc::ilu_pattern::gpu_parts
