// Kernels of the symbolic phase that look at rows: windows, long rows, bins by length, 16-bit columns, hubs.
#pragma once

#include "spmv_gpu_row_binned_kernels.hpp"
#include "spmv_gpu_transpose_scatter_kernels.hpp"

namespace kkc::spmv::gpu_parts {

/// starts[w] = first row whose place in the merge of rows and entries is at least w capacity.
template <class I, class O>
struct FindWindows {
  static constexpr int threads = 256;
  Offsets<O> A;
  I* starts;
  int64_t count;
  int32_t capacity;

  __device__ void operator()() const {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (row > A.rows) return;
    const int64_t place = A.begin(row) + row;
    const int64_t before = row == 0 ? -1 : (A.begin(row - 1) + row - 1) / capacity;
    int64_t last = place / capacity;
    if (row == A.rows || last >= count) last = count;
    for (int64_t w = before + 1; w <= last; ++w) starts[w] = static_cast<I>(row);
  }
};

/// Rows into bins by length and the list of long rows with their segments. Ranges of bins are known beforehand.
template <class I, class O>
struct SortedRows {
  Offsets<O> A;
  int32_t bin_count;          // 0: long rows only
  int32_t longest[max_bins];  // of each bin, ascending
  int64_t first[max_bins];    // place of each bin in the permutation
  I* permutation;
  unsigned long long* cursors;  // [max_bins], zero
  int32_t longest_short, segment;
  I* rows;
  int32_t *firsts, *owners;
  int32_t* counts;  // long rows, segments; zero
};

/// Each thread looks at `turns` rows.
template <class I, class O, int turns>
struct SortRows : SortedRows<I, O> {
  static constexpr int threads = 256, rows_a_block = threads * turns;

  __device__ void operator()() const {
    __shared__ int32_t found[max_bins];
    __shared__ unsigned long long places[max_bins];
    const int thread = static_cast<int>(threadIdx.x), lane = thread & 31;
    const int64_t block = static_cast<int64_t>(blockIdx.x) * rows_a_block;
    if (thread < max_bins) found[thread] = 0;
    __syncthreads();
    int bins[turns], ranks[turns];
    int64_t lengths[turns];
#pragma unroll
    for (int turn = 0; turn < turns; ++turn) {
      const int64_t row = block + turn * threads + thread;
      lengths[turn] = row < this->A.rows ? this->A.begin(row + 1) - this->A.begin(row) : -1;
    }
#pragma unroll
    for (int turn = 0; turn < turns; ++turn) {
      const int64_t row = block + turn * threads + thread, length = lengths[turn];
      if (length > this->longest_short) {
        const int32_t segments = static_cast<int32_t>((length + this->segment - 1) / this->segment);
        const int32_t which = atomicAdd(&this->counts[0], 1), place = atomicAdd(&this->counts[1], segments);
        this->rows[which] = static_cast<I>(row);
        this->firsts[which] = place;
        for (int32_t s = 0; s < segments; ++s) this->owners[place + s] = which + 1;
      }
      bins[turn] = -1;
      ranks[turn] = 0;
      if (this->bin_count == 0) continue;
      if (row < this->A.rows && length <= this->longest_short) {
        bins[turn] = 0;
        while (length > this->longest[bins[turn]]) ++bins[turn];
      }
      for (uint32_t open = gpu::ballot32(bins[turn] >= 0); open != 0;) {
        const int leader = __ffs(static_cast<int>(open)) - 1, bin = gpu::shuffle_from(bins[turn], leader, 32);
        const uint32_t same = gpu::ballot32(bins[turn] == bin);
        int32_t first_rank = 0;
        if (lane == leader) first_rank = atomicAdd(&found[bin], __popc(same));
        first_rank = gpu::shuffle_from(first_rank, leader, 32);
        if (bins[turn] == bin) ranks[turn] = first_rank + __popc(same & ((1u << lane) - 1));
        open &= ~same;
      }
    }
    __syncthreads();
    if (thread < this->bin_count && found[thread] != 0)
      places[thread] = atomicAdd(&this->cursors[thread], static_cast<unsigned long long>(found[thread]));
    __syncthreads();
#pragma unroll
    for (int turn = 0; turn < turns; ++turn)
      if (bins[turn] >= 0)
        this->permutation[this->first[bins[turn]] + static_cast<int64_t>(places[bins[turn]]) + ranks[turn]] =
            static_cast<I>(block + turn * threads + thread);
  }
};

/// The smallest column of each 32 rows and 16-bit distances from it; `wide` counts groups that need more.
template <class I, class O>
struct CompressColumns {
  static constexpr int threads = 128;
  Offsets<O> A;
  PlainColumns<I> columns;
  I* bases;
  uint16_t* near;
  int32_t* wide;
  int32_t every;  // more than 1: a first look, at one group in so many

