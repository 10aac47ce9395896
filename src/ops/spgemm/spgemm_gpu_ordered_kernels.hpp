// Rows that name short rows of B: each entry of C gathers its products, which the plan has put in order, those of one
// entry as A's row has them (the products sorted by column of Bell, Dalton, Olson, "Exposing fine-grained parallelism
// in algebraic multigrid methods", SIAM J. Sci. Comput. 34(4), 2012, section 4.3, but sorted once, and 2 bytes each).
// Lanes then wait for nobody, and no sum passes through shared memory.
#pragma once

#include "spgemm_gpu_flat_rows.hpp"
#include "spgemm_gpu_numeric_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

inline constexpr int64_t most_ordered_entries = 256;    // of a row of A: their factors lie in shared memory
inline constexpr int64_t most_ordered_products = 2048;  // of a row: they are put in order there
inline constexpr int64_t least_summed = 3;              // products an entry of C, for several at once
inline constexpr int word_bits = 16;                    // entry of A's row and place in B's

/// The products of a row or of a class of rows.
struct OrderedLists {
  const uint16_t* words;  // the entry of A's row, then `place_bits` for the place in the row of B that it names
  const int64_t* begins;
  const uint16_t* ends;       // of each entry's products in its row's words
  const int64_t* end_begins;  // of classes; null: C's offsets
  const uint16_t* number_of;  // null: a list for each row
  int32_t place_bits;
};

/// Puts words where the slots were. A block of one warp a row that stands for a class.
template <class Left, class I>
struct OrderProducts {
  static constexpr int threads = 32;
  Left A;
  Pattern<I> B;
  int64_t count;          // of classes, whose rows A has
  const int32_t* sizes;   // in C
  const int64_t* begins;  // of products
  const int64_t* end_begins;
  int32_t most_products, most_entries, place_bits;
  uint16_t *words, *ends;

  size_t shared_bytes() const {
    const auto p = static_cast<size_t>(most_products), e = static_cast<size_t>(most_entries);
    return 32 * sizeof(int32_t) + p * 4 + e * 4 + p * 4;
  }

  __device__ void operator()() const {
    extern __shared__ char shared[];
    const int lane = static_cast<int>(threadIdx.x);
    const int64_t i = blockIdx.x;
    auto* const bases = reinterpret_cast<int32_t*>(shared);
    auto* const ranked = reinterpret_cast<uint32_t*>(bases + 32);  // slot, and how many came to it before
    uint32_t* const starts = ranked + most_products;
    auto* const unordered = reinterpret_cast<uint16_t*>(starts + most_entries);
    uint16_t* const ordered = unordered + most_products;
    uint16_t* const mine = words + begins[i];
    const int32_t entries = sizes[i];
    for (int32_t j = lane; j < entries; j += 32) starts[j] = 0;
    gpu::sync32();
    constexpr int batch = 4;
    uint16_t slot[batch];
    const int32_t all = walk_flat<batch>(
        A, A.row(i), B, lane,
        [&](int at, int32_t k, int64_t, int32_t product) { bases[at] = (k << place_bits) - product; },
        [&](int u, int at, int32_t product) {
          slot[u] = mine[product];
          unordered[product] = static_cast<uint16_t>(bases[at] + product);
        },
        [&](int u, bool there, int32_t product) {
          if (there) ranked[product] = static_cast<uint32_t>(slot[u]) << 16 | atomicAdd(starts + slot[u], 1u);
        });
    gpu::sync32();
    uint16_t* const my_ends = ends + end_begins[i];
    int32_t before = 0;
    for (int32_t first = 0; first < entries; first += 32) {
      const int32_t j = first + lane, size = j < entries ? static_cast<int32_t>(starts[j]) : 0;
      const int32_t end = before + gpu::subgroup_scan(size, 32);
      if (j < entries) {
        starts[j] = static_cast<uint32_t>(end - size);
        my_ends[j] = static_cast<uint16_t>(end);
      }
      before = gpu::shuffle_from(end, 31, 32);
    }
    gpu::sync32();
    for (int32_t p = lane; p < all; p += 32) ordered[starts[ranked[p] >> 16] + (ranked[p] & 0xffffu)] = unordered[p];
    gpu::sync32();
    // Lanes that came to a slot together were ranked in any order.
    for (int32_t j = lane; j < entries; j += 32) {
      const auto begin = static_cast<int32_t>(starts[j]);
      sort(ordered + begin, (j + 1 < entries ? static_cast<int32_t>(starts[j + 1]) : all) - begin);
    }
    gpu::sync32();
    for (int32_t p = lane; p < all; p += 32) mine[p] = ordered[p];
  }

  __device__ static void sort(uint16_t* x, int32_t n) {
    for (int32_t p = 1; p < n; ++p) {
      const uint16_t word = x[p];
      int32_t to = p;
      for (; to > 0 && x[to - 1] > word; --to) x[to] = x[to - 1];
      x[to] = word;
    }
  }
};

