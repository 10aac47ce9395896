// Kernels of ilut's gpu_sweeps for rows whose candidates are bounded and for long rows of L.
#pragma once

#include "device/gpu_warp.hpp"
#include "ilut_gpu_kernels.hpp"

namespace kkc::ilut::gpu_parts {

/// The entries of a row's triangle t (L: 0, U off its diagonal: 1).
template <class I>
__device__ inline int64_t length_of(const RowsView<I>& rows, int64_t i, int t) {
  return t == 0 ? rows.diagonal[i] - rows.offsets[i] : rows.offsets[i + 1] - rows.diagonal[i] - 1;
}

/// Whether a row's triangle has more than `most` entries beside those that `known` matrices, its subsets, have there.
template <class I>
struct Excess {
  RowsView<I> rows, known[2];  // without offsets: none
  int64_t most;

  __device__ bool over(int64_t i, int t) const {
    int64_t in_known = 0;
    for (const RowsView<I>& k : known)
      if (k.offsets != nullptr) {
        const int64_t length = length_of(k, i, t);
        in_known = length > in_known ? length : in_known;
      }
    return length_of(rows, i, t) - in_known > most;
  }
};

/// Of a matrix, L left of the diagonal, U from it on.
struct RowSizes {
  unsigned long long entries, lower, longest[2];  // longest rows of L, and of U off its diagonal
  unsigned long long over;                        // triangles of rows for which Excess is
  unsigned long long long_U;                      // rows of U with more than Excess' most off its diagonal
};

/// *sizes was zero.
template <class I>
struct MeasureRows {
  static constexpr int threads = 256;
  Excess<I> excess;
  int64_t rows;
  RowSizes* sizes;

  __device__ void operator()() const {
    using Count = unsigned long long;
    __shared__ RowSizes of_block;
    if (threadIdx.x == 0) of_block = {};
    __syncthreads();
    Count lower = 0, over = 0, long_U = 0, longest[2] = {0, 0};
    for (int64_t i = this_item(threads); i < rows; i += int64_t{gridDim.x} * threads) {
      for (int t = 0; t < 2; ++t) {
        const auto length = static_cast<Count>(length_of(excess.rows, i, t));
        longest[t] = length > longest[t] ? length : longest[t];
        if (t == 0) lower += length;
        if (t == 1 && length > static_cast<Count>(excess.most)) ++long_U;
        if (excess.over(i, t)) ++over;
      }
    }
    lower = gpu::subgroup_sum(lower, 32);
    over = gpu::subgroup_sum(over, 32);
    long_U = gpu::subgroup_sum(long_U, 32);
    for (Count& l : longest)
      for (int mask = 16; mask > 0; mask >>= 1) {
        const Count other = gpu::shuffle_xor(l, mask, 32);
        l = other > l ? other : l;
      }
    if ((threadIdx.x & 31) == 0) {
      atomicAdd(&of_block.lower, lower);
      atomicAdd(&of_block.over, over);
      atomicAdd(&of_block.long_U, long_U);
      for (int t = 0; t < 2; ++t) atomicMax(&of_block.longest[t], longest[t]);
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    if (blockIdx.x == 0) sizes->entries = static_cast<Count>(excess.rows.offsets[rows]);
    atomicAdd(&sizes->lower, of_block.lower);
    atomicAdd(&sizes->over, of_block.over);
    atomicAdd(&sizes->long_U, of_block.long_U);
    for (int t = 0; t < 2; ++t) atomicMax(&sizes->longest[t], of_block.longest[t]);
  }
};

/// list: 2 i + t for the triangles first..last for which Excess is, in any order.
template <class I>
struct ListRows {
  static constexpr int threads = 256;
  Excess<I> excess;
  int64_t rows;
  int first, last;
  int64_t* list;
  unsigned long long* count;

  __device__ void operator()() const {
    const int64_t i = this_item(threads);
    if (i >= rows) return;
    for (int t = first; t <= last; ++t)
      if (excess.over(i, t)) list[atomicAdd(count, 1ull)] = 2 * i + t;
  }
};

struct FillBytes {
  static constexpr int threads = 256;
  uint8_t* bytes;
  int64_t count;
  uint8_t value;

