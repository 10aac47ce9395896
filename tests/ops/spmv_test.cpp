// spmv: every implementation on every device against plain host loops.
#include "support/catch.hpp"

#include <cstring>
#include <map>
#include <set>

#include "support/spmv_case.hpp"

using namespace kkc_test;

namespace {

/// Everything but the implementation, the op and the shape at random.
template <class T>
SpmvCase<T> random_case(Random& random, kkc_device_t device, const std::string& implementation, kkc_op_t op) {
  SpmvCase<T> c;
  c.implementation = implementation;
  c.op = op;
  c.pair = any_pair<T>(random, device, "spmv");
  c.base = static_cast<int32_t>(random() % 2);
  if (random() % 2 == 0) {
    c.x_lie = random() % 3 == 0 ? Lie::strided_vector : Lie::vector;
    c.y_lie = random() % 3 == 0 ? Lie::strided_vector : Lie::vector;
  } else {
    constexpr Lie lies[] = {Lie::left, Lie::left_padded, Lie::right, Lie::right_padded, Lie::strided};
    c.x_lie = lies[random() % 5];
    c.y_lie = random() % 2 == 0 ? c.x_lie : lies[random() % 5];
    constexpr int64_t counts[] = {1, 2, 3, 8, 17, 0};
    c.vectors = counts[random() % (random() % 8 == 0 ? 6 : 5)];
  }
  c.alpha = any_coefficient<T>(random);
  c.beta = any_coefficient<T>(random);
  c.values_kept = random() % 2 == 0;
  c.transpose_kept = random() % 3 == 0;
  c.device_scalars = random() % 4 == 0;
  return c;
}

/// op N and T with every implementation, beta and places of vectors.
template <class T>
void check_all(const Visit& visit, const Context& ctx, const HostCsr<T>& A, Random& random) {
  for (const std::string& implementation : implementations(visit.device, "spmv"))
    for (const T beta : {T(0), T(0.5)})
      for (const auto& [lie, op] :
           {std::pair{Lie::vector, KKC_OP_NONE}, {Lie::strided_vector, KKC_OP_NONE}, {Lie::vector, KKC_OP_TRANSPOSE}}) {
        SpmvCase<T> c;
        c.implementation = implementation;
        c.op = op;
        c.base = static_cast<int32_t>(random() % 2);
        c.alpha = T(1.5);
        c.beta = beta;
        c.x_lie = c.y_lie = lie;
        c.values_kept = c.transpose_kept = implementation.find("kept") != std::string::npos;
        INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ", " << c.text());
        const auto wrong = run_case(ctx, c, A, random);
        if (wrong) REQUIRE(*wrong == "");
      }
}

}  // namespace

TEMPLATE_TEST_CASE("spmv: every implementation gives what host loops give", "[spmv]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  constexpr int64_t sizes[] = {0, 1, 2, 7, 8, 9, 31, 64, 100, 257, 400};
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "spmv")) continue;
    const Context ctx(visit.device, visit.options);
    for (const std::string& implementation : implementations(visit.device, "spmv")) {
      Random random(seed());
      std::map<kkc_op_t, int> taken;
      for (const Shape shape : all_shapes)
        for (const kkc_op_t op : all_ops)
          for (int repeat = 0; repeat < 6; ++repeat) {
            // Square, so that stencils and bands have full rows, every second time.
            const int64_t any_rows = sizes[random() % 11],
                          any_cols = random() % 2 == 0 ? any_rows : sizes[random() % 11];
            SpmvCase<T> c = random_case<T>(random, visit.device, implementation, op);
            // Once a case that each implementation for one vector takes, and one for many, one after the other.
            if (repeat == 0) {
              c.x_lie = c.y_lie = Lie::vector;
              c.vectors = 1;
              c.values_kept = c.transpose_kept = true;
            } else if (repeat == 1) {
              c.x_lie = c.y_lie = Lie::left;
              c.vectors = 4;
            }
            const int64_t rows = repeat < 2 ? 400 : any_rows, cols = repeat < 2 ? 400 : any_cols;
            const HostCsr<T> A = random_csr<T>(random, shape, rows, cols);
            INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ", " << name(shape) << ' '
                         << rows << " x " << cols << ", " << c.text());
            const auto wrong = run_case(ctx, c, A, random);
            if (!wrong) continue;
            ++taken[op];
            REQUIRE(*wrong == "");
          }
      INFO(implementation);
      // This one takes real numbers, where there are vectors with masks: spmv_sliced_test.cpp.
      if (implementation != "host_sliced") CHECK(!taken.empty());
      if (implementation == "reference") CHECK(taken.size() == 4);
    }
  }
}

