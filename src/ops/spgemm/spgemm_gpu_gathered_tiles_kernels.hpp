// All entries of C gather their products from lists: a block those of a tile. Its threads share the products evenly,
// however many an entry has, and leave their factors in shared memory, where one thread then adds up each entry's
// (segments of expanded products: Bell, Dalton, Olson, "Exposing fine-grained parallelism in algebraic multigrid
// methods", SIAM J. Sci. Comput. 34(4), 2012, section 4.3).
#pragma once

#include "device/gpu_bitonic.hpp"
#include "spgemm_gpu_crowded_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

inline constexpr int32_t products_of_tile = 768, least_products_of_tile = 256;  // where they are few
inline constexpr int32_t most_staged_of_entry = 256;  // products of the last that begins in a tile

/// Where an entry stands in the caller's values.
__device__ inline uint32_t in_values(const Offsets& positions, int64_t entry) {
  return static_cast<uint32_t>(positions.data != nullptr ? positions.at(entry) : entry);
}

/// The first entry of each tile: of those whose products begin in it. Lists the parts of crowded entries.
struct FindEntryTiles {
  static constexpr int threads = 256;
  const int32_t* starts;
  int32_t entries, tile;  // products of one
  int64_t tiles;
  int32_t* first_entry;  // [tiles + 1]
  CrowdedPart* crowded;  // null: there are none
  GatherState* state;

  __device__ void operator()() const {
    const auto e = static_cast<int32_t>(blockIdx.x * threads + threadIdx.x);
    if (e >= entries) return;
    if (crowded != nullptr) list_crowded(e, starts[e + 1] - starts[e], crowded, state);
    const int64_t before = e > 0 ? starts[e - 1] / tile : -1, mine = starts[e] / tile;
    for (int64_t t = before + 1; t <= mine; ++t) first_entry[t] = e;
    if (e + 1 == entries)
      for (int64_t t = mine + 1; t <= tiles; ++t) first_entry[t] = entries;
  }
};

/// The products of a tile that its block stages: all but those of a last entry that is a long one.
struct TileRange {
  int32_t first, behind;  // entries
  int32_t begin, end;     // products

  __device__ TileRange(const int32_t* starts, const int32_t* first_entry, int64_t tile)
      : first(first_entry[tile]), behind(first_entry[tile + 1]), begin(0), end(0) {
    if (first == behind) return;
    begin = starts[first];
    end = starts[behind];
    if (const int32_t last = starts[behind - 1]; end - last > most_staged_of_entry) end = last;
  }
};

/// Puts a tile's products in the order of B's entries, whose rows then are read together, and notes where each belongs:
/// a warp a tile, in its registers.
template <int per_lane>
struct OrderTiles {
  static constexpr int threads = 32, most = threads * per_lane;
  const int32_t *starts, *first_entry;
  uint32_t *of_a, *of_b;
  uint16_t* places;

  __device__ void operator()() const {
    __shared__ unsigned long long keys[most + threads];
    const auto lane = static_cast<int32_t>(threadIdx.x);
    const TileRange tile(starts, first_entry, blockIdx.x);
    const int32_t count = tile.end - tile.begin;
    if (count <= 0) return;
    // Keys of half a tile's bits sort in less than half of the time.
    uint32_t least = ~0u, largest = 0;
    for (int32_t k = lane; k < count; k += threads) {
      const uint32_t b = of_b[tile.begin + k];
      least = min(least, b);
      largest = max(largest, b);
    }
    for (int mask = threads / 2; mask > 0; mask >>= 1) {
      least = min(least, gpu::shuffle_xor(least, mask, threads));
      largest = max(largest, gpu::shuffle_xor(largest, mask, threads));
    }
    if (largest - least < ~0u / most)
      order(tile, count, least, reinterpret_cast<uint32_t*>(keys));
    else
      order(tile, count, least, keys);
  }

