// ilu, ic: what is refused, what plans remember, and what they say.
#include "support/catch.hpp"

#include "support/ilu_case.hpp"

using namespace kkc_test;

TEST_CASE("ilu, ic: plans refuse operands and options that do not fit", "[ilu][ic]") {
  for (const kkc_device_t device : devices())
    for (const Form form : {Form::lu, Form::cholesky}) {
      if (!supported(device, name(form), KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
      INFO(name(device) << ' ' << name(form));
      const Context ctx(device);
      Random random(5);
      const HostCsr<double> host = factorable<double>(random, Shape::few, 5, form),
                            tall = random_csr<double>(random, Shape::few, 5, 4);
      const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0), T(ctx, tall, KKC_INDEX_32_32, 0);
      Plan plan;
      const auto refused = [&](kkc_matrix_t* a, const std::string& options) {
        const kkc_status_t status = plan_factors(form, ctx, a, options, plan.out());
        CHECK(plan == nullptr);
        return status;
      };
      CHECK(refused(T, "{}") == KKC_STATUS_SIZE_MISMATCH);
      CHECK_THAT(kkc_last_error(), ContainsSubstring("A is 5 x 4, expected a square matrix"));
      CHECK(refused(nullptr, "{}") == KKC_STATUS_NULL_POINTER);
      Matrix pattern;
      ok(kkc_csr_create(ctx, 5, 5, host.nnz(), KKC_INDEX_32_32, KKC_TYPE_NONE, 0, A.offsets(), A.indices(), nullptr,
                        pattern.out()));
      CHECK(refused(pattern, "{}") == KKC_STATUS_TYPE_MISMATCH);
      CHECK(refused(A, R"({"colour": 1})") == KKC_STATUS_UNKNOWN_OPTION);
      CHECK_THAT(kkc_last_error(), ContainsSubstring("pivot_boost"));
      if (form == Form::lu) {
        CHECK(refused(A, R"({"level": -1})") == KKC_STATUS_INVALID_ARGUMENT);
        CHECK(refused(A, R"({"level": 256})") == KKC_STATUS_INVALID_ARGUMENT);
      } else {
        CHECK(refused(A, R"({"level": 0})") == KKC_STATUS_UNKNOWN_OPTION);
      }
      CHECK(refused(A, R"({"pivot_boost": -1})") == KKC_STATUS_INVALID_ARGUMENT);
      CHECK(refused(A, R"({"pivot_boost": 1, "boost_value": 0})") == KKC_STATUS_INVALID_ARGUMENT);
      CHECK(refused(A, R"({"missing_diagonal": "perhaps"})") == KKC_STATUS_UNKNOWN_OPTION);
      CHECK(refused(A, R"({"values": "kept"})") == KKC_STATUS_NOT_SUPPORTED);
      CHECK(refused(A, R"({"base": 2})") == KKC_STATUS_INVALID_ARGUMENT);
      CHECK(refused(A, R"({"implementation": "none_such"})") == KKC_STATUS_UNKNOWN_OPTION);
      CHECK_THAT(kkc_last_error(), ContainsSubstring("reference"));
      CHECK((form == Form::lu ? kkc_ilu_plan : kkc_ic_plan)(ctx, A, nullptr, nullptr) == KKC_STATUS_NULL_POINTER);

      HostCsr<double> bad = host;
      bad.indices[0] = 5;
      if (!is_gpu(device)) {
        const DeviceCsr<double> B(ctx, bad, KKC_INDEX_32_32, 0);
        CHECK(refused(B, "{}") == KKC_STATUS_INDEX_OUT_OF_RANGE);
      }
    }
}

TEST_CASE("ilu, ic: executes refuse what differs from the plan", "[ilu][ic]") {
  for (const kkc_device_t device : devices())
    for (const Form form : {Form::lu, Form::cholesky}) {
      if (!supported(device, name(form), KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
      INFO(name(device) << ' ' << name(form));
      const Context ctx(device);
      Random random(5);
      const HostCsr<double> host = factorable<double>(random, Shape::banded, 20, form),
                            less = factorable<double>(random, Shape::few, 20, form);
      const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0), B(ctx, less, KKC_INDEX_32_32, 0),
          C(ctx, host, KKC_INDEX_32_32, 1);
      Plan plan;
      Matrix F;
      ok(plan_factors(form, ctx, A, R"({"checked": 1})", plan.out()));
      ok(kkc_plan_create_output(plan, F.out()));
      CHECK(execute_factors(form, plan, A, F) == KKC_STATUS_SUCCESS);
      CHECK(execute_factors(form, plan, nullptr, F) == KKC_STATUS_NULL_POINTER);
      CHECK(execute_factors(form, plan, A, nullptr) == KKC_STATUS_NULL_POINTER);
      CHECK(execute_factors(form, plan, B, F) == KKC_STATUS_SIZE_MISMATCH);
      CHECK(execute_factors(form, plan, C, F) == KKC_STATUS_SIZE_MISMATCH);
      CHECK(execute_factors(form, plan, A, B) == KKC_STATUS_SIZE_MISMATCH);
      CHECK(execute_factors(form == Form::lu ? Form::cholesky : Form::lu, plan, A, F) == KKC_STATUS_INVALID_HANDLE);

      HostCsr<double> other = host;  // the same sizes, another pattern
      other.indices[1] = other.indices[0];
      const DeviceCsr<double> O(ctx, other, KKC_INDEX_32_32, 0);
      CHECK(execute_factors(form, plan, O, F) == KKC_STATUS_PATTERN_CHANGED);

      int64_t nnz = 0;
      ok(kkc_plan_output_nnz(plan, &nnz));
      const void *offsets = nullptr, *indices = nullptr;
      ok(kkc_csr_get(F, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &offsets, &indices, nullptr));
      void* values = nullptr;
      ok(kkc_csr_get(A, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &values));
      Matrix over;
      ok(kkc_csr_create(ctx, 20, 20, nnz, KKC_INDEX_32_32, KKC_TYPE_F64, 0, offsets, indices, values, over.out()));
      CHECK(execute_factors(form, plan, A, over) == KKC_STATUS_INVALID_ARGUMENT);
      CHECK_THAT(kkc_last_error(), ContainsSubstring("overlap"));
    }
}

TEST_CASE("ilu, ic: plans tell what they decided", "[ilu][ic]") {
  for (const kkc_device_t device : devices()) {
    if (!supported(device, "ilu", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    const Context ctx(device);
    Random random(5);
    const HostCsr<double> host = factorable<double>(random, Shape::stencil, 200, Form::lu);
    const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0);
    Plan plan;
    ok(kkc_ilu_plan(ctx, A, Options(R"({"level": 1, "tuning": "measure"})"), plan.out()));
    int64_t nnz = 0;
    ok(kkc_plan_output_nnz(plan, &nnz));
    const std::string info = info_of_plan(plan);
    CHECK_THAT(info, ContainsSubstring(R"("operation":"ilu")") && ContainsSubstring(R"("level":1)") &&
                         ContainsSubstring("\"nnz\":" + std::to_string(nnz)) && ContainsSubstring("plan_bytes"));
    CHECK(nnz > host.nnz());
  }
}

TEST_CASE("ilu, ic: a matrix without rows has factors without rows", "[ilu][ic]") {
  for (const kkc_device_t device : devices())
    for (const Form form : {Form::lu, Form::cholesky}) {
      if (!supported(device, name(form), KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
      const Context ctx(device);
      const DeviceCsr<double> A(ctx, HostCsr<double>(), KKC_INDEX_32_32, 1);
      // Those of GPUs leave the case to the reference.
      std::vector<std::string> options = {"{}", R"({"tuning": "measure"})", R"({"implementation": "reference"})"};
      if (!is_gpu(device)) options.emplace_back(R"({"implementation": "host_rows", "checked": 1})");
      for (const std::string& option : options) {
        INFO(name(device) << ' ' << name(form) << ' ' << option);
        Plan plan;
        ok(plan_factors(form, ctx, A, option, plan.out()));
        int64_t nnz = -1;
        ok(kkc_plan_output_nnz(plan, &nnz));
        CHECK(nnz == 0);
        CHECK_THAT(info_of_plan(plan), ContainsSubstring("plan_bytes"));
        Matrix F;
        ok(kkc_plan_create_output(plan, F.out()));
        ok(execute_factors(form, plan, A, F));
        ctx.synchronize();
      }
    }
}

TEST_CASE("ilu, ic: hosts say how many rows failed", "[ilu][ic]") {
  for (const kkc_device_t device : devices())
    for (const Form form : {Form::lu, Form::cholesky}) {
      if (is_gpu(device) || !supported(device, name(form), KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
      const Context ctx(device);
      HostCsr<double> host;
      host.rows = host.cols = 9;
      for (int64_t i = 0; i < host.rows; ++i) {
        host.indices.push_back(i);
        host.offsets.push_back(i + 1);
      }
      const auto sentence = [&](std::vector<double> diagonal, kkc_status_t expected) {
        host.values = std::move(diagonal);
        const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0);
        Plan plan;
        Matrix F;
        ok(plan_factors(form, ctx, A, "{}", plan.out()));
        ok(kkc_plan_create_output(plan, F.out()));
        CHECK(execute_factors(form, plan, A, F) == expected);
        return std::string(kkc_last_error());
      };
      const double nan = std::numeric_limits<double>::quiet_NaN();
      INFO(name(device) << ' ' << name(form));
      CHECK_THAT(sentence({1, 0, 1, 0, 1, 1, 0, 1, 1}, KKC_STATUS_ZERO_PIVOT),
                 ContainsSubstring("the pivot of row 1 (counted from 0), the first of 3 that failed, is zero"));
      CHECK_THAT(sentence({1, 1, nan, 0, 1, 1, 1, 1, 1}, KKC_STATUS_BREAKDOWN),
                 ContainsSubstring("row 2 (counted from 0), the first of 2 that failed, holds a number"));
      CHECK_THAT(sentence({1, 1, 1, 1, 1, 1, 1, 1, 0}, KKC_STATUS_ZERO_PIVOT),
                 ContainsSubstring("the pivot of row 8 (counted from 0) is zero"));
    }
}
