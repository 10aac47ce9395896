// spgemm: every implementation on every device against plain host loops.
#include "support/catch.hpp"

#include <algorithm>
#include <set>

#include "support/spgemm_case.hpp"

using namespace kkc_test;

namespace {

/// Everything but the implementation and the shapes at random.
template <class T>
SpgemmCase<T> random_case(Random& random, kkc_device_t device, const std::string& implementation) {
  SpgemmCase<T> c;
  c.implementation = implementation;
  c.pair = any_pair<T>(random, device, "spgemm");
  c.pair_c = c.pair == KKC_INDEX_64_64 ? KKC_INDEX_64_64 : random() % 2 == 0 ? KKC_INDEX_32_32 : KKC_INDEX_32_64;
  c.op_a = random() % 2 == 0 ? KKC_OP_NONE : tested_ops[random() % std::size(tested_ops)];
  c.op_b = random() % 2 == 0 ? KKC_OP_NONE : tested_ops[random() % std::size(tested_ops)];
  c.base_a = static_cast<int32_t>(random() % 2);
  c.base_b = static_cast<int32_t>(random() % 2);
  c.base_c = static_cast<int32_t>(random() % 2);
  c.alpha = any_coefficient<T>(random);
  c.beta = any_coefficient<T>(random);
  c.sorted = random() % 4 != 0;
  c.deterministic = random() % 4 == 0;
  c.device_scalars = random() % 4 == 0;
  c.callers_arrays = random() % 2 == 0;
  return c;
}

template <class T>
void check_case(const Context& ctx, const Visit& visit, const SpgemmCase<T>& c, Shape shape_a, Shape shape_b,
                int64_t rows, int64_t inner, int64_t cols, bool masked, Random& random, std::set<std::string>& taken) {
  const bool turned_a = transposed(c.op_a), turned_b = transposed(c.op_b);
  const auto A = random_csr<T>(random, shape_a, turned_a ? inner : rows, turned_a ? rows : inner);
  const auto B = random_csr<T>(random, shape_b, turned_b ? cols : inner, turned_b ? inner : cols);
  const auto mask =
      random_csr<T>(random, random() % 2 == 0 ? Shape::unsorted_duplicates : Shape::power_law, rows, cols);
  INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ", " << name(shape_a) << ' '
               << name(shape_b) << ' ' << rows << " x " << inner << " x " << cols << (masked ? " masked, " : ", ")
               << c.text());
  const auto wrong = run_case(ctx, c, A, B, masked ? &mask : nullptr, random);
  if (!wrong) return;
  taken.insert(c.implementation);
  REQUIRE(*wrong == "");
}

}  // namespace

TEMPLATE_TEST_CASE("spgemm: every implementation gives what host loops give", "[spgemm]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  constexpr int64_t sizes[] = {0, 1, 2, 7, 9, 31, 64, 100, 150};
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "spgemm")) continue;
    const Context ctx(visit.device, visit.options);
    std::set<std::string> taken;
    const auto names = implementations(visit.device, "spgemm");
    for (const std::string& implementation : names) {
      Random random(seed());
      for (const Shape shape : all_shapes)
        for (int repeat = 0; repeat < 8; ++repeat) {
          const bool square = repeat % 2 == 0;
          const int64_t rows = repeat == 0 ? 150 : sizes[random() % std::size(sizes)],
                        inner = square ? rows : sizes[random() % std::size(sizes)],
                        cols = square ? rows : sizes[random() % std::size(sizes)];
          SpgemmCase<T> c = random_case<T>(random, visit.device, implementation);
          const bool masked = repeat > 0 && random() % 3 == 0;
          const Shape other = square ? shape : all_shapes[random() % std::size(all_shapes)];
          check_case(ctx, visit, c, shape, other, rows, inner, cols, masked, random, taken);
        }
    }
    std::set<std::string> expected(names.begin(), names.end());
    if (!supported(visit.device, "spgemm", KKC_INDEX_32_32, scalar_tag<T>))
      for (const char* vendor : {"cusparse", "rocsparse"}) expected.erase(vendor);  // they take no other indices
    CHECK(taken == expected);
  }
}

