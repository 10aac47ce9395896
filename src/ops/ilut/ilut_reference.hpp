// ilut, reference: ParILUT (Anzt, Chow, Dongarra, "ParILUT - a new parallel threshold ILU factorization", SIAM J. Sci.
// Comput. 40(4), 2018; Anzt et al., "ParILUT - a parallel threshold ILU for GPUs", IPDPS 2019), on host threads. Sweeps
// take the values of the sweep before (Jacobi instead of their asynchronous order): the same bits in every run,
// whatever the number of threads. A sweep is a sparse product of rows: what is left of A without the terms of U's
// diagonal. Of the entries that L U has more than A and the factors a row gets the largest only, and long rows of U
// offer their largest only: else a dense row and column of A would make all of n^2 entries candidates.
#pragma once

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/dispatch.hpp"
#include "device/host_parallel.hpp"
#include "ops/ilu/ilu_arithmetic.hpp"
#include "ops/ilu_pattern/ilu_pattern_fill.hpp"
#include "ops/ilut/ilut.hpp"

namespace kkc::ilut {
namespace reference_parts {

using ilu::RealPart;

template <class E, class I>
struct Triangle {
  std::vector<int64_t> offsets;
  std::vector<I> columns;
  std::vector<E> values;
};

/// L strictly lower; U's rows begin with their diagonal.
template <class E, class I>
struct Pair {
  Triangle<E, I> L, U;
};

/// The size of an entry in 16 bits: its float without the sign, to 1 part in 128.
template <class E>
uint32_t size_of_entry(const E& a) {
  float size;
  if constexpr (ilu::has_parts<E>)
    size = static_cast<float>(std::abs(a.re) + std::abs(a.im));
  else
    size = static_cast<float>(std::abs(a));
  uint32_t bits;
  std::memcpy(&bits, &size, sizeof bits);
  return (bits & 0x7fffffffu) >> 15;
}

/// Lets the `most` largest of some sizes pass, asked for one after the other; of equal ones the first.
class Largest {
 public:
  /// Reorders `sizes`, which are more than `most`.
  Largest(std::vector<uint32_t>& sizes, int64_t most) : equals_(most) {
    if (most <= 0) return;
    const auto last = sizes.begin() + (most - 1);
    std::nth_element(sizes.begin(), last, sizes.end(), std::greater<>());
    least_ = *last;
    equals_ -= std::count_if(sizes.begin(), last, [&](uint32_t size) { return size > least_; });
  }
  bool takes(uint32_t size) { return size > least_ || (size == least_ && equals_-- > 0); }

 private:
  uint32_t least_ = std::numeric_limits<uint32_t>::max();
  int64_t equals_;
};

/// What rows of U of more than `most` entries offer as candidates: their largest ones.
template <class E, class I>
class Offers {
 public:
  Offers(const Triangle<E, I>& U, int64_t rows, int64_t most) : of_row_(static_cast<size_t>(rows), -1), most_(most) {
    std::vector<uint32_t> sizes;
    for (size_t k = 0; k < of_row_.size(); ++k) {
      const int64_t begin = U.offsets[k] + 1, end = U.offsets[k + 1];
      if (end - begin <= most) continue;
      sizes.clear();
      for (int64_t q = begin; q < end; ++q) sizes.push_back(size_of_entry(U.values[static_cast<size_t>(q)]));
      Largest largest(sizes, most);
      of_row_[k] = static_cast<int64_t>(places_.size());
      for (int64_t q = begin; q < end; ++q)
        if (largest.takes(size_of_entry(U.values[static_cast<size_t>(q)]))) places_.push_back(q);
    }
  }
  bool limits(int64_t k) const { return of_row_[static_cast<size_t>(k)] >= 0; }
  /// Places in U of what row k offers, ascending; of a row that is limited.
  std::span<const int64_t> of(int64_t k) const {
    return {places_.data() + of_row_[static_cast<size_t>(k)], static_cast<size_t>(most_)};
  }

 private:
  std::vector<int64_t> of_row_, places_;
  int64_t most_;
};

template <class E, class I, class O>
class ReferenceKernel final : public Kernel {
  using R = RealPart<E>;
  using Rows = Triangle<E, I>;

