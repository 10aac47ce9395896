// spadd: every implementation on every device against plain host loops.
#include "support/catch.hpp"

#include <algorithm>
#include <numeric>

#include "support/spadd_case.hpp"

using namespace kkc_test;

namespace {

constexpr kkc_op_t all_ops[] = {KKC_OP_NONE, KKC_OP_TRANSPOSE, KKC_OP_CONJUGATE, KKC_OP_HERMITIAN};

template <class T>
SpaddCase<T> random_case(Random& random, kkc_device_t device, const std::string& implementation) {
  SpaddCase<T> c;
  c.implementation = implementation;
  c.pair = any_pair<T>(random, device, "spadd");
  c.pair_C = all_index_pairs[random() % 3];
  c.base_A = static_cast<int32_t>(random() % 2);
  c.base_B = static_cast<int32_t>(random() % 2);
  c.base_C = static_cast<int32_t>(random() % 2);
  c.op_A = random() % 2 == 0 ? KKC_OP_NONE : all_ops[random() % 4];
  c.op_B = random() % 2 == 0 ? KKC_OP_NONE : all_ops[random() % 4];
  c.alpha = any_coefficient<T>(random);
  c.beta = any_coefficient<T>(random);
  c.device_scalars = random() % 4 == 0;
  c.own_output = random() % 2 == 0;
  if (random() % 3 == 0) c.rows = "unsorted";
  return c;
}

/// cuSPARSE takes rows that are stated sorted.
template <class T>
void state_sorted(SpaddCase<T>& c, Shape a, Shape b) {
  if (a != Shape::unsorted_duplicates && b != Shape::unsorted_duplicates) c.rows = "sorted";
}

template <class T>
void check_case(const Context& ctx, const Visit& visit, const SpaddCase<T>& c, const HostCsr<T>& A, const HostCsr<T>& B,
                Random& random, int* taken = nullptr) {
  INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ", " << A.rows << " x " << A.cols
               << ", " << A.nnz() << " and " << B.nnz() << " entries, " << c.text());
  const auto wrong = run_case(ctx, c, A, B, random);
  if (!wrong) return;
  if (taken != nullptr) ++*taken;
  REQUIRE(*wrong == "");
}

/// Of 2 A - B, whose patterns are there.
template <class T>
SpaddCase<T> with_random_values(HostCsr<T>& A, HostCsr<T>& B, Random& random) {
  A.values = random_vector<T>(random, A.indices.size());
  B.values = random_vector<T>(random, B.indices.size());
  SpaddCase<T> c;
  c.alpha = 2;
  c.beta = -1;
  return c;
}

}  // namespace

TEMPLATE_TEST_CASE("spadd: every implementation gives what host loops give", "[spadd]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  constexpr int64_t sizes[] = {0, 1, 2, 7, 31, 64, 100, 257};
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "spadd")) continue;
    const Context ctx(visit.device, visit.options);
    for (const std::string& implementation : implementations(visit.device, "spadd")) {
      Random random(seed());
      int taken = 0;
      for (const Shape shape_A : all_shapes)
        for (const Shape shape_B : all_shapes)
          for (int repeat = 0; repeat < 2; ++repeat) {
            const int64_t rows = sizes[random() % 8], cols = random() % 2 == 0 ? rows : sizes[random() % 8];
            SpaddCase<T> c = random_case<T>(random, visit.device, implementation);
            if (repeat == 0) {
              c.op_A = c.op_B = KKC_OP_NONE;
              c.pair_C = c.pair;
              state_sorted(c, shape_A, shape_B);
            }
            const auto shaped = [&](kkc_op_t op, Shape shape) {
              return turns(op) ? random_csr<T>(random, shape, cols, rows) : random_csr<T>(random, shape, rows, cols);
            };
            const HostCsr<T> A = shaped(c.op_A, shape_A), B = shaped(c.op_B, shape_B);
            check_case(ctx, visit, c, A, B, random, &taken);
          }
      INFO(implementation);
      CHECK(taken > 0);
      if (implementation == "reference") CHECK(taken == 162);
    }
  }
}

