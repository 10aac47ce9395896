// Kernels of gpu_sync_free for a few rows that look through very many entries of others, as those of vertices with
// very many edges do: a block takes each of them, warps the others.
#pragma once

#include "ilu_gpu_sync_free_kernels.hpp"

namespace kkc::ilu::gpu_parts {

/// Whether each row looks through so many entries of the rows that it needs that a block takes it, in the order of
/// levels, and whether any does. A warp a row.
template <Form form, class I, class O>
struct FindHeavyRows {
  static constexpr int threads = 256;
  const O *offsets, *diagonal;
  const I *indices, *order;
  int64_t rows, least;
  uint8_t* heavy;
  uint32_t* any;  // zero at first

  __device__ void operator()() const {
    const int64_t position = (int64_t{blockIdx.x} * threads + threadIdx.x) / 32;
    if (position >= rows) return;
    const I i = order[position];
    const O middle = diagonal[i];
    const auto count = static_cast<int64_t>(offsets[i + 1] - offsets[i]);
    int64_t work = 0;
    for (O p = offsets[i] + static_cast<O>(threadIdx.x % 32); p < middle; p += 32) {
      const I k = indices[p];
      if constexpr (form == Form::lu)  // of far longer ones its own entries are looked for
        work += min(static_cast<int64_t>(offsets[k + 1] - diagonal[k]), longer * count);
      else
        work += static_cast<int64_t>(diagonal[k] - offsets[k]);
    }
    work = gpu::subgroup_sum(work, 32);
    if (threadIdx.x % 32 != 0) return;
    heavy[position] = work > least;
    if (work > least) *any = 1;
  }
  static constexpr int64_t longer = 16;
};

template <class E, Form form, class I, class O>
struct FactorByBlocks : FactorSyncFree<E, form, I, O> {
  using Base = FactorSyncFree<E, form, I, O>;
  /// Of cholesky as many needed rows at once as a block may have warps.
  static constexpr int threads = form == Form::lu ? 256 : 1024;
  using Base::offsets, Base::diagonal, Base::indices, Base::order, Base::source, Base::A, Base::values, Base::rule,
      Base::found, Base::ticket, Base::room, Base::long_rows, Base::long_values;
  using typename Base::R, typename Base::Row;
  static constexpr int filter_words = 2048;  // of shared memory, behind a row

  /// What a block takes by its ticket: twice its first row's place in the order, and 1 where that row is all; the end.
  const int64_t* tasks;

  __device__ void operator()() const {
    extern __shared__ __align__(16) unsigned char shared[];
    __shared__ unsigned turn;
    if (threadIdx.x == 0) turn = atomicAdd(ticket, 1u);
    __syncthreads();
    const int64_t task = tasks[turn], position = task / 2 + threadIdx.x / 32;
    if ((task & 1) != 0)
      by_block(order[task / 2], reinterpret_cast<E*>(shared));
    else if (position < tasks[turn + 1] / 2)
      Base::by_warp(order[position], reinterpret_cast<E*>(shared));
  }

 private:
  static __device__ int filter_word(I column) { return static_cast<int>(column / 32 % filter_words); }

  /// Columns of a block's row, of which shared memory holds every `step`-th.
  struct Columns {
    const I *held, *all;
    int held_count, step, count;
    const uint32_t* filter;  // bits, of which those of the row's columns are set

    __device__ I at(int e) const { return step == 1 ? held[e] : gpu::load_constant(all + e); }
    /// Place of a column behind that of entry p, or -1.
    __device__ int find(int p, I column) const {
      if ((filter[filter_word(column)] >> (column & 31) & 1u) == 0) return -1;
      int low = p / step, high = held_count;
      while (high - low > 1) {
        const int middle = (low + high) / 2;
        (held[middle] <= column ? low : high) = middle;
      }
      if (step == 1) return held[low] == column ? low : -1;
      return find_column(all, low * step, min(count, (low + 1) * step), column);
    }
  };

