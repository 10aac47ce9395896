// What the host implementations of spmv share: typed operands, ranges of equal work, and the product of one row.
// Streams of A are prefetched in software: hardware prefetchers stop at page borders and start late on each new
// stream, and plain CSR is then bound by latency rather than by memory (1.5x on seven entries a row).
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "core/dispatch.hpp"
#include "core/parts.hpp"
#include "device/host_gather.hpp"
#include "device/host_parallel.hpp"
#include "ops/spmv/spmv.hpp"

namespace kkc::spmv {

/// Real part type of an element as kernels hold it.
template <class S>
struct PartType {
  using type = S;
};
template <class R>
struct PartType<Parts<R>> {
  using type = R;
};
template <class S>
inline constexpr bool is_real = std::is_floating_point_v<S>;

/// A CSR matrix with its types; entries count from 0, columns from base.
template <class S, class I, class O>
struct HostCsr {
  const O* offsets;
  const I* indices;
  const S* values;
  O base;
  int64_t rows, cols, nnz;

  explicit HostCsr(const CsrRef& A)
      : offsets(static_cast<const O*>(A.offsets)),
        indices(static_cast<const I*>(A.indices)),
        values(static_cast<const S*>(A.values)),
        base(static_cast<O>(A.base)),
        rows(A.rows),
        cols(A.cols),
        nnz(A.nnz) {}
  int64_t begin(int64_t row) const { return static_cast<int64_t>(offsets[row] - base); }
  int64_t column(int64_t entry) const { return static_cast<int64_t>(indices[entry]) - static_cast<int64_t>(base); }
};

/// x so that x[index] is right for indices that count from base. Without entries nothing is read.
template <class S>
const S* based(const S* x, int64_t base, int64_t nnz, int64_t stride = 1) {
  return nnz == 0 ? x : x - base * stride;
}

template <class S>
bool is_zero(const S& s) {
  return s == S{};
}

/// y = alpha sum + beta y; beta = 0 does not read y.
template <class S>
struct Update {
  S alpha, beta;
  bool overwrite;
  Update(const Coefficient& a, const Coefficient& b)
      : alpha(factor<S>(a).get()), beta(factor<S>(b).get()), overwrite(is_zero(beta)) {}
  void operator()(S& y, const S& sum) const {
    y = overwrite ? times(alpha, sum) : plus(times(alpha, sum), times(beta, y));
  }
  void scale(S& y) const { y = overwrite ? S{} : times(beta, y); }
};

/// The update of eight elements of y.
template <class R>
[[gnu::always_inline]] inline void update_packed(const Update<R>& update, const Pack<R, 8>& sums, R* y,
                                                 int64_t y_stride) {
  if (y_stride != 1) {
    for (int i = 0; i < 8; ++i) update(y[i * y_stride], sums[i]);
    return;
  }
  Pack<R, 8> result = sums * update.alpha;
  if (!update.overwrite) {
    Pack<R, 8> old;
    load(old, y);
    result += old * update.beta;
  }
  store(result, y);
}

/// Vector `k` of a vector or multi-vector.
template <class S>
S* vector_of(const DenseRef& v, int64_t k) {
  return static_cast<S*>(v.data) + (v.rank == 2 ? k * v.strides[1] : 0);
}

/// beta y for every element: what is left when alpha is 0 or A has no entries.
template <class Dev, class S>
void scale_all(Queue& queue, const DenseRef& y, const Update<S>& update) {
  const int64_t rows = y.extents[0], vectors = y.rank == 2 ? y.extents[1] : 1;
  const int64_t parts = std::max<int64_t>(1, std::min<int64_t>(queue.concurrency(), rows * vectors / 4096));
  host_parts<Dev>(queue, parts, [&](int64_t part) {
    const int64_t begin = part_begin(rows, parts, part), end = part_begin(rows, parts, part + 1);
    for (int64_t k = 0; k < vectors; ++k) {
      S* column = vector_of<S>(y, k);
      for (int64_t row = begin; row < end; ++row) update.scale(column[row * y.strides[0]]);
    }
  });
}

/// Entries of the longest row that threads need not share.
inline int64_t most_of_one_thread(int64_t nnz) { return std::max<int64_t>(4096, nnz / 64); }

/// Where a part of the work starts: an entry of a row.
struct Cut {
  int64_t row, entry;
};

/// Cuts rows + entries into parts of equal size. A row is cut only when it is long: pieces are then added up.
template <class S, class I, class O>
std::vector<Cut> balanced_cuts(const HostCsr<S, I, O>& A, int64_t parts, bool cut_rows) {
  std::vector<Cut> cuts(static_cast<size_t>(parts) + 1);
  const int64_t work = A.rows + A.nnz, long_row = std::max<int64_t>(4096, work / parts / 8);
  cuts[0] = {0, 0};
  for (int64_t part = 1; part < parts; ++part) {
    const int64_t target = part_begin(work, parts, part);
    int64_t low = 0, high = A.rows;  // first row with row + begin(row) >= target
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (middle + A.begin(middle) < target)
        low = middle + 1;
      else
        high = middle;
    }
    Cut cut{low, low < A.rows ? A.begin(low) : A.nnz};
    if (cut_rows && low > 0 && cut.entry - A.begin(low - 1) > long_row) {
      const int64_t begin = A.begin(low - 1);
      cut = {low - 1, std::clamp(target - low, begin, cut.entry)};
      if (cut.entry == A.begin(low)) cut.row = low;
    }
    cuts[static_cast<size_t>(part)] = cut;
  }
  cuts[static_cast<size_t>(parts)] = {A.rows, A.nnz};
  return cuts;
}

