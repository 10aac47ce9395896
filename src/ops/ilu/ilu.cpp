// ilu: validation, choice of the implementation, and the plan's state; what ic shares.
#include "ilu.hpp"

#include <chrono>
#include <cmath>
#include <optional>

#include "core/log.hpp"
#include "ilu_plan.hpp"
#include "ops/levels/levels_known.hpp"
#include "ops/row_stats/row_stats.hpp"

namespace kkc::ilu {
namespace {

using Clock = std::chrono::steady_clock;

double finite_option(const Options& options, const char* key, double fallback) {
  const double value = options.real(key, fallback);
  require(std::isfinite(value), KKC_STATUS_INVALID_ARGUMENT, "options: \"", key, "\" is ", value,
          ", expected a finite number");
  return value;
}

/// Private values on which tuning = measure times candidates: the caller's are neither read nor written. Off-diagonal
/// entries are numbers below 1/2; pivots are what the shift makes of them.
class Trial {
 public:
  Trial(const Context& context, const Desc& desc)
      : context_(context),
        values_A_(random_numbers(context, desc.A.scalar, desc.A.nnz)),
        values_(random_numbers(context, desc.A.scalar, desc.factors.nnz)) {
    args_.A = desc.A;
    args_.A.values = values_A_.data();
    args_.factors = {desc.A.pair,
                     desc.A.scalar,
                     0,
                     desc.A.rows,
                     desc.A.cols,
                     desc.factors.nnz,
                     desc.factors.offsets->data(),
                     desc.factors.indices->data(),
                     values_.data()};
  }

  double seconds(Kernel& kernel) {
    Queue& queue = context_.queue();
    workspace_ = Buffer(context_.memory(), own_space(context_.device()), kernel.workspace_bytes());
    args_.workspace = workspace_.data();
    double seconds = 0;
    queue.run([&] {
      seconds = fastest_seconds(queue, [&] {
        try {
          kernel.execute(queue, args_);
        } catch (const Error&) {
          // Random numbers may break down; the work has been done all the same.
        }
      });
      int64_t where = 0, count = 0;
      static_cast<void>(kernel.check(queue, where, count));
    });
    return seconds;
  }

