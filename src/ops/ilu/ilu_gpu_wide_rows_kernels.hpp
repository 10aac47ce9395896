// gpu_sync_free of ilu and ic where rows are long, as those of dense blocks: what a warp looks for and asks for of a
// needed row, it does for several entries of a lane at once.
#pragma once

#include "ops/ilu/ilu_gpu_sync_free_kernels.hpp"

namespace kkc::ilu::gpu_parts {

/// `at_once`: entries of a lane.
template <class E, Form form, class I, class O, int at_once>
struct FactorWideRows : FactorSyncFree<E, form, I, O, false> {
  using Base = FactorSyncFree<E, form, I, O, false>;
  using Base::values, Base::indices;
  using typename Base::Part, typename Base::R, typename Base::Row;

  const uint32_t* alike;  // a bit for each row

  __device__ void operator()() const {
    extern __shared__ __align__(16) unsigned char shared[];
    if (const int64_t position = Base::turn(); position < Base::rows)
      Base::by_warp(Base::order[position], reinterpret_cast<E*>(shared),
                    [this](const Row& r, E* row, const I* columns) { return eliminate(r, row, columns); });
  }

 private:
  /// Where a lane's next entries of a needed row belong (-1: nowhere), and what they were when they were asked for.
  struct Entries {
    int t[at_once];
    E u[at_once];
  };
  /// A needed row, as far as it has been asked for: its entries from `next` on.
  struct Step : Part {
    int s;  // it is the s-th of 32
    O next;
    E pivot;
    Entries entries;
  };

  __device__ bool eliminate(const Row& r, E* row, const I* columns) const {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    const int first_alike = r.middle - rows_alike(r.i);
    [[maybe_unused]] const R own = real_part(row[r.middle]);
    R square = 0;
    for (int begin = 0; begin < r.middle; begin += 32) {
      // Where the needed rows' parts lie: 32 of them at once.
      Part part;
      if (begin + lane < r.middle) part = Base::part_of(columns[begin + lane]);
      const int here = min(32, r.middle - begin);
      const auto first_of = [&](int s) {
        Step step{
            {gpu::shuffle_from(part.from, s, 32), gpu::shuffle_from(part.to, s, 32), gpu::shuffle_from(part.at, s, 32)},
            s};
        step.next = step.from;
        step.pivot = gpu::load_fresh(values + step.at);
        ask(r, columns, begin + s, begin + s >= first_alike, step);
        return step;
      };
      Step ahead = first_of(0);
      E before{}, pivot{}, factor{}, sum{};
      for (bool more = true; more;) {
        Step step = ahead;
        const bool last = step.next + 32 * at_once >= step.to;
        more = !last || step.s + 1 < here;
        if (!last) {
          ahead.next += 32 * at_once;
          ask(r, columns, begin + step.s, begin + step.s >= first_alike, ahead);
        } else if (more) {
          ahead = first_of(step.s + 1);
        }
        const int p = begin + step.s;
        if (step.next == step.from) {
          before = row[p];
          gpu::sync32();  // all have read row[p]
          pivot = step.pivot;
          while (!is_there(pivot)) pivot = gpu::load_fresh(values + step.at);
          if constexpr (form == Form::lu) factor = quotient(before, pivot);
          sum = E{};
        }
        wait(step);
#pragma unroll
        for (int c = 0; c < at_once; ++c) {
          const int t = step.entries.t[c];
          if (t < 0) continue;
          if constexpr (form == Form::lu)
            row[t] = minus_product(row[t], factor, step.entries.u[c]);
          else
            sum = minus_conjugate_product(sum, row[t], step.entries.u[c]);
        }
        if (!last) continue;
        if constexpr (form == Form::lu) {
          if (lane == 0) row[p] = factor;
        } else {
          Base::end_entry(r, row, p, before, sum, pivot, square);
        }
        gpu::sync32();
      }
    }
    if constexpr (form == Form::cholesky) return Base::tell_pivot(r, row, own - square);
    return false;
  }

  /// How many rows right before row i are alike, of those that 32 words tell of.
  __device__ int rows_alike(I i) const {
    const int lane = static_cast<int>(threadIdx.x) & 31, word = static_cast<int>(i / 32) - lane;
    uint32_t others = word >= 0 ? ~alike[word] : 0;
    if (lane == 0) others &= (2u << i % 32) - 1;
    const uint32_t found = gpu::ballot32(others != 0);
    if (found == 0) return 31 * 32 + static_cast<int>(i % 32);
    const int of = __ffs(static_cast<int>(found)) - 1;
    return 32 * of + static_cast<int>(i % 32) - (31 - __clz(static_cast<int>(gpu::shuffle_from(others, of, 32))));
  }

  /// Asks for a needed row's next entries that are in this row, where column p is that row's. Of a row that is alike
  /// they stand as far behind column p (cholesky: behind the first one) as there, of others they are looked for.
  __device__ void ask(const Row& r, const I* columns, int p, bool is_alike, Step& step) const {
    const int lane = static_cast<int>(threadIdx.x) & 31, left = static_cast<int>(step.to - step.next) - lane;
    const int low = form == Form::lu ? p + 1 : 0, high = form == Form::lu ? r.count : p;
    int(&t)[at_once] = step.entries.t;
    if (is_alike) {
      const int next = low + static_cast<int>(step.next - step.from) + lane;
#pragma unroll
      for (int c = 0; c < at_once; ++c) t[c] = 32 * c < left ? next + 32 * c : -1;
    } else {
      I wanted[at_once];
#pragma unroll
      for (int c = 0; c < at_once; ++c) {
        t[c] = -1;
        wanted[c] = 32 * c < left ? gpu::load_constant(indices + step.next + lane + 32 * c) : I{-1};
      }
      if (low < high) {
        if (step.to - step.next > 32)
          search<at_once>(columns, low, high, wanted, left, t);
        else
          search<1>(columns, low, high, wanted, left, t);
      }
    }
    const E* const asked = values + step.next + lane;
#pragma unroll
    for (int c = 0; c < at_once; ++c)
      if (t[c] >= 0) step.entries.u[c] = gpu::load_fresh(asked + 32 * c);
  }

  /// By bisection, as many steps for all.
  template <int n>
  static __device__ void search(const I* columns, int low, int high, const I* wanted, int left, int* t) {
    int before[n];
#pragma unroll
    for (int c = 0; c < n; ++c) before[c] = low;
    for (int size = high - low; size > 1; size -= size / 2)
#pragma unroll
      for (int c = 0; c < n; ++c)
        if (columns[before[c] + size / 2 - 1] < wanted[c]) before[c] += size / 2;
#pragma unroll
    for (int c = 0; c < n; ++c)
      if (32 * c < left) t[c] = columns[before[c]] == wanted[c] ? before[c] : -1;
  }

  __device__ void wait(Step& step) const {
    Entries& entries = step.entries;
    const E* const asked = values + step.next + (threadIdx.x & 31);
#pragma unroll
    for (int c = 0; c < at_once; ++c)
      while (entries.t[c] >= 0 && !is_there(entries.u[c])) entries.u[c] = gpu::load_fresh(asked + 32 * c);
  }
};

}  // namespace kkc::ilu::gpu_parts