/// Rows with lengths around the sizes where the treatment of a row changes, among rows of B of one to a few entries.
template <class T>
HostCsr<T> rows_of_lengths(Random& random, const std::vector<int64_t>& lengths, int64_t cols) {
  HostCsr<T> A;
  A.cols = cols;
  for (const int64_t length : lengths) {
    ++A.rows;
    std::set<int64_t> columns;
    while (static_cast<int64_t>(columns.size()) < std::min(length, cols))
      columns.insert(random_int(random, 0, cols - 1));
    A.indices.insert(A.indices.end(), columns.begin(), columns.end());
    A.offsets.push_back(A.nnz());
  }
  A.values = random_vector<T>(random, A.indices.size());
  return A;
}

TEST_CASE("spgemm: rows of every length around the borders of its bins", "[spgemm]") {
  using T = double;
  std::vector<int64_t> lengths;
  for (int64_t border = 1; border <= 4096; border *= 2)
    for (int64_t length = border - 1; length <= border + 1; ++length) lengths.push_back(length);
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "spgemm")) continue;
    const Context ctx(visit.device, visit.options);
    for (const std::string& implementation : implementations(visit.device, "spgemm")) {
      Random random(seed());
      const int64_t cols = 70000;
      const auto A = rows_of_lengths<T>(random, lengths, 5000);
      std::vector<int64_t> ones(5000);
      for (int64_t& length : ones) length = random_int(random, 0, 3);
      const auto B = rows_of_lengths<T>(random, ones, cols);
      SpgemmCase<T> c;
      c.implementation = implementation;
      c.beta = T(0.5);
      INFO("seed " << seed() << ", " << name(visit.device) << ", " << c.text());
      const auto wrong = run_case(ctx, c, A, B, static_cast<const HostCsr<T>*>(nullptr), random);
      if (wrong) REQUIRE(*wrong == "");
      // The other way round: single entries that choose long rows of B.
      std::vector<int64_t> few(200);
      for (int64_t& length : few) length = random_int(random, 0, 2);
      const auto choose = rows_of_lengths<T>(random, few, static_cast<int64_t>(lengths.size()));
      const auto long_rows = rows_of_lengths<T>(random, lengths, cols);
      for (const bool sorted : {true, false}) {
        c.sorted = sorted;
        const auto other = run_case(ctx, c, choose, long_rows, static_cast<const HostCsr<T>*>(nullptr), random);
        if (other) REQUIRE(*other == "");
      }
    }
  }
}

TEST_CASE("spgemm: slices of any size give the same bits", "[spgemm]") {
  using T = double;
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "spgemm")) continue;
    const Context ctx(visit.device, visit.options);
    for (const std::string& implementation : implementations(visit.device, "spgemm"))
      for (const bool masked : {false, true}) {
        std::vector<T> whole;
        for (const int64_t bound : {-1, 1 << 20, 20000, 2000, 0}) {
          Random random(seed());
          const auto A = random_csr<T>(random, Shape::power_law, 300, 300);
          const auto mask = random_csr<T>(random, Shape::power_law, 300, 300);
          SpgemmCase<T> c;
          c.implementation = implementation;
          c.beta = T(0.25);
          c.deterministic = true;
          c.max_workspace = bound;
          INFO("seed " << seed() << ", " << name(visit.device) << ", " << c.text() << (masked ? " masked" : ""));
          std::vector<T> bits;
          const auto wrong = run_case(ctx, c, A, A, masked ? &mask : nullptr, random, &bits);
          if (!wrong) continue;
          REQUIRE(*wrong == "");
          if (whole.empty()) whole = bits;
          CHECK(whole == bits);
        }
      }
  }
}

