// krylov, gmres: Y. Saad, M. H. Schultz, GMRES: a generalized minimal residual algorithm for solving nonsymmetric
// linear systems, SIAM J. Sci. Stat. Comput. 7 (1986), sections 3 and 4; preconditioned from the right (Saad, Iterative
// Methods for Sparse Linear Systems, 2003, section 9.3.2), so that the norm it minimises is that of the system's
// residual.
#include <cmath>
#include <complex>
#include <limits>

#include "krylov_not_finite.hpp"
#include "krylov_solve.hpp"

namespace kkc::krylov {
namespace {

using Complex = std::complex<double>;

/// The least-squares problem of one cycle: Hessenberg columns, made triangular by Givens rotations as they come.
class LeastSquares {
 public:
  /// resolution: of the element type; what is left of a column below that is rounding.
  LeastSquares(int64_t most, double norm, double resolution)
      : most_(static_cast<size_t>(most)),
        resolution_(resolution),
        triangle_((most_ + 1) * most_),
        cosines_(most_),
        sines_(most_),
        g_(most_ + 1) {
    g_[0] = norm;
  }

  /// Column j = count(), j + 2 numbers; returns the residual's norm with it.
  double append(const Number* column) {
    Complex* const h = &triangle_[count_ * (most_ + 1)];
    double squares = 0;
    for (size_t i = 0; i <= count_ + 1; ++i) {
      h[i] = {column[i].re, column[i].im};
      squares += std::norm(h[i]);
    }
    for (size_t i = 0; i < count_; ++i) rotate(i, h[i], h[i + 1]);
    const double length = std::hypot(std::abs(h[count_]), std::abs(h[count_ + 1]));
    // A column of zeros takes nothing off the residual.
    const bool zeros = length <= 8 * resolution_ * std::sqrt(squares);
    if (zeros) h[count_] = h[count_ + 1] = 0;
    cosines_[count_] = zeros ? Complex(0) : h[count_] / length;
    sines_[count_] = zeros ? Complex(1) : h[count_ + 1] / length;
    singular_ = singular_ || zeros;
    rotate(count_, h[count_], h[count_ + 1]);
    g_[count_ + 1] = 0;
    rotate(count_, g_[count_], g_[count_ + 1]);
    ++count_;
    return std::abs(g_[count_]);
  }
  int64_t count() const { return static_cast<int64_t>(count_); }
  /// Whether the matrix maps a combination of the basis to nothing.
  bool singular() const { return singular_; }
  /// Coefficients of the best correction; 0 along directions that the matrix maps to nothing.
  std::vector<Number> solve() const {
    std::vector<Complex> y(count_);
    for (size_t i = count_; i-- > 0;) {
      Complex sum = g_[i];
      for (size_t k = i + 1; k < count_; ++k) sum -= triangle_[k * (most_ + 1) + i] * y[k];
      const Complex pivot = triangle_[i * (most_ + 1) + i];
      y[i] = pivot == Complex(0) ? Complex(0) : sum / pivot;
    }
    std::vector<Number> numbers;
    for (const Complex& e : y) numbers.push_back({e.real(), e.imag()});
    return numbers;
  }

 private:
  void rotate(size_t i, Complex& a, Complex& b) const {
    const Complex upper = std::conj(cosines_[i]) * a + std::conj(sines_[i]) * b;
    b = cosines_[i] * b - sines_[i] * a;
    a = upper;
  }

