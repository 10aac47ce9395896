// spmv, host_multi: many vectors. A row's entries are read once from memory and, for blocks of vectors whose sums stay
// in registers, again from the inner cache. Vectors that lie one after the other are first turned, some at a time, into
// rows of a workspace, so that every entry reads one piece of memory. A complex number times a row of complex numbers
// is two real multiples of a row of reals, put together at the end. The same bits run to run.
#pragma once

#include "device/host_shared_parts.hpp"
#include "device/host_stream.hpp"
#include "ops/spmv/spmv_host_rows.hpp"

namespace kkc::spmv {

namespace host_multi_parts {

/// Vectors turned at a time, and rows of y that are written together.
inline constexpr int64_t turned_vectors = 16, tile_rows = 8;
/// Up to so many vectors threads take over each other's parts: each part has room for two rows of sums.
inline constexpr int64_t most_shared = 64;

template <class S, class I>
struct Entries {
  const S* values;
  const I* indices;
  int64_t begin, end;
  int64_t last;  // of the matrix: columns up to there may be looked up early
};

/// Sums of N packs of W lanes, by A's real and by its imaginary parts.
template <class R, int W, int N>
struct Sums {
  Pack<R, W> re[N]{}, im[N]{};
};

/// x: lane of the first vector, based; stride: reals from row to row. Rows of x are asked for some entries early: they
/// are whole lines, which hardware prefetchers follow badly.
template <class S, class I, class R, int W, int N>
[[gnu::always_inline]] inline void add_up(const Entries<S, I>& e, const R* x, int64_t stride, Sums<R, W, N>& sums) {
  constexpr int64_t lines = std::max<int64_t>(1, N * W * sizeof(R) / 64), entries_ahead = 64 / lines;
  Pack<R, W> v;
  for (int64_t p = e.begin; p < e.end;) {
    row_product::prefetch_ahead(e.values + p, e.indices + p);
    if constexpr (sizeof(S) > 8) row_product::prefetch_ahead(e.values + p + 4, e.indices + p);
    for (const int64_t stop = std::min(p + 8, e.end); p < stop; ++p) {
      const R* row = x + static_cast<int64_t>(e.indices[p]) * stride;
      const R* later = x + static_cast<int64_t>(e.indices[std::min(p + entries_ahead, e.last)]) * stride;
      for (int64_t line = 0; line < lines; ++line) prefetch(reinterpret_cast<const char*>(later) + 64 * line);
      for (int n = 0; n < N; ++n) {
        load(v, row + W * n);
        if constexpr (is_real<S>) {
          sums.re[n] += e.values[p] * v;
        } else {
          sums.re[n] += e.values[p].re * v;
          sums.im[n] += e.values[p].im * v;
        }
      }
    }
  }
}

/// The vectors of sums as elements.
template <class S, class R, int W, int N>
[[gnu::always_inline]] inline void to_elements(const Sums<R, W, N>& sums, bool conjugate, S* out) {
  if constexpr (is_real<S>) {
    for (int n = 0; n < N; ++n) store(sums.re[n], out + W * n);
  } else {
    const R sign = conjugate ? R(-1) : R(1);
    for (int n = 0; n < N; ++n)
      for (int i = 0; i < W; i += 2)
        out[(W * n + i) / 2] = {sums.re[n][i] - sign * sums.im[n][i + 1], sums.re[n][i + 1] + sign * sums.im[n][i]};
  }
}

template <class Dev, class S, class I, class O>
class MultiKernel final : public Kernel {
  using R = typename PartType<S>::type;
  static constexpr int64_t lanes_each = is_real<S> ? 1 : 2;

 public:
  MultiKernel(const Desc& desc, Queue& queue)
      : conjugate_(conjugates(desc.op)),
        turns_(desc.vectors > 1 && desc.x.strides[1] != 1),
        vectors_(desc.vectors),
        x_rows_(desc.x.extents[0]) {
    const HostCsr<S, I, O> A(desc.A);
    const int64_t threads = parts_for(A, queue);
    cuts_ = balanced_cuts(A, vectors_ <= most_shared ? shared_parts_for(A, queue) : threads, true);
    parts_ = static_cast<int64_t>(cuts_.size()) - 1;
    shares_ = SharedParts(parts_, threads);
    shared_rows_ = shared_rows(A, cuts_);
    pieces_.resize(static_cast<size_t>(parts_ * 2 * vectors_));
  }

  size_t workspace_bytes() const override {
    return turns_ ? static_cast<size_t>(x_rows_ * std::min(vectors_, turned_vectors)) * sizeof(S) : 0;
  }

