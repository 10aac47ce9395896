// Rows of op(A) as host_restriction walks them: from the transpose's pattern, or, where A has one entry in every row
// (tentative prolongators), from the runs of A's rows that share a column. Runs take a third of the transpose's room
// and time on grids, and consecutive rows of B are read as one.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "device/host_pattern_ref.hpp"
#include "ops/spgemm/spgemm.hpp"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace kkc::spgemm {

/// Rows first .. first + count - 1 of B.
struct RowRun {
  int64_t first, count;
};

/// The first e of 0..n-1 with to[e] != from[e] + shift, or n.
template <class T>
[[gnu::always_inline]] inline int64_t unshifted(const T* from, const T* to, int64_t n, std::make_unsigned_t<T> shift) {
#if defined(__AVX512F__)
  constexpr int64_t lanes = 64 / sizeof(T);
  const auto differ = [=](int64_t at, unsigned inside) -> unsigned {
    if constexpr (sizeof(T) == 4) {
      const auto mask = static_cast<__mmask16>(inside);
      const __m512i apart =
          _mm512_sub_epi32(_mm512_maskz_loadu_epi32(mask, to + at), _mm512_maskz_loadu_epi32(mask, from + at));
      return _mm512_mask_cmpneq_epi32_mask(mask, apart, _mm512_set1_epi32(static_cast<int32_t>(shift)));
    } else {
      const auto mask = static_cast<__mmask8>(inside);
      const __m512i apart =
          _mm512_sub_epi64(_mm512_maskz_loadu_epi64(mask, to + at), _mm512_maskz_loadu_epi64(mask, from + at));
      return _mm512_mask_cmpneq_epi64_mask(mask, apart, _mm512_set1_epi64(static_cast<int64_t>(shift)));
    }
  };
  int64_t e = 0;
  for (; n - e > lanes; e += lanes)
    if (const unsigned at = differ(e, (1u << lanes) - 1); at != 0) return e + __builtin_ctz(at);
  const unsigned at = differ(e, (1u << (n - e)) - 1);
  return at == 0 ? n : e + __builtin_ctz(at);
#else
  using U = std::make_unsigned_t<T>;
  int64_t e = 0;
  while (e < n && static_cast<U>(static_cast<U>(to[e]) - static_cast<U>(from[e])) == shift) ++e;
  return e;
#endif
}

/// to[e] = from[e] + shift for e = 0..n-1.
template <class T>
void copy_shifted(const T* from, int64_t n, std::make_unsigned_t<T> shift, T* to) {
#if defined(__AVX512F__)
  constexpr int64_t lanes = 64 / sizeof(T);
  for (; n > 0; n -= lanes, from += lanes, to += lanes) {
    const unsigned inside = n < lanes ? (1u << n) - 1 : (1u << lanes) - 1;
    if constexpr (sizeof(T) == 4) {
      const auto mask = static_cast<__mmask16>(inside);
      const __m512i by = _mm512_set1_epi32(static_cast<int32_t>(shift));
      _mm512_mask_storeu_epi32(to, mask, _mm512_add_epi32(_mm512_maskz_loadu_epi32(mask, from), by));
    } else {
      const auto mask = static_cast<__mmask8>(inside);
      const __m512i by = _mm512_set1_epi64(static_cast<int64_t>(shift));
      _mm512_mask_storeu_epi64(to, mask, _mm512_add_epi64(_mm512_maskz_loadu_epi64(mask, from), by));
    }
  }
#else
  using U = std::make_unsigned_t<T>;
  for (int64_t e = 0; e < n; ++e) to[e] = static_cast<T>(static_cast<U>(from[e]) + shift);
#endif
}

