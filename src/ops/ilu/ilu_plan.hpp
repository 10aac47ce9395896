// What the C boundary calls: plan and execute of ilu, and what ic shares with it.
#pragma once

#include <initializer_list>

#include "core/output_pattern.hpp"
#include "core/plan.hpp"
#include "core/planned_matrix.hpp"
#include "ilu.hpp"

namespace kkc::ilu {

class FactorState : public PlanState {
 public:
  void describe(Info& info) const override;
  size_t workspace_bytes() const override { return kernel->workspace_bytes(); }
  const OutputPattern* output() const override { return &factors; }
  kkc_status_t check(Queue& queue, int64_t& where, int64_t& count) override {
    return kernel->check(queue, where, count);
  }

  const Implementation* implementation = nullptr;
  std::string why;
  std::unique_ptr<Kernel> kernel;
  PlannedMatrix A;
  OutputPattern factors;
  int64_t pattern_bytes = 0;  // of what is kept beside the factors' pattern
  PivotRule pivots{};
  int32_t level = 0;
  bool checked = false;
};

class State final : public FactorState {
 public:
  static constexpr const char* name = "ilu";
  const char* operation() const override { return name; }
};

/// Options shift, pivot_boost and boost_value.
PivotRule pivot_rule(const Options& options);
/// Refuses what cannot be factored whatever its pattern; `function` is the plan's in sentences.
void require_factorable(const Matrix& A, const Queue& queue);

/// Makes a plan with `state`; `function` is its name in sentences.
std::shared_ptr<Plan> make_plan(std::shared_ptr<Context> context, std::unique_ptr<FactorState> state, Form form,
                                const Matrix& A, const Options& options, const char* function);
/// `output` is the factors' name in sentences.
void execute_factors(const Plan& plan, FactorState& state, const Matrix& A, Matrix& factors, const char* output);

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, const Matrix& A, const Options& options);
void execute(Plan& plan, const Matrix& A, Matrix& LU);

}  // namespace kkc::ilu
