// kkc.h section 20: krylov.
#include <algorithm>

#include "guard.hpp"
#include "ops/krylov/krylov_plan.hpp"

using namespace kkc;

extern "C" {

kkc_status_t kkc_krylov_plan(kkc_context_t* ctx, const kkc_matrix_t* A, const kkc_view_t* b, const kkc_view_t* x,
                             const kkc_options_t* options, kkc_plan_t** plan) {
  return guard(
      [&] {
        give(krylov::plan(as<Context>(ctx, "ctx"), *as<Matrix>(A, "A"), *as<View>(b, "b"), *as<View>(x, "x"),
                          *options_or_none(options)),
             plan);
      },
      out(plan, "plan"));
}

kkc_status_t kkc_krylov_set_preconditioner(kkc_plan_t* plan, kkc_preconditioner_t kind, const kkc_matrix_t* M,
                                           const kkc_matrix_t* U, const kkc_options_t* options) {
  return guard([&] {
    krylov::set_preconditioner(*as<Plan>(plan, "plan"), kind, as_optional<Matrix>(M, "M"), as_optional<Matrix>(U, "U"),
                               *options_or_none(options));
  });
}

kkc_status_t kkc_krylov_set_callback(kkc_plan_t* plan, kkc_preconditioner_fn apply, void* user) {
  return guard([&] { krylov::set_callback(*as<Plan>(plan, "plan"), apply, user); });
}

kkc_status_t kkc_krylov_execute(kkc_plan_t* plan, const kkc_matrix_t* A, const kkc_view_t* b, kkc_view_t* x) {
  return guard([&] {
    // Owned here: a callback may destroy the handles.
    const auto owned = as<Plan>(plan, "plan");
    const auto matrix = as<Matrix>(A, "A");
    const auto right = as<View>(b, "b"), left = as<View>(x, "x");
    krylov::execute(*owned, *matrix, *right, *left);
  });
}

kkc_status_t kkc_krylov_result(const kkc_plan_t* plan, kkc_status_t* outcome, int64_t* iterations, double* residual) {
  return guard(
      [&] {
        const krylov::Result& result = krylov::result(*as<Plan>(plan, "plan"));
        if (outcome != nullptr) *outcome = result.status;
        if (iterations != nullptr) *iterations = result.iterations;
        if (residual != nullptr) *residual = result.residual;
      },
      optional_out(outcome), optional_out(iterations), optional_out(residual));
}

kkc_status_t kkc_krylov_history(const kkc_plan_t* plan, int64_t capacity, double* norms, int64_t* count) {
  return guard(
      [&] {
        require(capacity >= 0, KKC_STATUS_INVALID_ARGUMENT, "capacity is ", capacity, ", expected 0 or more");
        require(norms != nullptr || capacity == 0, KKC_STATUS_NULL_POINTER, "norms is NULL, expected room for ",
                capacity, " numbers");
        const std::vector<double>& history = krylov::result(*as<Plan>(plan, "plan")).history;
        *count = static_cast<int64_t>(history.size());
        std::copy_n(history.begin(), std::min(capacity, *count), norms);
      },
      out(count, "count"));
}

}  // extern "C"
