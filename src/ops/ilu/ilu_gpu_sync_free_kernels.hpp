// Kernels of gpu_sync_free, for ilu and ic: a warp for each row in the order of levels, one launch, no barriers. A
// number of the factors is its own flag: it is a certain NaN until it is written, once (Liu et al., "A
// synchronization-free algorithm for parallel sparse triangular solves", Euro-Par 2016, section 3, with the value in
// the flag's place). Blocks take tickets, so that those that run wait only for such that run or have ended.
#pragma once

#include "device/gpu_warp.hpp"
#include "ops/ilu/ilu_gpu_found.hpp"

namespace kkc::ilu::gpu_parts {

/// Every bit of `words` words set, and the ticket at zero.
struct Begin {
  static constexpr int threads = 256;
  uint32_t* values;
  int64_t words;
  unsigned* ticket;

  __device__ void operator()() const {
    int64_t k = int64_t{blockIdx.x} * threads + threadIdx.x;
    if (k == 0) *ticket = 0;
    for (; k < words; k += int64_t{gridDim.x} * threads) values[k] = ~0u;
  }
};

__device__ inline bool is_written(float a) { return __float_as_uint(a) != ~0u; }
__device__ inline bool is_written(double a) { return __double_as_longlong(a) != -1ll; }

/// A real number that another warp writes; waits for it.
template <class R>
__device__ inline R await_real(const R* p) {
  R a = gpu::load_fresh(p);
  while (!is_written(a)) a = gpu::load_fresh(p);
  return a;
}
template <class E>
__device__ inline bool is_there(const E& a) {
  if constexpr (gpu::is_pair<E>)
    return is_written(a.re) && is_written(a.im);
  else
    return is_written(a);
}
template <class E>
__device__ inline E await(const E* p) {
  if constexpr (gpu::is_pair<E>)
    return {await_real(&p->re), await_real(&p->im)};
  else
    return await_real(p);
}

/// a, as a NaN that counts as written where it is one.
template <class R>
__device__ inline R tellable(R a) {
  if (a == a) return a;
  if constexpr (sizeof(R) == 4)
    return __uint_as_float(0x7fc00000u);
  else
    return __longlong_as_double(0x7ff8000000000000ll);
}
template <class E>
__device__ inline void tell(E* p, const E& a) {
  if constexpr (gpu::is_pair<E>) {
    *static_cast<volatile decltype(a.re)*>(&p->re) = tellable(a.re);
    *static_cast<volatile decltype(a.im)*>(&p->im) = tellable(a.im);
  } else {
    *static_cast<volatile E*>(p) = tellable(a);
  }
}

/// Whether the rule leaves a pivot of lu as it is: then it may be told before it is known whether its row is finite.
template <class E>
__device__ inline bool is_kept(const E& u, const Rule<RealPart<E>>& rule) {
  bool zero = false;
  const E pivot = lu_pivot(
      u, rule, [](RealPart<E> x) { return sqrt(x); }, zero);
  if constexpr (gpu::is_pair<E>)
    return pivot.re == u.re && pivot.im == u.im;
  else
    return pivot == u;
}

/// Rows that shared memory does not take, ascending, and where each lies in the workspace.
template <class I, class O>
struct LongRows {
  const I* rows;
  const O* begins;
  int count;
};

template <class I, class O>
struct LongRow {
  I row;
  O entries;
};
template <class O>
struct IsLongRow {
  const O* offsets;
  O room;
  __device__ bool operator()(int64_t i) const { return offsets[i + 1] - offsets[i] > room; }
};
template <class I, class O>
struct ListLongRows {
  const O* offsets;
  LongRow<I, O>* list;
  __device__ void operator()(int32_t number, int64_t i) const {
    list[number] = {static_cast<I>(i), offsets[i + 1] - offsets[i]};
  }
};

/// Of rows here and there: how many others they need, some of them, and how often a column of those is one of theirs. A
/// warp a row.
template <class I, class O>
struct CountMeetings {
  static constexpr int threads = 256;
  static constexpr int64_t most = 512;
  static constexpr int most_of_row = 8;
  const O *offsets, *diagonal;
  const I* indices;
  int64_t rows;
  uint32_t* counts;  // needed, met; zero at first

