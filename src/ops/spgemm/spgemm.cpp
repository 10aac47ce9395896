// spgemm: validation, choice of the implementation, and the plan's state.
#include "spgemm.hpp"

#include <array>
#include <chrono>
#include <optional>

#include "core/dispatch.hpp"
#include "ops/transpose/transpose.hpp"
#include "spgemm_plan.hpp"

namespace kkc::spgemm {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

CsrRef without_values(CsrRef A) {
  A.values = nullptr;
  return A;
}

void check_operands(const CsrRef& a, const CsrRef& b, Op op_a, Op op_b, IndexPair pair) {
  require(a.scalar != Scalar::none, KKC_STATUS_TYPE_MISMATCH,
          "A is a pattern without values, expected a matrix with values");
  require(b.scalar == a.scalar, KKC_STATUS_TYPE_MISMATCH, "B holds ", name(b.scalar), ", expected the type of A, ",
          name(a.scalar));
  require(b.pair == a.pair, KKC_STATUS_TYPE_MISMATCH, "B is of index pair ", name(b.pair), ", expected that of A, ",
          name(a.pair));
  require(ordinal_size(pair) == ordinal_size(a.pair), KKC_STATUS_TYPE_MISMATCH, "index_pair_C is ", name(pair),
          ", expected column indices as wide as those of A, ", name(a.pair));
  const int64_t inner_a = transposes(op_a) ? a.rows : a.cols, inner_b = transposes(op_b) ? b.cols : b.rows;
  if (inner_a != inner_b)
    fail(KKC_STATUS_SIZE_MISMATCH, "op_B(B) has ", inner_b, " rows, expected ", inner_a, ", the columns of op_A(A)");
}

void check_mask(Queue& queue, const Matrix& mask, const CsrRef& a, int64_t rows, int64_t cols) {
  require_on_device(mask, queue, "mask");
  const CsrRef& m = mask.ref();
  if (m.rows != rows || m.cols != cols)
    fail(KKC_STATUS_SIZE_MISMATCH, "mask is ", m.rows, " x ", m.cols, ", expected the size of C, ", rows, " x ", cols);
  require(m.pair == a.pair, KKC_STATUS_TYPE_MISMATCH, "mask is of index pair ", name(m.pair), ", expected that of A, ",
          name(a.pair));
}

bool conjugates_values(Op op, Scalar scalar) { return conjugates(op) && is_complex_scalar(scalar); }

/// Null where the operand's values are not just in another order.
const void* positions_of(const Operand& operand, Scalar scalar) {
  return transposes(operand.op) && !conjugates_values(operand.op, scalar) && operand.transpose.positions
             ? operand.transpose.positions->data()
             : nullptr;
}

void leave_to_kernel(Operand& operand, Scalar scalar) {
  operand.by_kernel = positions_of(operand, scalar) != nullptr;
  operand.gathers = operand.gathers && !operand.by_kernel;
}

/// The lengths of the rows of a pattern of the library's own making: its columns need no look.
RowStats known_row_stats(Queue& queue, const CsrRef& A) {
  RowStats stats;
  queue.run([&] {
    const row_stats::Pass pass{A, true};
    only_implementation<row_stats::Implementation>(queue, "row_stats").run(queue, {&pass, 1}, &stats);
  });
  return stats;
}

/// The operand's pattern, with what its values will need; rows: A's, then the pattern's.
CsrRef as_multiplied(Queue& queue, const Context& context, const CsrRef& A, RowStats& rows, Operand& operand) {
  const bool single = rows.shortest == 1 && rows.longest == 1;
  operand.gathers = transposes(operand.op) || conjugates_values(operand.op, A.scalar);
  std::optional<RowStats> found;
  if (operand.gathers)
    queue.run([&] {
      only_implementation<entry_map::Implementation>(queue, "entry_map").prepare_gather(queue, A.scalar, A.pair);
      if (transposes(operand.op))
        operand.transpose = transpose::transposed_pattern(queue, Memory::in_order(context.memory()), A, single, &found);
    });
  if (!transposes(operand.op)) return without_values(A);
  const EntryMap& map = operand.transpose;
  const CsrRef pattern{A.pair, A.scalar, 0, map.rows, map.cols, map.nnz, map.offsets->data(), map.indices->data(),
                       nullptr};
  rows = found ? *found : known_row_stats(queue, pattern);
  return pattern;
}

/// The lengths of the rows of A and B. Columns of patterns that the library made and nobody may write, another
/// product's say, need no look either. Hosts ask only whether B has rows of several entries: where the sizes of a
/// pattern that needs no look tell that, it gets none.
void find_row_stats(const Context& context, const Matrix& A, const Matrix& B, bool tuned, Desc& desc) {
  const std::array patterns{NamedPattern{A.ref(), "A", !A.pattern_is_own()},
                            NamedPattern{B.ref(), "B", !B.pattern_is_own()}};
  const CsrRef& b = B.ref();
  const bool sizes_tell = is_host(context.queue().device()) && !tuned && !B.pattern_is_own() && b.nnz > b.rows;
  const auto stats = checked_row_stats(context, std::span(patterns).first(&A == &B || sizes_tell ? 1 : 2));
  desc.rows_a = stats.front();
  desc.rows_b = stats.back();
  if (&A == &B || !sizes_tell) return;
  desc.rows_b = {};
  desc.rows_b.longest = (b.nnz - 1) / b.rows + 1;
}

std::string tuning_key(const Queue& queue, const Desc& d) {
  uint64_t lengths = 0;
  for (const RowStats* rows : {&d.rows_a, &d.rows_b})
    for (const int64_t nonzeros : rows->nonzeros) lengths = lengths * 1000003 + static_cast<uint64_t>(nonzeros);
  return cat("spgemm ", name(queue.device()), ' ', queue.concurrency(), ' ', name(d.A.pair), ' ', name(d.pair), ' ',
             name(d.scalar()), ' ', d.A.rows, 'x', d.A.cols, 'x', d.B.cols, " nnz ", d.A.nnz, ' ', d.B.nnz, " lengths ",
             lengths, d.masked ? cat(" mask ", d.mask.nnz) : "", d.sorted ? "" : " unsorted",
             d.deterministic ? " deterministic" : "", d.device_scalars ? " device" : "",
             d.max_workspace >= 0 ? cat(" workspace ", d.max_workspace) : "");
}

/// Private operands on which tuning = measure times candidates: the caller's data are neither read nor written.
class Trial {
 public:
  Trial(const Context& context, const Desc& desc)
      : context_(context),
        a_(random_numbers(context, desc.scalar(), desc.A.nnz)),
        b_(random_numbers(context, desc.scalar(), desc.B.nnz)),
        coefficients_(random_numbers(context, desc.scalar(), 2)),
        args_{coefficient(desc, 0), coefficient(desc, 1), desc.A, desc.B, nullptr, nullptr} {
    args_.A.values = a_.data();
    args_.B.values = b_.data();
  }

