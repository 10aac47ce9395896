// kkc.h section 12: spmv.
#include "guard.hpp"
#include "ops/spmv/spmv_plan.hpp"

using namespace kkc;

extern "C" {

kkc_status_t kkc_spmv_plan(kkc_context_t* ctx, kkc_op_t op, const kkc_matrix_t* A, const kkc_view_t* x,
                           const kkc_view_t* y, const kkc_options_t* options, kkc_plan_t** plan) {
  return guard(
      [&] {
        give(spmv::plan(as<Context>(ctx, "ctx"), valid_op(op), *as<Matrix>(A, "A"), *as<View>(x, "x"),
                        *as<View>(y, "y"), *options_or_none(options)),
             plan);
      },
      out(plan, "plan"));
}

kkc_status_t kkc_spmv_execute(kkc_plan_t* plan, const void* alpha, const kkc_matrix_t* A, const kkc_view_t* x,
                              const void* beta, kkc_view_t* y) {
  return guard([&] {
    spmv::execute(*as<Plan>(plan, "plan"), alpha, *as<Matrix>(A, "A"), *as<View>(x, "x"), beta, *as<View>(y, "y"));
  });
}

kkc_status_t kkc_spmv_set_values(kkc_plan_t* plan, const kkc_matrix_t* A) {
  return guard([&] { spmv::set_values(*as<Plan>(plan, "plan"), *as<Matrix>(A, "A")); });
}

}  // extern "C"
