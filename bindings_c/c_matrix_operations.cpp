// kkc.h section 14: operations on matrices.
#include "guard.hpp"
#include "ops/coo_to_csr/coo_to_csr_plan.hpp"
#include "ops/csr_to_coo/csr_to_coo.hpp"
#include "ops/matrix_diagonal/matrix_diagonal.hpp"
#include "ops/matrix_scale/matrix_scale.hpp"
#include "ops/sort_rows/sort_rows_plan.hpp"
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

kkc_status_t kkc_sort_rows_plan(kkc_context_t* ctx, const kkc_matrix_t* A, const kkc_options_t* options,
                                kkc_plan_t** plan) {
  return guard(
      [&] { give(sort_rows::plan(as<Context>(ctx, "ctx"), *as<Matrix>(A, "A"), *options_or_none(options)), plan); },
      out(plan, "plan"));
}

kkc_status_t kkc_sort_rows_execute(kkc_plan_t* plan, const kkc_matrix_t* A, kkc_matrix_t* C) {
  return guard([&] { sort_rows::execute(*as<Plan>(plan, "plan"), *as<Matrix>(A, "A"), *as<Matrix>(C, "C")); });
}

kkc_status_t kkc_coo_to_csr_plan(kkc_context_t* ctx, int64_t rows, int64_t cols, int32_t base,
                                 const kkc_view_t* row_indices, const kkc_view_t* col_indices,
                                 kkc_index_pair_t index_pair, kkc_scalar_t scalar, const kkc_options_t* options,
                                 kkc_plan_t** plan) {
  return guard(
      [&] {
        give(coo_to_csr::plan(as<Context>(ctx, "ctx"), rows, cols, base, *as<View>(row_indices, "row_indices"),
                              *as<View>(col_indices, "col_indices"), index_pair, scalar, *options_or_none(options)),
             plan);
      },
      out(plan, "plan"));
}

kkc_status_t kkc_coo_to_csr_execute(kkc_plan_t* plan, const kkc_view_t* values, kkc_matrix_t* C) {
  return guard([&] {
    const auto view = values == nullptr ? nullptr : as<View>(values, "values");
    coo_to_csr::execute(*as<Plan>(plan, "plan"), view.get(), *as<Matrix>(C, "C"));
  });
}

kkc_status_t kkc_csr_to_coo(kkc_context_t* ctx, const kkc_matrix_t* A, kkc_view_t* row_indices) {
  return guard([&] {
    csr_to_coo::execute(*as<Context>(ctx, "ctx"), *as<Matrix>(A, "A"), *as<View>(row_indices, "row_indices"));
  });
}

kkc_status_t kkc_plan_output_permutation(const kkc_plan_t* plan, kkc_view_t* permutation) {
  return guard([&] { entry_map::write_permutation(*as<Plan>(plan, "plan"), *as<View>(permutation, "permutation")); });
}

kkc_status_t kkc_matrix_diagonal(kkc_context_t* ctx, const kkc_matrix_t* A, kkc_view_t* d) {
  return guard([&] { matrix_diagonal::execute(*as<Context>(ctx, "ctx"), *as<Matrix>(A, "A"), *as<View>(d, "d")); });
}

kkc_status_t kkc_matrix_scale(kkc_context_t* ctx, const kkc_view_t* row_factors, kkc_matrix_t* A,
                              const kkc_view_t* col_factors) {
  return guard([&] {
    const auto rows = row_factors == nullptr ? nullptr : as<View>(row_factors, "row_factors");
    const auto cols = col_factors == nullptr ? nullptr : as<View>(col_factors, "col_factors");
    matrix_scale::execute(*as<Context>(ctx, "ctx"), rows.get(), *as<Matrix>(A, "A"), cols.get());
  });
}

}  // extern "C"
