// spgemm where rows follow each other that have the same columns (i-nodes): tiles of several rows of C are multiplied
// at once, by up to four rows of B. gpu_hash and host_binned.
#include "support/spgemm_gpu_case.hpp"

using namespace kkc_test;

namespace {

/// Rows of points of 1 to `most` unknowns each, which meet `near` points among their neighbours, all unknowns of them.
std::vector<std::vector<int64_t>> points(Random& random, int64_t count, int64_t most, int64_t near, int64_t reach) {
  std::vector<int64_t> first{0};
  for (int64_t p = 0; p < count; ++p) first.push_back(first.back() + random_int(random, 1, most));
  std::vector<std::vector<int64_t>> rows;
  for (int64_t p = 0; p < count; ++p) {
    std::vector<int64_t> met{p};
    while (static_cast<int64_t>(met.size()) < near)
      met.push_back(std::clamp<int64_t>(p + random_int(random, -reach, reach), 0, count - 1));
    std::sort(met.begin(), met.end());
    met.erase(std::unique(met.begin(), met.end()), met.end());
    std::vector<int64_t> columns;
    for (const int64_t q : met)
      for (int64_t j = first[static_cast<size_t>(q)]; j < first[static_cast<size_t>(q) + 1]; ++j) columns.push_back(j);
    for (int64_t i = first[static_cast<size_t>(p)]; i < first[static_cast<size_t>(p) + 1]; ++i) rows.push_back(columns);
  }
  return rows;
}

/// That takes tiles, where it may, on the device.
const char* tiling(kkc_device_t device) { return is_gpu(device) ? "gpu_hash" : "host_binned"; }

}  // namespace

TEMPLATE_TEST_CASE("spgemm: rows that have the same columns", "[spgemm]", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  for (const kkc_device_t device : devices()) {
    if (!supported(device, "spgemm", KKC_INDEX_32_32, scalar_tag<T>)) continue;
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    SpgemmCase<T> c;
    c.implementation = tiling(device);
    for (const auto& [most, near, reach] : {std::array<int64_t, 3>{3, 6, 40}, {6, 9, 300}, {23, 5, 8}, {4, 60, 2000}}) {
      auto rows = points(random, is_gpu(device) ? 900 : 300, most, near, reach);
      const auto n = static_cast<int64_t>(rows.size());
      // Rows without entries, and rows whose columns follow each other across i-nodes.
      rows[40].clear();
      for (int64_t i = 90; i < 97; ++i) rows[static_cast<size_t>(i)] = different(random, 30, 60);
      const auto A = from_rows<T>(n, rows);
      INFO(most << " unknowns at most, " << near << " points");
      // Few products of short rows are listed instead, where there is room.
      SpgemmCase<T> tiled = c;
      if (is_gpu(device)) tiled.max_workspace = without_lists * said("products", ctx, c, A, A);
      REQUIRE(said("tiles", ctx, tiled, A, A) > 0);
      REQUIRE(said("tiles", ctx, tiled, A, A) < n);
      if (is_gpu(device)) REQUIRE((said("tiles", ctx, c, A, A) == 0) == (near == 6));
      run(ctx, tiled, A, A, nullptr, random);
      SpgemmCase<T> bounded = c;
      bounded.max_workspace = 0;
      REQUIRE((said("tiles", ctx, bounded, A, A) == 0) == is_gpu(device));
      const auto expected = bits(ctx, bounded, A, A);
      REQUIRE(bits(ctx, tiled, A, A) == expected);
      REQUIRE(bits(ctx, c, A, A) == expected);
      for (const kkc_index_pair_t pair : {KKC_INDEX_32_32, KKC_INDEX_32_64, KKC_INDEX_64_64}) {
        if (!supported(device, "spgemm", pair, scalar_tag<T>)) continue;
        SpgemmCase<T> d = c;
        d.pair = d.pair_c = pair;
        d.base_a = d.base_b = d.base_c = static_cast<int32_t>(random() % 2);
        d.alpha = random() % 3 == 0 ? T(0) : T(-2);
        d.beta = T(0.5);
        d.op_a = tested_ops[random() % 4];
        d.op_b = tested_ops[random() % 4];
        INFO(d.text());
        run(ctx, d, A, A, nullptr, random);
      }
      // One of the operands alone.
      const auto other = from_rows<T>(700, [&] {
        std::vector<std::vector<int64_t>> all;
        for (int64_t i = 0; i < n; ++i) all.push_back(different(random, random_int(random, 0, 5), 700));
        return all;
      }());
      run(ctx, c, A, other, nullptr, random);
      SpgemmCase<T> d = c;
      d.op_a = KKC_OP_TRANSPOSE;
      run(ctx, d, other, A, nullptr, random);
    }
  }
}