/// The rows of B of rows some entries later: neither caches nor processors foresee them.
template <class I, class O, class T, class E, bool long_rows = false>
struct Ahead {
  static constexpr bool two_lines = long_rows;  // of each row
  const HostPatternRef<I, O>& B;
  const T* entries;  // B's columns, or its values
  const E* factors;  // A's values, or null
  [[gnu::always_inline]] void offsets(int64_t j) const { __builtin_prefetch(B.offsets + j); }
  [[gnu::always_inline]] void row(int64_t j) const {
    __builtin_prefetch(entries + B.begin(j));
    if (long_rows) __builtin_prefetch(entries + B.begin(j) + 64 / sizeof(T));
  }
  [[gnu::always_inline]] void factor(int64_t k) const {
    if (factors != nullptr) __builtin_prefetch(factors + k);
  }
};

/// Rows of op(A)'s pattern; entry k has the value at positions[k], or k without positions.
template <class I, class O>
class EntryRows {
 public:
  EntryRows(const CsrRef& A, const void* positions) : A_(A), positions_(static_cast<const O*>(positions)) {}

  int64_t first_row(int64_t parts, int64_t part) const { return A_.first_row(parts, part); }

  /// Of one row, in order; next() is false behind the last.
  class Runs {
   public:
    Runs(const HostPatternRef<I, O>& A, int64_t i) : A_(A), k_(A.begin(i)), end_(A.end(i)) {}
    bool next(RowRun& run) {
      if (k_ == end_) return false;
      const int64_t begin = k_++;
      while (k_ < end_ && A_.indices[k_] - A_.indices[begin] == k_ - begin) ++k_;
      run = {A_.column(begin), k_ - begin};
      return true;
    }

   private:
    const HostPatternRef<I, O>& A_;
    int64_t k_, end_;
  };
  Runs runs(int64_t i) const { return {A_, i}; }
  static constexpr bool stored_runs = false;

  /// For callers that take several rows of B at a time: f(row of B, place of A's value, 1) for each entry of row i.
  template <class Later, class F>
  void each_run(int64_t i, const Later& later, const F& f) const {
    each(i, later, [&](int64_t j, int64_t k) {
      f(j, k, 1);
      return true;
    });
  }

  /// f(row of B, place of A's value) for each entry of row i until one is false.
  template <class Later, class F>
  bool each(int64_t i, const Later& later, const F& f) const {
    constexpr int64_t near = 40, far = 80;
    for (int64_t k = A_.begin(i), end = A_.end(i), last = A_.nnz - 1; k < end; ++k) {
      const int64_t next = std::min(k + near, last);
      later.offsets(A_.column(std::min(k + far, last)));
      later.row(A_.column(next));
      later.factor(at(next));
      if (!f(A_.column(k), at(k))) return false;
    }
    return true;
  }

 private:
  int64_t at(int64_t k) const { return positions_ == nullptr ? k : static_cast<int64_t>(positions_[k]); }
  HostPatternRef<I, O> A_;
  const O* positions_;
};

/// Rows of the transpose of an A with one entry in every row, as runs of A's rows, which are rows of B.
template <class I, class O>
class RunRows {
  using UI = std::make_unsigned_t<I>;
  using UO = std::make_unsigned_t<O>;

 public:
  RunRows(const CsrRef& runs, const uint8_t* counts) : runs_(runs), counts_(counts) {}

  int64_t first_row(int64_t parts, int64_t part) const { return runs_.first_row(parts, part); }

  class Runs {
   public:
    Runs(const RunRows& rows, int64_t i) : rows_(rows), at_(rows.runs_.begin(i)), end_(rows.runs_.end(i)) {}
    bool next(RowRun& run) {
      if (at_ == end_) return false;
      run = {rows_.runs_.indices[at_], rows_.counts_[at_]};
      ++at_;
      return true;
    }

   private:
    const RunRows& rows_;
    int64_t at_, end_;
  };
  Runs runs(int64_t i) const { return {*this, i}; }
  static constexpr bool stored_runs = true;