/// Rows of which each has as many lanes.
struct OrderedRange {
  int64_t first, count;  // in the list
  int64_t blocks;        // up to the end of these rows
  int32_t lanes_log2, longest_a;
};
inline constexpr int most_ordered_ranges = 7;
struct OrderedRanges {
  OrderedRange each[most_ordered_ranges];
  int32_t count;
};

/// A subgroup a row, a lane an entry of C, `ahead` products at once. A lane takes `staged` entries of A at once: what
/// it loads does not wait then for what it has stored to shared memory.
template <class Left, class T, class I, int ahead, int staged>
struct OrderedRows {
  static constexpr int threads = 128;
  Left A;
  RightValues<T, I> B;
  Values<T> C;
  OrderedLists lists;
  const int32_t* list;  // null: all rows
  OrderedRanges ranges;

  static size_t shared_bytes(int block, int lanes_log2, int32_t longest_a) {
    return static_cast<size_t>(block >> lanes_log2) * static_cast<size_t>(longest_a) * (sizeof(T) + sizeof(uint32_t));
  }

  __device__ void operator()() const {
    int r = 0;
    while (r + 1 < ranges.count && blockIdx.x >= ranges.each[r].blocks) ++r;
    const OrderedRange& mine = ranges.each[r];
    run(static_cast<int64_t>(blockIdx.x) - (r > 0 ? ranges.each[r - 1].blocks : 0), mine.first, mine.count,
        mine.lanes_log2, mine.longest_a);
  }

  __device__ void run(int64_t block, int64_t first_item, int64_t count, int lanes_log2, int32_t longest_a) const {
    extern __shared__ char shared[];
    const int lanes = 1 << lanes_log2, lane = static_cast<int>(threadIdx.x) & (lanes - 1),
              group = static_cast<int>(threadIdx.x) >> lanes_log2, groups = static_cast<int>(blockDim.x) >> lanes_log2;
    T* const factors = reinterpret_cast<T*>(shared) + group * longest_a;
    uint32_t* const begins = reinterpret_cast<uint32_t*>(reinterpret_cast<T*>(shared) + groups * longest_a) +
                             static_cast<ptrdiff_t>(group) * longest_a;
    const int64_t item = block * groups + group;
    const Coefficients<T> c(C);
    int64_t i = 0;
    if (item < count) {
      i = list != nullptr ? list[first_item + item] : item;
      if (c.live()) {
        const LeftRow row = A.row(i);
#pragma unroll 1
        for (int32_t first = lane; first < row.length; first += staged * lanes) {
          I columns[staged];
          uint32_t at_b[staged];
          T values[staged];
#pragma unroll
          for (int u = 0; u < staged; ++u)
            if (const int32_t k = first + u * lanes; k < row.length) columns[u] = A.column(row, k);
#pragma unroll
          for (int u = 0; u < staged; ++u)
            if (const int32_t k = first + u * lanes; k < row.length) {
              at_b[u] = static_cast<uint32_t>(B.B.begin(columns[u]));
              values[u] = A.value(row, k);
            }
#pragma unroll
          for (int u = 0; u < staged; ++u)
            if (const int32_t k = first + u * lanes; k < row.length) {
              begins[k] = at_b[u];
              factors[k] = values[u];
            }
        }
      }
    }
    gpu::sync32();
    if (item >= count) return;
    const int64_t at = C.offsets.at(i), number = lists.number_of != nullptr ? lists.number_of[i] : i;
    const auto length = static_cast<int32_t>(C.offsets.at(i + 1) - at);
    const uint16_t* const words = lists.words + lists.begins[number];
    const uint16_t* const ends = lists.ends + (lists.end_begins != nullptr ? lists.end_begins[number] : at);
    const uint32_t places = (1u << lists.place_bits) - 1;
#pragma unroll 1
    for (int32_t j = lane; j < length; j += lanes) {
      T sum{};
      if (c.live()) {
        const int32_t end = ends[j];
#pragma unroll 1
        for (int32_t p = j > 0 ? ends[j - 1] : 0; p < end; p += ahead) {
          T a[ahead], b[ahead];
#pragma unroll
          for (int u = 0; u < ahead; ++u)
            if (p + u < end) {
              const uint32_t word = words[p + u], k = word >> lists.place_bits;
              a[u] = factors[k];
              b[u] = B.value(begins[k] + (word & places));
            }
#pragma unroll
          for (int u = 0; u < ahead; ++u)
            if (p + u < end) sum = gpu::multiply_add(a[u], b[u], sum);
        }
      }
      c.finish(C.data[at + j], sum);
    }
  }
};

}  // namespace kkc::spgemm::gpu_parts
