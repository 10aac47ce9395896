// What the C boundary calls: plan, execute and set_values of spmv.
#pragma once

#include "core/matrix.hpp"
#include "core/plan.hpp"
#include "core/planned_matrix.hpp"
#include "core/view.hpp"
#include "spmv.hpp"

namespace kkc::spmv {

class State final : public PlanState {
 public:
  static constexpr const char* name = "spmv";
  const char* operation() const override { return name; }
  void describe(Info& info) const override;
  size_t workspace_bytes() const override { return kernel->workspace_bytes(); }

  const Implementation* implementation = nullptr;
  std::string why;
  std::unique_ptr<Kernel> kernel;
  Desc desc;  // its arrays are not kept
  PlannedMatrix A;
  bool values_set = false;
};

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, Op op, const Matrix& A, const View& x, const View& y,
                           const Options& options);
void execute(Plan& plan, const void* alpha, const Matrix& A, const View& x, const void* beta, View& y);
void set_values(Plan& plan, const Matrix& A);

}  // namespace kkc::spmv
