// krylov: validation, the choice of the implementation, and the plan's state.
#include "krylov.hpp"

#include <algorithm>
#include <chrono>

#include "core/log.hpp"
#include "core/named_implementation.hpp"
#include "core/strided.hpp"
#include "krylov_solve.hpp"
#include "ops/row_stats/row_stats.hpp"
#include "ops/spmv/spmv_plan.hpp"

namespace kkc::krylov {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

void check_vector(const View& v, const CsrRef& A, const Queue& queue, const char* argument) {
  require_usable(v, queue, argument);
  if (v.rank() != 1 || v.extent(0) != A.rows)
    fail(KKC_STATUS_SIZE_MISMATCH, argument, " is ", v.shape(), " of rank ", v.rank(), ", expected rank 1 with ",
         A.rows, " elements, the rows of A");
  require(v.scalar() == A.scalar, KKC_STATUS_TYPE_MISMATCH, argument, " holds ", name(v.scalar()),
          ", expected the type of A, ", name(A.scalar));
}

Settings parse(const Options& options, Scalar scalar, Device device, int64_t n) {
  const std::string method = options.choice("method", {"cg", "bicgstab", "gmres"});
  Settings settings{};
  settings.method = method == "cg" ? Method::cg : method == "bicgstab" ? Method::bicgstab : Method::gmres;
  // Rows of one column sums' blocks must fit a context's scratch: the largest restart is far from that.
  settings.restart = std::min(options.integer("restart", 30, 1, 1000), std::max<int64_t>(n, 1));
  const bool single = scalar == Scalar::f32 || scalar == Scalar::c64;
  settings.tolerance = options.real("tolerance", single ? 1e-5 : 1e-8);
  require(settings.tolerance > 0 && settings.tolerance - settings.tolerance == 0, KKC_STATUS_INVALID_ARGUMENT,
          "options: \"tolerance\" is ", settings.tolerance, ", expected a number above 0");
  settings.relative = options.choice("convergence", {"relative", "absolute"}) == "relative";
  settings.max_iterations = options.integer("max_iterations", 1000, 0, int64_t{1} << 32);
  settings.check_every = options.integer("check_every", is_host(device) ? 1 : 8, 1, 1 << 20);
  settings.from_zero = options.choice("guess", {"given", "zero"}) == "zero";
  return settings;
}

/// The product with A, planned over vectors of the workspace.
std::shared_ptr<Plan> plan_product(const std::shared_ptr<Context>& context, const Matrix& A, const Options& given,
                                   const PlanOptions& parsed) {
  Options options;
  if (given.has("product"))
    options.set("implementation", named_implementation(given, "product", context->queue().table(), "spmv"));
  if (parsed.measure) options.set("tuning", std::string("measure"));
  if (parsed.values_kept) options.set("values", std::string("kept"));
  options.set("deterministic", int64_t{parsed.deterministic});
  const CsrRef& a = A.ref();
  const auto vector = View::wrap(*context, static_cast<int32_t>(a.scalar), 1, &a.rows, KKC_LAYOUT_LEFT, nullptr,
                                 static_cast<int32_t>(own_space(context->device())), nullptr, false);
  return spmv::plan(context, Op::none, A, *vector, *vector, options);
}

}  // namespace

const char* name(Method method) {
  return method == Method::cg ? "cg" : method == Method::bicgstab ? "bicgstab" : "gmres";
}

