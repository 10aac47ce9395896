// Rows of A of very many entries that name short rows of B: cut into pieces of C, each piece would look at all of A's
// row. Their products are sorted once by entry of C instead, keeping the order of A's row (expansion, sort and
// compression: Bell, Dalton, Olson, "Exposing fine-grained parallelism in algebraic multigrid methods", SIAM J. Sci.
// Comput. 34(4), 2012, section 4.3, with the sort in the plan), and each entry of C gathers its own.
#pragma once

#include "device/gpu_rows.hpp"
#include "device/gpu_scan.hpp"
#include "spgemm_gpu_numeric_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

inline constexpr int32_t most_gathered_mean = 16;  // entries of a row of B, in the mean of those that a row names
inline constexpr int32_t most_gathered_rows = 4096;
inline constexpr int64_t most_gathered = int64_t{1} << 25;  // products: 40 bytes each while they are sorted
inline constexpr int32_t most_gathered_of_thread = 16, most_gathered_of_warp = 256;  // products of an entry
inline constexpr int32_t most_gathered_in_order = 1024;  // more: spgemm_gpu_crowded_kernels.hpp
// Entries of a row of A: those that may have such entries of C, which are added up alike with room for lists or
// without.
inline constexpr int32_t least_gathered = most_gathered_in_order + 1;
inline constexpr int gathering_threads = 256;
inline constexpr int32_t products_of_part = 8 * gathering_threads;

/// Zero at first.
struct GatherState {
  unsigned long long products;  // of the rows
  int32_t rows, entries, many, several, crowded, longest;
};

/// Entries of C that are not a thread's: a block's from the front, a warp's from the back.
struct LongSums {
  int32_t* list;
  int64_t room;
};
/// And how many of each.
struct ListedSums : LongSums {
  int64_t of_blocks, of_warps;

  __host__ __device__ int64_t blocks_of_warps() const {
    constexpr int64_t warps = gathering_threads / 32;
    return (of_warps + warps - 1) / warps;
  }
};

/// A block's share of an entry of C of more: the part-th products_of_part of its products.
struct CrowdedPart {
  int32_t entry, part;
};
inline int64_t most_crowded_parts(int64_t products) { return products / (most_gathered_in_order / 2) + 1; }

/// Lists the rows.
template <class Left>
struct FindGathered {
  static constexpr int threads = 256;
  Left A;
  int64_t rows;
  const int32_t* bounds;
  int32_t* list;     // [most_gathered_rows]
  int32_t* lengths;  // [most_gathered_rows], of A's rows
  GatherState* state;

  __device__ void operator()() const {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (i >= rows) return;
    const int32_t length = A.row(i).length, bound = bounds[i];
    if (length < least_gathered || bound == 0 || bound / length >= most_gathered_mean) return;
    const int32_t at = atomicAdd(&state->rows, 1);
    if (at >= most_gathered_rows) return;
    list[at] = static_cast<int32_t>(i);
    lengths[at] = length;
    atomicAdd(&state->products, static_cast<unsigned long long>(bound));
  }
};

/// Leaves none of their products to others.
struct TakeListed {
  static constexpr int threads = 256;
  const int32_t* list;
  int32_t count;
  int32_t* bounds;

  __device__ void operator()() const {
    const auto l = static_cast<int32_t>(blockIdx.x * threads + threadIdx.x);
    if (l < count) bounds[list[l]] = 0;
  }
};

/// Of the rows' entries, one behind the other: begins[l] is where those of the l-th row begin.
struct ListedRows {
  const int32_t* list;
  const int64_t* begins;
  int32_t count;

  __device__ int32_t row_of(int64_t e) const {
    return static_cast<int32_t>(gpu::row_of_entry(begins, 0, 0, count - 1, e));
  }
};

/// Entries of B's row that each entry names.
template <class Left, class I>
struct CountListed {
  static constexpr int threads = 256;
  Left A;
  Pattern<I> B;
  ListedRows rows;
  int64_t entries;
  int32_t* counts;

