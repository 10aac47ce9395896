// coo_to_csr: validation, choice of the implementation, and the plan's state.
#include "coo_to_csr.hpp"

#include "coo_to_csr_plan.hpp"
#include "core/planned_matrix.hpp"

namespace kkc::coo_to_csr {
namespace {

void check_indices(const View& view, Queue& queue, const char* argument) {
  require_usable(view, queue, argument);
  require(view.rank() == 1, KKC_STATUS_SIZE_MISMATCH, argument, " has rank ", view.rank(), ", expected 1");
  require(view.scalar() == Scalar::i32 || view.scalar() == Scalar::i64, KKC_STATUS_TYPE_MISMATCH, argument, " holds ",
          name(view.scalar()), ", expected i32 or i64");
  require_data(view, argument);
}

}  // namespace

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, int64_t rows, int64_t cols, int32_t base,
                           const View& row_indices, const View& col_indices, int32_t index_pair, int32_t scalar,
                           const Options& options) {
  const entry_map::PlanTimer timer;
  const PlanOptions parsed(options, "kkc_coo_to_csr_plan", {"duplicates", "base"});
  const bool add = options.choice("duplicates", {"add", "keep"}) == "add";
  Queue& queue = context->queue();
  check_indices(row_indices, queue, "row_indices");
  check_indices(col_indices, queue, "col_indices");
  const int64_t n = row_indices.extent(0);
  require(col_indices.extent(0) == n, KKC_STATUS_SIZE_MISMATCH, "col_indices has ", col_indices.extent(0),
          " elements, expected ", n, ", as row_indices");
  // Sizes are checked as those of a matrix whose arrays are there.
  const void* const there = &timer;
  const CsrRef sizes = valid_csr(rows, cols, n, index_pair, scalar, base, there, there, there);
  require_countable(cols, n, sizes.pair, "C");
  const auto base_C = static_cast<int32_t>(options.integer("base", base, 0, 1));

  const Desc desc{rows, cols, n, base, sizes.pair, row_indices.ref(), col_indices.ref(), add, context->memory()};
  PassedOver passed_over;
  const auto takes = eligible<Implementation>(queue.table(), "coo_to_csr", parsed, desc, passed_over);
  auto made = Choice<Implementation, EntryMap, Desc>(*context, "coo_to_csr", parsed, desc, takes, passed_over).first();

  auto state = std::make_unique<State>();
  state->chosen(made);
  state->checked = parsed.checked;
  state->adds = add;
  state->scalar = sizes.scalar;
  state->entries = n;
  state->adopt(*context, std::move(*made.kernel), sizes.scalar, sizes.pair, base_C);
  return timer.finish(std::move(context), std::move(state), std::move(passed_over));
}

void execute(Plan& plan, const View* values, Matrix& C) {
  const State& state = plan.as<State>();
  Queue& queue = plan.context().queue();
  if (state.scalar == Scalar::none) return state.gather(plan.context(), nullptr, C, "values");
  require(values != nullptr, KKC_STATUS_NULL_POINTER, "values is NULL, expected a view of type ", name(state.scalar));
  require_usable(*values, queue, "values");
  require(values->scalar() == state.scalar, KKC_STATUS_TYPE_MISMATCH, "values holds ", name(values->scalar()),
          ", expected ", name(state.scalar), ", as planned");
  if (values->rank() != 1 || values->extent(0) != state.entries)
    fail(KKC_STATUS_SIZE_MISMATCH, "values is ", values->shape(), " of rank ", values->rank(),
         ", expected rank 1 with ", state.entries, " elements, as planned");
  require(state.entries < 2 || values->ref().strides[0] == 1, KKC_STATUS_NOT_SUPPORTED, "values has stride ",
          values->ref().strides[0], ", expected 1");
  require_data(*values, "values");
  require_alignment(values->data(), state.scalar, queue, "values");
  state.gather(plan.context(), values->data(), C, "values");
}

}  // namespace kkc::coo_to_csr
