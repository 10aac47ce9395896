// Values of A B on GPUs where every row of B has exactly one entry and rows are of many kinds: the plan keeps the
// products of each entry of C. Each sum has one thread, or one block, and a fixed order.
#pragma once

#include "spgemm_gpu_aggregates_kernels.hpp"
#include "spgemm_gpu_rows_by_column.hpp"

namespace kkc::spgemm::gpu_parts {

/// The products of each entry of C, as the plan keeps them where rows are of many kinds.
struct EntryProducts {
  const uint32_t* order;    // positions in A's values; by tiles only where blocks take entries of many products, or
                            // rows are longer than a tile
  const uint16_t* places;   // by tiles, of A's entries in rows that are not: their products' among those of the tile
  const int32_t* starts;    // [entries + 1]
  const uint32_t* rows;     // of C's entries, diagonal_entry added; null unless rows are scaled
  const int32_t* diagonal;  // of A's rows: position + 1
};
inline constexpr uint32_t diagonal_entry = 1u << 31;
inline constexpr int32_t most_of_thread = 256;  // products; entries of more are a block's

/// What of an entry's sum is C's.
template <class T, class Scale>
__device__ inline T scaled_sum(const EntryProducts& products, const Scale& scale, const T* a, const T* b, int64_t e,
                               const T& sum) {
  if constexpr (Scale::scales) {
    const uint32_t mark = products.rows[e];
    const bool own = (mark & diagonal_entry) != 0;
    const auto i = static_cast<int64_t>(mark & ~diagonal_entry);
    const T scaled = gpu::multiply(scale.of(i, a[products.diagonal[i] - 1], own), sum);
    return own ? gpu::add(b[i], scaled) : scaled;
  } else {
    return sum;
  }
}

/// A thread several entries of C. ahead: products whose operands are asked for at once.
template <class T, class I, class Scale, int items = 4, int ahead = 2>
struct GatherProducts {
  static constexpr int threads = 256, tile = threads * items;
  const T* a;
  const I* columns;  // of A
  int32_t base;
  const T* b;
  Values<T> C;
  EntryProducts products;
  int64_t entries;
  Scale scale;

  __device__ void operator()() const {
    const int64_t first = static_cast<int64_t>(blockIdx.x) * tile + threadIdx.x;
    const Coefficients<T> c(C);
    int32_t begin[items], length[items];
    uint32_t position[items];
    T x[items];
    int64_t j[items];
#pragma unroll
    for (int u = 0; u < items; ++u) {
      const int64_t e = first + u * threads;
      length[u] = 0;
      if (e < entries) {
        begin[u] = products.starts[e];
        length[u] = products.starts[e + 1] - begin[u];
      }
    }
    if (!c.live()) {
      for (int u = 0; u < items; ++u)
        if (length[u] > 0 && length[u] <= most_of_thread) c.finish(C.data[first + u * threads], T{});
      return;
    }
#pragma unroll
    for (int u = 0; u < items; ++u)
      if (length[u] > 0) position[u] = products.order[begin[u]];
#pragma unroll
    for (int u = 0; u < items; ++u)
      if (length[u] > 0) {
        x[u] = a[position[u]];
        j[u] = static_cast<int64_t>(columns[position[u]]) - base;
      }
#pragma unroll
    for (int u = 0; u < items; ++u)
      if (length[u] > 0) x[u] = gpu::multiply(x[u], b[j[u]]);
#pragma unroll
    for (int u = 0; u < items; ++u) {
      if (length[u] == 0 || length[u] > most_of_thread) continue;
      T sum = x[u];
      for (int32_t p = 1; p < length[u]; p += ahead) add_products(begin[u] + p, length[u] - p, sum);
      const int64_t e = first + u * threads;
      c.finish(C.data[e], scaled_sum(products, scale, a, b, e, sum));
    }
  }

  /// Products p and those behind it, up to `count` and `ahead`: what they need is on its way for all of them at once.
  __device__ void add_products(int64_t p, int32_t count, T& sum) const {
    uint32_t position[ahead];
    T y[ahead];
    int64_t j[ahead];
#pragma unroll
    for (int v = 0; v < ahead; ++v)
      if (v < count) position[v] = products.order[p + v];
#pragma unroll
    for (int v = 0; v < ahead; ++v)
      if (v < count) {
        y[v] = a[position[v]];
        j[v] = static_cast<int64_t>(columns[position[v]]) - base;
      }
#pragma unroll
    for (int v = 0; v < ahead; ++v)
      if (v < count) y[v] = gpu::multiply(y[v], b[j[v]]);
#pragma unroll
    for (int v = 0; v < ahead; ++v)
      if (v < count) sum = gpu::add(sum, y[v]);
  }

