// I-nodes: rows that follow each other and have the same columns, as the unknowns of a point of a finite element mesh
// do (PETSc's term; "supervariables" in Duff, Reid, "Exploiting zeros on the diagonal in the direct solution of
// indefinite sparse symmetric linear systems", ACM TOMS 22(2), 1996). C's rows of an i-node of A have the same columns
// too, and an i-node of B is one row of the symbolic phase. Tiles are parts of i-nodes of at most four rows.
#pragma once

#include "spgemm_gpu_class_kernels.hpp"
#include "spgemm_gpu_plan_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

inline constexpr int32_t tile_rows = 4;

/// Whether row i has the columns of row i - 1, in all lanes of the subgroup; `lane` of `lanes`.
template <class I>
__device__ inline bool is_twin(const Pattern<I>& A, int64_t i, int lane, int lanes) {
  const int64_t before = A.begin(i - 1), begin = A.begin(i), length = A.end(i) - begin;
  bool differs = begin - before != length;
  if (!differs)
    for (int64_t k = lane; k < length && !differs; k += lanes) differs = A.columns[before + k] != A.columns[begin + k];
  return gpu::subgroup_sum(static_cast<int>(differs), lanes) == 0;
}

/// Of rows here and there: how many have entries, and are like the one before.
struct SampledTwins {
  int32_t rows, twins;

  /// Rows of an i-node in the mean.
  double rows_of_node() const { return static_cast<double>(rows + 1) / static_cast<double>(rows - twins + 1); }
};
/// Of two matrices, and kinds of B's rows where these are wanted.
template <class I>
struct SampleTwins {
  static constexpr int threads = 128;
  static constexpr int64_t most = SampledKinds::rows;
  Pattern<I> A, B;
  SampledTwins *found_a, *found_b;
  SampledKinds kinds;

  static __host__ __device__ int64_t sampled(int64_t rows) { return rows - 1 < most ? rows - 1 : most; }
  int64_t warps() const { return sampled(A.rows) + sampled(B.rows); }

  __device__ void operator()() const {
    const int64_t thread = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x, s = thread >> 5,
                  of_a = sampled(A.rows);
    if (s < of_a) return look(A, s, found_a);
    if (s - of_a >= sampled(B.rows)) return;
    look(B, s - of_a, found_b);
    if (kinds.words != nullptr) SampleKinds<I>::look(B, sampled_row(s - of_a, B.rows, most), kinds);
  }

  __device__ static void look(const Pattern<I>& matrix, int64_t s, SampledTwins* found) {
    const int64_t i = sampled_row(s, matrix.rows, sampled(matrix.rows));
    if (matrix.begin(i) == matrix.end(i)) return;
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const bool twin = is_twin(matrix, i, lane, 32);
    if (lane != 0) return;
    atomicAdd(&found->rows, 1);
    if (twin) atomicAdd(&found->twins, 1);
  }
};

/// heads[i] = 1 where an i-node begins, else 0.
template <class I>
struct MarkNodes {
  static constexpr int threads = 256;
  Pattern<I> A;
  int lanes_log2;
  int32_t* heads;

  __device__ void operator()() const {
    const int64_t thread = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x, i = thread >> lanes_log2;
    const int lanes = 1 << lanes_log2, lane = static_cast<int>(thread) & (lanes - 1);
    const bool there = i > 0 && i < A.rows;
    const bool twin = is_twin(A, there ? i : 1, lane, lanes);
    if (lane == 0 && i < A.rows) heads[i] = there && twin ? 0 : 1;
  }
};

/// firsts[n] = first row of i-node n; behind the last one, `rows`. numbers: heads before each row.
struct PlaceNodes {
  static constexpr int threads = 256;
  const int32_t* heads;
  const int32_t* numbers;
  int64_t rows;
  int32_t* firsts;

  __device__ void operator()() const {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (i < rows && heads[i] != 0) firsts[numbers[i]] = static_cast<int32_t>(i);
    if (i == rows) firsts[numbers[rows]] = static_cast<int32_t>(rows);
  }
};

/// heads[i] = 1 where a tile begins. I-nodes are cut into tiles of as many rows each, but for the last.
struct MarkTiles {
  static constexpr int threads = 256;
  const int32_t* numbers;  // of heads before each row
  const int32_t* firsts;
  int64_t rows;
  int32_t* heads;

  __device__ void operator()() const {
    const int64_t i = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (i >= rows) return;
    const int32_t node = numbers[i] + heads[i] - 1, first = firsts[node], size = firsts[node + 1] - first,
                  tiles = (size + tile_rows - 1) / tile_rows, each = (size + tiles - 1) / tiles;
    heads[i] = (static_cast<int32_t>(i) - first) % each == 0 ? 1 : 0;
  }
};

/// The rows of a tile of A meet as few tiles of B as they can: an entry of the reduced row for each.
template <class I>
struct ReducedRows {
  Pattern<I> A;
  const int32_t* firsts;  // row of each tile; behind the last one, all rows
  const int32_t* heads_b;
  int64_t tiles;
  int lanes_log2;

