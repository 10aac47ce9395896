// Kernels of ilut's gpu_sweeps: a thread an entry. Factors are kept as one matrix, L left of the diagonal and U from it
// on, with the row of each entry.
#pragma once

#include "device/gpu_launch.hpp"
#include "device/gpu_scalar.hpp"
#include "device/gpu_warp.hpp"
#include "ops/ilu/ilu_arithmetic.hpp"
#include "ops/ilu_pattern/ilu_pattern_gpu_rows_kernels.hpp"

namespace kkc::ilut::gpu_parts {

using ilu::RealPart;
using ilu_pattern::gpu_parts::place_of;
using ilu_pattern::gpu_parts::RowsView;

__device__ inline int64_t this_item(int threads) { return int64_t{blockIdx.x} * threads + threadIdx.x; }

template <class E>
__device__ inline E pivot(const E& u, const ilu::Rule<RealPart<E>>& rule) {
  bool zero = false;
  return ilu::lu_pivot(
      u, rule, [](RealPart<E> x) { return sqrt(x); }, zero);
}
/// As it is kept: a zero stays, for FindBroken; it divides as 1.
template <class E>
__device__ inline E kept_pivot(const E& u, const ilu::Rule<RealPart<E>>& rule) {
  return gpu::is_zero(u) && rule.threshold == 0 ? u : pivot(u, rule);
}

/// A's values in the order of the start pattern.
template <class E, class O>
struct PickValues {
  static constexpr int threads = 256;
  ilu_pattern::ValueSource<O> source;
  const E* A;
  int64_t count;
  E* values;

  __device__ void operator()() const {
    const int64_t p = this_item(threads);
    if (p < count) values[p] = ilu::value_at(source, A, static_cast<O>(p));
  }
};

template <class E>
struct ShiftDiagonal {
  static constexpr int threads = 256;
  const int64_t* diagonal;
  int64_t rows;
  E shift;
  E* values;

  __device__ void operator()() const {
    const int64_t i = this_item(threads);
    if (i < rows) values[diagonal[i]] = gpu::add(values[diagonal[i]], shift);
  }
};

/// A's triangles, the lower one over A's diagonal.
template <class E, class I>
struct FirstFactors {
  static constexpr int threads = 256;
  RowsView<I> A;
  const E* A_values;
  const I* row_of;
  int64_t count;
  ilu::Rule<RealPart<E>> rule;
  E* values;

  __device__ void operator()() const {
    const int64_t p = this_item(threads);
    if (p >= count) return;
    const I i = row_of[p], j = A.columns[p];
    const E a = A_values[p];
    if (j < i)
      values[p] = ilu::quotient(a, pivot(A_values[A.diagonal[j]], rule));
    else
      values[p] = j == i ? kept_pivot(a, rule) : a;
  }
};

/// A sweep makes entries of another pattern (`columns`, `row_of`) from the factors: what is left of A without the terms
/// of U's diagonal, by ascending columns of L.
template <class E, class I>
struct SweepArrays {
  RowsView<I> A, factors;
  const E *A_values, *factors_values;
  const I *columns, *row_of;
  int64_t count;
  ilu::Rule<RealPart<E>> rule;
  E* values;
  // Entries that are not `own` take no terms of entries of U that are `withheld`, at the factors' places; null: none
  // is.
  const uint8_t *own, *withheld;

  __device__ E of_A(I i, I j) const {
    const int64_t in_A = place_of(A.columns, A.offsets[i], A.offsets[i + 1], j);
    return in_A < 0 ? E{} : A_values[in_A];
  }
  __device__ E factor(I i, I j, const E& left) const {
    if (j < i) return ilu::quotient(left, pivot(factors_values[factors.diagonal[j]], rule));
    return j == i ? kept_pivot(left, rule) : left;
  }
};

/// A thread an entry. `bounded`: not all terms count, or rows of L of more than `longest` entries are SweepLong's.
template <class E, class I, bool bounded>
struct Sweep {
  static constexpr int threads = 256;
  SweepArrays<E, I> at;
  int64_t longest;