 public:
  explicit ReferenceKernel(const Desc& desc)
      : start_(desc.start),
        rule_(desc.pivots),
        fill_(desc.fill),
        iterations_(desc.iterations),
        sweeps_(desc.sweeps),
        pair_(desc.A.pair),
        scalar_(desc.A.scalar),
        rows_(desc.A.rows),
        memory_(desc.memory) {}

  Factors execute(Queue& queue, const CsrRef& A) override {
    if (rows_ == 0) return {exported(Rows{{0}, {}, {}}), exported(Rows{{0}, {}, {}})};
    workspaces_.clear();  // an execute may have failed
    workspaces_.resize(at(queue.concurrency()));
    std::vector<E> values(at(start_.nnz));
    const ilu_pattern::ValueSource<O> source(start_);
    each_chunk(queue, [&](int64_t begin, int64_t end, Workspace&, Chunk&) {
      for (O p = offsets()[begin]; p < offsets()[end]; ++p)
        values[at(p)] = ilu::value_at(source, static_cast<const E*>(A.values), p);
      for (int64_t i = begin; i < end; ++i) {
        E& d = values[at(diagonal()[i])];
        d = plus(d, ilu::from_real<E>(rule_.shift));
      }
    });
    Pair<E, I> f = first(queue, values);
    const int64_t most_L = most(static_cast<int64_t>(f.L.columns.size())),
                  most_U = most(static_cast<int64_t>(f.U.columns.size()) - rows_);
    const int64_t of_row = most_candidates(std::max(most_L, most_U), rows_);
    for (int32_t k = 0; k < iterations_; ++k) {
      f = with_candidates(queue, f, values, of_row);
      f = sweep(queue, f, values);
      drop(queue, f, most_L, most_U);
      f = sweep(queue, f, values);
    }
    for (int32_t k = 0; k < sweeps_; ++k) f = sweep(queue, f, values);
    workspaces_.clear();
    refuse(f);
    return {exported(f.L), exported(f.U)};
  }

 private:
  static constexpr int64_t longest_chunk = 256, shortest_chunk = 16;
  static constexpr int64_t search_costs = 16;  // as much as that many entries in a row
  static constexpr int32_t lacking = 16;  // sums of columns that a row lacks, so that they seldom wait for each other

  /// A thread's: what rows are put together in.
  struct Workspace {
    explicit Workspace(int64_t n) : places(at(n), 0), sums(at(n)), marks(at(n), -1), columns(n) {}
    bool is_own(int64_t j) const { return marks[at(j)] == mark; }
    std::vector<E> of_own;        // sums of a row's own columns, behind those of columns that it lacks
    std::vector<int32_t> places;  // of own columns in `of_own`, 0 of others
    // With candidates:
    std::vector<E> sums;
    std::vector<int64_t> marks;  // `mark` where the row has the column, one more where it is a candidate
    int64_t mark = 0;
    ilu_pattern::ColumnSet columns;
    std::vector<int64_t> own;
    std::vector<uint32_t> sizes_L, sizes_U;  // of the row's candidates
  };
  struct Chunk {
    std::vector<I> columns_L, columns_U;
    std::vector<E> values_L, values_U;
  };

  static size_t at(int64_t i) { return static_cast<size_t>(i); }
  const O* offsets() const { return start_.offsets->template as<O>(); }
  const I* indices() const { return start_.indices->template as<I>(); }
  const O* diagonal() const { return start_.diagonal->template as<O>(); }
  int64_t most(int64_t entries) const {
    const double bound = std::floor(fill_ * static_cast<double>(entries));
    return bound < 9e18 ? static_cast<int64_t>(bound) : INT64_MAX;
  }

  int64_t chunk_rows() const { return std::clamp(rows_ / 64, shortest_chunk, longest_chunk); }

  /// Calls f(first row, last row + 1, workspace, chunk) for chunks of rows; returns the chunks.
  template <class F>
  std::vector<Chunk> each_chunk(Queue& queue, F&& f) {
    const int64_t each = chunk_rows(), count = (rows_ + each - 1) / each;
    std::vector<Chunk> chunks(at(count));
    std::atomic<int64_t> next{0};
    host_parts_checked<Host>(queue, std::clamp<int64_t>(count, 1, queue.concurrency()), [&](int64_t part) {
      auto& workspace = workspaces_[at(part)];
      if (!workspace) workspace = std::make_unique<Workspace>(rows_);
      for (int64_t c; (c = next.fetch_add(1)) < count;)
        f(c * each, std::min(rows_, (c + 1) * each), *workspace, chunks[at(c)]);
    });
    return chunks;
  }