  __device__ void operator()() const {
    const int64_t e = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (e >= entries) return;
    const int32_t l = rows.row_of(e);
    const int64_t j = A.column(A.row(rows.list[l]), static_cast<int32_t>(e - rows.begins[l]));
    counts[e] = static_cast<int32_t>(B.end(j) - B.begin(j));
  }
};

/// Eight lanes an entry: its products' keys (row of the list and column), entry of A's row, position in B.
template <class Left, class I>
struct ExpandListed {
  static constexpr int threads = 256, lanes = 8;
  Left A;
  Pattern<I> B;
  ListedRows rows;
  int64_t entries;
  const int64_t* begins;  // of each entry's products
  int32_t column_bits;
  unsigned long long* keys;
  uint32_t *of_a, *of_b;

  __device__ void operator()() const {
    const int64_t e = (static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x) / lanes;
    if (e >= entries) return;
    const int32_t l = rows.row_of(e), k = static_cast<int32_t>(e - rows.begins[l]);
    const int64_t begin = B.begin(A.column(A.row(rows.list[l]), k)), first = begins[e];
    const auto count = static_cast<int32_t>(begins[e + 1] - first);
    for (int32_t t = static_cast<int32_t>(threadIdx.x) % lanes; t < count; t += lanes) {
      keys[first + t] =
          static_cast<unsigned long long>(l) << column_bits | static_cast<unsigned long long>(B.column(begin + t));
      of_a[first + t] = static_cast<uint32_t>(k);
      of_b[first + t] = static_cast<uint32_t>(begin + t);
    }
  }
};

/// What the numeric phase reads: for each product, in the order of C's entries, the entry of A's row and the position
/// in B; for each entry of C its first product, its row and its place in C.
struct GatheredLists {
  const uint32_t *of_a, *of_b;
  const int32_t* starts;
  const int32_t* row_of;  // null: of_a counts through all of A
  const int64_t* places;  // null: all entries, as they lie in C

  template <class Left>
  __device__ LeftRow row(const Left& A, int64_t e) const {
    return row_of != nullptr ? A.row(row_of[e]) : LeftRow{0, 0, 0};
  }
  __device__ int64_t place(int64_t e) const { return places != nullptr ? places[e] : e; }
};

/// Notes the parts of entry e of C, of so many products, if these are too many for one thread to add up.
__device__ inline void list_crowded(int64_t e, int32_t products, CrowdedPart* crowded, GatherState* state) {
  if (products <= most_gathered_in_order) return;
  const int32_t parts = (products - 1) / products_of_part + 1, first = atomicAdd(&state->crowded, parts);
  for (int32_t part = 0; part < parts; ++part) crowded[first + part] = {static_cast<int32_t>(e), part};
}
/// Notes entry e where it is not a thread's. All lanes of a warp, with no products for none.
__device__ inline void list_long_sum(int64_t e, int32_t products, const LongSums& sums, CrowdedPart* crowded,
                                     GatherState* state) {
  list_crowded(e, products, crowded, state);
  if (products > most_gathered_of_warp && products <= most_gathered_in_order)
    sums.list[atomicAdd(&state->many, 1)] = static_cast<int32_t>(e);
  const bool of_warp = products > most_gathered_of_thread && products <= most_gathered_of_warp;
  const uint32_t all = gpu::ballot32(of_warp);
  if (all == 0) return;
  const auto lane = static_cast<int>(threadIdx.x & 31u);
  int32_t before = 0;
  if (lane == 0) before = atomicAdd(&state->several, __popc(all));
  before = gpu::shuffle_from(before, 0, 32) + __popc(all & ((1u << lane) - 1));
  if (of_warp) sums.list[sums.room - 1 - before] = static_cast<int32_t>(e);
}
/// Lists the entries of C that are not a thread's.
struct ListLongSums {
  static constexpr int threads = 256, items = 4;
  const int32_t* starts;
  int64_t entries;
  LongSums sums;
  CrowdedPart* crowded;
  GatherState* state;

