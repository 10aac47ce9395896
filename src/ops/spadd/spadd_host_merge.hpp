// spadd, host_merge: the plan merges A's and B's rows once and keeps, for each of C's entries, one bit for A and one
// for B; execute runs through A's and B's values and the bits in order and writes each of C's values once. Work is
// dealt in parts of equal length along the merge path, so that long rows are shared. Operands whose rows are not
// strictly ascending, or that are transposed, are read through a map of positions. The same bits run to run.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "core/dispatch.hpp"
#include "device/host_parallel.hpp"
#include "spadd_host_numeric.hpp"
#include "spadd_host_symbolic.hpp"
#include "spadd_sources.hpp"

namespace kkc::spadd {

namespace host_merge_parts {

using host::Word;

/// A range of the merge path and where its bits and its part of C begin.
struct Part {
  Point from, to;
  int64_t word, first, count;
};

/// The parts' bits: all that the numeric phase needs of the patterns.
struct Bits {
  std::vector<Part> parts;
  Buffer words;
  int64_t nnz = 0;
  int64_t bad_row[2] = {-1, -1};  // the first row of A, of B that does not ascend strictly, of any part
};

/// Finds the bits, and in starts[row] where C's row begins in its part.
template <class Dev, class I, class O>
Bits merge(Queue& queue, const std::shared_ptr<const Memory>& memory, const Rows<I, O>& A, const Rows<I, O>& B,
           int64_t rows, int64_t* starts) {
  const int64_t end_a = rows == 0 ? 0 : A.begin(rows), end_b = rows == 0 ? 0 : B.begin(rows), total = end_a + end_b;
  const int64_t parts = std::max<int64_t>(1, std::min<int64_t>(queue.concurrency(), total / 4096));
  Bits bits;
  bits.parts.resize(static_cast<size_t>(parts));
  int64_t words = 0;
  Point from{0, 0, 0};
  for (int64_t p = 0; p < parts; ++p) {
    Part& part = bits.parts[static_cast<size_t>(p)];
    const Point to =
        p + 1 < parts ? point_at(A, B, 0, rows, part_begin(total, parts, p + 1)) : Point{rows, end_a, end_b};
    part = {from, to, words, 0, 0};
    words += host::words_for(to.a - from.a + to.b - from.b);
    from = to;
  }
  bits.words = Buffer(memory, Space::host, static_cast<size_t>(words) * sizeof(Word));
  std::vector<int64_t> bad[2];
  bad[0].assign(static_cast<size_t>(parts), -1);
  bad[1] = bad[0];
  host_parts<Dev>(queue, parts, [&](int64_t p) {
    Part& part = bits.parts[static_cast<size_t>(p)];
    const Point to = part.to;
    host::BitSink sink(bits.words.template as<Word>() + part.word);
    const I shift = static_cast<I>(A.base - B.base);
    int64_t row = part.from.row, a = part.from.a, b = part.from.b;
    const auto check = [&](int which, const Rows<I, O>& X, int64_t at, int64_t end) {
      const int64_t before = at > X.begin(row) ? 1 : 0;  // of the part before
      if (end > at && !host::ascends(X.columns + at - before, end - at + before) &&
          bad[which][static_cast<size_t>(p)] < 0)
        bad[which][static_cast<size_t>(p)] = row;
    };
    for (; row < rows; ++row) {
      const int64_t row_a = A.begin(row), row_b = B.begin(row);
      const int64_t a_to = std::min(to.a, A.begin(row + 1)), b_to = std::min(to.b, B.begin(row + 1));
      const bool begins = a == row_a && b == row_b;
      if (row == to.row && a_to == row_a && b_to == row_b) break;  // the next part's
      if (begins) starts[row] = sink.count();
      check(0, A, a, a_to);
      check(1, B, b, b_to);
      host::merge_row(A.columns + a, a_to - a, B.columns + b, b_to - b, shift, sink);
      a = a_to;
      b = b_to;
      if (row == to.row) break;
    }
    part.count = sink.count();
    sink.finish();
  });
  for (Part& part : bits.parts) {
    part.first = bits.nnz;
    bits.nnz += part.count;
  }
  for (int which = 0; which < 2; ++which)
    for (const int64_t row : bad[which])
      if (bits.bad_row[which] < 0) bits.bad_row[which] = row;
  return bits;
}

/// Whether `row` begins in the part.
inline bool begins_in(const Part& part, int64_t row, int64_t a, int64_t b) {
  if (row == part.from.row) return a == part.from.a && b == part.from.b;
  return row < part.to.row || a < part.to.a || b < part.to.b;
}

/// C's offsets: where rows begin in their parts, plus where the parts begin in C.
template <class Dev, class I, class O, class Q>
void write_offsets(Queue& queue, const Bits& bits, const Rows<I, O>& A, const Rows<I, O>& B, int64_t rows,
                   const int64_t* starts, Q* offsets) {
  host_parts<Dev>(queue, static_cast<int64_t>(bits.parts.size()), [&](int64_t p) {
    const Part& part = bits.parts[static_cast<size_t>(p)];
    for (int64_t row = part.from.row; row < std::min(rows, part.to.row + 1); ++row)
      if (begins_in(part, row, A.begin(row), B.begin(row))) offsets[row] = static_cast<Q>(starts[row] + part.first);
  });
  offsets[rows] = static_cast<Q>(bits.nnz);
}

template <class Dev, class I, class O, class J>
void write_columns(Queue& queue, const Bits& bits, const Rows<I, O>& A, const Rows<I, O>& B, int64_t end_a,
                   int64_t end_b, J* columns) {
  host_parts<Dev>(queue, static_cast<int64_t>(bits.parts.size()), [&](int64_t p) {
    const Part& part = bits.parts[static_cast<size_t>(p)];
    const host::Columns<I, J> make{A.columns + part.from.a, A.columns + end_a,      B.columns + part.from.b,
                                   B.columns + end_b,       static_cast<I>(A.base), static_cast<I>(B.base)};
    host::run_words(bits.words.as<Word>() + part.word, part.count, columns + part.first,
                    bits.nnz * static_cast<int64_t>(sizeof(J)) >= stream_threshold_bytes, make);
  });
}

template <class Dev, class E, class I, class O>
class MergeKernel final : public Kernel {
 public:
  MergeKernel(const Desc& desc, Queue& queue)
      : A_(desc.A), B_(desc.B), rows_(desc.rows), pair_C_(desc.pair_C), memory_(desc.memory) {
    starts_ = Buffer(memory_, Space::host, static_cast<size_t>(rows_) * sizeof(int64_t));
    for (Sources* x : {&A_, &B_})
      if (x->transposed())
        x->use(transposed_rows(queue, memory_, *x));
      else if (desc.order == RowOrder::unsorted)
        put_right(queue, memory_, *x);
    merge(queue);
    // The rows are looked at while they are merged; what is out of order is put right and merged again.
    const bool right_A = bits_.bad_row[0] < 0, right_B = bits_.bad_row[1] < 0;
    if (right_A && right_B) return;
    if (desc.order == RowOrder::sorted) {
      if (!right_A && !A_.transposed()) fail_not_sorted("A", bits_.bad_row[0]);
      if (!right_B && !B_.transposed()) fail_not_sorted("B", bits_.bad_row[1]);
    }
    if (!right_A) put_right(queue, memory_, A_);
    if (!right_B) put_right(queue, memory_, B_);
    merge(queue);
  }

