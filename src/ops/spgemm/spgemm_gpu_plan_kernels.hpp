// Kernels of the symbolic phase that look at rows: bounds, order, surveys, bins, compression.
#pragma once

#include "spgemm_gpu_block.hpp"
#include "spgemm_gpu_launch.hpp"

namespace kkc::spgemm::gpu_parts {

inline constexpr int survey_bins = 8;

/// Zero at first.
struct Survey {
  unsigned long long total;
  unsigned long long histogram[survey_bins];
  int32_t largest;
};

/// Sizes and where each bin ends; the last takes the rest.
struct BinLimits {
  int32_t upper[survey_bins];
  int32_t count;

  __host__ __device__ int bin(int32_t size) const {
    int b = 0;
    while (b + 1 < count && size > upper[b]) ++b;
    return b;
  }
};

__device__ inline int32_t saturated(int64_t n) { return static_cast<int32_t>(n < 0x7fffffff ? n : 0x7fffffff); }

/// Whether every row ascends strictly: sorted, without duplicates. Adds to *broken how many entries do not lie above
/// the one before, less those that begin a row, so that rows of any length are looked at by as many threads.
template <class I>
struct CheckAscending {
  static constexpr int threads = 256, batch = 4;
  Pattern<I> A;
  int64_t entries;
  int32_t* broken;

  __device__ bool falls(int64_t p) const { return A.columns[p - 1] >= A.columns[p]; }

  __device__ void operator()() const {
    const int64_t thread = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x,
                  step = static_cast<int64_t>(gridDim.x) * threads;
    int32_t found = 0;
    for (int64_t p = thread + 1; p < entries; p += step * batch) {
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (p + u * step < entries && falls(p + u * step)) ++found;
    }
    for (int64_t row = thread; row < A.rows; row += step)
      if (const int64_t begin = A.begin(row); begin > 0 && begin < A.end(row) && falls(begin)) --found;
    found = gpu::subgroup_sum(found, 32);
    if ((threadIdx.x & 31u) == 0 && found != 0) atomicAdd(broken, found);
  }
};

template <class I>
void check_ascending(Queue& queue, const Pattern<I>& A, int64_t entries, int32_t* broken) {
  using F = CheckAscending<I>;
  const int64_t items = std::max(A.rows, entries / F::batch);
  gpu::launch(queue, std::min(gpu::blocks_for(items, F::threads), static_cast<unsigned>(8 * queue.concurrency())),
              F::threads, 0, F{A, entries, broken});
}

/// Long rows: those that all blocks share from the front, those of a block each from the back.
struct SharedRows {
  static constexpr int32_t longest_of_subgroup = 1024, longest_of_block = 8192;  // entries
  int32_t* list;  // null: blocks do long rows where they meet them
  int32_t capacity;
  int32_t* counts;  // two; zero at first

  __device__ void add(int64_t row, int32_t length) const {
    if (length > longest_of_block)
      list[atomicAdd(counts, 1)] = static_cast<int32_t>(row);
    else
      list[capacity - 1 - atomicAdd(counts + 1, 1)] = static_cast<int32_t>(row);
  }
};

__device__ inline void note_largest(int32_t* largest, int32_t bound) {
  if (gpu::load_fresh(largest) < bound) atomicMax(largest, bound);
}

/// bounds[i] = entries of B's rows that row i of A names. A subgroup a row, all of the block for long ones, unless they
/// are listed for BoundSharedRows.
template <class Left, class Right>
struct BoundRows {
  static constexpr int threads = 256;
  Left A;
  Right B;
  int64_t rows;
  int32_t lanes_log2;
  int32_t* bounds;
  int64_t* exact;  // the same, not cut off; or null, without `shared`
  SharedRows shared;
  int32_t* largest = nullptr;  // of the bounds, zero at first; or null

