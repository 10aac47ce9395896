// sptrsv, hosts: the rows that a solve goes through. A row's entries are a part of the caller's row where those left
// and right of the diagonal lie apart; for op T and H, and for rows in any other order, the plan has lists of its own
// with the places of their values (columns counted and dealt as in Gustavson, "Two fast algorithms for sparse
// matrices", ACM TOMS 4(3), 1978, section 3), so that the values stay the caller's.
#pragma once

#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/dispatch.hpp"
#include "core/parts.hpp"
#include "device/host_parallel.hpp"
#include "ops/levels/levels_by_rows.hpp"
#include "ops/sptrsv/sptrsv.hpp"

namespace kkc::sptrsv {

template <class R>
R minus(R a, R b) {
  return a - b;
}
template <class R>
Parts<R> minus(Parts<R> a, Parts<R> b) {
  return {a.re - b.re, a.im - b.im};
}
template <class R>
R conjugated(R v, bool) {
  return v;
}
template <class R>
Parts<R> conjugated(Parts<R> v, bool conjugate) {
  return {v.re, conjugate ? -v.im : v.im};
}
template <class R>
R inverse_of(R v) {
  return R{1} / v;
}
/// Scaled, so that squares neither overflow nor vanish (R. L. Smith, Comm. ACM 5(8), 1962, algorithm 116).
template <class R>
Parts<R> inverse_of(Parts<R> v) {
  if (std::abs(v.re) >= std::abs(v.im)) {
    const R ratio = v.im / v.re, scale = v.re + v.im * ratio;
    return {R{1} / scale, -ratio / scale};
  }
  const R ratio = v.re / v.im, scale = v.re * ratio + v.im;
  return {ratio / scale, R{-1} / scale};
}

template <class I, class O>
class HostTriangle {
 public:
  template <class Dev>
  static HostTriangle make(const Desc& desc, Queue& queue) {
    HostTriangle made(desc);
    const levels::HostPattern<I, O> A = made.pattern(desc.A);
    const int64_t n = A.rows;
    made.diagonal_ = Buffer(desc.memory, Space::host, static_cast<size_t>(n) * sizeof(O));
    O* diagonal = made.diagonal_.template as<O>();
    const int64_t parts = std::max<int64_t>(1, std::min<int64_t>(queue.concurrency(), (n + desc.A.nnz) / 16384));
    std::vector<levels::Diagonals> found(static_cast<size_t>(parts));
    host_parts<Dev>(queue, parts, [&](int64_t part) {
      found[static_cast<size_t>(part)] =
          levels::find_diagonals(A, part_begin(n, parts, part), part_begin(n, parts, part + 1), diagonal);
    });
    bool parted = true;
    int64_t missing = n;
    for (const auto& of_part : found) {
      parted = parted && of_part.parted;
      missing = std::min(missing, of_part.missing);
    }
    refuse_missing(desc, missing);
    made.own_ = made.turned_ || !parted;
    if (made.own_)
      made.list(desc, A, parted);
    else
      host_parts<Dev>(queue, parts, [&](int64_t part) {
        for (int64_t row = part_begin(n, parts, part), end = part_begin(n, parts, part + 1); row < end; ++row) {
          const auto d = static_cast<int64_t>(diagonal[row]);
          diagonal[row] = static_cast<O>(made.lower_ ? diagonal_place(d) : behind_diagonal(d));
        }
      });
    return made;
  }

  /// Entries of the rows of op(T) off the diagonal; `A` is the planned matrix, with values or without.
  class Rows {
   public:
    Rows(const HostTriangle& t, const CsrRef& A)
        : indices_(static_cast<const I*>(t.own_ ? t.columns_.data() : A.indices)),
          positions_(t.own_ ? t.positions_.template as<O>() : nullptr),
          base_(t.own_ ? 0 : static_cast<I>(A.base)) {
      const auto* const offsets = static_cast<const O*>(A.offsets);
      const O* const bounds = t.diagonal_.template as<O>();
      const O base = static_cast<O>(A.base);
      if (t.own_) {
        begins_ = t.offsets_.template as<O>();
        ends_ = begins_ + 1;
      } else if (t.lower_) {
        begins_ = offsets;
        begin_base_ = base;
        ends_ = bounds;
      } else {
        begins_ = bounds;
        ends_ = t.rows_ == 0 ? offsets : offsets + 1;
        end_base_ = base;
      }
    }
    int64_t begin(int64_t row) const { return static_cast<int64_t>(begins_[row] - begin_base_); }
    int64_t end(int64_t row) const { return static_cast<int64_t>(ends_[row] - end_base_); }
    int64_t column(int64_t entry) const { return static_cast<int64_t>(indices_[entry]) - static_cast<int64_t>(base_); }
    /// Of the caller's values.
    int64_t place(int64_t entry) const {
      return positions_ != nullptr ? static_cast<int64_t>(positions_[entry]) : entry;
    }

