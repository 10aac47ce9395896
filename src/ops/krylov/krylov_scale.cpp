// krylov: systems whose numbers have squares beyond the range of double are solved as A_scale A y = b_scale b by powers
// of two, which change no digit.
#include <algorithm>
#include <cmath>

#include "core/dispatch.hpp"
#include "krylov_not_finite.hpp"
#include "krylov_solve.hpp"
#include "ops/axpby/axpby.hpp"

namespace kkc::krylov {
namespace {

/// Whether methods may multiply and divide numbers of that size as they are.
bool moderate(double size, double most) { return size >= 1 / most && size <= most; }

/// The power of two that takes a size to about 1, as far as the element type holds it.
double scale_for(double size, bool narrow) {
  const int most = narrow ? 120 : 1000;
  return std::ldexp(1.0, std::clamp(-std::ilogb(size), -most, most));
}

}  // namespace

void store(Scalar scalar, double value, char* place) {
  dispatch_scalar(AllScalars{}, scalar, [&](auto type) {
    using T = typename decltype(type)::type;
    *reinterpret_cast<T*>(place) = static_cast<T>(value);
  });
}

void Solver::scale(const DenseRef& v, double factor) {
  alignas(16) char by[16] = {};
  store(state_.scalar, factor, by);
  only_implementation<axpby::Implementation>(queue_, "axpby")
      .run(queue_, context_.scratch(), {{by, false}, {zero_, false}, v, v});
}

double Solver::size_of_product() {
  const Args kept = args_;
  const Method method = settings_.method;
  void* const r = method == Method::gmres ? args_.basis : args_.r;
  void* const z = method == Method::bicgstab ? args_.half : args_.z;
  void* const out = method == Method::gmres ? static_cast<char*>(args_.basis) + args_.stride * size_of(state_.scalar)
                    : method == Method::bicgstab ? args_.v
                                                 : args_.q;
  queue_.run([&] {
    copy(b_, vector(r));
    scale(vector(r), scale_for(norm_b_, narrow_));
    args_.basis = r;
    args_.columns = 0;
    args_.z = z;
    progress_.scale = 1;
    queue_.copy(args_.progress, &progress_, sizeof progress_);
    step(Step::gmres_next);
  });
  double size = 0;
  if (!args_.external || precondition(r, z)) {
    queue_.run([&] { product(z != nullptr ? z : r, out); });
    size = norm_of(context_, vector(out), workspace_.norm);
  }
  args_ = kept;
  return size;
}

void Solver::choose_scales() {
  if (norm_b_ == 0) return;
  // A tolerance leaves residuals far smaller than b.
  if (!moderate(norm_b_, narrow_ ? 1e10 : 1e30)) b_scale_ = scale_for(norm_b_, narrow_);
  // What M makes of A, the values of A do not tell.
  if (norm_A_ > 0 && !moderate(norm_A_, narrow_ ? 1e20 : 1e60)) {
    const double size = size_of_product();
    if (size > 0 && std::isfinite(size)) A_scale_ = scale_for(size, narrow_);
  }
  double by = b_scale_ / A_scale_;
  const double most = narrow_ ? 1e37 : 1e300;
  if (!(by < most && by > 1 / most && norm_x_ * by < most)) by = b_scale_ = A_scale_ = 1;
  store(state_.scalar, A_scale_, A_factor_);
  store(state_.scalar, -A_scale_, minus_A_factor_);
  bound_ *= b_scale_;
  if (by != 1 && !x_is_zero_) queue_.run([&] { scale(vector(args_.x[0]), by); });
}

void Solver::scale_back(End& end) {
  const double by = A_scale_ / b_scale_;
  for (double& norm : history_) norm = told(norm);
  if (true_norm_) true_norm_ = told(*true_norm_);
  bound_ = told(bound_);
  if (b_scale_ == 1 && A_scale_ == 1) return;
  b_scale_ = A_scale_ = 1;
  store(state_.scalar, -1, minus_A_factor_);
  queue_.run([&] { scale(vector(args_.x[0]), by); });
  residual(args_.r);
  // The same but for the order of a sum, unless x has left the range.
  constexpr double same = 1 + 1e-6;
  const double norm = norm_of(context_, vector(args_.r), workspace_.norm);
  if (end.status == KKC_STATUS_SUCCESS && norm <= same * bound_) return;
  true_norm_ = norm;
  if (end.status == KKC_STATUS_SUCCESS)
    end = {KKC_STATUS_BREAKDOWN,
           cat("the solution leaves the range of ", kkc::name(state_.scalar),
               ": as far as that holds it ||b - A x|| is ", *true_norm_, ", expected at most ", bound_)};
}

}  // namespace kkc::krylov
