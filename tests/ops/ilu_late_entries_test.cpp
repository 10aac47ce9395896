// ilu where rows' U does not depend on all of L: what is left for last is found all at once.
#include "support/ilu_rows.hpp"

using namespace kkc_test;

namespace {

/// Rows that need `left` others and have `right` entries beyond the diagonal, anywhere: hardly any meet.
Rows scattered(Random& random, int64_t n, int64_t left, int64_t right) {
  Rows rows(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    auto& row = rows[static_cast<size_t>(i)];
    row.push_back(i);
    for (int64_t k = 0; k < left && i > 0; ++k) row.push_back(random_int(random, 0, i - 1));
    for (int64_t k = 0; k < right && i + 1 < n; ++k) row.push_back(random_int(random, i + 1, n - 1));
    put_in_order(row);
  }
  return rows;
}

/// Rows that need the `before` rows before them, which change each other's entries, but not the diagonal one.
Rows chained(int64_t n, int64_t before) {
  Rows rows(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    auto& row = rows[static_cast<size_t>(i)];
    const bool is_late = i % (before + 1) == before;
    for (int64_t k = is_late ? i - before : i; k < i; ++k) row.push_back(k);
    row.push_back(i);
    for (int64_t k = i + 1; !is_late && k % (before + 1) != before; ++k) row.push_back(k);
  }
  return rows;
}

template <class F>
void on_pruned(const F& f) {
  on_each_implementation([&](const Context& ctx, Form form, const std::string& implementation) {
    if (form == Form::lu && (implementation == "gpu_pruned" || implementation == "host_pruned")) f(ctx, implementation);
  });
}

/// Factors by `implementation`.
HostCsr<double> factors(const Context& ctx, const HostCsr<double>& A, const std::string& implementation) {
  const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
  Plan plan;
  Matrix F;
  ok(plan_factors(Form::lu, ctx, A_device, R"({"implementation": ")" + implementation + "\"}", plan.out()));
  ok(kkc_plan_create_output(plan, F.out()));
  REQUIRE(outcome(Form::lu, ctx, plan, A_device, F).status == KKC_STATUS_SUCCESS);
  return download<double>(ctx, F);
}

std::optional<double> planned(const Context& ctx, const HostCsr<double>& A, const std::string& pruned,
                              const char* key) {
  const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
  Plan plan;
  ok(plan_factors(Form::lu, ctx, A_device, "{}", plan.out()));
  const std::string info = info_of_plan(plan);
  INFO(info);
  REQUIRE_THAT(info, ContainsSubstring("\"implementation\":\"" + pruned + "\""));
  return number_in(info, key);
}

}  // namespace

TEST_CASE("ilu: entries of L that no row's U depends on", "[ilu]") {
  Random random(seed());
  INFO("seed " << seed());
  std::vector<Rows> all{scattered(random, 3000, 4, 4), scattered(random, 20'000, 2, 2), scattered(random, 630, 12, 3),
                        chained(630, 5), chained(640, 3)};
  // Rows that eight lanes, a warp, a block, and none look at.
  const auto lengthen = [&](Rows& rows, int64_t i, int64_t left) {
    auto& row = rows[static_cast<size_t>(i)];
    while (std::ssize(row) <= left) {
      row.push_back(random_int(random, 0, i - 1));
      put_in_order(row);
    }
  };
  for (const int64_t left : {31, 32, 33, 64, 127, 128, 129, 256, 2000}) lengthen(all[0], 2500 + left % 100, left);
  // Neighbours, several of which are one warp's or block's.
  for (int64_t k = 0; k < 45; ++k) lengthen(all[1], 15'000 + k, 20 + 7 * k);
  for (const int64_t left : {16'384, 16'385}) {
    auto& row = all[1][static_cast<size_t>(left + 2000)];
    row.clear();
    for (int64_t k = 0; k <= left; ++k) row.push_back(k < left ? k : left + 2000);
  }
  on_pruned([&](const Context& ctx, const std::string& pruned) {
    for (const Rows& rows : all) {
      check_rows<double>(ctx, Form::lu, pruned, rows, 0);
      check_rows<float>(ctx, Form::lu, pruned, rows, 0, KKC_INDEX_32_64);
      check_rows<std::complex<double>>(ctx, Form::lu, pruned, rows, 0, KKC_INDEX_64_64);
      check_breakdowns(ctx, Form::lu, pruned, rows);
      const HostCsr<double> A = with_values<double>(random, rows, Form::lu);
      const HostCsr<double> got = factors(ctx, A, pruned),
                            expected = factors(ctx, A, is_gpu(ctx.device()) ? "gpu_sync_free" : "host_rows");
      double apart = 0, largest = 0;
      for (size_t p = 0; p < got.values.size(); ++p) {
        apart = std::max(apart, std::abs(got.values[p] - expected.values[p]));
        largest = std::max(largest, std::abs(expected.values[p]));
      }
      CHECK(apart < 1e-13 * largest);
    }
    check_rows<double>(ctx, Form::lu, pruned, scattered(random, 400, 3, 3), 1);
  });
}

TEST_CASE("ilu: late entries that change each other, few and many", "[ilu]") {
  Random random(seed());
  on_pruned([&](const Context& ctx, const std::string& pruned) {
    // Four of five entries are changed, ten times in all; fifteen would be 105 times.
    const HostCsr<double> few = with_values<double>(random, chained(1200, 5), Form::lu);
    if (is_gpu(ctx.device()))
      CHECK(planned(ctx, few, pruned, "changed_late_entries") == 800);
    else
      CHECK(planned(ctx, few, pruned, "rows_with_changed_late_entries") == 200);
    CHECK(planned(ctx, few, pruned, "late_entries") == 1000);
    CHECK(planned(ctx, few, pruned, "levels") == 1);
    const DeviceCsr<double> many(ctx, with_values<double>(random, chained(1200, 15), Form::lu), KKC_INDEX_32_32, 0);
    Plan none;
    CHECK(plan_factors(Form::lu, ctx, many, R"({"implementation": ")" + pruned + "\"}", none.out()) ==
          KKC_STATUS_NOT_SUPPORTED);
    // A symmetric pattern has no late entries.
    const DeviceCsr<double> grid_rows(ctx, with_values<double>(random, grid(30, 30, 1, false), Form::lu),
                                      KKC_INDEX_32_32, 0);
    CHECK(plan_factors(Form::lu, ctx, grid_rows, R"({"implementation": ")" + pruned + "\"}", none.out()) ==
          KKC_STATUS_NOT_SUPPORTED);
  });
}