TEST_CASE("spgemm: rows of B that fill blocks of columns, without like rows", "[spgemm]") {
  using T = double;
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "spgemm")) continue;
    const Context ctx(visit.device, visit.options);
    for (const std::string& implementation : implementations(visit.device, "spgemm"))
      for (const bool sorted : {true, false}) {
        Random random(seed());
        HostCsr<T> B;  // three runs of columns a row, which may overlap
        B.cols = 3000;
        for (B.rows = 0; B.rows < 300; ++B.rows) {
          std::set<int64_t> columns;
          for (int run = 0; run < 3; ++run) {
            const int64_t begin = random_int(random, 0, B.cols - 12);
            for (int64_t c = begin, end = begin + random_int(random, 6, 12); c < end; ++c) columns.insert(c);
          }
          B.indices.insert(B.indices.end(), columns.begin(), columns.end());
          B.offsets.push_back(B.nnz());
        }
        B.values = random_vector<T>(random, B.indices.size());
        std::vector<int64_t> lengths(300);
        for (int64_t& length : lengths) length = random_int(random, 0, 40);
        const auto A = rows_of_lengths<T>(random, lengths, B.rows);
        SpgemmCase<T> c;
        c.implementation = implementation;
        c.sorted = sorted;
        INFO("seed " << seed() << ", " << name(visit.device) << ", " << c.text());
        const auto wrong = run_case(ctx, c, A, B, static_cast<const HostCsr<T>*>(nullptr), random);
        if (wrong) REQUIRE(*wrong == "");
      }
  }
}

/// A grid of n x n x n points, 7 entries a row.
template <class T>
HostCsr<T> grid_of(Random& random, int64_t n) {
  HostCsr<T> grid;
  grid.rows = grid.cols = n * n * n;
  for (int64_t z = 0; z < n; ++z)
    for (int64_t y = 0; y < n; ++y)
      for (int64_t x = 0; x < n; ++x) {
        const auto at = [&](int64_t i, int64_t j, int64_t k) {
          if (std::min({i, j, k}) >= 0 && std::max({i, j, k}) < n) grid.indices.push_back((k * n + j) * n + i);
        };
        at(x, y, z - 1), at(x, y - 1, z), at(x - 1, y, z), at(x, y, z), at(x + 1, y, z), at(x, y + 1, z),
            at(x, y, z + 1);
        grid.offsets.push_back(grid.nnz());
      }
  grid.values = random_vector<T>(random, grid.indices.size());
  return grid;
}

TEMPLATE_TEST_CASE("spgemm: results that leave the caches are those of another way to multiply", "[spgemm]", float,
                   double) {
  using T = TestType;
  for (const Visit& visit : visits()) {
    if (is_gpu(visit.device) || !supported(visit.device, "spgemm", KKC_INDEX_32_32, scalar_tag<T>)) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    const auto grid = grid_of<T>(random, 48);  // 2.6 million entries of the product
    const DeviceCsr<T> A(ctx, grid, KKC_INDEX_32_32, 1);
    for (const T beta : {T(0), T(0.5)}) {
      std::vector<HostCsr<T>> results;
      for (const char* implementation : {"host_binned", "host_hash"}) {
        SpgemmCase<T> c;
        c.implementation = implementation;
        Plan plan;
        ok(kkc_spgemm_plan(ctx, KKC_OP_NONE, A, KKC_OP_NONE, A, nullptr, c.pair, Options(c.options()), plan.out()));
        const OutputMatrix<T> C(ctx, c, plan, grid.rows, grid.cols);
        int64_t nnz = 0;
        ok(kkc_plan_output_nnz(plan, &nnz));
        C.set(std::vector<T>(static_cast<size_t>(nnz), T(1)));
        const T alpha(2);
        ok(kkc_spgemm_execute(plan, &alpha, A, A, &beta, C));
        results.push_back(download<T>(ctx, C));
      }
      CHECK(difference(results[0], results[1], 64) == "");
    }
  }
}

