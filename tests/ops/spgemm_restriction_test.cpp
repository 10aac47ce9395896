// spgemm by host_restriction where rows of C repeat: masks of several vectors, points of several unknowns.
#include "support/catch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "support/spgemm_case.hpp"

using namespace kkc_test;

namespace {

template <class T>
constexpr const HostCsr<T>* no_mask = nullptr;

/// Row i of C unites three rows of B, which have `width` columns together, i columns further than those of row 0.
template <class T>
HostCsr<T> rows_that_repeat(Random& random, int64_t rows, int64_t width) {
  HostCsr<T> B;
  B.rows = 3 * rows;
  B.cols = 3 * rows;
  for (int64_t j = 0; j < B.rows; ++j) {
    for (int64_t q = 0; q < width; ++q)
      if (j % 3 == 0 ? q % 2 == 0 || q == width - 1 : j % 3 == 1 ? q % 3 != 0 : q >= width / 2)
        B.indices.push_back(j / 3 + q);
    B.offsets.push_back(B.nnz());
  }
  B.values = random_vector<T>(random, B.indices.size());
  return B;
}

/// Entry j in row (or, transposed, column) j / 3.
template <class T>
HostCsr<T> by_threes(Random& random, int64_t rows, bool transposed) {
  HostCsr<T> A;
  A.rows = transposed ? 3 * rows : rows;
  A.cols = transposed ? rows : 3 * rows;
  for (int64_t j = 0; j < 3 * rows; ++j) {
    A.indices.push_back(transposed ? j / 3 : j);
    if (transposed || j % 3 == 2) A.offsets.push_back(A.nnz());
  }
  A.values = random_vector<T>(random, A.indices.size());
  return A;
}

/// Points of a grid with `unknowns` rows each, and their aggregates of 3 x 3, an unknown a column.
HostCsr<double> aggregates_of_points(Random& random, int64_t nx, int64_t ny, int64_t unknowns) {
  HostCsr<double> P;
  P.rows = nx * ny * unknowns;
  P.cols = (nx + 2) / 3 * ((ny + 2) / 3) * unknowns;
  for (int64_t row = 0; row < P.rows; ++row) {
    const int64_t point = row / unknowns, x = point % nx / 3, y = point / nx / 3;
    P.indices.push_back((y * ((nx + 2) / 3) + x) * unknowns + row % unknowns);
    P.offsets.push_back(P.nnz());
  }
  P.values = random_vector<double>(random, P.indices.size());
  return P;
}

/// Rows that reach the unknowns of their own aggregate and those of the next ones in a line and across lines.
HostCsr<double> neighbours_of(Random& random, const HostCsr<double>& P, int64_t nx, int64_t unknowns) {
  HostCsr<double> B;
  B.rows = P.rows;
  B.cols = P.cols;
  const int64_t line = (nx + 2) / 3 * unknowns;
  for (int64_t row = 0; row < B.rows; ++row) {
    const int64_t x = row / unknowns % nx, own = P.indices[static_cast<size_t>(row)] / unknowns * unknowns;
    for (int64_t across = own; across < std::min(B.cols, own + 2 * line); across += line)
      for (int64_t u = 0; u < (x % 3 == 1 ? unknowns : 2 * unknowns); ++u)
        if (across + u < B.cols) B.indices.push_back(across + u);
    B.offsets.push_back(B.nnz());
  }
  B.values = random_vector<double>(random, B.indices.size());
  return B;
}

}  // namespace

