// spgemm, mostly on GPUs: rows on both sides of every bin's limit, products too many for 32-bit offsets.
#include "support/catch.hpp"
#include "support/spgemm_gpu_case.hpp"

using namespace kkc_test;

namespace {

/// Of these a plan for few rows has too many.
constexpr int64_t empty_rows = 4200;

/// B: rows that are long and sparse, long and dense, short, empty; none in the middle of the columns. A: rows that
/// unite many of them, and one of the short ones alone.
std::pair<HostCsr<double>, HostCsr<double>> long_rows(Random& random) {
  constexpr int64_t cols = 300000, inner = 160;
  std::vector<std::vector<int64_t>> of_a, of_b;
  for (int64_t i = 0; i < inner; ++i) {
    std::vector<int64_t> row;
    if (i % 16 == 0) {
      row = different(random, 2500, cols / 3);
    } else if (i % 16 == 8) {
      for (int64_t j = 0; j < 1500; ++j) row.push_back(cols - 4000 + i * 10 + j);
    } else if (i % 4 != 1) {
      row = different(random, i % 40, cols / 3);
    }
    of_b.push_back(std::move(row));
  }
  for (const int64_t entries : {1, 3, 20, 33, 64, 100, 160}) of_a.push_back(different(random, entries, inner));
  of_a.emplace_back();
  of_a.emplace_back();
  for (int64_t i = 3; i < inner; i += 4) of_a.back().push_back(i);
  of_a.resize(of_a.size() + empty_rows);
  return {from_rows(inner, of_a), from_rows(cols, of_b)};
}

bool keeps_slots(const Context& ctx, const SpgemmCase<double>& c, const HostCsr<double>& A, const HostCsr<double>& B) {
  return said("keeps_slots", ctx, c, A, B) == 1;
}

/// Rows of A each of whose products, so many, meet in so many columns, and rows without such company. B's rows are of
/// every length, none included; a row of A has far more entries than ordered products name.
std::pair<HostCsr<double>, HostCsr<double>> crowded_rows(Random& random) {
  std::vector<std::vector<int64_t>> of_a, of_b;
  int64_t first = 0;
  const auto add = [&](std::vector<int64_t> row) {
    for (int64_t& column : row) column += first;
    of_a.back().push_back(static_cast<int64_t>(of_b.size()));
    of_b.push_back(std::move(row));
  };
  for (const int64_t columns : {1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129, 200})
    for (const int64_t products : {24, 25, 96, 97, 384, 385, 1023, 1024, 1025, 1536, 1537}) {
      if (products < columns) continue;
      of_a.emplace_back();
      add(every(1, columns));
      for (int64_t left = products - columns; left > 0;) {
        const int64_t length = std::min(left, random_int(random, 0, std::min<int64_t>(columns, 40)));
        add(different(random, length, columns));
        left -= length;
      }
      first += random_int(random, 0, 1) == 0 ? columns : 5000;
    }
  for (int i = 0; i < 100; ++i) {
    of_a.emplace_back();
    add(every(3, 150));
    first += 450;
  }
  of_a.emplace_back();
  for (int64_t k = 0; k < 300; ++k) add({});
  of_a.push_back({0, 1});  // which another row has named
  return {from_rows(static_cast<int64_t>(of_b.size()), of_a), from_rows(first + 200, of_b)};
}

/// Rows of `entries` columns anywhere, some of them twice and in any order.
HostCsr<double> anywhere(Random& random, int64_t rows, int64_t cols, int64_t entries) {
  std::vector<std::vector<int64_t>> of(static_cast<size_t>(rows));
  for (auto& row : of)
    for (int64_t k = 0; k < entries; ++k) row.push_back(random_int(random, 0, cols - 1));
  return from_rows(cols, of);
}

}  // namespace

