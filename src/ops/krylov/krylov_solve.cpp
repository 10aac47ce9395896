// krylov: what the methods share, and the two whose scalars stay in the device's memory: cg and bicgstab.
#include "krylov_solve.hpp"

#include <algorithm>
#include <cmath>

#include "core/dispatch.hpp"
#include "core/strided.hpp"
#include "krylov_not_finite.hpp"
#include "ops/matrix_diagonal/matrix_diagonal.hpp"
#include "ops/spmv/spmv_plan.hpp"
#include "ops/view_copy/view_copy.hpp"
#include "ops/view_fill/view_fill.hpp"

namespace kkc::krylov {
namespace {

constexpr size_t rounded(size_t bytes) { return (bytes + memory_alignment - 1) / memory_alignment * memory_alignment; }

/// A recurrence's residual drifts from b - A x by rounding: after a start anew it must come to that part of the bound.
constexpr double aim_again = 0.5;
/// A start anew that leaves more than this of the residual before would go on for ever.
constexpr double least_progress = 0.5;
/// Squares of norms beyond these leave the range of double.
constexpr double least_norm = 1e-140, most_norm = 1e140;

}  // namespace

Workspace::Workspace(const State& state, void* base) {
  size_t at = 0;
  const auto take = [&](size_t size) {
    void* const place = base == nullptr ? nullptr : static_cast<char*>(base) + at;
    at += rounded(size);
    return place;
  };
  const size_t one = rounded(static_cast<size_t>(state.n) * size_of(state.scalar));
  const auto vector = [&] { return take(one); };
  const Settings& s = state.settings;
  args.scalar = state.scalar;
  args.n = state.n;
  args.progress = static_cast<Progress*>(take(sizeof(Progress)));
  norm = take(sizeof(double));
  own_x = state.own_x ? vector() : nullptr;
  history = nullptr;
  hessenberg_stride = s.restart + 1;
  if (s.method == Method::gmres) {
    const auto m = static_cast<size_t>(s.restart);
    args.hessenberg = static_cast<Number*>(take((m + 1) * m * sizeof(Number)));
    args.correction = static_cast<Number*>(take((m + 1) * sizeof(Number)));
    args.basis = take((m + 1) * one);
    args.stride = static_cast<int64_t>(one / size_of(state.scalar));
    args.r = args.basis;
    args.z = vector();
  } else {
    history = static_cast<double*>(
        take(static_cast<size_t>(std::min(s.max_iterations + 1, history_capacity)) * sizeof(double)));
    args.r = vector();
    args.p = vector();
    if (s.method == Method::cg) {
      args.z = vector();
      args.q = vector();
    } else {
      for (void** v : {&args.shadow, &args.v, &args.t, &args.direction, &args.half, &args.x[1]}) *v = vector();
    }
  }
  bytes = at;
}

Solver::Solver(Plan& plan, State& state, const Matrix& A, const View& b, View& x)
    : plan_(plan),
      state_(state),
      settings_(state.settings),
      context_(plan.context()),
      queue_(plan.context().queue()),
      narrow_(state.scalar == Scalar::f32 || state.scalar == Scalar::c64),
      A_(A),
      b_(b.ref()),
      x_(x.ref()),
      workspace_(state, plan.workspace()),
      args_(workspace_.args) {
  args_.x[0] = state.own_x ? workspace_.own_x : x_.data;
  args_.inverse = state.inverse.data();
  args_.external = state.preconditioner != nullptr;
  if (args_.inverse == nullptr && !args_.external) {
    args_.z = settings_.method == Method::gmres ? nullptr : args_.r;
    args_.direction = args_.p;
    args_.half = args_.r;
  }
  store(state.scalar, 1, one_);
  store(state.scalar, 1, A_factor_);
  store(state.scalar, -1, minus_A_factor_);
  store(state.scalar, 0, zero_);
}

DenseRef Solver::vector(const void* data, int64_t stride) const {
  DenseRef v{};
  v.scalar = state_.scalar;
  v.rank = 1;
  v.extents[0] = state_.n;
  v.strides[0] = stride;
  v.data = const_cast<void*>(data);
  return v;
}

void Solver::copy(const DenseRef& from, const DenseRef& to) {
  only_implementation<view_copy::Implementation>(queue_, "view_copy").run(queue_, context_.scratch(), {from, to});
}

void Solver::fill_zero(const DenseRef& to) {
  view_fill::Args args{};
  args.view = to;
  only_implementation<view_fill::Implementation>(queue_, "view_fill").run(queue_, context_.scratch(), args);
}

void Solver::product(const void* x, void* y, const void* alpha, const void* beta) {
  auto& spmv = state_.product->as<spmv::State>();
  spmv.kernel->execute(queue_,
                       {{alpha, false}, {beta, false}, A_.ref(), vector(x), vector(y), state_.product->workspace()});
}

void Solver::residual(void* r) {
  queue_.run([&] {
    copy(b_, vector(r));
    if (b_scale_ != 1) scale(vector(r), b_scale_);
    if (!x_is_zero_) product(args_.x[0], r, minus_A_factor_, one_);
  });
  x_is_zero_ = false;
}

void Solver::step(Step step) { state_.implementation->run(queue_, context_.scratch(), step, args_); }

bool Solver::precondition(void* r, void* z) {
  try {
    state_.preconditioner->apply(r, z);
    return true;
  } catch (const Error& error) {
    failure_ = End{error.status(), error.what()};
    return false;
  }
}

void Solver::look() {
  queue_.run([&] { queue_.copy(&progress_, args_.progress, sizeof progress_); });
}

void Solver::tell() {
  progress_ = {};
  progress_.threshold = aim_;
  progress_.history = workspace_.history;
  progress_.iteration = issued_;
  queue_.run([&] { queue_.copy(args_.progress, &progress_, sizeof progress_); });
}

void Solver::take_history(int64_t end) {
  for (auto first = static_cast<int64_t>(history_.size()); first < end;) {
    const int64_t at = first % history_capacity, count = std::min(end - first, history_capacity - at);
    history_.resize(static_cast<size_t>(first + count));
    queue_.run([&] {
      queue_.copy(&history_[static_cast<size_t>(first)], workspace_.history + at,
                  static_cast<size_t>(count) * sizeof(double));
      queue_.synchronize();
    });
    first += count;
  }
}

double Solver::check_values(const Matrix& A, const char* argument) {
  DenseRef values = vector(A.ref().values);
  values.extents[0] = A.ref().nnz;
  const double norm = values.extents[0] > 0 ? norm_of(context_, values, workspace_.norm) : 0;
  if (!std::isfinite(norm)) refuse_not_finite(A, argument);
  return norm;
}

void Solver::check_numbers() {
  norm_b_ = norm_of(context_, b_, workspace_.norm);
  if (!std::isfinite(norm_b_)) refuse_not_finite(queue_, b_, "b");
  require(norm_b_ == 0 || (norm_b_ >= least_norm && norm_b_ <= most_norm), KKC_STATUS_INVALID_ARGUMENT, "b has norm ",
          norm_b_, ", expected 0 or ", least_norm, " to ", most_norm, ": scale the system");
  if (!settings_.from_zero) norm_x_ = norm_of(context_, x_, workspace_.norm);
  if (!std::isfinite(norm_x_)) refuse_not_finite(queue_, x_, "x");
  norm_A_ = check_values(A_, "A");
  bound_ = settings_.relative ? settings_.tolerance * norm_b_ : settings_.tolerance;
}

void Solver::invert_diagonal(const Matrix& A, const char* argument, const char* what, void* inverse) {
  const void* const kept = args_.inverse;
  args_.inverse = inverse;
  queue_.run([&] {
    only_implementation<matrix_diagonal::Implementation>(queue_, "matrix_diagonal")
        .run(queue_, {A.ref(), vector(inverse)});
    step(Step::invert);
  });
  args_.inverse = kept;
  look();
  // Numbers may be finite where their squares are not.
  if (!std::isfinite(progress_.norm) && !std::isfinite(norm_of(context_, vector(inverse), workspace_.norm)))
    refuse_diagonal(A, argument, what);
}

End Solver::run() {
  if (state_.n == 0) {
    state_.result.history = {0};
    return {};
  }
  check_numbers();
  tell();
  if (args_.inverse != nullptr) invert_diagonal(A_, "A", "preconditioner jacobi", state_.inverse.data());
  if (state_.preconditioner != nullptr) {
    // z and direction hold nothing yet.
    void* const room = args_.z != nullptr ? args_.z : args_.direction;
    for (const Factor& factor : state_.preconditioner->factors()) {
      check_values(*factor.matrix, factor.argument);
      if (factor.divides) invert_diagonal(*factor.matrix, factor.argument, "a triangular solve", room);
    }
    state_.preconditioner->begin();
  }
  if (state_.product_keeps_values) spmv::set_values(*state_.product, A_);

  // Where b = 0 no relative bound could be met but by the solution itself.
  const bool trivial = norm_b_ == 0 && settings_.relative;
  x_is_zero_ = settings_.from_zero || trivial;
  queue_.run([&] {
    if (x_is_zero_)
      fill_zero(vector(args_.x[0]));
    else if (state_.own_x)
      copy(x_, vector(args_.x[0]));
  });
  choose_scales();
  failure_.reset();
  aim_ = bound_;
  End end;
  if (trivial)
    history_ = {0};
  else
    end = settings_.method == Method::cg ? cg() : settings_.method == Method::bicgstab ? bicgstab() : gmres();
  finish(end);
  return end;
}

void Solver::finish(End& end) {
  if (progress_.best_at == 1) queue_.run([&] { copy(vector(args_.x[1]), vector(args_.x[0])); });
  if (workspace_.history != nullptr) take_history(issued_ + 1);
  scale_back(end);
  if (true_norm_ && !std::isfinite(*true_norm_)) {
    // No x of these numbers is as good as none.
    queue_.run([&] { fill_zero(vector(args_.x[0])); });
    true_norm_ = norm_b_;
  }
  queue_.run([&] {
    if (state_.own_x) copy(vector(args_.x[0]), x_);
    queue_.synchronize();
  });
  Result& result = state_.result;
  result.iterations = issued_;
  result.restarts = restarts_;
  result.bound = bound_;
  result.residual = true_norm_.value_or(history_.back());
  result.history = std::move(history_);
}

int64_t Solver::batch() {
  const int64_t count = std::min({settings_.check_every, settings_.max_iterations - issued_, history_capacity / 2});
  if (workspace_.history != nullptr && issued_ + count - static_cast<int64_t>(history_.size()) >= history_capacity)
    take_history(issued_);
  return count;
}

bool Solver::ends_at_start(End& end) {
  const double norm = progress_.norm;
  const bool again = started_;
  if (again) ++restarts_;
  started_ = true;
  if (norm <= bound_) return true;
  if (!std::isfinite(norm)) {
    true_norm_ = norm_of(context_, vector(args_.r), workspace_.norm);
    end = {KKC_STATUS_BREAKDOWN,
           cat("the residual b - A x has norm ", told(*true_norm_), " after ", issued_, " iterations of ",
               name(settings_.method), ": ", narrow_ ? "its numbers" : "the squares of its numbers",
               " leave the range of ", kkc::name(state_.scalar))};
    return true;
  }
  if (failure_) {
    end = *failure_;
    return true;
  }
  if (converged_ && norm > least_progress * last_start_) {
    end = {KKC_STATUS_NO_CONVERGENCE,
           cat("no convergence: ", name(settings_.method), " stagnates after ", issued_,
               " iterations, where ||b - A x|| is ", told(norm), ", expected at most ", told(bound_), ": ",
               kkc::name(state_.scalar), " does not resolve less for this system")};
    return true;
  }
  if (issued_ >= settings_.max_iterations) {
    end = slow();
    return true;
  }
  if (converged_) aim_ = aim_again * bound_;
  if (converged_ || !again) last_start_ = norm;
  converged_ = false;
  return false;
}

bool Solver::ends_after(End& end) {
  issued_ = progress_.iteration;
  converged_ = progress_.phase == Phase::converged;
  if (converged_) {
    failure_.reset();  // it came behind the end
    return false;
  }
  measure();
  if (*true_norm_ <= bound_) return true;
  end = failure_ ? *failure_ : progress_.phase == Phase::broken ? broken() : slow();
  return true;
}

void Solver::measure() {
  if (progress_.best_at == 1) queue_.run([&] { copy(vector(args_.x[1]), vector(args_.x[0])); });
  progress_.best_at = 0;
  residual(args_.r);
  true_norm_ = norm_of(context_, vector(args_.r), workspace_.norm);
}

End Solver::slow() const {
  return {KKC_STATUS_NO_CONVERGENCE,
          cat("no convergence: after ", issued_, " iterations of ", name(settings_.method), " the residual has norm ",
              told(true_norm_.value_or(progress_.norm)), ", expected at most ", told(bound_), " (tolerance ",
              settings_.tolerance,
              settings_.relative ? cat(" relative to ||b|| = ", norm_b_) : std::string(", absolute"), ")")};
}

End Solver::broken() const {
  std::string why;
  switch (progress_.breakdown) {
    case Breakdown::direction:
      why = cat("p^H A p is ", progress_.value, ", expected a number above 0: A is not Hermitian positive definite");
      break;
    case Breakdown::preconditioner:
      why = cat("r^H M^-1 r is ", progress_.value,
                ", expected a number above 0: the preconditioner is not Hermitian positive definite");
      break;
    case Breakdown::shadow:
      why = cat("r0^H A M^-1 p is of size ", progress_.value, ", by which the step cannot be divided");
      break;
    case Breakdown::shadow_residual:
      why = cat("r0^H r is of size ", progress_.value, ", so that no new direction is found");
      break;
    case Breakdown::stabilizer: why = "A M^-1 s is zero or orthogonal to s, so that omega is 0"; break;
    case Breakdown::not_finite:
    case Breakdown::none: why = cat("the residual has norm ", told(progress_.value)); break;
  }
  return {KKC_STATUS_BREAKDOWN, cat(name(settings_.method), " broke down after ", issued_, " iterations: ", why)};
}

End Solver::cg() {
  End end;
  for (;;) {
    residual(args_.r);
    if (args_.external) precondition(args_.r, args_.z);  // whether that failed is asked where x is no solution
    tell();
    queue_.run([&] { step(Step::cg_start); });
    look();
    if (ends_at_start(end)) return end;
    while (progress_.phase == Phase::running && issued_ < settings_.max_iterations && !failure_) {
      const int64_t count = batch();
      for (int64_t k = 0; k < count; ++k) {
        queue_.run([&] {
          product(args_.p, args_.q);
          step(Step::cg_curvature);
          step(Step::cg_update);
        });
        if (args_.external && !precondition(args_.r, args_.z)) break;
        queue_.run([&] {
          if (args_.external) step(Step::cg_product);
          step(Step::cg_direction);
        });
      }
      issued_ += count;
      look();
    }
    if (ends_after(end)) return end;
  }
}

End Solver::bicgstab() {
  End end;
  for (;;) {
    residual(args_.r);
    tell();
    queue_.run([&] { step(Step::bicgstab_start); });
    look();
    if (ends_at_start(end)) return end;
    while (progress_.phase == Phase::running && issued_ < settings_.max_iterations && !failure_) {
      const int64_t count = batch();
      for (int64_t k = 0; k < count; ++k) {
        if (args_.external && !precondition(args_.p, args_.direction)) break;
        queue_.run([&] {
          product(args_.direction, args_.v);
          step(Step::bicgstab_alpha);
          step(Step::bicgstab_half);
        });
        if (args_.external && !precondition(args_.r, args_.half)) break;
        queue_.run([&] {
          product(args_.half, args_.t);
          step(Step::bicgstab_omega);
          step(Step::bicgstab_update);
          step(Step::bicgstab_direction);
        });
      }
      issued_ += count;
      look();
    }
    if (ends_after(end)) return end;
    // The next start reads x from its first place.
    if (progress_.best_at == 1) queue_.run([&] { copy(vector(args_.x[1]), vector(args_.x[0])); });
  }
}

}  // namespace kkc::krylov
