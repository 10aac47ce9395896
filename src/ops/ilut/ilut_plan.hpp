// What the C boundary calls: plan and execute of ilut.
#pragma once

#include <utility>

#include "core/plan.hpp"
#include "core/planned_matrix.hpp"
#include "ilut.hpp"

namespace kkc::ilut {

class State final : public PlanState {
 public:
  static constexpr const char* name = "ilut";
  const char* operation() const override { return name; }
  void describe(Info& info) const override;

  const Implementation* implementation = nullptr;
  std::string why;
  std::unique_ptr<Kernel> kernel;
  PlannedMatrix A;
  double fill = 0;
  int32_t iterations = 0, sweeps = 0;
  int64_t last_nnz_L = -1, last_nnz_U = -1;  // of the last execute
};

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, const Matrix& A, const Options& options);
/// L and U.
std::pair<std::shared_ptr<Matrix>, std::shared_ptr<Matrix>> execute(Plan& plan, const Matrix& A);

}  // namespace kkc::ilut