  __device__ void operator()() const {
    const int64_t p = this_item(threads);
    if (p >= at.count) return;
    const I i = at.row_of[p], j = at.columns[p];
    const RowsView<I>& f = at.factors;
    const int64_t end = f.diagonal[i];
    bool all = true;
    if constexpr (bounded) {
      if (end - f.offsets[i] > longest) return;
      all = at.withheld == nullptr || at.own[p] != 0;
    }
    E sum = at.of_A(i, j);
    for (int64_t q = f.offsets[i]; q < end; ++q) {
      const I k = f.columns[q];
      if (k >= j) break;
      const int64_t t = place_of(f.columns, f.diagonal[k] + 1, f.offsets[k + 1], j);
      if (t >= 0 && (all || at.withheld[t] == 0))
        sum = ilu::minus_product(sum, at.factors_values[q], at.factors_values[t]);
    }
    at.values[p] = at.factor(i, j, sum);
  }
};

/// The size of an entry in 16 bits: its float without the sign, to 1 part in 128.
template <class E>
__device__ inline uint32_t size_of_entry(const E& a) {
  float size;
  if constexpr (gpu::is_pair<E>)
    size = static_cast<float>(fabs(a.re) + fabs(a.im));
  else
    size = static_cast<float>(fabs(a));
  return (__float_as_uint(size) & 0x7fffffffu) >> 15;
}

/// The least sizes that are kept of L (0) and of U off its diagonal (1), found by their first byte and then by the
/// second one.
struct LeastSizes {
  static constexpr uint32_t no_byte = 256;
  unsigned long long room[2];  // for entries of that first byte; larger ones are kept
  uint32_t byte[2];            // no_byte: all are kept
  uint32_t least[2];
};

/// counts[t][b]: entries of L (t = 0) and of U off its diagonal (1) whose size begins with the byte b, or goes on with
/// it behind first->byte[t].
template <class E, class I>
struct CountSizes {
  static constexpr int threads = 512;
  const E* values;
  const I *columns, *row_of;
  int64_t count;
  const LeastSizes* first;     // null: the first byte
  unsigned long long* counts;  // [2][256]

  __device__ void operator()() const {
    __shared__ unsigned of_block[512];
    of_block[threadIdx.x] = 0;
    __syncthreads();
    const uint32_t byte[2] = {first != nullptr ? first->byte[0] : 0, first != nullptr ? first->byte[1] : 0};
    for (int64_t p = this_item(threads); p < count; p += int64_t{gridDim.x} * threads) {
      const I i = row_of[p], j = columns[p];
      if (i == j) continue;
      const unsigned t = j < i ? 0 : 1;
      const uint32_t size = size_of_entry(values[p]);
      if (first == nullptr)
        atomicAdd(of_block + 256 * t + (size >> 8), 1u);
      else if (size >> 8 == byte[t])
        atomicAdd(of_block + 256 * t + (size & 255), 1u);
    }
    __syncthreads();
    if (of_block[threadIdx.x] != 0)
      atomicAdd(counts + threadIdx.x, static_cast<unsigned long long>(of_block[threadIdx.x]));
  }
};

/// One block: the byte at which entries of it and of all larger ones are more than there is room for.
struct ChooseSizes {
  static constexpr int threads = 512, warps_of_half = 8;
  const unsigned long long* counts;  // [2][256]
  unsigned long long most[2];
  bool second;
  LeastSizes* sizes;

  __device__ void operator()() const {
    __shared__ unsigned long long of_warps[2 * warps_of_half];
    const unsigned thread = threadIdx.x, t = thread / 256, byte = 255 - thread % 256, warp = thread / 32;
    const unsigned long long here = counts[256 * t + byte];
    unsigned long long up_to = gpu::subgroup_scan(here, 32);
    if (thread % 32 == 31) of_warps[warp] = up_to;
    __syncthreads();
    for (unsigned w = t * warps_of_half; w < warp; ++w) up_to += of_warps[w];
    const unsigned long long room = second ? sizes->room[t] : most[t], before = up_to - here;
    const uint32_t first = second ? sizes->byte[t] : 0;
    if (byte == 255) {
      if (second)
        sizes->least[t] = first == LeastSizes::no_byte ? 0 : first << 8;
      else
        sizes->byte[t] = LeastSizes::no_byte;
    }
    __syncthreads();
    if (up_to <= room || before > room || first == LeastSizes::no_byte) return;
    if (second) {
      sizes->least[t] = (first << 8) + byte + 1;
    } else {
      sizes->byte[t] = byte;
      sizes->room[t] = room - before;
    }
  }
};

/// keep[p]: the entry is on the diagonal or not smaller than its triangle's least.
template <class E, class I>
struct MarkKept {
  static constexpr int threads = 256;
  const E* values;
  const I *columns, *row_of;
  int64_t count;
  const LeastSizes* sizes;
  uint8_t* keep;

