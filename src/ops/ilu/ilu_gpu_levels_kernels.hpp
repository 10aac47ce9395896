// Kernel of gpu_levels, for ilu and ic: rows of a level in parallel, levels one after the other (Anderson, Saad,
// "Solving sparse triangular linear systems on parallel computers", Int. J. High Speed Comput. 1(1), 1989).
#pragma once

#include "device/gpu_warp.hpp"
#include "ops/ilu/ilu_gpu_found.hpp"

namespace kkc::ilu::gpu_parts {

/// Levels first..last - 1: one level by any number of blocks, several by one block, which waits between them. A row for
/// 1 << lanes_log2 lanes, which work on it where it lies.
template <class E, Form form, class I, class O>
struct FactorLevels {
  static constexpr int threads = 512;
  using R = RealPart<E>;

  const O *offsets, *diagonal;
  const I *indices, *order, *starts;
  ilu_pattern::ValueSource<O> source;
  const E* A;
  E* values;
  Rule<R> rule;
  Found* found;
  int64_t first, last;
  int lanes_log2;

  __device__ void operator()() const {
    const int64_t at_once = int64_t{gridDim.x} * (threads >> lanes_log2);
    // The lanes of a warp turn together: all of them take part in its barriers and sums.
    const int64_t of_warp = (int64_t{blockIdx.x} * threads + (threadIdx.x & ~31u)) >> lanes_log2;
    for (int64_t level = first; level < last; ++level) {
      const int64_t begin = starts[level], count = starts[level + 1] - begin;
      for (int64_t base = of_warp; base < count; base += at_once) {
        const int64_t item = base + ((threadIdx.x & 31u) >> lanes_log2);
        const bool wanted = item < count;
        factor(wanted, wanted ? order[begin + item] : I{0});
      }
      if (level + 1 < last) __syncthreads();
    }
  }

 private:
  __device__ void factor(bool wanted, I i) const {
    const int lanes = 1 << lanes_log2, lane = static_cast<int>(threadIdx.x) & (lanes - 1);
    const O begin = wanted ? offsets[i] : O{0};
    const int count = wanted ? static_cast<int>(offsets[i + 1] - begin) : 0,
              middle = wanted ? static_cast<int>(diagonal[i] - begin) : 0;
    const I* const columns = indices + begin;
    E* const row = values + begin;
    for (int e = lane; e < count; e += lanes) {
      E a = value_at(source, A, static_cast<O>(begin + e));
      if (e == middle) a = gpu::add(a, from_real<E>(rule.shift));
      row[e] = a;
    }
    gpu::sync32();
    int most = middle;  // of the warp's rows
    for (int mask = 16; mask > 0; mask >>= 1) most = max(most, gpu::shuffle_xor(most, mask, 32));
    R square = 0;
    for (int p = 0; p < most; ++p) {
      const bool active = p < middle;
      const I k = active ? columns[p] : I{0};
      E l{};
      if constexpr (form == Form::lu) {
        if (active) l = quotient(row[p], values[diagonal[k]]);
        gpu::sync32();  // all have read row[p]
        const O part = active ? diagonal[k] + 1 : O{0}, end = active ? offsets[k + 1] : O{0};
        if (end - part > static_cast<O>(longer * (count - p))) {
          for (int t = p + 1 + lane; t < count; t += lanes)
            if (const int at = find_column(indices + part, 0, static_cast<int>(end - part), columns[t]); at >= 0)
              row[t] = minus_product(row[t], l, values[part + at]);
        } else {
          for (O q = part + static_cast<O>(lane); q < end; q += static_cast<O>(lanes))
            if (const int t = find_column(columns, p + 1, count, indices[q]); t >= 0)
              row[t] = minus_product(row[t], l, values[q]);
        }
      } else {
        E sum{};
        const O part = active ? offsets[k] : O{0}, end = active ? diagonal[k] : O{0};
        if (end - part > static_cast<O>(longer * p)) {
          for (int t = lane; t < p; t += lanes)
            if (const int at = find_column(indices + part, 0, static_cast<int>(end - part), columns[t]); at >= 0)
              sum = minus_conjugate_product(sum, row[t], values[part + at]);
        } else {
          for (O q = part + static_cast<O>(lane); q < end; q += static_cast<O>(lanes))
            if (const int t = find_column(columns, 0, p, indices[q]); t >= 0)
              sum = minus_conjugate_product(sum, row[t], values[q]);
        }
        sum = gpu::subgroup_sum(sum, lanes);
        if (active) l = quotient(gpu::add(row[p], sum), values[diagonal[k]]);
        gpu::sync32();
        square += real_part(l) * real_part(l);
        if constexpr (gpu::is_pair<E>) square += l.im * l.im;
      }
      if (active && lane == 0) row[p] = l;
      gpu::sync32();
    }
    if constexpr (form == Form::cholesky) {
      if (wanted && lane == 0) row[middle] = from_real<E>(real_part(row[middle]) - square);
      gpu::sync32();
    }
    R spoilt = 0;
    for (int e = lane; e < count; e += lanes) spoilt += not_finite(row[e]);
    const bool finite = gpu::subgroup_sum(spoilt, lanes) == 0;
    if (wanted && lane == 0) finish_row<E, form>(i, row[middle], finite, rule, found);
  }

  static constexpr int longer = 16;  // entries of the other row for one of this: these are looked for there
};

}  // namespace kkc::ilu::gpu_parts