  __device__ void operator()() const {
    const int64_t sample = (int64_t{blockIdx.x} * threads + threadIdx.x) / 32;
    if (sample >= most) return;
    const auto i =
        static_cast<int64_t>((static_cast<uint64_t>(sample) * 0x9e3779b97f4a7c15u >> 33) % static_cast<uint64_t>(rows));
    const O first = offsets[i];
    const auto count = static_cast<int>(offsets[i + 1] - first), middle = static_cast<int>(diagonal[i] - first),
               step = middle / most_of_row + 1;
    uint32_t needed = 0, met = 0;
    for (int p = 0; p < middle; p += step, ++needed) {
      const I k = indices[first + p];
      for (O q = diagonal[k] + 1 + static_cast<O>(threadIdx.x % 32); q < offsets[k + 1]; q += 32)
        met += find_column(indices + first, p + 1, count, indices[q]) >= 0 ? 1 : 0;
    }
    met = gpu::subgroup_sum(met, 32);
    if (threadIdx.x % 32 != 0) return;
    atomicAdd(counts, needed);
    atomicAdd(counts + 1, met);
  }
};

/// `chains`, of lu: a row tells what its last needed row changes as soon as it has changed it.
template <class E, Form form, class I, class O, bool chains>
struct FactorSyncFree {
  static constexpr int threads = 256;
  using R = RealPart<E>;

  const O *offsets, *diagonal;
  const I *indices, *order;
  ilu_pattern::ValueSource<O> source;
  const E* A;
  E* values;
  Rule<R> rule;
  Found* found;
  unsigned* ticket;
  int64_t rows;
  int32_t room;   // entries of a row in shared memory
  bool together;  // of lu: a row loses to up to 32 others at once
  LongRows<I, O> long_rows;
  E* long_values;

  __device__ void operator()() const {
    extern __shared__ __align__(16) unsigned char shared[];
    if (const int64_t position = turn(); position < rows) by_warp(order[position], reinterpret_cast<E*>(shared));
  }

  /// Row i, one of long_rows, by a warp.
  __device__ void in_memory(I i) const {
    const Row r = row_of(i);
    E* const row = long_row(r);
    each_batch(
        0, r.count, [&](int e) { return value_at(source, A, static_cast<O>(r.first + e)); },
        [&](int e, const E& a) { row[e] = e == r.middle ? gpu::add(a, from_real<E>(rule.shift)) : a; });
    gpu::sync32();
    eliminate_long(r, row);
    R spoilt = 0;
    const auto look_and_tell = [&](int e, const E& value) {
      spoilt += not_finite(value);
      if (form == Form::lu && (e != r.middle || is_kept(value, rule))) tell(values + r.first + e, value);
    };
    // Others wait for U.
    each_batch(
        r.middle, r.count, [&](int e) { return row[e]; }, look_and_tell);
    each_batch(
        0, r.middle, [&](int e) { return row[e]; }, look_and_tell);
    tell_pivot(r, row, gpu::ballot32(spoilt != 0) == 0);
  }

 protected:
  struct Row {
    I i;
    O first;
    int count, middle;  // middle: its diagonal
  };
  /// What a row loses of one that it needs: of lu its U, of cholesky its L. at: its pivot.
  struct Part {
    O from{}, to{}, at{};
  };

  /// This warp's place in the order, or one behind it.
  __device__ int64_t turn() const {
    __shared__ unsigned turn;
    if (threadIdx.x == 0) turn = atomicAdd(ticket, 1u);
    __syncthreads();
    const int warps = static_cast<int>(blockDim.x) / 32, warp = static_cast<int>(threadIdx.x) / 32;
    return int64_t{turn} * warps + warp;
  }

  __device__ Part part_of(I k) const {
    const O at = diagonal[k];
    if constexpr (form == Form::lu)
      return {at + 1, offsets[k + 1], at};
    else
      return {offsets[k], at, at};
  }

