// spgemm with a B of at most one entry in a row, as tentative prolongators have, and with the transpose of such a
// matrix on the left.
#include "support/catch.hpp"

#include <algorithm>
#include <set>

#include "support/aggregates_case.hpp"

using namespace kkc_test;

namespace {

std::string info_of(const Plan& plan) {
  const char* info = nullptr;
  ok(kkc_plan_info(plan, &info));
  return info;
}

/// A grid of n x n x n points, 7 entries a row, and the aggregates of nx x ny x nz points of it.
HostCsr<double> grid_of(Random& random, int64_t n) {
  HostCsr<double> grid;
  grid.rows = grid.cols = n * n * n;
  for (int64_t point = 0; point < grid.rows; ++point) {
    const int64_t at[] = {point % n, point / n % n, point / (n * n)}, step[] = {1, n, n * n};
    for (int d = 2; d >= 0; --d)
      if (at[d] > 0) grid.indices.push_back(point - step[d]);
    grid.indices.push_back(point);
    for (int d = 0; d < 3; ++d)
      if (at[d] + 1 < n) grid.indices.push_back(point + step[d]);
    grid.offsets.push_back(grid.nnz());
  }
  grid.values = random_vector<double>(random, grid.indices.size());
  return grid;
}
HostCsr<double> boxes_of(Random& random, int64_t n, int64_t nx, int64_t ny, int64_t nz) {
  const auto ceiling = [](int64_t a, int64_t b) { return (a + b - 1) / b; };
  HostCsr<double> P;
  P.rows = n * n * n;
  P.cols = ceiling(n, nx) * ceiling(n, ny) * ceiling(n, nz);
  for (int64_t point = 0; point < P.rows; ++point) {
    const int64_t x = point % n, y = point / n % n, z = point / (n * n);
    P.indices.push_back((z / nz * ceiling(n, ny) + y / ny) * ceiling(n, nx) + x / nx);
    P.offsets.push_back(P.nnz());
  }
  P.values = random_vector<double>(random, P.indices.size());
  return P;
}

}  // namespace

TEMPLATE_TEST_CASE("spgemm: rows of B of at most one entry, by every implementation", "[spgemm]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  constexpr int64_t sizes[] = {0, 1, 2, 9, 31, 64, 150};
  for (const auto& [device, options] : hosts<T>()) {
    const Context ctx(device, options);
    bool taken = false;
    for (const std::string& implementation : implementations(device, "spgemm")) {
      Random random(seed());
      for (const Shape shape : all_shapes)
        for (const uint64_t empty : {0, 30, 100})
          for (int repeat = 0; repeat < 4; ++repeat) {
            const int64_t rows = repeat == 0 ? 150 : sizes[random() % std::size(sizes)],
                          inner = repeat == 0 ? 150 : sizes[random() % std::size(sizes)],
                          cols = inner == 0 || repeat == 3 ? 0 : random_int(random, 1, inner);
            SpgemmCase<T> c;
            c.implementation = implementation;
            std::vector<kkc_index_pair_t> pairs;
            for (const kkc_index_pair_t pair : all_index_pairs)
              if (supported(device, "spgemm", pair, scalar_tag<T>)) pairs.push_back(pair);
            c.pair = pairs[random() % pairs.size()];
            c.pair_c = c.pair == KKC_INDEX_64_64 ? KKC_INDEX_64_64
                       : random() % 2 == 0       ? KKC_INDEX_32_32
                                                 : KKC_INDEX_32_64;
            c.op_a = tested_ops[random() % std::size(tested_ops)];
            c.op_b = tested_ops[random() % std::size(tested_ops)];
            c.base_a = static_cast<int32_t>(random() % 2);
            c.base_b = static_cast<int32_t>(random() % 2);
            c.base_c = static_cast<int32_t>(random() % 2);
            c.alpha = random() % 4 == 0 ? T(0) : random_value<T>(random);
            c.beta = random() % 3 == 0 ? T(0) : random_value<T>(random);
            c.sorted = random() % 2 == 0;
            c.deterministic = random() % 2 == 0;
            c.callers_arrays = random() % 2 == 0;
            c.max_workspace = random() % 4 == 0 ? 8000 : -1;
            const auto A =
                random_csr<T>(random, shape, transposed(c.op_a) ? inner : rows, transposed(c.op_a) ? rows : inner);
            auto B = aggregates<T>(random, inner, cols, empty);
            if (transposed(c.op_b)) B = transpose_of(B);
            INFO("seed " << seed() << ", " << name(device) << ' ' << options << ", " << name(shape) << ' ' << rows
                         << " x " << inner << " x " << cols << ", " << empty << " % empty, " << c.text());
            const auto wrong = run_case(ctx, c, A, B, no_mask<T>, random);
            if (!wrong) continue;
            taken |= implementation == "host_aggregates";
            REQUIRE(*wrong == "");
          }
    }
    CHECK(taken);
  }
}

