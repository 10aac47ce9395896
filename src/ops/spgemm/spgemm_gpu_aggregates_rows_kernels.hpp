// The products of A B by entry of C where B has exactly one entry in every row and rows are of many kinds. They lie by
// row as A does, so that only each row is put in order of C's columns: by sorting networks in a warp's registers, many
// short rows at once or one longer row. For rows that take more, see spgemm_gpu_aggregates_long_rows_kernels.hpp.
#pragma once

#include "device/gpu_bitonic.hpp"
#include "spgemm_gpu_rows_by_column.hpp"

namespace kkc::spgemm::gpu_parts {

inline constexpr int32_t longest_short_row = 128;
/// Bin b holds rows of more than 128 * 2^b and at most twice as many entries; the last one all that are longer.
struct LongerRows {
  int32_t* list;
  int32_t first[longer_row_bins];  // of each bin in the list

  static int32_t least(int bin) { return (longest_short_row << bin) + 1; }
  /// Returns how many rows `entries` entries may be.
  int64_t lay_out(int64_t entries) {
    int64_t all = 0;
    for (int b = 0; b < longer_row_bins; ++b) {
      first[b] = static_cast<int32_t>(all);
      all += entries / least(b);
    }
    return all;
  }
  __device__ void add(int32_t row, int32_t length, AggregateState* state) const {
    int bin = 0;
    while (bin + 1 < longer_row_bins && length > longest_short_row << (bin + 1)) ++bin;
    list[first[bin] + atomicAdd(state->longer + bin, 1)] = row;
  }
};

/// A warp up to 32 rows: those of at most longest_short_row entries, as many at a time as its registers take. A key is
/// the row among the 32, the column of C and the place in the row.
template <class I, class Key>
struct OrderShortRows {
  static constexpr int threads = 128, warps = threads / 32, most = 256, place_bits = 7, row_bits = 5;
  static_assert(longest_short_row <= 1 << place_bits && longest_short_row <= most);
  Pattern<I> A;
  SingleEntries<I> B;
  int64_t rows;
  int32_t rows_log2;  // of a warp
  int32_t column_bits;
  RowsByColumn to;
  LongerRows longer;

  struct Row {
    int32_t row, begin, length, at;  // at: counted through the warp's rows
    int32_t of_tile;                 // RowsByColumn::begin_of_tile()
  };
  struct alignas(16) Warp {
    Key keys[most];
    Row rows[32];
    int32_t diagonal[32], diagonal_at[32];  // place in the row, plus one; where it comes in the order
  };

  __device__ void operator()() const {
    __shared__ Warp shared[warps];
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    const int64_t first = (static_cast<int64_t>(blockIdx.x) * warps + warp) << rows_log2, i = first + lane;
    if (first >= rows) return;
    Warp& mine = shared[warp];
    const bool there = lane < 1 << rows_log2 && i < rows;
    const auto begin = static_cast<int32_t>(A.begin(there ? i : rows)),
               length = static_cast<int32_t>(A.begin(there ? i + 1 : rows)) - begin;
    const bool is_short = length <= longest_short_row;
    if (!is_short) longer.add(static_cast<int32_t>(i), length, to.state);
    if (there && length == 0) to.counts[i] = 0;
    const uint32_t taken = gpu::ballot32(is_short && length > 0);
    if (is_short && length > 0)
      mine.rows[__popc(taken & ((1u << lane) - 1))] = {static_cast<int32_t>(i), begin, length, 0,
                                                       to.begin_of_tile(begin)};
    gpu::sync32();
    const int count = __popc(taken);
    Row row{};
    if (lane < count) row = mine.rows[lane];
    row.at = gpu::subgroup_scan(row.length, 32) - row.length;
    for (int from = 0; from < count;) {
      const int32_t base = gpu::shuffle_from(row.at, from, 32);
      const uint32_t fit = gpu::ballot32(lane >= from && lane < count && row.at + row.length - base <= most);
      const int behind = from + __popc(fit);
      const int32_t total = gpu::shuffle_from(row.at + row.length, behind - 1, 32) - base;
      Row own = row;
      own.at -= base;
      if (total <= 32)
        order<1>(mine, own, from, behind, total, lane);
      else if (total <= 64)
        order<2>(mine, own, from, behind, total, lane);
      else if (total <= 128)
        order<4>(mine, own, from, behind, total, lane);
      else
        order<8>(mine, own, from, behind, total, lane);
      from = behind;
    }
  }

