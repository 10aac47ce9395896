// spmv: validation, choice of the implementation, and the plan's state.
#include "spmv.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "core/dispatch.hpp"
#include "core/log.hpp"
#include "core/strided.hpp"
#include "spmv_plan.hpp"

namespace kkc::spmv {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

/// Rank 1 or 2 with `rows` rows; the argument's name is in the sentence.
void check_vector(const View& v, int64_t rows, const char* argument, const char* what) {
  require(v.rank() == 1 || v.rank() == 2, KKC_STATUS_SIZE_MISMATCH, argument, " has rank ", v.rank(),
          ", expected 1 or 2");
  if (v.extent(0) != rows)
    fail(KKC_STATUS_SIZE_MISMATCH, argument, " is ", v.shape(), ", expected ", rows, " rows, the number of ", what);
}

Desc describe_case(const Context& context, Op op, const Matrix& A, const View& x, const View& y,
                   const PlanOptions& options, bool transpose_kept) {
  Queue& queue = context.queue();
  const CsrRef& a = A.ref();
  require_on_device(A, queue, "A");
  require_usable(x, queue, "x");
  require_usable(y, queue, "y");
  require_output(y, "y");
  require(a.scalar != Scalar::none, KKC_STATUS_TYPE_MISMATCH,
          "A is a pattern without values, expected a matrix with values");
  require(x.scalar() == a.scalar, KKC_STATUS_TYPE_MISMATCH, "x holds ", name(x.scalar()), ", expected the type of A, ",
          name(a.scalar));
  require(y.scalar() == a.scalar, KKC_STATUS_TYPE_MISMATCH, "y holds ", name(y.scalar()), ", expected the type of A, ",
          name(a.scalar));
  const bool flipped = transposes(op);
  check_vector(x, flipped ? a.rows : a.cols, "x", flipped ? "A's rows" : "A's columns");
  check_vector(y, flipped ? a.cols : a.rows, "y", flipped ? "A's columns" : "A's rows");
  if (x.rank() != y.rank() || (x.rank() == 2 && x.extent(1) != y.extent(1)))
    fail(KKC_STATUS_SIZE_MISMATCH, "y is ", y.shape(), ", expected as many vectors as x, ", x.shape());
  require(!transpose_kept || options.values_kept, KKC_STATUS_INVALID_ARGUMENT,
          "options: \"transpose\" is kept, expected \"values\" = kept beside it");

  Desc desc{};
  desc.op = op;
  desc.A = a;
  desc.x = x.ref();
  desc.y = y.ref();
  desc.vectors = x.rank() == 2 ? x.extent(1) : 1;
  desc.deterministic = options.deterministic;
  desc.values_kept = options.values_kept;
  desc.transpose_kept = transpose_kept && flipped;
  desc.device_scalars = options.device_scalars;
  desc.max_workspace = options.max_workspace;
  desc.memory = context.memory();
  return desc;
}

std::string tuning_key(const Queue& queue, const Desc& d) {
  uint64_t lengths = 0;
  for (int i = 0; i < 40; ++i) lengths = lengths * 1000003 + static_cast<uint64_t>(d.rows.nonzeros[i]);
  std::string key = cat("spmv ", name(queue.device()), ' ', queue.concurrency(), " op ", name(d.op), ' ',
                        name(d.A.pair), ' ', name(d.A.scalar), " base ", d.A.base, ' ', d.A.rows, 'x', d.A.cols,
                        " nnz ", d.A.nnz, " lengths ", lengths, " vectors ", d.vectors);
  for (const DenseRef* v : {&d.x, &d.y})
    for (int i = 0; i < v->rank; ++i) key += cat(i == 0 ? " strides " : ",", v->strides[i]);
  return key + cat(d.values_kept ? " kept" : "", d.transpose_kept ? " transposed" : "",
                   d.deterministic ? " deterministic" : "", d.device_scalars ? " device" : "",
                   d.max_workspace >= 0 ? cat(" workspace ", d.max_workspace) : "");
}

/// Private operands on which tuning = measure times candidates: the caller's data are neither read nor written.
class Trial {
 public:
  Trial(const Context& context, const Desc& desc)
      : context_(context),
        values_(random_numbers(context, desc.A.scalar, desc.A.nnz)),
        x_(random_numbers(context, desc.A.scalar, span_of(desc.x))),
        y_(random_numbers(context, desc.A.scalar, span_of(desc.y))),
        coefficients_(random_numbers(context, desc.A.scalar, 2)),
        args_{coefficient(desc, 0), coefficient(desc, 1), desc.A, desc.x, desc.y, nullptr} {
    args_.A.values = values_.data();
    args_.x.data = x_.data();
    args_.y.data = y_.data();
  }

