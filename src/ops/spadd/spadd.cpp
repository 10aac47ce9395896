// spadd: validation, choice of the implementation, and the plan's state.
#include "spadd.hpp"

#include <chrono>
#include <optional>

#include "core/dispatch.hpp"
#include "core/log.hpp"
#include "spadd_plan.hpp"

namespace kkc::spadd {
namespace {

using Clock = std::chrono::steady_clock;

int64_t rows_of(const Operand& x) { return transposes(x.op) ? x.matrix.cols : x.matrix.rows; }
int64_t cols_of(const Operand& x) { return transposes(x.op) ? x.matrix.rows : x.matrix.cols; }

Operand operand(Op op, const Matrix& matrix, Queue& queue, const char* argument) {
  require_on_device(matrix, queue, argument);
  require(matrix.ref().scalar != Scalar::none, KKC_STATUS_TYPE_MISMATCH, argument,
          " is a pattern without values, expected a matrix with values");
  return {op, matrix.ref(), {}};
}

RowOrder order_of(const std::string& rows) {
  return rows == "sorted" ? RowOrder::sorted : rows == "unsorted" ? RowOrder::unsorted : RowOrder::detect;
}

Desc describe_case(const Context& context, Op op_A, const Matrix& A, Op op_B, const Matrix& B, IndexPair pair_C,
                   const PlanOptions& parsed, const Options& options) {
  Queue& queue = context.queue();
  Desc desc{};
  desc.A = operand(op_A, A, queue, "A");
  desc.B = operand(op_B, B, queue, "B");
  const CsrRef &a = desc.A.matrix, &b = desc.B.matrix;
  require(a.pair == b.pair, KKC_STATUS_TYPE_MISMATCH, "B is of index pair ", name(b.pair), ", expected that of A, ",
          name(a.pair));
  require(a.scalar == b.scalar, KKC_STATUS_TYPE_MISMATCH, "B holds ", name(b.scalar), ", expected the type of A, ",
          name(a.scalar));
  desc.rows = rows_of(desc.A);
  desc.cols = cols_of(desc.A);
  if (rows_of(desc.B) != desc.rows || cols_of(desc.B) != desc.cols)
    fail(KKC_STATUS_SIZE_MISMATCH, "op(B) is ", rows_of(desc.B), " x ", cols_of(desc.B),
         ", expected the shape of op(A), ", desc.rows, " x ", desc.cols);
  desc.pair_C = pair_C;
  desc.order = order_of(options.choice("rows", {"detect", "sorted", "unsorted"}));
  desc.deterministic = parsed.deterministic;
  desc.device_scalars = parsed.device_scalars;
  desc.max_workspace = parsed.max_workspace;
  desc.memory = context.memory();
  return desc;
}

std::string tuning_key(const Queue& queue, const Desc& d) {
  std::string key =
      cat("spadd ", name(queue.device()), ' ', queue.concurrency(), ' ', name(d.A.matrix.pair), ' ', name(d.pair_C),
          ' ', name(d.A.matrix.scalar), ' ', d.rows, 'x', d.cols, " rows ", static_cast<int>(d.order));
  for (const Operand* x : {&d.A, &d.B})
    key += cat(" op ", name(x->op), " base ", x->matrix.base, " nnz ", x->matrix.nnz, " longest ", x->stats.longest);
  return key + cat(d.deterministic ? " deterministic" : "", d.device_scalars ? " device" : "",
                   d.max_workspace >= 0 ? cat(" workspace ", d.max_workspace) : "");
}

/// C's pattern, once its entries are known to be countable.
void complete(Kernel& kernel, const Desc& desc, Queue& queue) {
  require_countable(desc.cols, kernel.nnz(), desc.pair_C, "C");
  queue.run([&] { kernel.complete(queue); });
}

/// Private values on which tuning = measure times candidates: the caller's are neither read nor written.
class Trial {
 public:
  Trial(const Context& context, const Desc& desc, int64_t nnz)
      : context_(context),
        values_A_(random_numbers(context, desc.A.matrix.scalar, desc.A.matrix.nnz)),
        values_B_(random_numbers(context, desc.A.matrix.scalar, desc.B.matrix.nnz)),
        values_C_(random_numbers(context, desc.A.matrix.scalar, nnz)),
        coefficients_(random_numbers(context, desc.A.matrix.scalar, 2)) {
    args_.alpha = coefficient(desc, 0);
    args_.beta = coefficient(desc, 1);
    args_.A = desc.A.matrix;
    args_.B = desc.B.matrix;
    args_.C = {desc.pair_C, desc.A.matrix.scalar, 0, desc.rows, desc.cols, nnz, nullptr, nullptr, values_C_.data()};
    args_.A.values = values_A_.data();
    args_.B.values = values_B_.data();
  }

  double seconds(Kernel& kernel) {
    Queue& queue = context_.queue();
    workspace_ = Buffer(context_.memory(), own_space(context_.device()), kernel.workspace_bytes());
    args_.workspace = workspace_.data();
    args_.C.offsets = kernel.pattern().offsets ? kernel.pattern().offsets->data() : nullptr;
    args_.C.indices = kernel.pattern().indices->data();
    double seconds = 0;
    queue.run([&] { seconds = fastest_seconds(queue, [&] { kernel.execute(queue, args_); }); });
    return seconds;
  }

 private:
  Coefficient coefficient(const Desc& desc, int which) {
    const size_t each = size_of(desc.A.matrix.scalar);
    if (desc.device_scalars) return {coefficients_.as<char>() + static_cast<size_t>(which) * each, true};
    return {host_coefficients_ + static_cast<size_t>(which) * each / sizeof(double), false};
  }

