// The products of long rows of A B by entry of C, where B has exactly one entry in every row: a block sorts a row, its
// warps parts of it, which are then merged (Green, McColl, Bader, "GPU merge path", ICS 2012, section 4); the longest
// rows, which no block takes, a radix sort.
#pragma once

#include "device/gpu_rows.hpp"
#include "spgemm_gpu_aggregates_rows_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

/// A block a row of at most 1024 entries a warp.
template <class I, class Key, int warps>
struct OrderRowsInBlocks {
  static constexpr bool runs_beside = true;
  static constexpr int threads = 32 * warps, items = 32;
  static constexpr int32_t capacity = threads * items, run = 32 * items;
  Pattern<I> A;
  SingleEntries<I> B;
  const int32_t* list;
  RowsByColumn to;

  /// One place in 33 is left out, so that threads that run along their own items meet different banks.
  __host__ __device__ static constexpr int32_t padded(int32_t at) { return at + at / 32; }
  static constexpr size_t shared_bytes = padded(capacity) * sizeof(Key);

  __device__ void operator()() const {
    extern __shared__ char shared[];
    __shared__ int32_t diagonal, diagonal_at, entries, up_to_diagonal;
    Key* const keys = reinterpret_cast<Key*>(shared);
    const int thread = static_cast<int>(threadIdx.x), lane = thread & 31, warp = thread >> 5;
    if (thread == 0) diagonal = diagonal_at = entries = up_to_diagonal = 0;
    const int32_t i = list[blockIdx.x];
    const auto begin = static_cast<int32_t>(A.begin(i)), length = static_cast<int32_t>(A.end(i)) - begin;
    Key x[items];
    const uint32_t found = read_keys<capacity>(A, B, to, i, begin, length, warp * run + lane, x);
    gpu::sort_runs(x);
    store(keys, x, thread);
    __syncthreads();
    if (found != 0) diagonal = static_cast<int32_t>(found);
    for (int32_t width = run; width < capacity; width *= 2) {
      merge(keys, width, x, thread);
      __syncthreads();
      store(keys, x, thread);
      __syncthreads();
    }
    uint32_t firsts = 0;
    for (int k = 0; k < items; ++k) {
      const int32_t at = k * threads + thread;
      if (at >= length) break;
      const Key key = keys[padded(at)];
      const bool first = at == 0 || key / capacity != keys[padded(at - 1)] / capacity;
      const auto place = static_cast<int32_t>(key % capacity);
      to.order[begin + at] = static_cast<uint32_t>(begin + place);  // longer than a tile
      to.met[begin + at] = static_cast<uint32_t>(key / capacity) | (first ? first_product : 0u);
      if (first) firsts |= 1u << k;
      if (place + 1 == diagonal) diagonal_at = at;
    }
    __syncthreads();
    const auto all = static_cast<int32_t>(gpu::sum32(static_cast<uint32_t>(__popc(firsts))));
    // Of this thread's items those up to the diagonal's place.
    const int32_t behind = diagonal_at >= thread ? (diagonal_at - thread) / threads + 1 : 0;
    const auto some =
        static_cast<int32_t>(gpu::sum32(static_cast<uint32_t>(__popc(behind == 0 ? 0u : firsts << (32 - behind)))));
    if (lane == 0) {
      atomicAdd(&entries, all);
      atomicAdd(&up_to_diagonal, some);
    }
    __syncthreads();
    if (thread != 0) return;
    to.counts[i] = entries;
    if (diagonal != 0) to.entry_of_diagonal[i] = up_to_diagonal;
  }

  __device__ static void store(Key* keys, const Key (&x)[items], int thread) {
#pragma unroll
    for (int e = 0; e < items; ++e) keys[padded(thread * items + e)] = x[e];
  }

  /// The thread's items of the merge of two neighbouring runs of `width`.
  __device__ static void merge(const Key* keys, int32_t width, Key (&x)[items], int thread) {
    const int32_t pair = thread * items / (2 * width) * (2 * width), at = thread * items - pair, other = pair + width;
    int32_t low = at > width ? at - width : 0, high = at < width ? at : width;
    while (low < high) {
      const int32_t middle = (low + high) / 2;
      if (keys[padded(pair + middle)] < keys[padded(other + at - 1 - middle)])
        low = middle + 1;
      else
        high = middle;
    }
    int32_t a = low, b = at - low;
    Key from_a = a < width ? keys[padded(pair + a)] : ~Key{0}, from_b = b < width ? keys[padded(other + b)] : ~Key{0};
#pragma unroll
    for (int e = 0; e < items; ++e) {
      const bool takes_a = b >= width || (a < width && from_a <= from_b);
      x[e] = takes_a ? from_a : from_b;
      if (e + 1 == items) break;
      if (takes_a) {
        ++a;
        if (a < width) from_a = keys[padded(pair + a)];
      } else {
        ++b;
        if (b < width) from_b = keys[padded(other + b)];
      }
    }
  }
};