TEST_CASE("spgemm: rows on both sides of every bin's limit", "[spgemm][gpu]") {
  for (const kkc_device_t device : gpus_for<double>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    for (const int64_t cols : {int64_t{7000}, int64_t{900000}}) {
      // Row i of B has as many entries as the i-th limit; row i of A names it alone, further rows unite two.
      std::vector<std::vector<int64_t>> of_b, of_a;
      for (const int64_t limit : {1,    24,   25,   96,   97,   192,  193,  384,  385,  1024, 1025,
                                  1536, 1537, 2048, 2049, 3392, 3393, 6144, 6145, 6784, 6785})
        of_b.push_back(different(random, limit, cols));
      of_b.emplace_back();
      for (size_t i = 0; i < of_b.size(); ++i) of_a.push_back({static_cast<int64_t>(i)});
      for (size_t i = 0; i + 1 < of_b.size(); ++i)
        of_a.push_back({static_cast<int64_t>(i), static_cast<int64_t>(of_b.size() - 1 - i)});
      for (auto& row : of_a) std::sort(row.begin(), row.end());
      const auto A = from_rows(static_cast<int64_t>(of_b.size()), of_a), B = from_rows(cols, of_b);
      std::vector<std::vector<int64_t>> of_mask;
      for (size_t i = 0; i < of_a.size(); ++i)
        of_mask.push_back(different(random, static_cast<int64_t>(i % 5) * 600, cols));
      const auto mask = from_rows(cols, of_mask);
      for (const std::string& implementation : implementations(device, "spgemm"))
        for (const bool masked : {false, true}) {
          SpgemmCase<double> c;
          c.implementation = implementation;
          c.beta = masked ? 0 : 2;
          INFO(c.text() << ", " << cols << " columns" << (masked ? ", masked" : ""));
          run(ctx, c, A, B, masked ? &mask : nullptr, random);
        }
    }
  }
}

TEST_CASE("spgemm: many products that meet in few columns", "[spgemm][gpu]") {
  for (const kkc_device_t device : gpus_for<double>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    const auto operands = crowded_rows(random);
    const auto &A = operands.first, &B = operands.second;
    auto unsorted = B;
    for (size_t i = 0; i < static_cast<size_t>(B.rows); i += 3)
      std::reverse(unsorted.indices.begin() + unsorted.offsets[i], unsorted.indices.begin() + unsorted.offsets[i + 1]);
    SpgemmCase<double> any;
    any.implementation = "gpu_hash";
    const int64_t products = said("products", ctx, any, A, B);
    for (const bool sorted : {true, false})
      for (const int64_t max_workspace : {int64_t{-1}, without_lists * products, int64_t{0}}) {
        SpgemmCase<double> c = any;
        c.beta = 2;
        c.sorted = sorted;
        c.max_workspace = max_workspace;
        c.pair = c.pair_c =
            sorted || !supported(device, "spgemm", KKC_INDEX_64_64, KKC_TYPE_F64) ? KKC_INDEX_32_32 : KKC_INDEX_64_64;
        INFO(c.text());
        REQUIRE(keeps_slots(ctx, c, A, B) == (max_workspace > 0));
        REQUIRE((said("gathered_entries", ctx, c, A, B) == said("nnz", ctx, c, A, B)) == (max_workspace < 0));
        run(ctx, c, A, B, nullptr, random);
        run(ctx, c, A, unsorted, nullptr, random);
      }
  }
}

