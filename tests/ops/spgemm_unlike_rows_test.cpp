// spgemm on hosts: matrices of which a part has rows like each other and a part has not, and rows that are far longer
// or shorter than others.
#include "support/catch.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

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

template <class Columns>
HostCsr<double> with_columns(Random& random, int64_t rows, int64_t cols, const Columns& columns_of) {
  HostCsr<double> A;
  A.cols = cols;
  while (A.rows < rows) {
    for (const int64_t column : columns_of(A.rows)) A.indices.push_back(column);
    A.offsets.push_back(A.nnz());
    ++A.rows;
  }
  A.values = random_vector<double>(random, A.indices.size());
  return A;
}

/// What kkc_plan_info says of A B by host_binned, which run_case() has found to be right.
std::string checked_info(const Context& ctx, Random& random, const HostCsr<double>& A, const HostCsr<double>& B) {
  SpgemmCase<double> c;
  c.implementation = "host_binned";
  const auto wrong = run_case(ctx, c, A, B, no_mask<double>, random);
  REQUIRE(wrong);
  REQUIRE(*wrong == "");
  const DeviceCsr<double> left(ctx, A, c.pair, c.base_a), right(ctx, B, c.pair, c.base_b);
  Plan plan;
  ok(kkc_spgemm_plan(ctx, KKC_OP_NONE, left, KKC_OP_NONE, right, nullptr, c.pair_c, Options(c.options()), plan.out()));
  return info_of_plan(plan);
}

}  // namespace

TEST_CASE("spgemm: rows of B are alike, of C none", "[spgemm]") {
  constexpr int64_t n = 40000;  // enough for a sample
  for (const auto& [device, options] : hosts<double>()) {
    const Context ctx(device, options);
    Random random(seed());
    INFO("seed " << seed() << ", " << name(device) << ' ' << options);
    const HostCsr<double> A = with_columns(random, n, n, [&](int64_t i) {
      return std::vector<int64_t>{i, random_int(random, 0, n - 1), random_int(random, 0, n - 1)};
    });
    const HostCsr<double> B = with_columns(random, n, n, [](int64_t i) {
      std::vector<int64_t> columns;
      for (const int64_t column : {i - 1, i, i + 1})
        if (column >= 0 && column < n) columns.push_back(column);
      return columns;
    });
    CHECK(number_in(checked_info(ctx, random, A, B), "row_classes") == 0);
    CHECK(number_in(checked_info(ctx, random, B, B), "row_classes") > 0);
  }
}

TEST_CASE("spgemm: rows that are alike in patches, each with another far neighbour", "[spgemm]") {
  // Of so many patches rows of each are a class of their own, or all have one of four.
  constexpr int64_t patch = 20, patches = 5000, n = patch * patches;
  for (const auto& [device, options] : hosts<double>()) {
    const Context ctx(device, options);
    Random random(seed());
    INFO("seed " << seed() << ", " << name(device) << ' ' << options);
    std::vector<int64_t> far(patches);
    for (const bool few : {false, true}) {
      for (int64_t p = 0; p < patches; ++p)
        far[static_cast<size_t>(p)] = few ? (p + 10 + 100 * (p % 4)) % patches : random_int(random, 0, patches - 1);
      const HostCsr<double> A = with_columns(random, n, n, [&](int64_t i) {
        std::vector<int64_t> columns{i, far[static_cast<size_t>(i / patch)] * patch + i % patch};
        if (i % patch > 0) columns.push_back(i - 1);
        return columns;
      });
      const auto classes = number_in(checked_info(ctx, random, A, A), "row_classes");
      REQUIRE(classes);
      CHECK((*classes > 0) == few);
    }
  }
}

TEST_CASE("spgemm: longer rows that are alike in many patches, each with other far neighbours", "[spgemm]") {
  // By a sample more kinds than are kept, but few beside the rows: those that are kept have most of the rows.
  constexpr int64_t patch = 64, patches = 3840, n = patch * patches;
  for (const auto& [device, options] : hosts<double>()) {
    const Context ctx(device, options);
    Random random(seed());
    INFO("seed " << seed() << ", " << name(device) << ' ' << options);
    std::vector<int64_t> far(patches);
    for (int64_t& of : far) of = random_int(random, 0, patches - 2);
    const HostCsr<double> A = with_columns(random, n, n, [&](int64_t i) {
      const int64_t first = far[static_cast<size_t>(i / patch)] * patch + i % patch;
      return std::vector<int64_t>{i, first, first + 1, first + 2};
    });
    CHECK(number_in(checked_info(ctx, random, A, A), "rows_in_classes") >= 0.6 * n);
  }
}

TEST_CASE("spgemm: rows of one entry beside very long ones", "[spgemm]") {
  constexpr int64_t rows = 9000, inner = 7000, cols = 5000;
  for (const auto& [device, options] : hosts<double>()) {
    const Context ctx(device, options);
    Random random(seed());
    INFO("seed " << seed() << ", " << name(device) << ' ' << options);
    // Some rows of B are empty, out of order, or hold a column twice; on average too long to be listed.
    const HostCsr<double> B = with_columns(random, inner, cols, [&](int64_t j) {
      std::vector<int64_t> columns(static_cast<size_t>(random_int(random, 0, 260)));
      for (int64_t& column : columns) column = random_int(random, 0, cols - 1);
      std::sort(columns.begin(), columns.end());
      if (j % 3 != 0) columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
      if (j % 5 == 0) std::reverse(columns.begin(), columns.end());
      return columns;
    });
    const HostCsr<double> A = with_columns(random, rows, inner, [&](int64_t i) {
      std::vector<int64_t> columns;
      const bool is_long = i == 0 || i == 5000 || i == 5001 || i == rows - 1;
      for (int64_t k = is_long ? 6000 : i % 4 == 3 ? random_int(random, 0, 6) : 1; k > 0; --k)
        columns.push_back(random_int(random, 0, inner - 1));
      return columns;
    });
    const std::string info = checked_info(ctx, random, A, B);
    CHECK(number_in(info, "rows_copied") > rows / 3);
    CHECK(number_in(info, "rows_empty") > 100);
  }
}

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
