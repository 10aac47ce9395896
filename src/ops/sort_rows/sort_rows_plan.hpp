// What the C boundary calls: plan and execute of sort_rows.
#pragma once

#include "core/planned_matrix.hpp"
#include "ops/entry_map/entry_map_plan.hpp"

namespace kkc::sort_rows {

class State final : public entry_map::MapState {
 public:
  static constexpr const char* name = "sort_rows";
  const char* operation() const override { return name; }
  PlannedMatrix A;
};

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, const Matrix& A, const Options& options);
void execute(Plan& plan, const Matrix& A, Matrix& C);

}  // namespace kkc::sort_rows