  /// Row i by a whole block.
  __device__ void by_block(I i, E* shared) const {
    const int tid = static_cast<int>(threadIdx.x), all = static_cast<int>(blockDim.x);
    const Row r{i, offsets[i], static_cast<int>(offsets[i + 1] - offsets[i]),
                static_cast<int>(diagonal[i] - offsets[i])};
    const int most = room * (all / 32);
    const bool fits = r.count <= most;
    E* const row = fits ? shared : long_values + long_rows.begins[find_column(long_rows.rows, 0, long_rows.count, i)];
    // Columns of a row whose numbers do not fit may, or every few of them.
    I* const held = reinterpret_cast<I*>(fits ? shared + most : shared);
    const int holds = fits ? most : most * static_cast<int>((sizeof(E) + sizeof(I)) / sizeof(I));
    const int step = (r.count + holds - 1) / holds;
    uint32_t* const filter = reinterpret_cast<uint32_t*>(reinterpret_cast<char*>(shared) +
                                                         (sizeof(E) + sizeof(I)) * static_cast<size_t>(most));
    const Columns columns{held, indices + r.first, (r.count + step - 1) / step, step, r.count, filter};
    for (int w = tid; w < filter_words; w += all) filter[w] = 0;
    __syncthreads();
    for (int e = tid; e < r.count; e += all) {
      const I column = gpu::load_constant(indices + r.first + e);
      atomicOr(filter + filter_word(column), 1u << (column & 31));
    }
    for (int e = tid; e < columns.held_count; e += all) held[e] = gpu::load_constant(indices + r.first + e * step);
    for (int e = tid; e < r.count; e += all) {
      row[e] = value_at(source, A, static_cast<O>(r.first + e));
      if (e == r.middle) row[e] = gpu::add(row[e], from_real<E>(rule.shift));
    }
    __syncthreads();
    if constexpr (form == Form::lu)
      eliminate_one_by_one(r, row, columns);
    else
      eliminate_by_warps(r, row, columns);
    __syncthreads();
    R spoilt = 0;
    for (int e = tid; e < r.count; e += all) spoilt += not_finite(row[e]);
    const bool finite = __syncthreads_or(spoilt != 0) == 0;
    if (tid == 0) finish_row<E, form>(i, row[r.middle], finite, rule, found);
    __syncthreads();
    for (int e = tid; e < r.count; e += all) tell(values + r.first + e, row[e]);
  }

  /// A row of lu, one needed row after the other: what its entries meet is found, and asked for, while those before it
  /// are taken.
  __device__ void eliminate_one_by_one(const Row& r, E* row, const Columns& columns) const {
    __shared__ O pivots[threads], ends[threads];
    const int tid = static_cast<int>(threadIdx.x), all = static_cast<int>(blockDim.x);
    for (int begin = 0; begin < r.middle; begin += all) {
      __syncthreads();  // the row, or pivots that all have read
      const int here = min(all, r.middle - begin);
      if (tid < here) {
        const I k = columns.at(begin + tid);
        pivots[tid] = diagonal[k];
        ends[tid] = offsets[k + 1];
      }
      __syncthreads();
      const auto is_longer = [&](int s) {
        return ends[s] - pivots[s] > static_cast<O>(longer * (r.count - begin - s));
      };
      const auto column_of = [&](int s) {
        if (s >= here || is_longer(s)) return static_cast<I>(-1);
        const O q = pivots[s] + 1 + static_cast<O>(tid);
        return q < ends[s] ? gpu::load_constant(indices + q) : static_cast<I>(-1);
      };
      const auto place_of = [&](int s, I column) { return column >= 0 ? columns.find(begin + s, column) : -1; };
      I waiting[ahead] = {};
      int place[ahead];
      E u[ahead];
      const auto ask = [&](int a, int s) {
        place[a] = place_of(s, waiting[a]);
        if (place[a] >= 0) u[a] = gpu::load_fresh(values + pivots[s] + 1 + static_cast<O>(tid));
      };
#pragma unroll
      for (int a = 0; a < ahead; ++a) waiting[a] = column_of(a);
#pragma unroll
      for (int a = 0; a < ahead; ++a) {
        ask(a, a);
        waiting[a] = column_of(a + ahead);
      }
      for (int s = 0; s < here; s += ahead) {
#pragma unroll
        for (int a = 0; a < ahead; ++a) {
          if (s + a >= here) break;
          take_by_block(r, row, columns, begin + s + a, pivots[s + a], ends[s + a], is_longer(s + a), place[a], u[a]);
          ask(a, s + a + ahead);
          waiting[a] = column_of(s + a + 2 * ahead);
        }
      }
    }
  }