TEST_CASE("spgemm: long rows in pieces", "[spgemm][gpu]") {
  for (const kkc_device_t device : gpus_for<double>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    const auto operands = long_rows(random);
    const auto &A = operands.first, &B = operands.second;
    SpgemmCase<double> c;
    c.implementation = "gpu_hash";
    REQUIRE(keeps_slots(ctx, c, A, B));
    run(ctx, c, A, B, nullptr, random);
    c.beta = 2;
    c.alpha = -0.5;
    c.base_a = c.base_b = c.base_c = 1;
    run(ctx, c, A, B, nullptr, random);
    c.sorted = false;
    run(ctx, c, A, B, nullptr, random);
    c.sorted = true;
    for (const kkc_index_pair_t pair : {KKC_INDEX_32_64, KKC_INDEX_64_64}) {
      if (!supported(device, "spgemm", pair, KKC_TYPE_F64)) continue;
      c.pair = c.pair_c = pair;
      run(ctx, c, A, B, nullptr, random);
    }
    c.pair = c.pair_c = KKC_INDEX_32_32;
    const auto mask = from_rows(B.cols, [&] {
      std::vector<std::vector<int64_t>> rows;
      for (int64_t i = 0; i < A.rows; ++i) rows.push_back(different(random, 3000 * (i % 3), B.cols));
      return rows;
    }());
    run(ctx, c, A, B, &mask, random);
    // Without room for slots, and the same bits.
    SpgemmCase<double> bounded = c;
    bounded.max_workspace = 0;
    REQUIRE(!keeps_slots(ctx, bounded, A, B));
    REQUIRE(bits(ctx, c, A, B) == bits(ctx, bounded, A, B));
    auto unsorted = B;
    for (size_t i = 0; i < static_cast<size_t>(B.rows); ++i)
      std::reverse(unsorted.indices.begin() + unsorted.offsets[i], unsorted.indices.begin() + unsorted.offsets[i + 1]);
    REQUIRE(!keeps_slots(ctx, c, A, unsorted));
    run(ctx, c, A, unsorted, nullptr, random);
  }
}

TEST_CASE("spgemm: a few rows of too many products among others", "[spgemm][gpu]") {
  for (const kkc_device_t device : gpus_for<double>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    // Rows of 25 of 60 neighbours; a few of 400 anywhere, or of 1200 neighbours.
    constexpr int64_t n = 6000;
    const auto near = [&](int64_t i, int64_t entries, int64_t reach) {
      auto row = different(random, entries, reach);
      for (int64_t& j : row) j += std::clamp<int64_t>(i - reach / 2, 0, n - reach);
      return row;
    };
    std::vector<std::vector<int64_t>> rows;
    for (int64_t i = 0; i < n; ++i)
      rows.push_back(i % 1000 == 77   ? different(random, 400, n)
                     : i % 1000 == 78 ? near(i, 600, 700)
                                      : near(i, random_int(random, 15, 35), 60));
    const auto A = from_rows(n, rows);
    auto unsorted = A;
    std::reverse(unsorted.indices.begin() + unsorted.offsets[9], unsorted.indices.begin() + unsorted.offsets[10]);
    for (const bool sorted : {true, false}) {
      SpgemmCase<double> c;
      c.implementation = "gpu_hash";
      c.beta = 2;
      c.sorted = sorted;
      SpgemmCase<double> slots = c, bounded = c;
      slots.max_workspace = without_lists * said("products", ctx, c, A, A);
      bounded.max_workspace = 0;
      INFO(c.text());
      REQUIRE(said("gathered_entries", ctx, c, A, A) > 0);
      REQUIRE(keeps_slots(ctx, slots, A, A));
      REQUIRE(!keeps_slots(ctx, bounded, A, A));
      if (sorted) {
        const auto expected = bits(ctx, bounded, A, A);
        REQUIRE(bits(ctx, slots, A, A) == expected);
        REQUIRE(bits(ctx, c, A, A) == expected);
      }
      for (const SpgemmCase<double>& way : {c, slots}) {
        run(ctx, way, A, A, nullptr, random);
        run(ctx, way, A, unsorted, nullptr, random);
      }
    }
  }
}

