// Kernels of sort_rows: what the rows need, rows by length, and entries that are added up.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "device/gpu_bitonic.hpp"
#include "device/gpu_rows.hpp"
#include "device/gpu_warp.hpp"

namespace kkc::sort_rows::gpu_parts {

/// Rows by length: three sizes of subgroups, then lists: a warp a row, a block a row (two sizes), many blocks a row.
inline constexpr int classes = 7, first_listed = 3;
__host__ __device__ constexpr int64_t class_most(int c) {
  constexpr int64_t most[classes] = {8, 16, 32, 128, 1024, 4096, std::numeric_limits<int64_t>::max()};
  return most[c];
}
__device__ inline int class_of(int64_t length) {
  int c = 0;
  while (length > class_most(c)) ++c;
  return c;
}

struct Counts {
  unsigned long long descents, equals;  // of neighbours in the array less those between two rows
  unsigned long long rows[classes];
  unsigned long long long_entries;
  unsigned long long listed[classes];
};

template <class I, class O>
struct Pattern {
  const O* offsets;
  const I* indices;
  int64_t base, rows, nnz;
  __device__ int64_t begin(int64_t row) const { return static_cast<int64_t>(offsets[row]) - base; }
};

struct StartCounts {
  static constexpr int threads = 32;
  Counts* counts;
  __device__ void operator()() const {
    if (threadIdx.x == 0) *counts = Counts{};
  }
};

/// Neighbours that descend or are equal, wherever rows begin.
template <class I, class O>
struct CountNeighbours {
  static constexpr int threads = 256;
  Pattern<I, O> A;
  Counts* counts;

  __device__ void operator()() const {
    const int64_t stride = int64_t{gridDim.x} * threads;
    unsigned long long descents = 0, equals = 0;
    for (int64_t p = int64_t{blockIdx.x} * threads + threadIdx.x + 1; p < A.nnz; p += stride) {
      const I before = A.indices[p - 1], is = A.indices[p];
      descents += is < before;
      equals += is == before;
    }
    descents = gpu::subgroup_sum(descents, 32);
    equals = gpu::subgroup_sum(equals, 32);
    if ((threadIdx.x & 31u) == 0) {
      if (descents != 0) atomicAdd(&counts->descents, descents);
      if (equals != 0) atomicAdd(&counts->equals, equals);
    }
  }
};

/// Takes those between two rows away, and counts the rows of each class.
template <class I, class O>
struct CountRows {
  static constexpr int threads = 256;
  Pattern<I, O> A;
  Counts* counts;

  __device__ void operator()() const {
    __shared__ unsigned rows[classes];
    if (threadIdx.x < classes) rows[threadIdx.x] = 0;
    __syncthreads();
    const int64_t stride = int64_t{gridDim.x} * threads;
    unsigned long long descents = 0, equals = 0, entries = 0;
    for (int64_t row = int64_t{blockIdx.x} * threads + threadIdx.x; row < A.rows; row += stride) {
      const int64_t begin = A.begin(row), length = A.begin(row + 1) - begin;
      if (length == 0) continue;
      if (begin > 0) {
        descents += A.indices[begin] < A.indices[begin - 1];
        equals += A.indices[begin] == A.indices[begin - 1];
      }
      const int c = class_of(length);
      atomicAdd(&rows[c], 1u);
      if (c == classes - 1) entries += static_cast<unsigned long long>(length);
    }
    descents = gpu::subgroup_sum(descents, 32);
    equals = gpu::subgroup_sum(equals, 32);
    if ((threadIdx.x & 31u) == 0) {
      if (descents != 0) atomicAdd(&counts->descents, 0 - descents);
      if (equals != 0) atomicAdd(&counts->equals, 0 - equals);
    }
    if (entries != 0) atomicAdd(&counts->long_entries, entries);
    __syncthreads();
    if (threadIdx.x < classes && rows[threadIdx.x] != 0)
      atomicAdd(&counts->rows[threadIdx.x], static_cast<unsigned long long>(rows[threadIdx.x]));
  }
};

/// Rows of the classes that have lists, in any order: each row is sorted on its own.
template <class I, class O>
struct ListRows {
  static constexpr int threads = 256;
  Pattern<I, O> A;
  Counts* counts;
  I* lists[classes];