TEST_CASE("spmv: hosts multiply rows whose lengths nothing foretells", "[spmv]") {
  for (const Visit& visit : visits()) {
    if (is_gpu(visit.device) || !has_kernels<double>(visit.device, "spmv")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    for (const int64_t most : {11, 25, 90}) {
      std::vector<std::vector<int64_t>> rows(3000);
      for (size_t i = 0; i < rows.size(); ++i) {  // the first and the last, and some others, have none
        std::set<int64_t> columns;
        for (int64_t k = i % 100 == 0 || i + 1 == rows.size() ? 0 : random_int(random, 1, most); k > 0; --k)
          columns.insert(random_int(random, 0, 1999));
        rows[i].assign(columns.begin(), columns.end());
      }
      const auto A = from_rows(2000, rows);
      for (const double beta : {0.0, -1.5})
        for (const int32_t base : {0, 1}) {
          SpmvCase<double> c;
          c.implementation = "host_balanced";
          c.alpha = 2;
          c.beta = beta;
          c.base = base;
          INFO("seed " << seed() << ", up to " << most << " entries, " << c.text());
          const auto wrong = run_case(ctx, c, A, random);
          REQUIRE(wrong);
          REQUIRE(*wrong == "");
        }
    }
  }
}

TEST_CASE("spmv: alpha = 0 reads neither A nor x, wherever it lies", "[spmv]") {
  for (const Visit& visit : visits()) {
    if (!has_kernels<double>(visit.device, "spmv")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    const HostCsr<double> A = random_csr<double>(random, Shape::power_law, 150, 130);
    for (const std::string& implementation : implementations(visit.device, "spmv"))
      for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE})
        for (const Lie x : {Lie::left, Lie::right})
          for (const Lie y : {Lie::left_padded, Lie::right, Lie::strided})
            for (const int64_t vectors : {1, 3, 40})
              for (const double beta : {0.0, 1.0, 2.0}) {
                SpmvCase<double> c;
                c.implementation = implementation;
                c.op = op;
                c.x_lie = x;
                c.y_lie = y;
                c.vectors = vectors;
                c.alpha = 0;
                c.beta = beta;
                c.device_scalars = true;
                c.transpose_kept = implementation.find("kept") != std::string::npos;
                if (!supported(visit.device, "spmv", c.pair, KKC_TYPE_F64)) continue;
                INFO(name(visit.device) << ' ' << c.text());
                const auto wrong = run_case(ctx, c, A, random);
                if (wrong) CHECK(*wrong == "");
              }
  }
}

TEMPLATE_TEST_CASE("spmv: every implementation on more work than one thread gets", "[spmv]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "spmv")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    for (const Shape shape :
         {Shape::few, Shape::dense_row, Shape::power_law, Shape::stencil, Shape::banded, Shape::blocks}) {
      const int64_t rows = random_int(random, 4000, 9000),
                    cols = random() % 2 == 0 ? rows : random_int(random, 4000, 40000);
      const HostCsr<T> A = random_csr<T>(random, shape, rows, cols);
      for (const std::string& implementation : implementations(visit.device, "spmv"))
        for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_HERMITIAN})
          for (int repeat = 0; repeat < 2; ++repeat) {
            SpmvCase<T> c = random_case<T>(random, visit.device, implementation, op);
            c.vectors = std::min<int64_t>(c.vectors, 8);
            if (c.alpha == T(0)) c.alpha = T(2);
            INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ", " << name(shape) << ' '
                         << rows << " x " << cols << ", " << c.text());
            const auto wrong = run_case(ctx, c, A, random);
            if (wrong) REQUIRE(*wrong == "");
          }
    }
  }
}