  /// A's triangles, the lower one over A's diagonal.
  Pair<E, I> first(Queue& queue, const std::vector<E>& values) {
    Pair<E, I> to = counted();
    const auto chunks = each_chunk(queue, [&](int64_t begin, int64_t end, Workspace&, Chunk& chunk) {
      for (int64_t i = begin; i < end; ++i) {
        for (O p = offsets()[i]; p < offsets()[i + 1]; ++p) {
          const int64_t j = indices()[p];
          if (j < i)
            take_lower(chunk, j, ilu::quotient(values[at(p)], pivot(values[at(diagonal()[j])])));
          else
            take_upper(chunk, i, j, values[at(p)]);
        }
        count(to, i, chunk);
      }
    });
    join(queue, chunks, to);
    return to;
  }

  /// A sweep over the pattern of f.
  Pair<E, I> sweep(Queue& queue, const Pair<E, I>& f, const std::vector<E>& values) {
    Pair<E, I> to = counted();
    const auto chunks = each_chunk(queue, [&](int64_t begin, int64_t end, Workspace& w, Chunk& chunk) {
      for (int64_t i = begin; i < end; ++i) {
        const std::span<const I> lower = columns_of(f.L, i), upper = columns_of(f.U, i);
        int32_t last = lacking - 1;
        for (const auto& columns : {lower, upper})
          for (const I j : columns) w.places[at(j)] = ++last;
        w.of_own.assign(at(last + 1), E{});
        E* const sums = w.of_own.data();
        for (O p = offsets()[i]; p < offsets()[i + 1]; ++p)
          if (const int32_t place = w.places[at(indices()[p])]; place != 0) sums[place] = values[at(p)];
        for (int64_t p = f.L.offsets[at(i)]; p < f.L.offsets[at(i + 1)]; ++p) subtract(f, p, lower, upper, w);
        int32_t place = lacking - 1;
        for (const auto& columns : {lower, upper})
          for (const I j : columns) {
            take(chunk, i, j, factor(f, i, j, sums[++place]));
            w.places[at(j)] = 0;
          }
        count(to, i, chunk);
      }
    });
    join(queue, chunks, to);
    return to;
  }

  static std::span<const I> columns_of(const Rows& rows, int64_t i) {
    return {rows.columns.data() + rows.offsets[at(i)], at(rows.offsets[at(i + 1)] - rows.offsets[at(i)])};
  }

  /// Subtracts the products of entry p of L, in the row of the columns `lower` and `upper`, from its sums.
  static void subtract(const Pair<E, I>& f, int64_t p, std::span<const I> lower, std::span<const I> upper,
                       Workspace& w) {
    const int64_t k = f.L.columns[at(p)], begin = f.U.offsets[at(k)] + 1, count = f.U.offsets[at(k + 1)] - begin;
    const I* const columns = f.U.columns.data() + begin;
    const E *const u = f.U.values.data() + begin, l = f.L.values[at(p)];
    E* const sums = w.of_own.data();
    if (count / search_costs > static_cast<int64_t>(lower.size() + upper.size())) {
      for (const auto& own : {lower, upper})
        for (const I j : own) {
          const I* const found = std::lower_bound(columns, columns + count, j);
          if (found == columns + count || *found != j) continue;
          E& sum = sums[w.places[at(j)]];
          sum = ilu::minus_product(sum, l, u[found - columns]);
        }
      return;
    }
    const int32_t* const places = w.places.data();
    for (int64_t q = 0; q < count; ++q) {  // without a branch: what the row lacks goes to one of a few other sums
      const int32_t place = places[columns[q]];
      const auto lacks = -static_cast<int32_t>(place == 0);
      E& sum = sums[place + (lacks & static_cast<int32_t>(q % lacking))];
      sum = ilu::minus_product(sum, l, u[q]);
    }
  }

