// spmv, host_balanced: plain CSR in fixed ranges of equal work, several a thread. Long rows are cut and their pieces
// added in order, as in Merrill and Garland, "Merge-based parallel sparse matrix-vector multiplication", SC'16, section
// 3. The same bits run to run, whichever thread takes a range.
#pragma once

#include "device/host_shared_parts.hpp"
#include "ops/spmv/spmv_host_rows.hpp"

namespace kkc::spmv {

namespace host_balanced_parts {

template <class Dev, class S, class I, class O>
class BalancedKernel final : public Kernel {
  using Matrix = HostCsr<S, I, O>;

 public:
  BalancedKernel(const Desc& desc, Queue& queue) : conjugate_(conjugates(desc.op)) {
    const Matrix A(desc.A);
    cuts_ = balanced_cuts(A, shared_parts_for(A, queue), true);
    const auto parts = static_cast<int64_t>(cuts_.size()) - 1;
    turns_ = SharedParts(parts, parts_for(A, queue));
    pieces_.resize(static_cast<size_t>(parts));
    shared_rows_ = shared_rows(A, cuts_);
    gathers_ = A.nnz >= 24 * A.rows && columns_jump(A);
    follow_ = is_real<S> && columns_follow(A);
    masked_ = has_masks<S, I> && lengths_differ(A);
  }

  void execute(Queue& queue, const Args& args) override {
    const Matrix A(args.A);
    const Update<S> update(args.alpha, args.beta);
    if (is_zero(update.alpha) || A.nnz == 0) return scale_all<Dev>(queue, args.y, update);
    const int64_t x_stride = args.x.strides[0], y_stride = args.y.strides[0];
    const S* x = based(vector_of<S>(args.x, 0), A.base, A.nnz, x_stride);
    S* y = vector_of<S>(args.y, 0);
    if constexpr (is_real<S> && simd_bytes >= 64) {
      if (x_stride == 1 && y_stride == 1 && gathers_ && update.overwrite)
        return multiply<To::contiguous>(
            queue, A, update, y,
            1, [x](const S* values, const I* indices, int64_t p, int64_t end) __attribute__((always_inline)) {
              return row_product::gathered_row(values + p, indices + p, x, end - p);
            });
    }
    if constexpr (is_real<S>) {
      if (x_stride == 1 && y_stride == 1 && follow_ && update.overwrite)
        return multiply<To::contiguous>(
            queue, A, update, y,
            1, [x](const S* values, const I* indices, int64_t p, int64_t end) __attribute__((always_inline)) {
              return row_product::consecutive_row(values, indices, x, p, end);
            });
    }
    if constexpr (has_masks<S, I>) {
      if (x_stride == 1 && y_stride == 1 && masked_) {
        const auto row_by_mask = [x](const S* values, const I* indices, int64_t p, int64_t end)
            __attribute__((always_inline)) {
          return row_product::masked_row(values, indices, x, p, end);
        };
        return update.overwrite ? multiply<To::contiguous>(queue, A, update, y, 1, row_by_mask)
                                : multiply<To::contiguous_sum>(queue, A, update, y, 1, row_by_mask);
      }
    }
    const auto row_times_x = [ x, conjugate = conjugate_ ](const S* values, const I* indices, int64_t p, int64_t end)
        __attribute__((always_inline)) {
      return row_product::any_row(values, indices, x, p, end, conjugate);
    };
    if (x_stride == 1 && y_stride == 1)
      return update.overwrite ? multiply<To::contiguous>(queue, A, update, y, 1, row_times_x)
                              : multiply<To::contiguous_sum>(queue, A, update, y, 1, row_times_x);
    multiply<To::any>(
        queue, A, update, y, y_stride,
        [ x, x_stride, conjugate = conjugate_ ](const S* values, const I* indices, int64_t p, int64_t end)
            __attribute__((always_inline)) {
              return row_product::plain_row<8>(values, indices, x, x_stride, p, end, conjugate);
            });
  }

  void describe(Info& info) const override { info.add("parts", static_cast<int64_t>(pieces_.size())); }

 private:
  /// What a part leaves of rows that it shares with others.
  struct Piece {
    S head{}, tail{};
  };

  /// Where sums go: to y with beta = 0, to y with beta, to y of any stride and beta. Told at compile time, since a row
  /// of two entries feels every instruction.
  enum class To { contiguous, contiguous_sum, any };

  template <To to, class Product>
  void multiply(Queue& queue, const Matrix& csr, const Update<S>& by, S* y, int64_t y_stride,
                const Product& row_times_x) {
    turns_.run<Dev>(queue, [&](int64_t number) {
      // Copies that no store to y can change, so that they stay in registers. Entries count from base here.
      const O* const offsets = csr.offsets;
      const S* const values = csr.values - csr.base;
      const I* const indices = csr.indices - csr.base;
      const Product product = row_times_x;
      const Update<S> update = by;
      const auto part = static_cast<size_t>(number);
      int64_t row = cuts_[part].row, begin = cuts_[part].entry + csr.base;
      const int64_t last_row = cuts_[part + 1].row, last_entry = cuts_[part + 1].entry + csr.base;
      if (row < last_row && begin > static_cast<int64_t>(offsets[row])) {
        const auto end = static_cast<int64_t>(offsets[++row]);
        pieces_[part].head = product(values, indices, begin, end);
        begin = end;
      }
      for (; row < last_row; ++row) {
        const auto end = static_cast<int64_t>(offsets[row + 1]);
        const S sum = product(values, indices, begin, end);
        if constexpr (to == To::contiguous)
          y[row] = times(update.alpha, sum);
        else if constexpr (to == To::contiguous_sum)
          y[row] = plus(times(update.alpha, sum), times(update.beta, y[row]));
        else
          update(y[row * y_stride], sum);
        begin = end;
      }
      if (last_entry > begin) pieces_[part].tail = product(values, indices, begin, last_entry);
    });
    for (const SharedRow& shared : shared_rows_) {
      S sum{};
      for (size_t part = shared.first; part < shared.last; ++part) sum = plus(sum, pieces_[part].tail);
      by(y[shared.row * y_stride], plus(sum, pieces_[shared.last].head));
    }
  }

  bool conjugate_, gathers_, follow_, masked_;
  std::vector<Cut> cuts_;
  SharedParts turns_;
  std::vector<Piece> pieces_;
  std::vector<SharedRow> shared_rows_;
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
