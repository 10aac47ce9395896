// ilut: validation, choice of the implementation, and the plan's state.
#include "ilut.hpp"

#include <chrono>
#include <cmath>

#include "core/log.hpp"
#include "ilut_plan.hpp"
#include "ops/ilu/ilu_plan.hpp"
#include "ops/row_stats/row_stats.hpp"

namespace kkc::ilut {

void State::describe(Info& info) const {
  info.add("implementation", std::string(implementation->name));
  info.add("why", why);
  info.add("deterministic", int64_t{implementation->deterministic});
  info.add("index_pair", std::string(kkc::name(A.ref().pair)));
  info.add("scalar", std::string(kkc::name(A.ref().scalar)));
  info.add("rows", A.ref().rows);
  info.add("nnz_A", A.ref().nnz);
  info.add("fill", fill);
  info.add("iterations", int64_t{iterations});
  info.add("sweeps", int64_t{sweeps});
  if (last_nnz_L >= 0) {
    info.add("nnz_L", last_nnz_L);
    info.add("nnz_U", last_nnz_U);
  }
}

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, const Matrix& A, const Options& options) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const PlanOptions parsed(options, "kkc_ilut_plan",
                           {"fill", "iterations", "sweeps", "missing_diagonal", "shift", "pivot_boost", "boost_value"});
  const CsrRef& a = A.ref();
  Desc desc{};
  desc.pivots = ilu::pivot_rule(options);
  desc.fill = options.real("fill", 2);
  require(std::isfinite(desc.fill) && desc.fill >= 0, KKC_STATUS_INVALID_ARGUMENT, "options: \"fill\" is ", desc.fill,
          ", expected a finite number that is not negative");
  desc.iterations = static_cast<int32_t>(options.integer("iterations", 5, 0, 1000));
  desc.sweeps = static_cast<int32_t>(options.integer("sweeps", 3, 0, 100000));
  const bool add_missing = options.choice("missing_diagonal", {"refuse", "add"}) == "add";
  Queue& queue = context->queue();
  ilu::require_factorable(A, queue);
  static_cast<void>(checked_row_stats(*context, a, "A"));
  desc.A = a;
  desc.A.values = nullptr;
  desc.memory = context->memory();
  const auto& symbolic = only_implementation<ilu_pattern::Implementation>(queue, "ilu_pattern");
  queue.run([&] { desc.start = symbolic.make({desc.A, 0, false, add_missing, desc.memory}, queue); });

  PassedOver passed_over;
  const auto takes = eligible<Implementation>(queue.table(), State::name, parsed, desc, passed_over);
  auto made = Choice<Implementation, Kernel, Desc>(*context, State::name, parsed, desc, takes, passed_over).first();
  auto state = std::make_unique<State>();
  state->implementation = made.implementation;
  state->why = std::move(made.why);
  state->kernel = std::move(made.kernel);
  state->A = PlannedMatrix(queue, a, parsed.checked);
  state->fill = desc.fill;
  state->iterations = desc.iterations;
  state->sweeps = desc.sweeps;
  log(LogLevel::info, "ilut plan: ", state->implementation->name, " (", state->why, ")");
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return std::make_shared<Plan>(std::move(context), std::move(state), std::move(passed_over), seconds);
}

std::pair<std::shared_ptr<Matrix>, std::shared_ptr<Matrix>> execute(Plan& plan, const Matrix& A) {
  State& state = plan.as<State>();
  Queue& queue = plan.context().queue();
  state.A.check(A, queue, "A");
  Factors made;
  queue.run([&] { made = state.kernel->execute(queue, A.ref()); });
  state.last_nnz_L = made.L.nnz;
  state.last_nnz_U = made.U.nnz;
  auto L = Matrix::take(plan.context(), std::move(made.L));
  return {std::move(L), Matrix::take(plan.context(), std::move(made.U))};
}

}  // namespace kkc::ilut
