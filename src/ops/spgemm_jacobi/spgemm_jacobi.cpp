// spgemm_jacobi: validation, choice of the implementation, and the plan's state.
#include "spgemm_jacobi.hpp"

#include <array>
#include <chrono>
#include <optional>

#include "core/log.hpp"
#include "core/named_implementation.hpp"
#include "spgemm_jacobi_plan.hpp"

namespace kkc::spgemm_jacobi {
namespace {

using Clock = std::chrono::steady_clock;

void check_operands(const CsrRef& a, const CsrRef& b, IndexPair pair) {
  require(a.rows == a.cols, KKC_STATUS_SIZE_MISMATCH, "A is ", a.rows, " x ", a.cols, ", expected a square matrix");
  require(b.rows == a.rows, KKC_STATUS_SIZE_MISMATCH, "B has ", b.rows, " rows, expected ", a.rows,
          ", the columns of A");
  require(a.scalar != Scalar::none, KKC_STATUS_TYPE_MISMATCH,
          "A is a pattern without values, expected a matrix with values");
  require(b.scalar == a.scalar, KKC_STATUS_TYPE_MISMATCH, "B holds ", name(b.scalar), ", expected the type of A, ",
          name(a.scalar));
  require(b.pair == a.pair, KKC_STATUS_TYPE_MISMATCH, "B is of index pair ", name(b.pair), ", expected that of A, ",
          name(a.pair));
  require(ordinal_size(pair) == ordinal_size(a.pair), KKC_STATUS_TYPE_MISMATCH, "index_pair_C is ", name(pair),
          ", expected column indices as wide as those of A, ", name(a.pair));
}

std::string tuning_key(const Queue& queue, const Desc& desc) {
  const spgemm::Desc& d = desc.product;
  uint64_t lengths = 0;
  for (const RowStats* rows : {&d.rows_a, &d.rows_b})
    for (const int64_t nonzeros : rows->nonzeros) lengths = lengths * 1000003 + static_cast<uint64_t>(nonzeros);
  return cat("spgemm_jacobi ", name(queue.device()), ' ', queue.concurrency(), ' ', name(d.A.pair), ' ', name(d.pair),
             ' ', name(d.scalar()), ' ', d.A.rows, 'x', d.B.cols, " nnz ", d.A.nnz, ' ', d.B.nnz, " lengths ", lengths,
             desc.product_name.empty() ? "" : cat(" product ", desc.product_name), d.sorted ? "" : " unsorted",
             d.deterministic ? " deterministic" : "", desc.device_scalars ? " device" : "",
             d.max_workspace >= 0 ? cat(" workspace ", d.max_workspace) : "");
}

/// Private operands on which tuning = measure times candidates: the caller's data are neither read nor written.
class Trial {
 public:
  Trial(const Context& context, const Desc& desc)
      : context_(context),
        a_(random_numbers(context, desc.product.scalar(), desc.product.A.nnz)),
        b_(random_numbers(context, desc.product.scalar(), desc.product.B.nnz)),
        inverse_(random_numbers(context, desc.product.scalar(), desc.product.A.rows)),
        omega_(random_numbers(context, desc.product.scalar(), 1)) {
    args_.omega = desc.device_scalars ? Coefficient{omega_.data(), true} : Coefficient{host_omega_, false};
    args_.inverse = inverse_.data();
    args_.inverse_stride = 1;
    args_.A = desc.product.A;
    args_.B = desc.product.B;
    args_.A.values = a_.data();
    args_.B.values = b_.data();
  }

  double seconds(Kernel& kernel) {
    if (kernel.output().nnz == 0) return 0;
    Queue& queue = context_.queue();
    c_ = random_numbers(context_, kernel.output().scalar, kernel.output().nnz);
    workspace_ = Buffer(context_.memory(), c_.space(), kernel.workspace_bytes());
    args_.C = c_.data();
    args_.workspace = workspace_.data();
    double seconds = 0;
    queue.run([&] { seconds = fastest_seconds(queue, [&] { kernel.execute(queue, args_); }); });
    return seconds;
  }

