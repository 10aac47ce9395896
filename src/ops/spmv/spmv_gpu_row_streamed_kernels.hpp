// Tiles of whole rows: a block reads the entries of its rows as one run, puts their products into shared memory and
// adds up the rows there (CSR-stream: Greathouse and Daga, "Efficient sparse matrix-vector multiplication on GPUs using
// the CSR storage format", SC'14, section IV.A); rows too long for a tile are cut into segments.
#pragma once

#include "spmv_gpu_long_rows_kernels.hpp"
#include "spmv_gpu_tuning.hpp"

namespace kkc::spmv::gpu_parts {

/// All that a block must know before it asks for entries, in one load.
template <class I, class O>
struct alignas(16) Tile {
  O from;  // first entry
  I row;   // first row
  int32_t entries, rows;
};

/// Tile t: the rows whose place in the merge of rows and entries is in [t capacity, (t + 1) capacity), so that empty
/// rows count as well. A long row at its end is left to its segments' blocks.
template <class I, class O>
struct FindTiles {
  static constexpr int threads = 128, tiles_a_block = threads - 1;
  Offsets<O> A;
  Tile<I, O>* tiles;
  int64_t count;
  int32_t capacity, longest_short;

  __device__ void operator()() const {
    __shared__ int64_t firsts[threads];
    const int thread = static_cast<int>(threadIdx.x);
    const int64_t tile = static_cast<int64_t>(blockIdx.x) * tiles_a_block + thread, place = tile * capacity;
    int64_t first = 0, high = A.rows;
    while (first < high) {
      const int64_t middle = (first + high) >> 1;
      if (A.begin(middle) + middle < place)
        first = middle + 1;
      else
        high = middle;
    }
    firsts[thread] = first;
    __syncthreads();
    if (thread == tiles_a_block || tile >= count) return;
    const int64_t last = firsts[thread + 1], from = A.begin(first);
    int64_t to = A.begin(last);
    if (first < last && to - A.begin(last - 1) > longest_short) to = A.begin(last - 1);
    tiles[tile] = {static_cast<O>(from), static_cast<I>(first), static_cast<int32_t>(to - from),
                   static_cast<int32_t>(last - first)};
  }
};

/// Blocks 0 .. segments - 1 work on segments of long rows, the others on tiles.
template <class T, class I, class O>
struct RowStreamed {
  static constexpr int threads = 128;  // small blocks: few warps wait for one another
  static constexpr int entries = 5;    // of a thread, all under way at once
  static constexpr int blocks_per_sm = sizeof(T) > 8 ? 8 : 12;
  static constexpr int32_t capacity = threads * entries;  // rows and entries of a tile but for its last row's
  static constexpr int32_t longest_short = gpu_tuning::streamed_longest_row;
  static constexpr int32_t out_of_reach = capacity + 2 * longest_short;  // where a long row ends, for its tile
  static_assert(gpu_tuning::streamed_segment <= capacity + longest_short);
  Rows<T, O> A;
  PlainColumns<I> columns;
  const Tile<I, O>* tiles;
  LongRows<I> longs;
  T* partial;
  Vectors<T> v;
  Coefficients<T> c;

  __device__ void multiply_entries(int64_t from, int count, T* products) const {
    const T* values = A.values + from;
    const I* indices = columns.indices + from;
    for (int first = static_cast<int>(threadIdx.x); first < count; first += capacity) {
      // Values and columns are read once: they leave the cache to x.
      I column[entries];
      T value[entries];
#pragma unroll
      for (int u = 0; u < entries; ++u) {
        const int i = first + u * threads;
        column[u] = i < count ? load_once(indices + i) - static_cast<I>(columns.base) : I{-1};
      }
#pragma unroll
      for (int u = 0; u < entries; ++u)
        if (column[u] >= 0) value[u] = load_once(values + first + u * threads);
#pragma unroll
      for (int u = 0; u < entries; ++u)
        if (column[u] >= 0)
          products[first + u * threads] = multiply(conjugate_if(value[u], A.conjugate), v.x[column[u] * v.x_row]);
    }
  }

