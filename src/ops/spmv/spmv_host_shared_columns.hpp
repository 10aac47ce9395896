// spmv, host_shared_columns: neighbouring rows with the same columns, as several unknowns at a grid point have, are
// multiplied together: their indices and x are read once for all (supervariables: Duff, Reid, "Exploiting zeros on the
// diagonal in the direct solution of indefinite sparse symmetric linear systems", ACM TOMS 22(2), 1996; i-nodes in
// PETSc). Values stay in the matrix's own order. The same bits run to run.
#pragma once

#include <cstring>

#include "ops/spmv/spmv_host_rows.hpp"

namespace kkc::spmv {

namespace host_shared_columns_parts {

inline constexpr int64_t most_together = 4;

template <class S, class I, class O>
bool same_columns(const HostCsr<S, I, O>& A, int64_t row) {
  const int64_t begin = A.begin(row), length = A.begin(row + 1) - begin;
  return A.begin(row + 2) - A.begin(row + 1) == length &&
         std::memcmp(A.indices + begin, A.indices + begin + length, static_cast<size_t>(length) * sizeof(I)) == 0;
}

/// Share of sampled rows whose columns are those of the next row.
inline double shared_share(const CsrRef& matrix) {
  int64_t shared = 0, tries = 0;
  dispatch_index_pair(IndexPairs{}, matrix.pair, [&](auto pair) {
    using P = decltype(pair);
    const HostCsr<float, typename P::ordinal, typename P::offset> A(matrix);
    for (; tries < std::min<int64_t>(512, A.rows - 1); ++tries) {
      // Scattered: even steps would hit the same place of every line of a grid.
      const uint64_t place = static_cast<uint64_t>(tries) * 0x9e3779b97f4a7c15u;
      shared += same_columns(A, static_cast<int64_t>(place % static_cast<uint64_t>(A.rows - 1)));
    }
  });
  return tries == 0 ? 0 : static_cast<double>(shared) / static_cast<double>(tries);
}

template <class Dev, class S, class I, class O>
class SharedColumnsKernel final : public Kernel {
 public:
  SharedColumnsKernel(const Desc& desc, Queue& queue) : conjugate_(conjugates(desc.op)) {
    const HostCsr<S, I, O> A(desc.A);
    const std::vector<Cut> cuts = balanced_cuts(A, parts_for(A, queue), false);
    parts_.resize(cuts.size() - 1);
    host_parts_checked<Dev>(queue, static_cast<int64_t>(parts_.size()), [&](int64_t p) {
      Part& part = parts_[static_cast<size_t>(p)];
      part.row = cuts[static_cast<size_t>(p)].row;
      const int64_t end = cuts[static_cast<size_t>(p) + 1].row;
      for (int64_t row = part.row; row < end;) {
        int64_t rows = 1;
        while (rows < most_together && row + rows < end && same_columns(A, row + rows - 1)) ++rows;
        part.together.push_back(static_cast<uint8_t>(rows));
        row += rows;
      }
    });
  }

  void execute(Queue& queue, const Args& args) override {
    const HostCsr<S, I, O> csr(args.A);
    const Update<S> by(args.alpha, args.beta);
    if (is_zero(by.alpha)) return scale_all<Dev>(queue, args.y, by);
    const S* x = based(vector_of<S>(args.x, 0), csr.base, csr.nnz);
    S* y = vector_of<S>(args.y, 0);
    const int64_t y_stride = args.y.strides[0];
    host_parts<Dev>(queue, static_cast<int64_t>(parts_.size()), [&](int64_t p) {
      const HostCsr<S, I, O> A = csr;
      const Update<S> update = by;
      const Part& part = parts_[static_cast<size_t>(p)];
      int64_t row = part.row;
      for (const uint8_t rows : part.together) {
        const int64_t begin = A.begin(row), length = A.begin(row + 1) - begin;
        S* to = y + row * y_stride;
        switch (rows) {
          case 2: multiply<2>(A, x, begin, length, update, to, y_stride); break;
          case 3: multiply<3>(A, x, begin, length, update, to, y_stride); break;
          case 4: multiply<4>(A, x, begin, length, update, to, y_stride); break;
          default: multiply_alone(A, x, begin, length, update, *to);
        }
        row += rows;
      }
    });
  }

  void describe(Info& info) const override {
    int64_t groups = 0;
    for (const Part& part : parts_) groups += static_cast<int64_t>(part.together.size());
    info.add("parts", static_cast<int64_t>(parts_.size()));
    info.add("groups_of_rows", groups);
  }

