// kkc.h section 19: ilu, ic, ilut.
#include "guard.hpp"
#include "ops/ic/ic_plan.hpp"
#include "ops/ilu/ilu_plan.hpp"
#include "ops/ilut/ilut_plan.hpp"

using namespace kkc;

extern "C" {

kkc_status_t kkc_ilu_plan(kkc_context_t* ctx, const kkc_matrix_t* A, const kkc_options_t* options, kkc_plan_t** plan) {
  return guard([&] { give(ilu::plan(as<Context>(ctx, "ctx"), *as<Matrix>(A, "A"), *options_or_none(options)), plan); },
               out(plan, "plan"));
}

kkc_status_t kkc_ilu_execute(kkc_plan_t* plan, const kkc_matrix_t* A, kkc_matrix_t* LU) {
  return guard([&] { ilu::execute(*as<Plan>(plan, "plan"), *as<Matrix>(A, "A"), *as<Matrix>(LU, "LU")); });
}

kkc_status_t kkc_ic_plan(kkc_context_t* ctx, const kkc_matrix_t* A, const kkc_options_t* options, kkc_plan_t** plan) {
  return guard([&] { give(ic::plan(as<Context>(ctx, "ctx"), *as<Matrix>(A, "A"), *options_or_none(options)), plan); },
               out(plan, "plan"));
}

kkc_status_t kkc_ic_execute(kkc_plan_t* plan, const kkc_matrix_t* A, kkc_matrix_t* L) {
  return guard([&] { ic::execute(*as<Plan>(plan, "plan"), *as<Matrix>(A, "A"), *as<Matrix>(L, "L")); });
}

kkc_status_t kkc_ilut_plan(kkc_context_t* ctx, const kkc_matrix_t* A, const kkc_options_t* options, kkc_plan_t** plan) {
  return guard([&] { give(ilut::plan(as<Context>(ctx, "ctx"), *as<Matrix>(A, "A"), *options_or_none(options)), plan); },
               out(plan, "plan"));
}

kkc_status_t kkc_ilut_execute(kkc_plan_t* plan, const kkc_matrix_t* A, kkc_matrix_t** L, kkc_matrix_t** U) {
  return guard(
      [&] {
        auto made = ilut::execute(*as<Plan>(plan, "plan"), *as<Matrix>(A, "A"));
        give(std::move(made.first), L);
        give(std::move(made.second), U);
      },
      out(L, "L"), out(U, "U"));
}

}  // extern "C"