TEMPLATE_TEST_CASE("spgemm: restrictions to rows that repeat, of every number of columns around those of vectors",
                   "[spgemm]", float, double, std::complex<double>) {
  using T = TestType;
  for (const Visit& visit : visits()) {
    if (is_gpu(visit.device) || !has_kernels<T>(visit.device, "spgemm")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    for (const int64_t width : {2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 18, 23, 24, 25, 27, 31, 32, 33, 34, 40})
      for (const bool ordered : {true, false})
        for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE}) {
          constexpr int64_t rows = 150;
          auto B = rows_that_repeat<T>(random, rows, width);
          if (!ordered)  // in some rows of C: rows of B that descend, and that hold a column twice
            for (int64_t j = 150; j < 240; j += 7) {
              const auto from = B.indices.begin() + B.offsets[static_cast<size_t>(j)],
                         to = B.indices.begin() + B.offsets[static_cast<size_t>(j) + 1];
              if (j % 2 == 0)
                std::reverse(from, to);
              else
                *(to - 1) = *from;
            }
          SpgemmCase<T> c;
          c.implementation = "host_restriction";
          c.op_a = op;
          c.pair = supported(visit.device, "spgemm", KKC_INDEX_64_64, scalar_tag<T>) && random() % 2 == 0
                       ? KKC_INDEX_64_64
                       : KKC_INDEX_32_32;
          c.pair_c = c.pair;
          c.base_a = static_cast<int32_t>(random() % 2);
          c.base_b = static_cast<int32_t>(random() % 2);
          c.alpha = random() % 5 == 0 ? T(0) : random_value<T>(random);
          c.beta = random() % 2 == 0 ? T(0.5) : T(0);
          INFO("seed " << seed() << ", " << name(visit.device) << ", " << width << " columns, " << c.text());
          const auto wrong =
              run_case(ctx, c, by_threes<T>(random, rows, op == KKC_OP_TRANSPOSE), B, no_mask<T>, random);
          REQUIRE(wrong);
          REQUIRE(*wrong == "");
        }
  }
}

