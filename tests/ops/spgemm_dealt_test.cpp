// spgemm by host_restriction where rows of C are like no others, and their products are dealt to parts of C.
#include "support/catch.hpp"

#include <algorithm>
#include <vector>

#include "support/spgemm_case.hpp"

using namespace kkc_test;

namespace {

template <class T>
constexpr const HostCsr<T>* no_mask = nullptr;

/// One entry in each row, in these columns.
template <class T>
HostCsr<T> one_a_row(Random& random, const std::vector<int64_t>& columns, int64_t cols) {
  HostCsr<T> A;
  A.rows = static_cast<int64_t>(columns.size());
  A.cols = cols;
  A.indices = columns;
  for (int64_t i = 1; i <= A.rows; ++i) A.offsets.push_back(i);
  A.values = random_vector<T>(random, columns.size());
  return A;
}

/// Whether the plan of A^T B deals its products.
template <class T>
bool deals(const Context& ctx, const SpgemmCase<T>& c, const HostCsr<T>& A, const HostCsr<T>& B) {
  const DeviceCsr<T> left(ctx, A, c.pair, c.base_a), right(ctx, B, c.pair, c.base_b);
  Plan plan;
  ok(kkc_spgemm_plan(ctx, KKC_OP_TRANSPOSE, left, KKC_OP_NONE, right, nullptr, c.pair_c, Options(c.options()),
                     plan.out()));
  const char* info = nullptr;
  ok(kkc_plan_info(plan, &info));
  return std::string(info).find("\"parts\":") != std::string::npos;
}

/// The product on every host, checked, and the same bits on all of them.
template <class T>
void check_on_hosts(SpgemmCase<T> c, const HostCsr<T>& A, const HostCsr<T>& B, Random& random) {
  c.implementation = "host_restriction";
  c.op_a = KKC_OP_TRANSPOSE;
  const Random same = random;
  std::vector<T> expected;
  for (const Visit& visit : visits()) {
    if (is_gpu(visit.device) || !has_kernels<T>(visit.device, "spgemm")) continue;
    const Context ctx(visit.device, visit.options);
    c.pair = c.pair_c = supported(visit.device, "spgemm", c.pair, scalar_tag<T>) ? c.pair : KKC_INDEX_32_32;
    INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ", " << c.text());
    CHECK(deals(ctx, c, A, B));
    std::vector<T> bits;
    Random numbers = same;
    const auto wrong = run_case(ctx, c, A, B, no_mask<T>, numbers, &bits);
    REQUIRE(wrong);
    REQUIRE(*wrong == "");
    if (expected.empty()) expected = bits;
    CHECK(bits == expected);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("spgemm: restrictions by scattered runs, of rows with and without entries", "[spgemm]", float,
                   double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  Random random(seed());
  constexpr int64_t rows = 30000, aggregates = 900, met_by_many = 7, long_run = 600;
  // Runs of up to five rows, one longer than a byte counts, and a row of C with thousands of products.
  std::vector<int64_t> columns;
  while (static_cast<int64_t>(columns.size()) < rows) {
    const bool is_long = columns.size() >= rows / 2 && columns.size() < rows / 2 + 5;
    const int64_t column = random() % 8 == 0 ? met_by_many : random_int(random, 0, aggregates - 1),
                  length = is_long ? long_run : random_int(random, 1, 5);
    columns.insert(columns.end(), static_cast<size_t>(length), column);
  }
  const auto A = one_a_row<T>(random, columns, aggregates);
  for (const bool apart : {false, true}) {
    HostCsr<T> B;
    B.rows = A.rows;
    B.cols = rows;
    for (int64_t i = 0; i < B.rows; ++i) {
      // Half of a stretch has no rows with entries, and one with five stands behind many without.
      const bool hidden =
          (i >= 4000 && i < 4000 + rows / 100 && i % 2 == 0) || (i >= rows / 2 && i < rows / 2 + 300 && i % 150 != 149);
      std::vector<int64_t> row;
      for (int64_t q = hidden ? 0 : random_int(random, 0, 5); q > 0; --q)
        row.push_back(apart ? random_int(random, 0, B.cols - 1)
                            : std::min(B.cols - 1, columns[static_cast<size_t>(i)] * 30 + random_int(random, 0, 60)));
      B.indices.insert(B.indices.end(), row.begin(), row.end());
      B.offsets.push_back(B.nnz());
    }
    B.values = random_vector<T>(random, B.indices.size());
    for (const kkc_index_pair_t pair : {KKC_INDEX_32_32, KKC_INDEX_32_64, KKC_INDEX_64_64}) {
      SpgemmCase<T> c;
      c.pair = c.pair_c = pair;
      c.base_a = static_cast<int32_t>(random() % 2);
      c.base_b = static_cast<int32_t>(random() % 2);
      c.base_c = static_cast<int32_t>(random() % 2);
      c.alpha = random() % 8 == 0 ? T(0) : T(0.7);
      c.beta = random() % 2 == 0 ? T(0.5) : T(0);
      check_on_hosts(c, A, B, random);
    }
  }
}

TEST_CASE("spgemm: restrictions whose products lie far apart, and of a row of more columns than two bytes count",
          "[spgemm]") {
  using T = double;
  Random random(seed());
  // The first columns are met at both ends, column 5 by rows with a column of B each, the last ones by few rows.
  constexpr int64_t rows = 200000, aggregates = 5000, of_one = 70000, at_ends = 500, met_seldom = 20;
  std::vector<int64_t> columns;
  HostCsr<T> B;
  B.rows = rows;
  B.cols = 2 * of_one;
  for (int64_t i = 0; i < rows; ++i) {
    const bool in_one = i % 2 == 0 && i < 2 * of_one;
    columns.push_back(in_one                               ? 5
                      : i < at_ends || i >= rows - at_ends ? random_int(random, 0, 4)
                      : i % 700 == 1                       ? random_int(random, aggregates - met_seldom, aggregates - 1)
                                                           : random_int(random, 6, aggregates - 1 - met_seldom));
    B.indices.push_back(in_one ? i : random_int(random, 0, B.cols - 1));
    B.offsets.push_back(B.nnz());
  }
  B.values = random_vector<T>(random, B.indices.size());
  check_on_hosts(SpgemmCase<T>(), one_a_row<T>(random, columns, aggregates), B, random);
}

TEST_CASE("spgemm: restrictions by a grid's aggregates, or of long rows, do not deal their products", "[spgemm]") {
  using T = double;
  if (!has_kernels<T>(KKC_DEVICE_SERIAL, "spgemm")) return;
  Random random(seed());
  const Context ctx(KKC_DEVICE_SERIAL);
  constexpr int64_t lines = 60, line = 60, rows = lines * line;
  std::vector<int64_t> of_grid, scattered;
  HostCsr<T> B, longer;
  B.rows = longer.rows = rows;
  B.cols = longer.cols = lines / 3 * line / 3;
  for (int64_t i = 0; i < rows; ++i) {
    of_grid.push_back(i / line / 3 * (line / 3) + i % line / 3);
    scattered.push_back(random_int(random, 0, B.cols - 1));
    B.indices.push_back(of_grid.back());
    B.offsets.push_back(B.nnz());
    for (int64_t q = 0; q < 12; ++q) longer.indices.push_back(random_int(random, 0, B.cols - 1));
    longer.offsets.push_back(longer.nnz());
  }
  B.values = random_vector<T>(random, B.indices.size());
  longer.values = random_vector<T>(random, longer.indices.size());
  SpgemmCase<T> c;
  c.implementation = "host_restriction";
  const auto grid = one_a_row<T>(random, of_grid, B.cols), any = one_a_row<T>(random, scattered, B.cols);
  CHECK_FALSE(deals(ctx, c, grid, B));
  CHECK_FALSE(deals(ctx, c, any, longer));
  CHECK(deals(ctx, c, any, B));
}