  __device__ void operator()() const {
    __shared__ int32_t long_rows[threads], long_count;
    __shared__ unsigned long long all;
    if (threadIdx.x == 0) long_count = 0;
    __syncthreads();
    const int64_t thread = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    const int64_t i = thread >> lanes_log2;
    const int lanes = 1 << lanes_log2, lane = static_cast<int>(thread) & (lanes - 1);
    LeftRow row{0, 0, 0};
    if (i < rows) row = A.row(i);
    const bool is_long = row.length > SharedRows::longest_of_subgroup;
    int64_t sum = 0;
    if (!is_long) add(row, lane, lanes, sum);
    sum = gpu::subgroup_sum(sum, lanes);
    if (lane == 0 && i < rows) {
      if (!is_long) {
        write(i, sum);
      } else if (shared.list != nullptr) {
        shared.add(i, row.length);
        exact[i] = 0;
      } else {
        long_rows[atomicAdd(&long_count, 1)] = static_cast<int32_t>(threadIdx.x) >> lanes_log2;
      }
    }
    __syncthreads();
    const int64_t first = (static_cast<int64_t>(blockIdx.x) * threads) >> lanes_log2;
    for (int32_t r = 0; r < long_count; ++r) {
      if (threadIdx.x == 0) all = 0;
      __syncthreads();
      int64_t part = 0;
      add(A.row(first + long_rows[r]), static_cast<int>(threadIdx.x), threads, part);
      part = gpu::subgroup_sum(part, 32);
      if ((threadIdx.x & 31u) == 0) atomicAdd(&all, static_cast<unsigned long long>(part));
      __syncthreads();
      if (threadIdx.x == 0) write(first + long_rows[r], static_cast<int64_t>(all));
    }
  }

  __device__ void add(const LeftRow& row, int lane, int lanes, int64_t& sum) const {
#pragma unroll 4
    for (int32_t k = lane; k < row.length; k += lanes) {
      const int64_t j = A.column(row, k);
      sum += B.end(j) - B.begin(j);
    }
  }
  __device__ void write(int64_t i, int64_t sum) const {
    bounds[i] = saturated(sum);
    if (exact != nullptr) exact[i] = sum;
    if (largest != nullptr) note_largest(largest, bounds[i]);
  }
};

/// Adds to exact[i] of the listed rows.
template <class Left, class Right>
struct BoundSharedRows {
  static constexpr int threads = 256;
  static constexpr int64_t part = 2048;
  BoundRows<Left, Right> rows;

  __device__ void operator()() const {
    const SharedRows& shared = rows.shared;
    for (int32_t l = 0; l < shared.counts[0]; ++l) add(shared.list[l], blockIdx.x, gridDim.x);
    for (auto l = static_cast<int32_t>(blockIdx.x); l < shared.counts[1]; l += static_cast<int32_t>(gridDim.x))
      add(shared.list[shared.capacity - 1 - l], 0, 1);
  }

  /// Every step-th part.
  __device__ void add(int64_t i, int64_t first, int64_t step) const {
    LeftRow row = rows.A.row(i);
    const int64_t length = row.length;
    if (first * part >= length) return;
    int64_t sum = 0;
    for (int64_t begin = first * part; begin < length; begin += step * part) {
      row.length = static_cast<int32_t>(begin + part < length ? begin + part : length);
      rows.add(row, static_cast<int>(begin) + static_cast<int>(threadIdx.x), threads, sum);
    }
    sum = gpu::subgroup_sum(sum, 32);
    if ((threadIdx.x & 31u) == 0)
      atomicAdd(reinterpret_cast<unsigned long long*>(rows.exact + i), static_cast<unsigned long long>(sum));
  }
};
/// And then their bounds.
struct CutSharedBounds {
  static constexpr int threads = 256;
  SharedRows shared;
  const int64_t* exact;
  int32_t *bounds, *largest;

  __device__ void operator()() const {
    const int32_t front = shared.counts[0], count = front + shared.counts[1];
    for (int32_t l = static_cast<int32_t>(threadIdx.x); l < count; l += threads) {
      const int32_t i = shared.list[l < front ? l : shared.capacity - 1 - (l - front)];
      bounds[i] = saturated(exact[i]);
      note_largest(largest, bounds[i]);
    }
  }
};

/// Total, largest and histogram of sizes. A row of more than `heavy` products counts as one of at least `heavy_size`.
struct SurveyRows {
  static constexpr int threads = 256;
  int32_t* sizes;
  const int32_t* bounds;  // or null
  int64_t rows;
  BinLimits limits;
  int32_t heavy, heavy_size;
  Survey* survey;