TEST_CASE("spgemm: an infinite factor of a restriction reaches the columns of its row of B alone", "[spgemm]") {
  using T = double;
  for (const Visit& visit : visits()) {
    if (is_gpu(visit.device) || !has_kernels<T>(visit.device, "spgemm")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    for (const int64_t width : {4, 7, 13, 27}) {
      constexpr int64_t rows = 150;
      const auto B = rows_that_repeat<T>(random, rows, width);
      auto A = by_threes<T>(random, rows, true);
      int64_t reached = 0;
      for (const int64_t j : {int64_t{30}, 3 * rows - 2}) {
        A.values[static_cast<size_t>(j)] = std::numeric_limits<T>::infinity();
        reached += B.offsets[static_cast<size_t>(j) + 1] - B.offsets[static_cast<size_t>(j)];
      }
      const DeviceCsr<T> P(ctx, A, KKC_INDEX_32_32, 0), right(ctx, B, KKC_INDEX_32_32, 0);
      const T one(1), zero(0);
      Plan plan;
      Matrix C;
      ok(kkc_spgemm_plan(ctx, KKC_OP_TRANSPOSE, P, KKC_OP_NONE, right, nullptr, KKC_INDEX_32_32,
                         Options(R"({"implementation": "host_restriction"})"), plan.out()));
      ok(kkc_plan_create_output(plan, C.out()));
      ok(kkc_spgemm_execute(plan, &one, P, right, &zero, C));
      const auto values = download<T>(ctx, C).values;
      CHECK(std::count_if(values.begin(), values.end(), [](T v) { return !std::isfinite(v); }) == reached);
    }
  }
}

TEST_CASE("spgemm: restrictions of grids whose points have several unknowns", "[spgemm]") {
  using T = double;
  for (const Visit& visit : visits()) {
    if (is_gpu(visit.device) || !has_kernels<T>(visit.device, "spgemm")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    for (const int64_t unknowns : {1, 2, 3, 6, 8, 9})
      for (const int64_t nx : {5, 36, 47, 130})
        for (const bool broken : {false, true}) {
          const auto P = aggregates_of_points(random, nx, 13, unknowns);
          auto B = neighbours_of(random, P, nx, unknowns);
          if (broken)  // a column in some rows is another one
            for (int turn = 0; turn < 4; ++turn) {
              const int64_t j = random_int(random, 0, B.rows - 1);
              auto& last = B.indices[static_cast<size_t>(B.offsets[static_cast<size_t>(j) + 1]) - 1];
              last = std::min(B.cols - 1, last + 1);
            }
          SpgemmCase<T> c;
          c.implementation = "host_restriction";
          c.op_a = KKC_OP_TRANSPOSE;
          c.base_a = static_cast<int32_t>(random() % 2);
          c.base_b = static_cast<int32_t>(random() % 2);
          c.beta = random() % 2 == 0 ? T(0.5) : T(0);
          INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ", " << unknowns
                       << " unknowns, lines of " << nx << ", " << c.text());
          const auto wrong = run_case(ctx, c, P, B, no_mask<T>, random);
          REQUIRE(wrong);
          REQUIRE(*wrong == "");
          if (broken) continue;
          const DeviceCsr<T> left(ctx, P, KKC_INDEX_32_32, 0), right(ctx, B, KKC_INDEX_32_32, 1);
          Plan plan;
          ok(kkc_spgemm_plan(ctx, KKC_OP_TRANSPOSE, left, KKC_OP_NONE, right, nullptr, KKC_INDEX_32_32,
                             Options(c.options()), plan.out()));
          const char* info = nullptr;
          ok(kkc_plan_info(plan, &info));
          const std::string text = info, key = "\"row_classes\":";
          if (P.cols > 200) CHECK(std::stoll(text.substr(text.find(key) + key.size())) < P.cols / 3);
        }
  }
}

TEST_CASE("spgemm: restrictions by aggregates in no order, which many threads put in order", "[spgemm]") {
  using T = double;
  if (!has_kernels<T>(KKC_DEVICE_OPENMP, "spgemm")) return;
  Random random(seed());
  for (const int32_t threads : {1, 4, 7})
    for (const int64_t aggregates : {3, 300, 5000}) {
      const Context ctx(KKC_DEVICE_OPENMP, R"({"threads": )" + std::to_string(threads) + "}");
      constexpr int64_t rows = 20000;
      HostCsr<T> P, B;
      P.rows = B.rows = rows;
      P.cols = B.cols = aggregates;
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t any = random_int(random, 0, aggregates - 1);
        // One of many neighbouring rows, longer than a byte counts; every third one without rows.
        P.indices.push_back(row >= 7000 && row < 7700 ? 1 : any % 3 == 2 && aggregates > 3 ? any - 1 : any);
        P.offsets.push_back(P.nnz());
        B.indices.push_back(random_int(random, 0, aggregates - 1));
        if (row % 4 == 0 && B.indices.back() + 1 < aggregates) B.indices.push_back(B.indices.back() + 1);
        B.offsets.push_back(B.nnz());
      }
      P.values = random_vector<T>(random, P.indices.size());
      B.values = random_vector<T>(random, B.indices.size());
      for (const int32_t base : {0, 1}) {
        SpgemmCase<T> c;
        c.implementation = "host_restriction";
        c.op_a = KKC_OP_TRANSPOSE;
        c.pair = c.pair_c = supported(KKC_DEVICE_OPENMP, "spgemm", KKC_INDEX_64_64, scalar_tag<T>) && base == 1
                                ? KKC_INDEX_64_64
                                : KKC_INDEX_32_32;
        c.base_a = base;
        INFO("seed " << seed() << ", " << threads << " threads, " << aggregates << " aggregates, " << c.text());
        const auto wrong = run_case(ctx, c, P, B, no_mask<T>, random);
        REQUIRE(wrong);
        REQUIRE(*wrong == "");
      }
    }
}

