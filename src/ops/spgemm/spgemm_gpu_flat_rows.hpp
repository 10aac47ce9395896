// A row's products one behind the other, 32 at a time, whatever the lengths of B's rows: each lane finds the row of B
// that its product is of by counting the rows that begin at or before it in the warp's stretch (the load balance of
// Baxter, "Moderngpu", 2013, by a bit mask instead of a search).
#pragma once

#include "spgemm_gpu_block.hpp"

namespace kkc::spgemm::gpu_parts {

/// Takes the products of `row` in their order, all lanes of the warp together, `batch` stretches of 32 at a time. Of
/// the rows of B that the next 32 entries of A's name, the at-th that has entries is noted by note(at, k, begin,
/// product): the entry of A's row, where the row of B begins, its first product's number. Then load(u, at, product) for
/// each product of stretch u, use(u, there, product) by all lanes for each stretch. Returns how many products there
/// are.
template <int batch, class Left, class I, class Note, class Load, class Use>
__device__ inline int32_t walk_flat(const Left& A, const LeftRow& row, const Pattern<I>& B, int lane, const Note& note,
                                    const Load& load, const Use& use) {
  int32_t done = 0;
  for (int32_t chunk = 0; chunk < row.length; chunk += 32) {
    const int32_t k = chunk + lane;
    int64_t begin = 0;
    int32_t length = 0;
    if (k < row.length) {
      const int64_t j = A.column(row, k);
      begin = B.begin(j);
      length = static_cast<int32_t>(B.end(j) - begin);
    }
    // Rows of B without entries have no bit.
    const uint32_t some = gpu::ballot32(length > 0);
    const int32_t inclusive = gpu::subgroup_scan(length, 32), start = inclusive - length;
    const int32_t total = gpu::shuffle_from(inclusive, 31, 32);
    gpu::sync32();
    if (length > 0) note(__popc(some & ((1u << lane) - 1)), k, begin, done + start);
    gpu::sync32();
    int32_t before = -1;
    for (int32_t w = 0; w < total; w += 32 * batch) {
      int32_t at[batch];
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        const auto bit = static_cast<uint32_t>(start - w - 32 * u);
        const uint32_t mask = gpu::or32(length > 0 && bit < 32u ? 1u << bit : 0u);
        at[u] = before + __popc(mask << (31 - lane));
        before += __popc(mask);
      }
#pragma unroll
      for (int u = 0; u < batch; ++u) {
        const int32_t p = w + 32 * u + lane;
        if (p < total) load(u, at[u], done + p);
      }
#pragma unroll
      for (int u = 0; u < batch; ++u)
        if (w + 32 * u < total) use(u, w + 32 * u + lane < total, done + w + 32 * u + lane);
    }
    done += total;
  }
  return done;
}

/// The same for what B's columns are wanted for: use(there, product, column). `begins` has 32 places of shared memory.
template <class Left, class I, class Use>
__device__ inline int32_t walk_columns(const Left& A, const LeftRow& row, const Pattern<I>& B, int64_t* begins,
                                       int lane, const Use& use) {
  constexpr int batch = 4;
  int32_t column[batch];
  return walk_flat<batch>(
      A, row, B, lane, [&](int at, int32_t, int64_t begin, int32_t product) { begins[at] = begin - product; },
      [&](int u, int at, int32_t product) { column[u] = static_cast<int32_t>(B.column(begins[at] + product)); },
      [&](int u, bool there, int32_t product) { use(there, product, column[u]); });
}

}  // namespace kkc::spgemm::gpu_parts
