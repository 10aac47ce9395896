// What the C boundary calls: plan and execute of transpose.
#pragma once

#include "core/planned_matrix.hpp"
#include "ops/entry_map/entry_map_plan.hpp"

namespace kkc::transpose {

class State final : public entry_map::MapState {
 public:
  static constexpr const char* name = "transpose";
  const char* operation() const override { return name; }
  PlannedMatrix A;
};

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, Op op, const Matrix& A, int32_t index_pair,
                           const Options& options);
void execute(Plan& plan, const Matrix& A, Matrix& C);

}  // namespace kkc::transpose