  void execute(Queue& queue, const Args& args) override {
    const HostCsr<S, I, O> A(args.A);
    const Update<S> update(args.alpha, args.beta);
    if (is_zero(update.alpha) || A.nnz == 0) return scale_all<Dev>(queue, args.y, update);
    S* const turned = static_cast<S*>(args.workspace);
    const int64_t step = turns_ ? turned_vectors : vectors_;
    for (int64_t first = 0; first < vectors_; first += step) {
      const int64_t count = std::min(step, vectors_ - first);
      if (turns_) turn(queue, args.x, first, count, turned);
      const int64_t stride = turns_ ? count : args.x.strides[0];
      const S* x = based(turns_ ? turned : vector_of<S>(args.x, first), A.base, A.nnz, stride);
      run(queue, A, update, x, stride, args.y, first, count);
    }
    add_pieces(update, args.y);
  }

  void describe(Info& info) const override {
    info.add("parts", parts_);
    info.add("turns_x", int64_t{turns_});
  }

 private:
  S* piece(size_t part, bool tail) { return pieces_.data() + (2 * part + tail) * static_cast<size_t>(vectors_); }

  /// Rows of `count` neighbours from vectors that lie apart; whole lines on both sides.
  void turn(Queue& queue, const DenseRef& x, int64_t first, int64_t count, S* to) const {
    constexpr int64_t lines = 16;
    const int64_t row_stride = x.strides[0], vector_stride = x.strides[1], rows = x_rows_;
    const S* from = vector_of<S>(x, first);
    const int64_t parts = parts_;
    host_parts<Dev>(queue, parts, [=](int64_t part) {
      const int64_t end = part_begin(rows, parts, part + 1);
      for (int64_t row = part_begin(rows, parts, part); row < end; row += lines) {
        const int64_t n = std::min(lines, end - row);
        for (int64_t k = 0; k < count; ++k) {
          const S* source = from + k * vector_stride + row * row_stride;
          prefetch(source + 32 * row_stride);
          for (int64_t i = 0; i < n; ++i) to[(row + i) * count + k] = source[i * row_stride];
        }
      }
    });
  }

  /// Where a row's sums go: to room of their own, or to y, whose vectors are neighbours then; there with beta = 0 past
  /// the caches when y is large, which saves reading it.
  enum class Into { sums, y, streamed_y };

  /// W * N lanes of a row.
  template <Into into, int W, int N>
  [[gnu::always_inline]] inline void block(const Entries<S, I>& e, const S* x, int64_t stride, const Update<S>& update,
                                           S* to) const {
    Sums<R, W, N> sums;
    add_up(e, reinterpret_cast<const R*>(x), stride * lanes_each, sums);
    if constexpr (into == Into::sums) {
      to_elements(sums, conjugate_, to);
    } else if constexpr (is_real<S> && into == Into::streamed_y && W * N * sizeof(R) % cache_line == 0) {
      for (int n = 0; n < N; ++n) sums.re[n] *= update.alpha;
      for (size_t byte = 0; byte < sizeof(sums.re); byte += cache_line)
        stream_line(reinterpret_cast<char*>(to) + byte, reinterpret_cast<const char*>(sums.re) + byte);
    } else if constexpr (is_real<S>) {
      for (int n = 0; n < N; ++n) {
        Pack<R, W> result = sums.re[n] * update.alpha, old;
        if (!update.overwrite) {
          load(old, to + W * n);
          result += old * update.beta;
        }
        store(result, to + W * n);
      }
    } else {
      S here[W * N / lanes_each];
      to_elements(sums, conjugate_, here);
      for (int64_t k = 0; k < W * N / lanes_each; ++k) update(to[k], here[k]);
    }
  }

  /// `count` vectors of a row.
  template <Into into>
  [[gnu::always_inline]] inline void row(const Entries<S, I> e, const S* x, int64_t stride, int64_t count,
                                         const Update<S>& update, S* to) const {
    int64_t k = 0;
    for (; (count - k) * lanes_each >= 32; k += 32 / lanes_each) block<into, 8, 4>(e, x + k, stride, update, to + k);
    if ((count - k) * lanes_each >= 16) {
      block<into, 8, 2>(e, x + k, stride, update, to + k);
      k += 16 / lanes_each;
    }
    if ((count - k) * lanes_each >= 8) {
      block<into, 8, 1>(e, x + k, stride, update, to + k);
      k += 8 / lanes_each;
    }
    if ((count - k) * lanes_each >= 4) {
      block<into, 4, 1>(e, x + k, stride, update, to + k);
      k += 4 / lanes_each;
    }
    for (; k < count; ++k) {
      const S sum = row_product::plain_row(e.values, e.indices, x + k, stride, e.begin, e.end, conjugate_);
      if constexpr (into != Into::sums)
        update(to[k], sum);
      else
        to[k] = sum;
    }
  }

