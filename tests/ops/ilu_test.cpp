// ilu and ic: every implementation on every device against dense loops.
#include "support/catch.hpp"

#include "support/ilu_case.hpp"

using namespace kkc_test;

namespace {

template <class T>
FactorCase<T> random_case(Random& random, Form form, kkc_device_t device, const std::string& implementation) {
  FactorCase<T> c;
  c.form = form;
  c.implementation = implementation;
  c.pair = any_pair<T>(random, device, name(form));
  c.base_A = static_cast<int32_t>(random() % 2);
  c.base_F = static_cast<int32_t>(random() % 2);
  c.level = form == Form::lu && random() % 2 == 0 ? static_cast<int>(random() % 5) : 0;
  c.shift = random() % 3 == 0 ? 0.5 : 0;
  c.own_output = random() % 2 == 0;
  return c;
}

template <class T>
void check_case(const Context& ctx, const Visit& visit, const FactorCase<T>& c, const HostCsr<T>& A,
                int* taken = nullptr) {
  INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ", " << name(c.form) << ", " << A.rows
               << " rows, " << A.nnz() << " entries, pair " << c.pair << " base " << c.base_A
               << (c.own_output ? " own output " : " ") << c.options());
  const auto wrong = run_case(ctx, c, A);
  if (!wrong) return;
  if (taken != nullptr) ++*taken;
  REQUIRE(*wrong == "");
}

}  // namespace

TEMPLATE_TEST_CASE("ilu, ic: every implementation gives factors whose product is A on their pattern", "[ilu][ic]",
                   float, double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  constexpr int64_t sizes[] = {0, 1, 2, 7, 31, 64, 130};
  for (const Visit& visit : visits())
    for (const Form form : {Form::lu, Form::cholesky}) {
      if (!has_kernels<T>(visit.device, name(form))) continue;
      const Context ctx(visit.device, visit.options);
      for (const std::string& implementation : implementations(visit.device, name(form))) {
        Random random(seed());
        int taken = 0;
        for (const Shape shape : all_shapes)
          for (const int64_t n : sizes)
            check_case(ctx, visit, random_case<T>(random, form, visit.device, implementation),
                       factorable<T>(random, shape, n, form), &taken);
        INFO(implementation);
        // For wider levels than these: see ilu_alike_test.cpp, ilu_wide_levels_test.cpp.
        CHECK((taken > 0 || implementation == "gpu_few_levels" ||
               (implementation == "gpu_tables" && form == Form::cholesky)));
        if (implementation == "reference") CHECK(taken == 63);
      }
    }
}

TEMPLATE_TEST_CASE("ilu, ic: enough rows for every thread and for long chains", "[ilu][ic]", double,
                   std::complex<float>) {
  using T = TestType;
  for (const Visit& visit : visits())
    for (const Form form : {Form::lu, Form::cholesky}) {
      if (!has_kernels<T>(visit.device, name(form))) continue;
      const Context ctx(visit.device, visit.options);
      Random random(seed());
      for (const std::string& implementation : implementations(visit.device, name(form)))
        for (const Shape shape : {Shape::few, Shape::banded, Shape::stencil, Shape::blocks, Shape::power_law})
          check_case(ctx, visit, random_case<T>(random, form, visit.device, implementation),
                     factorable<T>(random, shape, random_int(random, 400, 600), form));
    }
}

TEST_CASE("ilu: levels of fill reach the complete factors", "[ilu]") {
  using T = double;
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "ilu")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    for (const Shape shape : {Shape::few, Shape::stencil, Shape::blocks})
      for (const int level : {0, 1, 2, 3, 7, 255}) {
        FactorCase<T> c;
        c.level = level;
        const HostCsr<T> A = factorable<T>(random, shape, 90, Form::lu);
        check_case(ctx, visit, c, A);
        if (level != 255) continue;
        // Nothing is left out: the product is A everywhere.
        const DeviceCsr<T> A_device(ctx, A, c.pair, 0);
        Plan plan;
        Matrix LU;
        ok(plan_factors(Form::lu, ctx, A_device, c.options(), plan.out()));
        ok(kkc_plan_create_output(plan, LU.out()));
        CHECK(outcome(Form::lu, ctx, plan, A_device, LU).status == KKC_STATUS_SUCCESS);
        const DenseEntries F = dense(download<T>(ctx, LU)), D = dense(A);
        for (int64_t i = 0; i < F.n; ++i)
          for (int64_t j = 0; j < F.n; ++j) {
            Wide sum = i <= j ? F.value(i, j) : Wide{};
            for (int64_t k = 0; k < std::min(i, j + 1); ++k) sum += times(F.value(i, k), F.value(k, j));
            REQUIRE(std::abs(sum - D.value(i, j)) < 1e-11L);
          }
      }
  }
}