  __device__ Row row_of(I i) const {
    return {i, offsets[i], static_cast<int>(offsets[i + 1] - offsets[i]), static_cast<int>(diagonal[i] - offsets[i])};
  }
  __device__ E* long_row(const Row& r) const {
    return long_values + long_rows.begins[find_column(long_rows.rows, 0, long_rows.count, r.i)];
  }
  __device__ void eliminate_long(const Row& r, E* row) const {
    if constexpr (form == Form::lu)
      eliminate_together(r, row, indices + r.first);
    else
      eliminate_in_turns(r, row, indices + r.first);
  }
  /// take(e, load(e)) for the entries begin..end-1, several of a lane's loaded at once.
  template <class Load, class Take>
  __device__ static void each_batch(int begin, int end, const Load& load, const Take& take) {
    constexpr int batch = 4;
    for (int first = begin + (static_cast<int>(threadIdx.x) & 31); first < end; first += 32 * batch) {
      E x[batch];
#pragma unroll
      for (int k = 0; k < batch; ++k)
        if (first + 32 * k < end) x[k] = load(first + 32 * k);
#pragma unroll
      for (int k = 0; k < batch; ++k)
        if (first + 32 * k < end) take(first + 32 * k, x[k]);
    }
  }

  /// Row i; `shared`: room for a row of each warp.
  __device__ void by_warp(I i, E* shared) const {
    by_warp(i, shared, [this](const Row& r, E* row, const I* columns) {
      if (form == Form::cholesky || !together) return eliminate(r, row, columns);
      eliminate_together(r, row, columns);
      return false;
    });
  }
  /// The same; `eliminate`: what the row loses to those that it needs, and whether these know what they wait for.
  template <class F>
  __device__ void by_warp(I i, E* shared, const F& eliminate) const {
    const int warps = static_cast<int>(blockDim.x) / 32, warp = static_cast<int>(threadIdx.x) / 32;
    const Row r = row_of(i);
    if (r.count > room) {  // by single loads: few such rows are worth the registers that more would take from all
      E* const row = long_row(r);
      read(r, row);
      eliminate_long(r, row);
      finish(r, row, false);
      return;
    }
    E* const row = shared + int64_t{warp} * room;
    I* const columns = reinterpret_cast<I*>(shared + int64_t{warps} * room) + int64_t{warp} * room;
    const int lane = static_cast<int>(threadIdx.x) & 31;
    for (int e = lane; e < r.count; e += 32) columns[e] = gpu::load_constant(indices + r.first + e);
    read(r, row);
    finish(r, row, eliminate(r, row, columns));
  }

  __device__ void read(const Row& r, E* row) const {
    for (int e = static_cast<int>(threadIdx.x) & 31; e < r.count; e += 32) {
      row[e] = value_at(source, A, static_cast<O>(r.first + e));
      if (e == r.middle) row[e] = gpu::add(row[e], from_real<E>(rule.shift));
    }
    gpu::sync32();
  }

  /// A needed row: its part, its pivot, where the first of this lane's entries of it belongs (-1: nowhere), and what
  /// its pivot and that entry were when they were asked for.
  struct Step {
    O from, to, at;
    int t;
    E pivot, u;
  };

