// Kernels of gpu_sync_free for a few rows that look through very many entries of others, as those of vertices with
// very many edges do: a block takes each of them, warps the others.
#pragma once

#include "ilu_gpu_sync_free_kernels.hpp"

namespace kkc::ilu::gpu_parts {

/// How many of `least`, twice, four, and eight times as many, entries of its own and of the rows that it needs each row
/// looks through, in the order of levels, and how many rows look through each. A warp a row.
template <Form form, class I, class O>
struct FindHeavyRows {
  static constexpr int threads = 256;
  const O *offsets, *diagonal;
  const I *indices, *order;
  int64_t rows, least;
  uint8_t* weights;
  uint32_t* counts;  // of the rows above each of those, zero at first

  __device__ void operator()() const {
    const int64_t position = (int64_t{blockIdx.x} * threads + threadIdx.x) / 32;
    if (position >= rows) return;
    const I i = order[position];
    const O middle = diagonal[i];
    const auto count = static_cast<int64_t>(offsets[i + 1] - offsets[i]);
    int64_t work = threadIdx.x % 32 == 0 ? count : 0;
    for (O p = offsets[i] + static_cast<O>(threadIdx.x % 32); p < middle; p += 32) {
      const I k = indices[p];
      if constexpr (form == Form::lu)  // of far longer ones its own entries are looked for
        work += min(static_cast<int64_t>(offsets[k + 1] - diagonal[k]), longer * count);
      else
        work += static_cast<int64_t>(diagonal[k] - offsets[k]);
    }
    work = gpu::subgroup_sum(work, 32);
    if (threadIdx.x % 32 != 0) return;
    int weight = 0;
    while (weight < steps && work > least << weight) atomicAdd(counts + weight++, 1u);
    weights[position] = static_cast<uint8_t>(weight);
  }
  static constexpr int steps = 4;
  static constexpr int64_t longer = 16;
};

/// By their places in the order.
struct IsHeavyRow {
  const uint8_t* weights;
  int least;
  __device__ bool operator()(int64_t position) const { return weights[position] >= least; }
};
template <class I>
struct ListHeavyRows {
  I* list;
  __device__ void operator()(int32_t number, int64_t position) const { list[number] = static_cast<I>(position); }
};

/// Where entries of U's columns lie, the rows of a column ascending; those of L follow them.
template <class I, class O>
struct ColumnsOfFactors {
  const O* offsets;
  const I* rows;
  const O* positions;
};

template <class E, Form form, class I, class O, bool chains>
struct FactorByBlocks : FactorSyncFree<E, form, I, O, chains> {
  using Base = FactorSyncFree<E, form, I, O, chains>;
  static constexpr int threads = 1024;  // of a row's entries as many at once as a block may have warps
  using Base::offsets, Base::diagonal, Base::indices, Base::order, Base::source, Base::A, Base::values, Base::rule,
      Base::found, Base::ticket, Base::room, Base::long_rows, Base::long_values;
  using typename Base::R, typename Base::Row;
  static constexpr int filter_words = 2048;  // of shared memory, behind a row

  /// What a block takes by its ticket: twice its first row's place in the order, and 1 where that row is all; the end.
  const int64_t* tasks;
  ColumnsOfFactors<I, O> columns_of_factors;  // for lu

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
    /// Place of a column, or -1.
    __device__ int find(I column) const {
      if ((filter[filter_word(column)] >> (column & 31) & 1u) == 0) return -1;
      int low = 0, high = held_count;
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
    if (form == Form::lu && r.middle * entries_of_a_needed_row <= r.count) {
      eliminate_by_block(r, row, columns);
    } else {
      find_lower(r, row, columns);
      __syncthreads();
      if constexpr (form == Form::lu) {
        find_upper(r, row, columns);
        __syncthreads();
      }
    }
    R spoilt = 0;
    for (int e = tid; e < r.count; e += all) spoilt += not_finite(row[e]);
    const bool finite = __syncthreads_or(spoilt != 0) == 0;
    if (tid == 0) finish_row<E, form>(i, row[r.middle], finite, rule, found);
    __syncthreads();
    // Of cholesky all others are told already.
    for (int e = form == Form::lu ? tid : r.middle + tid; e <= r.middle; e += all) tell(values + r.first + e, row[e]);
  }