  /// How many of `most` rows behind row i + lag - 1 have as many runs as row i, each of as many rows as the one of the
  /// row `lag` before and `apart` rows of B behind it.
  int64_t continued(int64_t i, int64_t lag, int64_t most, int64_t& apart) const {
    const int64_t begin = runs_.begin(i), n = runs_.end(i) - begin;
    if (n == 0 || most < 1) return 0;
    int64_t rows = unshifted(runs_.offsets + i, runs_.offsets + i + 1, lag + most, static_cast<UO>(n)) - lag;
    if (rows < 1) return 0;
    const I* const first = runs_.indices + begin;
    apart = first[lag * n] - first[0];
    if (apart < 1) return 0;
    rows = unshifted(first, first + lag * n, rows * n, static_cast<UI>(apart)) / n;
    const uint8_t *const counts = counts_ + begin, *const later = counts + lag * n;
    if (std::memcmp(counts, later, static_cast<size_t>(rows * n)) == 0) return rows;
    return (std::mismatch(counts, counts + rows * n, later).first - counts) / n;
  }

  /// How many of `most` rows behind row i have runs of the same lengths that begin where those of the row before end.
  int64_t joined(int64_t i, int64_t most) const {
    int64_t apart = 0;
    const int64_t rows = continued(i, 1, most, apart), begin = runs_.begin(i), end = runs_.end(i);
    return std::all_of(counts_ + begin, counts_ + end, [&](uint8_t count) { return count == apart; }) ? rows : 0;
  }

  /// f(first row) for ranges of `apart` rows of B with the runs of rows i .. i + lag - 1, all of as many runs.
  template <class F>
  void each_range(int64_t i, int64_t lag, int64_t apart, const F& f) const {
    const int64_t begin = runs_.begin(i), n = runs_.end(i) - begin;
    int64_t from = -apart;
    for (int64_t run = begin; run < begin + n; ++run)
      for (int64_t at = run; at < run + lag * n; at += n)
        if (runs_.indices[at] < from || runs_.indices[at] + counts_[at] > from + apart) f(from = runs_.indices[at]);
  }

  template <class Later, class F>
  bool each(int64_t i, const Later& later, const F& f) const {
    for (int64_t run = runs_.begin(i), end = runs_.end(i), last = runs_.nnz - 1; run < end; ++run) {
      const int64_t next = runs_.indices[std::min(run + near, last)];
      later.offsets(runs_.indices[std::min(run + far, last)]);
      later.factor(next);
      const int64_t first = runs_.indices[run];
      for (int64_t j = first; j < first + counts_[run]; ++j) {
        later.row(std::min(next + j - first, runs_.cols - 1));  // runs are mostly of one length
        if (!f(j, j)) return false;
      }
    }
    return true;
  }
  /// f(row of B, place of A's value, rows) for each run: so many rows of B and values of A. What a row fetches ahead
  /// for itself takes a tenth of the time of rows of few entries.
  template <class Later, class F>
  void each_run(int64_t i, const Later& later, const F& f) const {
    for (int64_t run = runs_.begin(i), end = runs_.end(i), last = runs_.nnz - 1; run < end; ++run) {
      const int64_t next = runs_.indices[std::min(run + near, last)], count = counts_[run];
      later.offsets(runs_.indices[std::min(run + far, last)]);
      later.factor(next);
      later.row(next);
      if (!Later::two_lines || count > 1)
        later.row(std::min(next + count, runs_.cols) - 1);  // runs are mostly of one length
      f(runs_.indices[run], runs_.indices[run], count);
    }
  }

 private:
  static constexpr int64_t near = 48, far = 96;  // runs ahead
  HostPatternRef<I, O> runs_;                    // base 0; a row of op(A): where its runs begin
  const uint8_t* counts_;
};

/// Where the kernel's rows come from. rows(desc): for the plan; rows(args): for execute.
template <class I, class O>
struct TransposedPattern {
  using Rows = EntryRows<I, O>;
  TransposedPattern(const Desc&, Queue&) {}
  Rows rows(const Desc& desc) const { return {desc.A, nullptr}; }
  Rows rows(const Args& args) const { return {args.A, args.positions_A}; }
  size_t bytes() const { return 0; }
};

}  // namespace kkc::spgemm