TEMPLATE_TEST_CASE("spgemm: rows of every length around the borders of marks", "[spgemm]", double,
                   std::complex<float>) {
  using T = TestType;
  const std::vector<int64_t> lengths{0,   1,   7,    8,    9,    16,    17,    63,    64,    65, 0, 255,
                                     256, 257, 1023, 1024, 1025, 65533, 65534, 65535, 65536, 8,  9, 3};
  for (const auto& [device, options] : hosts<T>()) {
    const Context ctx(device, options);
    for (const uint64_t empty : {0, 5}) {
      Random random(seed());
      HostCsr<T> A;
      A.cols = 70000;
      A.rows = static_cast<int64_t>(lengths.size());
      for (const int64_t length : lengths) {  // the first columns, the last ones, every other one
        const int64_t first = random() % 2 == 0 ? 0 : A.cols - length, each = 2 * length < A.cols && first == 0 ? 2 : 1;
        for (int64_t k = 0; k < length; ++k) A.indices.push_back(first + k * each);
        A.offsets.push_back(A.nnz());
      }
      A.values = random_vector<T>(random, A.indices.size());
      auto B = aggregates<T>(random, A.cols, A.cols, empty);
      int64_t next = 0;  // columns in order: as many columns in C as A has entries
      for (int64_t& column : B.indices) column = next++;
      SpgemmCase<T> c;
      c.implementation = "host_aggregates";
      c.beta = T(0.5);
      c.pair = supported(device, "spgemm", KKC_INDEX_32_32, scalar_tag<T>) ? KKC_INDEX_32_32 : KKC_INDEX_32_64;
      c.pair_c = KKC_INDEX_32_64;
      INFO("seed " << seed() << ", " << name(device) << ' ' << options << ", " << c.text());
      const auto wrong = run_case(ctx, c, A, B, no_mask<T>, random);
      REQUIRE(wrong);
      REQUIRE(*wrong == "");
    }
  }
}

TEST_CASE("spgemm: more kinds of rows than are kept once", "[spgemm]") {
  using T = double;
  for (const auto& [device, options] : hosts<T>()) {
    const Context ctx(device, options);
    Random random(seed());
    const auto A = random_csr<T>(random, Shape::unsorted_duplicates, 9000, 4000);
    SpgemmCase<T> c;
    c.implementation = "host_aggregates";
    c.beta = 3;
    for (const uint64_t empty : {0, 20}) {
      const auto B = aggregates<T>(random, 4000, 3000, empty);
      INFO("seed " << seed() << ", " << name(device) << ' ' << options << ", " << c.text());
      const auto wrong = run_case(ctx, c, A, B, no_mask<T>, random);
      REQUIRE(wrong);
      REQUIRE(*wrong == "");
      const DeviceCsr<T> a(ctx, A, c.pair, 0), b(ctx, B, c.pair, 0);
      Plan plan;
      ok(kkc_spgemm_plan(ctx, KKC_OP_NONE, a, KKC_OP_NONE, b, nullptr, c.pair, nullptr, plan.out()));
      CHECK_THAT(info_of(plan), ContainsSubstring("\"implementation\":\"host_aggregates\"") &&
                                    !ContainsSubstring("\"rows_in_classes\":9000"));
    }
  }
}