  /// The row of lu where it needs few others: all its entries lose to one of them after the other.
  __device__ void eliminate_by_block(const Row& r, E* row, const Columns& columns) const {
    const int tid = static_cast<int>(threadIdx.x), all = static_cast<int>(blockDim.x);
    for (int s = 0; s < r.middle; ++s) {
      const I k = columns.at(s);
      const O pivot = diagonal[k], end = offsets[k + 1];
      const E l = quotient(row[s], await(values + pivot));
      __syncthreads();  // all have read row[s]
      if (tid == 0) row[s] = l;
      for (O q = pivot + 1 + static_cast<O>(tid); q < end; q += static_cast<O>(all))
        if (const int t = columns.find(gpu::load_constant(indices + q)); t >= 0)
          row[t] = minus_product(row[t], l, await(values + q));
      __syncthreads();
    }
    for (int e = r.middle + tid; e < r.count; e += all)
      if (e > r.middle || is_kept(row[e], rule)) tell(values + r.first + e, row[e]);
  }

  /// Of a row's entries: what they meet in the row of L, or the column of U, that they need.
  struct Needed {
    const I* others;
    O begin, end;
  };
  __device__ Needed needed_by(I k) const {
    if constexpr (form == Form::lu)
      return {columns_of_factors.rows, columns_of_factors.offsets[k], columns_of_factors.offsets[k + 1]};
    else
      return {indices, offsets[k], diagonal[k]};
  }

  /// What an entry of the row gets from others before `limit`; entry(t) is the row's entry t, for a lane with t = -1
  /// none. All lanes of a warp take part, and wait together: one that waits for itself is woken all the time.
  template <class Entry>
  __device__ E lost(const Row& r, const Columns& columns, const Needed& needed, I limit, Entry&& entry) const {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    E sum{};
    const auto position = [&](O q) {
      return form == Form::lu ? gpu::load_constant(columns_of_factors.positions + q) : q;
    };
    const auto take = [&](int t, O at) {
      E other{};
      if (t >= 0) other = gpu::load_fresh(values + at);
      const E mine = entry(t);
      if (t < 0) return;
      if (!is_there(other)) other = await(values + at);
      sum = form == Form::lu ? minus_product(sum, mine, other) : minus_conjugate_product(sum, mine, other);
    };
    if (needed.end - needed.begin > static_cast<O>(longer) * static_cast<O>(r.middle)) {
      for (int t = lane; t - lane < r.middle; t += 32) {
        const I k = t < r.middle ? columns.at(t) : limit;
        if (gpu::ballot32(k < limit) == 0) break;
        const int p = k < limit
                          ? find_column(needed.others + needed.begin, 0, static_cast<int>(needed.end - needed.begin), k)
                          : -1;
        take(p >= 0 ? t : -1, p >= 0 ? position(needed.begin + static_cast<O>(p)) : O{0});
      }
    } else {
      const auto other_at = [&](O q) { return q < needed.end ? gpu::load_constant(needed.others + q) : limit; };
      const auto position_at = [&](O q) { return q < needed.end ? position(q) : O{0}; };
      O q = needed.begin + static_cast<O>(lane), at = position_at(q);
      // One entry a lane: more of them would take the registers of other warps.
      for (I k = other_at(q), next; gpu::ballot32(k < limit) != 0; k = next) {
        q += 32;
        next = other_at(q);
        const O next_at = position_at(q);
        take(k < limit ? columns.find(k) : -1, at);
        at = next_at;
      }
    }
    return gpu::subgroup_sum(sum, 32);
  }