  double seconds(Kernel& kernel) {
    if (kernel.output.nnz == 0) return 0;
    Queue& queue = context_.queue();
    c_ = random_numbers(context_, kernel.output.scalar, kernel.output.nnz);
    workspace_ = Buffer(context_.memory(), c_.space(), kernel.workspace_bytes());
    args_.C = c_.data();
    args_.workspace = workspace_.data();
    double seconds = 0;
    queue.run([&] { seconds = fastest_seconds(queue, [&] { kernel.execute(queue, args_); }); });
    return seconds;
  }

 private:
  Coefficient coefficient(const Desc& desc, int which) const {
    if (desc.device_scalars) return {coefficients_.as<char>() + which * size_of(desc.scalar()), true};
    return {host_coefficients_ + which * size_of(desc.scalar()) / sizeof(double), false};
  }

  const Context& context_;
  Buffer a_, b_, c_, coefficients_, workspace_;
  double host_coefficients_[4] = {0.5, 0.25, 0.5, 0.25};
  Args args_;
};

size_t rounded(size_t bytes) { return (bytes + memory_alignment - 1) / memory_alignment * memory_alignment; }

size_t gathered_bytes(const State& state, const Desc& desc) {
  return (state.A.gathers ? rounded(values_bytes(desc.A)) : 0) + (state.B.gathers ? rounded(values_bytes(desc.B)) : 0);
}

/// The kernel's part first, then the gathered values.
void place_workspace(State& state, const Desc& desc) {
  const size_t gathered = gathered_bytes(state, desc), own = state.kernel->workspace_bytes();
  state.total_bytes = gathered == 0 ? own : rounded(own) + gathered;
  state.A.at = rounded(own);
  state.B.at = state.A.at + (state.A.gathers ? rounded(values_bytes(desc.A)) : 0);
}

}  // namespace

