// What the C boundary calls: plan and execute of ic.
#pragma once

#include "ic.hpp"
#include "ops/ilu/ilu_plan.hpp"

namespace kkc::ic {

class State final : public ilu::FactorState {
 public:
  static constexpr const char* name = "ic";
  const char* operation() const override { return name; }
};

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, const Matrix& A, const Options& options);
void execute(Plan& plan, const Matrix& A, Matrix& L);

}  // namespace kkc::ic