  /// Returns whether others know what they wait for, of lu U, of cholesky the pivot: on chains the last needed row is
  /// the one to wait for, and nothing may lie between its pivot and this row's.
  __device__ bool eliminate(const Row& r, E* row, const I* columns) const {
    const int lane = static_cast<int>(threadIdx.x) & 31, count = r.count, middle = r.middle;
    [[maybe_unused]] const R own = real_part(row[middle]);
    R square = 0;
    bool told = false;
    for (int begin = 0; begin < middle; begin += 32) {
      // Where the needed rows' parts lie: 32 of them at once, ahead of the waiting.
      Part part;
      if (begin + lane < middle) part = part_of(columns[begin + lane]);
      const int here = min(32, middle - begin);
      // The other's entries are far more than this row's: these are looked for there.
      const auto is_longer = [&](const Step& step, int p) {
        return form == Form::lu && step.to - step.from > static_cast<O>(longer * (count - p));
      };
      const auto find = [&](O q, int p) {
        const I column = gpu::load_constant(indices + q);
        return form == Form::lu ? find_column(columns, p + 1, count, column) : find_column(columns, 0, p, column);
      };
      const auto prepare = [&](int s) {
        Step step{gpu::shuffle_from(part.from, s, 32), gpu::shuffle_from(part.to, s, 32),
                  gpu::shuffle_from(part.at, s, 32), -1};
        if (step.from + lane < step.to && !is_longer(step, begin + s)) step.t = find(step.from + lane, begin + s);
        step.pivot = gpu::load_fresh(values + step.at);
        if (step.t >= 0) step.u = gpu::load_fresh(values + step.from + lane);
        return step;
      };
      const auto take = [&](Step& step, int p) {
        const O q = step.from + lane;
        // What this row has is read before it is waited for the other.
        const E before = row[p];
        const E mine = step.t >= 0 ? row[step.t] : E{};
        const bool tells = form == Form::lu && chains && p + 1 == middle && count - middle <= 32 &&
                           step.to - step.from <= 32 && !is_longer(step, p);
        if (tells) {  // what the last needed row leaves as it is
          const bool changes = gpu::or32(step.t >= 0 ? 1u << (step.t - middle) : 0) >> lane & 1;
          const int e = middle + lane;
          if (e < count && !changes && (lane > 0 || is_kept(row[e], rule))) tell(values + r.first + e, row[e]);
          told = true;
        }
        gpu::sync32();  // all have read row[p]
        // Asked for together: they are told together.
        while (!is_there(step.pivot) || (step.t >= 0 && !is_there(step.u))) {
          step.pivot = gpu::load_fresh(values + step.at);
          if (step.t >= 0) step.u = gpu::load_fresh(values + q);
        }
        const E &diagonal_value = step.pivot, &u = step.u;
        if constexpr (form == Form::lu) {
          const E l = quotient(before, diagonal_value);
          if (tells) {
            if (step.t >= 0) {
              const E value = minus_product(mine, l, u);
              if (step.t > middle || is_kept(value, rule)) tell(values + r.first + step.t, value);
              row[step.t] = value;
            }
          } else if (is_longer(step, p)) {
            for (int t = p + 1 + lane; t < count; t += 32) {
              const int at = find_column(indices + step.from, 0, static_cast<int>(step.to - step.from), columns[t]);
              if (at >= 0) row[t] = minus_product(row[t], l, await(values + step.from + at));
            }
          } else {
            if (step.t >= 0) row[step.t] = minus_product(mine, l, u);
            for (O more = q + 32; more < step.to; more += 32)
              if (const int t = find(more, p); t >= 0) row[t] = minus_product(row[t], l, await(values + more));
          }
          if (lane == 0) row[p] = l;
        } else {
          E sum{};
          if (step.t >= 0) sum = minus_conjugate_product(sum, mine, u);
          for (O more = q + 32; more < step.to; more += 32)
            if (const int t = find(more, p); t >= 0) sum = minus_conjugate_product(sum, row[t], await(values + more));
          end_entry(r, row, p, before, sum, diagonal_value, square);
        }
        gpu::sync32();
      };
      // What can be found before a row's turn is found, and asked for: of late rows by those behind them.
      Step steps[ahead];
#pragma unroll
      for (int u = 0; u < ahead; ++u)
        if (u < here) steps[u] = prepare(u);
      for (int s = 0; s < here; s += ahead) {
#pragma unroll
        for (int u = 0; u < ahead; ++u) {
          if (s + u >= here) break;
          take(steps[u], begin + s + u);
          if (s + u + ahead < here) steps[u] = prepare(s + u + ahead);
        }
      }
    }
    if constexpr (form == Form::cholesky) told = tell_pivot(r, row, own - square);
    return told;
  }