TEST_CASE("ilu, ic: missing diagonal entries are refused with their row, or added", "[ilu][ic]") {
  using T = double;
  for (const Visit& visit : visits())
    for (const Form form : {Form::lu, Form::cholesky}) {
      if (!has_kernels<T>(visit.device, name(form))) continue;
      const Context ctx(visit.device, visit.options);
      Random random(seed());
      for (const Shape shape : {Shape::few, Shape::banded, Shape::unsorted_duplicates, Shape::no_entries})
        for (const int64_t missing : {0, 17, 59}) {
          const HostCsr<T> A = factorable<T>(random, shape, 60, form, missing);
          const DeviceCsr<T> A_device(ctx, A, KKC_INDEX_32_32, 1);
          Plan plan;
          CHECK(plan_factors(form, ctx, A_device, "{}", plan.out()) == KKC_STATUS_INVALID_ARGUMENT);
          CHECK_THAT(kkc_last_error(), ContainsSubstring("no diagonal entry in row " + std::to_string(missing) + " "));
          FactorCase<T> c;
          c.form = form;
          c.base_A = 1;
          c.shift = 100;  // the row's pivot has nothing else
          c.further = R"(, "missing_diagonal": "add")";
          for (const int level : {0, 1}) {
            c.level = form == Form::lu ? level : 0;
            check_case(ctx, visit, c, A);
          }
        }
    }
}

TEST_CASE("ilu, ic: zero pivots and numbers that are not finite are told with their row", "[ilu][ic]") {
  using T = double;
  constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();
  for (const Visit& visit : visits())
    for (const Form form : {Form::lu, Form::cholesky}) {
      if (!has_kernels<T>(visit.device, name(form))) continue;
      const Context ctx(visit.device, visit.options);
      for (const std::string& implementation : implementations(visit.device, name(form))) {
        INFO(name(visit.device) << ' ' << visit.options << ' ' << name(form) << ' ' << implementation);
        Random random(seed());
        const HostCsr<T> A = factorable<T>(random, Shape::stencil, 600, form);
        DeviceCsr<T> A_device(ctx, A, KKC_INDEX_32_32, 0);
        const std::string named = R"({"implementation": ")" + implementation + "\"";
        Plan plan;
        Matrix F;
        if (plan_factors(form, ctx, A_device, named + "}", plan.out()) != KKC_STATUS_SUCCESS) continue;
        ok(kkc_plan_create_output(plan, F.out()));
        const auto told = [&](int64_t row, int64_t column, double value, kkc_plan_t* with) {
          std::vector<T> values = A.values;
          for (auto p = static_cast<size_t>(A.offsets[static_cast<size_t>(row)]);
               p < static_cast<size_t>(A.offsets[static_cast<size_t>(row) + 1]); ++p)
            if (column < 0)  // the whole row
              values[p] = value;
            else if (A.indices[p] == column)
              values[p] = value;
          A_device.values().set(values);
          return outcome(form, ctx, with, A_device, F);
        };
        const auto check_told = [&](const Outcome& end, kkc_status_t status, int64_t row) {
          CHECK(end.status == status);
          if (is_gpu(visit.device))
            CHECK(end.row == row);
          else
            CHECK_THAT(end.sentence, ContainsSubstring("row " + std::to_string(row) + " "));
        };
        for (const int64_t row : {0, 1, 58, 599}) {
          check_told(told(row, -1, 0.0, plan), KKC_STATUS_ZERO_PIVOT, row);
          check_told(told(row, row, nan, plan), KKC_STATUS_BREAKDOWN, row);
          check_told(told(row, row, infinity, plan), KKC_STATUS_BREAKDOWN, row);
          if (row > 0) check_told(told(row, row - 1, nan, plan), KKC_STATUS_BREAKDOWN, row);
        }
        if (form == Form::cholesky) check_told(told(77, 77, -5.0, plan), KKC_STATUS_ZERO_PIVOT, 77);
        // A failure leaves nothing behind.
        CHECK(told(0, 599, 0.0, plan).status == KKC_STATUS_SUCCESS);
        CHECK(wrong_residual(dense(A), download<T>(ctx, F), form, 0) == "");

        Plan boosting;
        ok(plan_factors(form, ctx, A_device, named + R"(, "pivot_boost": 1e-8, "boost_value": 0.25})", boosting.out()));
        CHECK(told(0, -1, 0.0, boosting).status == KKC_STATUS_SUCCESS);
        CHECK(download<T>(ctx, F).values[0] == (form == Form::lu ? 0.25 : 0.5));
        CHECK(told(58, -1, 0.0, boosting).status == KKC_STATUS_SUCCESS);
        check_told(told(58, 58, nan, boosting), KKC_STATUS_BREAKDOWN, 58);
        if (form == Form::lu) {
          CHECK(told(0, 0, -1e-9, boosting).status == KKC_STATUS_SUCCESS);
          CHECK(download<T>(ctx, F).values[0] == -0.25);
        }
      }
    }
}

