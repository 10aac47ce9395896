// Columns of C's rows, and the order in which entries of C gather their products (spgemm_gpu_ordered_kernels.hpp),
// where rows have moderately many products: a warp sorts a row's products by column in registers (expansion, sort and
// compression: Bell, Dalton, Olson, "Exposing fine-grained parallelism in algebraic multigrid methods", SIAM J. Sci.
// Comput. 34(4), 2012, section 4.3, a row at a time). That takes fewer instructions than a hash table, and one pass
// finds what counting, filling and the numeric phase's lists take three for.
#pragma once

#include "device/gpu_bitonic.hpp"
#include "spgemm_gpu_flat_rows.hpp"
#include "spgemm_gpu_gathered_tiles_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

/// Each row's sorted products: their words, in which of them an entry of C begins, and of which columns these entries
/// are.
template <class I>
struct SortedProducts {
  const int64_t* begins;  // of each row's products
  uint16_t* words;
  uint32_t* firsts;  // a bit each; the rows' bits begin in words of their own
  I* columns;        // a row's begin where its products do
  int32_t place_bits;

  __device__ uint32_t* firsts_of(int64_t i) const { return firsts + begins[i] / 32 + i; }
};
/// Words of 32 bits.
inline int64_t firsts_size(int64_t products, int64_t rows) { return products / 32 + rows + 1; }

/// Rows of at most `capacity` products. Key: wide enough for a column and a product's number.
template <class Left, class I, class Key, int per_lane>
struct SortRows {
  static constexpr int warps = per_lane * sizeof(Key) <= 128 ? 4 : 1, threads = 32 * warps;
  static constexpr uint32_t capacity = 32 * per_lane;
  Left A;
  Pattern<I> B;
  const int32_t* list;  // null: all
  int64_t count;
  SortedProducts<I> products;
  int32_t* counts;

  struct alignas(16) Warp {
    Key keys[capacity];
    int64_t begins[32];
    uint16_t bases[32], words[capacity];
  };
  struct alignas(16) Group {
    Key e[16 / sizeof(Key)];
  };
  static constexpr size_t shared_bytes = warps * sizeof(Warp);

  __device__ void operator()() const {
    extern __shared__ char shared[];
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    const int64_t item = static_cast<int64_t>(blockIdx.x) * warps + warp;
    if (item >= count) return;
    Warp& mine = reinterpret_cast<Warp*>(shared)[warp];
    const int64_t i = list != nullptr ? list[item] : item;
    constexpr int batch = per_lane < 4 ? per_lane : 4;
    I column[batch];
    const int32_t all = walk_flat<batch>(
        A, A.row(i), B, lane,
        [&](int at, int32_t k, int64_t begin, int32_t product) {
          mine.begins[at] = begin - product;
          mine.bases[at] = static_cast<uint16_t>((k << products.place_bits) - product);
        },
        [&](int u, int at, int32_t product) {
          column[u] = B.column(mine.begins[at] + product);
          mine.words[product] = static_cast<uint16_t>(mine.bases[at] + product);
        },
        [&](int u, bool there, int32_t product) {
          if (there) mine.keys[product] = static_cast<Key>(column[u]) * capacity + static_cast<Key>(product);
        });
    gpu::sync32();
    Key x[per_lane];
#pragma unroll
    for (int e = 0; e < per_lane; ++e) x[e] = e * 32 + lane < all ? mine.keys[e * 32 + lane] : ~Key{0};
    gpu::sync32();
    gpu::sort_runs(x);

    constexpr int group = per_lane * sizeof(Key) < 16 ? per_lane : static_cast<int>(16 / sizeof(Key));
#pragma unroll
    for (int e = 0; e < per_lane; e += group) {
      Group some;
#pragma unroll
      for (int v = 0; v < group; ++v) some.e[v] = x[e + v];
      if constexpr (group * sizeof(Key) == 16)
        reinterpret_cast<Group*>(mine.keys)[(lane * per_lane + e) / group] = some;
      else
        for (int v = 0; v < group; ++v) mine.keys[lane * per_lane + e + v] = some.e[v];
    }
    gpu::sync32();
    const int64_t begin = products.begins[i];
    uint16_t* const words = products.words + begin;
    uint32_t* const firsts = products.firsts_of(i);
    int32_t entries = 0;
    for (int32_t q = lane; q - lane < all; q += 32) {
      const bool there = q < all;
      const Key key = mine.keys[q], before = q > 0 ? mine.keys[q - 1] : key;
      if (there) words[q] = mine.words[static_cast<uint32_t>(key) % capacity];
      const bool first = there && (q == 0 || key / capacity != before / capacity);
      const uint32_t mask = gpu::ballot32(first);
      if (first) products.columns[begin + entries + __popc(mask & ((1u << lane) - 1))] = static_cast<I>(key / capacity);
      entries += __popc(mask);
      if (lane == 0) firsts[q / 32] = mask;
    }
    if (lane == 0) counts[i] = entries;
  }
};