  /// A sweep over the entries of f and A and over the largest `of_row` that L U has beside them in each row of
  /// either triangle.
  Pair<E, I> with_candidates(Queue& queue, const Pair<E, I>& f, const std::vector<E>& values, int64_t of_row) {
    const Offers offers(f.U, rows_, of_row);
    Pair<E, I> to = counted();
    const auto chunks = each_chunk(queue, [&](int64_t begin, int64_t end, Workspace& w, Chunk& chunk) {
      for (int64_t i = begin; i < end; ++i) {
        w.mark += 2;
        hold_factors(f, i, w);
        for (O p = offsets()[i]; p < offsets()[i + 1]; ++p) {
          hold(indices()[p], w);
          w.sums[at(indices()[p])] = values[at(p)];
        }
        const auto subtract = [&](int64_t p, int64_t q) {
          const int64_t j = f.U.columns[at(q)];
          if (w.marks[at(j)] < w.mark) {
            w.marks[at(j)] = w.mark + 1;
            w.columns.insert(j);
          }
          w.sums[at(j)] = ilu::minus_product(w.sums[at(j)], f.L.values[at(p)], f.U.values[at(q)]);
        };
        for (int64_t p = f.L.offsets[at(i)]; p < f.L.offsets[at(i + 1)]; ++p) {
          const int64_t k = f.L.columns[at(p)];
          if (offers.limits(k)) {
            subtract_own(f, p, w);
            for (const int64_t q : offers.of(k))
              if (!w.is_own(f.U.columns[at(q)])) subtract(p, q);
          } else {
            for (int64_t q = f.U.offsets[at(k)] + 1; q < f.U.offsets[at(k + 1)]; ++q) subtract(p, q);
          }
        }
        take_with_candidates(f, i, of_row, w, chunk);
        count(to, i, chunk);
      }
    });
    join(queue, chunks, to);
    return to;
  }

  static void hold(int64_t j, Workspace& w) {
    if (w.is_own(j)) return;
    w.marks[at(j)] = w.mark;
    w.columns.insert(j);
    w.own.push_back(j);
  }
  static void hold_factors(const Pair<E, I>& f, int64_t i, Workspace& w) {
    w.own.clear();
    for (const Rows* rows : {&f.L, &f.U})
      for (int64_t p = rows->offsets[at(i)]; p < rows->offsets[at(i + 1)]; ++p) hold(rows->columns[at(p)], w);
  }

  /// Subtracts the products of entry p of L from the sums of its row's own columns.
  static void subtract_own(const Pair<E, I>& f, int64_t p, Workspace& w) {
    const int64_t k = f.L.columns[at(p)];
    const int64_t begin = f.U.offsets[at(k)] + 1, end = f.U.offsets[at(k + 1)];
    const auto subtract = [&](int64_t j, int64_t q) {
      w.sums[at(j)] = ilu::minus_product(w.sums[at(j)], f.L.values[at(p)], f.U.values[at(q)]);
    };
    if ((end - begin) / search_costs <= static_cast<int64_t>(w.own.size())) {
      for (int64_t q = begin; q < end; ++q)
        if (w.is_own(f.U.columns[at(q)])) subtract(f.U.columns[at(q)], q);
      return;
    }
    const I* const columns = f.U.columns.data();
    for (const int64_t j : w.own) {
      const I* const found = std::lower_bound(columns + begin, columns + end, static_cast<I>(j));
      if (found != columns + end && *found == j) subtract(j, found - columns);
    }
  }

  /// The factors' entry (i, j) for what is left of A there.
  E factor(const Pair<E, I>& f, int64_t i, int64_t j, const E& left) const {
    return j < i ? ilu::quotient(left, pivot(f.U.values[at(f.U.offsets[at(j)])])) : left;
  }
  void take(Chunk& chunk, int64_t i, int64_t j, const E& value) const {
    if (j < i)
      take_lower(chunk, j, value);
    else
      take_upper(chunk, i, j, value);
  }

  /// A row's own entries and the largest candidates of each triangle.
  void take_with_candidates(const Pair<E, I>& f, int64_t i, int64_t of_row, Workspace& w, Chunk& chunk) const {
    const size_t first_L = chunk.columns_L.size(), first_U = chunk.columns_U.size();
    w.sizes_L.clear();
    w.sizes_U.clear();
    w.columns.drain([&](int64_t j) {
      const E value = factor(f, i, j, std::exchange(w.sums[at(j)], E{}));
      if (!w.is_own(j)) (j < i ? w.sizes_L : w.sizes_U).push_back(size_of_entry(value));
      take(chunk, i, j, value);
    });
    keep_largest(of_row, w, w.sizes_L, first_L, chunk.columns_L, chunk.values_L);
    keep_largest(of_row, w, w.sizes_U, first_U, chunk.columns_U, chunk.values_U);
  }