TEST_CASE("ilu: a row longer than what a GPU's blocks hold is factored all the same", "[ilu]") {
  // The diagonal d and a dense last row a: L is a / d, the last pivot stays. Levels of fill add nothing.
  constexpr int64_t n = 30000;
  HostCsr<double> A;
  A.rows = A.cols = n;
  A.offsets.assign(1, 0);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = i + 1 < n ? i : 0; j <= i; ++j) {
      A.indices.push_back(j);
      A.values.push_back(i == j ? 2.0 + static_cast<double>(i % 3) : 0.5);
    }
    A.offsets.push_back(static_cast<int64_t>(A.indices.size()));
  }
  for (const Visit& visit : visits()) {
    if (!has_kernels<double>(visit.device, "ilu")) continue;
    const Context ctx(visit.device, visit.options);
    const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
    for (const char* options : {"{}", R"({"level": 1})"}) {
      INFO(name(visit.device) << ' ' << visit.options << ' ' << options);
      Plan plan;
      Matrix F;
      ok(plan_factors(Form::lu, ctx, A_device, options, plan.out()));
      ok(kkc_plan_create_output(plan, F.out()));
      REQUIRE(outcome(Form::lu, ctx, plan, A_device, F).status == KKC_STATUS_SUCCESS);
      const HostCsr<double> factors = download<double>(ctx, F);
      REQUIRE(factors.nnz() == A.nnz());
      int64_t wrong = 0;
      for (int64_t k = 0; k < A.nnz(); ++k) {
        const auto p = static_cast<size_t>(k);
        const bool below = k >= n - 1 && A.indices[p] < n - 1;
        const double expected = below ? 0.5 / (2.0 + static_cast<double>(A.indices[p] % 3)) : A.values[p];
        wrong += std::abs(factors.values[p] - expected) > 1e-14 ? 1 : 0;
      }
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("ilu: complex pivots keep their phase when they are boosted", "[ilu]") {
  using T = std::complex<double>;
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "ilu")) continue;
    const Context ctx(visit.device, visit.options);
    HostCsr<T> A;
    A.rows = A.cols = 2;
    A.offsets = {0, 1, 2};
    A.indices = {0, 1};
    A.values = {T(3e-10, -4e-10), T(0, 1)};
    const DeviceCsr<T> A_device(ctx, A, KKC_INDEX_32_32, 0);
    for (const std::string& implementation : implementations(visit.device, "ilu")) {
      Plan plan;
      Matrix F;
      const kkc_status_t planned = plan_factors(
          Form::lu, ctx, A_device,
          R"({"pivot_boost": 1e-8, "boost_value": 5, "implementation": ")" + implementation + "\"}", plan.out());
      if (planned == KKC_STATUS_NOT_SUPPORTED && is_gpu(visit.device) && implementation != "gpu_sync_free") continue;
      ok(planned);
      ok(kkc_plan_create_output(plan, F.out()));
      CHECK(outcome(Form::lu, ctx, plan, A_device, F).status == KKC_STATUS_SUCCESS);
      const HostCsr<T> got = download<T>(ctx, F);
      CHECK(std::abs(got.values[0] - T(3, -4)) < 1e-14);
      CHECK(got.values[1] == T(0, 1));
    }
  }
}