/// The same where fewer lanes of a warp, `lanes`, hold a row.
template <class Left, class I, class Key, int lanes, int per_lane>
struct SortShortRows {
  static constexpr int threads = 128, warps = threads / 32, lanes_of_word = 32 / per_lane;
  static constexpr uint32_t capacity = per_lane * lanes;
  Left A;
  Pattern<I> B;
  const int32_t* list;  // null: all
  int64_t count;
  SortedProducts<I> products;
  int32_t* counts;

  struct alignas(16) Keys {
    Key e[per_lane];
  };
  struct Warp {
    Keys keys[32];
    uint16_t words[32 * per_lane];
  };

  __device__ void operator()() const {
    __shared__ Warp shared[warps];
    const int thread = static_cast<int>(threadIdx.x), lane = thread & 31, mine = lane & (lanes - 1);
    Warp& warp = shared[thread >> 5];
    const int64_t item = (static_cast<int64_t>(blockIdx.x) * threads + thread) / lanes;
    const bool there = item < count;
    const int64_t i = !there ? 0 : list != nullptr ? list[item] : item;
    LeftRow row{};
    if (there) row = A.row(i);
    Keys none;
#pragma unroll
    for (int e = 0; e < per_lane; ++e) none.e[e] = ~Key{0};
    warp.keys[lane] = none;
    gpu::sync32();

    Key* const keys = warp.keys[lane & ~(lanes - 1)].e;
    uint16_t* const row_words = warp.words + (lane & ~(lanes - 1)) * per_lane;
    uint32_t all = 0;
    const int32_t longest = warp_max(row.length);
    for (int32_t chunk = 0; chunk < longest; chunk += lanes) {
      const int32_t k = chunk + mine;
      int64_t begin = 0;
      uint32_t length = 0;
      if (k < row.length) {
        const int64_t j = A.column(row, k);
        begin = B.begin(j);
        length = static_cast<uint32_t>(B.end(j) - begin);
      }
      const uint32_t inclusive = gpu::subgroup_scan(length, lanes);
      const uint32_t first = all + inclusive - length;
      all += gpu::shuffle_from(inclusive, lanes - 1, lanes);
      constexpr uint32_t batch = 4;
      for (uint32_t t = 0; t < length; t += batch) {
        I column[batch];
#pragma unroll
        for (uint32_t u = 0; u < batch; ++u)
          if (t + u < length) column[u] = B.column(begin + t + u);
#pragma unroll
        for (uint32_t u = 0; u < batch; ++u)
          if (t + u < length) {
            const uint32_t product = first + t + u;
            keys[product] = static_cast<Key>(column[u]) * capacity + static_cast<Key>(product);
            row_words[product] = static_cast<uint16_t>((static_cast<uint32_t>(k) << products.place_bits) + t + u);
          }
      }
    }
    gpu::sync32();
    Key x[per_lane];
    const Keys own = warp.keys[lane];
#pragma unroll
    for (int e = 0; e < per_lane; ++e) x[e] = own.e[e];
    gpu::sync32();
    gpu::sort_runs<lanes>(x);

    Key before = gpu::shuffle_up(x[per_lane - 1], 1, lanes);
    const int64_t first_product = there ? products.begins[i] : 0;
    uint16_t* const words = products.words + first_product;
    uint32_t firsts = 0;
#pragma unroll
    for (int e = 0; e < per_lane; ++e) {
      const uint32_t q = static_cast<uint32_t>(mine * per_lane + e);
      if (q < all) {
        words[q] = row_words[static_cast<uint32_t>(x[e]) % capacity];
        if (q == 0 || x[e] / capacity != before / capacity) firsts |= 1u << q % 32;
      }
      before = x[e];
    }
    const int32_t begun = __popc(firsts);
    Key* column = keys + gpu::subgroup_scan(begun, lanes) - begun;  // there, to leave side by side
#pragma unroll
    for (int e = 0; e < per_lane; ++e)
      if ((firsts >> (mine * per_lane + e) % 32 & 1u) != 0) *column++ = x[e] / capacity;
#pragma unroll
    for (int mask = 1; mask < lanes && mask < lanes_of_word; mask <<= 1) firsts |= gpu::shuffle_xor(firsts, mask, 32);
    int32_t entries = __popc(firsts);
#pragma unroll
    for (int mask = lanes_of_word; mask < lanes; mask <<= 1) entries += gpu::shuffle_xor(entries, mask, 32);
    gpu::sync32();
    I* const columns = products.columns + first_product;
    for (int32_t e = mine; e < entries; e += lanes) columns[e] = static_cast<I>(keys[e]);
    if (mine % lanes_of_word == 0 && static_cast<uint32_t>(mine * per_lane) < all)
      products.firsts_of(i)[mine / lanes_of_word] = firsts;
    if (mine == 0 && there) counts[i] = entries;
  }
};

