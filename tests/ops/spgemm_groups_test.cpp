// spgemm on hosts: rows of B whose columns lie close to each other, so that vectors of products are added to sums of
// all columns; in order and not, with columns twice.
#include "support/aggregates_case.hpp"
#include "support/plan_info.hpp"
#include "support/spgemm_gpu_case.hpp"

using namespace kkc_test;

namespace {

/// Rows of `runs` runs of up to 24 columns, of which two in three are there, within `reach` of the row's place among
/// `cols`. Of `disordered` rows in 100 they are in no order, some twice.
std::vector<std::vector<int64_t>> clusters(Random& random, int64_t rows, int64_t cols, int64_t runs, int64_t reach,
                                           uint64_t disordered) {
  std::vector<std::vector<int64_t>> all;
  for (int64_t i = 0; i < rows; ++i) {
    std::vector<int64_t> columns;
    for (int64_t run = 0; run < runs; ++run) {
      const int64_t first = i * cols / rows + random_int(random, -reach, reach);
      for (int64_t j = first; j < first + 24; ++j)
        if (j >= 0 && j < cols && random() % 3 != 0) columns.push_back(j);
    }
    if (random() % 100 >= disordered) {
      std::sort(columns.begin(), columns.end());
      columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    } else if (random() % 2 == 0) {
      std::shuffle(columns.begin(), columns.end(), random);
    }
    all.push_back(columns);
  }
  return all;
}

}  // namespace

TEMPLATE_TEST_CASE("spgemm: rows of B in groups of columns", "[spgemm]", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  for (const auto& [device, options] : hosts<T>()) {
    const Context ctx(device, options);
    Random random(seed());
    INFO("seed " << seed() << ", " << name(device) << ' ' << options);
    SpgemmCase<T> c;
    c.implementation = "host_binned";
    for (const auto& [rows, cols, reach] :
         {std::array<int64_t, 3>{240, 240, 60}, {150, 151, 150}, {200, 2000, 120}, {1, 15, 3}})
      for (const uint64_t disordered : {0, 15}) {
        const auto A = from_rows<T>(rows, clusters(random, rows, rows, 3, 60, disordered)),
                   B = from_rows<T>(cols, clusters(random, rows, cols, 3, reach, disordered));
        INFO(rows << " rows, " << cols << " columns within " << reach << ", " << disordered << " % in no order");
        SpgemmCase<T> bounded = c;  // products one by one
        bounded.max_workspace = 1 << 20;
        REQUIRE(said("column_groups", ctx, bounded, A, B) == 0);
        if (rows == cols && disordered == 0)
          REQUIRE((said("column_groups", ctx, c, A, B) > 0) == (has_wide_vectors(ctx) && std::is_floating_point_v<T>));
        REQUIRE(bits(ctx, c, A, B) == bits(ctx, bounded, A, B));
        for (const kkc_index_pair_t pair : {KKC_INDEX_32_32, KKC_INDEX_32_64, KKC_INDEX_64_64}) {
          if (!supported(device, "spgemm", pair, scalar_tag<T>)) continue;
          SpgemmCase<T> d = c;
          d.pair = d.pair_c = pair;
          d.base_a = d.base_b = d.base_c = static_cast<int32_t>(random() % 2);
          d.alpha = random() % 3 == 0 ? T(0) : T(-2);
          d.beta = T(0.5);
          d.callers_arrays = random() % 2 == 0;
          INFO(d.text());
          run(ctx, d, A, B, nullptr, random);
        }
      }
  }
}

TEST_CASE("spgemm: rows of B whose entries two bytes cannot count are in no groups", "[spgemm]") {
  for (const kkc_device_t device : devices()) {
    if (device != KKC_DEVICE_SERIAL || !supported(device, "spgemm", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    std::vector<std::vector<int64_t>> a, b(4);  // four long rows, each row of A with another short one
    for (int64_t i = 0; i < 6; ++i) {
      a.push_back({0, 1, 2, 3, 4 + i});
      b.push_back(different(random, 50, 70'000));
    }
    const auto A = from_rows<double>(10, a);
    for (const int64_t longest : {65'535, 65'536}) {
      for (int64_t i = 0; i < 4; ++i) {
        auto& row = b[static_cast<size_t>(i)];
        row.clear();
        for (int64_t j = 0; j < longest - i; ++j) row.push_back(1000 + j);
      }
      const auto B = from_rows<double>(70'000, b);
      SpgemmCase<double> c, bounded;
      bounded.max_workspace = 1 << 20;
      REQUIRE((said("column_groups", ctx, c, A, B) > 0) == (has_wide_vectors(ctx) && longest == 65'535));
      REQUIRE(bits(ctx, c, A, B) == bits(ctx, bounded, A, B));
    }
  }
}

TEST_CASE("spgemm: columns far from each other are in no groups", "[spgemm]") {
  for (const auto& [device, options] : hosts<double>()) {
    const Context ctx(device, options);
    Random random(seed());
    std::vector<std::vector<int64_t>> rows;
    for (int64_t i = 0; i < 600; ++i) rows.push_back(different(random, 40, 600));
    const auto A = from_rows<double>(600, rows);
    REQUIRE(said("column_groups", ctx, SpgemmCase<double>{}, A, A) == 0);
  }
}
