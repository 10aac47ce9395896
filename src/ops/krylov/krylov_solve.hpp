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

/// A number of a type that the host may not know, as kernels take it.
void store(Scalar scalar, double value, char* place);

class Solver {
 public:
  Solver(Plan& plan, State& state, const Matrix& A, const View& b, View& x);
  End run();

 private:
  /// Refuses numbers that are not finite; finds the bound on the residual.
  void check_numbers();
  /// The same for the values of a matrix; returns their norm.
  double check_values(const Matrix& A, const char* argument);
  /// Powers of two by which b and A are multiplied where the squares of their numbers would leave the range.
  void choose_scales();
  double size_of_product();
  /// Takes x back to the system that was given.
  void scale_back(End& end);
  /// inverse = 1 / A's diagonal; refused where that cannot be.
  void invert_diagonal(const Matrix& A, const char* argument, const char* what, void* inverse);
  End cg();
  End bicgstab();
  End gmres();

  /// r = b - A x
  void residual(void* r);
  /// y = beta y + alpha A x; without them y = A_scale A x
  void product(const void* x, void* y, const void* alpha, const void* beta);
  void product(const void* x, void* y) { product(x, y, A_factor_, zero_); }
  void step(Step step);
  /// False, with the reason in failure_, where it cannot be applied.
  bool precondition(void* r, void* z);
  void scale(const DenseRef& v, double factor);
  /// Hands the steps a fresh progress.
  void tell();
  /// Waits, and reads what the steps have come to.
  void look();
  /// Iterations until the next look.
  int64_t batch();
  /// Takes norms of iterations before `end` from the steps.
  void take_history(int64_t end);
  /// A norm of the system as it was given.
  double told(double norm) const { return norm / b_scale_; }

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
  void finish(End& end);

  Plan& plan_;
  State& state_;
  const Settings& settings_;
  Context& context_;
  Queue& queue_;
  const bool narrow_;  // the element type
  const Matrix& A_;
  const DenseRef b_, x_;
  const Workspace workspace_;
  Args args_;
  Progress progress_{};
  std::vector<double> history_;
  double bound_ = 0, norm_b_ = 0, norm_x_ = 0, norm_A_ = 0;
  double aim_ = 0;                    // the bound on the recurrence's residual
  double b_scale_ = 1, A_scale_ = 1;  // A_scale A (b_scale / A_scale x) = b_scale b
  std::optional<End> failure_;        // of the preconditioner
  int64_t issued_ = 0, restarts_ = 0;
  double last_start_ = -1;  // residual when the recurrence last began
  std::optional<double> true_norm_;
  bool converged_ = false;  // as the recurrence has it
  bool started_ = false;
  bool x_is_zero_ = false;
  alignas(16) char one_[16] = {}, A_factor_[16] = {}, minus_A_factor_[16] = {}, zero_[16] = {};
};

}  // namespace kkc::krylov
