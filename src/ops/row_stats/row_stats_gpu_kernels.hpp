// Kernels of row_stats: offsets, then indices, each in one pass.
#pragma once

#include <cstdint>
#include <type_traits>

#include "device/gpu_read.hpp"
#include "device/gpu_warp.hpp"
#include "ops/row_stats/row_stats.hpp"

namespace kkc::row_stats::gpu_parts {

inline constexpr int classes = 40;
inline constexpr unsigned long long none = ~0ull >> 1;

/// Row statistics in device memory.
struct Counts {
  unsigned long long shortest, longest, empty;
  unsigned long long histogram[classes], nonzeros[classes];
  unsigned long long first_bad_row, first_bad_entry;
};

/// One block: hands so many matrices' counts to the host, and then starts anew.
struct ReadAndStart {
  static constexpr int threads = 256;
  Counts* counts;
  int matrices;
  gpu::Watched to;  // none: starts only

  __device__ void operator()() const {
    const int i = static_cast<int>(threadIdx.x);
    if (to.words != nullptr) {
      const auto* const words = reinterpret_cast<const uint32_t*>(counts);
      const int count = matrices * static_cast<int>(sizeof(Counts) / sizeof(uint32_t));
      for (int w = i; w < count; w += threads) gpu::set(to, w, words[w]);
      __syncthreads();
    }
    for (int m = 0; m < matrices; ++m) {
      Counts& mine = counts[m];
      if (i < classes) mine.histogram[i] = mine.nonzeros[i] = 0;
      if (i == 0) {
        mine.longest = mine.empty = 0;
        mine.shortest = mine.first_bad_row = mine.first_bad_entry = none;
      }
    }
  }
};

/// Lengths of rows of up to 128 entries, by class: a thread's own until it has counted 255 of them.
struct FewRows {
  static constexpr int bins = 8;
  static constexpr unsigned most = 128;
  unsigned long long counts = 0;           // 8 bits for each class
  unsigned long long entries[2] = {0, 0};  // 16 bits
  unsigned rows = 0, empty = 0;

  __device__ void add(unsigned length) {
    const int bin = length < 2 ? 0 : 32 - __clz(static_cast<int>(length - 1));
    counts += 1ull << (8 * bin);
    const unsigned long long here = static_cast<unsigned long long>(length) << (16 * (bin & 3));
    entries[0] += bin < 4 ? here : 0;
    entries[1] += bin < 4 ? 0 : here;
    ++rows;
    empty += length == 0 ? 1 : 0;
  }
  __device__ uint32_t count(int bin) const { return static_cast<uint32_t>(counts >> (8 * bin)) & 0xffu; }
  __device__ uint32_t entries_of(int bin) const {
    return static_cast<uint32_t>(entries[bin / 4] >> (16 * (bin & 3))) & 0xffffu;
  }
};

template <class O>
struct CountRows {
  static constexpr int threads = 256, batch = 4;
  const O* offsets;
  int64_t rows, nnz;
  int32_t base;
  Counts* counts;