 private:
  const Context& context_;
  Buffer a_, b_, inverse_, omega_, c_, workspace_;
  double host_omega_[2] = {0.5, 0.25};
  Args args_{};
};

}  // namespace

void State::describe(Info& info) const {
  const OutputPattern& C = kernel->output();
  info.add("implementation", std::string(implementation->name));
  info.add("why", why);
  info.add("deterministic", int64_t{implementation->deterministic});
  info.add("index_pair", std::string(kkc::name(A.ref().pair)));
  info.add("index_pair_C", std::string(kkc::name(C.pair)));
  info.add("scalar", std::string(kkc::name(C.scalar)));
  info.add("rows", C.rows);
  info.add("cols", C.cols);
  info.add("nnz", C.nnz);
  kernel->describe(info);
}

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, const Matrix& A, const Matrix& B, IndexPair pair,
                           const Options& options) {
  const auto start = Clock::now();
  const PlanOptions parsed(options, "kkc_spgemm_jacobi_plan", {"sorted", "base", "product"});
  const auto base = static_cast<int32_t>(options.integer("base", A.ref().base, 0, 1));
  Queue& queue = context->queue();
  require_on_device(A, queue, "A");
  require_on_device(B, queue, "B");
  check_operands(A.ref(), B.ref(), pair);

  Desc desc{};
  desc.product_name = named_implementation(options, "product", queue.table(), "spgemm");
  desc.device_scalars = parsed.device_scalars;
  spgemm::Desc& product = desc.product;
  product.A = A.ref();
  product.B = B.ref();
  product.A.values = product.B.values = nullptr;
  product.pair = pair;
  const std::array patterns{NamedPattern{product.A, "A"}, NamedPattern{product.B, "B"}};
  const auto stats = checked_row_stats(*context, std::span(patterns).first(&A == &B ? 1 : 2));
  product.rows_a = stats.front();
  product.rows_b = stats.back();
  product.sorted = options.flag("sorted", true);
  product.deterministic = parsed.deterministic;
  product.max_workspace = parsed.max_workspace;
  product.memory = context->memory();

  PassedOver passed_over;
  const auto takes = eligible<Implementation>(queue.table(), State::name, parsed, desc, passed_over);
  const Choice<Implementation, Kernel, Desc> choice(*context, State::name, parsed, desc, takes, passed_over);
  auto made = parsed.measure && takes.size() > 1
                  ? choice.measured(tuning_key(queue, desc),
                                    [trial = std::optional<Trial>(), &context, &desc](Kernel& kernel) mutable {
                                      if (!trial) trial.emplace(*context, desc);
                                      return trial->seconds(kernel);
                                    })
                  : choice.first();

  auto state = std::make_unique<State>();
  state->implementation = made.implementation;
  state->why = std::move(made.why);
  state->kernel = std::move(made.kernel);
  state->kernel->output().base = base;
  state->A = PlannedMatrix(queue, A.ref(), parsed.checked);
  state->B = PlannedMatrix(queue, B.ref(), parsed.checked);
  state->device_scalars = parsed.device_scalars;
  state->checked = parsed.checked;
  log(LogLevel::info, "spgemm_jacobi plan: ", state->implementation->name, " (", state->why, ")");
  return std::make_shared<Plan>(std::move(context), std::move(state), std::move(passed_over),
                                std::chrono::duration<double>(Clock::now() - start).count());
}

void execute(Plan& plan, const void* omega, const View* dinv, const Matrix& A, const Matrix& B, Matrix& C) {
  State& state = plan.as<State>();
  Queue& queue = plan.context().queue();
  const CsrRef& c = C.ref();
  require(omega != nullptr, KKC_STATUS_NULL_POINTER, "omega is NULL, expected a scalar of the planned type");
  state.A.check(A, queue, "A");
  state.B.check(B, queue, "B");
  require_planned_output(C, state.kernel->output(), queue, "C");
  require_alignment(c.values, c.scalar, queue, "C's values array");
  Args args{};
  if (dinv != nullptr) {
    require_usable(*dinv, queue, "dinv");
    require(dinv->scalar() == c.scalar, KKC_STATUS_TYPE_MISMATCH, "dinv holds ", name(dinv->scalar()),
            ", expected the type of A, ", name(c.scalar));
    if (dinv->rank() != 1 || dinv->extent(0) != c.rows)
      fail(KKC_STATUS_SIZE_MISMATCH, "dinv is ", dinv->shape(), ", expected a vector of ", c.rows,
           " elements, the rows of A");
    require_data(*dinv, "dinv");
    require_alignment(dinv->data(), c.scalar, queue, "dinv");
    args.inverse = dinv->data();
    args.inverse_stride = dinv->ref().strides[0];
  }
  for (const Matrix* read : {&A, &B})
    require(!values_overlap(c, read->ref()), KKC_STATUS_INVALID_ARGUMENT, "C's values overlap those of ",
            read == &A ? "A" : "B", ", expected separate memory");
  if (state.checked) require_planned_pattern(C, state.kernel->output(), queue, "C");
  if (c.nnz == 0) return;
  args.omega = {omega, state.device_scalars};
  args.A = A.ref();
  args.B = B.ref();
  args.C = const_cast<void*>(c.values);
  args.workspace = plan.workspace();
  queue.run([&] { state.kernel->execute(queue, args); });
}

}  // namespace kkc::spgemm_jacobi
