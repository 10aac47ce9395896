// spmv, host_balanced: plain CSR, rows dealt to threads in fixed ranges of equal work. Long rows are cut and their
// pieces added in order, as in Merrill and Garland, "Merge-based parallel sparse matrix-vector multiplication", SC'16,
// section 3. The same bits run to run.
#pragma once

#include "ops/spmv/spmv_host_rows.hpp"

namespace kkc::spmv {

namespace host_balanced_parts {

template <class Dev, class S, class I, class O>
class BalancedKernel final : public Kernel {
 public:
  BalancedKernel(const Desc& desc, Queue& queue) : conjugate_(conjugates(desc.op)) {
    const HostCsr<S, I, O> A(desc.A);
    cuts_ = balanced_cuts(A, parts_for(A, queue), true);
    pieces_.resize(cuts_.size());
  }

  void execute(Queue& queue, const Args& args) override {
    const HostCsr<S, I, O> A(args.A);
    const Update<S> update(args.alpha, args.beta);
    if (is_zero(update.alpha) || A.nnz == 0) return scale_all<Dev>(queue, args.y, update);
    const int64_t x_stride = args.x.strides[0];
    for (int64_t k = 0; k < (args.y.rank == 2 ? args.y.extents[1] : 1); ++k) {
      const S* x = based(vector_of<S>(args.x, k), A.base, A.nnz, x_stride);
      S* y = vector_of<S>(args.y, k);
      if constexpr (is_real<S>) {
        const auto short_row = [ A, x ](int64_t p, int64_t end) __attribute__((always_inline)) {
          return row_product::plain_row(A.values, A.indices, x, 1, p, end, false);
        };
        if (x_stride != 1)
          run(
              queue, A, update, y, args.y.strides[0],
              [ A, x, x_stride ](int64_t p, int64_t end) __attribute__((always_inline)) {
                return row_product::plain_row(A.values, A.indices, x, x_stride, p, end, false);
              });
        else
          run(
              queue, A, update, y, args.y.strides[0],
              [ A, x, short_row ](int64_t p, int64_t end) __attribute__((always_inline)) {
                return end - p < 8 ? short_row(p, end) : row_product::long_row(A.values, A.indices, x, p, end);
              });
      } else {
        run(
            queue, A, update, y, args.y.strides[0],
            [ A, x, x_stride, conjugate = conjugate_ ](int64_t p, int64_t end) __attribute__((always_inline)) {
              return row_product::plain_row(A.values, A.indices, x, x_stride, p, end, conjugate);
            });
      }
    }
  }

  void describe(Info& info) const override { info.add("parts", static_cast<int64_t>(cuts_.size()) - 1); }

 private:
  /// What a part leaves of rows that it shares with others.
  struct Piece {
    S head{}, tail{};
  };

  template <class Product>
  void run(Queue& queue, const HostCsr<S, I, O>& csr, const Update<S>& by, S* y, int64_t y_stride,
           const Product& row_times_x) {
    const auto parts = static_cast<int64_t>(cuts_.size()) - 1;
    host_parts<Dev>(queue, parts, [&](int64_t part) {
      // Copies that no store to y can change, so that they stay in registers.
      const HostCsr<S, I, O> A = csr;
      const Update<S> update = by;
      const Product product = row_times_x;
      const Cut from = cuts_[static_cast<size_t>(part)], to = cuts_[static_cast<size_t>(part) + 1];
      Piece& piece = pieces_[static_cast<size_t>(part)];
      row_product::Stream<S, I> stream(A.indices, A.values, from.entry);
      int64_t row = from.row, begin = from.entry;
      if (row < to.row && begin > A.begin(row)) {
        const int64_t end = A.begin(row + 1);
        piece.head = product(begin, end);
        begin = end;
        ++row;
      }
      for (; row < to.row; ++row) {
        const int64_t end = A.begin(row + 1);
        if (end - begin < 8 || !is_real<S>) stream.reach(begin, end);
        update(y[row * y_stride], product(begin, end));
        begin = end;
      }
      if (to.entry > begin) piece.tail = product(begin, to.entry);
    });
    add_pieces(csr, by, y, y_stride);
  }

  void add_pieces(const HostCsr<S, I, O>& A, const Update<S>& update, S* y, int64_t y_stride) const {
    S sum{};
    for (size_t part = 0; part + 1 < cuts_.size(); ++part) {
      const Cut from = cuts_[part], to = cuts_[part + 1];
      if (from.row < to.row && from.entry > A.begin(from.row)) {
        update(y[from.row * y_stride], plus(sum, pieces_[part].head));
        sum = S{};
      }
      if (to.row < A.rows && to.entry > std::max(from.entry, A.begin(to.row))) sum = plus(sum, pieces_[part].tail);
    }
  }

  bool conjugate_;
  std::vector<Cut> cuts_;
  std::vector<Piece> pieces_;
};

inline std::string unsupported(const Desc& desc) {
  if (transposes(desc.op)) return "op is a transposed one";
  if (desc.vectors != 1) return "for one vector";
  return {};
}

}  // namespace host_balanced_parts

template <class Dev>
constexpr Implementation host_balanced() {
  return {
      {"host_balanced"}, true, host_balanced_parts::unsupported, make_typed<Dev, host_balanced_parts::BalancedKernel>};
}

}  // namespace kkc::spmv