  const Context& context_;
  Buffer values_A_, values_B_, values_C_, coefficients_, workspace_;
  double host_coefficients_[4] = {0.5, 0.25, 0.5, 0.25};
  Args args_{};
};

/// Bytes of an array, for overlaps.
bool overlap(const CsrRef& a, const CsrRef& b) {
  const auto first = [](const CsrRef& x) { return reinterpret_cast<uintptr_t>(x.values); };
  return first(a) < first(b) + values_bytes(b) && first(b) < first(a) + values_bytes(a);
}

}  // namespace

void State::describe(Info& info) const {
  info.add("implementation", std::string(implementation->name));
  info.add("why", why);
  info.add("deterministic", int64_t{implementation->deterministic});
  info.add("op_A", std::string(kkc::name(desc.A.op)));
  info.add("op_B", std::string(kkc::name(desc.B.op)));
  info.add("index_pair", std::string(kkc::name(desc.A.matrix.pair)));
  info.add("index_pair_C", std::string(kkc::name(desc.pair_C)));
  info.add("scalar", std::string(kkc::name(desc.A.matrix.scalar)));
  info.add("rows", desc.rows);
  info.add("cols", desc.cols);
  info.add("nnz_A", desc.A.matrix.nnz);
  info.add("nnz_B", desc.B.matrix.nnz);
  info.add("nnz_C", C.nnz);
  kernel->describe(info);
}

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, Op op_A, const Matrix& A, Op op_B, const Matrix& B,
                           IndexPair pair_C, const Options& options) {
  const auto start = Clock::now();
  const PlanOptions parsed(options, "kkc_spadd_plan", {"rows", "base"});
  const auto base = static_cast<int32_t>(options.integer("base", A.ref().base, 0, 1));
  Desc desc = describe_case(*context, op_A, A, op_B, B, pair_C, parsed, options);
  require_countable(desc.cols, 0, pair_C, "C");

  Queue& queue = context->queue();
  PassedOver passed_over;
  const auto takes = eligible<Implementation>(queue.table(), State::name, parsed, desc, passed_over);
  const auto check_patterns = [&] {
    const NamedPattern patterns[] = {{desc.A.matrix, "A"}, {desc.B.matrix, "B"}};
    const auto stats = checked_row_stats(*context, std::span(patterns, &A == &B ? 1 : 2));
    desc.A.stats = stats.front();
    desc.B.stats = stats.back();
  };
  if (parsed.measure || !takes.front()->looks_at_patterns) check_patterns();
  const Choice<Implementation, Kernel, Desc> choice(*context, State::name, parsed, desc, takes, passed_over);
  // Nothing is executed where nothing is added, so nothing is measured.
  auto made = parsed.measure && takes.size() > 1 && desc.A.matrix.nnz + desc.B.matrix.nnz > 0
                  ? choice.measured(tuning_key(queue, desc),
                                    [trial = std::optional<Trial>(), &context, &desc, &queue](Kernel& kernel) mutable {
                                      complete(kernel, desc, queue);
                                      if (!trial) trial.emplace(*context, desc, kernel.nnz());
                                      return trial->seconds(kernel);
                                    })
                  : choice.first();
  if (!made.kernel->good_patterns()) {
    check_patterns();  // says what is wrong
    fail(KKC_STATUS_INTERNAL, "spadd found good patterns bad");
  }
  complete(*made.kernel, desc, queue);

  auto state = std::make_unique<State>();
  state->implementation = made.implementation;
  state->why = std::move(made.why);
  state->kernel = std::move(made.kernel);
  const Pattern& pattern = state->kernel->pattern();
  state->C = {pair_C,          desc.A.matrix.scalar, base, desc.rows, desc.cols, state->kernel->nnz(),
              pattern.offsets, pattern.indices};
  state->A = PlannedMatrix(queue, desc.A.matrix, parsed.checked);
  state->B = PlannedMatrix(queue, desc.B.matrix, parsed.checked);
  state->checked = parsed.checked;
  state->desc = std::move(desc);
  state->desc.A.matrix = state->A.ref();
  state->desc.B.matrix = state->B.ref();
  log(LogLevel::info, "spadd plan: ", state->implementation->name, " (", state->why, ")");
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return std::make_shared<Plan>(std::move(context), std::move(state), std::move(passed_over), seconds);
}

void execute(Plan& plan, const void* alpha, const Matrix& A, const void* beta, const Matrix& B, Matrix& C) {
  State& state = plan.as<State>();
  Queue& queue = plan.context().queue();
  require(alpha != nullptr, KKC_STATUS_NULL_POINTER, "alpha is NULL, expected a scalar of the planned type");
  require(beta != nullptr, KKC_STATUS_NULL_POINTER, "beta is NULL, expected a scalar of the planned type");
  state.A.check(A, queue, "A");
  state.B.check(B, queue, "B");
  require_planned_output(C, state.C, queue, "C");
  const CsrRef& c = C.ref();
  require_alignment(c.values, c.scalar, queue, "C's values array");
  require(!overlap(c, A.ref()), KKC_STATUS_INVALID_ARGUMENT, "C's values overlap those of A, expected separate memory");
  require(!overlap(c, B.ref()), KKC_STATUS_INVALID_ARGUMENT, "C's values overlap those of B, expected separate memory");
  if (state.checked) require_planned_pattern(C, state.C, queue, "C");
  if (c.nnz == 0) return;
  const Args args{
      {alpha, state.desc.device_scalars}, {beta, state.desc.device_scalars}, A.ref(), B.ref(), c, plan.workspace()};
  queue.run([&] { state.kernel->execute(queue, args); });
}

}  // namespace kkc::spadd