/// The lists of GatherTiles.
struct EntryLists {
  uint32_t *of_a, *of_b;
  int32_t* starts;
  Offsets positions_a, positions_b;  // of entries in the caller's values; no data: their own order

  __device__ void begin_entry(int64_t to, int32_t entry, int64_t from, int32_t product) const {
    starts[to + entry] = static_cast<int32_t>(from + product);
  }
  __device__ void end_row(int64_t to, int32_t last_entry, int64_t from, int32_t products, bool last_row) const {
    if (last_row) starts[to + last_entry + 1] = static_cast<int32_t>(from + products);
  }
  __device__ void product(int64_t p, int64_t entry_of_a, int64_t entry_of_b) const {
    of_a[p] = in_values(positions_a, entry_of_a);
    of_b[p] = in_values(positions_b, entry_of_b);
  }
};

/// C's columns, and lists of all products. `lanes` of a warp a row.
template <class Left, class I, int lanes>
struct ListSorted {
  static constexpr int threads = 128, rows_of_block = threads / lanes, batch = lanes < 8 ? 32 / lanes : 4,
                       masks = lanes * batch / 32;
  Left A;
  Pattern<I> B;
  int64_t rows;
  SortedProducts<I> products;
  Offsets offsets;  // of C
  I* columns;
  EntryLists lists;
  int32_t longest_a;

  size_t shared_bytes() const { return rows_of_block * static_cast<size_t>(longest_a) * sizeof(uint32_t); }