  /// Rows of the lanes from .. behind - 1, of `total` entries.
  template <int per_lane>
  __device__ void order(Warp& mine, const Row& row, int from, int behind, int32_t total, int lane) const {
    const bool inside = lane >= from && lane < behind;
    mine.diagonal[lane] = 0;
    gpu::sync32();
    I j[per_lane];
    int32_t of[per_lane], place[per_lane];
    int before = from - 1;
#pragma unroll
    for (int e = 0; e < per_lane; ++e) {
      const uint32_t begins = gpu::or32(inside && row.at >> 5 == e ? 1u << (row.at & 31) : 0u);
      of[e] = before + __popc(begins << (31 - lane));
      before += __popc(begins);
      place[e] = e * 32 + lane - gpu::shuffle_from(row.at, of[e], 32);
      const int32_t begin = gpu::shuffle_from(row.begin, of[e], 32);
      if (e * 32 + lane < total) j[e] = A.column(begin + place[e]);
    }
    I column[per_lane];
#pragma unroll
    for (int e = 0; e < per_lane; ++e)
      if (e * 32 + lane < total) column[e] = static_cast<I>(B.column(j[e]));
    if (to.diagonal != nullptr) {
#pragma unroll
      for (int e = 0; e < per_lane; ++e) {
        const int32_t number = gpu::shuffle_from(row.row, of[e], 32);
        if (e * 32 + lane < total && static_cast<int32_t>(j[e]) == number)
          if (atomicCAS(mine.diagonal + of[e], 0, place[e] + 1) != 0) to.state->repeated = 1;
      }
    }
    Key x[per_lane];
#pragma unroll
    for (int e = 0; e < per_lane; ++e)
      x[e] = e * 32 + lane < total
                 ? (static_cast<Key>(of[e]) << column_bits | static_cast<Key>(column[e])) << place_bits |
                       static_cast<Key>(place[e])
                 : ~Key{0};
    gpu::sort_runs(x);
    store_run(mine.keys, x, lane);
    gpu::sync32();
    uint32_t firsts[per_lane];
#pragma unroll
    for (int e = 0; e < per_lane; ++e) {
      const int32_t at = e * 32 + lane;
      const bool there = at < total;
      const Key key = there ? mine.keys[at] : Key{0};
      const bool first = there && (at == 0 || key >> place_bits != mine.keys[at - 1] >> place_bits);
      firsts[e] = gpu::ballot32(first);
      const int owner = there ? static_cast<int>(key >> (column_bits + place_bits)) : from;
      const int32_t begin = gpu::shuffle_from(row.begin, owner, 32),
                    shift = gpu::shuffle_from(row.begin - row.at, owner, 32),
                    of_tile = gpu::shuffle_from(row.of_tile, owner, 32);
      if (!there) continue;
      const auto p = static_cast<int32_t>(key & ((1u << place_bits) - 1));
      to.put(begin + p, shift + at, of_tile);
      to.met[shift + at] =
          (static_cast<uint32_t>(key >> place_bits) & ((1u << column_bits) - 1)) | (first ? first_product : 0u);
      if (to.diagonal != nullptr && p + 1 == mine.diagonal[owner]) mine.diagonal_at[owner] = at;
    }
    gpu::sync32();
    if (inside) {
      to.counts[row.row] = bits_within(firsts, row.at, row.at + row.length);
      if (const int32_t diagonal = mine.diagonal[lane]; diagonal != 0) {
        to.diagonal[row.row] = row.begin + diagonal;
        to.entry_of_diagonal[row.row] = bits_within(firsts, row.at, mine.diagonal_at[lane] + 1);
      }
    }
    gpu::sync32();
  }

  /// A lane's neighbours are stored together.
  template <int per_lane>
  __device__ static void store_run(Key* keys, const Key (&x)[per_lane], int lane) {
    struct alignas(per_lane * sizeof(Key) < 16 ? per_lane * sizeof(Key) : 16) Run {
      Key x[per_lane];
    } run;
#pragma unroll
    for (int e = 0; e < per_lane; ++e) run.x[e] = x[e];
    reinterpret_cast<Run*>(keys)[lane] = run;
  }