  /// A row of cholesky: warps take needed rows in turn, and wait for the entries that others find.
  __device__ void eliminate_by_warps(const Row& r, E* row, const Columns& columns) const {
    constexpr int warps = threads / 32;
    __shared__ volatile int found_by[warps];  // the last entry
    __shared__ R squares[warps];
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) / 32;
    if (lane == 0) found_by[warp] = -1;
    __syncthreads();
    const volatile E* const entries = row;
    const auto entry = [&](int t) {
      while (found_by[t % warps] < t) {
      }
      __threadfence_block();
      if constexpr (gpu::is_pair<E>)
        return E{entries[t].re, entries[t].im};
      else
        return entries[t];
    };
    R square = 0;
    for (int s = warp; s < r.middle; s += warps) {
      const I k = columns.at(s);
      const O pivot = diagonal[k];
      const E diagonal_value = gpu::load_fresh(values + pivot);
      E sum{};
      const auto column_at = [&](O q) { return q < pivot ? gpu::load_constant(indices + q) : static_cast<I>(-1); };
      O q = offsets[k] + static_cast<O>(lane);
      // One entry a lane: more of them would take the registers of other warps.
      for (I column = column_at(q), next; q - static_cast<O>(lane) < pivot; q += 32, column = next) {
        next = column_at(q + 32);
        if (const int t = column >= 0 ? columns.find(0, column) : -1; t >= 0) {
          const E other = gpu::load_fresh(values + q);
          sum = minus_conjugate_product(sum, entry(t), is_there(other) ? other : await(values + q));
        }
      }
      sum = gpu::subgroup_sum(sum, 32);
      const E l = quotient(gpu::add(row[s], sum), is_there(diagonal_value) ? diagonal_value : await(values + pivot));
      gpu::sync32();
      if (lane == 0) {
        row[s] = l;
        __threadfence_block();
        found_by[warp] = s;
      }
      gpu::sync32();
      square += real_part(l) * real_part(l);
      if constexpr (gpu::is_pair<E>) square += l.im * l.im;
    }
    if (lane == 0) squares[warp] = square;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int w = 1; w < warps; ++w) square += squares[w];
      row[r.middle] = from_real<E>(real_part(row[r.middle]) - square);
    }
  }

  /// The row loses to the one that its entry p needs; where this thread's first entry of that one belongs and what it
  /// was when it was asked for.
  __device__ void take_by_block(const Row& r, E* row, const Columns& columns, int p, O pivot, O end, bool is_longer,
                                int place, E u) const {
    const int tid = static_cast<int>(threadIdx.x), all = static_cast<int>(blockDim.x);
    E l{};
    const auto know = [&] { l = quotient(row[p], await(values + pivot)); };
    if (is_longer) {
      bool first = true;
      for (int t = p + 1 + tid; t - tid < r.count; t += all) {
        const int at =
            t < r.count ? find_column(indices + pivot + 1, 0, static_cast<int>(end - pivot - 1), columns.at(t)) : -1;
        if (first) know();
        first = false;
        if (at >= 0) row[t] = minus_product(row[t], l, await(values + pivot + 1 + at));
      }
    } else if (end - pivot - 1 <= static_cast<O>(all)) {
      know();
      if (place >= 0) {
        if (!is_there(u)) u = await(values + pivot + 1 + static_cast<O>(tid));
        row[place] = minus_product(row[place], l, u);
      }
    } else {
      bool first = true;
      for (O q = pivot + 1 + static_cast<O>(all + tid); q - static_cast<O>(tid) < end;
           q += static_cast<O>(several * all)) {
        I column[several];
        int t[several];
        E more[several];
#pragma unroll
        for (int e = 0; e < several; ++e)
          column[e] = q + static_cast<O>(e * all) < end ? gpu::load_constant(indices + q + static_cast<O>(e * all))
                                                        : static_cast<I>(-1);
#pragma unroll
        for (int e = 0; e < several; ++e) {
          t[e] = column[e] >= 0 ? columns.find(p, column[e]) : -1;
          if (t[e] >= 0) more[e] = gpu::load_fresh(values + q + static_cast<O>(e * all));
        }
        if (first) {  // what can be found before the needed row is there is found
          know();
          if (place >= 0) {
            if (!is_there(u)) u = await(values + pivot + 1 + static_cast<O>(tid));
            row[place] = minus_product(row[place], l, u);
          }
          first = false;
        }
#pragma unroll
        for (int e = 0; e < several; ++e) {
          if (t[e] < 0) continue;
          if (!is_there(more[e])) more[e] = await(values + q + static_cast<O>(e * all));
          row[t[e]] = minus_product(row[t[e]], l, more[e]);
        }
      }
    }
    __syncthreads();
    if (tid == 0) row[p] = l;  // nobody reads it any more
  }

  static constexpr int ahead = 4;     // needed rows that are prepared
  static constexpr int several = 8;   // entries that a thread goes through at once
  static constexpr int longer = 128;  // entries of the other row for one of this: these are looked for there
};

}  // namespace kkc::ilu::gpu_parts