TEST_CASE("spgemm: rows of very many entries that name short rows", "[spgemm][gpu]") {
  for (const kkc_device_t device : gpus_for<double>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    // Columns below 40 are met by hundreds of a long row's products, the last one by a third of them, the others by
    // few.
    constexpr int64_t inner = 9000, cols = 5000;
    std::vector<std::vector<int64_t>> of_b(inner), of_a;
    for (auto& row : of_b) {
      row = different(random, random_int(random, 0, 3), random_int(random, 0, 3) == 0 ? 40 : cols - 1);
      if (random_int(random, 0, 2) == 0) row.push_back(cols - 1);
    }
    for (const int64_t entries : {1024, 1025, 9000, 0, 1, 300, 4097, 8000, 50})
      of_a.push_back(different(random, entries, inner));
    const auto of_dense = from_rows(inner, of_a);
    for (int i = 0; i < 400; ++i) of_a.push_back(different(random, 800, inner));
    of_a.resize(of_a.size() + empty_rows);
    const auto A = from_rows(inner, of_a), B = from_rows(cols, of_b);
    auto twice = B;  // rows backwards, and some that hold the last column twice
    for (size_t j = 0; j < inner; ++j) {
      const auto begin = twice.indices.begin() + twice.offsets[j], end = twice.indices.begin() + twice.offsets[j + 1];
      std::reverse(begin, end);
      if (end - begin > 1 && *begin == cols - 1 && j % 5 == 0) begin[1] = cols - 1;
    }
    SpgemmCase<double> c;
    c.implementation = "gpu_hash";
    c.beta = 0.5;
    const auto gathers = [&](const SpgemmCase<double>& of) { return said("gathered_entries", ctx, of, A, B) > 0; };
    SpgemmCase<double> bounded = c, some = c;
    bounded.max_workspace = 0;
    some.max_workspace = without_lists * said("products", ctx, c, A, B);  // lists of these rows have room
    REQUIRE(gathers(some));
    REQUIRE(!gathers(bounded));
    REQUIRE(said("gathered_entries", ctx, some, A, B) < said("nnz", ctx, some, A, B));
    REQUIRE(said("gathered_entries", ctx, c, A, B) == said("nnz", ctx, c, A, B));
    // Where these rows are most of the product, all are gathered.
    REQUIRE(said("gathered_entries", ctx, c, of_dense, B) == said("nnz", ctx, c, of_dense, B));
    for (const HostCsr<double>* right : {&B, &std::as_const(twice)}) {
      const auto expected = bits(ctx, bounded, A, *right);
      REQUIRE(bits(ctx, c, A, *right) == expected);
      REQUIRE(bits(ctx, some, A, *right) == expected);
      REQUIRE(bits(ctx, c, of_dense, *right) == bits(ctx, bounded, of_dense, *right));
    }
    for (const bool sorted : {true, false}) {
      bounded.sorted = sorted;
      run(ctx, bounded, A, twice, nullptr, random);
    }
    c.base_a = c.base_b = c.base_c = 1;
    c.alpha = -2;
    for (const kkc_index_pair_t pair : {KKC_INDEX_32_32, KKC_INDEX_32_64, KKC_INDEX_64_64}) {
      if (!supported(device, "spgemm", pair, KKC_TYPE_F64)) continue;
      c.pair = c.pair_c = pair;
      run(ctx, c, A, B, nullptr, random);
      c.max_workspace = some.max_workspace;
      run(ctx, c, A, twice, nullptr, random);
      c.max_workspace = -1;
      run(ctx, c, of_dense, twice, nullptr, random);
      run(ctx, c, A, anywhere(random, inner, cols, 3), nullptr, random);
      run(ctx, c, from_rows(inner, {of_a[2]}), B, nullptr, random);
    }
  }
}

