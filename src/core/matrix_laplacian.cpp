#include "matrix_laplacian.hpp"

#include <cmath>

#include "dispatch.hpp"
#include "matrix_coordinates.hpp"
#include "matrix_parallel.hpp"
#include "matrix_properties.hpp"

namespace kkc {
namespace {

constexpr int64_t grain = 1 << 16;

template <class I, class O>
HostCsr with_diagonal(const CsrRef& a, Mirror mirror, const std::shared_ptr<const Memory>& memory) {
  const int64_t count = a.nnz + a.rows;
  const Buffer row_indices = host_array<I>(memory, count), col_indices = host_array<I>(memory, count);
  I* const rows = row_indices.as<I>();
  I* const cols = col_indices.as<I>();
  const auto* offsets = static_cast<const O*>(a.offsets);
  const auto* indices = static_cast<const I*>(a.indices);
  const int parts = part_count(host_threads(*memory), a.nnz, grain);
  run_parts(parts, [&](int part) {
    const Range r = rows_of<O>(offsets, a.rows, static_cast<O>(a.base), part, parts);
    for (int64_t i = r.begin; i < r.end; ++i) {
      int64_t at = offsets[i] - a.base + i;  // behind i earlier diagonals
      rows[at] = cols[at] = static_cast<I>(i);
      for (int64_t k = offsets[i] - a.base; k < offsets[i + 1] - a.base; ++k) {
        rows[++at] = static_cast<I>(i);
        cols[at] = static_cast<I>(indices[k] - a.base);
      }
    }
  });
  return csr_from_coordinates({a.pair, Scalar::none, a.rows, a.cols, count, rows, cols, nullptr}, mirror, memory);
}

}  // namespace

HostCsr matrix_laplacian(const CsrRef& a, double shift, const std::shared_ptr<const Memory>& memory) {
  require(a.rows == a.cols, KKC_STATUS_SIZE_MISMATCH, "A has ", a.rows, " rows and ", a.cols,
          " columns, expected a square matrix");
  require(std::isfinite(shift), KKC_STATUS_INVALID_ARGUMENT, "shift is ", shift, ", expected a finite number");
  const bool symmetric = (validate_matrix(a, memory) & KKC_MATRIX_SYMMETRIC_PATTERN) != 0;
  HostCsr out;
  dispatch(a.scalar == Scalar::none ? Scalar::f64 : a.scalar, a.pair, [&](auto s, auto p) {
    using V = typename decltype(s)::type;
    using I = typename decltype(p)::ordinal;
    using O = typename decltype(p)::offset;
    out = with_diagonal<I, O>(a, symmetric ? Mirror::none : Mirror::same, memory);
    out.scalar = scalar_of<V>;
    out.values = host_array<V>(memory, out.nnz);
    const O* const offsets = out.offsets.template as<O>();
    const I* const indices = out.indices.template as<I>();
    V* const values = out.values.template as<V>();
    const int parts = part_count(host_threads(*memory), out.nnz, grain);
    run_parts(parts, [&](int part) {
      const Range r = rows_of<O>(offsets, out.rows, O{0}, part, parts);
      for (int64_t i = r.begin; i < r.end; ++i) {
        const double degree = static_cast<double>(offsets[i + 1] - offsets[i] - 1);
        for (int64_t k = offsets[i]; k < offsets[i + 1]; ++k)
          values[k] = V(static_cast<Real<V>>(indices[k] == i ? degree + shift : -1.0));
      }
    });
  });
  return out;
}

}  // namespace kkc