  template <int words>
  __device__ static int32_t bits_within(const uint32_t (&bits)[words], int32_t begin, int32_t end) {
    int32_t count = 0;
#pragma unroll
    for (int w = 0; w < words; ++w) {
      const int32_t low = begin - 32 * w, high = end - 32 * w;
      uint32_t word = bits[w];
      if (low > 0) word = low < 32 ? word >> low << low : 0u;
      if (high < 32) word = high > 0 ? word << (32 - high) : 0u;
      count += __popc(word);
    }
    return count;
  }
};

/// Keys of entries of a row, 32 apart from `place` on: the column of C and the place in the row. Returns the place of
/// A's diagonal entry plus one, if it is among them.
template <uint32_t capacity, class I, class Key, int per_lane>
__device__ inline uint32_t read_keys(const Pattern<I>& A, const SingleEntries<I>& B, const RowsByColumn& to,
                                     int32_t row, int32_t begin, int32_t length, int32_t place, Key (&x)[per_lane]) {
  constexpr int batch = 8;
  uint32_t diagonal = 0;
#pragma unroll
  for (int first = 0; first < per_lane; first += batch, place += 32 * batch) {
    I j[batch];
#pragma unroll
    for (int u = 0; u < batch; ++u)
      if (place + u * 32 < length) j[u] = A.column(begin + place + u * 32);
#pragma unroll
    for (int u = 0; u < batch; ++u) {
      const int32_t at = place + u * 32;
      x[first + u] = ~Key{0};
      if (at >= length) continue;
      x[first + u] = static_cast<Key>(B.column(j[u])) * capacity + static_cast<Key>(at);
      if (to.diagonal != nullptr && static_cast<int32_t>(j[u]) == row) {
        to.found_diagonal(row, begin + at);
        diagonal = static_cast<uint32_t>(at) + 1;
      }
    }
  }
  return diagonal;
}

/// A warp a row of at most 32 * per_lane entries.
template <class I, class Key, int per_lane>
struct OrderLongerRows {
  static constexpr bool runs_beside = true;
  static constexpr int warps = per_lane * sizeof(Key) <= 128 ? 4 : 1, threads = 32 * warps;
  static constexpr uint32_t capacity = 32 * per_lane;
  Pattern<I> A;
  SingleEntries<I> B;
  const int32_t* list;
  int64_t count;
  RowsByColumn to;

  __device__ void operator()() const {
    alignas(16) __shared__ Key shared[warps][capacity];
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    const int64_t item = static_cast<int64_t>(blockIdx.x) * warps + warp;
    if (item >= count) return;
    Key* const keys = shared[warp];
    const int32_t i = list[item];
    const auto begin = static_cast<int32_t>(A.begin(i)), length = static_cast<int32_t>(A.end(i)) - begin;
    Key x[per_lane];
    const uint32_t diagonal = gpu::or32(read_keys<capacity>(A, B, to, i, begin, length, lane, x));
    const int32_t of_tile = to.begin_of_tile(begin);
    gpu::sort_runs(x);
    OrderShortRows<I, Key>::store_run(keys, x, lane);
    gpu::sync32();
    int32_t entries = 0;
    for (int32_t at = lane; at - lane < length; at += 32) {
      const bool there = at < length;
      const Key key = there ? keys[at] : Key{0};
      const bool first = there && (at == 0 || key / capacity != keys[at - 1] / capacity);
      const uint32_t firsts = gpu::ballot32(first), place = static_cast<uint32_t>(key) % capacity;
      if (there) {
        to.put(begin + static_cast<int32_t>(place), begin + at, of_tile);
        to.met[begin + at] = static_cast<uint32_t>(key / capacity) | (first ? first_product : 0u);
        if (place + 1 == diagonal) to.entry_of_diagonal[i] = entries + __popc(firsts << (31 - lane));
      }
      entries += __popc(firsts);
    }
    if (lane == 0) to.counts[i] = entries;
  }
};

}  // namespace kkc::spgemm::gpu_parts