void State::describe(Info& info) const {
  const OutputPattern& C = kernel->output;
  info.add("implementation", std::string(implementation->name));
  info.add("why", why);
  info.add("deterministic", int64_t{implementation->deterministic});
  info.add("op_A", std::string(kkc::name(A.op)));
  info.add("op_B", std::string(kkc::name(B.op)));
  info.add("index_pair", std::string(kkc::name(A.planned.ref().pair)));
  info.add("index_pair_C", std::string(kkc::name(C.pair)));
  info.add("scalar", std::string(kkc::name(C.scalar)));
  info.add("rows", C.rows);
  info.add("cols", C.cols);
  info.add("nnz", C.nnz);
  info.add("masked", int64_t{masked});
  kernel->describe(info);
}

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, Op op_a, const Matrix& A, Op op_b, const Matrix& B,
                           const Matrix* mask, IndexPair pair, const Options& options) {
  const auto start = Clock::now();
  PlanOptions parsed(options, "kkc_spgemm_plan", {"sorted", "base"});
  const auto base = static_cast<int32_t>(options.integer("base", A.ref().base, 0, 1));
  Queue& queue = context->queue();
  require_on_device(A, queue, "A");
  require_on_device(B, queue, "B");
  check_operands(A.ref(), B.ref(), op_a, op_b, pair);

  auto state = std::make_unique<State>();
  state->A.op = op_a;
  state->B.op = op_b;
  Desc desc{};
  desc.pair = pair;
  find_row_stats(*context, A, B, parsed.measure, desc);
  const auto multiply_A = [&] {
    desc.A = as_multiplied(queue, *context, A.ref(), desc.rows_a, state->A);
    desc.positions_A = positions_of(state->A, desc.scalar());
    desc.stored_A = {};
  };
  const bool both = &A == &B && op_a == op_b;
  if (transposes(op_a) && !conjugates_values(op_a, A.ref().scalar) && is_host(queue.device()) && !both) {
    // The transpose waits until it is known whether anybody needs it.
    const CsrRef& a = A.ref();
    desc.stored_A = without_values(a);
    desc.A = {a.pair, a.scalar, 0, a.cols, a.rows, a.nnz, nullptr, nullptr, nullptr};
    state->A.gathers = true;
  } else {
    multiply_A();
  }
  if (both) {
    state->B = state->A;
    desc.B = desc.A;
    desc.rows_b = desc.rows_a;
  } else {
    desc.B = as_multiplied(queue, *context, B.ref(), desc.rows_b, state->B);
  }
  desc.positions_B = positions_of(state->B, desc.scalar());
  if (mask != nullptr) {
    check_mask(queue, *mask, A.ref(), desc.rows(), desc.cols());
    desc.masked = true;
    desc.mask = without_values(mask->ref());
    checked_row_stats(*context, desc.mask, "mask");
  }
  desc.sorted = options.flag("sorted", true);
  desc.deterministic = parsed.deterministic;
  desc.device_scalars = parsed.device_scalars;
  desc.named = parsed.measure || !parsed.implementation.empty();
  desc.memory = context->memory();
  const size_t gathered = gathered_bytes(*state, desc);
  if (parsed.max_workspace >= 0) {
    require(gathered <= static_cast<size_t>(parsed.max_workspace), KKC_STATUS_NOT_SUPPORTED,
            "the operands' values need ", gathered,
            " bytes of workspace under op_A and op_B, more than max_workspace, ", parsed.max_workspace);
    parsed.max_workspace -= static_cast<int64_t>(gathered);
  }
  desc.max_workspace = parsed.max_workspace;

  PassedOver passed_over;
  const auto takes = eligible<Implementation>(queue.table(), State::name, parsed, desc, passed_over);
  if (desc.stored_A.offsets != nullptr) {
    state->A.stored = takes.size() == 1 && takes[0]->transposes_itself != nullptr && takes[0]->transposes_itself(desc);
    if (!state->A.stored) multiply_A();
  }
  const Choice<Implementation, Kernel, Desc> choice(*context, State::name, parsed, desc, takes, passed_over);
  auto made = parsed.measure && takes.size() > 1
                  ? choice.measured(tuning_key(queue, desc),
                                    [trial = std::optional<Trial>(), &context, &desc](Kernel& kernel) mutable {
                                      if (!trial) trial.emplace(*context, desc);
                                      return trial->seconds(kernel);
                                    })
                  : choice.first();

  state->implementation = made.implementation;
  state->why = std::move(made.why);
  state->kernel = std::move(made.kernel);
  state->kernel->output.base = base;
  const bool knows = state->kernel->knows_positions();
  if (state->A.stored)
    state->A.gathers = false;
  else if (knows || state->kernel->takes_positions())
    leave_to_kernel(state->A, desc.scalar());
  if (knows) leave_to_kernel(state->B, desc.scalar());
  state->A.planned = PlannedMatrix(queue, A.ref(), parsed.checked);
  state->B.planned = PlannedMatrix(queue, B.ref(), parsed.checked);
  place_workspace(*state, desc);
  state->masked = desc.masked;
  state->device_scalars = parsed.device_scalars;
  state->checked = parsed.checked;
  log(LogLevel::info, "spgemm plan: ", state->implementation->name, " (", state->why, ")");
  return std::make_shared<Plan>(std::move(context), std::move(state), std::move(passed_over), seconds_since(start));
}