  size_t most_, count_ = 0;
  double resolution_;
  bool singular_ = false;
  std::vector<Complex> triangle_, cosines_, sines_, g_;
};

}  // namespace

End Solver::gmres() {
  const int64_t m = settings_.restart, size = static_cast<int64_t>(size_of(state_.scalar));
  const auto basis = [&](int64_t j) { return static_cast<char*>(workspace_.args.basis) + j * args_.stride * size; };
  std::vector<Number> columns(static_cast<size_t>(m * workspace_.hessenberg_stride));
  Number* const hessenberg = workspace_.args.hessenberg;
  End end;
  void* saved = nullptr;  // x before the last correction, when its residual had norm saved_norm
  double saved_norm = 0;
  // Where numbers leave their range the last correction may have spoiled x.
  const auto keep_the_better = [&] {
    if (saved == nullptr || end.status == KKC_STATUS_SUCCESS || *true_norm_ <= saved_norm) return;
    queue_.run([&] { copy(vector(saved), vector(args_.x[0])); });
    true_norm_ = saved_norm;
  };
  for (;;) {
    residual(basis(0));
    args_.columns = 0;
    queue_.run([&] { step(Step::gmres_start); });
    look();
    history_.resize(static_cast<size_t>(issued_));
    history_.push_back(progress_.norm);
    if (ends_at_start(end)) {
      if (!true_norm_) true_norm_ = progress_.norm;
      keep_the_better();
      return end;
    }
    saved_norm = progress_.norm;
    queue_.run([&] { step(Step::gmres_next); });

    LeastSquares problem(m, progress_.norm,
                         narrow_ ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon());
    double norm = progress_.norm;
    bool finite = true, goes_on = true;
    for (int64_t j = 0; j < m && issued_ < settings_.max_iterations && goes_on && !failure_;) {
      int64_t count = std::min(batch(), m - j);
      for (int64_t k = j; k < j + count; ++k) {
        if (args_.external && !precondition(basis(k), args_.z)) {
          count = k - j;
          break;
        }
        queue_.run([&] {
          product(args_.z != nullptr ? args_.z : basis(k), basis(k + 1));
          args_.columns = k + 1;
          args_.hessenberg = hessenberg + k * workspace_.hessenberg_stride;
          step(Step::gmres_orthogonalize);
          if (k + 1 < m) step(Step::gmres_next);
        });
      }
      if (count == 0) break;
      const int64_t at = j * workspace_.hessenberg_stride;
      queue_.run([&] {
        queue_.copy(&columns[static_cast<size_t>(at)], hessenberg + at,
                    static_cast<size_t>(count * workspace_.hessenberg_stride) * sizeof(Number));
      });
      for (int64_t k = 0; k < count && goes_on; ++k, ++j) {
        const double next = problem.append(&columns[static_cast<size_t>(at + k * workspace_.hessenberg_stride)]);
        ++issued_;
        finite = std::isfinite(next);
        norm = next;
        history_.push_back(norm);
        converged_ = norm <= aim_;
        goes_on = !converged_ && finite && !problem.singular();
      }
    }
    progress_.norm = norm;
    if (!finite || problem.count() == 0) {
      true_norm_ = saved_norm;
      if (finite) return *failure_;
      return {KKC_STATUS_BREAKDOWN,
              cat("gmres broke down after ", issued_, " iterations: the residual has norm ", told(norm))};
    }
    if (!goes_on) failure_.reset();  // it came behind the end

    const std::vector<Number> y = problem.solve();
    saved = basis(problem.count());
    queue_.run([&] {
      copy(vector(args_.x[0]), vector(saved));
      queue_.copy(args_.correction, y.data(), y.size() * sizeof(Number));
      args_.columns = problem.count();
      step(Step::gmres_combine);
    });
    if (args_.external) {
      void* const sum = args_.z;
      args_.z = basis(0);
      // Also after a failure, so that x is as good as it got.
      if (precondition(sum, args_.z)) queue_.run([&] { step(Step::add); });
      args_.z = sum;
    }
    if (!failure_ && (!problem.singular() || converged_)) continue;
    residual(basis(0));
    true_norm_ = norm_of(context_, vector(basis(0)), workspace_.norm);
    history_.back() = *true_norm_;
    if (*true_norm_ <= bound_) return end;
    end = failure_ ? *failure_
                   : End{KKC_STATUS_BREAKDOWN,
                         cat("gmres broke down after ", issued_,
                             " iterations: A maps a combination of the basis to zero, so it is singular; the residual "
                             "has norm ",
                             told(*true_norm_))};
    keep_the_better();
    return end;
  }
}

}  // namespace kkc::krylov