/// A row cut between parts: its sum is the tails of parts first..last-1, then the head of `last`.
struct SharedRow {
  int64_t row;
  size_t first, last;
};

template <class S, class I, class O>
std::vector<SharedRow> shared_rows(const HostCsr<S, I, O>& A, const std::vector<Cut>& cuts) {
  std::vector<SharedRow> rows;
  const size_t parts = cuts.size() - 1, none = parts;
  size_t first = none;
  for (size_t part = 0; part < parts; ++part) {
    const Cut from = cuts[part], to = cuts[part + 1];
    if (from.row < to.row && from.entry > A.begin(from.row)) {
      rows.push_back({from.row, first, part});
      first = none;
    }
    const bool tail = to.row < A.rows && to.entry > std::max(from.entry, A.begin(to.row));
    if (tail && first == none) first = part;
  }
  return rows;
}

/// Threads worth starting for this much memory traffic.
template <class S, class I, class O>
int64_t parts_for(const HostCsr<S, I, O>& A, Queue& queue) {
  return std::max<int64_t>(1, std::min<int64_t>(queue.concurrency(), (A.rows + A.nnz) / 4096));
}

/// Parts for threads that take over from each other: several a thread where there is work for them.
template <class S, class I, class O>
int64_t shared_parts_for(const HostCsr<S, I, O>& A, Queue& queue) {
  const int64_t threads = parts_for(A, queue);
  return threads == 1 ? 1 : std::min<int64_t>(16 * threads, (A.rows + A.nnz) / 4096);
}

/// Products of a row's entries with x, by kind of element. x is based.
namespace row_product {

inline constexpr int64_t value_bytes_ahead = 2048, index_bytes_ahead = 1024;

/// Entries of A whose lines have been asked for; advances by 16 entries at a time.
template <class S, class I>
class Stream {
 public:
  Stream(const I* indices, const S* values, int64_t from) : indices_(indices), values_(values), next_(from) {}
  void reach(int64_t begin, int64_t end) {
    while (next_ < end) {
      next_ = std::max(next_, begin);
      for (size_t byte = 0; byte < 16 * sizeof(S); byte += 64)
        prefetch(reinterpret_cast<const char*>(values_ + next_) + value_bytes_ahead + byte);
      for (size_t byte = 0; byte < 16 * sizeof(I); byte += 64)
        prefetch(reinterpret_cast<const char*>(indices_ + next_) + index_bytes_ahead + byte);
      next_ += 16;
    }
  }