TEST_CASE("spgemm: rows of aggregates that are made eight at once have the bits of rows by themselves", "[spgemm]") {
  using T = double;
  for (const auto& [device, options] : hosts<T>()) {
    const Context ctx(device, options);
    Random random(seed());
    for (const int64_t unknowns : {0, 1, 2, 3, 5})  // 0: lines of a few rows
      for (const int64_t reach : {0, 1, 3, 4, 7, 13}) {
        const auto A =
            unknowns == 0 ? short_lines(random, 200, 2 * reach + 1) : coupled_points(random, 400, unknowns, reach);
        const auto B =
            unknowns == 0 ? point_aggregates(random, A.rows, 1, 3) : point_aggregates(random, 400, unknowns, 5);
        SpgemmCase<T> c;
        c.implementation = "host_aggregates";
        c.alpha = random_value<T>(random);
        INFO("seed " << seed() << ", " << name(device) << ' ' << options << ", " << unknowns << " unknowns, reach "
                     << reach);
        const auto wrong = run_case(ctx, c, A, B, no_mask<T>, random);
        REQUIRE(wrong);
        REQUIRE(*wrong == "");
        const DeviceCsr<T> a(ctx, A, c.pair, 0), b(ctx, B, c.pair, 1);
        Plan plan;
        ok(kkc_spgemm_plan(ctx, KKC_OP_NONE, a, KKC_OP_NONE, b, nullptr, c.pair, Options(c.options()), plan.out()));
        const OutputMatrix<T> C(ctx, c, plan, A.rows, B.cols);
        int64_t nnz = 0;
        ok(kkc_plan_output_nnz(plan, &nnz));
        std::vector<std::vector<T>> results;
        for (const T beta : {T(0), T(1)}) {  // only rows by themselves add to old values
          C.set(std::vector<T>(static_cast<size_t>(nnz), T(0)));
          ok(kkc_spgemm_execute(plan, &c.alpha, a, b, &beta, C));
          results.push_back(download<T>(ctx, C).values);
        }
        CHECK(results[0] == results[1]);
      }
  }
}

TEST_CASE("spgemm: aggregates of a grid, whose results leave the caches, give what other ways to multiply give",
          "[spgemm]") {
  using T = double;
  for (const auto& [device, options] : hosts<T>()) {
    const Context ctx(device, options);
    Random random(seed());
    constexpr int64_t n = 72;
    const auto grid = grid_of(random, n);
    const DeviceCsr<T> A(ctx, grid, KKC_INDEX_32_32, 1);
    for (const bool flat : {true, false}) {  // C of 2.2 million entries, or few kinds of rows
      const auto boxes = flat ? boxes_of(random, n, 2, 1, 1) : boxes_of(random, n, 3, 3, 3);
      const DeviceCsr<T> B(ctx, boxes, KKC_INDEX_32_32, 0);
      for (const T beta : {T(0), T(0.5)}) {
        std::vector<HostCsr<T>> results;
        for (const char* implementation : {"host_aggregates", "host_binned", "host_dense"}) {
          SpgemmCase<T> c;
          c.implementation = implementation;
          Plan plan;
          ok(kkc_spgemm_plan(ctx, KKC_OP_NONE, A, KKC_OP_NONE, B, nullptr, c.pair, Options(c.options()), plan.out()));
          if (results.empty())
            CHECK_THAT(info_of(plan), ContainsSubstring("\"rows_in_classes\":" + std::to_string(grid.rows)));
          const OutputMatrix<T> C(ctx, c, plan, grid.rows, boxes.cols);
          int64_t nnz = 0;
          ok(kkc_plan_output_nnz(plan, &nnz));
          C.set(std::vector<T>(static_cast<size_t>(nnz), T(1)));
          const T alpha(2);
          ok(kkc_spgemm_execute(plan, &alpha, A, B, &beta, C));
          results.push_back(download<T>(ctx, C));
        }
        for (size_t other = 1; other < results.size(); ++other) CHECK(difference(results[0], results[other], 64) == "");
      }
    }
  }
}

