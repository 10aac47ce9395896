// The methods on the host: what they enqueue, when they look at the results, and how they end.
#pragma once

#include <optional>

#include "krylov_plan.hpp"

namespace kkc::krylov {

/// Places in a plan's workspace; with base = nullptr only its size counts.
struct Workspace {
  Workspace(const State& state, void* base);
  Args args{};
  void* norm;  // a result of norm2
  double* history;
  void* own_x;
  int64_t hessenberg_stride;  // numbers from one column to the next
  size_t bytes;
};

/// How a solution ended.
struct End {
  kkc_status_t status = KKC_STATUS_SUCCESS;
  std::string sentence;
};

class Solver {
 public:
  Solver(Plan& plan, State& state, const Matrix& A, const View& b, View& x);
  End run();

 private:
  /// Refuses numbers that are not finite; finds the bound on the residual.
  void check_numbers();
  /// The same for the values of a matrix.
  void check_values(const Matrix& A, const char* argument);
  /// inverse = 1 / A's diagonal; refused where that cannot be.
  void invert_diagonal(const Matrix& A, const char* argument, const char* what, void* inverse);
  End cg();
  End bicgstab();
  End gmres();

  /// r = b - A x
  void residual(void* r);
  /// y = beta y + alpha A x
  void product(const void* x, void* y, const void* alpha, const void* beta);
  void product(const void* x, void* y) { product(x, y, one_, zero_); }
  void step(Step step);
  void precondition(void* r, void* z);
  /// Hands the steps a fresh progress.
  void tell();
  /// Waits, and reads what the steps have come to.
  void look();
  int64_t batch() const { return std::min(settings_.check_every, settings_.max_iterations - issued_); }

  /// With the true residual's norm at hand: whether the solution ends here, and how.
  bool ends_at_start(End& end);
  /// After the iterations of cg and bicgstab: whether they broke or took too many.
  bool ends_after(End& end);
  /// Finds the true residual's norm where a recurrence ends without having met the bound: by then it may be far off.
  void measure();
  End broken() const;
  End slow() const;

  DenseRef vector(const void* data, int64_t stride = 1) const;
  void copy(const DenseRef& from, const DenseRef& to);
  void fill_zero(const DenseRef& to);
  void finish();

  Plan& plan_;
  State& state_;
  const Settings& settings_;
  Context& context_;
  Queue& queue_;
  const Matrix& A_;
  const DenseRef b_, x_;
  const Workspace workspace_;
  Args args_;
  Progress progress_{};
  std::vector<double> history_;  // gmres
  double bound_ = 0, norm_b_ = 0;
  int64_t issued_ = 0, restarts_ = 0;
  double last_start_ = -1;  // residual when the recurrence last began
  std::optional<double> true_norm_;
  bool converged_ = false;  // as the recurrence has it
  bool started_ = false;
  bool x_is_zero_ = false;
  alignas(16) char one_[16] = {}, minus_one_[16] = {}, zero_[16] = {};
};

}  // namespace kkc::krylov
