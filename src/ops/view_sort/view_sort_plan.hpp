// What the C boundary calls: plan and execute of view_sort.
#pragma once

#include "core/plan.hpp"
#include "core/view.hpp"
#include "view_sort.hpp"

namespace kkc::view_sort {

class State final : public PlanState {
 public:
  static constexpr const char* name = "view_sort";
  const char* operation() const override { return name; }
  void describe(Info& info) const override;
  size_t workspace_bytes() const override { return kernel != nullptr ? kernel->workspace_bytes() : 0; }

  const Implementation* implementation = nullptr;
  std::string why;
  std::unique_ptr<Kernel> kernel;  // null when there are no elements
  Desc desc;
  int32_t dim = 0;
  bool in_use[4] = {};       // keys, sorted_keys, values, sorted_values
  DenseRef planned[4] = {};  // without data
};

/// sorted_keys, values and sorted_values may be null; see kkc_view_sort_plan.
std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, int32_t dim, const View& keys, const View* sorted_keys,
                           const View* values, const View* sorted_values, const Options& options);
void execute(Plan& plan, const View& keys, View* sorted_keys, const View* values, View* sorted_values);

}  // namespace kkc::view_sort