  /// The row's part of L: warps take entries in turn, and wait for those that others find.
  __device__ void find_lower(const Row& r, E* row, const Columns& columns) const {
    constexpr int warps = threads / 32;
    __shared__ volatile int found_by[warps];  // the last entry
    __shared__ __align__(16) unsigned char last_space[2 * warps * sizeof(E)];
    auto* const last = reinterpret_cast<volatile E*>(last_space);  // the last two of each warp, in turns
    __shared__ R squares[warps];
    const int lane = static_cast<int>(threadIdx.x) & 31, warp = static_cast<int>(threadIdx.x) / 32;
    if (lane == 0) found_by[warp] = -1;
    __syncthreads();
    const auto load = [](const volatile E* p) {
      if constexpr (gpu::is_pair<E>)
        return E{p->re, p->im};
      else
        return *p;
    };
    const auto turn_of = [](int t) { return t / warps % 2 * warps + t % warps; };
    const auto entry = [&](int t) {
      const volatile int* const found_there = found_by + (t < 0 ? 0 : t % warps);
      int done = *found_there;
      for (; gpu::ballot32(done < t) != 0; done = *found_there) __nanosleep(pause);
      __threadfence_block();
      if (t < 0) return E{};
      if (done == t) {  // the row may lie in the workspace, which takes longer
        const E l = load(last + turn_of(t));
        __threadfence_block();
        if (*found_there == t) return l;
      }
      return load(row + t);
    };
    R square = 0;
    for (int s = warp; s < r.middle; s += warps) {
      const I k = columns.at(s);
      const O pivot = diagonal[k];
      const E diagonal_value = gpu::load_fresh(values + pivot);
      const E before = row[s];
      const E sum = lost(r, columns, needed_by(k), k, entry);
      const E l = quotient(gpu::add(before, sum), is_there(diagonal_value) ? diagonal_value : await(values + pivot));
      gpu::sync32();
      if (lane == 0) {
        if constexpr (gpu::is_pair<E>) {
          last[turn_of(s)].re = l.re;
          last[turn_of(s)].im = l.im;
        } else {
          last[turn_of(s)] = l;
        }
        __threadfence_block();
        found_by[warp] = s;
        row[s] = l;
        if constexpr (form == Form::cholesky) tell(values + r.first + s, l);  // rows that need it go along behind
      }
      gpu::sync32();
      if constexpr (form == Form::cholesky) square += real_part(l) * real_part(l);
      if constexpr (form == Form::cholesky && gpu::is_pair<E>) square += l.im * l.im;
    }
    if constexpr (form == Form::cholesky) {
      if (lane == 0) squares[warp] = square;
      __syncthreads();
      if (threadIdx.x == 0) {
        for (int w = 1; w < warps; ++w) square += squares[w];
        row[r.middle] = from_real<E>(real_part(row[r.middle]) - square);
      }
    }
  }

  /// Then that of U: no entry needs another. Each is told at once: rows that wait for the first need not wait for the
  /// last. So is the pivot where its rule leaves it as it is.
  __device__ void find_upper(const Row& r, E* row, const Columns& columns) const {
    constexpr int warps = threads / 32;
    const auto needed_at = [&](int t) { return t < r.count ? needed_by(columns.at(t)) : Needed{}; };
    int t = r.middle + static_cast<int>(threadIdx.x) / 32;
    for (Needed needed = needed_at(t), next; t < r.count; t += warps, needed = next) {
      next = needed_at(t + warps);
      const E sum = lost(r, columns, needed, r.i, [&](int k) { return k < 0 ? E{} : row[k]; });
      if ((threadIdx.x & 31) != 0) continue;
      const E u = gpu::add(row[t], sum);
      row[t] = u;
      if (t > r.middle || is_kept(u, rule)) tell(values + r.first + t, u);
    }
  }

  static constexpr unsigned pause = 150;  // ns, more or less: warps that ask hold up those that find
  static constexpr int longer = 16;       // entries of the other row for one of this: these are looked for there
  static constexpr int entries_of_a_needed_row = 32;  // or more: see eliminate_by_block()
};

}  // namespace kkc::ilu::gpu_parts
