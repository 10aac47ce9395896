// sptrsv: validation, choice of the implementation, and the plan's state.
#include "sptrsv.hpp"

#include <algorithm>
#include <chrono>
#include <optional>

#include "core/dispatch.hpp"
#include "core/log.hpp"
#include "core/strided.hpp"
#include "ops/levels/levels_known.hpp"
#include "sptrsv_plan.hpp"

namespace kkc::sptrsv {
namespace {

using Clock = std::chrono::steady_clock;

/// Type, rank 1 or 2, as many rows as A; the argument's name is in the sentence.
void check_vector(const View& v, const CsrRef& A, const char* argument) {
  require(v.scalar() == A.scalar, KKC_STATUS_TYPE_MISMATCH, argument, " holds ", name(v.scalar()),
          ", expected the type of A, ", name(A.scalar));
  require(v.rank() == 1 || v.rank() == 2, KKC_STATUS_SIZE_MISMATCH, argument, " has rank ", v.rank(),
          ", expected 1 or 2");
  if (v.extent(0) != A.rows)
    fail(KKC_STATUS_SIZE_MISMATCH, argument, " is ", v.shape(), ", expected ", A.rows, " rows, the number of A's rows");
}

Desc describe_case(const Context& context, Op op, Uplo uplo, Diag diag, const Matrix& A, const View& b, const View& x,
                   const PlanOptions& options) {
  Queue& queue = context.queue();
  const CsrRef& a = A.ref();
  require_on_device(A, queue, "A");
  require_usable(b, queue, "b");
  require_usable(x, queue, "x");
  require_output(x, "x");
  require(a.rows == a.cols, KKC_STATUS_SIZE_MISMATCH, "A is ", a.rows, " x ", a.cols, ", expected a square matrix");
  require(a.scalar != Scalar::none, KKC_STATUS_TYPE_MISMATCH,
          "A is a pattern without values, expected a matrix with values");
  check_vector(b, a, "b");
  check_vector(x, a, "x");
  if (x.rank() != b.rank() || (x.rank() == 2 && x.extent(1) != b.extent(1)))
    fail(KKC_STATUS_SIZE_MISMATCH, "x is ", x.shape(), ", expected as many vectors as b, ", b.shape());

  Desc desc{};
  desc.op = op;
  desc.uplo = uplo;
  desc.diag = diag;
  desc.A = a;
  desc.b = b.ref();
  desc.x = x.ref();
  desc.vectors = x.rank() == 2 ? x.extent(1) : 1;
  desc.deterministic = options.deterministic;
  desc.values_kept = options.values_kept;
  desc.device_scalars = options.device_scalars;
  desc.max_workspace = options.max_workspace;
  desc.memory = context.memory();
  return desc;
}

std::string tuning_key(const Queue& queue, const Desc& d) {
  uint64_t lengths = 0;
  for (const int64_t nonzeros : d.rows.nonzeros) lengths = lengths * 1000003 + static_cast<uint64_t>(nonzeros);
  std::string key = cat("sptrsv ", name(queue.device()), ' ', queue.concurrency(), " op ", name(d.op), ' ',
                        name(d.uplo), ' ', name(d.diag), ' ', name(d.A.pair), ' ', name(d.A.scalar), " base ", d.A.base,
                        ' ', d.A.rows, " nnz ", d.A.nnz, " lengths ", lengths, " vectors ", d.vectors);
  for (const DenseRef* v : {&d.b, &d.x})
    for (int i = 0; i < v->rank; ++i) key += cat(i == 0 ? " strides " : ",", v->strides[i]);
  return key + cat(d.values_kept ? " kept" : "", d.deterministic ? " deterministic" : "",
                   d.device_scalars ? " device" : "", d.max_workspace >= 0 ? cat(" workspace ", d.max_workspace) : "");
}

/// Private operands on which tuning = measure times candidates: the caller's data are neither read nor written. The
/// values are random ones, so that solutions may overflow, which costs no time and is nobody's.
class Trial {
 public:
  Trial(const Context& context, const Desc& desc)
      : context_(context),
        values_(random_numbers(context, desc.A.scalar, desc.A.nnz)),
        b_(random_numbers(context, desc.A.scalar, span_of(desc.b))),
        x_(random_numbers(context, desc.A.scalar, span_of(desc.x))),
        alpha_(random_numbers(context, desc.A.scalar, 1)),
        args_{desc.device_scalars ? Coefficient{alpha_.data(), true} : Coefficient{host_alpha_, false}, desc.A, desc.b,
              desc.x, nullptr} {
    args_.A.values = values_.data();
    args_.b.data = b_.data();
    args_.x.data = x_.data();
  }

