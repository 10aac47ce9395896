// kkc.h section 17: spadd.
#include "guard.hpp"
#include "ops/spadd/spadd_plan.hpp"

using namespace kkc;

extern "C" {

kkc_status_t kkc_spadd_plan(kkc_context_t* ctx, kkc_op_t op_A, const kkc_matrix_t* A, kkc_op_t op_B,
                            const kkc_matrix_t* B, kkc_index_pair_t index_pair_C, const kkc_options_t* options,
                            kkc_plan_t** plan) {
  return guard(
      [&] {
        give(
            spadd::plan(as<Context>(ctx, "ctx"), valid_op(op_A, "op_A"), *as<Matrix>(A, "A"), valid_op(op_B, "op_B"),
                        *as<Matrix>(B, "B"), valid_index_pair(index_pair_C, "index_pair_C"), *options_or_none(options)),
            plan);
      },
      out(plan, "plan"));
}

kkc_status_t kkc_spadd_execute(kkc_plan_t* plan, const void* alpha, const kkc_matrix_t* A, const void* beta,
                               const kkc_matrix_t* B, kkc_matrix_t* C) {
  return guard([&] {
    spadd::execute(*as<Plan>(plan, "plan"), alpha, *as<Matrix>(A, "A"), beta, *as<Matrix>(B, "B"), *as<Matrix>(C, "C"));
  });
}

}  // extern "C"