 private:
  const I* indices_;
  const S* values_;
  int64_t next_;
};

/// The lines of A that follow in a while. Once a row or for eight entries, needed or not: cheaper than to keep count.
template <class S, class I>
[[gnu::always_inline]] inline void prefetch_ahead(const S* values, const I* indices) {
  prefetch(reinterpret_cast<const char*>(values) + value_bytes_ahead);
  prefetch(reinterpret_cast<const char*>(indices) + index_bytes_ahead);
}

/// Eight at a time, single loads of x, four sums. No loop at the end: g++ would make vectors of rows of few entries
/// (f32, two entries a row: 1.8x).
template <class R, class I>
[[gnu::always_inline]] inline R long_row(const R* values, const I* indices, const R* x, int64_t p, int64_t end) {
  R a = 0, b = 0, c = 0, d = 0;
  const auto add_four = [&](int64_t at) __attribute__((always_inline)) {
    a += values[at] * x[indices[at]];
    b += values[at + 1] * x[indices[at + 1]];
    c += values[at + 2] * x[indices[at + 2]];
    d += values[at + 3] * x[indices[at + 3]];
  };
  for (; p + 8 <= end; p += 8) {
    prefetch_ahead(values + p, indices + p);
    add_four(p);
    add_four(p + 4);
  }
  prefetch_ahead(values + p, indices + p);
  if (p + 4 <= end) {
    add_four(p);
    p += 4;
  }
  if (p < end) {
    a += values[p] * x[indices[p]];
    if (p + 1 < end) {
      b += values[p + 1] * x[indices[p + 1]];
      if (p + 2 < end) c += values[p + 2] * x[indices[p + 2]];
    }
  }
  return (a + b) + (c + d);
}

/// Whether 16 columns follow one another.
template <class I>
[[gnu::always_inline]] inline bool consecutive(const I* indices) {
  using Columns = Pack<I, 8>;
  constexpr Columns count{0, 1, 2, 3, 4, 5, 6, 7};
  Columns low, high;
  load(low, indices);
  load(high, indices + 8);
  const Columns odd = ((low - indices[0]) ^ count) | ((high - indices[0]) ^ (count + I{8}));
  int64_t words[sizeof odd / 8], any = 0;
  std::memcpy(words, &odd, sizeof odd);
  for (const int64_t word : words) any |= word;
  return any == 0;
}

/// For rows whose columns mostly follow one another: there x is loaded by vectors too.
template <class R, class I>
[[gnu::always_inline]] inline R consecutive_row(const R* values, const I* indices, const R* x, int64_t p, int64_t end) {
  Pack<R, 8> first{}, second{}, v, w;
  const auto add = [&](Pack<R, 8> & sums, const R* from, int64_t at) __attribute__((always_inline)) {
    load(w, from);
    load(v, values + at);
    sums += v * w;
  };
  R rest = 0;
  for (; p + 16 <= end; p += 16) {
    prefetch_ahead(values + p, indices + p);
    if constexpr (sizeof(R) > 4) prefetch(reinterpret_cast<const char*>(values + p) + value_bytes_ahead + 64);
    if (consecutive(indices + p)) {
      add(first, x + indices[p], p);
      add(second, x + indices[p] + 8, p + 8);
    } else {
      rest += long_row(values, indices, x, p, p + 16);
    }
  }
  return sum_of<R>(first + second) + (rest + long_row(values, indices, x, p, end));
}

/// Any stride of x; the four products of parts are summed apart, and conjugation is a matter of signs at the end.
/// Ahead: lines of A that follow are asked for after so many entries; 0: not at all.
template <int Ahead = 0, class S, class I>
[[gnu::always_inline]] inline S plain_row(const S* values, const I* indices, const S* x, int64_t stride, int64_t p,
                                          int64_t end, bool conjugate) {
  using R = typename PartType<S>::type;
  R rr = 0, ii = 0, ri = 0, ir = 0;
  const auto add_until = [&](int64_t stop) __attribute__((always_inline)) {
    for (; p < stop; ++p) {
      const S a = values[p], b = x[indices[p] * stride];
      if constexpr (is_real<S>) {
        rr += a * b;
      } else {
        rr += a.re * b.re;
        ii += a.im * b.im;
        ri += a.re * b.im;
        ir += a.im * b.re;
      }
    }
  };
  if constexpr (Ahead == 0) {
    add_until(end);
  } else {
    while (p < end) {
      prefetch_ahead(values + p, indices + p);
      for (size_t byte = 64; byte < Ahead * sizeof(S); byte += 64)
        prefetch(reinterpret_cast<const char*>(values + p) + value_bytes_ahead + byte);
      add_until(std::min(p + Ahead, end));
    }
  }
  if constexpr (is_real<S>)
    return rr;
  else
    return conjugate ? S{rr + ii, ri - ir} : S{rr - ii, ri + ir};
}

/// Complex numbers of a row of less than eight entries: unrolled, since g++ would make vectors of so few.
template <class S, class I>
[[gnu::always_inline]] inline S short_row(const S* values, const I* indices, const S* x, int64_t p, int64_t end,
                                          bool conjugate) {
  using R = typename PartType<S>::type;
  R rr = 0, ii = 0, ri = 0, ir = 0;
  prefetch_ahead(values + p, indices + p);
#pragma GCC unroll 8
  for (int i = 0; i < 7; ++i) {
    if (p + i >= end) break;
    const S a = values[p + i], b = x[indices[p + i]];
    rr += a.re * b.re;
    ii += a.im * b.im;
    ri += a.re * b.im;
    ir += a.im * b.re;
  }
  return conjugate ? S{rr + ii, ri - ir} : S{rr - ii, ri + ir};
}

/// x of eight real or four complex entries, as numbers one after the other.
template <class S, class I>
[[gnu::always_inline]] inline void gather_entries(Pack<typename PartType<S>::type, 8>& to, const S* x, const I* i) {
  using R = typename PartType<S>::type;
  if constexpr (is_real<S>) {
    gather<R>(to, x, i);
  } else {
    const S a = x[i[0]], b = x[i[1]], c = x[i[2]], d = x[i[3]];
    to = Pack<R, 8>{a.re, a.im, b.re, b.im, c.re, c.im, d.re, d.im};
  }
}

/// A row's sum by vectors of eight numbers. Complex: the products of like parts, and of unlike parts, side by side.
template <class S>
struct RowSum {
  Pack<S, 8> sums{};
  S rest = 0;
  void add(const Pack<S, 8>& values, const Pack<S, 8>& x) { sums += values * x; }
  void add_one(S value, S x) { rest += value * x; }
  S total(bool) const { return sum_of<S>(sums) + rest; }
};
template <class R>
struct RowSum<Parts<R>> {
  Pack<R, 8> like{}, unlike{};
  R rr = 0, ii = 0, ri = 0, ir = 0;
  void add(const Pack<R, 8>& values, const Pack<R, 8>& x) {
    like += values * x;
    unlike += values * __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6);
  }
  void add_one(Parts<R> a, Parts<R> b) {
    rr += a.re * b.re;
    ii += a.im * b.im;
    ri += a.re * b.im;
    ir += a.im * b.re;
  }
  Parts<R> total(bool conjugate) const {
    const auto even = [](const Pack<R, 8>& v) { return (v[0] + v[2]) + (v[4] + v[6]); };
    const auto odd = [](const Pack<R, 8>& v) { return (v[1] + v[3]) + (v[5] + v[7]); };
    const R re_re = rr + even(like), im_im = ii + odd(like), re_im = ri + even(unlike), im_re = ir + odd(unlike);
    return conjugate ? Parts<R>{re_re + im_im, re_im - im_re} : Parts<R>{re_re - im_im, re_im + im_re};
  }
};