  int64_t nnz() const override { return bits_.nnz; }

  void execute(Queue& queue, const Args& args) override {
    const E alpha = factor<E>(args.alpha).get(), beta = factor<E>(args.beta).get();
    E* const C = static_cast<E*>(const_cast<void*>(args.C.values));
    with_source(A_, args.A, [&](auto source_a) {
      with_source(B_, args.B, [&](auto source_b) { add(queue, alpha, beta, source_a, source_b, C); });
    });
  }

  void describe(Info& info) const override {
    info.add("parts", static_cast<int64_t>(bits_.parts.size()));
    info.add("plan_bytes", static_cast<int64_t>(bits_.words.bytes() + A_.bytes() + B_.bytes()));
    info.add("A_read", std::string(A_.how()));
    info.add("B_read", std::string(B_.how()));
  }

 private:
  void merge(Queue& queue) {
    bits_ = host_merge_parts::merge<Dev>(queue, memory_, A_.template rows<I, O>(), B_.template rows<I, O>(), rows_,
                                         starts_.as<int64_t>());
  }

  Pattern write_pattern(Queue& queue) override {
    Pattern pattern;
    const auto A = A_.template rows<I, O>(), B = B_.template rows<I, O>();
    dispatch_index_pair(AllIndexPairs{}, pair_C_, [&](auto pair) {
      using J = typename decltype(pair)::ordinal;
      using Q = typename decltype(pair)::offset;
      const auto array = [&](int64_t count, size_t each) {
        return std::make_shared<const Buffer>(memory_, Space::host, static_cast<size_t>(count) * each);
      };
      if (rows_ > 0) {
        pattern.offsets = array(rows_ + 1, sizeof(Q));
        write_offsets<Dev>(queue, bits_, A, B, rows_, starts_.as<int64_t>(), pattern.offsets->template as<Q>());
      }
      pattern.indices = array(bits_.nnz, sizeof(J));
      write_columns<Dev>(queue, bits_, A, B, A_.entries(), B_.entries(), pattern.indices->template as<J>());
    });
    starts_ = Buffer();
    A_.forget_pattern();
    B_.forget_pattern();
    return pattern;
  }