  __device__ void operator()() const {
    __shared__ I lows[threads / 32], highs[threads / 32];
    const int thread = static_cast<int>(threadIdx.x);
    const int64_t groups = (A.rows + 31) / 32;
    for (int64_t group = static_cast<int64_t>(blockIdx.x) * every;
         group<groups; group += every> 1 ? groups : static_cast<int64_t>(gridDim.x)) {
      if (*reinterpret_cast<volatile int32_t*>(wide) != 0) return;
      const int64_t first = group * 32, last = first + 32 < A.rows ? first + 32 : A.rows;
      const int64_t from = A.begin(first), to = A.begin(last);
      I low = static_cast<I>(~(static_cast<std::make_unsigned_t<I>>(1) << (8 * sizeof(I) - 1))), high = 0;
      for (int64_t p = from + thread; p < to; p += threads) {
        const I column = columns.at(p);
        low = column < low ? column : low;
        high = column > high ? column : high;
      }
      for (int mask = 16; mask > 0; mask >>= 1) {
        const I l = gpu::shuffle_xor(low, mask, 32), h = gpu::shuffle_xor(high, mask, 32);
        low = l < low ? l : low;
        high = h > high ? h : high;
      }
      if ((thread & 31) == 0) {
        lows[thread >> 5] = low;
        highs[thread >> 5] = high;
      }
      __syncthreads();
      for (int i = 0; i < threads / 32; ++i) {
        low = lows[i] < low ? lows[i] : low;
        high = highs[i] > high ? highs[i] : high;
      }
      if (thread == 0) {
        bases[group] = from < to ? low : 0;
        if (from < to && high - low > 0xffff) atomicAdd(wide, 1);
      }
      if (from < to && high - low > 0xffff) return;
      for (int64_t p = from + thread; p < to; p += threads) near[p] = static_cast<uint16_t>(columns.at(p) - low);
      __syncthreads();
    }
  }
};

/// Entries at the same place of neighbouring rows, in a sample. Zero at first.
struct Likeness {
  uint32_t same_column, compared;
};

/// Some entries of rows 0, every, 2 every, ... and of those behind them.
template <class I, class O>
struct CompareNeighbours {
  static constexpr int threads = 256;
  static constexpr int most = 8;  // entries of a row
  Offsets<O> A;
  PlainColumns<I> columns;
  int64_t every;
  Likeness* likeness;

  __device__ void operator()() const {
    const int64_t row = (static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x) * every;
    uint32_t same_column = 0, compared = 0;
    if (row + 1 < A.rows) {
      const int64_t begin = A.begin(row), next = A.begin(row + 1), end = A.begin(row + 2);
      const int64_t length = next - begin < end - next ? next - begin : end - next;
      for (int64_t k = length / 2; k < length && compared < most; ++k, ++compared)
        same_column += columns.at(begin + k) == columns.at(next + k) ? 1 : 0;
    }
    same_column = gpu::sum32(same_column);
    compared = gpu::sum32(compared);
    if ((threadIdx.x & 31) != 0) return;
    atomicAdd(&likeness->same_column, same_column);
    atomicAdd(&likeness->compared, compared);
  }
};

/// Entries of each column, in one of `every` runs of 256.
template <class I>
struct CountColumns {
  static constexpr int threads = 256;
  PlainColumns<I> columns;
  int64_t nnz, every;
  int32_t* counts;

