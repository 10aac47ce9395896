// spgemm on GPUs: matrices with few kinds of rows.
#include "support/catch.hpp"
#include "support/spgemm_gpu_case.hpp"

using namespace kkc_test;

namespace {

/// A grid's neighbours, and points joined by threes in each direction.
HostCsr<double> grid(int64_t nx, int64_t ny, bool corners) {
  std::vector<std::vector<int64_t>> rows;
  for (int64_t y = 0; y < ny; ++y)
    for (int64_t x = 0; x < nx; ++x) {
      rows.emplace_back();
      for (int64_t v = std::max<int64_t>(y - 1, 0); v <= std::min(y + 1, ny - 1); ++v)
        for (int64_t u = std::max<int64_t>(x - 1, 0); u <= std::min(x + 1, nx - 1); ++u)
          if (corners || u == x || v == y) rows.back().push_back(v * nx + u);
    }
  return from_rows(nx * ny, rows);
}
HostCsr<double> aggregates(int64_t nx, int64_t ny) {
  std::vector<std::vector<int64_t>> rows;
  const int64_t coarse = (nx + 2) / 3;
  for (int64_t i = 0; i < nx * ny; ++i) rows.push_back({i / nx / 3 * coarse + i % nx / 3});
  return from_rows(coarse * ((ny + 2) / 3), rows);
}

}  // namespace

TEST_CASE("spgemm: few kinds of rows of few entries, near each other and far", "[spgemm][gpu]") {
  for (const kkc_device_t device : gpus_for<double>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    constexpr int64_t rows = 20000;
    const std::vector<std::vector<int64_t>> shapes{
        {0},         {0, 1, 2},         {0, 3, 7, 8}, {0, 1, 2, 3, 4}, every(5, 6), {0, 1, 2, 3, 4, 70000},
        every(3, 8), {0, 1, 2, 1200000}};
    for (const auto& at : shapes) {
      INFO(at.size() << " entries a row, the last " << at.back() << " behind the row's");
      auto B = diagonals(rows, at);
      const auto A = diagonals(rows - 10, {0, 1, 10});
      SpgemmCase<double> c;
      c.implementation = "gpu_hash";
      c.beta = 2;
      c.base_a = c.base_b = 1;
      REQUIRE(said("row_classes", ctx, c, A, B) > 0);
      run(ctx, c, A, B, nullptr, random);
      // Tentative prolongators: groups of three rows.
      std::vector<std::vector<int64_t>> group(static_cast<size_t>(B.cols));
      for (size_t i = 0; i < group.size(); ++i) group[i] = {static_cast<int64_t>(i / 3)};
      const auto P = from_rows(B.cols / 3 + 1, group);
      c.implementation = "gpu_aggregates";
      REQUIRE(said("row_classes", ctx, c, B, P) > 0);
      run(ctx, c, B, P, nullptr, random);
      // Rows backwards among the others.
      for (size_t i = 5; i < static_cast<size_t>(rows); i += 1000)
        std::reverse(B.indices.begin() + B.offsets[i], B.indices.begin() + B.offsets[i + 1]);
      run(ctx, c, B, P, nullptr, random);
      c.implementation = "gpu_hash";
      run(ctx, c, A, B, nullptr, random);
    }
  }
}

TEST_CASE("spgemm: few kinds of rows", "[spgemm][gpu]") {
  for (const kkc_device_t device : gpus_for<double>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    const auto cross = grid(150, 130, false), square = grid(140, 140, true);
    auto once_different = cross;  // one row of another kind
    once_different.indices[once_different.indices.size() / 2] += 40;
    SpgemmCase<double> c;
    c.beta = -1;
    run(ctx, c, cross, cross, nullptr, random);
    run(ctx, c, square, square, nullptr, random);
    run(ctx, c, cross, aggregates(150, 130), nullptr, random);
    run(ctx, c, once_different, cross, nullptr, random);
    run(ctx, c, cross, once_different, nullptr, random);
    std::vector<std::vector<int64_t>> of(20000);  // of 900 kinds
    for (int64_t i = 0; i < 20000; ++i) of[static_cast<size_t>(i)] = {i, i + 1 + i % 900};
    const auto kinds = from_rows(22000, of);
    of.resize(22000, {0});
    const auto tall = from_rows(22000, of);
    REQUIRE(said("row_classes", ctx, c, kinds, tall) >= 900);
    run(ctx, c, kinds, tall, nullptr, random);
  }
}