  /// Of the candidates among columns[first..) those of the `most` largest sizes, the first of equal ones.
  static void keep_largest(int64_t most, const Workspace& w, std::vector<uint32_t>& sizes, size_t first,
                           std::vector<I>& columns, std::vector<E>& values) {
    if (static_cast<int64_t>(sizes.size()) <= most) return;
    Largest largest(sizes, most);
    size_t to = first;
    for (size_t p = first; p < columns.size(); ++p)
      if (w.is_own(columns[p]) || largest.takes(size_of_entry(values[p]))) {
        columns[to] = columns[p];
        values[to++] = values[p];
      }
    columns.resize(to);
    values.resize(to);
  }

  E pivot(const E& u) const {
    bool zero = false;
    return ilu::lu_pivot(
        u, rule_, [](R x) { return std::sqrt(x); }, zero);
  }
  static void take_lower(Chunk& chunk, int64_t j, const E& value) {
    chunk.columns_L.push_back(static_cast<I>(j));
    chunk.values_L.push_back(value);
  }
  /// A zero pivot is kept for refuse(); it divides as 1.
  void take_upper(Chunk& chunk, int64_t i, int64_t j, const E& value) const {
    chunk.columns_U.push_back(static_cast<I>(j));
    chunk.values_U.push_back(j == i && !(value == E{} && rule_.threshold == 0) ? pivot(value) : value);
  }

  // Offsets hold counts inside a chunk until the chunks are joined.
  Pair<E, I> counted() const {
    Pair<E, I> to;
    to.L.offsets.resize(at(rows_ + 1));
    to.U.offsets.resize(at(rows_ + 1));
    return to;
  }
  static void count(Pair<E, I>& to, int64_t i, const Chunk& chunk) {
    to.L.offsets[at(i + 1)] = static_cast<int64_t>(chunk.columns_L.size());
    to.U.offsets[at(i + 1)] = static_cast<int64_t>(chunk.columns_U.size());
  }
  void join(Queue& queue, const std::vector<Chunk>& chunks, Pair<E, I>& to) const {
    std::vector<int64_t> firsts_L{0}, firsts_U{0};
    for (const Chunk& chunk : chunks) {
      firsts_L.push_back(firsts_L.back() + static_cast<int64_t>(chunk.columns_L.size()));
      firsts_U.push_back(firsts_U.back() + static_cast<int64_t>(chunk.columns_U.size()));
    }
    resize(to.L, firsts_L.back());
    resize(to.U, firsts_U.back());
    const int64_t count = std::ssize(chunks), each = chunk_rows();
    host_parts<Host>(queue, std::min<int64_t>(count, queue.concurrency()), [&](int64_t part) {
      for (int64_t c = part; c < count; c += std::min<int64_t>(count, queue.concurrency())) {
        const Chunk& chunk = chunks[at(c)];
        for (int64_t i = c * each; i < std::min(rows_, (c + 1) * each); ++i) {
          to.L.offsets[at(i + 1)] += firsts_L[at(c)];
          to.U.offsets[at(i + 1)] += firsts_U[at(c)];
        }
        std::copy(chunk.columns_L.begin(), chunk.columns_L.end(), to.L.columns.begin() + firsts_L[at(c)]);
        std::copy(chunk.values_L.begin(), chunk.values_L.end(), to.L.values.begin() + firsts_L[at(c)]);
        std::copy(chunk.columns_U.begin(), chunk.columns_U.end(), to.U.columns.begin() + firsts_U[at(c)]);
        std::copy(chunk.values_U.begin(), chunk.values_U.end(), to.U.values.begin() + firsts_U[at(c)]);
      }
    });
  }
  static void resize(Rows& rows, int64_t entries) {
    rows.columns.resize(at(entries));
    rows.values.resize(at(entries));
  }