TEMPLATE_TEST_CASE("spgemm: products that nearly all have columns of their own, on hosts", "[spgemm]", double,
                   std::complex<float>) {
  using T = TestType;
  for (const Visit& visit : visits()) {
    if (is_gpu(visit.device) || !supported(visit.device, "spgemm", KKC_INDEX_32_32, scalar_tag<T>)) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    // Rows of A from none to some that have more columns than places of 2 bytes tell apart; single entries are copies;
    // from 256 products on columns are sorted, where they are many, but not too many.
    std::vector<int64_t> lengths(1000);
    for (int64_t& length : lengths) {
      const auto kind = random() % 5;
      length = kind == 0 ? random_int(random, 0, 1) : random_int(random, 0, kind == 1 ? 60 : 20);
    }
    struct Shapes {
      int64_t cols;
      std::vector<int64_t> longest;  // 7281: 65529 products
    };
    for (const auto& [cols, all_longest] : {Shapes{(1 << 17) - 1, {20}}, Shapes{1 << 17, {20}}, Shapes{1 << 22, {20}},
                                            Shapes{(1 << 22) + 1, {20}}, Shapes{200000, {20, 7281, 7282, 8900}}}) {
      const auto B = rows_of_lengths<T>(random, std::vector<int64_t>(9000, 9), cols);
      for (const int64_t longest : all_longest) {
        lengths[410] = longest;
        const auto A = rows_of_lengths<T>(random, lengths, B.rows);
        SpgemmCase<T> c;
        c.implementation = random() % 2 == 0 ? "host_binned" : "host_hash";
        c.pair_c = random() % 2 == 0 ? KKC_INDEX_32_32 : KKC_INDEX_32_64;
        c.beta = T(0.5);
        INFO("seed " << seed() << ", " << name(visit.device) << ", " << cols << " columns, " << c.text());
        const auto wrong = run_case(ctx, c, A, B, static_cast<const HostCsr<T>*>(nullptr), random);
        REQUIRE(wrong);
        REQUIRE(*wrong == "");
      }
    }
  }
}

TEMPLATE_TEST_CASE("spgemm: places that hosts note in the third execute", "[spgemm]", float, double,
                   std::complex<double>) {
  using T = TestType;
  struct Sizes {
    int64_t rows, left, inner, right, cols, spread;  // entries of a row of A and of B; B's columns are multiples
  };
  // Rows by an accumulator for every column, by a hash, and of a result that leaves the caches.
  constexpr Sizes all[] = {{150, 25, 300, 25, 300, 1}, {150, 30, 100, 25, 400, 300}, {300, 50, 800, 150, 5000, 1}};
  for (const Visit& visit : visits()) {
    if (is_gpu(visit.device) || !has_kernels<T>(visit.device, "spgemm")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    for (const Sizes& s : all)
      for (const bool distinct : {true, false})
        for (const bool sorted : {true, false}) {
          if (s.cols == 5000 && distinct != sorted) continue;  // takes long
          std::vector<int64_t> lengths(static_cast<size_t>(s.rows));
          for (int64_t& length : lengths) length = random_int(random, s.left - 3, s.left + 3);
          const auto A = rows_of_lengths<T>(random, lengths, s.inner);
          auto B = rows_of_lengths<T>(random, std::vector<int64_t>(static_cast<size_t>(s.inner), s.right), s.cols);
          if (!distinct) B.indices[1] = B.indices[0];
          for (auto& column : B.indices) column *= s.spread;
          B.cols *= s.spread;
          SpgemmCase<T> c;
          c.sorted = sorted;
          c.pair = supported(visit.device, "spgemm", KKC_INDEX_64_64, scalar_tag<T>) && random() % 2 == 0
                       ? KKC_INDEX_64_64
                       : KKC_INDEX_32_32;
          c.pair_c = c.pair;
          c.base_a = c.base_b = static_cast<int32_t>(random() % 2);
          c.beta = random() % 2 == 0 ? T(0.5) : T(0);
          INFO("seed " << seed() << ", " << name(visit.device) << ", " << s.cols << " columns, " << c.text());
          const auto wrong = run_case(ctx, c, A, B, static_cast<const HostCsr<T>*>(nullptr), random,
                                      static_cast<std::vector<T>*>(nullptr), 4);
          REQUIRE(wrong);
          REQUIRE(*wrong == "");
        }
  }
}

TEMPLATE_TEST_CASE("spgemm: restrictions of points with several unknowns, on hosts", "[spgemm]", float, double,
                   std::complex<double>) {
  using T = TestType;
  for (const Visit& visit : visits()) {
    if (is_gpu(visit.device) || !has_kernels<T>(visit.device, "spgemm")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    for (const int64_t unknowns : {1, 2, 3, 4, 5})
      for (const bool broken : {false, true})
        for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE}) {
          constexpr int64_t rows = 600, blocks = 60;
          HostCsr<T> B;  // each row some blocks of as many columns
          B.cols = blocks * unknowns;
          for (B.rows = 0; B.rows < rows; ++B.rows) {
            std::set<int64_t> chosen;
            for (int64_t b = random_int(random, 0, 6); b > 0; --b) chosen.insert(random_int(random, 0, blocks - 1));
            for (const int64_t b : chosen)
              for (int64_t u = 0; u < unknowns; ++u) B.indices.push_back(b * unknowns + u);
            if (broken && B.rows % 100 == 7 && !chosen.empty()) B.indices.pop_back();
            B.offsets.push_back(B.nnz());
          }
          B.values = random_vector<T>(random, B.indices.size());
          HostCsr<T> A;  // one entry a row as it is, six a row transposed
          A.rows = op == KKC_OP_NONE ? rows / 6 : rows;
          A.cols = op == KKC_OP_NONE ? rows : rows / 6;
          for (int64_t j = 0; j < rows; ++j) {
            A.indices.push_back(op == KKC_OP_NONE ? j : j / 6);
            if (op == KKC_OP_TRANSPOSE || j % 6 == 5) A.offsets.push_back(A.nnz());
          }
          A.values = random_vector<T>(random, A.indices.size());
          SpgemmCase<T> c;
          c.implementation = "host_restriction";
          c.op_a = op;
          c.base_a = c.base_b = static_cast<int32_t>(random() % 2);
          c.beta = random() % 2 == 0 ? T(0.5) : T(0);
          INFO("seed " << seed() << ", " << name(visit.device) << ", " << unknowns << " unknowns, " << c.text());
          const auto wrong = run_case(ctx, c, A, B, static_cast<const HostCsr<T>*>(nullptr), random);
          REQUIRE(wrong);
          REQUIRE(*wrong == "");
        }
  }
}

