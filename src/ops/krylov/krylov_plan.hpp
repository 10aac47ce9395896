// What the C boundary calls: plan, preconditioner, execute and results of krylov.
#pragma once

#include <memory>
#include <vector>

#include "core/matrix.hpp"
#include "core/plan.hpp"
#include "core/planned_matrix.hpp"
#include "core/view.hpp"
#include "krylov.hpp"

namespace kkc::krylov {

enum class Method { cg, bicgstab, gmres };
const char* name(Method);

struct Settings {
  Method method;
  int64_t restart;  // gmres: most basis vectors
  double tolerance;
  bool relative;  // to the norm of b
  int64_t max_iterations;
  int64_t check_every;
  bool from_zero;  // the initial guess
};

/// A matrix that a preconditioner is made of, and its name in sentences.
struct Factor {
  const Matrix* matrix;
  const char* argument;
  bool divides;  // by its diagonal
};

/// How z = M^-1 r is made where it is neither the identity nor a diagonal.
class Preconditioner {
 public:
  virtual ~Preconditioner() = default;
  virtual std::vector<Factor> factors() const { return {}; }
  /// Before the first application of an execute.
  virtual void begin() {}
  /// r and z: n elements each, side by side in the device's memory.
  virtual void apply(void* r, void* z) = 0;
  virtual void describe(Info& info) const = 0;
};

/// How the last execute ended.
struct Result {
  kkc_status_t status = KKC_STATUS_WRONG_STATE;  // until there was one
  int64_t iterations = 0, restarts = 0;
  double residual = 0, bound = 0;
  std::vector<double> history;
  double seconds = 0;
};

class State final : public PlanState {
 public:
  static constexpr const char* name = "krylov";
  const char* operation() const override { return name; }
  void describe(Info& info) const override;
  size_t workspace_bytes() const override { return bytes; }

  std::shared_ptr<Context> context;
  const Implementation* implementation = nullptr;
  std::string why;
  Settings settings{};
  Scalar scalar = Scalar::none;
  int64_t n = 0;
  PlannedMatrix A;
  DenseRef b{}, x{};  // as planned, without data
  std::shared_ptr<Plan> product;
  bool product_keeps_values = false;
  size_t bytes = 0;    // of the workspace
  bool own_x = false;  // x is not a run: the workspace holds one

  bool jacobi = false;
  Buffer inverse;                                  // jacobi
  std::unique_ptr<Preconditioner> preconditioner;  // neither none nor jacobi
  bool running = false;
  Result result;
};

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, const Matrix& A, const View& b, const View& x,
                           const Options& options);
/// kind: KKC_PRECONDITIONER_*. M, U: null where the kind has no use for them. options: of the plans of sptrsv.
void set_preconditioner(Plan& plan, int32_t kind, std::shared_ptr<Matrix> M, std::shared_ptr<Matrix> U,
                        const Options& options);
void set_callback(Plan& plan, kkc_preconditioner_fn function, void* user);
/// Blocks. x is as good as it got also where the status is KKC_STATUS_NO_CONVERGENCE or _BREAKDOWN.
void execute(Plan& plan, const Matrix& A, const View& b, View& x);
/// Of the last execute; refused before the first.
const Result& result(Plan& plan);

}  // namespace kkc::krylov