  /// The least size of which, and of larger ones, there are at most `most` entries off the diagonal.
  static uint32_t threshold(const Rows& rows, int64_t n, bool keeps_first, int64_t most) {
    std::vector<int64_t> histogram(1 << 16, 0);
    for (int64_t i = 0; i < n; ++i)
      for (int64_t p = rows.offsets[at(i)] + keeps_first; p < rows.offsets[at(i + 1)]; ++p)
        ++histogram[size_of_entry(rows.values[at(p)])];
    int64_t kept = 0;
    uint32_t least = 1 << 16;
    while (least > 0 && kept + histogram[least - 1] <= most) kept += histogram[--least];
    return least;
  }

  /// Keeps the largest entries and U's diagonal.
  void drop(Queue& queue, Pair<E, I>& f, int64_t most_L, int64_t most_U) const {
    host_parts_checked<Host>(queue, 2, [&](int64_t which) {
      Rows& rows = which == 0 ? f.L : f.U;
      const bool keeps_first = which == 1;
      const uint32_t least = threshold(rows, rows_, keeps_first, which == 0 ? most_L : most_U);
      if (least == 0) return;
      int64_t to = 0, p = 0;
      for (int64_t i = 0; i < rows_; ++i) {
        const int64_t first = p;
        for (; p < rows.offsets[at(i + 1)]; ++p)
          if ((keeps_first && p == first) || size_of_entry(rows.values[at(p)]) >= least) {
            rows.columns[at(to)] = rows.columns[at(p)];
            rows.values[at(to++)] = rows.values[at(p)];
          }
        rows.offsets[at(i + 1)] = to;
      }
      resize(rows, to);
    });
  }

  void refuse(const Pair<E, I>& f) const {
    ilu::Breakdown found;
    for (int64_t i = 0; i < rows_; ++i) {
      R spoilt = 0;
      for (const Rows* rows : {&f.L, &f.U})
        for (int64_t p = rows->offsets[at(i)]; p < rows->offsets[at(i + 1)]; ++p)
          spoilt += ilu::not_finite(rows->values[at(p)]);
      const bool zero = f.U.values[at(f.U.offsets[at(i)])] == E{};
      if (!zero && spoilt == 0) continue;
      if (found.count++ == 0) {
        found.first = i;
        found.first_is_zero = zero;
      }
    }
    ilu::refuse(found, ilu::Form::lu);
  }

  HostCsr exported(const Rows& rows) const {
    const auto nnz = static_cast<int64_t>(rows.columns.size());
    if (sizeof(O) == 4)
      require(nnz < std::numeric_limits<int32_t>::max(), KKC_STATUS_OVERFLOW, "a factor has ", nnz,
              " entries, more than A's index pair counts");
    HostCsr to;
    to.pair = pair_;
    to.scalar = scalar_;
    to.rows = to.cols = rows_;
    to.nnz = nnz;
    to.offsets = Buffer(memory_, Space::host, rows.offsets.size() * sizeof(O));
    std::copy(rows.offsets.begin(), rows.offsets.end(), to.offsets.template as<O>());
    to.indices = Buffer(memory_, Space::host, rows.columns.size() * sizeof(I));
    std::copy(rows.columns.begin(), rows.columns.end(), to.indices.template as<I>());
    to.values = Buffer(memory_, Space::host, rows.values.size() * sizeof(E));
    std::copy(rows.values.begin(), rows.values.end(), to.values.template as<E>());
    return to;
  }

  ilu_pattern::FactorPattern start_;
  ilu::Rule<R> rule_;
  double fill_;
  int32_t iterations_, sweeps_;
  IndexPair pair_;
  Scalar scalar_;
  int64_t rows_;
  std::shared_ptr<const Memory> memory_;
  std::vector<std::unique_ptr<Workspace>> workspaces_;  // of threads, during an execute
};

inline std::unique_ptr<Kernel> make(const Desc& desc, Queue&) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.A.scalar, desc.A.pair, [&](auto scalar, auto pair) {
    using E = Element<typename decltype(scalar)::type>;
    using P = decltype(pair);
    kernel = std::make_unique<ReferenceKernel<E, typename P::ordinal, typename P::offset>>(desc);
  });
  return kernel;
}

inline std::string unsupported(const Desc&) { return {}; }

}  // namespace reference_parts

template <class Dev>
constexpr Implementation reference() {
  return {{"reference"}, true, reference_parts::unsupported, reference_parts::make};
}

}  // namespace kkc::ilut