  /// Of cholesky, entry p of the row, which loses the lanes' sums to what is before it: told at once, its square added.
  __device__ void end_entry(const Row& r, E* row, int p, const E& before, const E& sum, const E& pivot,
                            R& square) const {
    const E l = quotient(gpu::add(before, gpu::subgroup_sum(sum, 32)), pivot);
    if ((threadIdx.x & 31) == 0) {
      row[p] = l;
      tell(values + r.first + p, l);
    }
    square += real_part(l) * real_part(l);
    if constexpr (gpu::is_pair<E>) square += l.im * l.im;
  }

  /// Of cholesky, what squares have left of the row's diagonal entry; whether its pivot has been told.
  __device__ bool tell_pivot(const Row& r, E* row, R rest) const {
    bool zero = false;
    const R pivot = sqrt(cholesky_pivot(rest, rule, zero));
    const bool told = not_finite(rest) == 0 && !zero;  // all of L is finite where what is left is
    if ((threadIdx.x & 31) == 0) {
      if (told) tell(values + r.first + r.middle, from_real<E>(pivot));
      row[r.middle] = from_real<E>(rest);
    }
    gpu::sync32();
    return told;
  }

  /// The same for lu, up to 32 of the needed rows at a time: what their entries meet in this row, or this row's in far
  /// longer ones, is found by all lanes, before it is known by how much they are multiplied. Of many needed rows, which
  /// may need each other, those up to the first that is not there yet.
  __device__ void eliminate_together(const Row& r, E* row, const I* columns) const {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    for (int begin = 0, ready; begin < r.middle; begin += ready) {
      ready = min(32, r.middle - begin);
      const bool there = lane < ready;
      O from{};
      int length = 0, looks = 0;
      E pivot{};
      if (there) {
        const I k = columns[begin + lane];
        const O at = diagonal[k];
        from = at + 1;
        length = static_cast<int>(offsets[k + 1] - from);
        looks = min(length, r.count - begin - lane - 1);
        if (length <= longer * looks) looks = length;
        pivot = ready <= awaited ? await(values + at) : gpu::load_fresh(values + at);
      }
      uint32_t open = gpu::ballot32(there && !is_there(pivot));
      for (; (open & 1u) != 0; open = gpu::ballot32(there && !is_there(pivot)))
        if (there) pivot = gpu::load_fresh(values + from - 1);
      if (open != 0) ready = __ffs(static_cast<int>(open)) - 1;
      if (lane >= ready) looks = 0;
      const int before = gpu::subgroup_scan(looks, 32) - looks;
      const int all = gpu::shuffle_from(before + looks, 31, 32);
      for (int first = 0; first < all; first += 32) {
        const int item = first + lane;
        int s = 0;  // whose entry it is: the last whose first entry is at most this one
        for (int step = 16; step > 0; step >>= 1)
          if (gpu::shuffle_from(before, s + step, 32) <= item) s += step;
        const O part = gpu::shuffle_from(from, s, 32);
        const int others = gpu::shuffle_from(length, s, 32);
        int at = item - gpu::shuffle_from(before, s, 32), t = -1;
        if (others > gpu::shuffle_from(looks, s, 32)) {
          const int own = begin + s + 1 + at;
          if (item < all) at = find_column(indices + part, 0, others, columns[own]);
          if (item < all && at >= 0) t = own;
        } else if (item < all) {
          t = find_column(columns, begin + s + 1, r.count, gpu::load_constant(indices + part + at));
        }
        const O q = part + static_cast<O>(at);
        const E u = t >= 0 ? await(values + q) : E{};
        for (uint32_t left = gpu::ballot32(t >= 0); left != 0;) {
          const int turn = gpu::shuffle_from(s, __ffs(static_cast<int>(left)) - 1, 32);
          const E l = quotient(row[begin + turn], gpu::shuffle_from(pivot, turn, 32));
          if (t >= 0 && s == turn) row[t] = minus_product(row[t], l, u);
          left &= ~gpu::ballot32(s == turn);
          gpu::sync32();
        }
      }
      if (lane < ready) row[begin + lane] = quotient(row[begin + lane], pivot);
      gpu::sync32();
    }
  }

