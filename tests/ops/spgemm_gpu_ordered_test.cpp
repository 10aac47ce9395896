// spgemm on GPUs where entries of C gather their products in the plan's order: rows that are like no other and classes
// of rows, with the bits of the other ways.
#include <array>

#include "support/spgemm_gpu_case.hpp"

using namespace kkc_test;

namespace {

/// Row i: up to `most` of the `width` columns from i on.
std::vector<std::vector<int64_t>> near_rows(Random& random, int64_t rows, int64_t most, int64_t width) {
  return rows_within(
      random, rows, width, [&](int64_t) { return random_int(random, 0, most); }, [](int64_t i) { return i; });
}

}  // namespace

TEMPLATE_TEST_CASE("spgemm: entries of C that gather their products in order", "[spgemm][gpu]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  for (const kkc_device_t device : gpus_for<T>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    constexpr int64_t rows = 1500, inner = rows + 40, cols = inner + 30;
    // Rows of every length from none to the longest that words can name, and of every number of products.
    for (const int64_t most : {6, 12, 30}) {
      auto of_a = near_rows(random, rows, most, 40);
      const auto of_b = near_rows(random, inner, 19, 30);
      const auto B = from_rows<T>(cols, of_b);
      SpgemmCase<T> c;
      c.implementation = "gpu_hash";
      c.beta = T(0.5);
      const auto same = [&](const HostCsr<T>& A, const HostCsr<T>& right) {
        SpgemmCase<T> bounded = c;
        bounded.max_workspace = 0;
        REQUIRE(said("ordered_products", ctx, c, A, right) == 1);
        REQUIRE(said("ordered_products", ctx, bounded, A, right) == 0);
        REQUIRE(bits(ctx, c, A, right) == bits(ctx, bounded, A, right));
      };
      same(from_rows<T>(inner, of_a), B);
      // Rows of far more entries than the others, and columns so far apart that keys take 64 bits.
      for (const int64_t entries : {50, 70, 100, 120, 150, 170})
        of_a[static_cast<size_t>(5 * entries)] = different(random, entries, inner);
      const auto A = from_rows<T>(inner, of_a);
      same(A, B);
      auto apart = of_b;
      for (auto& row : apart)
        for (int64_t& column : row) column *= 100000;
      same(A, from_rows<T>(100000 * cols, apart));
      auto twice = of_b;
      for (size_t i = 0; i < twice.size(); i += 2)
        for (int64_t& column : twice[i]) column = column / 3 * 3;
      for (size_t i = 1; i < twice.size(); i += 4) std::reverse(twice[i].begin(), twice[i].end());
      same(A, from_rows<T>(cols, twice));
      c.base_a = c.base_b = c.base_c = 1;
      c.alpha = T(-2);
      c.sorted = false;
      for (const kkc_index_pair_t pair : {KKC_INDEX_32_32, KKC_INDEX_32_64, KKC_INDEX_64_64}) {
        if (!supported(device, "spgemm", pair, scalar_tag<T>)) continue;
        c.pair = c.pair_c = pair;
        run(ctx, c, A, B, nullptr, random);
        c.sorted = true;
      }
      c.pair = c.pair_c = KKC_INDEX_32_32;
      c.alpha = T(0);
      run(ctx, c, A, B, nullptr, random);
      // One entry more than factors of a row have room for.
      of_a[700] = different(random, 257, inner);
      const auto longer = from_rows<T>(inner, of_a);
      REQUIRE(said("ordered_products", ctx, c, longer, B) == 0);
      run(ctx, c, longer, B, nullptr, random);
    }
  }
}