TEMPLATE_TEST_CASE("spgemm: an A that uses each row of B about once, by every implementation", "[spgemm]", float,
                   double, std::complex<float>, std::complex<double>) {
  using T = TestType;
  for (const auto& [device, options] : hosts<T>()) {
    const Context ctx(device, options);
    int taken = 0;
    for (const std::string& implementation : implementations(device, "spgemm")) {
      Random random(seed());
      for (const Shape shape : all_shapes)
        for (const int64_t rows : {1, 9, 40, 75}) {
          const int64_t inner = 150, cols = random_int(random, 1, inner);
          SpgemmCase<T> c;
          c.implementation = implementation;
          std::vector<kkc_index_pair_t> pairs;
          for (const kkc_index_pair_t pair : all_index_pairs)
            if (supported(device, "spgemm", pair, scalar_tag<T>)) pairs.push_back(pair);
          c.pair = pairs[random() % pairs.size()];
          c.pair_c = c.pair == KKC_INDEX_64_64 ? KKC_INDEX_64_64
                     : random() % 2 == 0       ? KKC_INDEX_32_32
                                               : KKC_INDEX_32_64;
          c.op_a = random() % 2 == 0 ? KKC_OP_TRANSPOSE : KKC_OP_HERMITIAN;
          c.op_b = tested_ops[random() % std::size(tested_ops)];
          c.base_a = static_cast<int32_t>(random() % 2);
          c.base_b = static_cast<int32_t>(random() % 2);
          c.alpha = random() % 4 == 0 ? T(0) : random_value<T>(random);
          c.beta = random() % 3 == 0 ? T(0) : random_value<T>(random);
          c.sorted = random() % 2 == 0;
          c.deterministic = random() % 2 == 0;
          c.callers_arrays = random() % 2 == 0;
          const auto A = aggregates<T>(random, inner, rows, random() % 2 == 0 ? 0 : 20);
          const auto B =
              random_csr<T>(random, shape, transposed(c.op_b) ? cols : inner, transposed(c.op_b) ? inner : cols);
          INFO("seed " << seed() << ", " << name(device) << ' ' << options << ", " << name(shape) << ' ' << rows
                       << " x " << inner << " x " << cols << ", " << c.text());
          const auto wrong = run_case(ctx, c, A, B, no_mask<T>, random);
          if (!wrong) continue;
          taken += implementation == "host_restriction" ? 1 : 0;
          REQUIRE(*wrong == "");
        }
    }
    CHECK(taken > 10);
  }
}

TEMPLATE_TEST_CASE("spgemm: restrictions to rows of every length around the borders of masks and places", "[spgemm]",
                   double, std::complex<float>) {
  using T = TestType;
  for (const auto& [device, options] : hosts<T>()) {
    const Context ctx(device, options);
    Random random(seed());
    const std::vector<int64_t> lengths{1,   2,   7,   8,    9,    1,    16,    17,    255,   256,
                                       257, 258, 300, 1024, 8191, 4096, 65535, 65536, 65537, 3};
    constexpr int64_t each = 6;  // rows of B for a row of C; the first one decides of its length
    HostCsr<T> A, B;
    A.rows = static_cast<int64_t>(lengths.size());
    B.cols = 70000;
    for (size_t i = 0; i < lengths.size(); ++i) {
      const int64_t first = random_int(random, 0, B.cols - lengths[i]);
      for (int64_t k = 0; k < each; ++k) {
        A.indices.push_back(static_cast<int64_t>(i) * each + k);
        const int64_t length = k == 0 ? lengths[i] : std::min<int64_t>(lengths[i], random_int(random, 0, 9)),
                      from = k == 0 ? first : random_int(random, first, first + lengths[i] - length);
        // Rows in order, but for every third row of C, whose rows descend.
        for (int64_t q = 0; q < length; ++q) B.indices.push_back(from + (i % 3 == 2 ? length - 1 - q : q));
        B.offsets.push_back(B.nnz());
        ++B.rows;
      }
      A.offsets.push_back(A.nnz());
    }
    for (; B.rows < B.cols; ++B.rows) B.offsets.push_back(B.nnz());
    A.cols = B.rows;
    A.values = random_vector<T>(random, A.indices.size());
    B.values = random_vector<T>(random, B.indices.size());
    SpgemmCase<T> c;
    c.implementation = "host_restriction";
    c.beta = T(0.5);
    c.pair = supported(device, "spgemm", KKC_INDEX_32_32, scalar_tag<T>) ? KKC_INDEX_32_32 : KKC_INDEX_32_64;
    c.pair_c = KKC_INDEX_32_64;
    INFO("seed " << seed() << ", " << name(device) << ' ' << options << ", " << c.text());
    const auto wrong = run_case(ctx, c, A, B, no_mask<T>, random);
    REQUIRE(wrong);
    REQUIRE(*wrong == "");
  }
}

