// spgemm on GPUs where a row's columns lie near each other, so that a bitmap of its window finds them: windows of all
// lengths, in one slice and in several, beside rows without one.
#include "support/spgemm_gpu_case.hpp"

using namespace kkc_test;

namespace {

/// Row i: up to `most` of the `width` columns around i * spread, at least half as many in every row but some.
std::vector<std::vector<int64_t>> near_rows(Random& random, int64_t rows, int64_t most, int64_t width, int64_t spread,
                                            int64_t cols) {
  return rows_within(
      random, rows, width, [&](int64_t i) { return random_int(random, i % 11 == 0 ? 0 : most / 2, most); },
      [&](int64_t i) { return std::clamp<int64_t>(i * spread - width / 2, 0, cols - width); });
}

}  // namespace

TEMPLATE_TEST_CASE("spgemm: rows whose columns lie near each other", "[spgemm][gpu]", float, double,
                   std::complex<double>) {
  using T = TestType;
  for (const kkc_device_t device : gpus_for<T>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    struct Shape {
      int64_t rows, inner, most_a, most_b, width_b, spread;
    };
    // A few words; a bitmap and more; several slices, whose last one is short.
    for (const Shape& s :
         {Shape{1200, 1250, 40, 40, 60, 1}, {900, 1000, 70, 60, 3'000, 40}, {300, 400, 70, 80, 150'000, 200}}) {
      INFO("B's rows within " << s.width_b << " columns");
      const int64_t cols = s.width_b + s.inner * s.spread;
      auto of_a = near_rows(random, s.rows, s.most_a, 100, 1, s.inner);
      // Rows of few products, of very many, and one whose columns lie anywhere.
      of_a[7] = {3};
      of_a[8] = different(random, 200, s.inner);
      of_a[9] = different(random, 5, s.inner);
      const auto A = from_rows<T>(s.inner, of_a);
      const auto of_b = near_rows(random, s.inner, s.most_b, s.width_b, s.spread, cols);
      const auto B = from_rows<T>(cols, of_b);
      SpgemmCase<T> c;
      c.implementation = "gpu_hash";
      c.beta = T(0.5);
      REQUIRE(said("windows", ctx, c, A, B) == 1);
      for (const bool sorted : {true, false}) {
        c.sorted = sorted;
        run(ctx, c, A, B, nullptr, random);
      }
      c.sorted = true;
      SpgemmCase<T> bounded = c;
      bounded.max_workspace = 0;  // no slots
      REQUIRE(bits(ctx, c, A, B) == bits(ctx, bounded, A, B));
      // Rows that do not ascend have no windows.
      auto falling = of_b;
      for (size_t i = 0; i < falling.size(); i += 5) std::reverse(falling[i].begin(), falling[i].end());
      const auto unordered = from_rows<T>(cols, falling);
      REQUIRE(said("windows", ctx, c, A, unordered) == 0);
      run(ctx, c, A, unordered, nullptr, random);
      for (const kkc_index_pair_t pair : {KKC_INDEX_32_64, KKC_INDEX_64_64}) {
        if (!supported(device, "spgemm", pair, scalar_tag<T>)) continue;
        c.pair = c.pair_c = pair;
        c.base_a = c.base_b = c.base_c = 1;
        run(ctx, c, A, B, nullptr, random);
      }
    }
  }
}

TEST_CASE("spgemm: rows of few columns and very many products", "[spgemm][gpu]") {
  for (const kkc_device_t device : gpus_for<double>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    // Groups of rows that have the same columns, in no order: up to 60 * 60 products for 60 entries.
    constexpr int64_t n = 2400, group = 60, cols = 90'000'000;
    const std::vector<int64_t> order = different(random, n, n);
    std::vector<int64_t> shuffled(order.begin(), order.end());
    std::shuffle(shuffled.begin(), shuffled.end(), random);
    std::vector<std::vector<int64_t>> of_a(n), of_b(n);
    for (int64_t g = 0; g < n; g += group)
      for (int64_t u = 0; u < group; ++u) {
        const auto row = static_cast<size_t>(shuffled[static_cast<size_t>(g + u)]);
        for (int64_t v = 0; v < group - u % 7; ++v) {
          const int64_t column = shuffled[static_cast<size_t>(g + v)];
          of_a[row].push_back(column);
          of_b[row].push_back(column * (cols / n));
        }
        std::sort(of_a[row].begin(), of_a[row].end());
        std::sort(of_b[row].begin(), of_b[row].end());
      }
    const auto A = from_rows(n, of_a), B = from_rows(cols, of_b);
    SpgemmCase<double> c, bounded;
    c.implementation = bounded.implementation = "gpu_hash";
    REQUIRE(said("keeps_slots", ctx, c, A, B) == 1);
    run(ctx, c, A, B, nullptr, random);
    bounded.max_workspace = 0;
    REQUIRE(said("keeps_slots", ctx, bounded, A, B) == 0);
    REQUIRE(bits(ctx, c, A, B) == bits(ctx, bounded, A, B));
  }
}