  double seconds(Kernel& kernel, bool keeps_values) {
    Queue& queue = context_.queue();
    workspace_ = Buffer(context_.memory(), values_.space(), kernel.workspace_bytes());
    args_.workspace = workspace_.data();
    double seconds = 0;
    queue.run([&] {
      if (keeps_values) kernel.set_values(queue, args_.A);
      seconds = fastest_seconds(queue, [&] { kernel.execute(queue, args_); });
    });
    return seconds;
  }

 private:
  Coefficient coefficient(const Desc& desc, int which) {
    if (desc.device_scalars) return {coefficients_.as<char>() + which * size_of(desc.A.scalar), true};
    return {host_coefficients_ + which * size_of(desc.A.scalar) / sizeof(double), false};
  }

  const Context& context_;
  Buffer values_, x_, y_, coefficients_, workspace_;
  double host_coefficients_[4] = {0.5, 0.25, 0.5, 0.25};
  Args args_;
};

}  // namespace

void State::describe(Info& info) const {
  info.add("implementation", std::string(implementation->name));
  info.add("why", why);
  info.add("deterministic", int64_t{implementation->deterministic});
  info.add("op", std::string(kkc::name(desc.op)));
  info.add("index_pair", std::string(kkc::name(desc.A.pair)));
  info.add("scalar", std::string(kkc::name(desc.A.scalar)));
  info.add("rows", desc.A.rows);
  info.add("cols", desc.A.cols);
  info.add("nnz", desc.A.nnz);
  info.add("vectors", desc.vectors);
  info.add("longest_row", desc.rows.longest);
  kernel->describe(info);
}

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, Op op, const Matrix& A, const View& x, const View& y,
                           const Options& options) {
  const auto start = Clock::now();
  const PlanOptions parsed(options, "kkc_spmv_plan", {"transpose"}, true);
  const bool transpose_kept = options.choice("transpose", {"none", "kept"}) == "kept";
  Desc desc = describe_case(*context, op, A, x, y, parsed, transpose_kept);
  desc.rows = checked_row_stats(*context, desc.A, "A");

  Queue& queue = context->queue();
  PassedOver passed_over;
  const auto takes = eligible<Implementation>(queue.table(), "spmv", parsed, desc, passed_over);
  const Choice<Implementation, Kernel, Desc> choice(*context, "spmv", parsed, desc, takes, passed_over);
  // Nothing is executed where y has no elements, so nothing is measured.
  auto made = parsed.measure && takes.size() > 1 && y.count() > 0
                  ? choice.measured(tuning_key(queue, desc),
                                    [trial = std::optional<Trial>(), &context, &desc](Kernel& kernel) mutable {
                                      if (!trial) trial.emplace(*context, desc);
                                      return trial->seconds(kernel, kernel.keeps_values());
                                    })
                  : choice.first();

  auto state = std::make_unique<State>();
  state->implementation = made.implementation;
  state->why = std::move(made.why);
  state->kernel = std::move(made.kernel);
  state->A = PlannedMatrix(queue, desc.A, parsed.checked);
  state->desc = std::move(desc);
  state->desc.findings = {};
  state->desc.A = state->A.ref();
  state->desc.x.data = state->desc.y.data = nullptr;
  log(LogLevel::info, "spmv plan: ", state->implementation->name, " (", state->why, ")");
  return std::make_shared<Plan>(std::move(context), std::move(state), std::move(passed_over), seconds_since(start));
}

void execute(Plan& plan, const void* alpha, const Matrix& A, const View& x, const void* beta, View& y) {
  State& state = plan.as<State>();
  Queue& queue = plan.context().queue();
  require(alpha != nullptr, KKC_STATUS_NULL_POINTER, "alpha is NULL, expected a scalar of the planned type");
  require(beta != nullptr, KKC_STATUS_NULL_POINTER, "beta is NULL, expected a scalar of the planned type");
  state.A.check(A, queue, "A");
  require_as_planned(x, state.desc.x, queue, "x");
  require_as_planned(y, state.desc.y, queue, "y");
  require_output(y, "y");
  require(!overlap(x.ref(), y.ref()), KKC_STATUS_INVALID_ARGUMENT, "x and y overlap, expected separate memory");
  require(!state.desc.values_kept || state.values_set, KKC_STATUS_WRONG_STATE,
          "plan keeps values (option values = kept) and has none yet, expected kkc_spmv_set_values first");
  if (y.count() == 0) return;
  const Args args{{alpha, state.desc.device_scalars},
                  {beta, state.desc.device_scalars},
                  A.ref(),
                  x.ref(),
                  y.ref(),
                  plan.workspace()};
  queue.run([&] { state.kernel->execute(queue, args); });
}

void set_values(Plan& plan, const Matrix& A) {
  State& state = plan.as<State>();
  Queue& queue = plan.context().queue();
  require(state.desc.values_kept, KKC_STATUS_WRONG_STATE,
          "plan was made without option values = kept, expected a plan that keeps values");
  state.A.check(A, queue, "A");
  queue.run([&] { state.kernel->set_values(queue, A.ref()); });
  state.values_set = true;
}

}  // namespace kkc::spmv