  void run(Queue& queue, const HostCsr<S, I, O>& csr, const Update<S>& by, const S* x, int64_t stride,
           const DenseRef& y_ref, int64_t first, int64_t count) {
    const int64_t y_row = y_ref.strides[0], y_vector = y_ref.strides[1];
    S* const y = vector_of<S>(y_ref, first);
    const bool neighbours = y_vector == 1 || count == 1;
    const bool streamed = is_real<S> && neighbours && by.overwrite &&
                          reinterpret_cast<uintptr_t>(y) % cache_line == 0 &&
                          y_row * static_cast<int64_t>(sizeof(S)) % static_cast<int64_t>(cache_line) == 0 &&
                          csr.rows * count * static_cast<int64_t>(sizeof(S)) >= stream_threshold_bytes;
    shares_.run<Dev>(queue, [&](int64_t number) {
      // Copies that no store to y can change, so that they stay in registers.
      const HostCsr<S, I, O> A = csr;
      const Update<S> update = by;
      const auto part = static_cast<size_t>(number);
      const Cut from = cuts_[part], to = cuts_[part + 1];
      const auto entries = [&A](int64_t begin, int64_t end) {
        return Entries<S, I>{A.values, A.indices, begin, end, A.nnz - 1};
      };
      const auto partial = [&](int64_t begin, int64_t end, bool tail) {
        row<Into::sums>(entries(begin, end), x, stride, count, update, piece(part, tail) + first);
      };
      int64_t r = from.row, begin = from.entry;
      if (r < to.row && begin > A.begin(r)) {
        begin = A.begin(r + 1);
        partial(from.entry, begin, false);
        ++r;
      }
      if (streamed && r < to.row) {
        begin = run_rows<Into::streamed_y>(A, update, x, stride, y, y_row, count, r, to.row);
        stream_fence();
      } else if (neighbours && r < to.row) {
        begin = run_rows<Into::y>(A, update, x, stride, y, y_row, count, r, to.row);
      } else if (r < to.row) {
        begin = run_tiles(A, update, x, stride, y, y_row, y_vector, count, r, to.row);
      }
      if (to.entry > begin) partial(begin, to.entry, true);
    });
  }

  /// Rows r..last-1, whose entries begin with the first's; gives the entry behind them. All by value, so that no store
  /// to y can change it.
  template <Into into>
  int64_t run_rows(const HostCsr<S, I, O> A, const Update<S> update, const S* x, int64_t stride, S* y, int64_t y_row,
                   int64_t count, int64_t r, int64_t last) const {
    Entries<S, I> e{A.values, A.indices, A.begin(r), 0, A.nnz - 1};
    for (; r < last; ++r) {
      e.end = A.begin(r + 1);
      row<into>(e, x, stride, count, update, y + r * y_row);
      e.begin = e.end;
    }
    return e.begin;
  }

  /// y's vectors lie apart: some rows are finished first, so that each vector is written in pieces.
  int64_t run_tiles(const HostCsr<S, I, O>& A, const Update<S>& update, const S* x, int64_t stride, S* y, int64_t y_row,
                    int64_t y_vector, int64_t count, int64_t r, int64_t last) const {
    S tile[tile_rows * turned_vectors];
    int64_t begin = A.begin(r);
    for (; r < last; r += tile_rows) {
      const int64_t rows = std::min(tile_rows, last - r);
      for (int64_t k = 0; k < count; k += turned_vectors) {
        const int64_t n = std::min(turned_vectors, count - k);
        begin = A.begin(r);
        for (int64_t i = 0; i < rows; ++i) {
          const int64_t end = A.begin(r + i + 1);
          row<Into::sums>(Entries<S, I>{A.values, A.indices, begin, end, A.nnz - 1}, x + k, stride, n, update,
                          tile + i * turned_vectors);
          begin = end;
        }
        for (int64_t j = 0; j < n; ++j) {
          S* at = y + (k + j) * y_vector + r * y_row;
          for (int64_t i = 0; i < rows; ++i) update(at[i * y_row], tile[i * turned_vectors + j]);
        }
      }
    }
    return begin;
  }

  /// Rows that parts share, in the order of the parts.
  void add_pieces(const Update<S>& update, const DenseRef& y) {
    for (const SharedRow& shared : shared_rows_)
      for (int64_t k = 0; k < vectors_; ++k) {
        S sum{};
        for (size_t part = shared.first; part < shared.last; ++part) sum = plus(sum, piece(part, true)[k]);
        update(vector_of<S>(y, k)[shared.row * y.strides[0]], plus(sum, piece(shared.last, false)[k]));
      }
  }

  bool conjugate_, turns_;
  int64_t vectors_, x_rows_;
  int64_t parts_ = 0;
  std::vector<Cut> cuts_;
  SharedParts shares_;
  std::vector<SharedRow> shared_rows_;
  std::vector<S> pieces_;  // what a part leaves of a row that it shares: first row, last row
};

inline std::string unsupported(const Desc& desc) {
  if (transposes(desc.op)) return "op is a transposed one";
  if (desc.y.rank != 2) return "for multi-vectors";
  return {};
}

}  // namespace host_multi_parts

template <class Dev>
constexpr Implementation host_multi() {
  return {{"host_multi"}, true, host_multi_parts::unsupported, make_typed<Dev, host_multi_parts::MultiKernel>};
}

}  // namespace kkc::spmv
