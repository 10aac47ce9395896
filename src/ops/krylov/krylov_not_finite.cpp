#include "krylov_not_finite.hpp"

#include <cmath>
#include <complex>
#include <cstring>
#include <vector>

#include "core/dispatch.hpp"
#include "core/strided.hpp"
#include "ops/norm2/norm2.hpp"

namespace kkc::krylov {
namespace {

template <class T>
bool is_finite(const T& a) {
  if constexpr (is_complex<T>)
    return std::isfinite(a.real()) && std::isfinite(a.imag());
  else
    return std::isfinite(a);
}

/// Place of the first element that is not finite, or -1.
int64_t first_not_finite(Scalar scalar, const void* data, int64_t count, int64_t stride) {
  int64_t found = -1;
  dispatch_scalar(AllScalars{}, scalar, [&]<class T>(Type<T>) {
    for (int64_t i = 0; i < count && found < 0; ++i)
      if (!is_finite(static_cast<const T*>(data)[i * stride])) found = i;
  });
  return found;
}

template <class F>
void with_indices(IndexPair pair, const F& f) {
  dispatch_index_pair(AllIndexPairs{}, pair, [&]<class P>(P) { f(typename P::ordinal{}, typename P::offset{}); });
}

}  // namespace

double norm_of(Context& context, const DenseRef& vector, void* result) {
  Queue& queue = context.queue();
  const Scalar scalar = vector.scalar;
  DenseRef norm{};
  norm.scalar = scalar == Scalar::c64 ? Scalar::f32 : scalar == Scalar::c128 ? Scalar::f64 : scalar;
  norm.data = result;
  char raw[sizeof(double)];
  queue.run([&] {
    only_implementation<norm2::Implementation>(queue, "norm2").run(queue, context.scratch(), {vector, norm});
    queue.copy(raw, result, size_of(norm.scalar));
  });
  double wide;
  float narrow;
  std::memcpy(&wide, raw, sizeof wide);
  std::memcpy(&narrow, raw, sizeof narrow);
  return norm.scalar == Scalar::f32 ? static_cast<double>(narrow) : wide;
}

void refuse_not_finite(Queue& queue, const DenseRef& vector, const char* argument) {
  std::vector<char> host(static_cast<size_t>(span_of(vector)) * size_of(vector.scalar));
  queue.run([&] { queue.copy(host.data(), vector.data, host.size()); });
  const int64_t row = first_not_finite(vector.scalar, host.data(), vector.extents[0], vector.strides[0]);
  require(row < 0, KKC_STATUS_INVALID_ARGUMENT, argument, " holds NaN or infinity in row ", row,
          " (counted from 0), expected finite numbers");
}

void refuse_not_finite(const Matrix& A, const char* argument) {
  const HostPattern host(A, true);
  const CsrRef& a = host.ref();
  const int64_t entry = first_not_finite(a.scalar, a.values, a.nnz, 1);
  if (entry < 0) return;
  with_indices(a.pair, [&]<class I, class O>(I, O) {
    const auto* const offsets = static_cast<const O*>(a.offsets);
    int64_t row = 0;
    while (static_cast<int64_t>(offsets[row + 1]) - a.base <= entry) ++row;
    fail(KKC_STATUS_INVALID_ARGUMENT, argument, " holds NaN or infinity in row ", row, ", column ",
         static_cast<int64_t>(static_cast<const I*>(a.indices)[entry]) - a.base,
         " (counted from 0), expected finite numbers");
  });
}

void refuse_diagonal(const Matrix& A, const char* argument, const char* what) {
  const HostPattern host(A, true);
  const CsrRef& a = host.ref();
  with_indices(a.pair, [&]<class I, class O>(I, O) {
    const auto* const offsets = static_cast<const O*>(a.offsets);
    const auto* const indices = static_cast<const I*>(a.indices);
    dispatch_scalar(AllScalars{}, a.scalar, [&]<class T>(Type<T>) {
      for (int64_t row = 0; row < a.rows; ++row) {
        T sum{};
        bool present = false;
        for (auto p = static_cast<int64_t>(offsets[row]) - a.base; p < static_cast<int64_t>(offsets[row + 1]) - a.base;
             ++p)
          if (static_cast<int64_t>(indices[p]) - a.base == row) {
            sum += static_cast<const T*>(a.values)[p];
            present = true;
          }
        require(present, KKC_STATUS_INVALID_ARGUMENT, argument, " has no diagonal entry in row ", row,
                " (counted from 0), expected one in every row for ", what);
        require(sum != T{}, KKC_STATUS_ZERO_PIVOT, argument, "'s diagonal is zero in row ", row,
                " (counted from 0), by which ", what, " divides");
      }
    });
  });
  fail(KKC_STATUS_ZERO_PIVOT, argument, "'s diagonal holds numbers too small for ", what, ", which divides by them");
}

}  // namespace kkc::krylov