TEMPLATE_TEST_CASE("spgemm: so many short rows of products that few lanes sort each", "[spgemm][gpu]", double,
                   std::complex<float>) {
  using T = TestType;
  for (const kkc_device_t device : gpus_for<T>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    // Thousands of rows in each bin of up to 128 products, none and their limits among them; columns that lie so far
    // apart that keys take 64 bits.
    constexpr int64_t rows = 9'000, inner = rows + 40, cols = inner + 30;
    for (const auto& [most, most_b, apart] :
         {std::array<int64_t, 3>{2, 3, 1}, {3, 4, 1}, {4, 8, 1}, {9, 19, 1}, {9, 19, 30'000}}) {
      INFO(most << " and " << most_b << " entries a row, columns " << apart << " apart");
      const auto A = from_rows<T>(inner, near_rows(random, rows, most, 40));
      auto of_b = near_rows(random, inner, most_b, 30);
      for (auto& row : of_b)
        for (int64_t& column : row) column *= apart;
      for (size_t i = 0; i < of_b.size(); i += 3) std::reverse(of_b[i].begin(), of_b[i].end());
      const auto B = from_rows<T>(apart * cols, of_b);
      SpgemmCase<T> c, bounded;
      c.implementation = bounded.implementation = "gpu_hash";
      bounded.max_workspace = 0;
      REQUIRE(said("ordered_products", ctx, c, A, B) == 1);
      REQUIRE(bits(ctx, c, A, B) == bits(ctx, bounded, A, B));
    }
  }
}

TEST_CASE("spgemm: products too many beside C to be kept in order", "[spgemm][gpu]") {
  for (const kkc_device_t device : gpus_for<double>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    // Thirty rows of B that all have the same columns, or those of two kinds.
    constexpr int64_t rows = 1500;
    std::vector<std::vector<int64_t>> of_a(rows), of_b(rows + 30);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t k = 0; k < 30; ++k) of_a[static_cast<size_t>(i)].push_back(i + k);
    for (size_t j = 0; j < of_b.size(); ++j)
      for (int64_t c = 0; c < 10; ++c) of_b[j].push_back(static_cast<int64_t>(j) / 100 * 10 + c);
    const auto A = from_rows(rows + 30, of_a), B = from_rows(200, of_b);
    SpgemmCase<double> c;
    c.implementation = "gpu_hash";
    c.beta = 0.5;
    REQUIRE(said("ordered_products", ctx, c, A, B) == 0);
    run(ctx, c, A, B, nullptr, random);
  }
}

TEMPLATE_TEST_CASE("spgemm: classes of rows that gather their products in order", "[spgemm][gpu]", double,
                   std::complex<double>) {
  using T = TestType;
  for (const kkc_device_t device : gpus_for<T>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    // Aggregates of `size` rows, all in one column of P, and rows of B whose columns meet.
    constexpr int64_t aggregates = 4 * 4096;
    for (const auto& [size, entries, strides] :
         std::vector<std::array<int64_t, 3>>{{9, 3, 3}, {27, 8, 3}, {30, 1, 3}, {27, 20, 9}}) {
      std::vector<std::vector<int64_t>> of_p, of_b;
      for (int64_t i = 0; i < aggregates * size; ++i) {
        of_p.push_back({i / size});
        of_b.emplace_back();
        for (int64_t t = 0; t < entries - (i % size == 4 ? 1 : 0); ++t)
          of_b.back().push_back(i / size + t * (i % strides + 1));
      }
      const auto P = from_rows<T>(aggregates, of_p), B = from_rows<T>(aggregates + strides * entries, of_b);
      SpgemmCase<T> c;
      c.implementation = "gpu_hash";
      c.beta = T(-1);
      for (const kkc_op_t op : {KKC_OP_TRANSPOSE, KKC_OP_HERMITIAN}) {
        c.op_a = op;
        INFO(c.text() << ", " << size << " rows an aggregate, " << entries << " entries a row");
        REQUIRE(said("row_classes", ctx, c, P, B) > 0);
        REQUIRE(said("ordered_products", ctx, c, P, B) == 1);
        run(ctx, c, P, B, nullptr, random);
      }
    }
  }
}
