// ilu and ic on GPUs where levels are wide and rows short: a launch a level, and several rows a warp beside longer
// ones.
#include "support/ilu_rows.hpp"

using namespace kkc_test;

namespace {

/// Levels of these many rows, which need one of the level before and up to `most` - 1 of any before, and are needed by
/// up to `right` more.
Rows by_levels(Random& random, const std::vector<int64_t>& widths, int64_t most, int64_t right) {
  int64_t n = 0;
  for (const int64_t width : widths) n += width;
  Rows rows(static_cast<size_t>(n));
  int64_t before = 0, begin = 0;
  for (const int64_t width : widths) {
    for (int64_t i = begin; i < begin + width; ++i) {
      auto& row = rows[static_cast<size_t>(i)];
      row.push_back(i);
      if (begin > 0) row.push_back(random_int(random, before, begin - 1));
      for (int64_t k = random_int(random, 0, most - 1); k > 0 && begin > 0; --k)
        row.push_back(random_int(random, 0, begin - 1));
      for (int64_t k = random_int(random, 0, right); k > 0 && begin + width < n; --k)
        row.push_back(random_int(random, begin + width, n - 1));
    }
    before = begin;
    begin += width;
  }
  for (auto& row : rows) put_in_order(row);
  return rows;
}

}  // namespace

TEST_CASE("ilu, ic: several short rows a warp beside longer ones, on GPUs", "[ilu][ic][gpu]") {
  constexpr int64_t levels = 6, width = 3500, n = levels * width;
  for (const int64_t most : {1, 8})
    for (const bool beside_others : {false, true}) {
      Random random(seed());
      Rows rows = by_levels(random, std::vector<int64_t>(levels, width), most, 1);
      // Lengths around those that several lanes, and one warp, take.
      std::vector<int64_t> unlike;
      for (const int64_t length : {8, 9, 10, 16, 17, 18, 31, 32, 33, 40, 62, 63, 64, 64, 17, 33})
        for (int64_t l = 1; l < levels; ++l) {
          const int64_t i = l * width + random_int(random, 0, width - 1);
          auto& row = rows[static_cast<size_t>(i)];
          while (std::ssize(row) < length) {
            row.push_back(std::ssize(row) % 3 == 0 && l + 1 < levels ? random_int(random, (l + 1) * width, n - 1)
                                                                     : random_int(random, 0, l * width - 1));
            put_in_order(row);
          }
          unlike.push_back(i);
        }
      if (beside_others)
        for (const int64_t i : {int64_t{5}, width + 3, 3 * width + 700, 3 * width + 701}) {
          auto& row = rows[static_cast<size_t>(i)];
          for (int64_t k = 0; k < 300; ++k) {
            if (i > width) row.push_back(random_int(random, 0, i / width * width - 1));
            row.push_back(random_int(random, (i / width + 1) * width, n - 1));
          }
          put_in_order(row);
          unlike.push_back(i);
        }
      on_each_implementation([&](const Context& ctx, Form form, const std::string& implementation) {
        if (implementation != "gpu_tables") return;
        INFO("seed " << seed() << ", up to " << most << " of the rows before, others " << beside_others);
        const HostCsr<double> A = with_values<double>(random, rows, form);
        const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
        Plan plan;
        Matrix F;
        REQUIRE(plan_where_taken(ctx, form, implementation, A_device, plan, F));
        const std::string info = info_of_plan(plan);
        CHECK(number_in(info, "lanes_a_row") == (most == 8 ? 8 : 4));
        CHECK((number_in(info, "rows_without_table") > 0) == beside_others);
        check_executes(ctx, form, plan, A, A_device, F, 3);
        check_rows<double>(ctx, form, implementation, rows, 0, KKC_INDEX_64_64);
        check_rows<float>(ctx, form, implementation, rows, 0);
        check_rows<std::complex<double>>(ctx, form, implementation, rows, 0);
        check_breakdowns(ctx, form, implementation, rows, {2 * width + 17, unlike.front(), unlike.back()});
      });
    }
}

TEST_CASE("ilu, ic: few levels of very many short rows", "[ilu][ic]") {
  Random random(seed());
  INFO("seed " << seed());
  constexpr int64_t width = 33'000;
  const Rows rows = by_levels(random, {width, width}, 1, 2), three = by_levels(random, {width, width, width}, 1, 2);
  // The shortest rows may have more levels.
  Rows shortest(4 * width);
  for (int64_t i = 0; i < std::ssize(shortest); ++i) {
    shortest[static_cast<size_t>(i)] = {i};
    if (i >= width && i % 3 == 0)
      shortest[static_cast<size_t>(i)].insert(shortest[static_cast<size_t>(i)].begin(), i - width);
  }
  on_each_implementation([&](const Context& ctx, Form form, const std::string& implementation) {
    if (implementation != "gpu_few_levels") return;
    const HostCsr<double> A = with_values<double>(random, rows, form);
    const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0);
    Plan plan;
    Matrix F;
    ok(plan_factors(form, ctx, A_device, R"({"implementation": "gpu_few_levels"})", plan.out()));
    ok(kkc_plan_create_output(plan, F.out()));
    REQUIRE(outcome(form, ctx, plan, A_device, F).status == KKC_STATUS_SUCCESS);
    CHECK(largest_residual(A, download<double>(ctx, F), form) < 1e-11);
    {
      const HostCsr<double> B = with_values<double>(random, shortest, form);
      const DeviceCsr<double> B_device(ctx, B, KKC_INDEX_32_32, 0);
      Plan some;
      Matrix G;
      CHECK(plan_where_taken(ctx, form, implementation, B_device, some, G) == (form == Form::lu));
      if (form == Form::lu) {
        REQUIRE(outcome(form, ctx, some, B_device, G).status == KKC_STATUS_SUCCESS);
        CHECK(largest_residual(B, download<double>(ctx, G), form) < 1e-11);
      }
    }
    // More or narrower levels are not for it, nor is a row that many others would go through.
    Rows arrow = rows;
    for (int64_t i = width; i < width + 100; ++i) {
      arrow[0].push_back(i);
      arrow[static_cast<size_t>(i)].push_back(0);
      put_in_order(arrow[static_cast<size_t>(i)]);
    }
    put_in_order(arrow[0]);
    for (const Rows& others : {three, grid(200, 200, 1, false), arrow}) {
      Plan none;
      const DeviceCsr<double> other(ctx, with_values<double>(random, others, form), KKC_INDEX_32_32, 0);
      CHECK(plan_factors(form, ctx, other, R"({"implementation": "gpu_few_levels"})", none.out()) ==
            KKC_STATUS_NOT_SUPPORTED);
    }
  });
}
