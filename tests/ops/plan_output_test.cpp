// plan_output: a plan's pattern in the caller's arrays and in matrices of the library, both bases.
#include "support/catch.hpp"

#include "support/output_case.hpp"

using namespace kkc_test;

TEST_CASE("plan_output: both ways give the same pattern, in either base", "[plan_output]") {
  const uint64_t seed = kkc_test::seed();
  Random random(seed);
  for_all_types("transpose", [&]<class T>(T, kkc_device_t device, kkc_index_pair_t pair) {
    const Context ctx(device);
    for (const Shape shape : {Shape::few, Shape::no_entries, Shape::power_law}) {
      const HostCsr<T> A = random_csr<T>(random, shape, 83, 61);
      INFO("seed " << seed << ' ' << name(shape));
      const DeviceCsr<T> A_device(ctx, A, pair, 1);
      for (const int32_t base : {0, 1}) {
        Plan plan;
        ok(kkc_transpose_plan(ctx, KKC_OP_TRANSPOSE, A_device, pair,
                              Options("{\"base\": " + std::to_string(base) + "}"), plan.out()));
        int64_t nnz = -1;
        ok(kkc_plan_output_nnz(plan, &nnz));
        CHECK(nnz == A.nnz());
        Matrix made, again;
        ok(kkc_plan_create_output(plan, made.out()));
        ok(kkc_plan_create_output(plan, again.out()));
        int32_t has = -1;
        ok(kkc_csr_get(made, nullptr, nullptr, nullptr, nullptr, nullptr, &has, nullptr, nullptr, nullptr));
        CHECK(has == base);
        OutputCsr<T> arrays(ctx, 61, 83, nnz, pair, 1 - base);
        ok(kkc_plan_output_pattern(plan, arrays));
        for (kkc_matrix_t* C :
             {static_cast<kkc_matrix_t*>(made), static_cast<kkc_matrix_t*>(again), static_cast<kkc_matrix_t*>(arrays)})
          ok(kkc_transpose_execute(plan, A_device, C));
        plan.reset();  // matrices keep what they share
        check_same(download<T>(ctx, arrays), download<T>(ctx, made));
        check_same(download<T>(ctx, again), download<T>(ctx, made));
      }
    }
  });
}

TEST_CASE("plan_output: a matrix without rows has the one offset too", "[plan_output]") {
  for_all_types("transpose", [&]<class T>(T, kkc_device_t device, kkc_index_pair_t pair) {
    const Context ctx(device);
    HostCsr<T> A;
    A.rows = 7;
    A.offsets.assign(8, 0);
    const DeviceCsr<T> A_device(ctx, A, pair, 1);
    for (const int32_t base : {0, 1}) {
      Plan plan;
      ok(kkc_transpose_plan(ctx, KKC_OP_TRANSPOSE, A_device, pair, Options("{\"base\": " + std::to_string(base) + "}"),
                            plan.out()));
      Matrix made;
      ok(kkc_plan_create_output(plan, made.out()));
      CHECK(download<T>(ctx, made).offsets == std::vector<int64_t>{0});
    }
  });
}

TEST_CASE("plan_output: what does not fit the planned output is refused", "[plan_output]") {
  for (const kkc_device_t device : devices()) {
    if (!supported(device, "transpose", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    const Context ctx(device);
    Random random(4);
    const HostCsr<double> A = random_csr<double>(random, Shape::banded, 20, 20);
    const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
    Plan plan;
    ok(kkc_transpose_plan(ctx, KKC_OP_TRANSPOSE, A_device, KKC_INDEX_32_32, nullptr, plan.out()));
    OutputCsr<double> few(ctx, 20, 20, A.nnz() - 1, KKC_INDEX_32_32, 0), wide(ctx, 20, 20, A.nnz(), KKC_INDEX_32_64, 0);
    CHECK(kkc_plan_output_pattern(plan, few) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(kkc_plan_output_pattern(plan, wide) == KKC_STATUS_TYPE_MISMATCH);
    Matrix made;
    ok(kkc_plan_create_output(plan, made.out()));
    CHECK(kkc_plan_output_pattern(plan, made) == KKC_STATUS_WRONG_STATE);
    CHECK_THAT(kkc_last_error(), ContainsSubstring("made by kkc_plan_create_output"));
  }
}

TEST_CASE("plan_output: checked executes refuse a C of another pattern",
          "[plan_output][transpose][sort_rows][coo_to_csr][spgemm_jacobi]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const Context ctx(device);
    // All four operations give this pattern again.
    HostCsr<double> host, elsewhere;
    host.rows = host.cols = 3;
    host.offsets = {0, 2, 3, 5};
    host.indices = {0, 2, 1, 0, 2};
    host.values = {1, 2, 3, 4, 5};
    elsewhere = host;
    elsewhere.indices = {0, 1, 1, 0, 2};
    const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0);
    const Array<int32_t> rows(ctx, {0, 0, 1, 2, 2}), cols(ctx, {0, 2, 1, 0, 2});
    const Array<double> values(ctx, std::vector<double>{1, 2, 3, 4, 5});
    const View rows_view = wrap(ctx, rows.data(), {5}), cols_view = wrap(ctx, cols.data(), {5}),
               values_view = wrap(ctx, values.data(), {5});
    const double omega = 1;
    const std::string operations[] = {"transpose", "sort_rows", "coo_to_csr", "spgemm_jacobi"};
    for (const std::string& operation : operations) {
      if (!supported(device, operation.c_str(), KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
      INFO(operation);
      const auto make = [&](const std::string& options, Plan& plan) {
        const Options set(options);
        if (operation == "transpose")
          ok(kkc_transpose_plan(ctx, KKC_OP_TRANSPOSE, A, KKC_INDEX_32_32, set, plan.out()));
        else if (operation == "sort_rows")
          ok(kkc_sort_rows_plan(ctx, A, set, plan.out()));
        else if (operation == "coo_to_csr")
          ok(kkc_coo_to_csr_plan(ctx, 3, 3, 0, rows_view, cols_view, KKC_INDEX_32_32, KKC_TYPE_F64, set, plan.out()));
        else
          ok(kkc_spgemm_jacobi_plan(ctx, A, A, KKC_INDEX_32_32, set, plan.out()));
      };
      const auto execute = [&](const Plan& plan, kkc_matrix_t* C) {
        if (operation == "transpose") return kkc_transpose_execute(plan, A, C);
        if (operation == "sort_rows") return kkc_sort_rows_execute(plan, A, C);
        if (operation == "coo_to_csr") return kkc_coo_to_csr_execute(plan, values_view, C);
        return kkc_spgemm_jacobi_execute(plan, &omega, nullptr, A, A, C);
      };
      Plan checked, unchecked;
      make(R"({"checked": 1})", checked);
      make("{}", unchecked);
      for (const int32_t base : {0, 1}) {
        const OutputCsr<double> C(ctx, 3, 3, 5, KKC_INDEX_32_32, base);
        ok(kkc_plan_output_pattern(checked, C));
        ok(execute(checked, C));
        const DeviceCsr<double> other(ctx, elsewhere, KKC_INDEX_32_32, base);
        CHECK(execute(checked, other) == KKC_STATUS_PATTERN_CHANGED);
        CHECK_THAT(kkc_last_error(), ContainsSubstring("C has another pattern"));
        ok(execute(unchecked, other));
      }
      Matrix made;
      ok(kkc_plan_create_output(checked, made.out()));
      ok(execute(checked, made));
      ctx.synchronize();
    }
  }
}
