// kkc.h section 14: operations on matrices.
#include "guard.hpp"
#include "ops/transpose/transpose_plan.hpp"

using namespace kkc;

extern "C" {

kkc_status_t kkc_transpose_plan(kkc_context_t* ctx, kkc_op_t op, const kkc_matrix_t* A, kkc_index_pair_t index_pair,
                                const kkc_options_t* options, kkc_plan_t** plan) {
  return guard(
      [&] {
        give(transpose::plan(as<Context>(ctx, "ctx"), valid_op(op), *as<Matrix>(A, "A"), index_pair,
                             *options_or_none(options)),
             plan);
      },
      out(plan, "plan"));
}

kkc_status_t kkc_transpose_execute(kkc_plan_t* plan, const kkc_matrix_t* A, kkc_matrix_t* C) {
  return guard([&] { transpose::execute(*as<Plan>(plan, "plan"), *as<Matrix>(A, "A"), *as<Matrix>(C, "C")); });
}

}  // extern "C"