   private:
    const I* indices_;
    const O *positions_, *begins_, *ends_;
    I base_;
    O begin_base_ = 0, end_base_ = 0;
  };

  bool own() const { return own_; }
  int64_t rows() const { return rows_; }
  /// The row's diagonal element, of all its entries there.
  template <class S>
  S diagonal(const S* values, int64_t row) const {
    const O place = diagonal_.template as<O>()[row];
    S d = values[own_ || lower_ ? place : place - 1];
    if (!doubles_.empty()) [[unlikely]]
      for (auto it = std::lower_bound(doubles_.begin(), doubles_.end(), std::pair<int64_t, int64_t>(row, 0));
           it != doubles_.end() && it->first == row; ++it)
        d = plus(d, values[it->second]);
    return d;
  }
  size_t bytes() const { return diagonal_.bytes() + offsets_.bytes() + columns_.bytes() + positions_.bytes(); }

 private:
  explicit HostTriangle(const Desc& desc)
      : rows_(desc.A.rows), lower_(desc.uplo == Uplo::lower), turned_(transposes(desc.op)) {}

  static levels::HostPattern<I, O> pattern(const CsrRef& A) {
    return {static_cast<const O*>(A.offsets), static_cast<const I*>(A.indices), A.rows, static_cast<O>(A.base)};
  }

  void list(const Desc& desc, const levels::HostPattern<I, O>& A, bool parted) {
    const O* diagonal = diagonal_.template as<O>();
    const auto each = [&](const auto& f) {
      for (int64_t row = 0; row < rows_; ++row) {
        if (parted) {
          const auto d = static_cast<int64_t>(diagonal[row]);
          const int64_t end = lower_ ? diagonal_place(d) : A.begin(row + 1);
          for (int64_t p = lower_ ? A.begin(row) : behind_diagonal(d); p < end; ++p) f(row, A.column(p), p);
          continue;
        }
        for (int64_t p = A.begin(row); p < A.begin(row + 1); ++p) {
          const int64_t column = A.column(p);
          if (lower_ ? column < row : column > row) f(row, column, p);
          if (column == row && p != diagonal[row] && doubles_wanted_) doubles_.emplace_back(row, p);
        }
      }
      doubles_wanted_ = false;
    };
    const auto buffer = [&](int64_t count, size_t bytes_each) {
      return Buffer(desc.memory, Space::host, static_cast<size_t>(count) * bytes_each);
    };
    offsets_ = buffer(rows_ + 1, sizeof(O));
    O* offsets = offsets_.template as<O>();
    std::fill(offsets, offsets + rows_ + 1, O{0});
    // Counts two places ahead become places where the next entry goes, and in the end offsets.
    each([&](int64_t row, int64_t column, int64_t) { ++offsets[(turned_ ? column : row) + 1]; });
    for (int64_t i = 0; i < rows_; ++i) offsets[i + 1] = static_cast<O>(offsets[i + 1] + offsets[i]);
    const auto count = static_cast<int64_t>(offsets[rows_]);
    columns_ = buffer(count, sizeof(I));
    positions_ = buffer(count, sizeof(O));
    I* columns = columns_.template as<I>();
    O* positions = positions_.template as<O>();
    std::vector<O> next(offsets, offsets + rows_);
    each([&](int64_t row, int64_t column, int64_t p) {
      const O to = next[static_cast<size_t>(turned_ ? column : row)]++;
      columns[to] = static_cast<I>(turned_ ? row : column);
      positions[to] = static_cast<O>(p);
    });
  }

  int64_t rows_;
  bool lower_, turned_, own_ = false, doubles_wanted_ = true;
  /// diagonal_: where rows are the caller's, of each the end (lower) or the begin of its part of T off the diagonal.
  Buffer diagonal_, offsets_, columns_, positions_;
  std::vector<std::pair<int64_t, int64_t>> doubles_;  // row and place of diagonal entries beside the first
};

/// Threads worth starting.
inline int threads_for(const Desc& desc, Queue& queue) {
  return static_cast<int>(
      std::max<int64_t>(1, std::min<int64_t>(queue.concurrency(), (desc.A.rows + desc.A.nnz) / 8192)));
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

}  // namespace kkc::sptrsv
