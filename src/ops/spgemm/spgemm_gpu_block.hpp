// What the blocks of the sparse products' GPU kernels share: sums and scans of a block, walks over the rows of B that a
// row of A names.
#pragma once

#include "spgemm_gpu_rows.hpp"

namespace kkc::spgemm::gpu_parts {

/// The sum of the values of the threads before this one, and of all. `sums` holds 33 integers; the block stays in step.
__device__ inline int32_t block_scan(int32_t value, int32_t* sums, int32_t& total) {
  const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
  const int32_t inclusive = gpu::subgroup_scan(value, 32);
  __syncthreads();
  if (lane == 31) sums[warp] = inclusive;
  __syncthreads();
  if (warp == 0) {
    const int warps = static_cast<int>(blockDim.x) >> 5;
    const int32_t mine = lane < warps ? sums[lane] : 0;
    const int32_t scanned = gpu::subgroup_scan(mine, 32);
    gpu::sync32();
    sums[lane] = scanned - mine;
    if (lane == 31) sums[32] = scanned;
  }
  __syncthreads();
  total = sums[32];
  return sums[warp] + inclusive - value;
}

/// Of lanes that hold `condition`: the highest place in its subgroup, plus one. The same in the whole warp.
__device__ inline int highest_lane(bool condition, int lanes) {
  uint32_t mask = gpu::ballot32(condition);
  for (int shift = 16; shift >= lanes; shift >>= 1) mask |= mask >> shift;
  if (lanes < 32) mask &= (1u << lanes) - 1;
  return 32 - __clz(static_cast<int>(mask));
}

/// The largest value among the 32 neighbours.
__device__ inline int32_t warp_max(int32_t value) {
#if defined(__HIP__)
  for (int mask = 16; mask > 0; mask >>= 1) {
    const int32_t other = gpu::shuffle_xor(value, mask, 32);
    value = other > value ? other : value;
  }
  return value;
#else
  return __reduce_max_sync(0xffffffffu, value);
#endif
}

/// Keys in shared memory with linear probing and multiplicative hashing (Knuth, TAOCP 3, section 6.4). Never full.
struct HashedKeys {
  static constexpr int32_t empty = -1;
  int32_t* keys;
  uint32_t mask;  // places - 1, a power of two

  __device__ void clear(int thread, int threads) const {
    struct alignas(16) Four {
      int32_t e[4];
    };
    for (uint32_t i = static_cast<uint32_t>(thread); i <= mask / 4; i += static_cast<uint32_t>(threads))
      reinterpret_cast<Four*>(keys)[i] = {{empty, empty, empty, empty}};
  }
  __device__ uint32_t first_place(int32_t key) const {
    const uint32_t product = static_cast<uint32_t>(key) * 0x9e3779b1u;
    return (product ^ (product >> 15)) & mask;
  }
  /// The key's place; before: what was there.
  __device__ uint32_t insert(int32_t key, int32_t& before) const {
    uint32_t place = first_place(key);
    for (;; place = (place + 1) & mask) {
      before = atomicCAS(keys + place, empty, key);
      if (before == empty || before == key) return place;
    }
  }
  __device__ void insert(int32_t key) const {
    int32_t before;
    insert(key, before);
  }
  /// -1: not there. After a sync behind the inserts.
  __device__ int32_t find(int32_t key) const {
    for (uint32_t place = first_place(key);; place = (place + 1) & mask) {
      const int32_t there = keys[place];
      if (there == key) return static_cast<int32_t>(place);
      if (there == empty) return -1;
    }
  }
};

/// Calls take(there, product, block, mask) for the entries of B's rows that `row` names: subgroup `part` of `parts`
/// takes its share of these rows, its lanes run along each. All lanes of the warp call take together. `product` numbers
/// the entries through the row if Numbered; every subgroup then reads where all rows begin.
template <bool Numbered, class Key = int32_t, class Left, class Right, class Take>
__device__ inline void walk(const Left& A, const LeftRow& row, const Right& B, int lane, int lanes, int part, int parts,
                            const Take& take) {
  constexpr int batch = 4;
  const int stride = Numbered ? 1 : parts, first = Numbered ? 0 : part;
  const int step = Numbered ? parts : 1;
  const int32_t chunks = warp_max((row.length + lanes * stride - 1) / (lanes * stride));
  int32_t products = 0;
  for (int32_t chunk = 0; chunk < chunks; ++chunk) {
    const int32_t k = (chunk * lanes + lane) * stride + first;
    int64_t begin = 0;
    int32_t length = 0, product = 0;
    if (k < row.length) {
      const int64_t j = A.column(row, k);
      begin = B.begin(j);
      length = static_cast<int32_t>(B.end(j) - begin);
    }
    if constexpr (Numbered) {
      const int32_t inclusive = gpu::subgroup_scan(length, lanes);
      product = products + inclusive - length;
      products += gpu::shuffle_from(inclusive, lanes - 1, lanes);
    }
    const int used = highest_lane(length > 0, lanes);
    for (int q = Numbered ? part : 0; q < used; q += batch * step) {
      int64_t begins[batch];
      int32_t lengths[batch], numbers[batch];
      Key blocks[batch];
      uint32_t masks[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        const int from = q + u * step < lanes ? q + u * step : lanes - 1;
        begins[u] = gpu::shuffle_from(begin, from, lanes);
        lengths[u] = gpu::shuffle_from(length, from, lanes);
        if constexpr (Numbered) numbers[u] = gpu::shuffle_from(product, from, lanes);
        if (q + u * step >= lanes) lengths[u] = 0;
        if (lane < lengths[u]) B.load(begins[u] + lane, blocks[u], masks[u]);
      }
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        if (q + u * step >= used) break;
        if constexpr (!Numbered) numbers[u] = 0;
        take(lane < lengths[u], numbers[u] + lane, blocks[u], masks[u]);
        const int32_t most = lanes == 32 ? lengths[u] : warp_max(lengths[u]);
        for (int32_t t = lane + lanes; t - lane < most; t += batch * lanes) {
          Key further[batch];
          uint32_t bits[batch];
#pragma unroll
          for (int v = 0; v < batch; ++v)
            if (t + v * lanes < lengths[u]) B.load(begins[u] + t + v * lanes, further[v], bits[v]);
#pragma unroll
          for (int v = 0; v < batch; ++v)
            take(t + v * lanes < lengths[u], numbers[u] + t + v * lanes, further[v], bits[v]);
        }
      }
    }
  }
}

}  // namespace kkc::spgemm::gpu_parts