TEST_CASE("spgemm: restrictions of long rows that hold few columns many times", "[spgemm]") {
  for (const auto& [device, options] : hosts<double>()) {
    const Context ctx(device, options);
    Random random(seed());
    for (const int64_t repeats : {2, 4, 5, 9, 40}) {
      HostCsr<double> A, B;
      A.rows = 30;
      A.cols = B.rows = 90;
      B.cols = 7;
      for (int64_t i = 0; i < A.rows; ++i) {
        for (int64_t k = 0; k < 3; ++k) A.indices.push_back(3 * i + k);
        A.offsets.push_back(A.nnz());
      }
      for (int64_t j = 0; j < B.rows; ++j) {
        for (int64_t q = 0; q < (j % 5 == 0 ? repeats : 1); ++q)  // in order and not
          for (const int64_t column : {j % 3, int64_t{5}}) B.indices.push_back(column);
        if (j % 2 == 0) std::sort(B.indices.begin() + B.offsets.back(), B.indices.end());
        B.offsets.push_back(B.nnz());
      }
      A.values = random_vector<double>(random, A.indices.size());
      B.values = random_vector<double>(random, B.indices.size());
      for (const std::string& implementation : implementations(device, "spgemm")) {
        SpgemmCase<double> c;
        c.implementation = implementation;
        INFO("seed " << seed() << ", " << name(device) << ' ' << options << ", " << c.text());
        const auto wrong = run_case(ctx, c, A, B, no_mask<double>, random);
        if (wrong) REQUIRE(*wrong == "");
      }
    }
  }
}

TEST_CASE("spgemm: Galerkin products of a grid are those of another way to multiply", "[spgemm]") {
  using T = double;
  for (const auto& [device, options] : hosts<T>()) {
    const Context ctx(device, options);
    Random random(seed());
    constexpr int64_t n = 36;
    const auto grid = grid_of(random, n), boxes = boxes_of(random, n, 3, 3, 3);
    const DeviceCsr<T> A(ctx, grid, KKC_INDEX_32_32, 0), P(ctx, boxes, KKC_INDEX_32_32, 1);
    const auto product = [&](kkc_op_t op, const kkc_matrix_t* left, const kkc_matrix_t* right, const char* how,
                             const std::string& expected) {
      SpgemmCase<T> c;
      c.implementation = how;
      const T one(1), zero(0);
      Plan plan;
      Matrix C;
      ok(kkc_spgemm_plan(ctx, op, left, KKC_OP_NONE, right, nullptr, c.pair, Options(c.options()), plan.out()));
      CHECK_THAT(info_of(plan), ContainsSubstring("\"implementation\":\"" + expected + "\""));
      ok(kkc_plan_create_output(plan, C.out()));
      ok(kkc_spgemm_execute(plan, &one, left, right, &zero, C));
      return C;
    };
    const Matrix AP = product(KKC_OP_NONE, A, P, "", "host_aggregates");
    const auto coarse = download<T>(ctx, product(KKC_OP_TRANSPOSE, P, AP, "", "host_restriction")),
               other = download<T>(ctx, product(KKC_OP_TRANSPOSE, P, AP, "host_binned", "host_binned"));
    CHECK(difference(coarse, other, 256) == "");
  }
}