TEST_CASE("spgemm: like rows share a class, on grids and on their Galerkin products", "[spgemm]") {
  for (const Visit& visit : visits()) {
    if (is_gpu(visit.device) || !has_kernels<double>(visit.device, "spgemm")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    constexpr int64_t n = 12;
    const auto grid = grid_of<double>(random, n);
    HostCsr<double> aggregates;  // of 3 x 3 x 3 points
    aggregates.cols = n * n * n / 27;
    for (int64_t point = 0; point < n * n * n; ++point) {
      const int64_t x = point % n, y = point / n % n, z = point / (n * n);
      aggregates.indices.push_back((z / 3 * 4 + y / 3) * 4 + x / 3);
      aggregates.offsets.push_back(aggregates.nnz());
      ++aggregates.rows;
    }
    aggregates.values = random_vector<double>(random, aggregates.indices.size());
    for (const HostCsr<double>* right : {&grid, static_cast<const HostCsr<double>*>(&aggregates)}) {
      SpgemmCase<double> c;
      c.implementation = "host_binned";
      c.max_workspace = 1 << 30;  // products are not listed
      c.beta = 2;
      const auto wrong = run_case(ctx, c, grid, *right, static_cast<const HostCsr<double>*>(nullptr), random);
      REQUIRE(wrong);
      REQUIRE(*wrong == "");
      const DeviceCsr<double> A(ctx, grid, c.pair, 1), B(ctx, *right, c.pair, 0);
      Plan plan;
      ok(kkc_spgemm_plan(ctx, KKC_OP_NONE, A, KKC_OP_NONE, B, nullptr, c.pair, Options(c.options()), plan.out()));
      const char* info = nullptr;
      ok(kkc_plan_info(plan, &info));
      CHECK_THAT(info, !ContainsSubstring("\"rows_in_classes\":0"));
    }
  }
}

namespace {

/// A grid of nx x ny points that meet their four neighbours, `unknowns` each.
template <class T>
HostCsr<T> grid_of_unknowns(Random& random, int64_t nx, int64_t ny, int64_t unknowns) {
  HostCsr<T> grid;
  grid.rows = grid.cols = nx * ny * unknowns;
  for (int64_t row = 0; row < grid.rows; ++row) {
    const int64_t point = row / unknowns, x = point % nx, y = point / nx;
    const auto at = [&](int64_t i, int64_t j) {
      if (i < 0 || i >= nx || j < 0 || j >= ny) return;
      for (int64_t u = 0; u < unknowns; ++u) grid.indices.push_back((j * nx + i) * unknowns + u);
    };
    at(x, y - 1), at(x - 1, y), at(x, y), at(x + 1, y), at(x, y + 1);
    grid.offsets.push_back(grid.nnz());
  }
  grid.values = random_vector<T>(random, grid.indices.size());
  return grid;
}

}  // namespace

TEMPLATE_TEST_CASE("spgemm: like rows of points with several unknowns, on hosts", "[spgemm]", float, double) {
  using T = TestType;
  for (const Visit& visit : visits()) {
    if (is_gpu(visit.device) || !has_kernels<T>(visit.device, "spgemm")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    for (int64_t unknowns = 1; unknowns <= 6; ++unknowns)
      for (const int64_t nx : {4, 11, 25, 30}) {
        const auto grid = grid_of_unknowns<T>(random, nx, 9, unknowns);
        auto c = random_case<T>(random, visit.device, "host_binned");
        c.op_a = c.op_b = KKC_OP_NONE;
        INFO("seed " << seed() << ", " << name(visit.device) << ", " << unknowns << " x " << nx << ", " << c.text());
        const auto wrong = run_case(ctx, c, grid, grid, static_cast<const HostCsr<T>*>(nullptr), random);
        REQUIRE(wrong);
        REQUIRE(*wrong == "");
      }
  }
}

TEMPLATE_TEST_CASE("spgemm: infinities and NaN stay in the entries whose products they are, on hosts", "[spgemm]",
                   float, double) {
  using T = TestType;
  for (const Visit& visit : visits()) {
    if (is_gpu(visit.device) || !supported(visit.device, "spgemm", KKC_INDEX_32_32, scalar_tag<T>)) continue;
    const Context ctx(visit.device, visit.options);
    for (const int64_t unknowns : {1, 3}) {
      Random random(seed());
      auto a = grid_of_unknowns<T>(random, 40, 12, unknowns), b = a;
      const auto infinity = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
      for (HostCsr<T>* of : {&a, &b})
        for (const T value : {infinity, -infinity, nan})
          of->values[static_cast<size_t>(random_int(random, 0, of->nnz() - 1))] = value;
      const DeviceCsr<T> A(ctx, a, KKC_INDEX_32_32, 0), B(ctx, b, KKC_INDEX_32_32, 1);
      std::vector<HostCsr<T>> results;
      for (const char* implementation : {"host_binned", "host_hash"}) {
        SpgemmCase<T> c;
        c.implementation = implementation;
        Plan plan;
        ok(kkc_spgemm_plan(ctx, KKC_OP_NONE, A, KKC_OP_NONE, B, nullptr, c.pair, Options(c.options()), plan.out()));
        const OutputMatrix<T> C(ctx, c, plan, a.rows, b.cols);
        ok(kkc_spgemm_execute(plan, &c.alpha, A, B, &c.beta, C));
        results.push_back(download<T>(ctx, C));
      }
      REQUIRE(results[0].indices == results[1].indices);
      int64_t different = 0;
      for (size_t p = 0; p < results[0].values.size(); ++p) {
        const T x = results[0].values[p], y = results[1].values[p];
        const T room = 256 * std::numeric_limits<T>::epsilon();
        if (!(std::isnan(x) ? std::isnan(y) : x == y || std::abs(x - y) <= room)) ++different;
      }
      INFO("seed " << seed() << ", " << name(visit.device) << ", " << unknowns << " unknowns");
      CHECK(different == 0);
      CHECK(std::any_of(results[0].values.begin(), results[0].values.end(), [](T x) { return std::isnan(x); }));
    }
  }
}