 private:
  struct Part {
    int64_t row;
    std::vector<uint8_t> together;  // rows of each group
  };

  [[gnu::always_inline]] void multiply_alone(const HostCsr<S, I, O>& A, const S* x, int64_t begin, int64_t length,
                                             const Update<S>& update, S& y) const {
    if constexpr (is_real<S>)
      update(y, row_product::long_row(A.values, A.indices, x, begin, begin + length));
    else
      update(y, row_product::plain_row(A.values, A.indices, x, 1, begin, begin + length, conjugate_));
  }

  template <int Rows>
  [[gnu::always_inline]] void multiply(const HostCsr<S, I, O>& A, const S* x, int64_t begin, int64_t length,
                                       const Update<S>& update, S* y, int64_t y_stride) const {
    if constexpr (is_real<S>)
      multiply_real<Rows>(A.values + begin, A.indices + begin, x, length, update, y, y_stride);
    else
      multiply_complex<Rows>(A.values + begin, A.indices + begin, x, length, update, y, y_stride);
  }

  template <int Rows>
  [[gnu::always_inline]] static void multiply_real(const S* values, const I* indices, const S* x, int64_t length,
                                                   const Update<S>& update, S* y, int64_t y_stride) {
    Pack<S, 4> sums[Rows] = {}, v, w;
    int64_t i = 0;
    for (; i + 8 <= length; i += 8) {
      prefetch(reinterpret_cast<const char*>(indices + i) + row_product::index_bytes_ahead);
      for (int r = 0; r < Rows; ++r)
        prefetch(reinterpret_cast<const char*>(values + r * length + i) + row_product::value_bytes_ahead);
      for (int half = 0; half < 8; half += 4) {
        pick<S>(w, x, indices + i + half);
        for (int r = 0; r < Rows; ++r) {
          load(v, values + r * length + i + half);
          sums[r] += v * w;
        }
      }
    }
    S rest[Rows] = {};
    for (; i < length; ++i)
      for (int r = 0; r < Rows; ++r) rest[r] += values[r * length + i] * x[indices[i]];
    for (int r = 0; r < Rows; ++r) update(y[r * y_stride], sum_of<S>(sums[r]) + rest[r]);
  }

  /// Sums of the real and of the imaginary parts of A times x: conjugation is a matter of signs at the end.
  template <int Rows>
  [[gnu::always_inline]] void multiply_complex(const S* values, const I* indices, const S* x, int64_t length,
                                               const Update<S>& update, S* y, int64_t y_stride) const {
    S by_re[Rows] = {}, by_im[Rows] = {};
    for (int64_t i = 0; i < length; ++i) {
      if (i % 4 == 0) {
        prefetch(reinterpret_cast<const char*>(indices + i) + row_product::index_bytes_ahead);
        for (int r = 0; r < Rows; ++r)
          prefetch(reinterpret_cast<const char*>(values + r * length + i) + row_product::value_bytes_ahead);
      }
      const S w = x[indices[i]];
      for (int r = 0; r < Rows; ++r) {
        const S v = values[r * length + i];
        by_re[r].re += v.re * w.re;
        by_re[r].im += v.re * w.im;
        by_im[r].re += v.im * w.re;
        by_im[r].im += v.im * w.im;
      }
    }
    for (int r = 0; r < Rows; ++r)
      update(y[r * y_stride], conjugate_ ? S{by_re[r].re + by_im[r].im, by_re[r].im - by_im[r].re}
                                         : S{by_re[r].re - by_im[r].im, by_re[r].im + by_im[r].re});
  }

  bool conjugate_;
  std::vector<Part> parts_;
};

inline std::string unsupported(const Desc& desc) {
  if (transposes(desc.op)) return "op is a transposed one";
  if (desc.vectors != 1) return "for one vector";
  if (desc.x.extents[0] > 1 && desc.x.strides[0] != 1) return "x is strided";
  if (desc.A.nnz == 0) return "A has no entries";
  if (desc.rows.longest > std::max<int64_t>(4096, desc.A.nnz / 64))
    return "a row is long enough to be shared by threads";
  if (desc.A.nnz < 8 * desc.A.rows) return "fewer than 8 entries a row in the mean";
  if (shared_share(desc.A) < 0.4) return "fewer than two fifths of the rows have the columns of the next row";
  return {};
}

}  // namespace host_shared_columns_parts

template <class Dev>
constexpr Implementation host_shared_columns() {
  return {{"host_shared_columns"},
          true,
          host_shared_columns_parts::unsupported,
          make_typed<Dev, host_shared_columns_parts::SharedColumnsKernel>};
}

}  // namespace kkc::spmv