  /// The products of a segment, which its threads wrote, to y.
  __device__ void add_segment(int64_t row, int count, const T* products) const {
    __shared__ T scratch[threads / 32];
    const T alpha = c.alpha.get();
    T sum{};
    if (!is_zero(alpha))
      for (int k = static_cast<int>(threadIdx.x); k < count; k += threads) sum = add(sum, products[k]);
    sum = block_sum<T, threads>(sum, scratch);
    if (longs.finish(A, row, static_cast<int32_t>(blockIdx.x), partial, sum) && threadIdx.x == 0)
      update(v.y[row * v.y_row], sum, alpha, c.beta.get());
  }

  /// The sum of products begin .. end - 1 of each row of `lanes` lanes. Rows that would keep their lanes long are added
  /// by all 32 neighbours, one after the other.
  __device__ T add_row(const T* products, int begin, int end, int lanes) const {
    const int thread = static_cast<int>(threadIdx.x), lane = thread & (lanes - 1);
    const bool together = end - begin > 32 * lanes;
    T sum{};
    if (!together)
      for (int k = begin + lane; k < end; k += lanes) sum = add(sum, products[k]);
    sum = gpu::subgroup_sum(sum, lanes);
    for (uint32_t open = gpu::ballot32(together && lane == 0); open != 0; open &= open - 1) {
      const int leader = __ffs(static_cast<int>(open)) - 1;
      const int from = gpu::shuffle_from(begin, leader, 32), to = gpu::shuffle_from(end, leader, 32);
      T all{};
      for (int k = from + (thread & 31); k < to; k += 32) all = add(all, products[k]);
      all = gpu::subgroup_sum(all, 32);
      if ((thread & 31) == leader) sum = all;
    }
    return sum;
  }

  __device__ void operator()() const {
    __shared__ T products[capacity + longest_short];
    __shared__ uint16_t starts[capacity + 1];  // of rows, in products
    const auto segments = static_cast<uint32_t>(longs.segments);
    const bool cut = blockIdx.x < segments;
    const int thread = static_cast<int>(threadIdx.x);
    int64_t first = 0, from = 0;
    int count = 0, rows = 0;
    O start{};
    if (cut) {
      int64_t end = 0;
      first = longs.find(A, static_cast<int32_t>(blockIdx.x), from, end);
      if (first < 0) return;
      count = static_cast<int>(end - from);
    } else {
      const Tile<I, O> tile = tiles[blockIdx.x - segments];
      first = tile.row;
      from = tile.from;
      count = tile.entries;
      rows = tile.rows;
      // Asked for before the entries, waited for after them.
      if (thread <= rows) start = A.offsets[first + thread];
    }
    if (!is_zero(c.alpha.get())) multiply_entries(from, count, products);
    if (cut) return add_segment(first, count, products);
    for (int row = thread; row <= rows; row += threads) {
      if (row > thread) start = A.offsets[first + row];
      const int64_t place = static_cast<int64_t>(start) - A.base - from;
      starts[row] = static_cast<uint16_t>(place < out_of_reach ? place : out_of_reach);
    }
    __syncthreads();
    const T alpha = c.alpha.get();
    int lanes_log2 = 0;
    while (lanes_log2 < 5 && rows << (lanes_log2 + 1) <= threads) ++lanes_log2;
    // Whole turns: all lanes of a warp take part in its sums.
    for (int turn = 0; turn < rows; turn += threads >> lanes_log2) {
      const int row = turn + (thread >> lanes_log2);
      const int begin = row < rows ? starts[row] : 0, end = row < rows ? starts[row + 1] : 0;
      const bool is_short = end - begin <= longest_short;
      const T sum = is_zero(alpha) ? T{} : add_row(products, begin, is_short ? end : begin, 1 << lanes_log2);
      if (row < rows && is_short && (thread & ((1 << lanes_log2) - 1)) == 0)
        update(v.y[(first + row) * v.y_row], sum, alpha, c.beta.get());
    }
  }
};

}  // namespace kkc::spmv::gpu_parts
