// spgemm of short rows on hosts, whose products the plan lists, or the third execute where it does not: entries of C,
// not rows, are made from then on.
#include "support/spgemm_gpu_case.hpp"

using namespace kkc_test;

namespace {

/// Rows of up to `most` entries; of B: some rows backwards, and some that hold a column twice.
template <class T>
HostCsr<T> short_rows(Random& random, int64_t rows, int64_t cols, int64_t most, bool ascend) {
  auto all = std::vector<std::vector<int64_t>>(static_cast<size_t>(rows));
  for (auto& row : all) row = different(random, random_int(random, 0, std::min(most, cols)), cols);
  if (!ascend)
    for (size_t i = 0; i < all.size(); i += 3) {
      std::reverse(all[i].begin(), all[i].end());
      if (all[i].size() > 1) all[i][1] = all[i][0];
    }
  auto A = from_rows<T>(cols, all);
  A.values = random_vector<T>(random, A.indices.size());
  return A;
}

/// Executes with other values each, and the bits of a plan that makes rows.
template <class T>
void check_lists(const Context& ctx, SpgemmCase<T> c, const HostCsr<T>& A, const HostCsr<T>& B, int executes) {
  c.implementation = "host_binned";
  SpgemmCase<T> rows = c;
  rows.max_workspace = 0;
  INFO(c.text());
  REQUIRE(said("lists_products", ctx, c, A, B) == 1);
  REQUIRE(said("lists_products", ctx, rows, A, B) == 0);
  std::vector<T> bits_of[2];
  for (const bool listed : {false, true}) {
    Random same(seed());
    const auto wrong = run_case(ctx, listed ? c : rows, A, B, static_cast<const HostCsr<T>*>(nullptr), same,
                                &bits_of[listed ? 1 : 0], executes);
    REQUIRE(wrong);
    REQUIRE(*wrong == "");
  }
  REQUIRE((bits_of[0] == bits_of[1]));
}

/// f(context, device, random) on the hosts that have kernels of T.
template <class T, class F>
void on_hosts(const F& f) {
  for (const Visit& visit : visits()) {
    if (is_gpu(visit.device) || !has_kernels<T>(visit.device, "spgemm")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    INFO("seed " << seed() << ", " << name(visit.device));
    f(ctx, visit.device, random);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("spgemm: products of short rows that hosts list in the third execute", "[spgemm]", float, double) {
  using T = TestType;
  on_hosts<T>([](const Context& ctx, kkc_device_t device, Random& random) {
    for (const bool ascend : {true, false})
      for (const int64_t most : {2, 3, 6}) {
        auto A = short_rows<T>(random, 4000, 3000, most, true);
        const auto B = short_rows<T>(random, 3000, 2500, most + 1, ascend);
        SpgemmCase<T> c;
        c.pair = c.pair_c = any_pair<T>(random, device, "spgemm");
        c.base_a = static_cast<int32_t>(random() % 2);
        c.base_b = static_cast<int32_t>(random() % 2);
        c.base_c = static_cast<int32_t>(random() % 2);
        c.beta = T(random() % 2 == 0 ? 0 : 0.5);
        c.alpha = T(-2);
        check_lists(ctx, c, A, B, 5);
        c.op_a = tested_ops[random() % 4];
        c.op_b = tested_ops[random() % 4];
        const auto square = short_rows<T>(random, 3000, 3000, most, ascend);
        INFO(c.text());
        const auto wrong = run_case(ctx, c, square, square, static_cast<const HostCsr<T>*>(nullptr), random,
                                    static_cast<std::vector<T>*>(nullptr), 5);
        REQUIRE(wrong);
        REQUIRE(*wrong == "");
      }
  });
}

TEMPLATE_TEST_CASE("spgemm: listed rows of every number of products", "[spgemm]", float, double) {
  using T = TestType;
  on_hosts<T>([](const Context& ctx, kkc_device_t, Random& random) {
    constexpr int64_t lengths = 64;
    for (const int64_t cols : {1000, 100'000}) {  // products meet often, and hardly ever
      std::vector<std::vector<int64_t>> of_b(lengths);
      for (int64_t j = 0; j < lengths; ++j) of_b[static_cast<size_t>(j)] = different(random, j, cols);
      std::vector<std::vector<int64_t>> of_a(12'000);
      std::vector<int64_t> wanted = {0,  1,   15,  16,  17,  31,  32,  33,   63,   64,
                                     65, 127, 128, 129, 255, 256, 257, 1023, 1024, 2047};
      for (const int64_t many : {2048, 2049, 5000}) wanted.push_back(many);
      for (size_t i = 0; i < of_a.size(); ++i) {
        int64_t products = i % 40 < wanted.size() && i < 2000 ? wanted[i % 40] : random_int(random, 0, 20);
        for (; products > 0; products -= of_a[i].back())
          of_a[i].push_back(random_int(random, 1, std::min(products, lengths - 1)));
        if (random() % 4 == 0) of_a[i].push_back(0);  // an empty row
      }
      auto A = from_rows<T>(lengths, of_a);
      auto right = from_rows<T>(cols, of_b);
      A.values = random_vector<T>(random, A.indices.size());
      right.values = random_vector<T>(random, right.indices.size());
      SpgemmCase<T> c;
      c.beta = T(random() % 2 == 0 ? 0 : 0.5);
      c.base_a = static_cast<int32_t>(random() % 2);
      c.base_b = static_cast<int32_t>(random() % 2);
      check_lists(ctx, c, A, right, 4);
    }
  });
}

TEMPLATE_TEST_CASE("spgemm: listed products of short rows with tentative prolongators", "[spgemm]", float, double) {
  using T = TestType;
  on_hosts<T>([](const Context& ctx, kkc_device_t device, Random& random) {
    for (const int64_t most : {2, 3, 6})
      for (const bool has_long_rows : {false, true}) {
        constexpr int64_t rows = 4000, reached = 3000, aggregates = 900;
        std::vector<std::vector<int64_t>> of_a(rows), of_p(reached);
        for (auto& row : of_a) row = different(random, random_int(random, 0, most), reached);
        if (has_long_rows)
          for (const int64_t length : {256, 257, 400})
            of_a[static_cast<size_t>(length)] = different(random, length, reached);
        for (auto& row : of_p) row = {random_int(random, 0, aggregates - 1)};
        auto A = from_rows<T>(reached, of_a), P = from_rows<T>(aggregates, of_p);
        A.values = random_vector<T>(random, A.indices.size());
        P.values = random_vector<T>(random, P.indices.size());
        SpgemmCase<T> c;
        c.pair = c.pair_c = any_pair<T>(random, device, "spgemm");
        c.base_a = static_cast<int32_t>(random() % 2);
        c.base_b = static_cast<int32_t>(random() % 2);
        c.beta = T(random() % 2 == 0 ? 0 : 0.5);
        check_lists(ctx, c, A, P, 4);
        for (const std::string implementation : {"", "host_aggregates"}) {
          c.implementation = implementation;
          INFO(c.text());
          const auto wrong = run_case(ctx, c, A, P, static_cast<const HostCsr<T>*>(nullptr), random,
                                      static_cast<std::vector<T>*>(nullptr), 2);
          REQUIRE(wrong);
          REQUIRE(*wrong == "");
        }
      }
  });
}

TEST_CASE("spgemm: listed products of a row of more entries than two bytes count, with a prolongator", "[spgemm]") {
  on_hosts<double>([](const Context& ctx, kkc_device_t, Random& random) {
    constexpr int64_t reached = 70000, aggregates = 30000, many = 69000;
    std::vector<std::vector<int64_t>> of_a(60000), of_p(reached);
    for (auto& row : of_a) row = different(random, 2, reached);
    for (auto& row : of_p) row = {random_int(random, 0, aggregates - 1)};
    of_a[100].clear();
    for (int64_t k = 0; k < many; ++k) of_a[100].push_back(k);
    auto A = from_rows<double>(reached, of_a), P = from_rows<double>(aggregates, of_p);
    A.values = random_vector<double>(random, A.indices.size());
    P.values = random_vector<double>(random, P.indices.size());
    check_lists(ctx, SpgemmCase<double>(), A, P, 4);
  });
}

TEST_CASE("spgemm: listed products of rows too long for a block", "[spgemm]") {
  for (const Visit& visit : visits()) {
    if (is_gpu(visit.device) || !supported(visit.device, "spgemm", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    INFO("seed " << seed() << ", " << name(visit.device));
    constexpr int64_t rows = 70'000;
    const auto spread = [](int64_t first, int64_t count,
                           int64_t cols) {  // all different: the step has no factor of cols
      std::vector<int64_t> columns;
      for (int64_t k = 0; k < count; ++k) columns.push_back((first + k * 20'011) % cols);
      return columns;
    };
    const auto short_rows_of = [&](int64_t cols) {
      std::vector<std::vector<int64_t>> all(rows);
      for (auto& row : all) row = spread(random_int(random, 0, cols - 1), random_int(random, 0, 2), cols);
      return all;
    };
    // Its entries are counted by two bytes, and by four; of most columns threads have no table.
    for (const auto& [of_a_row, cols] :
         {std::pair(3000, int64_t{rows}), std::pair(66'000, int64_t{rows}), std::pair(3000, int64_t{600'000})}) {
      auto of_a = short_rows_of(rows), of_b = short_rows_of(cols);
      for (auto& row : of_b) std::sort(row.begin(), row.end());
      of_a[rows / 2] = spread(5, of_a_row, rows);
      for (int64_t p = 0; p < 30; ++p)
        of_b[static_cast<size_t>(of_a[rows / 2][static_cast<size_t>(p)])] = spread(p, 6000, cols);
      SpgemmCase<double> c;
      c.beta = 0.5;
      check_lists(ctx, c, from_rows(rows, of_a), from_rows(cols, of_b), 4);
    }
  }
}

TEST_CASE("spgemm: listed products of a C that leaves the caches, and of one long row", "[spgemm]") {
  for (const Visit& visit : visits()) {
    if (visit.device != KKC_DEVICE_OPENMP || !supported(visit.device, "spgemm", KKC_INDEX_32_32, KKC_TYPE_F64))
      continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    INFO("seed " << seed() << ", " << name(visit.device));
    constexpr int64_t rows = 300'000;
    std::vector<std::vector<int64_t>> of_a(rows);
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t column = random_int(random, 0, rows - 2);
      of_a[static_cast<size_t>(i)] = {column, random_int(random, column + 1, rows - 1)};
    }
    of_a[7] = different(random, 3000, rows);
    const auto A = from_rows(rows, of_a);
    SpgemmCase<double> c;
    c.beta = 0.5;
    check_lists(ctx, c, A, A, 4);
    break;  // takes long
  }
}

TEMPLATE_TEST_CASE("spgemm: a transposed A and one entry in every row of B, by the library's choice", "[spgemm]",
                   double, std::complex<double>) {
  using T = TestType;
  on_hosts<T>([](const Context& ctx, kkc_device_t, Random& random) {
    constexpr int64_t rows = 3000, aggregates = 700;
    std::vector<std::vector<int64_t>> all(rows);
    for (auto& row : all) row = {random_int(random, 0, aggregates - 1)};
    auto B = from_rows<T>(aggregates, all);
    B.values = random_vector<T>(random, B.indices.size());
    for (const int64_t most : {1, 6})  // rows that lists would take, and more entries
      for (const kkc_op_t op : {KKC_OP_TRANSPOSE, KKC_OP_HERMITIAN}) {
        SpgemmCase<T> c;
        c.op_a = op;
        INFO(most << " entries at most, " << c.text());
        const auto wrong = run_case(ctx, c, short_rows<T>(random, rows, 2000, most, true), B,
                                    static_cast<const HostCsr<T>*>(nullptr), random);
        REQUIRE(wrong);
        REQUIRE(*wrong == "");
      }
  });
}