  /// The same for cholesky, 32 of the row's entries at a time: a lane adds up what its own loses to entries before
  /// these; what they lose to each other comes one after the other.
  __device__ void eliminate_in_turns(const Row& r, E* row, const I* columns) const {
    const int lane = static_cast<int>(threadIdx.x) & 31;
    R square = 0;
    for (int begin = 0; begin < r.middle; begin += 32) {
      const bool there = begin + lane < r.middle;
      const I first = columns[begin];
      E l{};
      O q{}, end{};
      if (there) {
        const I k = columns[begin + lane];
        l = row[begin + lane];
        q = offsets[k];
        end = diagonal[k];
      }
      const auto lose = [&](E sum, O at) {
        const int t = find_column(columns, 0, begin, gpu::load_constant(indices + at));
        return t >= 0 ? minus_conjugate_product(sum, row[t], await(values + at)) : sum;
      };
      // Long ones are gone through by all lanes.
      for (uint32_t left = gpu::ballot32(end - q > static_cast<O>(alone)); left != 0; left &= left - 1) {
        const int turn = __ffs(static_cast<int>(left)) - 1;
        const O from = gpu::shuffle_from(q, turn, 32), to = gpu::shuffle_from(end, turn, 32);
        E sum{};
        O before = 0;
        for (O at = from + lane; at < to && gpu::load_constant(indices + at) < first; at += 32) {
          sum = lose(sum, at);
          ++before;
        }
        sum = gpu::subgroup_sum(sum, 32);
        before = gpu::subgroup_sum(before, 32);
        if (lane == turn) {
          l = gpu::add(l, sum);
          q += before;
        }
      }
      for (; q < end && gpu::load_constant(indices + q) < first; ++q) l = lose(l, q);
      const E pivot = there ? await(values + end) : E{};
      for (int turn = 0; turn < min(32, r.middle - begin); ++turn) {
        if (lane == turn) l = quotient(l, pivot);
        const E other = gpu::shuffle_from(l, turn, 32);
        const I column = columns[begin + turn];
        if (lane > turn && there) {
          while (q < end && gpu::load_constant(indices + q) < column) ++q;
          if (q < end && gpu::load_constant(indices + q) == column)
            l = minus_conjugate_product(l, other, await(values + q));
        }
      }
      if (there) {
        row[begin + lane] = l;
        tell(values + r.first + begin + lane, l);
      }
      square += real_part(l) * real_part(l);
      if constexpr (gpu::is_pair<E>) square += l.im * l.im;
      gpu::sync32();
    }
    square = gpu::subgroup_sum(square, 32);
    if (lane == 0) row[r.middle] = from_real<E>(real_part(row[r.middle]) - square);
    gpu::sync32();
  }

  /// Tells what others wait for first: of lu U, of cholesky, whose L is told already, the pivot.
  __device__ void finish(const Row& r, E* row, bool told) const {
    if (form == Form::cholesky && told) return;
    const int lane = static_cast<int>(threadIdx.x) & 31;
    if (form == Form::lu && !told)
      for (int e = r.middle + lane; e < r.count; e += 32)
        if (e > r.middle || is_kept(row[e], rule)) tell(values + r.first + e, row[e]);
    R spoilt = 0;
    for (int e = lane; e < r.count; e += 32) spoilt += not_finite(row[e]);
    tell_pivot(r, row, gpu::ballot32(spoilt != 0) == 0);
    if constexpr (form == Form::lu)
      for (int e = lane; e < r.middle; e += 32) tell(values + r.first + e, row[e]);
  }

  __device__ void tell_pivot(const Row& r, E* row, bool finite) const {
    if ((threadIdx.x & 31u) != 0) return;
    finish_row<E, form>(r.i, row[r.middle], finite, rule, found);
    tell(values + r.first + r.middle, row[r.middle]);
  }

  static constexpr int ahead = 2;    // needed rows that are prepared
  static constexpr int awaited = 8;  // needed rows that are waited for together
  static constexpr int alone = 64;   // entries of a needed row that a lane goes through
  static constexpr int longer = 16;  // entries of the other row for one of this
};

}  // namespace kkc::ilu::gpu_parts
