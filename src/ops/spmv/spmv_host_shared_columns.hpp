// spmv, host_shared_columns: neighbouring rows with the same columns, as several unknowns at a grid point have, are
// multiplied together: x is read once for all, and one list of columns, which the plan copies (supervariables: Duff,
// Reid, "Exploiting zeros on the diagonal in the direct solution of indefinite sparse symmetric linear systems", ACM
// TOMS 22(2), 1996; i-nodes in PETSc). Values stay in the matrix's own order. The same bits run to run.
#pragma once

#include <cstring>
#include <utility>

#include "device/host_shared_parts.hpp"
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
  using Matrix = HostCsr<S, I, O>;
  using R = typename PartType<S>::type;
  static constexpr int64_t step = is_real<S> ? 8 : 4;  // entries of a vector
  static constexpr int64_t bytes_ahead = 8192;

 public:
  SharedColumnsKernel(const Desc& desc, Queue& queue) : conjugate_(conjugates(desc.op)) {
    const Matrix A(desc.A);
    const std::vector<Cut> cuts = balanced_cuts(A, shared_parts_for(A, queue), false);
    parts_.resize(cuts.size() - 1);
    turns_ = SharedParts(static_cast<int64_t>(parts_.size()), parts_for(A, queue));
    host_parts_checked<Dev>(queue, static_cast<int64_t>(parts_.size()), [&](int64_t p) {
      Part& part = parts_[static_cast<size_t>(p)];
      part.row = cuts[static_cast<size_t>(p)].row;
      find_groups(A, part, cuts[static_cast<size_t>(p) + 1].row);
    });
    int64_t columns = 0;
    for (Part& part : parts_) columns += std::exchange(part.columns, columns);
    columns_ = Buffer(desc.memory, Space::host, static_cast<size_t>(columns) * sizeof(I));
    turns_.run<Dev>(queue, [&](int64_t p) {
      const Part& part = parts_[static_cast<size_t>(p)];
      I* to = columns_.template as<I>() + part.columns;
      int64_t row = part.row;
      for (const uint8_t rows : part.together) {
        for (int64_t entry = A.begin(row); entry < A.begin(row + 1); ++entry) *to++ = static_cast<I>(A.column(entry));
        row += rows;
      }
    });
  }

  void execute(Queue& queue, const Args& args) override {
    const Matrix csr(args.A);
    const Update<S> by(args.alpha, args.beta);
    if (is_zero(by.alpha)) return scale_all<Dev>(queue, args.y, by);
    const S* x = vector_of<S>(args.x, 0);
    S* y = vector_of<S>(args.y, 0);
    const int64_t y_stride = args.y.strides[0];
    turns_.run<Dev>(queue, [&](int64_t p) {
      const Matrix A = csr;
      const Update<S> update = by;
      const Part& part = parts_[static_cast<size_t>(p)];
      const I* columns = columns_.template as<I>() + part.columns;
      int64_t row = part.row;
      for (const uint8_t rows : part.together) {
        const int64_t begin = A.begin(row), length = A.begin(row + 1) - begin;
        const S* values = A.values + begin;
        S* to = y + row * y_stride;
        switch (rows) {
          case 1: multiply<1>(values, columns, x, length, update, to, y_stride); break;
          case 2: multiply<2>(values, columns, x, length, update, to, y_stride); break;
          case 3: multiply<3>(values, columns, x, length, update, to, y_stride); break;
          default: multiply<4>(values, columns, x, length, update, to, y_stride);
        }
        columns += length;
        row += rows;
      }
    });
  }

  void describe(Info& info) const override {
    int64_t groups = 0;
    for (const Part& part : parts_) groups += static_cast<int64_t>(part.together.size());
    info.add("parts", static_cast<int64_t>(parts_.size()));
    info.add("groups_of_rows", groups);
    info.add("index_bytes", static_cast<int64_t>(columns_.bytes()));
  }

 private:
  struct Part {
    int64_t row;
    int64_t columns = 0;            // how many, then where they begin
    std::vector<uint8_t> together;  // rows of each group
  };

  static void find_groups(const Matrix& A, Part& part, int64_t end) {
    for (int64_t row = part.row; row < end;) {
      int64_t rows = 1;
      while (rows < most_together && row + rows < end && same_columns(A, row + rows - 1)) ++rows;
      part.together.push_back(static_cast<uint8_t>(rows));
      part.columns += A.begin(row + 1) - A.begin(row);
      row += rows;
    }
  }

  /// Rows of `length` entries that lie one after the other. Memory is asked for in its own order, although the rows are
  /// read side by side.
  template <int Rows>
  [[gnu::always_inline]] void multiply(const S* values, const I* columns, const S* x, int64_t length,
                                       const Update<S>& update, S* y, int64_t y_stride) const {
    const char* ahead = reinterpret_cast<const char*>(values) + bytes_ahead;
    row_product::RowSum<S> sums[Rows] = {};
    Pack<R, 8> v, w;
    int64_t i = 0;
    for (; i + step <= length; i += step) {
      prefetch(reinterpret_cast<const char*>(columns + i) + row_product::index_bytes_ahead);
      row_product::gather_entries(w, x, columns + i);
      for (int r = 0; r < Rows; ++r) {
        prefetch(ahead);
        ahead += step * sizeof(S);
        load(v, reinterpret_cast<const R*>(values + r * length + i));
        sums[r].add(v, w);
      }
    }
    prefetch(ahead);
    for (; i < length; ++i)
      for (int r = 0; r < Rows; ++r) sums[r].add_one(values[r * length + i], x[columns[i]]);
    for (int r = 0; r < Rows; ++r) update(y[r * y_stride], sums[r].total(conjugate_));
  }

  bool conjugate_;
  std::vector<Part> parts_;
  SharedParts turns_;
  Buffer columns_;
};

inline std::string unsupported(const Desc& desc) {
  if (transposes(desc.op)) return "op is a transposed one";
  if (desc.vectors != 1) return "for one vector";
  if (desc.x.extents[0] > 1 && desc.x.strides[0] != 1) return "x is strided";
  if (desc.A.nnz == 0) return "A has no entries";
  if (desc.rows.longest > most_of_one_thread(desc.A.nnz)) return "a row is long enough to be shared by threads";
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
