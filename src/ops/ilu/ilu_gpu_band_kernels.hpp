// Kernels of gpu_band, for ilu and ic: one block goes down the diagonal with some rows of the band in shared memory
// (Golub, Van Loan, "Matrix Computations", 4.3.1 and 4.3.5, on a pattern). Some of its threads eliminate, a pivot after
// the other, all that loses to it at once; others meanwhile fetch the rows behind and store those that are done.
#pragma once

#include "ilu_gpu_sync_free_kernels.hpp"

namespace kkc::ilu::gpu_parts {

/// How far entries are from the diagonal at most.
struct BandWidth {
  int lower, upper;
};

template <Form form, class I, class O>
struct MeasureBand {
  static constexpr int threads = 256;
  const O* offsets;
  const I* indices;
  int64_t rows;
  BandWidth* width;  // zeros at first

  __device__ void operator()() const {
    int64_t lower = 0, upper = 0;
    for (int64_t i = int64_t{blockIdx.x} * threads + threadIdx.x; i < rows; i += int64_t{gridDim.x} * threads) {
      lower = max(lower, i - static_cast<int64_t>(indices[offsets[i]]));
      upper = max(upper, static_cast<int64_t>(indices[offsets[i + 1] - 1]) - i);
    }
    if (form == Form::cholesky) upper = lower;
    int most_lower = static_cast<int>(min(lower, int64_t{INT32_MAX})),
        most_upper = static_cast<int>(min(upper, int64_t{INT32_MAX}));
    for (int mask = 16; mask > 0; mask >>= 1) {
      most_lower = max(most_lower, gpu::shuffle_xor(most_lower, mask, 32));
      most_upper = max(most_upper, gpu::shuffle_xor(most_upper, mask, 32));
    }
    if (threadIdx.x % 32 != 0) return;
    atomicMax(&width->lower, most_lower);
    atomicMax(&width->upper, most_upper);
  }
};

/// A number that is none: of a place in the band that the pattern does not have. No NaN of a matrix has all bits set
/// once tellable() has seen it.
template <class E>
__device__ inline E no_number() {
  if constexpr (gpu::is_pair<E>)
    return {no_number<RealPart<E>>(), no_number<RealPart<E>>()};
  else if constexpr (sizeof(E) == 4)
    return __uint_as_float(~0u);
  else
    return __longlong_as_double(-1ll);
}

/// each: columns of U to a thread that eliminates.
template <class E, Form form, class I, class O, int each>
struct FactorBand {
  static constexpr int threads = 1024;
  static constexpr int held = 128;    // rows in shared memory
  static constexpr int moving = 256;  // threads that fetch, and that store
  using R = RealPart<E>;

  const O *offsets, *diagonal;
  const I* indices;
  ilu_pattern::ValueSource<O> source;
  const E* A;
  E* values;
  Rule<R> rule;
  Found* found;
  int64_t rows;
  int lower, upper;
  int stride;       // numbers of a row in shared memory, its diagonal in place `lower`
  int stage;        // pivots between exchanges with memory, at most 32: 3 stages and those that `lower` fills are held
  int eliminating;  // threads

  __device__ void operator()() const {
    extern __shared__ __align__(16) unsigned char shared[];
    __shared__ uint32_t spoilt;  // bits of the rows that are stored: not finite
    E* const band = reinterpret_cast<E*>(shared);
    E* const pivots = band + held * stride;
    const int tid = static_cast<int>(threadIdx.x);
    const int role = tid < eliminating ? 0 : 1 + (tid - eliminating) / moving;
    const int64_t fetched = stage + (lower + stage - 1) / stage * stage;  // rows, before the first pivot
    if (tid == 0) spoilt = 0;
    if (role == fetches)
      for (int64_t first = 0; first < fetched; first += stage) fetch(band, first);
    __syncthreads();
    for (int64_t k = 0;; k += stage) {
      if (role == eliminates && k < rows) eliminate(band, pivots, k);
      if (role == fetches && k + fetched < rows + lower) fetch(band, k + fetched);
      if (role == stores && k > 0) store(band, pivots, k - stage, spoilt);
      __syncthreads();
      if (k >= rows) break;
    }
  }

 private:
  static constexpr int eliminates = 0, fetches = 1, stores = 2;

  /// Waits for some of the block's threads, who all name the same barrier.
  static __device__ void sync_role(int role, int count) {
    asm volatile("barrier.cta.sync %0, %1;" : : "r"(role + 1), "r"(count) : "memory");
  }

  static __device__ int slot(int64_t row) { return static_cast<int>(row & (held - 1)); }

  /// Where a pivot's rule leads; what is not finite stays as it is.
  __device__ E ruled(const E& raw) const {
    bool zero = false;
    if constexpr (form == Form::lu)
      return lu_pivot(
          raw, rule, [](R x) { return sqrt(x); }, zero);
    return not_finite(raw) == 0 ? from_real<E>(cholesky_pivot(real_part(raw), rule, zero)) : raw;
  }