TEMPLATE_TEST_CASE("spmv: long rows whose columns jump, of an x that no inner cache holds", "[spmv]", float, double) {
  using T = TestType;
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "spmv")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    const int64_t rows = 3000, cols = 150000;
    HostCsr<T> A;
    A.rows = rows;
    A.cols = cols;
    A.offsets = {0};
    for (int64_t row = 0; row < rows; ++row) {
      // Lengths of all remainders, about 32 on average.
      for (int64_t k = random_int(random, 15, 49); k > 0; --k) A.indices.push_back(random_int(random, 0, cols - 1));
      A.offsets.push_back(static_cast<int64_t>(A.indices.size()));
    }
    A.values = random_vector<T>(random, A.nnz());
    check_all(visit, ctx, A, random);
  }
}

TEMPLATE_TEST_CASE("spmv: columns that follow one another, with gaps and repeats", "[spmv]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "spmv")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    HostCsr<T> A;
    A.rows = 700;
    A.cols = 1000;
    A.offsets = {0};
    for (int64_t row = 0; row < A.rows; ++row) {
      const int64_t length = row % 110, first = random_int(random, 0, A.cols - length - 1);
      for (int64_t k = 0; k < length; ++k) A.indices.push_back(first + k);
      if (length > 0 && row % 3 == 0) A.indices.back() = A.indices[A.indices.size() - static_cast<size_t>(length)];
      if (length > 2 && row % 5 == 0) std::swap(A.indices.back(), A.indices[A.indices.size() - 2]);
      if (length > 20 && row % 7 == 0) A.indices[A.indices.size() - static_cast<size_t>(length) + row % 16] = 0;
      A.offsets.push_back(static_cast<int64_t>(A.indices.size()));
    }
    A.values = random_vector<T>(random, A.nnz());
    check_all(visit, ctx, A, random);
  }
}

TEST_CASE("spmv: a row that several threads share", "[spmv]") {
  using T = double;
  constexpr int64_t length = 60000;
  for (const kkc_device_t device : devices()) {
    if (!supported(device, "spmv", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    const Context ctx(device, device == KKC_DEVICE_OPENMP ? R"({"threads": 4})" : "");
    Random random(seed());
    // Rows 0 and 2 are short, row 1 is full; and the transpose.
    HostCsr<T> wide, tall;
    wide.rows = tall.cols = 3;
    wide.cols = tall.rows = length;
    wide.offsets = {0, 1, length + 1, length + 2};
    wide.indices = {5};
    for (int64_t i = 0; i < length; ++i) wide.indices.push_back(i);
    wide.indices.push_back(7);
    for (int64_t i = 0; i < length; ++i) {
      if (i == 5) tall.indices.push_back(0);
      tall.indices.push_back(1);
      if (i == 7) tall.indices.push_back(2);
      tall.offsets.push_back(tall.nnz());
    }
    wide.values = tall.values = random_vector<T>(random, length + 2);
    for (const std::string& implementation : implementations(device, "spmv"))
      for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE})
        for (const Lie lie : {Lie::vector, Lie::left, Lie::right, Lie::strided}) {
          SpmvCase<T> c;
          c.implementation = implementation;
          c.op = op;
          c.vectors = lie == Lie::vector ? 1 : 5;
          c.x_lie = c.y_lie = lie;
          c.beta = 0.5;
          c.values_kept = c.transpose_kept = implementation.find("kept") != std::string::npos;
          INFO("seed " << seed() << ", " << name(device) << ", " << c.text());
          const auto wrong = run_case(ctx, c, op == KKC_OP_NONE ? wide : tall, random);
          if (wrong) REQUIRE(*wrong == "");
        }
  }
}

