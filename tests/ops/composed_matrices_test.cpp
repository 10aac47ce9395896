// Products, sums, triangular solves and factorizations of matrices that are composed of random pieces, whose sizes and
// structures no other test names. Another seed makes others.
#include "support/catch.hpp"

#include "support/composed.hpp"
#include "support/ilu_case.hpp"
#include "support/jacobi_case.hpp"
#include "support/spadd_case.hpp"
#include "support/sptrsv_case.hpp"

using namespace kkc_test;

namespace {

/// Bounds of sizes, for most rounds far above what they take.
struct Bounds {
  int rounds;
  int64_t rows, entries, products;
  int64_t rows_of_factors;  // whose check keeps a table of all places
};
constexpr Bounds small{20, 5000, 60000, 1000000, 2000}, large{5, 200000, 2000000, 20000000, 8000};

/// Any implementation, mostly the plan's choice.
std::string any_implementation(Random& random, kkc_device_t device, const char* operation) {
  if (!one_in(random, 3)) return "";
  const auto names = implementations(device, operation);
  return names[random() % names.size()];
}

int32_t any_base(Random& random) { return static_cast<int32_t>(random() % 2); }

/// Composed, of `entries` entries or fewer in the mean, at times with rows in no order.
template <class T>
HostCsr<T> composed(Random& random, int64_t rows, int64_t cols, int64_t entries) {
  RowsOfColumns pattern = composed_rows(random, rows, cols, entries);
  if (one_in(random, 6)) leave_order(random, pattern);
  HostCsr<T> A = from_rows<T>(cols, pattern);
  A.values = random_vector<T>(random, A.values.size());
  return A;
}

template <class T>
int64_t products(kkc_op_t op_a, const HostCsr<T>& A, kkc_op_t op_b, const HostCsr<T>& B) {
  const PlacesByRow b(B, transposed(op_b));
  int64_t count = 0;
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t p = A.offsets[static_cast<size_t>(i)]; p < A.offsets[static_cast<size_t>(i) + 1]; ++p)
      count +=
          static_cast<int64_t>(b[static_cast<size_t>(transposed(op_a) ? i : A.indices[static_cast<size_t>(p)])].size());
  return count;
}

/// f(ctx, random) for each round on each visit that has kernels of T.
template <class T, class F>
void on_each_visit(const char* operation, const Bounds& bounds, F&& f) {
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, operation)) continue;
    const Context ctx(visit.device, visit.options);
    for (int round = 0; round < bounds.rounds; ++round) {
      Random random(seed() + static_cast<uint64_t>(round) * 1000003);
      INFO("seed " << seed() << ", round " << round << ", " << name(visit.device) << ' ' << visit.options);
      f(ctx, random);
    }
  }
}

template <class T>
SpgemmCase<T> any_product(Random& random, kkc_device_t device) {
  SpgemmCase<T> c;
  c.implementation = any_implementation(random, device, "spgemm");
  c.pair = any_pair<T>(random, device, "spgemm");
  c.pair_c = c.pair == KKC_INDEX_64_64 || one_in(random, 2) ? c.pair : KKC_INDEX_32_64;
  if (one_in(random, 3)) c.op_a = tested_ops[random() % std::size(tested_ops)];
  if (one_in(random, 3)) c.op_b = tested_ops[random() % std::size(tested_ops)];
  c.base_a = any_base(random);
  c.base_b = any_base(random);
  c.base_c = any_base(random);
  c.alpha = any_coefficient<T>(random);
  c.beta = any_coefficient<T>(random);
  c.sorted = !one_in(random, 4);
  if (c.op_a == KKC_OP_NONE && c.op_b == KKC_OP_NONE && one_in(random, 4))
    c.max_workspace = any_size(random, 1 << 16, 1 << 24);
  return c;
}

/// A diagonal larger than the rest of its row and column, which the others leave where they are.
template <class T>
void dominate(HostCsr<T>& A) {
  using R = typename RealOf<T>::type;
  std::vector<R> sums(static_cast<size_t>(A.rows), R(1));
  const auto each = [&](auto&& f) {
    for (int64_t i = 0; i < A.rows; ++i)
      for (int64_t p = A.offsets[static_cast<size_t>(i)]; p < A.offsets[static_cast<size_t>(i) + 1]; ++p)
        f(i, A.indices[static_cast<size_t>(p)], A.values[static_cast<size_t>(p)]);
  };
  each([&](int64_t i, int64_t j, const T& value) {
    if (i == j) return;
    sums[static_cast<size_t>(i)] += R(2) * std::abs(value);
    sums[static_cast<size_t>(j)] += R(2) * std::abs(value);
  });
  each([&](int64_t i, int64_t j, T& value) {
    if (i == j) value = T(sums[static_cast<size_t>(i)]);
  });
}

