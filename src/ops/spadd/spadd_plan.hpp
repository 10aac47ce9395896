// What the C boundary calls: plan and execute of spadd.
#pragma once

#include "core/output_pattern.hpp"
#include "core/plan.hpp"
#include "core/planned_matrix.hpp"
#include "spadd.hpp"

namespace kkc::spadd {

class State final : public PlanState {
 public:
  static constexpr const char* name = "spadd";
  const char* operation() const override { return name; }
  void describe(Info& info) const override;
  size_t workspace_bytes() const override { return kernel->workspace_bytes(); }
  const OutputPattern* output() const override { return &C; }

  const Implementation* implementation = nullptr;
  std::string why;
  std::unique_ptr<Kernel> kernel;
  Desc desc;  // its arrays are not kept
  PlannedMatrix A, B;
  OutputPattern C;
  bool checked = false;
};

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, Op op_A, const Matrix& A, Op op_B, const Matrix& B,
                           IndexPair pair_C, const Options& options);
void execute(Plan& plan, const void* alpha, const Matrix& A, const void* beta, const Matrix& B, Matrix& C);

}  // namespace kkc::spadd