TEST_CASE("spgemm: products that nearly all have columns of their own", "[spgemm][gpu]") {
  for (const kkc_device_t device : gpus_for<double>()) {
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    SpgemmCase<double> c;
    c.implementation = "gpu_hash";
    constexpr int64_t rows = 2600, inner = 500, cols = 200000;
    const auto left = [&](int64_t entries) {
      std::vector<std::vector<int64_t>> of(rows);
      for (auto& row : of) row = different(random, entries, inner);
      of[1400].clear();
      of[1401] = different(random, 2 * entries, inner);
      return from_rows(inner, of);
    };
    // Rows of at most 1024, at most 2048 and more products. A row is empty, one is long, one names a row of B twice.
    for (const auto& [of_a, of_b] : {std::pair<int64_t, int64_t>{14, 24}, {20, 40}, {40, 40}}) {
      auto A = left(of_a);
      const auto B = anywhere(random, inner, cols, of_b);
      A.indices[static_cast<size_t>(7 * of_a)] = A.indices[static_cast<size_t>(7 * of_a + 1)];
      INFO(of_a << " entries in a row of A, " << of_b << " in one of B");
      const bool fits = 2 * of_a * of_b <= 2048;
      CHECK((said("one_pass", ctx, c, A, B) == 1) == fits);
      for (const bool sorted : {true, false}) {
        c.sorted = sorted;
        c.beta = sorted ? 0 : 2;
        run(ctx, c, A, B, nullptr, random);
      }
      c.base_a = c.base_b = c.base_c = 1;
      c.max_workspace = 0;
      CHECK((said("one_pass", ctx, c, A, B) == 1) == fits);
      run(ctx, c, A, B, nullptr, random);
      c.max_workspace = -1;
      for (const kkc_index_pair_t pair : {KKC_INDEX_32_64, KKC_INDEX_64_64}) {
        if (!supported(device, "spgemm", pair, KKC_TYPE_F64)) continue;
        c.pair = c.pair_c = pair;
        run(ctx, c, A, B, nullptr, random);
      }
      c.pair = c.pair_c = KKC_INDEX_32_32;
      c.base_a = c.base_b = c.base_c = 0;
    }
    // One row, not of the sample, whose products share columns; then rows whose columns crowd.
    auto A = left(14);
    for (int64_t k = 0; k < 14; ++k) A.indices[static_cast<size_t>(14 + k)] = 3;
    auto B = anywhere(random, inner, cols, 24);
    CHECK(said("one_pass", ctx, c, A, B) == 0);
    run(ctx, c, A, B, nullptr, random);
    A = left(16);
    for (size_t p = 0; p < B.indices.size(); p += 2) B.indices[p] = B.indices[p] % 600 + 60000;
    CHECK(said("one_pass", ctx, c, A, B) == 0);
    run(ctx, c, A, B, nullptr, random);
  }
}

