// Kernels of the symbolic phase that look at rows: windows, long rows, bins by length, 16-bit columns, hubs.
#pragma once

#include "spmv_gpu_row_binned_kernels.hpp"
#include "spmv_gpu_transpose_scatter_kernels.hpp"

namespace kkc::spmv::gpu_parts {

/// Offsets alone, for kernels that read no values.
template <class O>
struct Offsets {
  const O* offsets;
  int64_t rows;
  int32_t base;

  __device__ int64_t begin(int64_t row) const { return static_cast<int64_t>(offsets[row]) - base; }
};

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
struct SortRows {
  static constexpr int threads = 256;
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

  __device__ void operator()() const {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    const int64_t length = row < A.rows ? A.begin(row + 1) - A.begin(row) : -1;
    if (length > longest_short) {
      const int32_t segments = static_cast<int32_t>((length + segment - 1) / segment);
      const int32_t which = atomicAdd(&counts[0], 1), place = atomicAdd(&counts[1], segments);
      rows[which] = static_cast<I>(row);
      firsts[which] = place;
      for (int32_t s = 0; s < segments; ++s) owners[place + s] = which;
    }
    if (bin_count == 0) return;
    int bin = -1;
    if (row < A.rows && length <= longest_short) {
      bin = 0;
      while (length > longest[bin]) ++bin;
    }
    const int lane = static_cast<int>(threadIdx.x) & 31;
    for (int b = 0; b < bin_count; ++b) {
      const uint32_t same = gpu::ballot32(bin == b);
      if (same == 0) continue;
      unsigned long long place = 0;
      const int leader = __ffs(static_cast<int>(same)) - 1;
      if (lane == leader) place = atomicAdd(&cursors[b], static_cast<unsigned long long>(__popc(same)));
      place = gpu::shuffle_from(place, leader, 32);
      if (bin == b)
        permutation[first[b] + static_cast<int64_t>(place) + __popc(same & ((1u << lane) - 1))] = static_cast<I>(row);
    }
  }
};

/// The smallest column of each 32 rows and 16-bit distances from it; `wide` counts groups that need more. Without
/// `near` it only counts.
template <class I, class O>
struct CompressColumns {
  static constexpr int threads = 128;
  Offsets<O> A;
  PlainColumns<I> columns;
  I* bases;
  uint16_t* near;
  int32_t* wide;

  __device__ void operator()() const {
    __shared__ I lows[threads / 32], highs[threads / 32];
    if (*reinterpret_cast<volatile int32_t*>(wide) != 0) return;
    const int64_t first = static_cast<int64_t>(blockIdx.x) * 32;
    const int64_t last = first + 32 < A.rows ? first + 32 : A.rows;
    const int64_t from = A.begin(first), to = A.begin(last);
    const int thread = static_cast<int>(threadIdx.x);
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
      if (near != nullptr) bases[blockIdx.x] = from < to ? low : 0;
      if (from < to && high - low > 0xffff) atomicAdd(wide, 1);
    }
    if (near == nullptr || (from < to && high - low > 0xffff)) return;
    for (int64_t p = from + thread; p < to; p += threads) near[p] = static_cast<uint16_t>(columns.at(p) - low);
  }
};

/// Entries of each column.
template <class I>
struct CountColumns {
  static constexpr int threads = 256;
  PlainColumns<I> columns;
  int64_t nnz;
  int32_t* counts;

  __device__ void operator()() const {
    for (int64_t p = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x; p < nnz;
         p += static_cast<int64_t>(gridDim.x) * threads)
      atomicAdd(&counts[columns.at(p)], 1);
  }
};

/// Sixteenths of an octave.
__device__ inline int count_class(int32_t count) {
  return count < 1 ? 0 : (__float_as_int(static_cast<float>(count)) - 0x3f800000) >> 19;
}
inline constexpr int count_classes = 512;

struct ClassifyColumns {
  static constexpr int threads = 256;
  const int32_t* counts;
  int64_t cols;
  int32_t* histogram;  // [count_classes], zero

  __device__ void operator()() const {
    __shared__ int32_t local[count_classes];
    for (int i = static_cast<int>(threadIdx.x); i < count_classes; i += threads) local[i] = 0;
    __syncthreads();
    for (int64_t c = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x; c < cols;
         c += static_cast<int64_t>(gridDim.x) * threads)
      atomicAdd(&local[count_class(counts[c])], 1);
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < count_classes; i += threads)
      if (local[i] != 0) atomicAdd(&histogram[i], local[i]);
  }
};

/// Zero at first.
struct HubFacts {
  unsigned long long entries;  // in hubs
  int32_t used, unused;        // slots
};

/// Hubs are the columns of the highest classes that together fit `capacity`. names[c] = c, or ~slot.
template <class I>
struct NameHubs {
  static constexpr int threads = 256;
  const int32_t* counts;
  const int32_t* histogram;
  int64_t cols;
  int32_t capacity;
  I* names;
  I* hubs;  // column of each slot
  HubFacts* facts;

  __device__ void operator()() const {
    int lowest = count_classes;
    for (int32_t total = 0; lowest > 1; --lowest) {
      total += histogram[lowest - 1];
      if (total > capacity) break;
    }
    const int64_t c = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (c >= cols) return;
    I name = static_cast<I>(c);
    if (count_class(counts[c]) >= lowest && counts[c] > 1) {
      const int32_t slot = atomicAdd(&facts->used, 1);
      atomicAdd(&facts->entries, static_cast<unsigned long long>(counts[c]));
      hubs[slot] = name;
      name = ~static_cast<I>(slot);
    }
    names[c] = name;
  }
};

template <class I>
struct RenameColumns {
  static constexpr int threads = 256;
  PlainColumns<I> columns;
  int64_t nnz;
  const I* names;
  I* slots;

  __device__ void operator()() const {
    const int64_t p = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (p < nnz) slots[p] = names[columns.at(p)];
  }
};

}  // namespace kkc::spmv::gpu_parts
