// spgemm on GPUs: few rows of many products, all of which are cut into pieces, and few tiles of i-nodes of several
// heights.
#include "support/catch.hpp"
#include "support/spgemm_gpu_case.hpp"

using namespace kkc_test;

namespace {

/// Rows of 0 to 2 `mean` entries, the last of `longest`.
template <class T>
HostCsr<T> uneven(Random& random, int64_t rows, int64_t cols, int64_t mean, int64_t longest) {
  std::vector<std::vector<int64_t>> of(static_cast<size_t>(rows));
  for (auto& row : of) row = different(random, static_cast<int64_t>(random() % static_cast<uint64_t>(2 * mean)), cols);
  of.back() = different(random, longest, cols);
  return from_rows<T>(cols, of);
}

/// I-nodes of `heights` rows in turns, which have the columns of those around them.
HostCsr<double> nodes(int64_t count, const std::vector<int64_t>& heights) {
  std::vector<int64_t> begins{0};
  for (int64_t i = 0; i < count; ++i)
    begins.push_back(begins.back() + heights[static_cast<size_t>(i) % heights.size()]);
  std::vector<std::vector<int64_t>> rows;
  for (int64_t i = 0; i < count; ++i) {
    std::vector<int64_t> columns;
    for (int64_t j = std::max<int64_t>(i - 5, 0); j < std::min(i + 6, count); ++j)
      for (int64_t c = begins[static_cast<size_t>(j)]; c < begins[static_cast<size_t>(j) + 1]; ++c)
        columns.push_back(c);
    rows.insert(rows.end(), static_cast<size_t>(heights[static_cast<size_t>(i) % heights.size()]), columns);
  }
  return from_rows(begins.back(), rows);
}

}  // namespace

TEMPLATE_TEST_CASE("spgemm: few rows of many products are cut into pieces", "[spgemm][gpu]", double, float,
                   std::complex<double>) {
  using T = TestType;
  for (const kkc_device_t device : gpus_for<T>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    // Columns beside each other and far apart; rows of A as long as pieces have entries, and longer.
    for (const auto& [rows, inner, cols, mean] : std::vector<std::array<int64_t, 4>>{
             {200, 300, 500, 30}, {700, 500, 4000, 40}, {3000, 3000, 400, 40}, {40, 2000, 30000, 60}}) {
      INFO(rows << " rows, " << inner << " in B, " << cols << " columns");
      const auto A = uneven<T>(random, rows, inner, mean, inner / 2),
                 B = uneven<T>(random, inner, cols, mean, cols / 3);
      SpgemmCase<T> c;
      c.implementation = "gpu_hash";
      REQUIRE(said("pieces", ctx, c, A, B) > 0);
      for (const bool sorted : {true, false}) {
        c.sorted = sorted;
        c.beta = sorted ? T{0} : T{2};
        c.base_a = sorted ? 0 : 1;
        run(ctx, c, A, B, nullptr, random);
      }
      c.op_a = KKC_OP_TRANSPOSE;
      run(ctx, c, uneven<T>(random, inner, rows, std::max<int64_t>(mean * rows / inner, 2), rows / 2), B, nullptr,
          random);
    }
  }
}

TEST_CASE("spgemm: rows of every length, too many to be cut", "[spgemm][gpu]") {
  for (const kkc_device_t device : gpus_for<double>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    constexpr int64_t rows = 16'000, cols = 40'000;
    const auto B =
        from_rows(cols, rows_within(
                            random, rows, 400, [](int64_t) { return int64_t{40}; }, [](int64_t i) { return 2 * i; }));
    std::vector<std::vector<int64_t>> of(static_cast<size_t>(rows));
    for (size_t i = 0; i < of.size(); ++i)
      of[i] = different(random, i % 500 == 7 ? 30 : static_cast<int64_t>(i % 5), rows - 1);
    const auto A = from_rows(rows, of);
    SpgemmCase<double> c;
    c.implementation = "gpu_hash";
    for (const double beta : {0.0, 2.0}) {
      c.beta = beta;
      run(ctx, c, A, B, nullptr, random);
    }
  }
}

TEST_CASE("spgemm: few i-nodes of several heights", "[spgemm][gpu]") {
  for (const kkc_device_t device : gpus_for<double>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    for (const auto& heights : std::vector<std::vector<int64_t>>{{3}, {1, 4}, {2, 3, 4}, {1, 2, 3, 4, 5}}) {
      const auto A = nodes(700, heights);
      INFO(A.rows << " rows");
      SpgemmCase<double> c;
      c.implementation = "gpu_hash";
      REQUIRE(said("tiles", ctx, c, A, A) > 0);
      for (const double beta : {0.0, 2.0}) {
        c.beta = beta;
        run(ctx, c, A, A, nullptr, random);
      }
    }
  }
}
