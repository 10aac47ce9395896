// ic: what ilu does for its plans, with another form of factors.
#include "ic.hpp"

#include "ic_plan.hpp"

namespace kkc::ic {

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, const Matrix& A, const Options& options) {
  return ilu::make_plan(std::move(context), std::make_unique<State>(), ilu::Form::cholesky, A, options, "kkc_ic_plan");
}

void execute(Plan& plan, const Matrix& A, Matrix& L) { ilu::execute_factors(plan, plan.as<State>(), A, L, "L"); }

}  // namespace kkc::ic