TEST_CASE("ilu: rows whose late entries alone are not finite are told, once each", "[ilu]") {
  constexpr int64_t before = 5, n = 1200;
  Random random(seed());
  const HostCsr<double> A = with_values<double>(random, chained(n, before), Form::lu);
  on_pruned([&](const Context& ctx, const std::string& pruned) {
    for (const int64_t left : {int64_t{0}, int64_t{2}, before - 1})
      for (const int64_t rows : {1, 7}) {
        INFO(left << ", " << rows << " rows");
        DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
        std::vector<double> values = A.values;
        for (int64_t r = 0; r < rows; ++r)
          values[static_cast<size_t>(A.offsets[static_cast<size_t>((r + 3) * (before + 1) + before)] + left)] =
              std::numeric_limits<double>::infinity();
        A_device.values().set(values);
        Plan plan;
        Matrix F;
        ok(plan_factors(Form::lu, ctx, A_device, R"({"implementation": ")" + pruned + "\"}", plan.out()));
        ok(kkc_plan_create_output(plan, F.out()));
        const kkc_status_t executed = execute_factors(Form::lu, plan, A_device, F);
        constexpr int64_t spoilt = 3 * (before + 1) + before;
        if (!is_gpu(ctx.device())) {
          CHECK(executed == KKC_STATUS_BREAKDOWN);
          CHECK_THAT(kkc_last_error(), ContainsSubstring("row " + std::to_string(spoilt) + " "));
          if (rows > 1) CHECK_THAT(kkc_last_error(), ContainsSubstring("first of " + std::to_string(rows)));
          continue;
        }
        ok(executed);
        int64_t row = -1, count = 0;
        CHECK(kkc_plan_check(plan, &row, &count) == KKC_STATUS_BREAKDOWN);
        CHECK(row == spoilt);
        CHECK(count == rows);
      }
  });
}

TEST_CASE("ilu: late entries by many threads have the bits of one", "[ilu]") {
  if (!has_kernels<double>(KKC_DEVICE_OPENMP, "ilu")) return;
  Random random(seed());
  INFO("seed " << seed());
  Rows rows = scattered(random, 30'000, 4, 4);
  for (const int64_t i : {20'000, 20'001})  // which others need, and whose late entries change each other
    for (int64_t k = 0; k < 900; ++k) {
      rows[static_cast<size_t>(i)].push_back(random_int(random, 0, i - 1));
      rows[static_cast<size_t>(random_int(random, i + 2, 29'999))].push_back(i);
    }
  for (auto& row : rows) put_in_order(row);
  const HostCsr<double> A = with_values<double>(random, rows, Form::lu);
  const Context one(KKC_DEVICE_OPENMP, R"({"threads": 1})"), many(KKC_DEVICE_OPENMP, R"({"threads": 7})");
  CHECK(factors(one, A, "host_pruned").values == factors(many, A, "host_pruned").values);
}