  __device__ void operator()() const {
    const int64_t p = this_item(threads);
    if (p >= count) return;
    const I i = row_of[p], j = columns[p];
    keep[p] = i == j || size_of_entry(values[p]) >= sizes->least[j < i ? 0 : 1] ? 1 : 0;
  }
};

/// Kept entries move to places[p], that is how many before them are kept.
template <class E, class I>
struct MoveKept {
  static constexpr int threads = 256;
  const int64_t* places;  // count + 1
  const E* values;
  const I *columns, *row_of;
  int64_t count;
  E* to_values;
  I *to_columns, *to_row_of;

  __device__ void operator()() const {
    const int64_t p = this_item(threads);
    if (p >= count || places[p + 1] == places[p]) return;
    to_values[places[p]] = values[p];
    to_columns[places[p]] = columns[p];
    to_row_of[places[p]] = row_of[p];
  }
};
/// target[i] = places[source[i]]
struct MoveBounds {
  static constexpr int threads = 256;
  const int64_t *places, *source;
  int64_t count;
  int64_t* target;

  __device__ void operator()() const {
    const int64_t i = this_item(threads);
    if (i < count) target[i] = places[source[i]];
  }
};

/// The first row, times two, with an entry that is not finite (plus one) or a zero on U's diagonal.
template <class E, class I>
struct FindBroken {
  static constexpr int threads = 256;
  const E* values;
  const I *columns, *row_of;
  int64_t count;
  unsigned long long* first;

  __device__ void operator()() const {
    const int64_t p = this_item(threads);
    if (p >= count) return;
    const E a = values[p];
    const bool zero = columns[p] == row_of[p] && gpu::is_zero(a);
    if (zero || !gpu::is_finite(a)) atomicMin(first, 2 * static_cast<unsigned long long>(row_of[p]) + (zero ? 0 : 1));
  }
};

/// Entries of L's rows.
struct CountLower {
  static constexpr int threads = 256;
  const int64_t *offsets, *diagonal;
  int64_t rows;
  int32_t* counts;

  __device__ void operator()() const {
    const int64_t i = this_item(threads);
    if (i < rows) counts[i] = static_cast<int32_t>(diagonal[i] - offsets[i]);
  }
};
/// Offsets of both triangles; lower[i]: entries of L before row i.
template <class O>
struct SplitOffsets {
  static constexpr int threads = 256;
  const int64_t *offsets, *lower;
  int64_t count;
  O *L, *U;

  __device__ void operator()() const {
    const int64_t i = this_item(threads);
    if (i >= count) return;
    L[i] = static_cast<O>(lower[i]);
    U[i] = static_cast<O>(offsets[i] - lower[i]);
  }
};
template <class E, class I>
struct SplitEntries {
  static constexpr int threads = 256;
  RowsView<I> factors;
  const int64_t* lower;
  const E* values;
  const I* row_of;
  int64_t count;
  I *L_columns, *U_columns;
  E *L_values, *U_values;

  __device__ void operator()() const {
    const int64_t p = this_item(threads);
    if (p >= count) return;
    const int64_t i = row_of[p], before = p - factors.offsets[i];  // in the row
    const int64_t in_L = lower[i + 1] - lower[i];
    const bool left = before < in_L;
    const int64_t to = left ? lower[i] + before : p - lower[i + 1];
    (left ? L_columns : U_columns)[to] = factors.columns[p];
    (left ? L_values : U_values)[to] = values[p];
  }
};

}  // namespace kkc::ilut::gpu_parts