  __device__ T product(int64_t p) const {
    const uint32_t position = products.order[p];
    return gpu::multiply(a[position], b[static_cast<int64_t>(columns[position]) - base]);
  }
};

/// Of fewer entries of C than fill a device: a thread each, whose products would otherwise wait for each other.
inline constexpr int64_t entries_that_fill = int64_t{1} << 18;
template <class T, class I, class Scale>
using GatherFewEntries = GatherProducts<T, I, Scale, 1, 8>;

/// A block an entry of many products.
template <class T, class I, class Scale>
struct GatherManyProducts {
  static constexpr int threads = 256;
  GatherProducts<T, I, Scale> each;
  const int32_t* list;

  __device__ void operator()() const {
    __shared__ T sums[threads / 32];
    const int64_t e = list[blockIdx.x];
    const Coefficients<T> c(each.C);
    const int64_t begin = each.products.starts[e], end = each.products.starts[e + 1];
    T sum{};
    if (c.live())
      for (int64_t p = begin + threadIdx.x; p < end; p += threads) sum = gpu::add(sum, each.product(p));
    sum = gpu::subgroup_sum(sum, 32);
    if ((threadIdx.x & 31u) == 0) sums[threadIdx.x >> 5] = sum;
    __syncthreads();
    if (threadIdx.x != 0) return;
    sum = sums[0];
    for (int w = 1; w < threads / 32; ++w) sum = gpu::add(sum, sums[w]);
    if (c.live()) sum = scaled_sum(each.products, each.scale, each.a, each.b, e, sum);
    c.finish(each.C.data[e], sum);
  }
};

/// A block the rows of a tile: A is read as it lies, and its products come to shared memory in the order of C's
/// entries.
template <class T, class I, class Scale>
struct TileProducts {
  static constexpr int threads = 256, items = entries_of_tile / threads;
  GatherProducts<T, I, Scale> each;
  RowTiles tiles;

  static size_t shared_bytes(int32_t longest) { return static_cast<size_t>(entries_of_tile + longest) * sizeof(T); }

  __device__ void operator()() const {
    extern __shared__ char shared[];
    T* const staged = reinterpret_cast<T*>(shared);
    const int32_t row = tiles.first_row[blockIdx.x], behind = tiles.first_row[blockIdx.x + 1];
    if (row == behind) return;
    const int64_t begin = tiles.offsets.at(row);
    const Coefficients<T> c(each.C);
    if (c.live()) stage(begin, static_cast<int32_t>(tiles.offsets.at(behind) - begin), staged);
    const auto from = static_cast<int32_t>(begin);
    const int64_t end = each.C.offsets.at(behind);
    int64_t e = each.C.offsets.at(row) + threadIdx.x;
    __syncthreads();
    add_up(e, end, from, staged, c);
  }

  /// A thread's entries of C, e and each `threads`-th from there on. from: the first product in shared memory.
  __device__ void add_up(int64_t e, int64_t end, int32_t from, const T* staged, const Coefficients<T>& c) const {
    for (; e < end; e += threads) {
      const int32_t first = each.products.starts[e], count = each.products.starts[e + 1] - first;
      if (count > most_of_thread) continue;
      T sum{};
      if (c.live()) {
        const T* const products = staged + (first - from);
        sum = products[0];
        for (int32_t p = 1; p < count; ++p) sum = gpu::add(sum, products[p]);
        sum = scaled_sum(each.products, each.scale, each.a, each.b, e, sum);
      }
      c.finish(each.C.data[e], sum);
    }
  }

  __device__ void stage(int64_t begin, int32_t length, T* staged) const {
    for (int32_t k = static_cast<int32_t>(threadIdx.x); k < length; k += entries_of_tile) {
      T x[items];
      int64_t j[items];
      int32_t place[items];
#pragma unroll
      for (int u = 0; u < items; ++u)
        if (k + u * threads < length) {
          const int64_t at = begin + k + u * threads;
          x[u] = gpu::load_once(each.a + at);
          j[u] = static_cast<int64_t>(gpu::load_once(each.columns + at)) - each.base;
          place[u] = each.products.places[at];
        }
#pragma unroll
      for (int u = 0; u < items; ++u)
        if (k + u * threads < length) staged[place[u]] = gpu::multiply(x[u], each.b[j[u]]);
    }
  }
};

/// The same beside rows longer than a tile. Of these each tile has the entries of C whose first products lie in it,
/// before and behind its own rows: these products are gathered.
template <class T, class I, class Scale>
struct TileProductsBesideLonger : TileProducts<T, I, Scale> {
  using TileProducts<T, I, Scale>::threads;
  using TileProducts<T, I, Scale>::items;
  static constexpr int blocks_per_sm = sizeof(T) > 8 ? 3 : 5;
  const int32_t* first_entry;  // [tiles + 1] of C, whose products begin in the tile or later