namespace {

bool is_zero(const void* coefficient, Scalar scalar) {
  bool zero = false;
  dispatch_scalar(AllScalars{}, scalar, [&](auto type) {
    zero = Coefficient{coefficient, false}.known_to_be(typename decltype(type)::type{});
  });
  return zero;
}

/// A as the kernel multiplies it; gathers its values if `wanted`.
CsrRef prepare(Queue& queue, const Operand& operand, const CsrRef& A, void* workspace, bool wanted) {
  const EntryMap& map = operand.transpose;
  if (operand.by_kernel)
    return {A.pair, A.scalar, 0, map.rows, map.cols, map.nnz, map.offsets->data(), map.indices->data(), A.values};
  if (!operand.gathers) return A;  // also what is stored
  const bool turned = transposes(operand.op);
  void* const values = static_cast<char*>(workspace) + operand.at;
  if (wanted && A.nnz > 0)
    only_implementation<entry_map::Implementation>(queue, "entry_map")
        .gather(queue, {A.scalar, A.pair, A.nnz, turned ? map.positions->data() : nullptr, nullptr,
                        conjugates(operand.op) && is_complex_scalar(A.scalar), A.values, values});
  if (turned)
    return {A.pair, A.scalar, 0, map.rows, map.cols, map.nnz, map.offsets->data(), map.indices->data(), values};
  CsrRef same = A;
  same.values = values;
  return same;
}

}  // namespace

void execute(Plan& plan, const void* alpha, const Matrix& A, const Matrix& B, const void* beta, Matrix& C) {
  State& state = plan.as<State>();
  Queue& queue = plan.context().queue();
  const CsrRef& c = C.ref();
  require(alpha != nullptr, KKC_STATUS_NULL_POINTER, "alpha is NULL, expected a scalar of the planned type");
  require(beta != nullptr, KKC_STATUS_NULL_POINTER, "beta is NULL, expected a scalar of the planned type");
  state.A.planned.check(A, queue, "A");
  state.B.planned.check(B, queue, "B");
  require_planned_output(C, state.kernel->output, queue, "C");
  require_alignment(c.values, c.scalar, queue, "C's values array");
  for (const Matrix* read : {&A, &B})
    require(!values_overlap(c, read->ref()), KKC_STATUS_INVALID_ARGUMENT, "C's values overlap those of ",
            read == &A ? "A" : "B", ", expected separate memory");
  if (state.checked) require_planned_pattern(C, state.kernel->output, queue, "C");
  if (c.nnz == 0) return;
  const bool reads = state.device_scalars || !is_zero(alpha, c.scalar);
  queue.run([&] {
    Args args{};
    args.alpha = {alpha, state.device_scalars};
    args.beta = {beta, state.device_scalars};
    args.A = prepare(queue, state.A, A.ref(), plan.workspace(), reads);
    args.B = prepare(queue, state.B, B.ref(), plan.workspace(), reads);
    args.C = const_cast<void*>(c.values);
    args.workspace = plan.workspace();
    if (state.A.by_kernel && !state.kernel->knows_positions()) args.positions_A = state.A.transpose.positions->data();
    state.kernel->execute(queue, args);
  });
}

}  // namespace kkc::spgemm