TEMPLATE_TEST_CASE("spadd: more work than one thread or block gets", "[spadd]", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "spadd")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    for (const Shape shape : {Shape::few, Shape::dense_row, Shape::power_law, Shape::stencil, Shape::blocks,
                              Shape::unsorted_duplicates, Shape::empty_rows})
      for (int repeat = 0; repeat < 3; ++repeat) {
        const int64_t rows = random_int(random, 2000, 6000),
                      cols = random() % 2 == 0 ? rows : random_int(random, 900, 9000);
        SpaddCase<T> c = random_case<T>(random, visit.device, "");
        const Shape other = all_shapes[random() % 8];
        const auto shaped = [&](kkc_op_t op, Shape s) {
          return turns(op) ? random_csr<T>(random, s, cols, rows) : random_csr<T>(random, s, rows, cols);
        };
        const HostCsr<T> A = shaped(c.op_A, shape), B = shaped(c.op_B, other);
        check_case(ctx, visit, c, A, B, random);
      }
  }
}

TEST_CASE("spadd: rows of every two lengths around the borders of vectors, with columns in common", "[spadd]") {
  using T = double;
  constexpr int64_t lengths[] = {0, 1, 5, 6, 7, 15, 16, 17, 31, 32, 33, 47, 48, 57, 58, 63, 64, 65, 100};
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "spadd")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    for (const int64_t spread : {1, 2, 40}) {  // how many columns for each that is taken, about
      HostCsr<T> A, B;
      A.cols = B.cols = 100 * spread + 3;
      for (const int64_t length_A : lengths)
        for (const int64_t length_B : lengths) {
          ++A.rows;
          ++B.rows;
          const auto add = [&](HostCsr<T>& M, int64_t length) {
            std::vector<int64_t> columns(static_cast<size_t>(std::max(length_A, length_B) * spread + 3));
            std::iota(columns.begin(), columns.end(), int64_t{0});
            std::shuffle(columns.begin(), columns.end(), random);
            columns.resize(static_cast<size_t>(length));
            std::sort(columns.begin(), columns.end());
            M.indices.insert(M.indices.end(), columns.begin(), columns.end());
            M.offsets.push_back(M.nnz());
          };
          add(A, length_A);
          add(B, length_B);
        }
      A.values = random_vector<T>(random, A.indices.size());
      B.values = random_vector<T>(random, B.indices.size());
      for (const int32_t base : {0, 1}) {
        SpaddCase<T> c;
        c.base_A = base;
        c.base_B = 1 - base;
        c.alpha = 2;
        c.beta = -3;
        check_case(ctx, visit, c, A, B, random);
      }
    }
  }
}

TEST_CASE("spadd: rows that threads and blocks share, equal entries at every place of a tile", "[spadd]") {
  using T = double;
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "spadd")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    // One long row between empty and short ones; B holds every k-th of A's columns, shifted.
    for (const int64_t length : {2047, 2048, 2049, 4095, 4096, 6000, 30011})
      for (const int64_t step : {1, 2, 3, 64})
        for (const int64_t shift : {0, 1}) {
          HostCsr<T> A, B;
          A.rows = B.rows = 5;
          A.cols = B.cols = 40000;
          for (int64_t row = 0; row < 5; ++row) {
            for (int64_t k = 0; row == 2 && k < length; ++k) A.indices.push_back(k);
            for (int64_t k = shift; row == 2 && k < length; k += step) B.indices.push_back(k);
            if (row == 1) A.indices.push_back(39999);
            if (row == 3) B.indices.push_back(0);
            A.offsets.push_back(A.nnz());
            B.offsets.push_back(B.nnz());
          }
          const SpaddCase<T> c = with_random_values(A, B, random);
          INFO("length " << length << " step " << step << " shift " << shift);
          check_case(ctx, visit, c, A, B, random);
          check_case(ctx, visit, c, B, A, random);
        }
  }
}