  /// f(make), where make(from) is the source of values from an entry on.
  template <class F>
  static void with_source(const Sources& x, const CsrRef& matrix, F&& f) {
    const auto* values = static_cast<const E*>(matrix.values);
    const bool conjugate = x.conjugate();
    if (!x.mapped())
      f([=, count = matrix.nnz](int64_t from) { return host::InOrder<E>(values, from, count, conjugate); });
    else
      f([=, positions = x.positions<O>(), starts = x.starts<O>()](int64_t from) {
        return host::Mapped<E, O>(values, positions, starts, from, conjugate);
      });
  }

  template <class MakeA, class MakeB>
  void add(Queue& queue, E alpha, E beta, const MakeA& make_a, const MakeB& make_b, E* C) const {
    const bool stream = bits_.nnz * static_cast<int64_t>(sizeof(E)) >= stream_threshold_bytes;
    host_parts<Dev>(queue, static_cast<int64_t>(bits_.parts.size()), [&](int64_t p) {
      const Part& part = bits_.parts[static_cast<size_t>(p)];
      using Addition = host::Addition<E, decltype(make_a(0)), decltype(make_b(0))>;
      host::run_words(bits_.words.as<Word>() + part.word, part.count, C + part.first, stream,
                      Addition{alpha, beta, !(alpha == E{}), !(beta == E{}), make_a(part.from.a), make_b(part.from.b)});
    });
  }

  Sources A_, B_;
  int64_t rows_;
  IndexPair pair_C_;
  std::shared_ptr<const Memory> memory_;
  Buffer starts_;  // until the pattern is written
  Bits bits_;
};

template <class Dev>
std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.A.matrix.scalar, desc.A.matrix.pair, [&](auto scalar, auto pair) {
    using P = decltype(pair);
    kernel = std::make_unique<
        MergeKernel<Dev, Element<typename decltype(scalar)::type>, typename P::ordinal, typename P::offset>>(desc,
                                                                                                             queue);
  });
  return kernel;
}

inline std::string unsupported(const Desc&) { return {}; }

}  // namespace host_merge_parts

template <class Dev>
constexpr Implementation host_merge() {
  return {{"host_merge"}, true, host_merge_parts::unsupported, host_merge_parts::make<Dev>};
}

}  // namespace kkc::spadd
