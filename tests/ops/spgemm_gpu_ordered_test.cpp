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

/// So few products that all are listed, where there is room; where there is less, words name them. The same bits.
template <class T>
void check_ways(const Context& ctx, const SpgemmCase<T>& c, const HostCsr<T>& A, const HostCsr<T>& B,
                bool listed = true) {
  SpgemmCase<T> words = c, bounded = c;
  words.max_workspace = without_lists * said("products", ctx, c, A, B);
  bounded.max_workspace = 0;
  REQUIRE((said("gathered_entries", ctx, c, A, B) > 0) == listed);
  REQUIRE(said("gathered_entries", ctx, words, A, B) == 0);
  REQUIRE(said("ordered_products", ctx, words, A, B) == 1);
  REQUIRE(said("ordered_products", ctx, bounded, A, B) == 0);
  const auto expected = bits(ctx, bounded, A, B);
  REQUIRE(bits(ctx, words, A, B) == expected);
  REQUIRE(bits(ctx, c, A, B) == expected);
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
      check_ways(ctx, c, from_rows<T>(inner, of_a), B);
      // Rows of far more entries than the others, and columns so far apart that keys take 64 bits.
      for (const int64_t entries : {50, 70, 100, 120, 150, 170})
        of_a[static_cast<size_t>(5 * entries)] = different(random, entries, inner);
      const auto A = from_rows<T>(inner, of_a);
      check_ways(ctx, c, A, B);
      auto apart = of_b;
      for (auto& row : apart)
        for (int64_t& column : row) column *= 100000;
      check_ways(ctx, c, A, from_rows<T>(100000 * cols, apart));
      auto twice = of_b;
      for (size_t i = 0; i < twice.size(); i += 2)
        for (int64_t& column : twice[i]) column = column / 3 * 3;
      for (size_t i = 1; i < twice.size(); i += 4) std::reverse(twice[i].begin(), twice[i].end());
      // More products of an entry than lists would have in order, as far as the plan knows.
      check_ways(ctx, c, A, from_rows<T>(cols, twice), false);
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
      SpgemmCase<T> c;
      c.implementation = "gpu_hash";
      check_ways(ctx, c, A, B);
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
    // Aggregates of `size` rows, all in one column of P, and rows of B whose columns meet; fewer than 2^21 products of
    // short rows, which are listed, and more, which words name.
    constexpr int64_t least = 4 * 4096;
    for (const auto& [size, entries, strides, aggregates] : std::vector<std::array<int64_t, 4>>{
             {9, 3, 3, least}, {9, 3, 3, 5 * least}, {27, 8, 3, least}, {30, 1, 3, 5 * least}, {27, 20, 9, least}}) {
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
        const bool listed = said("products", ctx, c, P, B) <= 1 << 21;
        REQUIRE(listed == (aggregates == least && size == 9));
        REQUIRE(said("ordered_products", ctx, c, P, B) == (listed ? 0 : 1));
        REQUIRE((said("gathered_entries", ctx, c, P, B) > 0) == listed);
        run(ctx, c, P, B, nullptr, random);
      }
    }
  }
}

TEMPLATE_TEST_CASE("spgemm: a few rows of A that are far longer than the others", "[spgemm][gpu]", float, double,
                   std::complex<double>) {
  using T = TestType;
  for (const kkc_device_t device : gpus_for<T>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    // Rows of a band, all of one class or of tiles of equal rows; long ones whose products meet in 17 and more of an
    // entry, and in more than one sum has in order, where B has columns that many or all rows share.
    constexpr int64_t rows = 17'000;
    for (const int64_t nodes : {1, 4})
      for (const int64_t width : {2, 40}) {
        INFO(nodes << " equal rows, " << width << " entries");
        std::vector<std::vector<int64_t>> of_a(rows);
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t k = 0; k < width; ++k) of_a[static_cast<size_t>(i)].push_back((i / nodes * nodes + k) % rows);
        for (auto& row : of_a) std::sort(row.begin(), row.end());
        auto of_b = of_a;
        for (size_t j = 0; j < of_b.size(); j += 7)
          if (of_b[j].back() < rows - 2) of_b[j].push_back(rows - 2);
        for (auto& row : of_b)
          if (row.back() < rows - 1) row.push_back(rows - 1);
        for (const int64_t entries : {300, 700, 1100, 1900, 2500})
          of_a[static_cast<size_t>(5 * entries)] = different(random, entries, rows);
        const auto A = from_rows<T>(rows, of_a), B = from_rows<T>(rows, of_b);
        SpgemmCase<T> c, bounded;
        c.implementation = bounded.implementation = "gpu_hash";
        c.beta = bounded.beta = T(0.5);
        bounded.max_workspace = 0;
        REQUIRE((said("gathered_entries", ctx, c, A, B) > 0) == (width == 2));
        REQUIRE(said("row_classes", ctx, c, A, B) == 0);
        REQUIRE(bits(ctx, c, A, B) == bits(ctx, bounded, A, B));
        run(ctx, c, A, B, nullptr, random);
      }
  }
}