TEMPLATE_TEST_CASE("spgemm: dense blocks, and rows of C longer than a piece", "[spgemm]", double,
                   std::complex<double>) {
  using T = TestType;
  for (const kkc_device_t device : devices()) {
    if (!supported(device, "spgemm", KKC_INDEX_32_32, scalar_tag<T>)) continue;
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    SpgemmCase<T> c;
    c.implementation = tiling(device);
    c.beta = T(-1);
    std::vector<std::vector<int64_t>> blocks;
    for (int64_t i = 0; i < 1200; ++i) {
      std::vector<int64_t> columns;
      for (int64_t j = 0; j < 130; ++j) columns.push_back(i / 130 * 130 + j);
      blocks.push_back(columns);
    }
    const auto dense = from_rows<T>(1300, blocks);
    blocks.resize(1300, blocks.back());
    const auto square = from_rows<T>(1300, blocks);
    REQUIRE(said("tiles", ctx, c, dense, square) > 0);
    run(ctx, c, dense, square, nullptr, random);

    // Rows alike, on GPUs too many to be cut into pieces, whose rows of B, also alike by threes, have thousands of
    // columns together.
    const int64_t alike = is_gpu(device) ? 1200 : 400;
    std::vector<std::vector<int64_t>> a(static_cast<size_t>(alike), different(random, 90, 300)), b;
    for (int64_t i = 0; i < 100; ++i) {
      const auto columns = different(random, random_int(random, 0, 200), 40'000);
      for (int64_t r = 0; r < 3; ++r) b.push_back(columns);
    }
    const auto A = from_rows<T>(300, a), B = from_rows<T>(40'000, b);
    REQUIRE(said("tiles", ctx, c, A, B) == alike / (is_gpu(device) || !std::is_floating_point_v<T> ? 4 : 8));
    run(ctx, c, A, B, nullptr, random);
  }
}

TEST_CASE("spgemm: rows that have the same columns and no products", "[spgemm]") {
  for (const kkc_device_t device : devices()) {
    if (!supported(device, "spgemm", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    // Rows of B without entries, and others that no row of A names, or one.
    std::vector<std::vector<int64_t>> b(60), a(40, {3, 4, 5, 20, 21, 22});
    b.resize(160, different(random, 30, 100));
    const auto B = from_rows<double>(100, b);
    for (const bool some : {false, true}) {
      if (some) a[17] = {3, 70, 71};
      SpgemmCase<double> c;
      c.implementation = tiling(device);
      c.beta = 3;
      run(ctx, c, from_rows<double>(160, a), B, nullptr, random);
    }
  }
}

TEMPLATE_TEST_CASE("spgemm: points of a grid with several unknowns, on GPUs", "[spgemm][gpu]", double,
                   std::complex<float>) {
  using T = TestType;
  for (const kkc_device_t device : gpus_for<T>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    for (const auto& [unknowns, points] : {std::array<int64_t, 2>{3, 17'000}, {5, 9'000}}) {
      std::vector<std::vector<int64_t>> rows;
      for (int64_t p = 0; p < points; ++p) {
        std::vector<int64_t> columns;
        for (const int64_t q : {p - 40, p - 1, p, p + 1, p + 40})
          for (int64_t u = 0; u < unknowns && q >= 0 && q < points; ++u) columns.push_back(q * unknowns + u);
        rows.resize(rows.size() + static_cast<size_t>(unknowns), columns);
      }
      const auto A = from_rows<T>(points * unknowns, rows);
      SpgemmCase<T> c;
      c.implementation = "gpu_hash";
      INFO(unknowns << " unknowns");
      REQUIRE(said("tiles", ctx, c, A, A) == points * ((unknowns + 3) / 4));
      REQUIRE(said("row_classes", ctx, c, A, A) > 0);
      c.alpha = T(-2);
      c.beta = T(0.5);
      c.base_a = c.base_b = c.base_c = 1;
      run(ctx, c, A, A, nullptr, random);
      c.op_a = KKC_OP_HERMITIAN;
      run(ctx, c, A, A, nullptr, random);
    }
  }
}

TEST_CASE("spgemm: rows that have the same columns, in no order, of very many kinds, on GPUs", "[spgemm][gpu]") {
  for (const kkc_device_t device : gpus_for<double>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    auto rows = points(random, 9'000, 3, 5, 3000);
    const auto n = static_cast<int64_t>(rows.size());
    SpgemmCase<double> c;
    c.implementation = "gpu_hash";
    const auto in_order = from_rows<double>(n, rows);
    c.max_workspace = without_lists * said("products", ctx, c, in_order, in_order);
    REQUIRE(said("tiles", ctx, c, in_order, in_order) > 0);
    for (size_t i = 0; i < rows.size(); ++i) std::reverse(rows[i].begin(), rows[i].end());
    const auto A = from_rows<double>(n, rows);
    REQUIRE(said("tiles", ctx, c, A, A) == 0);
    run(ctx, c, A, A, nullptr, random);
  }
}
