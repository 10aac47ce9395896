// Linear systems through kkc_krylov: matrices that each method solves, and residuals by plain loops.
#pragma once

#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include "support/output_case.hpp"
#include "support/spmv_case.hpp"

namespace kkc_test {

template <class T>
inline constexpr bool is_complex_type = !std::is_floating_point_v<T>;

template <class T>
T conjugate(const T& a) {
  if constexpr (is_complex_type<T>)
    return std::conj(a);
  else
    return a;
}

/// The 5-point grid of side x side points with `shift` on the diagonal. Hermitian: entries of modulus 1, for complex T
/// with any argument. Else a flow across the grid makes opposite entries differ.
template <class T>
HostCsr<T> grid_system(Random& random, int64_t side, bool hermitian, double shift) {
  const auto n = side * side;
  std::vector<std::vector<std::pair<int64_t, T>>> rows(static_cast<size_t>(n));
  const auto link = [&](int64_t i, int64_t j) {
    T a = T(-1), b = T(-1);
    if constexpr (is_complex_type<T>) {
      const double angle = 6.28 * static_cast<double>(random() % 1000) / 1000;
      a = b = T(static_cast<typename T::value_type>(-std::cos(angle)),
                static_cast<typename T::value_type>(std::sin(angle)));
      b = std::conj(a);
    }
    if (!hermitian) {
      a *= T(1.4f);
      b *= T(0.6f);
    }
    rows[static_cast<size_t>(i)].push_back({j, a});
    rows[static_cast<size_t>(j)].push_back({i, b});
  };
  for (int64_t i = 0; i < n; ++i) {
    if (i % side + 1 < side) link(i, i + 1);
    if (i + side < n) link(i, i + side);
    rows[static_cast<size_t>(i)].push_back({i, T(static_cast<float>(4 + shift))});
  }
  HostCsr<T> A;
  A.rows = A.cols = n;
  for (auto& row : rows) {
    for (size_t k = row.size(); k > 1; --k) std::swap(row[k - 1], row[random() % k]);  // rows need not be sorted
    for (const auto& [column, value] : row) {
      A.indices.push_back(column);
      A.values.push_back(value);
    }
    A.offsets.push_back(A.nnz());
  }
  return A;
}

template <class T>
std::vector<T> times_vector(const HostCsr<T>& A, const std::vector<T>& x) {
  std::vector<T> y(static_cast<size_t>(A.rows));
  for (size_t i = 0; i < y.size(); ++i) {
    std::complex<double> sum = 0;
    for (int64_t p = A.offsets[i]; p < A.offsets[i + 1]; ++p)
      sum += std::complex<double>(A.values[static_cast<size_t>(p)]) *
             std::complex<double>(x[static_cast<size_t>(A.indices[static_cast<size_t>(p)])]);
    if constexpr (is_complex_type<T>)
      y[i] = T(static_cast<typename T::value_type>(sum.real()), static_cast<typename T::value_type>(sum.imag()));
    else
      y[i] = static_cast<T>(sum.real());
  }
  return y;
}

template <class T>
double norm_of(const std::vector<T>& v) {
  double sum = 0;
  for (const T& e : v) sum += std::norm(std::complex<double>(e));
  return std::sqrt(sum);
}

/// ||b - A x||
template <class T>
double residual_of(const HostCsr<T>& A, const std::vector<T>& x, const std::vector<T>& b) {
  std::vector<T> r = times_vector(A, x);
  for (size_t i = 0; i < r.size(); ++i) r[i] = b[i] - r[i];
  return norm_of(r);
}

/// b and x on a device, each `stride` elements apart, whose gaps must stay as they are.
template <class T>
class Unknowns {
 public:
  Unknowns(const Context& ctx, const std::vector<T>& b, const std::vector<T>& x, int64_t stride = 1)
      : stride_(static_cast<size_t>(stride)), b_array_(ctx, spread(b)), x_array_(ctx, spread(x)) {
    const std::vector<int64_t> extents{static_cast<int64_t>(b.size())};
    const kkc_layout_t layout = stride == 1 ? KKC_LAYOUT_LEFT : KKC_LAYOUT_STRIDED;
    const std::vector<int64_t> strides = stride == 1 ? std::vector<int64_t>{} : std::vector<int64_t>{stride};
    b_view = wrap(ctx, b_array_.data(), extents, layout, strides);
    x_view = wrap(ctx, x_array_.data(), extents, layout, strides);
  }
  void set_x(const std::vector<T>& x) { x_array_.set(spread(x)); }
  void set_b(const std::vector<T>& b) { b_array_.set(spread(b)); }
  std::vector<T> x() const {
    const std::vector<T> all = x_array_.get();
    std::vector<T> x;
    for (size_t i = 0; i < all.size(); ++i) {
      if (i % stride_ == 0)
        x.push_back(all[i]);
      else
        gaps_kept = gaps_kept && all[i] == T(7);
    }
    return x;
  }

  View b_view, x_view;
  mutable bool gaps_kept = true;

 private:
  std::vector<T> spread(const std::vector<T>& v) const {
    std::vector<T> all(v.size() * stride_, T(7));
    for (size_t i = 0; i < v.size(); ++i) all[i * stride_] = v[i];
    return all;
  }
  size_t stride_;
  Array<T> b_array_, x_array_;
};

struct Outcome {
  kkc_status_t status;
  std::string sentence;
  int64_t iterations = 0;
  double residual = 0;
  std::vector<double> history;
};

/// Executes, and reads how it ended.
inline Outcome solve(const Plan& plan, const kkc_matrix_t* A, const kkc_view_t* b, kkc_view_t* x) {
  Outcome outcome;
  outcome.status = kkc_krylov_execute(plan, A, b, x);
  if (outcome.status != KKC_STATUS_SUCCESS) outcome.sentence = kkc_last_error();
  kkc_status_t status = 0;
  if (kkc_krylov_result(plan, &status, &outcome.iterations, &outcome.residual) != KKC_STATUS_SUCCESS) return outcome;
  int64_t count = 0;
  ok(kkc_krylov_history(plan, 0, nullptr, &count));
  outcome.history.resize(static_cast<size_t>(count));
  ok(kkc_krylov_history(plan, count, outcome.history.data(), &count));
  return outcome;
}

inline bool says(const std::string& sentence, const std::string& part) {
  return sentence.find(part) != std::string::npos;
}

}  // namespace kkc_test