  __device__ void operator()() const {
    // Each warp counts by itself: blocks' atomics on 64 bits of shared memory go round in circles.
    constexpr int warps = threads / 32;
    __shared__ unsigned long long histograms[warps][classes], entries_of[warps][classes], extremes[3];
    const int thread = static_cast<int>(threadIdx.x);
    const bool first_lane = (thread & 31) == 0;
    if (static_cast<int64_t>(blockIdx.x) * threads >= rows) return;
    for (int c = thread; c < warps * classes; c += threads) (&histograms[0][0])[c] = (&entries_of[0][0])[c] = 0;
    if (thread < 3) extremes[thread] = thread == 0 ? none : 0;
    __syncthreads();
    unsigned long long *const histogram = histograms[thread >> 5], *const nonzeros = entries_of[thread >> 5];
    const auto note = [&](int bin, unsigned long long count, unsigned long long entries) {
      if (!first_lane) return;
      histogram[bin] += count;
      nonzeros[bin] += entries;
    };
    unsigned long long shortest = none, longest = 0, empty = 0;
    // Lengths that fit 32 bits and are in order take the short way.
    unsigned least_few = 0xffffffffu, most_few = 0;
    FewRows few;
    const auto flush = [&] {
      for (int bin = 0; bin < FewRows::bins; ++bin) {
        const uint32_t count = gpu::sum32(few.count(bin));
        if (count != 0) note(bin, count, gpu::sum32(few.entries_of(bin)));
      }
      empty += few.empty;
      few = {};
    };
    using U = std::make_unsigned_t<O>;
    const auto zero = static_cast<U>(base), most = static_cast<U>(nnz);
    if (blockIdx.x == 0 && thread == 0) {
      if (static_cast<U>(offsets[rows]) - zero != most)
        atomicMin(&counts->first_bad_row, static_cast<unsigned long long>(rows - 1));
      if (static_cast<U>(offsets[0]) != zero) atomicMin(&counts->first_bad_row, 0ull);
    }
    const auto take = [&](int64_t row, O begin, O end) {
      const U from = static_cast<U>(begin) - zero, to = static_cast<U>(end) - zero;
      bool good = row < rows;
      if (good && (to < from || to > most)) {
        atomicMin(&counts->first_bad_row, static_cast<unsigned long long>(row));
        good = false;
      }
      const U length = good ? to - from : 0;
      if (good && length <= FewRows::most) {
        few.add(static_cast<unsigned>(length));
        least_few = min(least_few, static_cast<unsigned>(length));
        most_few = max(most_few, static_cast<unsigned>(length));
        good = false;
      }
      uint32_t open = gpu::ballot32(good);
      if (open == 0) return;
      const auto size = static_cast<unsigned long long>(length);
      const int bin = size < 2 ? 0 : min(64 - __clzll(static_cast<long long>(size - 1)), classes - 1);
      if (good) {
        shortest = min(shortest, size);
        longest = max(longest, size);
      }
      const bool sums_fit = gpu::ballot32(size >> 26 != 0) == 0;
      while (open != 0) {
        const int one = gpu::shuffle_from(bin, __ffs(static_cast<int>(open)) - 1, 32);
        const uint32_t same = gpu::ballot32(good && bin == one);
        const unsigned long long mine = good && bin == one ? size : 0;
        note(one, static_cast<unsigned long long>(__popc(same)),
             sums_fit ? gpu::sum32(static_cast<uint32_t>(mine)) : gpu::subgroup_sum(mine, 32));
        open &= ~same;
      }
    };
    const int64_t stride = static_cast<int64_t>(gridDim.x) * threads;
    for (int64_t block = static_cast<int64_t>(blockIdx.x) * threads; block < rows; block += batch * stride) {
      O begin[batch], end[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        const int64_t row = block + u * stride + thread;
        begin[u] = row < rows ? offsets[row] : 0;
        end[u] = row < rows ? offsets[row + 1] : 0;
      }
#pragma unroll
      for (int u = 0; u < batch; ++u) take(block + u * stride + thread, begin[u], end[u]);
      if (gpu::ballot32(few.rows > 255 - batch) != 0) flush();
    }
    flush();
    if (least_few <= FewRows::most) shortest = min(shortest, static_cast<unsigned long long>(least_few));
    longest = max(longest, static_cast<unsigned long long>(most_few));
    for (int mask = 16; mask > 0; mask >>= 1) {
      shortest = min(shortest, gpu::shuffle_xor(shortest, mask, 32));
      longest = max(longest, gpu::shuffle_xor(longest, mask, 32));
    }
    empty = gpu::subgroup_sum(empty, 32);
    if (first_lane) {
      atomicMin(&extremes[0], shortest);
      atomicMax(&extremes[1], longest);
      atomicAdd(&extremes[2], empty);
    }
    __syncthreads();
    if (thread < classes) {
      unsigned long long count = 0, entries = 0;
      for (int w = 0; w < warps; ++w) {
        count += histograms[w][thread];
        entries += entries_of[w][thread];
      }
      if (count != 0) {
        atomicAdd(&counts->histogram[thread], count);
        atomicAdd(&counts->nonzeros[thread], entries);
      }
    }
    if (thread == 0) {
      atomicMin(&counts->shortest, extremes[0]);
      atomicMax(&counts->longest, extremes[1]);
      if (extremes[2] != 0) atomicAdd(&counts->empty, extremes[2]);
    }
  }
};

/// The first index outside 0..cols-1.
template <class I>
struct CheckColumns {
  static constexpr int threads = 256, batch = 4;
  const I* indices;
  int64_t nnz, cols;
  int32_t base;
  Counts* counts;

  __device__ void operator()() const {
    using U = std::make_unsigned_t<I>;
    constexpr int width = 16 / static_cast<int>(sizeof(I));  // indices that are read at once
    struct alignas(16) Indices {
      I of[width];
    };
    const int64_t stride = static_cast<int64_t>(gridDim.x) * threads,
                  first = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    const auto check = [&](int64_t p, I index) {
      const U column = static_cast<U>(index) - static_cast<U>(base);
      if (static_cast<uint64_t>(column) >= static_cast<uint64_t>(cols))
        atomicMin(&counts->first_bad_entry, static_cast<unsigned long long>(p));
    };
    const auto skew = static_cast<int64_t>(reinterpret_cast<uintptr_t>(indices) / sizeof(I) % width);
    const int64_t before = (width - skew) % width, head = nnz < before ? nnz : before, groups = (nnz - head) / width,
                  tail = head + groups * width;
    if (first < head) check(first, indices[first]);
    if (tail + first < nnz) check(tail + first, indices[tail + first]);
    const auto* const grouped = reinterpret_cast<const Indices*>(indices + head);
    for (int64_t g = first; g < groups; g += batch * stride) {
      Indices x[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (g + u * stride < groups) x[u] = grouped[g + u * stride];
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        if (g + u * stride >= groups) continue;
        U worst = 0;
#pragma unroll
        for (int k = 0; k < width; ++k)
          worst = max(worst, static_cast<U>(static_cast<U>(x[u].of[k]) - static_cast<U>(base)));
        if (static_cast<uint64_t>(worst) < static_cast<uint64_t>(cols)) continue;
#pragma unroll
        for (int k = 0; k < width; ++k) check(head + (g + u * stride) * width + k, x[u].of[k]);
      }
    }
  }
};

/// Both in one launch: each part of the grid looks at its rows, then at its entries.
template <class I, class O>
struct CheckPattern {
  static constexpr int threads = 256;
  CountRows<O> rows;
  CheckColumns<I> columns;

  __device__ void operator()() const {
    rows();
    columns();
  }
};

}  // namespace kkc::row_stats::gpu_parts