  __device__ void operator()() const {
    for (int64_t first = static_cast<int64_t>(blockIdx.x) * every * threads; first < nnz;
         first += static_cast<int64_t>(gridDim.x) * every * threads) {
      const int64_t p = first + threadIdx.x;
      const I column = p < nnz ? columns.at(p) : I{-1};
      // Neighbours in a column that many rows share add once.
      const I first_column = gpu::shuffle_from(column, 0, 32);
      const uint32_t same = gpu::ballot32(column == first_column);
      const bool first_lane = (threadIdx.x & 31) == 0;
      if (column >= 0 && (first_lane || column != first_column))
        atomicAdd(&counts[column], first_lane ? __popc(same) : 1);
    }
  }
};

/// Sixteenths of an octave.
__device__ inline int count_class(int32_t count) {
  return count < 1 ? 0 : (__float_as_int(static_cast<float>(count)) - 0x3f800000) >> 19;
}
inline constexpr int count_classes = 512;

/// Zero at first.
struct HubFacts {
  unsigned long long entries;  // in hubs, of the sample
  int32_t used;                // slots
  int32_t too_low;             // the highest class of which columns are no hubs
  uint32_t ticket;
};

/// Hubs are the columns of the highest classes that together fit `capacity`: the block that finishes last finds these.
struct ClassifyColumns {
  static constexpr int threads = count_classes;
  const int32_t* counts;
  int64_t cols;
  int32_t* histogram;  // [count_classes], zero
  int32_t capacity;
  HubFacts* facts;

  __device__ void operator()() const {
    __shared__ int32_t above[count_classes];  // columns of this class, in the end of higher ones as well
    __shared__ bool last;
    const int thread = static_cast<int>(threadIdx.x);
    above[thread] = 0;
    __syncthreads();
#pragma unroll 4
    for (int64_t c = static_cast<int64_t>(blockIdx.x) * threads + thread; c < cols;
         c += static_cast<int64_t>(gridDim.x) * threads)
      atomicAdd(&above[count_class(counts[c])], 1);
    __syncthreads();
    if (above[thread] != 0) atomicAdd(&histogram[thread], above[thread]);
    __threadfence();
    __syncthreads();
    if (thread == 0) last = atomicAdd(&facts->ticket, 1u) + 1 == gridDim.x;
    __syncthreads();
    if (!last) return;
    __threadfence();
    above[thread] = gpu::load_fresh(histogram + thread);
    __syncthreads();
    for (int step = 1; step < count_classes; step *= 2) {
      const int32_t more = thread + step < count_classes ? above[thread + step] : 0;
      __syncthreads();
      above[thread] += more;
      __syncthreads();
    }
    if (thread > 0 && above[thread] > capacity) atomicMax(&facts->too_low, thread);
  }
};

/// names[c] = c, or ~slot.
template <class I>
struct NameHubs {
  static constexpr int threads = 256;
  const int32_t* counts;
  int64_t cols;
  I* names;
  I* hubs;  // column of each slot
  HubFacts* facts;

  __device__ void operator()() const {
    __shared__ int32_t slots, first, entries;
    if (threadIdx.x == 0) slots = entries = 0;
    __syncthreads();
    const int64_t c = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int32_t count = c < cols ? counts[c] : 0;
    const bool is_hub = count > 1 && count_class(count) > facts->too_low;
    const uint32_t all = gpu::ballot32(is_hub);
    int32_t slot = 0;
    if (all != 0) {  // the same in all lanes
      const int32_t sum = gpu::subgroup_sum(is_hub ? count : 0, 32);
      if (lane == 0) {
        slot = atomicAdd(&slots, __popc(all));
        atomicAdd(&entries, sum);
      }
      slot = gpu::shuffle_from(slot, 0, 32) + __popc(all & ((1u << lane) - 1));
    }
    __syncthreads();
    if (threadIdx.x == 0 && slots != 0) {
      first = atomicAdd(&facts->used, slots);
      atomicAdd(&facts->entries, static_cast<unsigned long long>(entries));
    }
    __syncthreads();
    if (c >= cols) return;
    I name = static_cast<I>(c);
    if (is_hub) {
      slot += first;
      hubs[slot] = name;
      name = ~static_cast<I>(slot);
    }
    names[c] = name;
  }
};

/// Where the sample's hubs hold at least `least` entries, and leaves `slots` alone elsewhere.
template <class I>
struct RenameColumns {
  static constexpr int threads = 256, batch = 8;
  PlainColumns<I> columns;
  int64_t nnz;
  const I* names;
  const HubFacts* facts;
  unsigned long long least;
  I* slots;

  __device__ void operator()() const {
    if (facts->used == 0 || facts->entries < least) return;
    const int64_t first = static_cast<int64_t>(blockIdx.x) * threads * batch + threadIdx.x;
    I found[batch];
#pragma unroll
    for (int u = 0; u < batch; ++u)
      if (first + u * threads < nnz) found[u] = columns.at(first + u * threads);
#pragma unroll
    for (int u = 0; u < batch; ++u)
      if (first + u * threads < nnz) slots[first + u * threads] = names[found[u]];
  }
};

}  // namespace kkc::spmv::gpu_parts