TEST_CASE("spgemm: lines of a grid of aggregates give the bits of rows by themselves", "[spgemm]") {
  using T = double;
  Random random(seed());
  // The five-point star: runs of a row of C lie in one vector of B, the last rows too near to its end for that.
  for (const int64_t nx : {9, 14, 60, 61}) {
    const auto stored = aggregates_of_points(random, nx, 22, 1);
    HostCsr<T> right;
    right.rows = stored.rows;
    right.cols = stored.cols;
    for (int64_t i = 0; i < right.rows; ++i) {
      std::vector<int64_t> star;
      for (const int64_t j : {i - nx, i % nx == 0 ? i : i - 1, i, i % nx == nx - 1 ? i : i + 1, i + nx})
        if (j >= 0 && j < stored.rows) star.push_back(stored.indices[static_cast<size_t>(j)]);
      star.erase(std::unique(star.begin(), star.end()), star.end());
      right.indices.insert(right.indices.end(), star.begin(), star.end());
      right.offsets.push_back(right.nnz());
    }
    right.values = random_vector<T>(random, right.indices.size());
    auto turned = transpose_of(stored);  // taken row by row
    size_t at = 0;
    for (const auto& row : rows_of_op(stored, KKC_OP_TRANSPOSE))
      for (const auto& entry : row) turned.values[at++] = entry.value.real();
    for (const Visit& visit : visits()) {
      if (is_gpu(visit.device) || !has_kernels<T>(visit.device, "spgemm")) continue;
      const Context ctx(visit.device, visit.options);
      const DeviceCsr<T> P(ctx, stored, KKC_INDEX_32_32, 1), R(ctx, turned, KKC_INDEX_32_32, 0),
          B(ctx, right, KKC_INDEX_32_32, 1);
      INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ", lines of " << nx);
      HostCsr<T> results[2];
      for (const bool transposed : {false, true}) {
        const T alpha(0.7), zero(0);
        const kkc_op_t op = transposed ? KKC_OP_TRANSPOSE : KKC_OP_NONE;
        const kkc_matrix_t* const left = transposed ? P : R;
        Plan plan;
        Matrix C;
        ok(kkc_spgemm_plan(ctx, op, left, KKC_OP_NONE, B, nullptr, KKC_INDEX_32_32,
                           Options(R"({"implementation": "host_restriction"})"), plan.out()));
        ok(kkc_plan_create_output(plan, C.out()));
        ok(kkc_spgemm_execute(plan, &alpha, left, B, &zero, C));
        results[transposed] = download<T>(ctx, C);
      }
      CHECK(results[0].indices == results[1].indices);
      CHECK(results[0].values == results[1].values);
    }
  }
}

TEMPLATE_TEST_CASE("spgemm: restrictions of a graph and then of a grid have the same bits for any number of threads",
                   "[spgemm]", float, double, std::complex<float>) {
  using T = TestType;
  Random random(seed());
  constexpr int64_t rows = 24000, of_graph = 16000, long_run = 300;
  // Of the graph, hardly two rows one behind the other are of one aggregate, but for a long run.
  HostCsr<T> P;
  P.rows = rows;
  P.cols = rows / 20;
  for (int64_t i = 0; i < rows; ++i) {
    const bool in_run = i >= of_graph / 2 && i < of_graph / 2 + long_run;
    P.indices.push_back(in_run || i >= of_graph
                            ? (in_run ? of_graph / 2 : i) / 20
                            : std::clamp<int64_t>(i / 20 + random_int(random, -30, 30), 0, of_graph / 20 - 1));
    P.offsets.push_back(P.nnz());
  }
  P.values = random_vector<T>(random, P.indices.size());
  for (const int64_t longest : {3, 8, 9, 20}) {
    HostCsr<T> B;
    B.rows = rows;
    B.cols = P.cols;
    for (int64_t i = 0; i < rows; ++i) {
      const int64_t length = i >= of_graph ? 2 : random_int(random, 0, longest);
      std::vector<int64_t> columns;
      for (int64_t q = 0; q < length; ++q)
        columns.push_back(std::min(B.cols - 1, i / 20 + (i >= of_graph ? q : random_int(random, 0, 40))));
      std::sort(columns.begin(), columns.end());
      columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
      B.indices.insert(B.indices.end(), columns.begin(), columns.end());
      B.offsets.push_back(B.nnz());
    }
    B.values = random_vector<T>(random, B.indices.size());
    SpgemmCase<T> c;
    c.implementation = "host_restriction";
    c.op_a = KKC_OP_TRANSPOSE;
    c.base_a = static_cast<int32_t>(random() % 2);
    c.base_b = static_cast<int32_t>(random() % 2);
    c.beta = random() % 2 == 0 ? T(0.5) : T(0);
    const Random same = random;
    std::vector<T> expected;
    for (const Visit& visit : visits()) {
      if (is_gpu(visit.device) || !has_kernels<T>(visit.device, "spgemm")) continue;
      const Context ctx(visit.device, visit.options);
      INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ", up to " << longest
                   << " entries, " << c.text());
      std::vector<T> bits;
      Random numbers = same;
      const auto wrong = run_case(ctx, c, P, B, no_mask<T>, numbers, &bits);
      REQUIRE(wrong);
      REQUIRE(*wrong == "");
      if (expected.empty()) expected = bits;
      CHECK(bits == expected);
    }
  }
}