TEST_CASE("spmv: a dense row and column beside short rows, with many vectors", "[spmv]") {
  using T = double;
  constexpr int64_t rows = 5000;
  for (const kkc_device_t device : devices()) {
    if (!supported(device, "spmv", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    const Context ctx(device);
    Random random(seed());
    HostCsr<T> A;
    A.rows = A.cols = rows;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t column = 0; column < rows; ++column)
        if (row == 0 || column == 0 || column == row) A.indices.push_back(column);
      A.offsets.push_back(A.nnz());
    }
    A.values = random_vector<T>(random, A.indices.size());
    int in_place = 0;
    for (const std::string& implementation : implementations(device, "spmv"))
      for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE})
        for (const Lie lie : {Lie::left, Lie::left_padded, Lie::right})
          for (const int64_t vectors : {2, 7}) {
            SpmvCase<T> c;
            c.implementation = implementation;
            c.op = op;
            c.vectors = vectors;
            c.x_lie = c.y_lie = lie;
            c.beta = -1.5;
            c.values_kept = c.transpose_kept = implementation.find("kept") != std::string::npos;
            INFO("seed " << seed() << ", " << name(device) << ", " << c.text());
            const auto wrong = run_case(ctx, c, A, random);
            if (wrong) REQUIRE(*wrong == "");
            in_place += wrong && implementation == "gpu_multi_col";
          }
    if (is_gpu(device)) CHECK(in_place == 4);
  }
}

TEMPLATE_TEST_CASE("spmv: many vectors into a y too large for the caches", "[spmv]", float, double) {
  using T = TestType;
  constexpr int64_t rows = 140000;
  for (const kkc_device_t device : devices()) {
    if (!supported(device, "spmv", KKC_INDEX_32_32, scalar_tag<T>)) continue;
    const Context ctx(device);
    Random random(seed());
    HostCsr<T> A;
    A.rows = rows;
    A.cols = 300;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t k = 0; k < row % 4; ++k) A.indices.push_back((row * 7 + k) % A.cols);
      A.offsets.push_back(A.nnz());
    }
    A.values = random_vector<T>(random, A.indices.size());
    for (const int64_t vectors : {8, 13, 24})
      for (const Lie lie : {Lie::right, Lie::right_padded}) {
        SpmvCase<T> c;
        c.vectors = vectors;
        c.x_lie = c.y_lie = lie;
        c.alpha = T(1.5);
        c.beta = (vectors == 13) == (lie == Lie::right) ? T(0) : T(-0.5);
        INFO("seed " << seed() << ", " << name(device) << ", " << c.text());
        const auto wrong = run_case(ctx, c, A, random);
        REQUIRE(wrong);
        REQUIRE(*wrong == "");
      }
  }
}

