// ilu and ic of narrow bands, whose rows wait for the ones before them, on GPUs.
#include "support/ilu_rows.hpp"

using namespace kkc_test;

namespace {

/// Each row needs the one before it and, of the `lower` before, those that `holes` of ten do not take away, and has
/// entries up to `upper` right of its diagonal.
Rows band(Random& random, int64_t n, int64_t lower, int64_t upper, int64_t holes) {
  Rows rows(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    auto& row = rows[static_cast<size_t>(i)];
    for (int64_t j = std::max<int64_t>(0, i - lower); j <= std::min(n - 1, i + upper); ++j)
      if (j == i || j == i - 1 || random_int(random, 0, 9) >= holes) row.push_back(j);
  }
  return rows;
}

template <class F>
void on_bands(F&& f) {
  on_each_implementation([&](const Context& ctx, Form form, const std::string& implementation) {
    if (implementation == "gpu_band") f(ctx, form);
  });
}

}  // namespace

TEST_CASE("ilu, ic: bands of every width and length", "[ilu][ic][gpu]") {
  on_bands([](const Context& ctx, Form form) {
    Random random(seed());
    const auto check = [&](const Rows& rows) {
      check_rows<double>(ctx, form, "gpu_band", rows, 0);
      if (rows.size() != 330) return;
      check_rows<float>(ctx, form, "gpu_band", rows, 0);
      check_rows<std::complex<double>>(ctx, form, "gpu_band", rows, 0);
      check_rows<double>(ctx, form, "gpu_band", rows, 0, KKC_INDEX_64_64);
    };
    for (const int64_t width : {1, 2, 5, 8, 16, 31, 32, 33, 64})
      for (const int64_t n : {2, 31, 33, 64, 129, 330}) {
        INFO("width " << width);
        for (const int64_t holes : {0, 4}) check(band(random, n, width, width, holes));
        if (form == Form::cholesky) continue;
        check(band(random, n, 1, width, 3));
        check(band(random, n, width, 3, 3));
      }
    for (const int64_t unknowns : {2, 3, 5, 9})
      check_rows<double>(ctx, form, "gpu_band", grid(600 / unknowns, 1, 1, false, unknowns), 0);
    check_breakdowns(ctx, form, "gpu_band", band(random, 630, 1, 1, 0));
    check_breakdowns(ctx, form, "gpu_band", band(random, 630, 40, 40, 3));
  });
}

TEST_CASE("ilu, ic: long bands give the same bits in every execute", "[ilu][ic][gpu]") {
  on_bands([](const Context& ctx, Form form) {
    Random random(seed());
    for (const int64_t width : {1, 6, 20, 50}) {
      INFO("width " << width);
      const HostCsr<double> A = with_values<double>(random, band(random, 20001, width, width, 2), form);
      const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
      Plan plan;
      Matrix F;
      ok(plan_factors(form, ctx, A_device, R"({"implementation": "gpu_band"})", plan.out()));
      ok(kkc_plan_create_output(plan, F.out()));
      check_executes(ctx, form, plan, A, A_device, F, 3);
    }
  });
}

TEST_CASE("ilu, ic: zero pivots in a band are boosted as elsewhere", "[ilu][ic][gpu]") {
  on_bands([](const Context& ctx, Form form) {
    Random random(seed());
    HostCsr<double> A = with_values<double>(random, band(random, 300, 12, 12, 3), form);
    for (size_t i = 0; i < 300; i += 7)
      for (auto p = static_cast<size_t>(A.offsets[i]); p < static_cast<size_t>(A.offsets[i + 1]); ++p)
        if (A.indices[p] == static_cast<int64_t>(i)) A.values[p] = 0;
    const auto factors = [&](const Context& where, const std::string& implementation) {
      const DeviceCsr<double> A_there(where, A, KKC_INDEX_32_32, 0);
      Plan plan;
      Matrix F;
      ok(plan_factors(
          form, where, A_there,
          R"({"pivot_boost": 20, "boost_value": 35, "shift": 0.5, "implementation": ")" + implementation + "\"}",
          plan.out()));
      ok(kkc_plan_create_output(plan, F.out()));
      REQUIRE(outcome(form, where, plan, A_there, F).status == KKC_STATUS_SUCCESS);
      return download<double>(where, F);
    };
    const Context host(KKC_DEVICE_SERIAL);
    const HostCsr<double> got = factors(ctx, "gpu_band"), expected = factors(host, "reference");
    REQUIRE(got.indices == expected.indices);
    for (size_t p = 0; p < got.values.size(); ++p)
      REQUIRE(std::abs(got.values[p] - expected.values[p]) <= 1e-10 * (1 + std::abs(expected.values[p])));
  });
}

TEST_CASE("ilu, ic: what is no narrow band is refused by the kernels of bands", "[ilu][ic][gpu]") {
  on_bands([](const Context& ctx, Form form) {
    Random random(seed());
    const auto planned = [&](const Rows& rows) {
      Plan plan;
      const DeviceCsr<double> A(ctx, with_values<double>(random, rows, form), KKC_INDEX_32_32, 0);
      return plan_factors(form, ctx, A, R"({"implementation": "gpu_band"})", plan.out());
    };
    CHECK(planned(band(random, 500, 10, 10, 0)) == KKC_STATUS_SUCCESS);
    CHECK(planned(grid(60, 60, 1, false)) == KKC_STATUS_NOT_SUPPORTED);  // levels of 30 rows
    Rows far = band(random, 500, 10, 10, 0);
    far[450].insert(far[450].begin(), 385);
    far[385].push_back(450);
    CHECK(planned(far) == KKC_STATUS_NOT_SUPPORTED);
  });
}