TEST_CASE("spgemm: what is infinite stays in the entries that it reaches", "[spgemm][gpu]") {
  for (const kkc_device_t device : devices()) {
    if (!supported(device, "spgemm", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    const Context ctx(device);
    auto A = diagonals(4 * 4096, every(1, 12)), B = diagonals(A.cols, every(5, 12));
    std::fill(A.values.begin(), A.values.end(), 1.0);
    std::fill(B.values.begin(), B.values.end(), 1.0);
    A.values[12 * 700 + 3] = std::numeric_limits<double>::infinity();
    const DeviceCsr<double> left(ctx, A, KKC_INDEX_32_32, 0), right(ctx, B, KKC_INDEX_32_32, 0);
    const double one = 1, zero = 0;
    for (const std::string& implementation : implementations(device, "spgemm")) {
      INFO(name(device) << ' ' << implementation);
      Plan plan;
      const kkc_status_t planned =
          kkc_spgemm_plan(ctx, KKC_OP_NONE, left, KKC_OP_NONE, right, nullptr, KKC_INDEX_32_32,
                          Options("{\"implementation\": \"" + implementation + "\"}"), plan.out());
      if (planned == KKC_STATUS_NOT_SUPPORTED) continue;
      ok(planned);
      Matrix C;
      ok(kkc_plan_create_output(plan, C.out()));
      ok(kkc_spgemm_execute(plan, &one, left, right, &zero, C));
      ok(kkc_context_synchronize(ctx));
      const HostCsr<double> result = download<double>(ctx, C);
      int64_t infinite = 0, right_places = 0;
      for (size_t p = 0; p < result.values.size(); ++p) {
        if (std::isfinite(result.values[p])) continue;
        ++infinite;
        const int64_t from = result.indices[p] - 703;  // of the row of B that the infinite entry names
        right_places += from >= 0 && from < 60 && from % 5 == 0 && static_cast<int64_t>(p) >= result.offsets[700] &&
                        static_cast<int64_t>(p) < result.offsets[701];
      }
      CHECK(infinite == 12);
      CHECK(right_places == 12);
    }
  }
}

TEST_CASE("spgemm: more products than 32-bit offsets count", "[spgemm][gpu][large]") {
  for (const kkc_device_t device : devices()) {
    const bool narrow = supported(device, "spgemm", KKC_INDEX_32_32, KKC_TYPE_F32);
    if (!is_gpu(device) || (!narrow && !supported(device, "spgemm", KKC_INDEX_32_64, KKC_TYPE_F32))) continue;
    const Context ctx(device);
    // A of ones in a column times a row of ones: every row of C is full.
    constexpr int64_t n = 46400;  // n n > 2^31
    HostCsr<float> of_column, of_row;
    of_column.rows = of_row.cols = n;
    of_column.cols = of_row.rows = 1;
    of_row.offsets = {0, n};
    of_column.indices.assign(n, 0);
    of_column.offsets.assign(1, 0);
    for (int64_t i = 1; i <= n; ++i) of_column.offsets.push_back(i);
    for (int64_t i = 0; i < n; ++i) of_row.indices.push_back(i);
    std::vector<float> values(n);
    for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i)] = static_cast<float>(i % 7 + 1);
    of_column.values = of_row.values = values;
    const kkc_index_pair_t pair = narrow ? KKC_INDEX_32_32 : KKC_INDEX_32_64;
    const DeviceCsr<float> A(ctx, of_column, pair, 0), B(ctx, of_row, pair, 0);
    Matrix C;
    Plan plan, refused;
    CHECK(kkc_spgemm_plan(ctx, KKC_OP_NONE, A, KKC_OP_NONE, B, nullptr, KKC_INDEX_32_32, nullptr, refused.out()) ==
          KKC_STATUS_OVERFLOW);
    CHECK(std::string(kkc_last_error()).find(std::to_string(n * n)) != std::string::npos);
    ok(kkc_spgemm_plan(ctx, KKC_OP_NONE, A, KKC_OP_NONE, B, nullptr, KKC_INDEX_32_64, nullptr, plan.out()));
    int64_t nnz = 0;
    ok(kkc_plan_output_nnz(plan, &nnz));
    REQUIRE(nnz == n * n);
    if (kkc_plan_create_output(plan, C.out()) == KKC_STATUS_OUT_OF_MEMORY) {
      WARN("not enough memory for " << nnz << " entries");
      continue;
    }
    const float one = 1, zero = 0;
    ok(kkc_spgemm_execute(plan, &one, A, B, &zero, C));
    ok(kkc_context_synchronize(ctx));
    const void *offsets = nullptr, *indices = nullptr;
    void* c_values = nullptr;
    ok(kkc_csr_get(C, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &offsets, &indices, &c_values));
    std::vector<int32_t> columns(n);
    std::vector<float> row(n);
    for (const int64_t i : {int64_t{0}, n / 2, n - 1}) {  // the last lies past 2^31
      int64_t at = -1;
      ok(kkc_copy(ctx, &at, static_cast<const int64_t*>(offsets) + i, sizeof at, KKC_COPY_DEVICE_TO_HOST));
      REQUIRE(at == i * n);
      ok(kkc_copy(ctx, columns.data(), static_cast<const int32_t*>(indices) + at, n * 4, KKC_COPY_DEVICE_TO_HOST));
      ok(kkc_copy(ctx, row.data(), static_cast<const float*>(c_values) + at, n * 4, KKC_COPY_DEVICE_TO_HOST));
      bool right = true;
      for (int64_t j = 0; j < n; ++j)
        right = right && columns[static_cast<size_t>(j)] == j &&
                row[static_cast<size_t>(j)] == values[static_cast<size_t>(i)] * values[static_cast<size_t>(j)];
      CHECK(right);
    }
  }
}
