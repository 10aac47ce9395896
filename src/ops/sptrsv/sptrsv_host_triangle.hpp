// sptrsv, hosts: the rows that a solve goes through. A row's entries are a part of the caller's row where those left
// and right of the diagonal lie apart; for op T and H, and for rows in any other order, the plan has lists of its own
// with the places of their values (columns counted and dealt as in Gustavson, "Two fast algorithms for sparse
// matrices", ACM TOMS 4(3), 1978, section 3, by parts of the rows as in Wang, Liu, Hou, Feng, "Parallel transposition
// of sparse matrices", ICS'16, ScanTrans), so that the values stay the caller's.
#pragma once

#include <atomic>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "core/dispatch.hpp"
#include "core/parts.hpp"
#include "device/host_bucket_scattered.hpp"
#include "device/host_gather.hpp"
#include "device/host_parallel.hpp"
#include "ops/levels/levels_host_runs.hpp"
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

/// Asks for an entry of an array that may be null, or end before it.
template <class T>
[[gnu::always_inline]] inline void prefetch_entry(const T* array, int64_t entry) {
  prefetch(entry_of(array, entry));
}

/// Whether rows are listed where they do not lie in the caller's matrix: those of transposed triangles, and rows in
/// any other order. never: transposed triangles stay as A's lie; own() then says that they cannot.
enum class Listed { as_needed, never };