  __device__ void operator()() const {
    extern __shared__ char shared[];
    const int thread = static_cast<int>(threadIdx.x), lane = thread & (lanes - 1);
    const int64_t i = static_cast<int64_t>(blockIdx.x) * rows_of_block + thread / lanes;
    const bool there = i < rows;
    uint32_t* const begins = reinterpret_cast<uint32_t*>(shared) + thread / lanes * longest_a;
    const int64_t from = there ? products.begins[i] : 0;
    const auto all = static_cast<int32_t>(there ? products.begins[i + 1] - from : 0);
    const uint32_t *const firsts = products.firsts_of(there ? i : 0), places = (1u << products.place_bits) - 1;
    const uint16_t* const words = products.words + from;
    uint32_t word[batch], mask[masks];
    const auto read = [&](int32_t q) {
#pragma unroll
      for (int w = 0; w < masks; ++w)
        if (q - lane + 32 * w < all) mask[w] = firsts[q / 32 + w];
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (q + lanes * u < all) word[u] = words[q + lanes * u];
    };
    read(lane);  // while the rows of B are looked up
    const int64_t to = there ? offsets.at(i) : 0;
    const I* const kept = products.columns + from;
    I* const row_columns = columns + to;
    int32_t at = -1;
    LeftRow row{};
    if (there) row = A.row(i);
    for (int32_t k = lane; k < row.length; k += lanes) begins[k] = static_cast<uint32_t>(B.begin(A.column(row, k)));
    gpu::sync32();
    const int place_bits = products.place_bits;
    for (int32_t q = lane; q - lane < all; q += lanes * batch) {
      uint32_t first[masks];
#pragma unroll
      for (int w = 0; w < masks; ++w) first[w] = q - lane + 32 * w < all ? mask[w] : 0;
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        const uint32_t k = word[u] >> place_bits;
        if (q + lanes * u < all) lists.product(from + q + lanes * u, row.begin + k, begins[k] + (word[u] & places));
      }
      read(q + lanes * batch);
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        // An entry's products end where those of the next begin.
        const uint32_t here = first[u * lanes / 32];
        const int bit = u * lanes % 32 + lane;
        if ((here >> bit & 1u) != 0) {
          const int32_t entry = at + __popc(here << (31 - bit));
          row_columns[entry] = kept[entry];
          lists.begin_entry(to, entry, from, q + lanes * u);
        }
        if ((u + 1) * lanes % 32 == 0) at += __popc(here);
      }
    }
    if (lane == 0 && there) lists.end_row(to, at, from, all, i + 1 == rows);
  }
};

/// C's columns, and where each entry's products end, for OrderedRows. `lanes` of a warp a row.
template <class I, int lanes>
struct PlaceSorted {
  static constexpr int threads = 128;
  int64_t rows;
  SortedProducts<I> products;
  Offsets offsets;  // of C
  I* columns;
  uint16_t* ends;

  __device__ void operator()() const {
    const int64_t thread = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x, i = thread / lanes;
    if (i >= rows) return;
    const auto lane = static_cast<int32_t>(thread % lanes);
    const int64_t from = products.begins[i], to = offsets.at(i);
    const auto all = static_cast<int32_t>(products.begins[i + 1] - from),
               entries = static_cast<int32_t>(offsets.at(i + 1) - to);
    const uint32_t* const firsts = products.firsts_of(i);
    const I* const kept = products.columns + from;
    I* const row_columns = columns + to;
    uint16_t* const row_ends = ends + to;
    uint32_t mask = all > 0 ? firsts[0] : 0;
    for (int32_t e = lane; e < entries; e += lanes) row_columns[e] = kept[e];
    int32_t at = -1;
    for (int32_t q = 0; q < all; q += 32) {
      const uint32_t here = mask;
      if (q + 32 < all) mask = firsts[q / 32 + 1];
      for (int32_t bit = lane; bit < 32 && q + bit < all; bit += lanes)
        if (const int32_t entry = at + __popc(here << (31 - bit)); entry > 0 && (here >> bit & 1u) != 0)
          row_ends[entry - 1] = static_cast<uint16_t>(q + bit);
      at += __popc(here);
    }
    if (lane == 0 && entries > 0) row_ends[entries - 1] = static_cast<uint16_t>(all);
  }
};

}  // namespace kkc::spgemm::gpu_parts