TEST_CASE("spadd: tiles of many rows, of few entries between empty rows, and rows that end at every place of a tile",
          "[spadd]") {
  using T = double;
  constexpr kkc_index_pair_t pairs[] = {KKC_INDEX_32_32, KKC_INDEX_32_64, KKC_INDEX_64_64};
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "spadd")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    // Entries of A and of B in a row, and how many empty rows follow it.
    struct Rows {
      int64_t a, b, empty;
    };
    for (const Rows& rows : {Rows{1, 0, 0}, Rows{0, 1, 1}, Rows{1, 1, 0}, Rows{1, 1, 3}, Rows{2, 1, 700}, Rows{7, 1, 0},
                             Rows{15, 1, 1}, Rows{8, 8, 2}, Rows{16, 17, 0}, Rows{3, 0, 5000}})
      for (const int64_t lead : {0, 1, 40, 1300}) {
        const int64_t n = 6000;
        HostCsr<T> A, B;
        A.rows = B.rows = n + lead;
        A.cols = B.cols = 1000;
        for (int64_t row = 0; row < n + lead; ++row) {
          if (row >= lead && (row - lead) % (rows.empty + 1) == 0) {
            for (int64_t k = 0; k < rows.a; ++k) A.indices.push_back(3 * k + row % 5);
            for (int64_t k = 0; k < rows.b; ++k) B.indices.push_back(5 * k + row % 7);
          }
          A.offsets.push_back(A.nnz());
          B.offsets.push_back(B.nnz());
        }
        SpaddCase<T> c = with_random_values(A, B, random);
        c.base_A = static_cast<int32_t>(random() % 2);
        c.base_B = static_cast<int32_t>(random() % 2);
        c.pair_C = pairs[random() % 3];
        if (const kkc_index_pair_t pair = pairs[random() % 3]; supported(visit.device, "spadd", pair, scalar_tag<T>))
          c.pair = pair;
        INFO("rows of " << rows.a << " and " << rows.b << ", then " << rows.empty << " empty ones, " << lead
                        << " before");
        check_case(ctx, visit, c, A, B, random);
        check_case(ctx, visit, c, B, A, random);
        // One row out of order, one column twice.
        if (rows.a < 2) continue;
        HostCsr<T> wrong = A;
        const auto at = static_cast<size_t>(random_int(random, 0, A.nnz() / rows.a - 1) * rows.a);
        std::swap(wrong.indices[at], wrong.indices[at + 1]);
        check_case(ctx, visit, c, wrong, B, random);
        wrong.indices[at + 1] = wrong.indices[at];
        check_case(ctx, visit, c, B, wrong, random);
      }
  }
}

TEST_CASE("spadd: rows said to be sorted are refused with the row wherever they are not", "[spadd]") {
  using T = double;
  for (const Visit& visit : visits()) {
    if (!supported(visit.device, "spadd", KKC_INDEX_32_32, scalar_tag<T>)) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    const HostCsr<T> B = random_csr<T>(random, Shape::few, 40, 6000);
    // Long rows: the fault lies within a thread's part, at its border and at a tile's.
    HostCsr<T> A;
    A.rows = 40;
    A.cols = 6000;
    for (int64_t row = 0; row < 40; ++row) {
      for (int64_t k = 0; k < (row % 3 == 0 ? 3000 : 20); ++k) A.indices.push_back(2 * k);
      A.offsets.push_back(A.nnz());
    }
    A.values.assign(A.indices.size(), 1.0);
    for (const int64_t at : {0, 14, 15, 16, 127, 2044, 2045, 2046, 2047, 2048, 2998}) {
      HostCsr<T> wrong = A;
      wrong.indices[static_cast<size_t>(at + 1)] = wrong.indices[static_cast<size_t>(at)];
      const DeviceCsr<T> wrong_device(ctx, wrong, KKC_INDEX_32_32, 0), B_device(ctx, B, KKC_INDEX_32_32, 0);
      Plan plan;
      INFO(name(visit.device) << ' ' << visit.options << ", entry " << at);
      CHECK(kkc_spadd_plan(ctx, KKC_OP_NONE, wrong_device, KKC_OP_NONE, B_device, KKC_INDEX_32_32,
                           Options(R"({"rows": "sorted"})"), plan.out()) == KKC_STATUS_NOT_SORTED);
      CHECK(std::string(kkc_last_error()).find("A: row 0 ") != std::string::npos);
    }
  }
}