/// By the processor's gather, which keeps more misses of x under way than single loads do (1.2x on random columns).
template <class R, class I>
[[gnu::always_inline]] inline R gathered_row(const R* values, const I* indices, const R* x, int64_t length) {
  RowSum<R> sum;
  Pack<R, 8> v, w;
  int64_t i = 0;
  for (; i + 8 <= length; i += 8) {
    prefetch_ahead(values + i, indices + i);
    gather_entries(w, x, indices + i);
    load(v, values + i);
    sum.add(v, w);
  }
  prefetch_ahead(values + i, indices + i);
  for (; i < length; ++i) sum.add_one(values[i], x[indices[i]]);
  return sum.total(false);
}

/// Eight at a time, the last by a mask, where there are such: for rows whose lengths nothing foretells, where a loop's
/// end that is foretold wrong takes longer than the row.
template <class R, class I>
[[gnu::always_inline]] inline R masked_row(const R* values, const I* indices, const R* x, int64_t p, int64_t end) {
  if constexpr (has_masks<R, I>) {
    Pack<R, 8> sums{}, v, w;
    do {
      const int64_t count = std::min<int64_t>(end - p, 8);
      prefetch_ahead(values + p, indices + p);
      load_some<R>(v, values + p, count);
      gather_some<R>(w, x, indices + p, count);
      sums += v * w;
      p += 8;
    } while (p < end);
    return sum_of<R>(sums);
  }
  return long_row(values, indices, x, p, end);
}