TEST_CASE("spgemm: few kinds of short rows beside a few longer ones", "[spgemm][gpu]") {
  for (const kkc_device_t device : gpus_for<double>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    constexpr int64_t n = 20'000;
    // Rows of C of 25, 30, and 38 columns; of 100 and more, up to the last of its rows, where rows of A are long.
    for (const auto& [of_a, of_b] : std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>>{
             {every(1, 13), every(1, 13)}, {every(1, 16), every(1, 15)}, {every(1, 20), every(1, 19)}}) {
      std::vector<std::vector<int64_t>> rows(static_cast<size_t>(n));
      for (int64_t i = 0; i < n; ++i)
        for (const int64_t at : of_a) rows[static_cast<size_t>(i)].push_back(i + at);
      for (const int64_t i : {int64_t{0}, int64_t{31}, int64_t{32}, n / 2, n - 1})
        for (int64_t k = 0; k < 110; ++k) rows[static_cast<size_t>(i)].push_back(i + 30 + k + k / 60 * 700);
      const auto A = from_rows(n + 900, rows), B = diagonals(A.cols, of_b);
      INFO(of_a.size() << " entries in a row of A, " << of_b.size() << " in one of B");
      SpgemmCase<double> c;
      c.implementation = "gpu_hash";
      REQUIRE(said("row_classes", ctx, c, A, B) > 0);
      for (const double beta : {0.0, 2.0}) {
        c.beta = beta;
        run(ctx, c, A, B, nullptr, random);
      }
    }
  }
}

TEST_CASE("spgemm: few kinds of rows, of moderate length", "[spgemm][gpu]") {
  for (const kkc_device_t device : gpus_for<double>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    constexpr int64_t n = 4 * 4096;
    SpgemmCase<double> c;
    // Rows of C of 47 columns with up to 24 products each; of 64, 130, 256, 361, 400 columns.
    const std::vector<int64_t> last{0, 1, 2, 3, 64};
    for (const auto& [of_a, of_b] :
         std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>>{{every(1, 24), every(1, 24)},
                                                                            {every(1, 8), every(8, 8)},
                                                                            {every(26, 5), every(1, 26)},
                                                                            {every(1, 16), every(16, 16)},
                                                                            {every(19, 19), every(1, 19)},
                                                                            {every(1, 20), every(20, 20)},
                                                                            {last, every(1, 64)}}) {
      const auto A = diagonals(n, of_a), B = diagonals(A.cols, of_b);
      c.beta = of_a.size() % 2 == 0 ? 0 : 2;
      INFO(of_a.size() << " entries in a row of A, " << of_b.size() << " in one of B");
      run(ctx, c, A, B, nullptr, random);
    }
  }
}

TEST_CASE("spgemm: few kinds of rows, on both sides of every limit of how they are compared", "[spgemm][gpu]") {
  for (const kkc_device_t device : gpus_for<double>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    constexpr int64_t n = 4 * 4096;
    const SpgemmCase<double> c;
    for (const auto& [of_a, of_b] : std::vector<std::pair<int64_t, int64_t>>{
             {6, 12}, {7, 13}, {6, 96}, {7, 97}, {48, 12}, {49, 13}, {48, 20}, {16, 32}, {1, 2}, {2, 0}}) {
      INFO(of_a << " entries in a row of A, " << of_b << " in one of B");
      const auto A = diagonals(n, every(1, of_a));
      std::vector<std::vector<int64_t>> rows(static_cast<size_t>(A.cols));
      for (int64_t i = 0; i < A.cols; ++i) {
        if (i % 5 == 0) continue;  // A's rows name empty ones in every place
        for (int64_t k = 0; k < of_b; ++k) rows[static_cast<size_t>(i)].push_back(i + 2 * k + i % 5);
      }
      if (of_b > 0) rows[7].pop_back();  // a row of another kind, of no more entries
      rows[7].push_back(A.cols + 2 * of_b + 30);
      const auto B = from_rows(A.cols + 2 * of_b + 40, rows);
      const int64_t classes = said("row_classes", ctx, c, A, B);
      CHECK(classes >= 3);
      CHECK(classes <= 5 + of_a);
      run(ctx, c, A, B, nullptr, random);
    }
  }
}