template <class I, class O>
class HostTriangle {
 public:
  template <class Dev>
  static HostTriangle make(const Desc& desc, Queue& queue, Listed lists = Listed::as_needed) {
    HostTriangle made(desc);
    const levels::HostPattern<I, O> A = made.pattern(desc.A);
    const int64_t n = A.rows;
    const int64_t parts = std::max<int64_t>(1, std::min<int64_t>(queue.concurrency(), (n + desc.A.nnz) / 16384));
    std::vector<levels::Diagonals> found(static_cast<size_t>(parts));
    made.runs_.resize(static_cast<size_t>(parts));
    const auto with_room = [&] {
      made.diagonal_ = Buffer(desc.memory, Space::host, static_cast<size_t>(n) * sizeof(O));
      return made.diagonal_.template as<O>();
    };
    // Where each row's diagonal lies at the end of T's entries that are stored, no list of places is needed. One row
    // foretells that; where it is wrong, the places are found again.
    O* diagonal = n > 0 && made.at_end(A, n / 2) ? nullptr : with_room();
    std::atomic<bool> at_end{true};
    const auto each_part = [&](const auto& f) {
      host_parts_checked<Dev>(
          queue, parts, [&](int64_t part) { f(part, part_begin(n, parts, part), part_begin(n, parts, part + 1)); });
    };
    const auto find = [&] {
      at_end = true;
      each_part([&](int64_t part, int64_t begin, int64_t end) {
        constexpr int64_t rows_at_once = 1024;  // their entries are still in an inner cache the second time
        auto& runs = made.runs_[static_cast<size_t>(part)];
        levels::Diagonals of_part;
        runs.clear();
        for (int64_t first = begin; first < end; first += rows_at_once) {
          size_t at = runs.size();
          levels::find_runs(A, first, std::min(end, first + rows_at_once), runs);
          for (; at < runs.size(); ++at)
            if (!made.find_diagonals(A, runs[at], of_part, diagonal)) at_end.store(false, std::memory_order_relaxed);
        }
        found[static_cast<size_t>(part)] = of_part;
      });
    };
    find();
    if (diagonal == nullptr && !at_end) {
      diagonal = with_room();
      find();
    }
    levels::Diagonals all;
    for (const auto& of_part : found) all.join(of_part);
    refuse_missing(desc, all.missing);
    const bool turned = made.turned_ && lists == Listed::as_needed;
    made.own_ = turned || !all.parted;
    made.ascending_ = turned || all.ascending;
    if (made.own_ && lists == Listed::never) return made;
    if (made.own_) {
      if (diagonal == nullptr) {
        diagonal = with_room();
        each_part([&](int64_t, int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row)
            diagonal[row] = static_cast<O>(made.lower_ ? A.begin(row + 1) - 1 : A.begin(row));
        });
      }
      made.template list<Dev>(desc, queue, A, all.parted);
      const levels::HostPattern<I, O> listed{made.offsets_.template as<O>(), made.columns_.template as<I>(), n, 0};
      each_part([&](int64_t part, int64_t begin, int64_t end) {
        auto& runs = made.runs_[static_cast<size_t>(part)];
        runs.clear();
        levels::find_runs(listed, begin, end, runs);
      });
    } else if (all.missing < n) {
      each_part([&](int64_t, int64_t begin, int64_t end) {
        for (int64_t row = begin; row < end; ++row) {
          const auto d = static_cast<int64_t>(diagonal[row]);
          diagonal[row] = static_cast<O>(made.lower_ ? diagonal_place(d) : behind_diagonal(d) - 1);
        }
      });
    }
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
      const O* const diagonal = t.diagonal_.template as<O>();
      const O base = static_cast<O>(A.base);
      own_diagonal_ = t.own_ ? diagonal : nullptr;
      lower_ = t.lower_;
      ascending_ = t.ascending_;
      if (t.own_) {
        begins_ = t.offsets_.template as<O>();
        ends_ = begins_ + 1;
        return;
      }
      begins_ = offsets;
      begin_base_ = base;
      ends_ = t.rows_ == 0 ? offsets : offsets + 1;
      end_base_ = base;
      // The diagonal entry is the last (lower) or the first.
      if (t.lower_) {
        if (diagonal != nullptr) ends_ = diagonal;
        end_base_ = diagonal != nullptr ? 0 : static_cast<O>(base + 1);
      } else {
        if (diagonal != nullptr) begins_ = diagonal;
        begin_base_ = static_cast<O>(diagonal != nullptr ? -1 : base - 1);
      }
    }
    /// Whether the columns of every row ascend.
    bool ascending() const { return ascending_; }
    int64_t begin(int64_t row) const { return static_cast<int64_t>(begins_[row] - begin_base_); }
    int64_t end(int64_t row) const { return static_cast<int64_t>(ends_[row] - end_base_); }
    int64_t column(int64_t entry) const { return static_cast<int64_t>(indices_[entry]) - static_cast<int64_t>(base_); }
    /// How many of `count` entries from `first` on have the columns of those from `other` on, up to the first that has
    /// not.
    int64_t same_columns(int64_t first, int64_t other, int64_t count) const {
      return std::mismatch(indices_ + first, indices_ + first + count, indices_ + other).first - (indices_ + first);
    }
    const I* indices() const { return indices_; }
    /// Where begin() and end() come from, and what these are less.
    const O* begins() const { return begins_; }
    const O* ends() const { return ends_; }
    O begin_base() const { return begin_base_; }
    O end_base() const { return end_base_; }
    /// Of entries that the plan listed: places of their values; else null.
    const O* positions() const { return positions_; }
    /// Asks for where a row lies.
    [[gnu::always_inline]] void prefetch_row(int64_t row) const {
      __builtin_prefetch(begins_ + row);
      __builtin_prefetch(ends_ + row);
    }
    int64_t base() const { return static_cast<int64_t>(base_); }
    /// Of the caller's values.
    int64_t place(int64_t entry) const {
      return positions_ != nullptr ? static_cast<int64_t>(positions_[entry]) : entry;
    }
    /// Asks for lines that rows further on lie in, where these are solved as they lie: for a row of few entries two of
    /// values and one of columns are enough. way: 1, or -1 backwards.
    template <class S>
    [[gnu::always_inline]] void prefetch_ahead(const S* values, int64_t entry, int64_t way) const {
      constexpr int64_t value_bytes = 2048, index_bytes = 1024, line = 64;
      constexpr auto value_size = static_cast<int64_t>(sizeof(S)), index_size = static_cast<int64_t>(sizeof(I));
      if (positions_ == nullptr) {
        prefetch_entry(values, entry + way * (value_bytes / value_size));
        prefetch_entry(values, entry + way * ((value_bytes - line) / value_size));
      }
      prefetch_entry(indices_, entry + way * (index_bytes / index_size));
    }
    /// Of the row's diagonal entry, which it must have, among the caller's values.
    int64_t diagonal(int64_t row) const {
      if (own_diagonal_ != nullptr) return static_cast<int64_t>(own_diagonal_[row]);
      return lower_ ? end(row) : begin(row) - 1;
    }

   private:
    const I* indices_;
    const O *positions_, *begins_, *ends_, *own_diagonal_;
    bool lower_, ascending_;
    I base_;
    O begin_base_ = 0, end_base_ = 0;
  };

  bool own() const { return own_; }
  /// Whether every row's diagonal element is one entry.
  bool single_diagonals() const { return doubles_.empty(); }
  int64_t rows() const { return rows_; }
  /// Runs of rows of op(T), by parts, for the plan; forgotten afterwards.
  std::vector<std::vector<levels::Run>> take_runs() { return std::move(runs_); }
  /// The row's diagonal element, of all its entries there.
  template <class S>
  S diagonal(const Rows& rows, const S* values, int64_t row) const {
    S d = values[rows.diagonal(row)];
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

  bool at_end(const levels::HostPattern<I, O>& A, int64_t row) const {
    const int64_t from = A.begin(row), to = A.begin(row + 1);
    return from < to && A.column(lower_ ? to - 1 : from) == row;
  }

  /// Of a run's rows; `diagonal` may be null. False: one does not lie at the end of its row.
  bool find_diagonals(const levels::HostPattern<I, O>& A, const levels::Run& run, levels::Diagonals& found,
                      O* diagonal) const {
    if (diagonal == nullptr && !run.alike && levels::diagonals_at_end(A, run.first, run.first + run.rows, lower_))
      return true;
    bool all_at_end = true;
    for (int64_t row = run.first; row < run.first + run.rows; row += run.alike ? run.rows : 1) {
      const int64_t place = levels::find_diagonal(A, row, found), length = A.begin(row + 1) - A.begin(row);
      all_at_end = all_at_end && place >= 0 && place == (lower_ ? A.begin(row + 1) - 1 : A.begin(row));
      if (diagonal == nullptr) continue;
      for (int64_t k = 0; k < (run.alike ? run.rows : 1); ++k)
        diagonal[row + k] = static_cast<O>(place < 0 ? place - k * length : place + k * length);
    }
    return all_at_end;
  }

  /// f(row) for the rows of one of `parts` parts of about as many entries.
  template <class F>
  void each_row(const levels::HostPattern<I, O>& A, int64_t nnz, int64_t parts, int64_t part, const F& f) const {
    const auto first = [&](int64_t of) {
      const auto entry = static_cast<O>(A.base + static_cast<O>(part_begin(nnz, parts, of)));
      return of == parts ? rows_ : std::lower_bound(A.offsets, A.offsets + rows_, entry) - A.offsets;
    };
    for (int64_t row = first(part), end = first(part + 1); row < end; ++row) f(row);
  }

  /// T's entries of a row of A, [first, last), where they lie apart from the others.
  std::pair<int64_t, int64_t> entries_of(const levels::HostPattern<I, O>& A, const O* diagonal, int64_t row) const {
    const auto d = static_cast<int64_t>(diagonal[row]);
    return lower_ ? std::pair(A.begin(row), diagonal_place(d)) : std::pair(behind_diagonal(d), A.begin(row + 1));
  }

  /// The transposed triangle, where its entries lie apart and come in no order of columns.
  template <class Dev>
  void list_scattered(const Desc& desc, Queue& queue, const levels::HostPattern<I, O>& A) {
    const O* const diagonal = diagonal_.template as<O>();
    const int64_t parts = std::max<int64_t>(1, std::min<int64_t>(queue.concurrency(), desc.A.nnz / 4096));
    const auto visit = [&](int64_t part, const auto& f) {
      each_row(A, desc.A.nnz, parts, part, [&](int64_t row) {
        for (auto [p, last] = entries_of(A, diagonal, row); p < last; ++p) f(p, static_cast<I>(row));
      });
    };
    std::vector<int64_t> counts(static_cast<size_t>(parts), 0);
    host_parts<Dev>(queue, parts, [&](int64_t part) {
      int64_t count = 0;
      each_row(A, desc.A.nnz, parts, part, [&](int64_t row) {
        const auto [first, last] = entries_of(A, diagonal, row);
        count += last - first;
      });
      counts[static_cast<size_t>(part)] = count;
    });
    const int64_t count = std::accumulate(counts.begin(), counts.end(), int64_t{0});
    const auto buffer = [&](int64_t entries, size_t bytes_each) {
      return Buffer(desc.memory, Space::host, static_cast<size_t>(entries) * bytes_each);
    };
    offsets_ = buffer(rows_ + 1, sizeof(O));
    columns_ = buffer(count, sizeof(I));
    positions_ = buffer(count, sizeof(O));
    const Buffer room = buffer(count, sizeof(ScatteredItem<I, O>));
    host_bucket_scattered<Dev>(queue, room.template as<ScatteredItem<I, O>>(), A.indices, static_cast<int64_t>(A.base),
                               rows_, count, parts, offsets_.template as<O>(), positions_.template as<O>(),
                               columns_.template as<I>(), visit);
  }

  /// Parts of neighbouring rows count the entries of each row of op(T) apart, with counters for all rows in every part:
  /// no more parts than twice the entries in a row.
  template <class Dev>
  void list(const Desc& desc, Queue& queue, const levels::HostPattern<I, O>& A, bool parted) {
    if (turned_ && parted && keys_scatter<O>(queue, A.indices, desc.A.nnz, rows_))
      return list_scattered<Dev>(desc, queue, A);
    const O* diagonal = diagonal_.template as<O>();
    const int64_t n = rows_,
                  parts = std::clamp<int64_t>(2 * desc.A.nnz / std::max<int64_t>(1, n), 1, queue.concurrency());
    struct Part {
      std::vector<O> next;  // of each row: entries, then where the next one goes
      std::vector<std::pair<int64_t, int64_t>> doubles;
    };
    std::vector<Part> all(static_cast<size_t>(parts));
    // f(row of op(T), the other index, place), twice(row, place) for a diagonal entry beside the first.
    const auto each = [&](int64_t part, const auto& f, const auto& twice) {
      each_row(A, desc.A.nnz, parts, part, [&](int64_t row) {
        const auto entry = [&](int64_t column, int64_t p) { turned_ ? f(column, row, p) : f(row, column, p); };
        if (parted) {
          for (auto [p, last] = entries_of(A, diagonal, row); p < last; ++p) entry(A.column(p), p);
          return;
        }
        for (int64_t p = A.begin(row); p < A.begin(row + 1); ++p) {
          const int64_t column = A.column(p);
          if (lower_ ? column < row : column > row) entry(column, p);
          if (column == row && p != diagonal[row]) twice(row, p);
        }
      });
    };
    host_parts_checked<Dev>(queue, parts, [&](int64_t part) {
      Part& mine = all[static_cast<size_t>(part)];
      mine.next.assign(static_cast<size_t>(n), O{0});
      each(
          part, [next = mine.next.data()](int64_t row, int64_t, int64_t) { ++next[row]; },
          [&](int64_t row, int64_t p) { mine.doubles.emplace_back(row, p); });
    });
    for (const Part& part : all) doubles_.insert(doubles_.end(), part.doubles.begin(), part.doubles.end());
    const auto buffer = [&](int64_t count, size_t bytes_each) {
      return Buffer(desc.memory, Space::host, static_cast<size_t>(count) * bytes_each);
    };
    offsets_ = buffer(n + 1, sizeof(O));
    O* const offsets = offsets_.template as<O>();
    std::vector<O> before(static_cast<size_t>(parts) + 1, O{0});  // entries of rows of earlier ranges
    const auto each_range = [&](const auto& f) {
      host_parts<Dev>(queue, parts,
                      [&](int64_t range) { f(range, part_begin(n, parts, range), part_begin(n, parts, range + 1)); });
    };
    each_range([&](int64_t range, int64_t begin, int64_t end) {
      O sum{0};
      for (const Part& part : all) sum = std::accumulate(part.next.begin() + begin, part.next.begin() + end, sum);
      before[static_cast<size_t>(range) + 1] = sum;
    });
    std::partial_sum(before.begin(), before.end(), before.begin());
    each_range([&](int64_t range, int64_t begin, int64_t end) {
      O at = before[static_cast<size_t>(range)];
      for (int64_t row = begin; row < end; ++row) {
        offsets[row] = at;
        for (Part& part : all) at = static_cast<O>(at + std::exchange(part.next[static_cast<size_t>(row)], at));
      }
    });
    const O count = offsets[n] = before.back();
    columns_ = buffer(static_cast<int64_t>(count), sizeof(I));
    positions_ = buffer(static_cast<int64_t>(count), sizeof(O));
    I* const columns = columns_.template as<I>();
    O* const positions = positions_.template as<O>();
    host_parts<Dev>(queue, parts, [&](int64_t part) {
      each(
          part,
          [&, next = all[static_cast<size_t>(part)].next.data()](int64_t row, int64_t other, int64_t p) {
            const O to = next[row]++;
            columns[to] = static_cast<I>(other);
            positions[to] = static_cast<O>(p);
          },
          [](int64_t, int64_t) {});
    });
  }

  int64_t rows_;
  bool lower_, turned_, own_ = false, ascending_ = false;
  /// diagonal_: of each row the place of its diagonal entry, or where it would be behind (lower) or before T's others.
  /// None where the caller's rows end (lower) or begin with it.
  Buffer diagonal_, offsets_, columns_, positions_;
  std::vector<std::vector<levels::Run>> runs_;
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
