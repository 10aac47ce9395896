// kkc.h section 18: sptrsv.
#include "guard.hpp"
#include "ops/sptrsv/sptrsv_plan.hpp"

using namespace kkc;

extern "C" {

kkc_status_t kkc_sptrsv_plan(kkc_context_t* ctx, kkc_op_t op, kkc_uplo_t uplo, kkc_diag_t diag, const kkc_matrix_t* A,
                             const kkc_view_t* b, const kkc_view_t* x, const kkc_options_t* options,
                             kkc_plan_t** plan) {
  return guard(
      [&] {
        give(sptrsv::plan(as<Context>(ctx, "ctx"), valid_op(op), valid_uplo(uplo), valid_diag(diag),
                          *as<Matrix>(A, "A"), *as<View>(b, "b"), *as<View>(x, "x"), *options_or_none(options)),
             plan);
      },
      out(plan, "plan"));
}

kkc_status_t kkc_sptrsv_execute(kkc_plan_t* plan, const void* alpha, const kkc_matrix_t* A, const kkc_view_t* b,
                                kkc_view_t* x) {
  return guard([&] {
    sptrsv::execute(*as<Plan>(plan, "plan"), alpha, *as<Matrix>(A, "A"), *as<View>(b, "b"), *as<View>(x, "x"));
  });
}

kkc_status_t kkc_sptrsv_set_values(kkc_plan_t* plan, const kkc_matrix_t* A) {
  return guard([&] { sptrsv::set_values(*as<Plan>(plan, "plan"), *as<Matrix>(A, "A")); });
}

}  // extern "C"
