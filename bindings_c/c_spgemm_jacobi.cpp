// kkc.h section 16: spgemm_jacobi.
#include "guard.hpp"
#include "ops/spgemm_jacobi/spgemm_jacobi_plan.hpp"

using namespace kkc;

extern "C" {

kkc_status_t kkc_spgemm_jacobi_plan(kkc_context_t* ctx, const kkc_matrix_t* A, const kkc_matrix_t* B,
                                    kkc_index_pair_t index_pair_C, const kkc_options_t* options, kkc_plan_t** plan) {
  return guard(
      [&] {
        give(spgemm_jacobi::plan(as<Context>(ctx, "ctx"), *as<Matrix>(A, "A"), *as<Matrix>(B, "B"),
                                 valid_index_pair(index_pair_C, "index_pair_C"), *options_or_none(options)),
             plan);
      },
      out(plan, "plan"));
}

kkc_status_t kkc_spgemm_jacobi_execute(kkc_plan_t* plan, const void* omega, const kkc_view_t* dinv,
                                       const kkc_matrix_t* A, const kkc_matrix_t* B, kkc_matrix_t* C) {
  return guard([&] {
    const auto inverse = as_optional<View>(dinv, "dinv");
    spgemm_jacobi::execute(*as<Plan>(plan, "plan"), omega, inverse.get(), *as<Matrix>(A, "A"), *as<Matrix>(B, "B"),
                           *as<Matrix>(C, "C"));
  });
}

}  // extern "C"