/// Complex numbers: four at a time. Their products one after the other wait for each other's sums.
template <class S, class I>
[[gnu::always_inline]] inline S packed_row(const S* values, const I* indices, const S* x, int64_t p, int64_t end,
                                           bool conjugate) {
  using R = typename PartType<S>::type;
  RowSum<S> sum;
  Pack<R, 8> v, w;
  while (p + 8 <= end) {
    prefetch_ahead(values + p, indices + p);
    if constexpr (sizeof(S) > 8) prefetch(reinterpret_cast<const char*>(values + p) + value_bytes_ahead + 64);
    for (const int64_t stop = p + 8; p < stop; p += 4) {
      gather_entries(w, x, indices + p);
      load(v, reinterpret_cast<const R*>(values + p));
      sum.add(v, w);
    }
  }
  prefetch_ahead(values + p, indices + p);
  for (; p < end; ++p) sum.add_one(values[p], x[indices[p]]);
  return sum.total(conjugate);
}

/// A row's entries p to end, contiguous x. Where rows lie one after the other, values and indices are best the arrays'
/// own: with those of each row g++ 12 makes more of a row of few entries (f32, two entries: 1.3 times as long).
template <class S, class I>
[[gnu::always_inline]] inline S any_row(const S* values, const I* indices, const S* x, int64_t p, int64_t end,
                                        bool conjugate) {
  if constexpr (is_real<S>)
    return long_row(values, indices, x, p, end);
  else
    return end - p >= 8 ? packed_row(values, indices, x, p, end, conjugate)
                        : short_row(values, indices, x, p, end, conjugate);
}

}  // namespace row_product

/// Whether most neighbouring entries lie in different cache lines of an x that no inner cache holds.
template <class S, class I, class O>
bool columns_jump(const HostCsr<S, I, O>& A) {
  constexpr int64_t samples = 4096;
  if (A.cols * static_cast<int64_t>(sizeof(S)) < (int64_t{1} << 19) || A.nnz < samples) return false;
  const int64_t step = A.nnz / samples;
  int64_t jumps = 0;
  for (int64_t i = 0; i < samples; ++i) {
    const int64_t entry = std::min(i * step + i % step, A.nnz - 2);
    jumps += std::abs(A.column(entry + 1) - A.column(entry)) * static_cast<int64_t>(sizeof(S)) > 64;
  }
  return jumps * 10 > samples * 6;
}

/// Whether most rows differ in length from the next one, and few have so few entries that a mask costs more than a
/// wrong guess.
template <class S, class I, class O>
bool lengths_differ(const HostCsr<S, I, O>& A) {
  constexpr int64_t few = 4, most = 64;
  if (A.nnz > most * A.rows) return false;
  const int64_t pairs = std::max<int64_t>(A.rows - 1, 0), samples = std::min<int64_t>(4096, pairs);
  int64_t differ = 0, short_rows = 0;
  for (int64_t i = 0; i < samples; ++i) {
    const int64_t row = i * (pairs / samples), middle = A.begin(row + 1), length = middle - A.begin(row);
    differ += length != A.begin(row + 2) - middle;
    short_rows += length <= few;
  }
  return 2 * differ > samples && 16 * short_rows < 5 * samples;
}

/// Whether most entries lie in stretches of consecutive columns.
template <class S, class I, class O>
bool columns_follow(const HostCsr<S, I, O>& A) {
  constexpr int64_t stretch = 16;
  const int64_t samples = std::min<int64_t>(4096, A.nnz / stretch);
  if (samples == 0) return false;
  const int64_t step = (A.nnz - stretch) / samples;
  int64_t found = 0;
  for (int64_t i = 0; i < samples; ++i) {
    const int64_t entry = i * step + (step > 0 ? i % step : 0);
    found += A.column(entry + stretch - 1) - A.column(entry) == stretch - 1;
  }
  return found * 2 > samples;
}

/// Makes K<Dev, S, I, O> for the types of a case.
template <class Dev, template <class, class, class, class> class K>
std::unique_ptr<Kernel> make_typed(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.A.scalar, desc.A.pair, [&](auto scalar, auto pair) {
    using P = decltype(pair);
    kernel =
        std::make_unique<K<Dev, Element<typename decltype(scalar)::type>, typename P::ordinal, typename P::offset>>(
            desc, queue);
  });
  return kernel;
}

}  // namespace kkc::spmv