TEST_CASE("spmv: dictionaries of row patterns up to their size", "[spmv]") {
  using T = double;
  constexpr int64_t rows = 6000;
  for (const kkc_device_t device : devices()) {
    if (!is_gpu(device) || !supported(device, "spmv", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    const Context ctx(device);
    Random random(seed());
    for (const int64_t patterns : {1, 3, 700, 1100}) {
      HostCsr<T> A;
      A.rows = rows;
      A.cols = rows + 2000;
      for (int64_t row = 0; row < rows; ++row) {
        A.indices.push_back(row);
        A.indices.push_back(row + 1 + row % patterns);
        A.offsets.push_back(A.nnz());
      }
      A.values = random_vector<T>(random, A.indices.size());
      SpmvCase<T> c;
      c.implementation = "gpu_row_pattern";
      INFO("seed " << seed() << ", " << name(device) << ", " << patterns << " patterns");
      const auto wrong = run_case(ctx, c, A, random);
      CHECK(wrong.has_value() == (patterns <= 1024));
      if (wrong) CHECK(*wrong == "");
      // With a row of its own here and there.
      for (int64_t row = 100; row < rows; row += 1500)
        A.indices[static_cast<size_t>(2 * row + 1)] += 1999 - row % patterns;
      const auto mixed = run_case(ctx, c, A, random);
      CHECK(mixed.has_value() == (patterns <= 1024));
      if (mixed) CHECK(*mixed == "");
    }
  }
}

TEST_CASE("spmv: every implementation on the benchmark's matrices", "[spmv]") {
  using T = double;
  for (const kkc_device_t device : devices()) {
    if (!supported(device, "spmv", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    const Context ctx(device);
    Random random(seed());
    for (const char* matrix : {"lap2d5", "lap3d7", "lap3d27", "elas3", "rmat", "rand", "band", "arrow", "identity"}) {
      Matrix generated;
      ok(kkc_matrix_generate(ctx, matrix, Options(R"({"size": "small"})"), KKC_INDEX_32_32, KKC_TYPE_F64,
                             generated.out()));
      const HostCsr<T> A = download<T>(ctx, generated);
      for (const std::string& implementation : implementations(device, "spmv"))
        for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE})
          for (const int64_t vectors : {1, 5}) {
            SpmvCase<T> c;
            c.implementation = implementation;
            c.op = op;
            c.vectors = vectors;
            c.x_lie = c.y_lie = vectors == 1 ? Lie::vector : random() % 2 == 0 ? Lie::left : Lie::right;
            c.alpha = 1.5;
            c.beta = random() % 2 == 0 ? 0 : -0.5;
            c.values_kept = c.transpose_kept =
                implementation.find("kept") != std::string::npos || implementation.find("relaid") != std::string::npos;
            INFO("seed " << seed() << ", " << name(device) << ", " << matrix << ", " << c.text());
            const auto wrong = run_case(ctx, c, A, random);
            if (wrong) REQUIRE(*wrong == "");
          }
    }
  }
}

TEST_CASE("spmv: a small product by hand", "[spmv]") {
  // | 1 2 . |        | 1 |   |  5 |
  // | . . . |  times | 2 | = |  0 |
  // | 3 . 4 |        | 3 |   | 15 |
  HostCsr<double> A;
  A.rows = A.cols = 3;
  A.offsets = {0, 2, 2, 4};
  A.indices = {0, 1, 0, 2};
  A.values = {1, 2, 3, 4};
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    DeviceCsr<double> a(ctx, A, KKC_INDEX_32_32, 1);
    const Array<double> x(ctx, {1, 2, 3}), y(ctx, {10, 20, 30});
    const View x_view = wrap(ctx, x.data(), {3}), y_view = wrap(ctx, y.data(), {3});
    const double one = 1, zero = 0, minus = -1;
    for (const std::string& implementation : implementations(device, "spmv")) {
      Plan plan;
      if (kkc_spmv_plan(ctx, KKC_OP_NONE, a, x_view, y_view,
                        Options("{\"implementation\": \"" + implementation + "\"}"), plan.out()) != KKC_STATUS_SUCCESS)
        continue;
      INFO(name(device) << ' ' << implementation);
      y.set({10, 20, 30});
      ok(kkc_spmv_execute(plan, &one, a, x_view, &zero, y_view));
      CHECK(y.get() == std::vector<double>{5, 0, 15});
      ok(kkc_spmv_execute(plan, &one, a, x_view, &minus, y_view));
      CHECK(y.get() == std::vector<double>{0, 0, 0});
    }
    Plan transposed;
    ok(kkc_spmv_plan(ctx, KKC_OP_TRANSPOSE, a, x_view, y_view, nullptr, transposed.out()));
    ok(kkc_spmv_execute(transposed, &one, a, x_view, &zero, y_view));
    CHECK(y.get() == std::vector<double>{10, 2, 12});
  }
}

TEST_CASE("spmv: matrices without rows or columns and no vectors, also measured", "[spmv]") {
  struct Size {
    int64_t rows, cols;
  };
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    const std::vector<int32_t> offsets(6, 0);
    std::vector<std::string> all = implementations(device, "spmv");
    all.push_back("");
    for (const Size size : {Size{0, 5}, {5, 0}, {0, 0}, {5, 5}})
      for (const kkc_op_t op : all_ops)
        for (const int64_t vectors : {0, 1, 2})
          for (const std::string& implementation : all) {
            INFO(name(device) << ' ' << implementation << ", " << size.rows << " x " << size.cols << ", op "
                              << op_name(op) << ", vectors " << vectors);
            Matrix A;  // without rows it has no offsets either
            ok(kkc_csr_create_copy(ctx, size.rows, size.cols, 0, KKC_INDEX_32_32, KKC_TYPE_F64, 0,
                                   size.rows == 0 ? nullptr : offsets.data(), nullptr, nullptr, A.out()));
            const int64_t x_rows = is_transposed(op) ? size.rows : size.cols,
                          y_rows = is_transposed(op) ? size.cols : size.rows;
            const Array<double> x(ctx, std::vector<double>(10, 1)), y(ctx, std::vector<double>(10, 3));
            const View x_view = wrap(ctx, x.data(), {x_rows, vectors}), y_view = wrap(ctx, y.data(), {y_rows, vectors});
            Plan plan;
            const kkc_status_t planned =
                kkc_spmv_plan(ctx, op, A, x_view, y_view,
                              Options(implementation.empty() ? R"({"tuning": "measure"})"
                                                             : "{\"implementation\": \"" + implementation + "\"}"),
                              plan.out());
            if (planned == KKC_STATUS_NOT_SUPPORTED && !implementation.empty()) continue;
            ok(planned);
            const double alpha = 2, beta = -1;
            ok(kkc_spmv_execute(plan, &alpha, A, x_view, &beta, y_view));
            std::vector<double> expected(10, 3);
            std::fill(expected.begin(), expected.begin() + y_rows * vectors, -3);
            CHECK(y.get() == expected);
          }
  }
}

