// What the C boundary calls: plan and execute of spgemm_jacobi.
#pragma once

#include "core/matrix.hpp"
#include "core/plan.hpp"
#include "core/planned_matrix.hpp"
#include "core/view.hpp"
#include "spgemm_jacobi.hpp"

namespace kkc::spgemm_jacobi {

class State final : public PlanState {
 public:
  static constexpr const char* name = "spgemm_jacobi";
  const char* operation() const override { return name; }
  void describe(Info& info) const override;
  size_t workspace_bytes() const override { return kernel->workspace_bytes(); }
  const OutputPattern* output() const override { return &kernel->output(); }
  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) override {
    return kernel->check(queue, where, count);
  }

  const Implementation* implementation = nullptr;
  std::string why;
  std::unique_ptr<Kernel> kernel;
  PlannedMatrix A, B;
  bool device_scalars = false, checked = false;
};

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, const Matrix& A, const Matrix& B, IndexPair pair,
                           const Options& options);
/// dinv: null for the inverse of A's diagonal.
void execute(Plan& plan, const void* omega, const View* dinv, const Matrix& A, const Matrix& B, Matrix& C);

}  // namespace kkc::spgemm_jacobi