  double seconds(Kernel& kernel) {
    Queue& queue = context_.queue();
    workspace_ = Buffer(context_.memory(), values_.space(), kernel.workspace_bytes());
    args_.workspace = workspace_.data();
    double seconds = 0;
    queue.run([&] {
      if (kernel.keeps_values()) kernel.set_values(queue, args_.A);
      seconds = fastest_seconds(queue, [&] { kernel.execute(queue, args_); });
    });
    return seconds;
  }

 private:
  const Context& context_;
  Buffer values_, b_, x_, alpha_, workspace_;
  double host_alpha_[2] = {0.5, 0.25};
  Args args_;
};

}  // namespace

void State::describe(Info& info) const {
  info.add("implementation", std::string(implementation->name));
  info.add("why", why);
  info.add("deterministic", int64_t{implementation->deterministic});
  info.add("op", std::string(kkc::name(desc.op)));
  info.add("uplo", std::string(kkc::name(desc.uplo)));
  info.add("diag", std::string(kkc::name(desc.diag)));
  info.add("index_pair", std::string(kkc::name(desc.A.pair)));
  info.add("scalar", std::string(kkc::name(desc.A.scalar)));
  info.add("rows", desc.A.rows);
  info.add("nnz", desc.A.nnz);
  info.add("vectors", desc.vectors);
  info.add("levels_taken_over", int64_t{levels_taken_over});
  kernel->describe(info);
}

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, Op op, Uplo uplo, Diag diag, const Matrix& A,
                           const View& b, const View& x, const Options& options) {
  const auto start = Clock::now();
  const PlanOptions parsed(options, "kkc_sptrsv_plan", {}, true);
  Desc desc = describe_case(*context, op, uplo, diag, A, b, x, parsed);
  desc.rows = checked_row_stats(*context, desc.A, "A");
  desc.known_levels = levels::known(A.shared_offsets(), uplo, transposes(op));

  Queue& queue = context->queue();
  PassedOver passed_over;
  const auto takes = eligible<Implementation>(queue.table(), State::name, parsed, desc, passed_over);
  const Choice<Implementation, Kernel, Desc> choice(*context, State::name, parsed, desc, takes, passed_over);
  // Nothing is executed where x has no elements, so nothing is measured.
  auto made = parsed.measure && takes.size() > 1 && x.count() > 0
                  ? choice.measured(tuning_key(queue, desc),
                                    [trial = std::optional<Trial>(), &context, &desc](Kernel& kernel) mutable {
                                      if (!trial) trial.emplace(*context, desc);
                                      return trial->seconds(kernel);
                                    })
                  : choice.first();
  levels::remember(A.shared_offsets(), made.kernel->levels());

  auto state = std::make_unique<State>();
  state->implementation = made.implementation;
  state->why = std::move(made.why);
  state->kernel = std::move(made.kernel);
  state->A = PlannedMatrix(queue, desc.A, parsed.checked);
  state->levels_taken_over = desc.known_levels != nullptr && state->kernel->levels() == desc.known_levels;
  state->desc = std::move(desc);
  state->desc.known_levels = nullptr;
  state->desc.A = state->A.ref();
  state->desc.b.data = state->desc.x.data = nullptr;
  log(LogLevel::info, "sptrsv plan: ", state->implementation->name, " (", state->why, ")");
  return std::make_shared<Plan>(std::move(context), std::move(state), std::move(passed_over),
                                std::chrono::duration<double>(Clock::now() - start).count());
}

void execute(Plan& plan, const void* alpha, const Matrix& A, const View& b, View& x) {
  State& state = plan.as<State>();
  Queue& queue = plan.context().queue();
  require(alpha != nullptr, KKC_STATUS_NULL_POINTER, "alpha is NULL, expected a scalar of the planned type");
  state.A.check(A, queue, "A");
  require_as_planned(b, state.desc.b, queue, "b");
  require_as_planned(x, state.desc.x, queue, "x");
  require_output(x, "x");
  require(identical(b.ref(), x.ref()) || !overlap(b.ref(), x.ref()), KKC_STATUS_INVALID_ARGUMENT,
          "b and x overlap, expected the same elements or separate memory");
  require(!state.desc.values_kept || state.values_set, KKC_STATUS_WRONG_STATE,
          "plan keeps values (option values = kept) and has none yet, expected kkc_sptrsv_set_values first");
  if (x.count() == 0) return;
  const Args args{{alpha, state.desc.device_scalars}, A.ref(), b.ref(), x.ref(), plan.workspace()};
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

}  // namespace kkc::sptrsv
