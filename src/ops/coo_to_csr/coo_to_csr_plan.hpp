// What the C boundary calls: plan and execute of coo_to_csr.
#pragma once

#include "ops/entry_map/entry_map_plan.hpp"

namespace kkc::coo_to_csr {

class State final : public entry_map::MapState {
 public:
  static constexpr const char* name = "coo_to_csr";
  const char* operation() const override { return name; }
  Scalar scalar = Scalar::none;
  int64_t entries = 0;
};

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, int64_t rows, int64_t cols, int32_t base,
                           const View& row_indices, const View& col_indices, int32_t index_pair, int32_t scalar,
                           const Options& options);
/// `values` may be null for patterns.
void execute(Plan& plan, const View* values, Matrix& C);

}  // namespace kkc::coo_to_csr
