// kkc_bench transpose: C = A^T.
#include "bench_reorder.hpp"

namespace kkc::bench {

void transpose(Session& session) {
  const auto plan = [](kkc_context_t* ctx, kkc_matrix_t* A, const kkc_options_t* options) {
    return make<Plan>("kkc_transpose_plan", kkc_transpose_plan, ctx, KKC_OP_TRANSPOSE, A, arrays_of(A).index, options);
  };
  run_reorder(session, {"transpose", true, false, plan, kkc_transpose_execute, &Peer::transpose});
}

}  // namespace kkc::bench