// ---- the longest rows ----

/// Their entries one behind the other.
struct LongestRows {
  const int32_t* list;
  int32_t count;
  const int32_t* bounds;  // [count + 1]
  int32_t entries;

  /// The row in whose entries e lies.
  __device__ int32_t row_of(int32_t e) const {
    return static_cast<int32_t>(gpu::row_of_entry(bounds, 0, 0, count - 1, e));
  }
};

template <class I>
struct LengthsOfRows {
  static constexpr int threads = 256;
  Pattern<I> A;
  const int32_t* list;
  int32_t count;
  int32_t* lengths;
  int32_t* counts;  // of C's rows: zero from here on

  __device__ void operator()() const {
    const int64_t l = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (l >= count) return;
    lengths[l] = static_cast<int32_t>(A.end(list[l]) - A.begin(list[l]));
    counts[list[l]] = 0;
  }
};

/// Keys: the row in the list and the column of C.
template <class I, class Key>
struct KeysOfLongestRows {
  static constexpr int threads = 256;
  Pattern<I> A;
  SingleEntries<I> B;
  LongestRows rows;
  int32_t column_bits;
  Key* keys;

  __device__ void operator()() const {
    const int64_t e = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (e >= rows.entries) return;
    const int32_t l = rows.row_of(static_cast<int32_t>(e));
    const int64_t position = A.begin(rows.list[l]) + (e - rows.bounds[l]);
    keys[e] = static_cast<Key>(l) << column_bits | static_cast<Key>(B.column(A.column(position)));
  }
};

template <class I, class Key>
struct OrderLongestRows {
  static constexpr int threads = 256;
  Pattern<I> A;
  LongestRows rows;
  int32_t column_bits;
  const Key* keys;         // sorted
  const uint32_t* places;  // where each was
  RowsByColumn to;
  int32_t* diagonal_at;  // [rows of the list] where it comes in the order, plus one; zero at first

  __device__ void operator()() const {
    const int64_t e = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    const bool there = e < rows.entries;
    const Key key = there ? keys[e] : 0;
    const auto l = static_cast<int32_t>(key >> column_bits);
    const bool first = there && (e == 0 || key != keys[e - 1]);
    if (there) {
      const int32_t row = rows.list[l];
      const auto begin = static_cast<int32_t>(A.begin(row)) - rows.bounds[l];
      const int32_t position = begin + static_cast<int32_t>(places[e]);
      const auto slot = begin + static_cast<int32_t>(e);
      to.order[slot] = static_cast<uint32_t>(position);
      to.met[slot] = (static_cast<uint32_t>(key) & ((1u << column_bits) - 1)) | (first ? first_product : 0u);
      if (to.diagonal != nullptr && static_cast<int32_t>(A.column(position)) == row) {
        to.found_diagonal(row, position);
        diagonal_at[l] = static_cast<int32_t>(e) + 1;
      }
    }
    add_of_row(first, l, rows, to.counts);
  }

  /// Adds the warp's lanes that are `counted` to their rows' sums. All lanes take part.
  __device__ static void add_of_row(bool counted, int32_t l, const LongestRows& rows, int32_t* sums) {
    const int32_t leader = gpu::shuffle_from(l, 0, 32);
    const uint32_t with_first = gpu::ballot32(counted && l == leader);
    if ((threadIdx.x & 31u) == 0 && with_first != 0) atomicAdd(sums + rows.list[leader], __popc(with_first));
    if (counted && l != leader) atomicAdd(sums + rows.list[l], 1);
  }
};

/// Counts the entries of C up to that which A's diagonal entry adds to.
template <class Key>
struct DiagonalOfLongestRows {
  static constexpr int threads = 256;
  LongestRows rows;
  int32_t column_bits;
  const Key* keys;
  const int32_t* diagonal_at;
  int32_t* entry_of_diagonal;

  __device__ void operator()() const {
    const int64_t e = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    const bool there = e < rows.entries;
    const Key key = there ? keys[e] : 0;
    const auto l = static_cast<int32_t>(key >> column_bits);
    const bool counted = there && e < diagonal_at[l] && (e == 0 || key != keys[e - 1]);
    OrderLongestRows<int32_t, Key>::add_of_row(counted, l, rows, entry_of_diagonal);
  }
};

}  // namespace kkc::spgemm::gpu_parts