 private:
  /// keys: in the order of lanes, a gap behind each lane's.
  template <class Key>
  __device__ void order(const TileRange& tile, int32_t count, uint32_t least, Key* keys) const {
    const auto lane = static_cast<int32_t>(threadIdx.x);
    Key x[per_lane];
#pragma unroll
    for (int e = 0; e < per_lane; ++e) {
      const int32_t k = e * 32 + lane;
      x[e] = k < count ? static_cast<Key>(of_b[tile.begin + k] - least) * most + static_cast<Key>(k) : ~Key{0};
    }
    gpu::sort_runs(x);
#pragma unroll
    for (int e = 0; e < per_lane; ++e) keys[lane * (per_lane + 1) + e] = x[e];
    gpu::sync32();
    uint32_t moved[per_lane];
#pragma unroll
    for (int e = 0; e < per_lane; ++e)
      if (const int32_t k = e * 32 + lane; k < count) {
        x[e] = keys[k + k / per_lane];
        moved[e] = of_a[tile.begin + static_cast<int32_t>(x[e] % most)];
      }
    gpu::sync32();  // all are read
#pragma unroll
    for (int e = 0; e < per_lane; ++e)
      if (const int32_t k = e * 32 + lane; k < count) {
        of_b[tile.begin + k] = static_cast<uint32_t>(x[e] / most) + least;
        of_a[tile.begin + k] = moved[e];
        places[tile.begin + k] = static_cast<uint16_t>(x[e] % most);
      }
  }
};

/// Blocks of the crowded entries' parts first, then the tiles.
template <class Left, class T, class I>
struct GatherTiles {
  static constexpr int threads = gathering_threads, blocks_per_sm = sizeof(T) <= 8 ? 6 : 3, items = 4;
  static constexpr int32_t room_products = products_of_tile + most_staged_of_entry;
  static_assert(room_products == threads * items);
  using Many = GatherManyRows<Left, T, I>;
  GatherEntries<Left, T, I> entries;
  const int32_t* first_entry;
  const uint16_t* places;

  struct alignas(16) Room {
    static constexpr size_t of_tile = 2 * room_products * sizeof(T);
    unsigned char bytes[of_tile > Many::room_bytes ? of_tile : Many::room_bytes];
  };

  __device__ void operator()() const {
    __shared__ Room room;
    __shared__ bool last;
    T* const factors = reinterpret_cast<T*>(room.bytes);
    const int64_t parts = entries.crowded.count;
    if (blockIdx.x < parts) return entries.add_part(blockIdx.x, factors, last);
    T* const values = factors + room_products;
    const auto& each = entries.each;
    const int32_t* const starts = each.lists.starts;
    const TileRange tile(starts, first_entry, blockIdx.x - parts);
    if (tile.first == tile.behind) return;
    int32_t e = tile.first + static_cast<int32_t>(threadIdx.x), from = 0, to = 0;
    if (e < tile.behind) from = starts[e], to = starts[e + 1];
    const Coefficients<T> c(each.C);
    if (c.live()) stage(tile, factors, values);
    __syncthreads();
    while (e < tile.behind) {
      if (to <= tile.end) {
        T sum{};
        if (c.live())
          for (int32_t p = from - tile.begin; p < to - tile.begin; ++p)
            sum = gpu::multiply_add(factors[p], values[p], sum);
        c.finish(each.C.data[e], sum);
      }
      e += threads;
      if (e < tile.behind) from = starts[e], to = starts[e + 1];
    }
    const int32_t products = starts[tile.behind] - tile.end;  // of the last entry, if it is a long one
    if (products == 0 || products > most_gathered_in_order) return;
    __syncthreads();
    Many::run(each, tile.behind - 1, room.bytes);
  }

  /// The factors of the products: what they need is on its way for all of a thread's at once.
  __device__ void stage(const TileRange& tile, T* factors, T* values) const {
    const auto& each = entries.each;
    const int32_t first = tile.begin + static_cast<int32_t>(threadIdx.x), end = tile.end;
    uint32_t of_a[items], of_b[items], place[items];
    T a[items], b[items];
#pragma unroll
    for (int u = 0; u < items; ++u)
      if (const int32_t p = first + u * threads; p < end) {
        of_b[u] = each.lists.of_b[p];
        of_a[u] = each.lists.of_a[p];
        place[u] = places[p];
      }
#pragma unroll
    for (int u = 0; u < items; ++u)
      if (first + u * threads < end) {
        b[u] = each.B.value(of_b[u]);
        a[u] = each.A.value(LeftRow{0, 0, 0}, static_cast<int32_t>(of_a[u]));
      }
#pragma unroll
    for (int u = 0; u < items; ++u)
      if (first + u * threads < end) {
        factors[place[u]] = a[u];
        values[place[u]] = b[u];
      }
  }
};

}  // namespace kkc::spgemm::gpu_parts