template <class T>
void multiply(const Bounds& bounds) {
  on_each_visit<T>("spgemm", bounds, [&](const Context& ctx, Random& random) {
    SpgemmCase<T> c = any_product<T>(random, ctx.device());
    const int64_t rows = any_size(random, 8, bounds.rows),
                  inner = one_in(random, 2) ? rows : any_size(random, 8, bounds.rows),
                  cols = one_in(random, 2) ? rows : any_size(random, 1, 4 * bounds.rows);
    const bool turned_a = transposed(c.op_a), turned_b = transposed(c.op_b);
    for (int64_t entries = any_size(random, 100, bounds.entries);; entries = entries / 4 + 1) {
      HostCsr<T> A = composed<T>(random, turned_a ? inner : rows, turned_a ? rows : inner, entries),
                 B = composed<T>(random, turned_b ? cols : inner, turned_b ? inner : cols, entries);
      if (rows == inner && inner == cols && one_in(random, 2)) B = A;
      if (products(c.op_a, A, c.op_b, B) > bounds.products) continue;
      const HostCsr<T> mask = composed<T>(random, rows, cols, entries);
      const bool masked = one_in(random, 8);
      INFO(rows << " x " << inner << " x " << cols << ", " << A.nnz() << " and " << B.nnz() << " entries, "
                << (masked ? "masked, " : "") << c.text());
      const auto wrong = run_case(ctx, c, A, B, masked ? &mask : nullptr, random);
      if (wrong) REQUIRE(*wrong == "");
      break;
    }
  });
}

template <class T>
void smooth(const Bounds& bounds) {
  on_each_visit<T>("spgemm_jacobi", bounds, [&](const Context& ctx, Random& random) {
    const auto names = implementations(ctx.device(), "spgemm_jacobi");
    const kkc_index_pair_t pair = any_pair<T>(random, ctx.device(), "spgemm_jacobi");
    const JacobiCase<T> c{names[random() % names.size()], pair, pair, any_base(random), one_in(random, 2), false};
    const int64_t rows = any_size(random, 8, bounds.rows),
                  cols = one_in(random, 2) ? rows : any_size(random, 1, 4 * bounds.rows);
    for (int64_t entries = any_size(random, 100, bounds.entries);; entries = entries / 4 + 1) {
      RowsOfColumns pattern = composed_rows(random, rows, rows, entries);
      add_diagonal(pattern);
      const HostCsr<T> A = from_rows<T>(rows, pattern), B = composed<T>(random, rows, cols, entries);
      if (products(KKC_OP_NONE, A, KKC_OP_NONE, B) > bounds.products) continue;
      INFO(rows << " x " << cols << ", " << A.nnz() << " and " << B.nnz() << " entries, " << c.implementation
                << ", pair " << pair << ", base " << c.base << (c.given ? ", given" : ""));
      const std::string text = wrong(ctx, c, A, B, random);
      if (text != not_taken) REQUIRE(text == "");
      break;
    }
  });
}

template <class T>
void add(const Bounds& bounds) {
  on_each_visit<T>("spadd", bounds, [&](const Context& ctx, Random& random) {
    SpaddCase<T> c;
    c.implementation = any_implementation(random, ctx.device(), "spadd");
    c.pair = any_pair<T>(random, ctx.device(), "spadd");
    c.pair_C = all_index_pairs[random() % std::size(all_index_pairs)];
    c.base_A = any_base(random);
    c.base_B = any_base(random);
    c.base_C = any_base(random);
    c.alpha = any_coefficient<T>(random);
    c.beta = any_coefficient<T>(random);
    if (one_in(random, 3)) c.op_A = tested_ops[random() % std::size(tested_ops)];
    if (one_in(random, 3)) c.op_B = tested_ops[random() % std::size(tested_ops)];
    const int64_t rows = any_size(random, 8, 4 * bounds.rows),
                  cols = one_in(random, 2) ? rows : any_size(random, 1, 4 * bounds.rows);
    const auto any = [&](kkc_op_t op) {
      const int64_t entries = any_size(random, 100, 3 * bounds.entries);
      return turns(op) ? composed<T>(random, cols, rows, entries) : composed<T>(random, rows, cols, entries);
    };
    const HostCsr<T> A = any(c.op_A), B = c.op_A == c.op_B && one_in(random, 4) ? A : any(c.op_B);
    INFO(rows << " x " << cols << ", " << A.nnz() << " and " << B.nnz() << " entries, " << c.text());
    const auto wrong = run_case(ctx, c, A, B, random);
    if (wrong) REQUIRE(*wrong == "");
  });
}