  __device__ void operator()() const {
    const int64_t p = this_item(threads);
    if (p < count) bytes[p] = value;
  }
};

/// own[p]: one of the `known` matrices has the entry. With `keep` only where excess is; elsewhere keep[p] is 1.
template <class I>
struct MarkOwn {
  static constexpr int threads = 256;
  Excess<I> excess;
  const I *columns, *row_of;
  int64_t count;
  uint8_t *own, *keep;

  __device__ void operator()() const {
    const int64_t p = this_item(threads);
    if (p >= count) return;
    const I i = row_of[p], j = columns[p];
    if (keep != nullptr && (i == j || !excess.over(i, j < i ? 0 : 1))) {
      keep[p] = 1;
      return;
    }
    bool is_own = false;
    for (const RowsView<I>& k : excess.known)
      if (k.offsets != nullptr && !is_own) is_own = place_of(k.columns, k.offsets[i], k.offsets[i + 1], j) >= 0;
    own[p] = is_own ? 1 : 0;
  }
};

/// keep[p]: the entry is not withheld, and if it is L's, in one of the rows begin..end - 1.
template <class I>
struct KeepOffered {
  static constexpr int threads = 256;
  const I *columns, *row_of;
  int64_t count, begin, end;
  const uint8_t* withheld;  // null: none is
  uint8_t* keep;

  __device__ void operator()() const {
    const int64_t p = this_item(threads);
    if (p >= count) return;
    const int64_t i = row_of[p];
    const bool offered = withheld == nullptr || withheld[p] == 0;
    keep[p] = offered && (columns[p] >= i || (i >= begin && i < end)) ? 1 : 0;
  }
};

/// Sum over the threads of a block up to each itself; of_warps: one for each warp.
template <int threads>
__device__ inline unsigned block_scan(unsigned value, unsigned* of_warps) {
  const unsigned warp = threadIdx.x / 32;
  unsigned sum = gpu::subgroup_scan(value, 32);
  __syncthreads();
  if ((threadIdx.x & 31) == 31) of_warps[warp] = sum;
  __syncthreads();
  for (unsigned w = 0; w < warp; ++w) sum += of_warps[w];
  return sum;
}

/// marks[p] for the listed triangles of rows: `kept` for their own entries and the `most` largest others, of equal ones
/// the first, else 1 - kept. A block each, by the sizes' first and second byte.
template <class E, class I>
struct MarkLargest {
  static constexpr int threads = 256, warps = threads / 32;
  RowsView<I> rows;
  const E* values;
  const uint8_t* own;   // null: none are
  const int64_t* list;  // 2 i + t
  unsigned most;
  uint8_t kept;
  uint8_t* marks;

