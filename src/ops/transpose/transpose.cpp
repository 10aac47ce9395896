// transpose: validation, choice of the implementation, and the plan's state.
#include "transpose.hpp"

#include <limits>

#include "ops/row_stats/row_stats.hpp"
#include "transpose_plan.hpp"

namespace kkc::transpose {

std::shared_ptr<Plan> plan(std::shared_ptr<Context> context, Op op, const Matrix& A, int32_t index_pair,
                           const Options& options) {
  const entry_map::PlanTimer timer;
  const PlanOptions parsed(options, "kkc_transpose_plan", {"base"});
  Queue& queue = context->queue();
  const CsrRef& a = A.ref();
  require_on_device(A, queue, "A");
  require(transposes(op), KKC_STATUS_INVALID_ARGUMENT, "op is ", kkc::name(op),
          ", expected KKC_OP_TRANSPOSE (2) or KKC_OP_HERMITIAN (4)");
  const IndexPair pair = valid_index_pair(index_pair);
  const auto base = static_cast<int32_t>(options.integer("base", a.base, 0, 1));
  for (const IndexPair counts : {a.pair, pair}) {
    require_countable(a.rows, a.nnz, counts, "C");
    require(ordinal_size(counts) == 8 || a.cols < std::numeric_limits<int32_t>::max(), KKC_STATUS_OVERFLOW, "C has ",
            a.cols, " rows, more than index pair ", kkc::name(counts), " counts");
  }
  static_cast<void>(checked_row_stats(*context, a, "A"));

  const Desc desc{a, context->memory()};
  PassedOver passed_over;
  const auto takes = eligible<Implementation>(queue.table(), "transpose", parsed, desc, passed_over);
  auto made = Choice<Implementation, EntryMap, Desc>(*context, "transpose", parsed, desc, takes, passed_over).first();

  auto state = std::make_unique<State>();
  state->chosen(made);
  state->checked = parsed.checked;
  state->conjugate = conjugates(op);
  state->A = PlannedMatrix(queue, a, parsed.checked);
  state->adopt(*context, std::move(*made.kernel), a.scalar, pair, base);
  return timer.finish(std::move(context), std::move(state), std::move(passed_over));
}

void execute(Plan& plan, const Matrix& A, Matrix& C) {
  const State& state = plan.as<State>();
  state.A.check(A, plan.context().queue(), "A");
  state.gather(plan.context(), A.ref().values, C, "A");
}

}  // namespace kkc::transpose