template <class T>
void solve(const Bounds& bounds) {
  on_each_visit<T>("sptrsv", bounds, [&](const Context& ctx, Random& random) {
    SptrsvCase<T> c;
    c.implementation = any_implementation(random, ctx.device(), "sptrsv");
    c.op = all_ops[random() % std::size(all_ops)];
    c.uplo = one_in(random, 2) ? KKC_UPLO_LOWER : KKC_UPLO_UPPER;
    c.diag = one_in(random, 2) ? KKC_DIAG_STORED : KKC_DIAG_UNIT;
    c.pair = any_pair<T>(random, ctx.device(), "sptrsv");
    c.base = any_base(random);
    if (one_in(random, 3)) {
      c.b_lie = c.x_lie = Lie::right;
      c.vectors = random_int(random, 1, 9);
    }
    c.values_kept = one_in(random, 2);
    const int64_t n = any_size(random, 8, 4 * bounds.rows);
    RowsOfColumns left = composed_rows(random, n, n, any_size(random, 100, 3 * bounds.entries));
    for (int64_t row = 0; row < n; ++row)
      std::erase_if(left[static_cast<size_t>(row)], [row](int64_t column) { return column >= row; });
    const HostCsr<T> A = triangle_of<T>(random, left, c.uplo, c.diag, {one_in(random, 6), one_in(random, 2), false});
    INFO(n << " rows, " << A.nnz() << " entries, " << c.text());
    const auto wrong = run_case(ctx, c, A, random);
    if (wrong) REQUIRE(*wrong == "");
  });
}

template <class T>
void factor(const Bounds& bounds) {
  for (const Form form : {Form::lu, Form::cholesky})
    on_each_visit<T>(name(form), bounds, [&](const Context& ctx, Random& random) {
      FactorCase<T> c;
      c.form = form;
      c.implementation = any_implementation(random, ctx.device(), name(form));
      c.pair = any_pair<T>(random, ctx.device(), name(form));
      c.base_A = any_base(random);
      c.base_F = any_base(random);
      c.level = form == Form::lu && one_in(random, 4) ? static_cast<int>(random_int(random, 1, 2)) : 0;
      const int64_t n = any_size(random, 8, c.level == 0 ? bounds.rows_of_factors : 600);
      RowsOfColumns pattern =
          composed_rows(random, n, n, any_size(random, 100, c.level == 0 ? bounds.entries / 2 : 4000));
      add_diagonal(pattern);
      HostCsr<T> A = from_rows<T>(n, pattern);
      A.values = random_vector<T>(random, A.values.size());
      dominate(A);
      INFO(name(form) << ", " << n << " rows, " << A.nnz() << " entries, pair " << c.pair << " base " << c.base_A << ' '
                      << c.options());
      const auto wrong = run_case(ctx, c, A);
      if (wrong) REQUIRE(*wrong == "");
    });
}

}  // namespace

TEMPLATE_TEST_CASE("spgemm: matrices composed of pieces", "[spgemm][composed]", float, double, std::complex<float>,
                   std::complex<double>) {
  multiply<TestType>(small);
}

TEMPLATE_TEST_CASE("spgemm_jacobi: matrices composed of pieces", "[spgemm_jacobi][composed]", float, double,
                   std::complex<float>, std::complex<double>) {
  smooth<TestType>(small);
}

TEMPLATE_TEST_CASE("spadd: matrices composed of pieces", "[spadd][composed]", float, double, std::complex<float>,
                   std::complex<double>) {
  add<TestType>(small);
}

TEMPLATE_TEST_CASE("sptrsv: triangles composed of pieces", "[sptrsv][composed]", float, double, std::complex<float>,
                   std::complex<double>) {
  solve<TestType>(small);
}

TEMPLATE_TEST_CASE("ilu, ic: matrices composed of pieces", "[ilu][ic][composed]", float, double, std::complex<float>,
                   std::complex<double>) {
  factor<TestType>(small);
}

// Takes a minute: by name or tag only.
TEMPLATE_TEST_CASE("larger matrices composed of pieces", "[.composed_large]", float, double, std::complex<float>,
                   std::complex<double>) {
  SECTION("spgemm") { multiply<TestType>(large); }
  SECTION("spgemm_jacobi") { smooth<TestType>(large); }
  SECTION("spadd") { add<TestType>(large); }
  SECTION("sptrsv") { solve<TestType>(large); }
  SECTION("ilu, ic") { factor<TestType>(large); }
}