 private:
  const Context& context_;
  Buffer values_A_, values_, workspace_;
  Args args_{};
};

std::string tuning_key(const Queue& queue, const char* operation, const Desc& d) {
  return cat(operation, ' ', name(queue.device()), ' ', queue.concurrency(), ' ', name(d.A.pair), ' ', name(d.A.scalar),
             ' ', d.A.rows, " nnz ", d.A.nnz, ' ', d.factors.nnz);
}

}  // namespace

PivotRule pivot_rule(const Options& options) {
  PivotRule rule{};
  rule.shift = finite_option(options, "shift", 0);
  rule.threshold = finite_option(options, "pivot_boost", 0);
  require(rule.threshold >= 0, KKC_STATUS_INVALID_ARGUMENT, "options: \"pivot_boost\" is ", rule.threshold,
          ", expected 0 (none) or a positive threshold");
  rule.value = finite_option(options, "boost_value", rule.threshold);
  require(rule.value > 0 || !options.has("boost_value"), KKC_STATUS_INVALID_ARGUMENT, "options: \"boost_value\" is ",
          rule.value, ", expected a positive number");
  return rule;
}

void require_factorable(const Matrix& A, const Queue& queue) {
  const CsrRef& a = A.ref();
  require_on_device(A, queue, "A");
  require(a.scalar != Scalar::none, KKC_STATUS_TYPE_MISMATCH,
          "A is a pattern without values, expected a matrix with values");
  require(a.rows == a.cols, KKC_STATUS_SIZE_MISMATCH, "A is ", a.rows, " x ", a.cols, ", expected a square matrix");
}

void FactorState::describe(Info& info) const {
  info.add("implementation", std::string(implementation->name));
  info.add("why", why);
  info.add("deterministic", int64_t{implementation->deterministic});
  info.add("index_pair", std::string(kkc::name(factors.pair)));
  info.add("scalar", std::string(kkc::name(factors.scalar)));
  info.add("rows", factors.rows);
  info.add("nnz_A", A.ref().nnz);
  info.add("level", int64_t{level});
  info.add("nnz", factors.nnz);
  info.add("plan_bytes", pattern_bytes + kernel->plan_bytes());
  kernel->describe(info);
}

std::shared_ptr<Plan> make_plan(std::shared_ptr<Context> context, std::unique_ptr<FactorState> state, Form form,
                                const Matrix& A, const Options& options, const char* function) {
  const auto start = Clock::now();
  std::vector<std::string> own{"missing_diagonal", "shift", "pivot_boost", "boost_value", "base"};
  if (form == Form::lu) own.insert(own.begin(), "level");
  const PlanOptions parsed(options, function, own);
  const CsrRef& a = A.ref();
  const auto base = static_cast<int32_t>(options.integer("base", a.base, 0, 1));
  state->level = form == Form::lu ? static_cast<int32_t>(options.integer("level", 0, 0, 255)) : 0;
  state->pivots = pivot_rule(options);
  const bool add_missing = options.choice("missing_diagonal", {"refuse", "add"}) == "add";
  Queue& queue = context->queue();
  require_factorable(A, queue);
  const RowStats rows = checked_row_stats(*context, a, "A");

  Desc desc{form, a, {}, rows.longest + 1, state->pivots, context->memory()};
  desc.A.values = nullptr;
  desc.named = parsed.measure || !parsed.implementation.empty();
  const auto& symbolic = only_implementation<ilu_pattern::Implementation>(queue, "ilu_pattern");
  queue.run([&] {
    desc.factors = symbolic.make({desc.A, state->level, form == Form::cholesky, add_missing, context->memory()}, queue);
  });
  if (state->level > 0 && a.rows > 0) {
    const FactorPattern& found = desc.factors;
    const CsrRef filled{a.pair, a.scalar, 0, a.rows, a.cols, found.nnz, found.offsets->data(), found.indices->data(),
                        nullptr};
    desc.longest_row = checked_row_stats(*context, filled, "the factors").longest;
  } else if (desc.factors.nnz == a.nnz) {
    desc.longest_row = rows.longest;  // no diagonal entry was missing
  }

  PassedOver passed_over;
  const char* const operation = state->operation();
  const auto takes = eligible<Implementation>(queue.table(), operation, parsed, desc, passed_over);
  const Choice<Implementation, Kernel, Desc> choice(*context, operation, parsed, desc, takes, passed_over);
  auto made = parsed.measure && takes.size() > 1 && a.nnz > 0
                  ? choice.measured(tuning_key(queue, operation, desc),
                                    [trial = std::optional<Trial>(), &context, &desc](Kernel& kernel) mutable {
                                      if (!trial) trial.emplace(*context, desc);
                                      return trial->seconds(kernel);
                                    })
                  : choice.first();
  state->implementation = made.implementation;
  state->why = std::move(made.why);
  state->kernel = std::move(made.kernel);
  state->A = PlannedMatrix(queue, a, parsed.checked);
  state->checked = parsed.checked;
  state->factors = {
      a.pair, a.scalar, base, a.rows, a.cols, desc.factors.nnz, desc.factors.offsets, desc.factors.indices};
  levels::remember(desc.factors.offsets, state->kernel->levels());
  state->pattern_bytes = desc.factors.bytes_beside_pattern();
  log(LogLevel::info, operation, " plan: ", state->implementation->name, " (", state->why, ")");
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return std::make_shared<Plan>(std::move(context), std::move(state), std::move(passed_over), seconds);
}

void execute_factors(const Plan& plan, FactorState& state, const Matrix& A, Matrix& factors, const char* output) {
  Queue& queue = plan.context().queue();
  state.A.check(A, queue, "A");
  require_planned_output(factors, state.factors, queue, output);
  const CsrRef& to = factors.ref();
  require_alignment(to.values, to.scalar, queue, cat(output, "'s values array").c_str());
  require(!values_overlap(to, A.ref()), KKC_STATUS_INVALID_ARGUMENT, output,
          "'s values overlap those of A, expected separate memory");
  if (state.checked) require_planned_pattern(factors, state.factors, queue, output);
  if (to.nnz == 0) return;
  // The plan's own pattern is what kernels read.
  CsrRef planned = state.factors.ref();
  planned.values = to.values;
  const Args args{A.ref(), planned, plan.workspace()};
  queue.run([&] { state.kernel->execute(queue, args); });
}

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, const Matrix& A, const Options& options) {
  return make_plan(std::move(context), std::make_unique<State>(), Form::lu, A, options, "kkc_ilu_plan");
}

void execute(Plan& plan, const Matrix& A, Matrix& LU) { execute_factors(plan, plan.as<State>(), A, LU, "LU"); }

}  // namespace kkc::ilu