  static constexpr size_t shared_bytes = 2 * entries_of_tile * sizeof(T);

  __device__ void operator()() const {
    extern __shared__ char shared[];
    const auto& [each, tiles] = static_cast<const TileProducts<T, I, Scale>&>(*this);
    T* const staged = reinterpret_cast<T*>(shared);
    const int32_t row = tiles.first_row[blockIdx.x];
    int32_t behind = tiles.first_row[blockIdx.x + 1];
    const bool has_rows = row < behind, has_end = is_longer(row - 1), has_begin = has_rows && is_longer(behind - 1);
    if (!has_rows && !has_end) return;
    if (has_begin) --behind;
    int64_t e = has_end ? first_entry[blockIdx.x] : each.C.offsets.at(row);
    const bool to_next = has_begin || !has_rows;
    const int64_t end = to_next ? first_entry[blockIdx.x + 1] : each.C.offsets.at(behind);
    const int64_t begin = tiles.offsets.at(row);
    const auto from = static_cast<int32_t>(has_end ? each.products.starts[e] : begin);
    const Coefficients<T> c(each.C);
    if (c.live()) {
      const int64_t end_of_rows = tiles.offsets.at(behind);
      // An entry of so many products that it is not summed here may go on.
      const int64_t to = to_next ? min(int64_t{each.products.starts[end]}, int64_t{from} + 2 * entries_of_tile) : begin;
      if (has_end) gather(from, has_rows ? begin : to, staged);
      if (has_rows) this->stage(begin, static_cast<int32_t>(end_of_rows - begin), staged + (begin - from));
      if (has_begin) gather(end_of_rows, to, staged + (end_of_rows - from));
    }
    e += threadIdx.x;
    __syncthreads();
    this->add_up(e, end, from, staged, c);
  }

  __device__ bool is_longer(int32_t row) const {
    const Offsets& offsets = this->tiles.offsets;
    return row >= 0 && offsets.at(row + 1) - offsets.at(row) > entries_of_tile;
  }

  /// Products `from` to before `to`.
  __device__ void gather(int64_t from, int64_t to, T* staged) const {
    const auto& each = this->each;
    for (int64_t p = from + threadIdx.x; p < to; p += entries_of_tile) {
      uint32_t position[items];
      T x[items];
      int64_t j[items];
#pragma unroll
      for (int u = 0; u < items; ++u)
        if (p + u * threads < to) position[u] = each.products.order[p + u * threads];
#pragma unroll
      for (int u = 0; u < items; ++u)
        if (p + u * threads < to) {
          x[u] = each.a[position[u]];
          j[u] = static_cast<int64_t>(each.columns[position[u]]) - each.base;
        }
#pragma unroll
      for (int u = 0; u < items; ++u)
        if (p + u * threads < to) staged[p - from + u * threads] = gpu::multiply(x[u], each.b[j[u]]);
    }
  }
};

/// The first of low..high - 1 that begins in tile t or later, or `high`. begin(i): of A's entries.
template <class Begin>
__device__ int64_t first_of_tile(int64_t t, int64_t low, int64_t high, const Begin& begin) {
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (begin(middle) < t * entries_of_tile)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/// See TileProductsBesideLonger.
struct FindEntriesOfTiles {
  static constexpr int threads = 256;
  const int32_t* starts;
  int64_t entries, tiles;
  int32_t* first_entry;  // [tiles + 1]

  __device__ void operator()() const {
    const int64_t t = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (t > tiles) return;
    first_entry[t] = static_cast<int32_t>(first_of_tile(t, 0, entries, [&](int64_t e) { return starts[e]; }));
  }
};

/// The first row of each tile: of those with entries from the tile's first on.
struct FindTiles {
  static constexpr int threads = 256;
  Offsets offsets;  // of A
  int64_t rows, tiles;
  int32_t* first_row;  // [tiles + 1]

  __device__ void operator()() const {
    const int64_t t = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (t > tiles) return;
    first_row[t] = static_cast<int32_t>(
        first_of_tile(t, t == tiles ? rows : 0, rows, [&](int64_t row) { return offsets.at(row); }));
  }
};

}  // namespace kkc::spgemm::gpu_parts