TEST_CASE("spadd: A and its transpose, and a shift of the diagonal", "[spadd]") {
  using T = double;
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "spadd")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    for (const Shape shape : {Shape::few, Shape::stencil, Shape::power_law, Shape::unsorted_duplicates}) {
      const int64_t n = random_int(random, 1500, 3000);
      const HostCsr<T> A = random_csr<T>(random, shape, n, n);
      HostCsr<T> I;
      I.rows = I.cols = n;
      for (int64_t i = 0; i < n; ++i) {
        I.indices.push_back(i);
        I.offsets.push_back(i + 1);
      }
      I.values.assign(static_cast<size_t>(n), T(1));
      SpaddCase<T> c;
      c.beta = 3;
      check_case(ctx, visit, c, A, I, random);
      check_case(ctx, visit, c, I, A, random);
      c.op_A = KKC_OP_TRANSPOSE;
      check_case(ctx, visit, c, A, A, random);
    }
  }
}

TEST_CASE("spadd: sums of as many entries as one operand, of both, and between", "[spadd]") {
  using T = double;
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "spadd")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    constexpr int64_t rows = 8000, each = 17;  // 64-bit columns of one are more than is left over for nothing
    for (const int64_t shared : {int64_t{0}, int64_t{5}, each}) {
      HostCsr<T> A, B;
      A.rows = B.rows = rows;
      A.cols = B.cols = 4 * each;
      for (int64_t row = 0; row < rows; ++row) {
        for (int64_t k = 0; k < each; ++k) {
          A.indices.push_back(2 * k + row % 3);
          B.indices.push_back(2 * k + row % 3 + (k < shared ? 0 : 1));
        }
        A.offsets.push_back(A.nnz());
        B.offsets.push_back(B.nnz());
      }
      SpaddCase<T> c = with_random_values(A, B, random);
      for (const kkc_index_pair_t pair_C : {KKC_INDEX_32_32, KKC_INDEX_64_64}) {
        c.pair_C = pair_C;
        INFO(shared << " columns of " << each << " shared");
        check_case(ctx, visit, c, A, B, random);
      }
    }
  }
}

TEST_CASE("spadd: more tiles than run at once", "[spadd]") {
  using T = double;
  for (const Visit& visit : visits()) {
    if (!is_gpu(visit.device) || !has_kernels<T>(visit.device, "spadd")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    constexpr int64_t rows = 60'000;
    HostCsr<T> A, B;
    A.rows = B.rows = rows;
    A.cols = B.cols = 90;
    for (int64_t row = 0; row < rows; ++row) {
      for (int64_t k = 0; k < 30; ++k) A.indices.push_back(2 * k + row % 3);
      for (int64_t k = 0; k < 20 + row % 11; ++k) B.indices.push_back(3 * k);
      A.offsets.push_back(A.nnz());
      B.offsets.push_back(B.nnz());
    }
    const SpaddCase<T> c = with_random_values(A, B, random);
    check_case(ctx, visit, c, A, B, random);
  }
}

TEST_CASE("spadd: the same bits in every run, with and without deterministic", "[spadd]") {
  using T = float;
  for (const kkc_device_t device : devices()) {
    if (!supported(device, "spadd", KKC_INDEX_32_32, scalar_tag<T>)) continue;
    const Context ctx(device);
    Random random(seed());
    const HostCsr<T> A = random_csr<T>(random, Shape::unsorted_duplicates, 3000, 50),
                     B = random_csr<T>(random, Shape::unsorted_duplicates, 3000, 50);
    const DeviceCsr<T> A_device(ctx, A, KKC_INDEX_32_32, 0), B_device(ctx, B, KKC_INDEX_32_32, 0);
    std::vector<HostCsr<T>> results;
    for (const char* options : {"{}", R"({"deterministic": 1})", R"({"rows": "unsorted"})"}) {
      Plan plan;
      ok(kkc_spadd_plan(ctx, KKC_OP_NONE, A_device, KKC_OP_NONE, B_device, KKC_INDEX_32_32, Options(options),
                        plan.out()));
      Matrix C;
      ok(kkc_plan_create_output(plan, C.out()));
      const T alpha = 0.3f, beta = 0.7f;
      ok(kkc_spadd_execute(plan, &alpha, A_device, &beta, B_device, C));
      ctx.synchronize();
      results.push_back(download<T>(ctx, C));
    }
    for (const auto& result : results) check_same(result, results.front());
  }
}
