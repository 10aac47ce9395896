// spgemm on hosts: matrices of which a part has rows like each other and a part has not, and one row that is far
// longer.
#include "support/catch.hpp"

#include <map>
#include <string>
#include <utility>

#include "support/aggregates_case.hpp"
#include "support/plan_info.hpp"

using namespace kkc_test;

namespace {

constexpr int64_t across = 200, down = 110, grid = across * down, unlike = 26000;

/// Rows of a grid and rows of a few columns anywhere among the others', one part before the other; row `longest` has
/// many columns there.
HostCsr<double> grid_and_others(Random& random, bool grid_first, int64_t longest) {
  HostCsr<double> A;
  A.cols = grid + unlike;
  const int64_t grid_at = grid_first ? 0 : unlike, others_at = grid_first ? grid : 0;
  const auto anywhere = [&] { return random_int(random, others_at, others_at + unlike - 1); };
  while (A.rows < grid + unlike) {
    const int64_t point = A.rows - grid_at;
    std::vector<int64_t> columns;
    if (point >= 0 && point < grid) {
      for (const int64_t step : {-across, int64_t{-1}, int64_t{0}, int64_t{1}, across})
        if (point + step >= 0 && point + step < grid) columns.push_back(A.rows + step);
    } else {
      const int64_t count = A.rows == others_at + longest ? 15000 : random_int(random, 0, 7);
      for (int64_t k = 0; k < count; ++k) columns.push_back(anywhere());
    }
    A.indices.insert(A.indices.end(), columns.begin(), columns.end());
    A.offsets.push_back(A.nnz());
    ++A.rows;
  }
  A.values = random_vector<double>(random, A.indices.size());
  return A;
}

}  // namespace

TEST_CASE("spgemm: a grid beside rows that are like no other, and one of many products", "[spgemm]") {
  std::map<std::pair<bool, int64_t>, std::pair<double, double>> classes;  // by case: rows and classes, of any threads
  for (const auto& [device, options] : hosts<double>()) {
    const Context ctx(device, options);
    Random random(seed());
    for (const bool grid_first : {true, false})
      for (const int64_t longest : {int64_t{17}, unlike - 1}) {
        const HostCsr<double> A = grid_and_others(random, grid_first, longest);
        SpgemmCase<double> c;
        c.implementation = "host_binned";
        INFO("seed " << seed() << ", " << name(device) << ' ' << options << ", grid " << (grid_first ? "first" : "last")
                     << ", row " << longest << " is long");
        const auto wrong = run_case(ctx, c, A, A, no_mask<double>, random);
        REQUIRE(wrong);
        REQUIRE(*wrong == "");
        const DeviceCsr<double> a(ctx, A, c.pair, c.base_a);
        Plan plan;
        ok(kkc_spgemm_plan(ctx, KKC_OP_NONE, a, KKC_OP_NONE, a, nullptr, c.pair_c, Options(c.options()), plan.out()));
        const std::string info = info_of_plan(plan);
        const auto alike = number_in(info, "rows_in_classes"), found = number_in(info, "row_classes");
        REQUIRE(alike);
        REQUIRE(found);
        const std::pair rows_and_classes(*alike, *found);
        CHECK(classes.try_emplace({grid_first, longest}, rows_and_classes).first->second == rows_and_classes);
        CHECK(*alike >= 0.8 * grid);
        CHECK(*alike <= grid + 4096);
      }
  }
}