TEST_CASE("spgemm: restrictions of a grid, of which some rows are in no order, are those of another way to multiply",
          "[spgemm]") {
  using T = double;
  for (const auto& [device, options] : hosts<T>()) {
    const Context ctx(device, options);
    Random random(seed());
    const auto P = boxes_of(random, 48, 3, 3, 3);
    for (const int64_t width : {3, 12}) {
      HostCsr<T> B;
      B.rows = P.rows;
      B.cols = P.cols;
      for (int64_t row = 0; row < B.rows; ++row) {
        const int64_t aggregate = P.indices[static_cast<size_t>(row)];
        for (int64_t q = 0; q < width; ++q)
          if (aggregate + 5 * q < B.cols) B.indices.push_back(aggregate + 5 * q);
        // In the middle, so that threads meet such rows behind and before others.
        if (row > B.rows / 3 && row < B.rows / 2) std::reverse(B.indices.begin() + B.offsets.back(), B.indices.end());
        B.offsets.push_back(B.nnz());
      }
      B.values = random_vector<T>(random, B.indices.size());
      const DeviceCsr<T> p(ctx, P, KKC_INDEX_32_32, 1), b(ctx, B, KKC_INDEX_32_32, 0);
      HostCsr<T> results[2];
      for (const bool restricted : {false, true}) {
        SpgemmCase<T> c;
        c.implementation = restricted ? "host_restriction" : "host_binned";
        const T one(1), zero(0);
        Plan plan;
        Matrix C;
        ok(kkc_spgemm_plan(ctx, KKC_OP_TRANSPOSE, p, KKC_OP_NONE, b, nullptr, c.pair, Options(c.options()),
                           plan.out()));
        ok(kkc_plan_create_output(plan, C.out()));
        ok(kkc_spgemm_execute(plan, &one, p, b, &zero, C));
        results[restricted] = download<T>(ctx, C);
      }
      CHECK(difference(results[0], results[1], 256) == "");
    }
  }
}

TEST_CASE("spgemm: one entry in every row of a transposed A gives the bits of its transpose", "[spgemm]") {
  using T = double;
  Random random(seed());
  const auto of_columns = [&](std::vector<int64_t> columns, int64_t count) {
    HostCsr<T> P;
    P.rows = static_cast<int64_t>(columns.size());
    P.cols = count;
    for (int64_t row = 0; row < P.rows; ++row) P.offsets.push_back(row + 1);
    P.values = random_vector<T>(random, columns.size());
    P.indices = std::move(columns);
    return P;
  };
  std::vector<std::pair<HostCsr<T>, HostCsr<T>>> pairs;
  // Like rows but for a shift, with a border now and then.
  for (const int64_t width : {3, 9, 12}) {
    const auto P = boxes_of(random, 30, 3, 3, 3);
    HostCsr<T> B;
    B.rows = P.rows;
    B.cols = P.cols;
    for (int64_t row = 0; row < B.rows; ++row) {
      const int64_t aggregate = P.indices[static_cast<size_t>(row)];
      for (int64_t q = row % 2; q < width; q += 1 + row % 3 / 2)
        if (aggregate + 7 * q < B.cols) B.indices.push_back(aggregate + 7 * q);
      B.offsets.push_back(B.nnz());
    }
    B.values = random_vector<T>(random, B.indices.size());
    pairs.emplace_back(P, B);
  }
  // Runs of every length, columns met twice and in no order; columns that scatter, which are not taken as runs.
  for (const Shape shape : {Shape::few, Shape::empty_rows, Shape::unsorted_duplicates}) {
    std::vector<int64_t> columns;
    for (int turn = 0; turn < 2; ++turn)
      for (const int64_t length : {1, 2, 700, 255, 256, 3, 1, 511, 16, 17, 1025, 40})
        columns.insert(columns.end(), static_cast<size_t>(length), random_int(random, 0, 30));
    pairs.emplace_back(of_columns(columns, 31), random_csr<T>(random, shape, static_cast<int64_t>(columns.size()), 90));
    std::vector<int64_t> ascending;
    for (int64_t column = 0; column < 400; ++column)
      ascending.insert(ascending.end(), column % 29 == 0 ? 300 : static_cast<size_t>(column % 5 + 1), column);
    pairs.emplace_back(of_columns(ascending, 400),
                       random_csr<T>(random, shape, static_cast<int64_t>(ascending.size()), 90));
    columns.resize(150000);
    for (auto& column : columns) column = random_int(random, 0, 70000 - 1);
    pairs.emplace_back(of_columns(columns, 70000), random_csr<T>(random, shape, 150000, 500));
  }
  for (const auto& [device, options] : hosts<T>()) {
    if (!supported(device, "spgemm", KKC_INDEX_32_32, scalar_tag<T>)) continue;
    const Context ctx(device, options);
    for (size_t pair = 0; pair < pairs.size(); ++pair) {
      const auto& [stored, right] = pairs[pair];
      auto turned = transpose_of(stored);
      size_t at = 0;
      for (const auto& row : rows_of_op(stored, KKC_OP_TRANSPOSE))
        for (const auto& entry : row) turned.values[at++] = entry.value.real();
      const DeviceCsr<T> P(ctx, stored, KKC_INDEX_32_32, 1), R(ctx, turned, KKC_INDEX_32_32, 0),
          B(ctx, right, KKC_INDEX_32_32, 1);
      INFO("seed " << seed() << ", " << name(device) << ' ' << options << ", pair " << pair);
      HostCsr<T> results[2];
      for (const bool transposed : {false, true}) {
        const T alpha(0.75), beta(0);
        Plan plan;
        Matrix C;
        ok(kkc_spgemm_plan(ctx, transposed ? KKC_OP_HERMITIAN : KKC_OP_NONE, transposed ? P : R, KKC_OP_NONE, B,
                           nullptr, KKC_INDEX_32_32, Options(R"({"implementation": "host_restriction"})"), plan.out()));
        const std::string info = info_of(plan), key = "\"row_classes\":";
        if (pair < 3) CHECK(std::stoll(info.substr(info.find(key) + key.size())) < stored.cols / 4);
        ok(kkc_plan_create_output(plan, C.out()));
        for (int turn = 0; turn < 2; ++turn) ok(kkc_spgemm_execute(plan, &alpha, transposed ? P : R, B, &beta, C));
        size_t workspace = 1;
        ok(kkc_plan_workspace_size(plan, &workspace));
        CHECK(workspace == 0);
        results[transposed] = download<T>(ctx, C);
      }
      CHECK(results[0].offsets == results[1].offsets);
      CHECK(results[0].indices == results[1].indices);
      CHECK(results[0].values == results[1].values);
    }
  }
}