namespace {

Plan solve_plan(const Context& ctx, kkc_op_t op, kkc_uplo_t uplo, kkc_diag_t diag, kkc_matrix_t* F, const View& x) {
  Plan plan;
  ok(kkc_sptrsv_plan(ctx, op, uplo, diag, F, x, x, nullptr, plan.out()));
  return plan;
}

}  // namespace

TEMPLATE_TEST_CASE("ilu, ic: factors go to solves as they are, and solves share what is known of them", "[ilu][ic]",
                   double, std::complex<float>) {
  using T = TestType;
  for (const Visit& visit : visits())
    for (const Form form : {Form::lu, Form::cholesky}) {
      if (!has_kernels<T>(visit.device, name(form)) || !has_kernels<T>(visit.device, "sptrsv")) continue;
      INFO(name(visit.device) << ' ' << visit.options << ' ' << name(form));
      const Context ctx(visit.device, visit.options);
      HostCsr<T> B;  // tridiagonal: its complete factors fill nothing in
      B.rows = B.cols = 50;
      for (int64_t i = 0; i < 50; ++i) {
        for (int64_t j = std::max<int64_t>(0, i - 1); j <= std::min<int64_t>(49, i + 1); ++j) {
          B.indices.push_back(j);
          B.values.push_back(i == j ? T(4) : T(-1));
        }
        B.offsets.push_back(B.nnz());
      }
      const DeviceCsr<T> B_device(ctx, B, KKC_INDEX_32_32, 0);
      Plan plan;
      Matrix F;
      ok(plan_factors(form, ctx, B_device, "{}", plan.out()));
      ok(kkc_plan_create_output(plan, F.out()));
      CHECK(outcome(form, ctx, plan, B_device, F).status == KKC_STATUS_SUCCESS);
      Array<T> x_data(ctx, std::vector<T>(50, T(1)));
      const View x = wrap(ctx, x_data.data(), {50});
      const kkc_diag_t unit = form == Form::lu ? KKC_DIAG_UNIT : KKC_DIAG_STORED;
      const Plan lower = solve_plan(ctx, KKC_OP_NONE, KKC_UPLO_LOWER, unit, F, x),
                 upper = form == Form::lu ? solve_plan(ctx, KKC_OP_NONE, KKC_UPLO_UPPER, KKC_DIAG_STORED, F, x)
                                          : solve_plan(ctx, KKC_OP_HERMITIAN, KKC_UPLO_LOWER, KKC_DIAG_STORED, F, x);
      const T one(1);
      ok(kkc_sptrsv_execute(lower, &one, F, x, x));
      ok(kkc_sptrsv_execute(upper, &one, F, x, x));
      const std::vector<T> got = x_data.get();
      const DenseEntries D = dense(B);
      for (int64_t i = 0; i < 50; ++i) {
        Wide sum{};
        for (int64_t j = 0; j < 50; ++j) sum += times(D.value(i, j), wide(got[static_cast<size_t>(j)]));
        REQUIRE(std::abs(sum - Wide(1)) < 100 * epsilon<T>);
      }
      // On GPUs another plan for the same triangle takes over the levels that one which is still there has found.
      const Plan again = solve_plan(ctx, KKC_OP_NONE, KKC_UPLO_LOWER, unit, F, x);
      if (is_gpu(visit.device) && info_of_plan(lower).find("\"rows_per_level\"") != std::string::npos)
        CHECK_THAT(info_of_plan(again), ContainsSubstring(R"("levels_taken_over":1)"));
    }
}