void State::describe(Info& info) const {
  info.add("implementation", std::string(implementation->name));
  info.add("why", why);
  info.add("deterministic", int64_t{implementation->deterministic});
  info.add("method", std::string(krylov::name(settings.method)));
  if (settings.method == Method::gmres) info.add("restart", settings.restart);
  info.add("tolerance", settings.tolerance);
  info.add("convergence", std::string(settings.relative ? "relative" : "absolute"));
  info.add("max_iterations", settings.max_iterations);
  info.add("check_every", settings.check_every);
  info.add("index_pair", std::string(kkc::name(A.ref().pair)));
  info.add("scalar", std::string(kkc::name(scalar)));
  info.add("rows", n);
  info.add("nnz", A.ref().nnz);
  info.add("product", std::string(product->as<spmv::State>().implementation->name));
  if (preconditioner != nullptr)
    preconditioner->describe(info);
  else
    info.add("preconditioner", std::string(jacobi ? "jacobi" : "none"));
  if (result.status == KKC_STATUS_WRONG_STATE) return;
  info.add("status", std::string(kkc_status_name(result.status)));
  info.add("iterations", result.iterations);
  info.add("restarts", result.restarts);
  info.add("residual", result.residual);
  info.add("bound", result.bound);
  info.add("execute_seconds", result.seconds);
}

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, const Matrix& A, const View& b, const View& x,
                           const Options& options) {
  const auto start = Clock::now();
  const PlanOptions parsed(
      options, "kkc_krylov_plan",
      {"method", "restart", "tolerance", "convergence", "max_iterations", "check_every", "guess", "product"}, true);
  Queue& queue = context->queue();
  const CsrRef& a = A.ref();
  require_on_device(A, queue, "A");
  require(a.scalar != Scalar::none, KKC_STATUS_TYPE_MISMATCH,
          "A is a pattern without values, expected a matrix with values");
  require(a.rows == a.cols, KKC_STATUS_SIZE_MISMATCH, "A is ", a.rows, " x ", a.cols, ", expected a square matrix");
  check_vector(b, a, queue, "b");
  check_vector(x, a, queue, "x");
  require_output(x, "x");

  auto state = std::make_unique<State>();
  state->context = context;
  state->settings = parse(options, a.scalar, queue.device(), a.rows);
  state->scalar = a.scalar;
  state->n = a.rows;
  PassedOver passed_over;
  const Desc desc{a.scalar, a.rows};
  state->implementation = eligible<Implementation>(queue.table(), State::name, parsed, desc, passed_over).front();
  state->why = parsed.implementation.empty() ? "first in order of priority that takes the case" : "named by the caller";
  state->A = PlannedMatrix(queue, a, parsed.checked);
  state->b = b.ref();
  state->x = x.ref();
  state->b.data = state->x.data = nullptr;
  state->own_x = x.ref().strides[0] != 1 && a.rows > 1;
  state->bytes = Workspace(*state, nullptr).bytes;
  require(parsed.max_workspace < 0 || state->bytes <= static_cast<size_t>(parsed.max_workspace),
          KKC_STATUS_NOT_SUPPORTED, "the vectors of ", name(state->settings.method), " need ", state->bytes,
          " bytes of workspace, more than max_workspace, ", parsed.max_workspace);
  state->product = plan_product(context, A, options, parsed);
  state->product_keeps_values = parsed.values_kept;
  queue.run([&] { state->implementation->load(queue, a.scalar); });
  log(LogLevel::info, "krylov plan: ", name(state->settings.method), ", ", state->implementation->name, " (",
      state->why, ")");
  return std::make_shared<Plan>(std::move(context), std::move(state), std::move(passed_over), seconds_since(start));
}

namespace {

/// The state belongs to one execute at a time: a callback might call the plan that called it.
class Running {
 public:
  explicit Running(State& state) : state_(state) {
    require(!state.running, KKC_STATUS_WRONG_STATE,
            "plan is executing, expected no use of it by its preconditioner's callback");
    state_.running = true;
  }
  ~Running() { state_.running = false; }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

 private:
  State& state_;
};

}  // namespace

void execute(Plan& plan, const Matrix& A, const View& b, View& x) {
  State& state = plan.as<State>();
  Queue& queue = plan.context().queue();
  state.A.check(A, queue, "A");
  require_as_planned(b, state.b, queue, "b");
  require_as_planned(x, state.x, queue, "x");
  require_output(x, "x");
  require(!overlap(b.ref(), x.ref()), KKC_STATUS_INVALID_ARGUMENT, "b and x overlap, expected separate memory");
  const Running running(state);
  const auto start = Clock::now();
  state.result = {};
  const End end = Solver(plan, state, A, b, x).run();
  state.result.status = end.status;
  state.result.seconds = seconds_since(start);
  log(LogLevel::info, "krylov: ", name(state.settings.method), ", ", state.result.iterations, " iterations, residual ",
      state.result.residual);
  if (end.status != KKC_STATUS_SUCCESS) fail(end.status, end.sentence);
}

const Result& result(Plan& plan) {
  const Result& result = plan.as<State>().result;
  require(result.status != KKC_STATUS_WRONG_STATE, KKC_STATUS_WRONG_STATE,
          "plan has no result yet, expected a kkc_krylov_execute that was not refused");
  return result;
}

}  // namespace kkc::krylov