  __device__ void operator()() const {
    __shared__ Survey local;
    __shared__ unsigned counts[survey_bins];
    const int thread = static_cast<int>(threadIdx.x);
    if (thread == 0) local = Survey{};
    if (thread < survey_bins) counts[thread] = 0;
    __syncthreads();
    int64_t total = 0;
    int32_t largest = 0;
    for (int64_t i = static_cast<int64_t>(blockIdx.x) * threads + thread; i < rows;
         i += static_cast<int64_t>(gridDim.x) * threads) {
      const int32_t size = sizes[i];
      total += size;
      largest = size > largest ? size : largest;
      atomicAdd(&counts[limits.bin(weighed(i))], 1u);
    }
    total = gpu::subgroup_sum(total, 32);
    largest = warp_max(largest);
    if ((thread & 31) == 0) {
      atomicAdd(&local.total, static_cast<unsigned long long>(total));
      atomicMax(&local.largest, largest);
    }
    __syncthreads();
    if (thread < survey_bins && counts[thread] != 0)
      atomicAdd(&survey->histogram[thread], static_cast<unsigned long long>(counts[thread]));
    if (thread == 0) {
      atomicAdd(&survey->total, local.total);
      atomicMax(&survey->largest, local.largest);
    }
  }

  __device__ int32_t weighed(int64_t i) const {
    const int32_t size = sizes[i];
    return bounds != nullptr && bounds[i] > heavy && size < heavy_size && size > 0 ? heavy_size : size;
  }
};

/// Rows by bin; within a bin a block's neighbours stay together.
struct PlaceRows {
  static constexpr int threads = 256, warps = threads / 32;
  SurveyRows sizes;
  unsigned long long starts[survey_bins];
  unsigned long long* placed;  // [survey_bins], zero at first
  int32_t* list;

  __device__ void operator()() const {
    __shared__ uint32_t counts[survey_bins][warps];
    __shared__ unsigned long long places[survey_bins];
    const auto thread = static_cast<int>(threadIdx.x);
    const int lane = thread & 31, warp = thread >> 5;
    const int64_t i = static_cast<int64_t>(blockIdx.x) * threads + thread;
    const int bin = i < sizes.rows ? sizes.limits.bin(sizes.weighed(i)) : -1;
    uint32_t before = 0;  // in the warp
    for (int b = 0; b < sizes.limits.count; ++b) {
      const uint32_t same = gpu::ballot32(bin == b);
      if (lane == 0) counts[b][warp] = static_cast<uint32_t>(__popc(same));
      if (bin == b) before = static_cast<uint32_t>(__popc(same & ((1u << lane) - 1)));
    }
    __syncthreads();
    if (thread < sizes.limits.count) {
      uint32_t sum = 0;
      for (uint32_t& count : counts[thread]) {
        const uint32_t first = sum;
        sum += count;
        count = first;
      }
      if (sum > 0) places[thread] = starts[thread] + atomicAdd(placed + thread, static_cast<unsigned long long>(sum));
    }
    __syncthreads();
    if (bin >= 0) list[places[bin] + counts[bin][warp] + before] = static_cast<int32_t>(i);
  }
};

/// A part of a long row of C: entries first .. first + length - 1.
struct Piece {
  int32_t row, first, length;
};

/// Long rows cut into pieces of equal lengths: of at most `capacity` entries, and of fewer where the row has many
/// products. Pieces of many products come first, so that none of them is the last to end.
struct ListPieces {
  static constexpr int threads = 256;
  static constexpr int32_t least = 32;
  const int32_t* rows;  // null: all
  int64_t count;
  const int32_t* sizes;
  const int32_t* bounds;
  int32_t capacity, products_of_piece;
  Piece* pieces;      // null: only counts
  int32_t of_pieces;  // their number, when they are listed
  int32_t* counters;  // [2], zero: from the front, from the back

  __device__ void operator()() const {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (i >= count) return;
    const int32_t row = rows != nullptr ? rows[i] : static_cast<int32_t>(i), size = sizes[row];
    if (size == 0) return;
    int32_t parts = (size + capacity - 1) / capacity;
    const auto by_products = static_cast<int32_t>(bounds[row] / products_of_piece);
    if (by_products > parts)
      parts = by_products < size / least ? by_products : (size / least > parts ? size / least : parts);
    const bool heavy = pieces == nullptr || bounds[row] / parts > products_of_piece / 4;
    int32_t first = atomicAdd(counters + (heavy ? 0 : 1), parts);
    if (pieces == nullptr) return;
    if (!heavy) first = of_pieces - first - parts;
    for (int32_t part = 0; part < parts; ++part) {
      const auto begin = static_cast<int32_t>(int64_t{size} * part / parts),
                 end = static_cast<int32_t>(int64_t{size} * (part + 1) / parts);
      pieces[first + part] = {row, begin, end - begin};
    }
  }
};

}  // namespace kkc::spgemm::gpu_parts
