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
  SharedColumnsKernel(const Desc& desc, Queue& queue) {
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
          default: update(*to, row_product::long_row(A.values, A.indices, x, begin, begin + length));
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

  template <int Rows>
  [[gnu::always_inline]] static void multiply(const HostCsr<S, I, O>& A, const S* x, int64_t begin, int64_t length,
                                              const Update<S>& update, S* y, int64_t y_stride) {
    const I* indices = A.indices + begin;
    const S* values = A.values + begin;
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

  std::vector<Part> parts_;
};

inline std::string unsupported(const Desc& desc) {
  if (transposes(desc.op)) return "op is a transposed one";
  if (is_complex_scalar(desc.A.scalar)) return "for real types";
  if (desc.vectors != 1) return "for one vector";
  if (desc.x.extents[0] > 1 && desc.x.strides[0] != 1) return "x is strided";
  if (desc.A.nnz == 0) return "A has no entries";
  if (desc.rows.longest > std::max<int64_t>(4096, desc.A.nnz / 64))
    return "a row is long enough to be shared by threads";
  if (desc.A.nnz < 8 * desc.A.rows) return "fewer than 8 entries a row in the mean";
  if (shared_share(desc.A) < 0.4) return "fewer than two fifths of the rows have the columns of the next row";
  return {};
}

/// Real types only: unsupported() has refused the others.
template <class Dev>
std::unique_ptr<Kernel> make(const Desc& desc, Queue& queue) {
  std::unique_ptr<Kernel> kernel;
  dispatch(desc.A.scalar, desc.A.pair, [&](auto scalar, auto pair) {
    using S = typename decltype(scalar)::type;
    using P = decltype(pair);
    if constexpr (std::is_floating_point_v<S>)
      kernel = std::make_unique<SharedColumnsKernel<Dev, S, typename P::ordinal, typename P::offset>>(desc, queue);
  });
  return kernel;
}

}  // namespace host_shared_columns_parts

template <class Dev>
constexpr Implementation host_shared_columns() {
  return {{"host_shared_columns"}, true, host_shared_columns_parts::unsupported, host_shared_columns_parts::make<Dev>};
}

}  // namespace kkc::spmv