  __device__ void operator()() const {
    const int64_t first = static_cast<int64_t>(blockIdx.x) * (threads * items) + threadIdx.x;
    int32_t products[items];
#pragma unroll
    for (int u = 0; u < items; ++u) {
      const int64_t e = first + u * threads;
      products[u] = e < entries ? starts[e + 1] - starts[e] : 0;
    }
#pragma unroll
    for (int u = 0; u < items; ++u) list_long_sum(first + u * threads, products[u], sums, crowded, state);
  }
};

/// From the sorted keys and the entries counted up to each: the products in their order, the entries' rows, columns and
/// first products, the rows' sizes.
template <class I>
struct ListGathered {
  static constexpr int threads = 256;
  const unsigned long long* keys;
  const uint32_t* order;
  const int32_t* counted;
  const uint32_t *from_a, *from_b;
  int64_t products;
  int32_t column_bits;
  const int32_t* list;
  uint32_t *of_a, *of_b;
  int32_t *starts, *row_of, *firsts;  // firsts[l]: the first entry of the l-th row
  I* columns;
  int32_t* row_in_list;

  __device__ void operator()() const {
    const int64_t p = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (p >= products) return;
    of_a[p] = from_a[order[p]];
    of_b[p] = from_b[order[p]];
    const unsigned long long key = keys[p];
    if (p == products - 1) starts[counted[p]] = static_cast<int32_t>(products);
    if (p > 0 && keys[p - 1] == key) return;
    const int32_t entry = counted[p] - 1, l = static_cast<int32_t>(key >> column_bits);
    starts[entry] = static_cast<int32_t>(p);
    row_of[entry] = list[l];
    row_in_list[entry] = l;
    columns[entry] = static_cast<I>(key & ((1ull << column_bits) - 1));
    if (p == 0 || static_cast<int32_t>(keys[p - 1] >> column_bits) != l) firsts[l] = entry;
  }
};

/// Sizes of the rows, or none of them.
struct SizeGathered {
  static constexpr int threads = 256;
  const int32_t* list;
  const int32_t* firsts;
  int32_t rows;
  int32_t* counts;  // of C
  GatherState* state;

  /// Rows follow each other in the order of the list.
  __device__ void operator()() const {
    const auto l = static_cast<int32_t>(blockIdx.x * threads + threadIdx.x);
    if (l >= rows) return;
    const int32_t size = firsts == nullptr ? 0 : (l + 1 < rows ? firsts[l + 1] : state->entries) - firsts[l];
    counts[list[l]] = size;
    atomicMax(&state->longest, size);
  }
};

/// C's columns and the entries' places; lists the entries of many products, and those of more.
template <class I>
struct PlaceGathered {
  static constexpr int threads = 256;
  const int32_t *starts, *row_of, *row_in_list, *firsts;
  const I* columns;
  int64_t entries;
  Offsets offsets;  // of C
  I* target;
  int64_t* places;
  LongSums sums;
  CrowdedPart* crowded;
  GatherState* state;

  __device__ void operator()() const {
    const int64_t e = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    int32_t products = 0;
    if (e < entries) {
      const int64_t place = offsets.at(row_of[e]) + (e - firsts[row_in_list[e]]);
      places[e] = place;
      target[place] = columns[e];
      products = starts[e + 1] - starts[e];
    }
    list_long_sum(e, products, sums, crowded, state);
  }
};

/// A thread an entry of C of few products, or a warp one of several: all lanes read, one adds, so that the order is the
/// same.
template <class Left, class T, class I>
struct GatherRows {
  Left A;
  RightValues<T, I> B;
  Values<T> C;
  GatheredLists lists;
  int64_t entries;

  static constexpr int per_lane = 2, staged = 32 * per_lane, warp_room = 2 * staged;  // values of a warp

