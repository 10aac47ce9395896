// Kernels of gpu_merge after the merge (spadd_gpu_merge_tile.hpp): C's offsets, and columns and values gathered from
// the tiles' bits, two sources for an entry; and the search for a row out of order.
#pragma once

#include <cstdint>

#include "core/operands.hpp"
#include "device/gpu_scalar.hpp"
#include "device/gpu_warp.hpp"
#include "ops/spadd/spadd_gpu_merge_tile.hpp"

namespace kkc::spadd::gpu_parts {

/// Thread: a row. Where C's row begins: the entry of C at the row's place on the path. For patterns with a tile whose
/// rows are too many to be noted in it.
template <class I, class O, class Q>
struct WriteOffsets {
  static constexpr int threads = 256;
  Rows<I, O> A, B;
  int64_t rows, entries, tiles;  // entries: of A and B
  Tiles from;
  Q* offsets;  // rows + 1

  __device__ void operator()() const {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (row > rows) return;
    const int64_t place = A.begin(row) + B.begin(row), tile = place / tile_steps;
    if (place == entries) {
      offsets[row] = static_cast<Q>(from.firsts[tiles]);
      return;
    }
    const Point point = from.points[tile];
    const int64_t first = from.firsts[tile];
    int rest = static_cast<int>(place - point.a - point.b);
    int low = 0, high = static_cast<int>((from.firsts[tile + 1] - first + 63) >> 6);
    while (high - low > 1) {
      const int middle = (low + high) >> 1;
      const Base base = from.bases[tile * tile_words + middle];
      if (base.a + base.b <= rest)
        low = middle;
      else
        high = middle;
    }
    const Base base = from.bases[tile * tile_words + low];
    const Word word = from.words[tile * tile_words + low];
    const uint64_t a = static_cast<uint64_t>(word.a_high) << 32 | word.a_low,
                   b = static_cast<uint64_t>(word.b_high) << 32 | word.b_low;
    rest -= base.a + base.b;
    int k = 0;  // with `rest` entries before it; the row has entries, so k is one of C's
    for (int half = 32; half > 0; half >>= 1) {
      const uint64_t below = (uint64_t{1} << (k + half)) - 1;
      if (__popcll(a & below) + __popcll(b & below) <= rest) k += half;
    }
    offsets[row] = static_cast<Q>(first + 64 * low + k);
  }
};

/// Columns: of A where A has the entry, else of B. Base 0.
template <class I, class J>
struct PickColumn {
  using Result = J;
  const I *a, *b;
  int32_t base_a, base_b;
  J* to;

  __device__ J get(bool has_a, int64_t entry_a, bool, int64_t entry_b) const {
    return static_cast<J>(has_a ? a[entry_a] - static_cast<I>(base_a) : b[entry_b] - static_cast<I>(base_b));
  }
  __device__ void start() {}
};

/// alpha a + beta b; a coefficient of 0 reads nothing.
template <class T, class SourceA, class SourceB>
struct AddValues {
  using Result = T;
  SourceA a;
  SourceB b;
  Factor<T> alpha, beta;
  T* to;

  __device__ void start() {
    alpha = {alpha.get(), nullptr};
    beta = {beta.get(), nullptr};
  }
  __device__ T get(bool has_a, int64_t entry_a, bool has_b, int64_t entry_b) const {
    T x{}, y{};
    const bool reads_a = has_a && !gpu::is_zero(alpha.value), reads_b = has_b && !gpu::is_zero(beta.value);
    if (reads_a) x = a.get(entry_a);
    if (reads_b) y = b.get(entry_b);
    T sum{};
    if (reads_a) sum = gpu::multiply(alpha.value, x);
    if (reads_b) sum = gpu::multiply_add(beta.value, y, sum);
    return sum;
  }
};

/// Values in the order of the entries.
template <class T>
struct InOrder {
  const T* values;
  bool conjugate;
  __device__ T get(int64_t entry) const { return gpu::conjugate_if(values[entry], conjugate); }
};

/// Values through a RowMap: positions and starts, or one of them.
template <class T, class O>
struct Mapped {
  const T* values;
  bool conjugate;
  const O *positions, *starts;

  __device__ T get(int64_t entry) const {
    if (starts == nullptr) return one(entry);
    T sum{};
    for (O p = starts[entry]; p < starts[entry + 1]; ++p) sum = gpu::add(sum, one(p));
    return sum;
  }

 private:
  __device__ T one(int64_t p) const {
    return gpu::conjugate_if(values[positions == nullptr ? p : static_cast<int64_t>(positions[p])], conjugate);
  }
};

/// Block: a tile. Gathers C's entries, two to a lane of each word; `Pick` says what of.
template <class Pick>
struct Gather {
  static constexpr int threads = 256;
  using Result = typename Pick::Result;
  Tiles from;
  Pick pick;

  __device__ void operator()() const {
    constexpr int warps = threads / 32, rounds = tile_words / warps;
    const int64_t tile = blockIdx.x, first = from.firsts[tile];
    const int count = static_cast<int>(from.firsts[tile + 1] - first);
    const Point point = from.points[tile];
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) >> 5;
    const uint32_t below = (1u << lane) - 1;
    Pick p = pick;
    p.start();
    Word words[rounds];
    Base bases[rounds];
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const int w = r * warps + warp;
      words[r] = {0, 0, 0, 0};
      bases[r] = {0, 0};
      if (w * 64 < count) {
        words[r] = from.words[tile * tile_words + w];
        bases[r] = from.bases[tile * tile_words + w];
      }
    }
    Result results[2 * rounds];
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const Word& w = words[r];
      const int64_t a = point.a + bases[r].a, b = point.b + bases[r].b;
      const bool low_a = (w.a_low >> lane & 1) != 0, low_b = (w.b_low >> lane & 1) != 0;
      const bool high_a = (w.a_high >> lane & 1) != 0, high_b = (w.b_high >> lane & 1) != 0;
      if (low_a || low_b)
        results[2 * r] = p.get(low_a, a + __popc(w.a_low & below), low_b, b + __popc(w.b_low & below));
      if (high_a || high_b)
        results[2 * r + 1] = p.get(high_a, a + __popc(w.a_low) + __popc(w.a_high & below), high_b,
                                   b + __popc(w.b_low) + __popc(w.b_high & below));
    }
    Result* const to = p.to + first;
#pragma unroll
    for (int r = 0; r < rounds; ++r) {
      const int k = (r * warps + warp) * 64 + lane;
      if (k < count) to[k] = results[2 * r];
      if (k + 32 < count) to[k + 32] = results[2 * r + 1];
    }
  }
};

/// Warp: a row. The first row of each matrix that does not ascend strictly.
template <class I, class O>
struct FindDisorder {
  static constexpr int threads = 256;
  Rows<I, O> X;
  int64_t rows;
  unsigned long long* first;

  __device__ void operator()() const {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int64_t step = static_cast<int64_t>(gridDim.x) * (threads / 32);
    for (int64_t row = static_cast<int64_t>(blockIdx.x) * (threads / 32) + (threadIdx.x >> 5); row < rows; row += step)
      for (int64_t p = X.begin(row) + 1 + lane; p < X.begin(row + 1); p += 32)
        if (X.columns[p] <= X.columns[p - 1]) atomicMin(first, static_cast<unsigned long long>(row));
  }
};

}  // namespace kkc::spadd::gpu_parts