  __device__ void operator()() const {
    __shared__ unsigned counts[threads], of_warps[warps], found[2];
    const int64_t i = list[blockIdx.x] / 2;
    const bool upper = list[blockIdx.x] % 2 != 0;
    const int64_t begin = upper ? rows.diagonal[i] + 1 : rows.offsets[i],
                  end = upper ? rows.offsets[i + 1] : rows.diagonal[i];
    if (threadIdx.x < 2) found[threadIdx.x] = 0;
    // The byte, and how many with it may stay beside all with a larger one. No byte: all may stay.
    const auto select = [&](unsigned room, const auto& byte_of) {
      counts[threadIdx.x] = 0;
      __syncthreads();
      for (int64_t p = begin + threadIdx.x; p < end; p += threads)
        if (own == nullptr || own[p] == 0) {
          const unsigned byte = byte_of(size_of_entry(values[p]));
          if (byte < 256) atomicAdd(counts + byte, 1u);
        }
      __syncthreads();
      const unsigned here = counts[255 - threadIdx.x], up_to = block_scan<threads>(here, of_warps);
      if (up_to >= room && up_to - here < room) {
        found[0] = 256 - threadIdx.x;
        found[1] = room - (up_to - here);
      }
      __syncthreads();
    };
    select(most, [](uint32_t size) { return size >> 8; });
    const unsigned first = found[0], of_first = found[1];
    __syncthreads();
    if (first == 0) {
      for (int64_t p = begin + threadIdx.x; p < end; p += threads) marks[p] = kept;
      return;
    }
    select(of_first, [&](uint32_t size) { return size >> 8 == first - 1 ? size & 255 : 256; });
    const uint32_t least = ((first - 1) << 8) + found[0] - 1;
    const unsigned equals = found[1];
    unsigned seen = 0;  // of the least size, before the tile
    for (int64_t base = begin; base < end; base += threads) {
      const int64_t p = base + threadIdx.x;
      const bool inside = p < end, is_own = inside && own != nullptr && own[p] != 0;
      const uint32_t size = inside ? size_of_entry(values[p]) : 0;
      const bool equal = inside && !is_own && size == least;
      const unsigned up_to = block_scan<threads>(equal ? 1 : 0, of_warps);
      if (inside) marks[p] = is_own || size > least || (equal && seen + up_to <= equals) ? kept : 1 - kept;
      for (const unsigned of_warp : of_warps) seen += of_warp;
    }
  }
};

/// Sweep for entries in listed rows, whose parts of L are long: a warp an entry, along the shorter one of L's row and
/// U's column. Terms are added in the order of Sweep.
template <class E, class I>
struct SweepLong {
  static constexpr int threads = 256, warps = threads / 32;
  SweepArrays<E, I> at;
  const int64_t* offsets;  // of the entries
  const int64_t* list;     // 2 i
  unsigned blocks_of_row;
  // The factors by columns: their rows, ascending, and the places of their entries.
  const int64_t *column_offsets, *column_places;
  const I* column_rows;

  __device__ void operator()() const {
    const auto i = static_cast<I>(list[blockIdx.x / blocks_of_row] / 2);
    const int64_t step = int64_t{blocks_of_row} * warps;
    for (int64_t p = offsets[i] + (blockIdx.x % blocks_of_row) * warps + threadIdx.x / 32; p < offsets[i + 1];
         p += step)
      sweep(i, p);
  }

 private:
  /// The first of places low..high - 1 whose key, ascending, is not less.
  __device__ static int64_t not_less(const I* keys, int64_t low, int64_t high, I key) {
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (keys[middle] < key)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  __device__ void sweep(I i, int64_t p) const {
    const RowsView<I>& f = at.factors;
    const I j = at.columns[p];
    const bool all = at.withheld == nullptr || at.own[p] != 0;
    const int64_t row = f.offsets[i], row_end = not_less(f.columns, row, f.diagonal[i], j);
    const int64_t column = column_offsets[j],
                  column_end = not_less(column_rows, column, column_offsets[j + 1], j < i ? j : i);
    const bool along_row = row_end - row <= column_end - column;
    const int64_t begin = along_row ? row : column, end = along_row ? row_end : column_end;
    E sum = at.of_A(i, j);
    for (int64_t base = begin; base < end; base += 32) {
      const int64_t q = base + (threadIdx.x & 31);
      int64_t in_L = -1, in_U = -1;
      if (q < end && along_row) {
        const I k = f.columns[q];
        in_L = q;
        in_U = place_of(f.columns, f.diagonal[k] + 1, f.offsets[k + 1], j);
      } else if (q < end) {
        in_L = place_of(f.columns, row, row_end, column_rows[q]);
        in_U = column_places[q];
      }
      const bool term = in_L >= 0 && in_U >= 0 && (all || at.withheld[in_U] == 0);
      const E l = term ? at.factors_values[in_L] : E{}, u = term ? at.factors_values[in_U] : E{};
      for (uint32_t left = gpu::ballot32(term); left != 0; left &= left - 1) {
        const int from = __ffs(static_cast<int>(left)) - 1;
        sum = ilu::minus_product(sum, gpu::shuffle_from(l, from, 32), gpu::shuffle_from(u, from, 32));
      }
    }
    if ((threadIdx.x & 31) == 0) at.values[p] = at.factor(i, j, sum);
  }
};

}  // namespace kkc::ilut::gpu_parts