  /// What rows lose to `stage` pivots from k on. Of cholesky the pivot is the square of L's, and L is that times L's
  /// pivot: no root is waited for.
  __device__ void eliminate(E* band, E* pivots, int64_t k) const {
    const int tid = static_cast<int>(threadIdx.x);
    const int below = 1 + tid % lower, right = 1 + tid / lower * each;
    const bool takes_part = right <= upper;
    const int count = static_cast<int>(min(int64_t{stage}, rows - k)), first = slot(k);
    for (int s = 0; s < count; ++s) {
      if (eliminating == 32)
        gpu::sync32();
      else
        sync_role(eliminates, eliminating);
      const E* const top = band + ((first + s) & (held - 1)) * stride;
      E* const row = band + ((first + s + below) & (held - 1)) * stride + lower - below;
      const E raw = top[lower], before = row[0];
      E others[each], x[each];
#pragma unroll
      for (int m = 0; m < each; ++m) {
        const int j = right + m;
        if constexpr (form == Form::lu)
          others[m] = takes_part ? top[lower + j] : no_number<E>();
        else
          others[m] =
              takes_part && j <= lower ? band[((first + s + j) & (held - 1)) * stride + lower - j] : no_number<E>();
        x[m] = takes_part ? row[j] : no_number<E>();
      }
      E l = quotient(before, raw);  // most rules change nothing
      const E pivot = ruled(raw);
      if (tid == 0) pivots[(first + s) & (held - 1)] = pivot;
      if (!is_same(pivot, raw)) l = quotient(before, pivot);
#pragma unroll
      for (int m = 0; m < each; ++m)  // selecting instead takes a fifth longer
        if (is_there(before) && is_there(others[m]) && is_there(x[m]))
          row[right + m] =
              form == Form::lu ? minus_product(x[m], l, others[m]) : minus_conjugate_product(x[m], l, others[m]);
    }
  }
  static __device__ bool is_same(const E& a, const E& b) {
    if constexpr (gpu::is_pair<E>)
      return a.re == b.re && a.im == b.im;
    else
      return a == b;
  }

  /// Entries of `stage` rows from `first` on, `at_once` of a thread: f(m, place, row, entry) for each after g(m, entry)
  /// for all of these.
  template <class G, class F>
  __device__ void each_entry(int64_t first, int thread, G&& g, F&& f) const {
    const int lane = thread & 31;
    const int64_t last = min(first + stage, rows);
    const O start = offsets[min(first + lane, last)], end = offsets[last];
    for (O e = offsets[min(first, rows)] + static_cast<O>(thread - lane); e < end;
         e += static_cast<O>(moving * at_once)) {
#pragma unroll
      for (int m = 0; m < at_once; ++m)
        if (const O entry = e + static_cast<O>(m * moving + lane); entry < end) g(m, entry);
#pragma unroll
      for (int m = 0; m < at_once; ++m) {
        const O entry = e + static_cast<O>(m * moving + lane);
        int s = 0;  // whose entry it is: the last whose first entry is at most this one
        for (int step = 16; step > 0; step >>= 1)
          if (gpu::shuffle_from(start, s + step, 32) <= entry) s += step;
        if (entry < end) f(m, s, entry);
      }
    }
  }

  __device__ void fetch(E* band, int64_t first) const {
    const int thread = static_cast<int>(threadIdx.x) - eliminating;
    E* const to = band + slot(first) * stride;
    for (int p = thread; p < stage * stride; p += moving) to[p] = no_number<E>();
    sync_role(fetches, moving);
    if (first >= rows) return;
    I columns[at_once];
    E entries[at_once];
    each_entry(
        first, thread,
        [&](int m, O entry) {
          columns[m] = gpu::load_constant(indices + entry);
          entries[m] = value_at(source, A, entry);
        },
        [&](int m, int s, O) {
          const int place = static_cast<int>(static_cast<int64_t>(columns[m]) - (first + s)) + lower;
          E a = entries[m];
          if (form == Form::cholesky && place == lower) a = from_real<E>(real_part(a));  // no more of it is read
          if (place == lower) a = gpu::add(a, from_real<E>(rule.shift));
          if constexpr (gpu::is_pair<E>)
            to[s * stride + place] = {tellable(a.re), tellable(a.im)};
          else
            to[s * stride + place] = tellable(a);
        });
  }

  __device__ void store(const E* band, const E* pivots, int64_t first, uint32_t& spoilt) const {
    const int thread = static_cast<int>(threadIdx.x) - eliminating - moving;
    const E* const from = band + slot(first) * stride;
    I columns[at_once];
    each_entry(
        first, thread, [&](int m, O entry) { columns[m] = gpu::load_constant(indices + entry); },
        [&](int m, int s, O entry) {
          const int place = static_cast<int>(static_cast<int64_t>(columns[m]) - (first + s)) + lower;
          E number = from[s * stride + place];
          if (place < lower) {
            const E pivot = pivots[slot(columns[m])];
            number = quotient(number, form == Form::lu ? pivot : from_real<E>(sqrt(real_part(pivot))));
          }
          if (not_finite(number) != 0) atomicOr(&spoilt, 1u << s);
          if (place != lower) values[entry] = number;
        });
    sync_role(stores, moving);
    if (thread >= 32) return;
    const uint32_t bits = spoilt;
    gpu::sync32();
    if (thread == 0) spoilt = 0;
    if (const int64_t i = first + thread; thread < stage && i < rows) {
      E pivot = from[thread * stride + lower];
      finish_row<E, form>(static_cast<I>(i), pivot, (bits >> thread & 1u) == 0, rule, found);
      values[diagonal[i]] = pivot;
    }
  }

  static constexpr int at_once = 4;
};

}  // namespace kkc::ilu::gpu_parts