  __device__ void operator()() const {
    const int64_t row = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (row >= A.rows) return;
    const int c = class_of(A.begin(row + 1) - A.begin(row));
    if (c >= first_listed) lists[c][atomicAdd(&counts->listed[c], 1ull)] = static_cast<I>(row);
  }
};

/// A column with its place in the row: distinct, so that any sort is stable. Narrow columns: one number.
template <class I>
struct Element {
  I column;
  uint32_t place;
};
template <class I>
using Sorted = std::conditional_t<sizeof(I) == 4, uint64_t, Element<I>>;

template <class I>
__device__ inline Sorted<I> element(I column, uint32_t place) {
  if constexpr (sizeof(I) == 4)
    return static_cast<uint64_t>(static_cast<uint32_t>(column)) << 32 | place;
  else
    return {column, place};
}
template <class I>
__device__ inline Sorted<I> greatest() {
  return element(std::numeric_limits<I>::max(), 0xffffffffu);
}
struct Less {
  __device__ bool operator()(uint64_t a, uint64_t b) const { return a < b; }
  template <class I>
  __device__ bool operator()(const Element<I>& a, const Element<I>& b) const {
    return a.column != b.column ? a.column < b.column : a.place < b.place;
  }
};

template <class I, class O>
struct Target {
  I* indices;
  O* positions;

  __device__ void store(int64_t begin, int64_t i, const uint64_t& e) const {
    indices[begin + i] = static_cast<I>(e >> 32);
    positions[begin + i] = static_cast<O>(begin + static_cast<int64_t>(e & 0xffffffffu));
  }
  __device__ void store(int64_t begin, int64_t i, const Element<I>& e) const {
    indices[begin + i] = e.column;
    positions[begin + i] = static_cast<O>(begin + static_cast<int64_t>(e.place));
  }
};

/// Rows of lengths least..lanes * per_lane, `lanes` lanes a row, in registers. Without a list: all rows are looked at.
template <class I, class O, int lanes, int per_lane>
struct SortInRegisters {
  static constexpr int threads = 256;
  Pattern<I, O> A;
  Target<I, O> target;
  const I* list;  // or null
  int64_t count;  // of rows to look at
  int64_t least;

  __device__ void operator()() const {
    const int64_t item = (int64_t{blockIdx.x} * threads + threadIdx.x) / lanes;
    const int lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const int64_t row = item >= count ? -1 : list != nullptr ? static_cast<int64_t>(list[item]) : item;
    const int64_t begin = row < 0 ? 0 : A.begin(row);
    int64_t length = row < 0 ? 0 : A.begin(row + 1) - begin;
    if (length < least || length > lanes * per_lane) length = 0;
    if (gpu::ballot32(length > 0) == 0) return;
    Sorted<I> x[per_lane];
#pragma unroll
    for (int e = 0; e < per_lane; ++e) {
      const int i = e * lanes + lane;
      x[e] = i < length
                 ? element(static_cast<I>(A.indices[begin + i] - static_cast<I>(A.base)), static_cast<uint32_t>(i))
                 : greatest<I>();
    }
    gpu::bitonic_sort(x, lanes, Less{});
#pragma unroll
    for (int e = 0; e < per_lane; ++e)
      if (const int i = e * lanes + lane; i < length) target.store(begin, i, x[e]);
  }
};

/// A block a row of a list, in shared memory.
template <class I, class O, int most>
struct SortInShared {
  static constexpr int threads = most <= 1024 ? 128 : 512;
  static constexpr size_t shared_bytes = most * sizeof(Sorted<I>);
  Pattern<I, O> A;
  Target<I, O> target;
  const I* list;