  /// take(k, column, starts, entry) for k = 0.. of the tile's rows; entry: starts before. All lanes of the warp stay
  /// together. Returns how many start.
  template <class Take>
  __device__ int32_t each(int64_t tile, int lane, const Take& take) const {
    const int lanes = 1 << lanes_log2;
    int64_t begin = 0;
    int32_t length = 0;
    if (tile < tiles) {
      begin = A.begin(firsts[tile]);
      length = static_cast<int32_t>(A.end(firsts[tile]) - begin);
    }
    int32_t passed = 0;
    const int32_t chunks = warp_max((length + lanes - 1) / lanes);
    for (int32_t chunk = 0; chunk < chunks; ++chunk) {
      const int32_t k = chunk * lanes + lane;
      bool starts = false;
      I column{};
      if (k < length) {
        column = A.column(begin + k);
        starts = k == 0 || heads_b[column] != 0 || A.column(begin + k - 1) + 1 != column;
      }
      const int32_t inclusive = gpu::subgroup_scan(static_cast<int32_t>(starts), lanes);
      if (k < length) take(k, column, starts, passed + inclusive - 1);
      passed += gpu::shuffle_from(inclusive, lanes - 1, lanes);
    }
    return passed;
  }
};

template <class I>
struct CountReduced {
  static constexpr int threads = 256;
  ReducedRows<I> rows;
  Pattern<I> B;
  int32_t* counts;
  unsigned long long* products;  // of all rows; zero at first

  __device__ void operator()() const {
    const int64_t thread = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x, tile = thread >> rows.lanes_log2;
    const int lane = static_cast<int>(thread) & ((1 << rows.lanes_log2) - 1);
    int64_t sum = 0;
    const int32_t count =
        rows.each(tile, lane, [&](int32_t, I column, bool, int32_t) { sum += B.end(column) - B.begin(column); });
    if (tile < rows.tiles) {
      if (lane == 0) counts[tile] = count;
      sum *= rows.firsts[tile + 1] - rows.firsts[tile];
    }
    sum = gpu::subgroup_sum(sum, 32);
    if ((threadIdx.x & 31u) == 0) atomicAdd(products, static_cast<unsigned long long>(sum));
  }
};

/// An entry of a reduced row: the first of its entries in the rows of A, and the length of its rows of B, which lie one
/// behind the other.
struct ReducedEntry {
  int32_t first, stride;
};

template <class I>
struct FillReduced {
  static constexpr int threads = 256;
  ReducedRows<I> rows;
  Pattern<I> B;
  const int64_t* begins;
  I* columns;
  ReducedEntry* entries;

  __device__ void operator()() const {
    const int64_t thread = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x, tile = thread >> rows.lanes_log2;
    const int lane = static_cast<int>(thread) & ((1 << rows.lanes_log2) - 1);
    const int64_t begin = tile < rows.tiles ? begins[tile] : 0;
    rows.each(tile, lane, [&](int32_t k, I column, bool starts, int32_t entry) {
      if (!starts) return;
      columns[begin + entry] = column;
      entries[begin + entry] = {k, static_cast<int32_t>(B.end(column) - B.begin(column))};
    });
  }
};

/// Sizes of C's rows, from those of tiles.
struct LengthsOfTiles {
  static constexpr int threads = 256;
  const int32_t* lengths;
  const int32_t* firsts;
  int64_t tiles;
  int32_t* counts;

  __device__ void operator()() const {
    const int64_t tile = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (tile >= tiles) return;
    for (int32_t i = firsts[tile]; i < firsts[tile + 1]; ++i) counts[i] = lengths[tile];
  }
};

/// The columns of a tile, once for each of its rows. A subgroup a tile.
template <class I>
struct ColumnsOfTiles {
  static constexpr int threads = 256;
  Pattern<I> tiles;
  const int32_t* firsts;
  int lanes_log2;
  Offsets offsets;  // of C
  I* columns;

  __device__ void operator()() const {
    const int64_t thread = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x, tile = thread >> lanes_log2;
    const int lanes = 1 << lanes_log2, lane = static_cast<int>(thread) & (lanes - 1);
    if (tile >= tiles.rows) return;
    const int64_t begin = tiles.begin(tile), length = tiles.end(tile) - begin;
    const int32_t first = firsts[tile], rows = firsts[tile + 1] - first;
    const int64_t to = offsets.at(first);
    for (int64_t j = lane; j < length; j += lanes) {
      const I column = tiles.column(begin + j);
      for (int32_t r = 0; r < rows; ++r) columns[to + r * length + j] = column;
    }
  }
};

/// 1..8: two kinds for each number of rows of a tile, by whether their sums are few.
struct KindsOfTiles {
  static constexpr int threads = 256;
  const int32_t* lengths;
  const int32_t* firsts;
  int64_t tiles;
  int32_t few;
  int32_t* kinds;

  __device__ void operator()() const {
    const int64_t tile = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (tile >= tiles) return;
    const int32_t rows = firsts[tile + 1] - firsts[tile];
    kinds[tile] = 2 * rows - (lengths[tile] * rows > few ? 0 : 1);
  }
};

}  // namespace kkc::spgemm::gpu_parts
