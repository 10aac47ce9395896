// kkc_bench sort_rows: C = A with sorted rows, from rows in no order.
#include "bench_reorder.hpp"

namespace kkc::bench {

void sort_rows(Session& session) {
  const auto plan = [](kkc_context_t* ctx, kkc_matrix_t* A, const kkc_options_t* options) {
    return make<Plan>("kkc_sort_rows_plan", kkc_sort_rows_plan, ctx, A, options);
  };
  run_reorder(session, {"sort_rows", false, true, plan, kkc_sort_rows_execute, &Peer::sort_rows});
}

}  // namespace kkc::bench