  __device__ void operator()() const {
    extern __shared__ __align__(16) unsigned char shared_memory[];
    auto* const elements = reinterpret_cast<Sorted<I>*>(shared_memory);
    const int64_t row = list[blockIdx.x], begin = A.begin(row);
    const int length = static_cast<int>(A.begin(row + 1) - begin);
    int room = 2;
    while (room < length) room *= 2;
    for (int i = static_cast<int>(threadIdx.x); i < room; i += threads)
      elements[i] =
          i < length ? element(static_cast<I>(A.indices[begin + i] - static_cast<I>(A.base)), static_cast<uint32_t>(i))
                     : greatest<I>();
    gpu::bitonic_sort_shared(elements, room, Less{});
    for (int i = static_cast<int>(threadIdx.x); i < length; i += threads) target.store(begin, i, elements[i]);
  }
};

/// An entry of a long row: its column, and the row's number among the long ones.
template <class I>
struct LongKey {
  std::make_unsigned_t<I> column;
  uint32_t row;
};

/// Digits of the column, then of the row.
template <class I>
struct LongDigits {
  int column_passes;
  __device__ unsigned digit(const LongKey<I>& key, int pass) const {
    return pass < column_passes ? static_cast<unsigned>(key.column >> (8 * pass)) & 255u
                                : (key.row >> (8 * (pass - column_passes))) & 255u;
  }
};

template <class I, class O>
struct LongLengths {
  static constexpr int threads = 256;
  Pattern<I, O> A;
  const I* list;
  int64_t count;
  O* lengths;

  __device__ void operator()() const {
    const int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i < count) lengths[i] = static_cast<O>(A.begin(int64_t{list[i]} + 1) - A.begin(list[i]));
  }
};

/// The entries of the long rows, one row behind the other: `bounds` says where each begins.
template <class I, class O>
struct LongKeys {
  static constexpr int threads = 256;
  Pattern<I, O> A;
  const I* list;
  const O* bounds;  // [count + 1]
  int64_t count, entries;
  LongKey<I>* keys;

  __device__ void operator()() const {
    const int64_t k = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (k >= entries) return;
    const int64_t row = gpu::row_of_entry(bounds, 0, 0, count - 1, k);
    const int64_t p = A.begin(list[row]) + (k - static_cast<int64_t>(bounds[row]));
    keys[k] = {static_cast<std::make_unsigned_t<I>>(A.indices[p] - static_cast<I>(A.base)), static_cast<uint32_t>(row)};
  }
};

template <class I, class O>
struct StoreLong {
  static constexpr int threads = 256;
  Pattern<I, O> A;
  Target<I, O> target;
  const I* list;
  const O* bounds;
  int64_t entries;
  const LongKey<I>* keys;  // sorted
  const O* places;

  __device__ void operator()() const {
    const int64_t k = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (k >= entries) return;
    const LongKey<I> key = keys[k];
    const int64_t begin = A.begin(list[key.row]), bound = bounds[key.row];
    target.indices[begin + (k - bound)] = static_cast<I>(key.column);
    target.positions[begin + (k - bound)] = static_cast<O>(begin + (static_cast<int64_t>(places[k]) - bound));
  }
};

/// Sorted entries that differ from the one before, wherever rows begin.
template <class I>
struct MarkRuns {
  static constexpr int threads = 256;
  const I* indices;
  int64_t nnz;
  int32_t* marks;

  __device__ void operator()() const {
    const int64_t p = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (p < nnz) marks[p] = p == 0 || indices[p] != indices[p - 1] ? 1 : 0;
  }
};

/// First entries of rows begin runs too.
template <class O>
struct MarkRows {
  static constexpr int threads = 256;
  const O* offsets;  // base 0
  int64_t rows;
  int32_t* marks;

  __device__ void operator()() const {
    const int64_t row = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (row < rows && offsets[row] < offsets[row + 1]) marks[offsets[row]] = 1;
  }
};

/// The first entry of each run becomes an entry of the output; item nnz + r moves the offset of row r.
template <class I, class O>
struct MergeRuns {
  static constexpr int threads = 256;
  const I* indices;
  const O* offsets;  // base 0
  const int32_t* marks;
  const O* places;  // [nnz + 1]: sums of the marks before
  int64_t nnz, rows;
  I* merged;
  O *starts, *merged_offsets;

  __device__ void operator()() const {
    const int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i < nnz) {
      if (marks[i] == 0) return;
      merged[places[i]] = indices[i];
      starts[places[i]] = static_cast<O>(i);
    } else if (i - nnz <= rows) {
      merged_offsets[i - nnz] = places[offsets[i - nnz]];
      if (i == nnz) starts[places[nnz]] = static_cast<O>(nnz);
    }
  }
};

/// target[i] = source[i] - base
template <class T>
struct FromBase {
  static constexpr int threads = 256;
  const T* source;
  T base;
  int64_t count;
  T* target;

  __device__ void operator()() const {
    const int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (i < count) target[i] = source[i] - base;
  }
};

}  // namespace kkc::sort_rows::gpu_parts
