// What operations must give, computed by plain host loops in long double, with a bound of the error that any order of
// summation in the element type may make.
#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "support/host_csr.hpp"

namespace kkc_test {

using Wide = std::complex<long double>;

template <class T>
Wide wide(const T& v) {
  if constexpr (std::is_floating_point_v<T>)
    return {static_cast<long double>(v), 0};
  else
    return {static_cast<long double>(v.real()), static_cast<long double>(v.imag())};
}

/// std::complex's own product repairs NaN at great cost.
template <class R>
std::complex<R> times(const std::complex<R>& a, const std::complex<R>& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}
inline long double times(long double a, long double b) { return a * b; }

/// Without std::abs's care for squares that leave the range, which those of the elements under test do not in R.
template <class R>
R magnitude(const std::complex<R>& v) {
  return v.imag() == 0 ? std::fabs(v.real()) : std::sqrt(v.real() * v.real() + v.imag() * v.imag());
}
inline long double magnitude(long double v) { return std::fabs(v); }

/// In what expectations for elements of T are computed: real for real ones, which takes a third of the time.
template <class T>
using WideOf = std::conditional_t<std::is_floating_point_v<T>, long double, Wide>;

template <class T>
WideOf<T> widen(const T& v, bool conjugated = false) {
  if constexpr (std::is_floating_point_v<T>)
    return v;
  else
    return conjugated ? std::conj(wide(v)) : wide(v);
}

template <class T>
struct RealOf {
  using type = T;
};
template <class T>
struct RealOf<std::complex<T>> {
  using type = T;
};
template <class T>
inline constexpr long double epsilon = std::numeric_limits<typename RealOf<T>::type>::epsilon();

struct Expected {
  std::vector<Wide> values;
  std::vector<long double> bounds;
};

/// "" when every element is within its bound (or both are not numbers), else the first one that is not.
template <class T>
std::string mismatch(const Expected& expected, const std::vector<T>& got) {
  std::ostringstream text;
  text.precision(17);
  if (got.size() != expected.values.size()) {
    text << "size " << got.size() << ", expected " << expected.values.size();
    return text.str();
  }
  for (size_t i = 0; i < got.size(); ++i) {
    const Wide g = wide(got[i]), e = expected.values[i];
    const bool not_number = std::isnan(e.real()) || std::isnan(e.imag());
    const bool good =
        not_number ? std::isnan(g.real()) || std::isnan(g.imag()) : magnitude(g - e) <= expected.bounds[i];
    if (good) continue;
    text << "element " << i << " is " << got[i] << ", expected (" << e.real() << ", " << e.imag() << ") within "
         << expected.bounds[i];
    return text.str();
  }
  return {};
}

/// beta y + alpha op(A) x for one vector. beta = 0 does not read y, alpha = 0 neither A nor x.
template <class T>
Expected spmv_expected(kkc_op_t op, T alpha, const HostCsr<T>& A, const std::vector<T>& x, T beta,
                       const std::vector<T>& y) {
  const bool transposed = op == KKC_OP_TRANSPOSE || op == KKC_OP_HERMITIAN;
  const bool conjugated = op == KKC_OP_CONJUGATE || op == KKC_OP_HERMITIAN;
  const auto n = static_cast<size_t>(transposed ? A.cols : A.rows);
  std::vector<WideOf<T>> values(n);
  std::vector<long double> bounds(n);
  std::vector<int64_t> terms(n, 0);
  if (alpha != T{})
    for (int64_t row = 0; row < A.rows; ++row)
      for (auto p = static_cast<size_t>(A.offsets[static_cast<size_t>(row)]);
           p < static_cast<size_t>(A.offsets[static_cast<size_t>(row) + 1]); ++p) {
        const auto from = static_cast<size_t>(transposed ? row : A.indices[p]),
                   to = static_cast<size_t>(transposed ? A.indices[p] : row);
        const auto term = times(times(widen(alpha), widen(A.values[p], conjugated)), widen(x[from]));
        values[to] += term;
        bounds[to] += magnitude(term);
        ++terms[to];
      }
  for (size_t i = 0; i < n; ++i) {
    if (beta != T{}) {
      const auto term = times(widen(beta), widen(y[i]));
      values[i] += term;
      bounds[i] += magnitude(term);
    }
    bounds[i] *= static_cast<long double>(terms[i] + 8) * epsilon<T>;
  }
  return {{values.begin(), values.end()}, std::move(bounds)};
}

}  // namespace kkc_test
