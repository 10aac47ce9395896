// sort_rows: validation, choice of the implementation, and the plan's state.
#include "sort_rows.hpp"

#include "ops/row_stats/row_stats.hpp"
#include "sort_rows_plan.hpp"

namespace kkc::sort_rows {

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, const Matrix& A, const Options& options) {
  const entry_map::PlanTimer timer;
  const PlanOptions parsed(options, "kkc_sort_rows_plan", {"duplicates", "base"});
  const bool add = options.choice("duplicates", {"keep", "add"}) == "add";
  Queue& queue = context->queue();
  const CsrRef& a = A.ref();
  require_on_device(A, queue, "A");
  const auto base = static_cast<int32_t>(options.integer("base", a.base, 0, 1));
  static_cast<void>(checked_row_stats(*context, a, "A"));

  const Desc desc{a, add, context->memory()};
  PassedOver passed_over;
  const auto takes = eligible<Implementation>(queue.table(), "sort_rows", parsed, desc, passed_over);
  auto made = Choice<Implementation, EntryMap, Desc>(*context, "sort_rows", parsed, desc, takes, passed_over).first();

  auto state = std::make_unique<State>();
  state->chosen(made);
  state->checked = parsed.checked;
  state->adds = add;
  state->A = PlannedMatrix(queue, a, parsed.checked);
  state->adopt(*context, std::move(*made.kernel), a.scalar, a.pair, base);
  return timer.finish(std::move(context), std::move(state), std::move(passed_over));
}

void execute(Plan& plan, const Matrix& A, Matrix& C) {
  const State& state = plan.as<State>();
  state.A.check(A, plan.context().queue(), "A");
  state.gather(plan.context(), A.ref().values, C, "A");
}

}  // namespace kkc::sort_rows