TEST_CASE("spgemm: host_aggregates and host_restriction refuse masks and operands of other shapes", "[spgemm]") {
  using T = double;
  for (const auto& [device, options] : hosts<T>()) {
    const Context ctx(device, options);
    Random random(seed());
    const auto A = random_csr<T>(random, Shape::few, 40, 50);
    const std::string aggregated = "host_aggregates", restricted = "host_restriction";
    const auto plan_of = [&](const std::string& how, const HostCsr<T>& left, const HostCsr<T>& B, bool masked,
                             const char* why) {
      const DeviceCsr<T> a(ctx, left, KKC_INDEX_32_32, 0), b(ctx, B, KKC_INDEX_32_32, 0),
          mask(ctx, random_csr<T>(random, Shape::few, left.rows, B.cols), KKC_INDEX_32_32, 0);
      Plan plan;
      CHECK(kkc_spgemm_plan(ctx, KKC_OP_NONE, a, KKC_OP_NONE, b, masked ? static_cast<kkc_matrix_t*>(mask) : nullptr,
                            KKC_INDEX_32_32, Options("{\"implementation\": \"" + how + "\"}"),
                            plan.out()) == KKC_STATUS_NOT_SUPPORTED);
      CHECK_THAT(kkc_last_error(), ContainsSubstring(why));
    };
    plan_of(aggregated, A, aggregates<T>(random, 50, 20, 0), true, "takes no mask");
    plan_of(aggregated, A, aggregates<T>(random, 50, 51, 0), false, "more columns than rows");
    plan_of(aggregated, A, random_csr<T>(random, Shape::banded, 50, 20), false, "rows of several entries");
    const auto R = transpose_of(aggregates<T>(random, 50, 10, 0));
    plan_of(restricted, R, random_csr<T>(random, Shape::few, 50, 20), true, "takes no mask");
    plan_of(restricted, R, random_csr<T>(random, Shape::few, 50, 51), false, "more columns than rows");
    plan_of(restricted, random_csr<T>(random, Shape::banded, 40, 50), random_csr<T>(random, Shape::few, 50, 20), false,
            "rows of B more than once");
    plan_of(restricted, aggregates<T>(random, 50, 60, 0), random_csr<T>(random, Shape::few, 60, 20), false,
            "rows of few entries");
  }
}