TEST_CASE("spmv: the same bits run to run when asked for", "[spmv]") {
  using T = double;
  for (const Visit& visit : visits()) {
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    for (const Shape shape : {Shape::few, Shape::dense_row, Shape::power_law, Shape::stencil}) {
      const HostCsr<T> A = random_csr<T>(random, shape, 20000, 20000);
      DeviceCsr<T> a(ctx, A, KKC_INDEX_32_32, 0);
      const std::vector<T> y_start = random_vector<T>(random, 20000 * 3);
      const Array<T> x(ctx, random_vector<T>(random, 20000 * 3)), y(ctx, y_start);
      const T alpha = 0.7, beta = 0.3;
      for (const int64_t vectors : {1, 3}) {
        const std::vector<int64_t> extents =
            vectors == 1 ? std::vector<int64_t>{20000} : std::vector<int64_t>{20000, vectors};
        const View x_view = wrap(ctx, x.data(), extents), y_view = wrap(ctx, y.data(), extents);
        for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE})
          for (const std::string& implementation : implementations(visit.device, "spmv")) {
            INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ", " << name(shape) << ", "
                         << implementation << ", op " << op_name(op) << ", vectors " << vectors);
            std::vector<T> first;
            for (int again = 0; again < 3; ++again) {
              Plan plan;
              const std::string options = "{\"implementation\": \"" + implementation +
                                          "\", \"deterministic\": 1, \"values\": \"kept\", \"transpose\": \"kept\"}";
              if (kkc_spmv_plan(ctx, op, a, x_view, y_view, Options(options), plan.out()) != KKC_STATUS_SUCCESS) break;
              ok(kkc_spmv_set_values(plan, a));
              for (int repeat = 0; repeat < 2; ++repeat) {
                y.set(y_start);
                ok(kkc_spmv_execute(plan, &alpha, a, x_view, &beta, y_view));
                const std::vector<T> now = y.get();
                if (first.empty()) first = now;
                REQUIRE(std::memcmp(first.data(), now.data(), now.size() * sizeof(T)) == 0);
              }
            }
          }
      }
    }
  }
}
