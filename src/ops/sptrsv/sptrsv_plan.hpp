// What the C boundary calls: plan, execute and set_values of sptrsv.
#pragma once

#include "core/matrix.hpp"
#include "core/plan.hpp"
#include "core/planned_matrix.hpp"
#include "core/view.hpp"
#include "sptrsv.hpp"

namespace kkc::sptrsv {

class State final : public PlanState {
 public:
  static constexpr const char* name = "sptrsv";
  const char* operation() const override { return name; }
  void describe(Info& info) const override;
  size_t workspace_bytes() const override { return kernel->workspace_bytes(); }
  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) override {
    return kernel->check(queue, where, count);
  }

  const Implementation* implementation = nullptr;
  std::string why;
  std::unique_ptr<Kernel> kernel;
  Desc desc;  // its arrays are not kept
  PlannedMatrix A;
  bool values_set = false;
  bool levels_taken_over = false;  // from another plan on the same shared pattern
};

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, Op op, Uplo uplo, Diag diag, const Matrix& A,
                           const View& b, const View& x, const Options& options);
void execute(Plan& plan, const void* alpha, const Matrix& A, const View& b, View& x);
void set_values(Plan& plan, const Matrix& A);

}  // namespace kkc::sptrsv