  __device__ void run(int64_t e) const {
    if (e >= entries) return;
    const int32_t begin = lists.starts[e], end = lists.starts[e + 1];
    if (end - begin > most_gathered_of_thread) return;
    const Coefficients<T> c(C);
    T sum{};
    if (c.live()) {
      const LeftRow row = lists.row(A, e);
#pragma unroll 1
      for (int32_t p = begin; p < end; p += ahead) {
        T a[ahead], b[ahead];
#pragma unroll
        for (int u = 0; u < ahead; ++u)
          if (p + u < end) read(row, p + u, a[u], b[u]);
#pragma unroll
        for (int u = 0; u < ahead; ++u)
          if (p + u < end) sum = gpu::multiply_add(a[u], b[u], sum);
      }
    }
    c.finish(C.data[lists.place(e)], sum);
  }

  /// room: the warp's.
  __device__ void by_warp(int64_t e, T* room) const {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int32_t begin = lists.starts[e], end = lists.starts[e + 1];
    const Coefficients<T> c(C);
    T sum{};
    if (c.live()) {
      const LeftRow row = lists.row(A, e);
      T a[per_lane], b[per_lane];
      const auto read_next = [&](int32_t first) {
#pragma unroll
        for (int u = 0; u < per_lane; ++u)
          if (const int32_t p = first + u * 32 + lane; p < end) read(row, p, a[u], b[u]);
      };
      read_next(begin);
      for (int32_t first = begin; first < end; first += staged) {
#pragma unroll
        for (int u = 0; u < per_lane; ++u) {
          room[u * 32 + lane] = a[u];
          room[staged + u * 32 + lane] = b[u];
        }
        gpu::sync32();
        read_next(first + staged);
        if (lane == 0) {
          const int32_t count = end - first < staged ? end - first : staged;
#pragma unroll 8
          for (int32_t q = 0; q < count; ++q) sum = gpu::multiply_add(room[q], room[staged + q], sum);
        }
        gpu::sync32();
      }
    }
    if (lane == 0) c.finish(C.data[lists.place(e)], sum);
  }

  __device__ void read(const LeftRow& row, int32_t p, T& a, T& b) const {
    a = A.value(row, static_cast<int32_t>(lists.of_a[p]));
    b = B.value(lists.of_b[p]);
  }

 private:
  static constexpr int ahead = 2;  // products that a thread reads at once
};

/// A block an entry of many: all threads read, one adds, so that the order is the same.
template <class Left, class T, class I>
struct GatherManyRows {
  static constexpr int threads = gathering_threads;
  static constexpr size_t room_bytes = 4 * threads * sizeof(T);

  /// room: of two rounds, factors, then entries of B.
  __device__ static void run(const GatherRows<Left, T, I>& each, int64_t e, void* room) {
    T* const stages = static_cast<T*>(room);
    const auto thread = static_cast<int32_t>(threadIdx.x);
    const GatheredLists& lists = each.lists;
    const int32_t begin = lists.starts[e], end = lists.starts[e + 1];
    const Coefficients<T> c(each.C);
    T sum{};
    if (c.live()) {
      const LeftRow row = lists.row(each.A, e);
      T a{}, b{};
      const auto read = [&](int32_t p) {
        if (p < end) each.read(row, p, a, b);
      };
      read(begin + thread);
      for (int32_t first = begin, round = 0; first < end; first += threads, round ^= 1) {
        T* const stage = stages + round * 2 * threads;
        stage[thread] = a;
        stage[threads + thread] = b;
        __syncthreads();
        read(first + threads + thread);
        if (thread != 0) continue;
        const int32_t count = end - first < threads ? end - first : threads;
#pragma unroll 8
        for (int32_t q = 0; q < count; ++q) sum = gpu::multiply_add(stage[q], stage[threads + q], sum);
      }
    }
    if (thread == 0) c.finish(each.C.data[lists.place(e)], sum);
  }
};

/// One where a sorted key differs from the one before, for a scan.
struct FirstOfKeys {
  const unsigned long long* keys;

  template <int vector>
  __device__ void load(int64_t, int64_t i, int32_t (&x)[vector]) const {
#pragma unroll
    for (int k = 0; k < vector; ++k) x[k] = i + k == 0 || keys[i + k] != keys[i + k - 1] ? 1 : 0;
  }
};

}  // namespace kkc::spgemm::gpu_parts
