// ilut: factors against A, against complete factors, and what bounds their entries.
#include "support/catch.hpp"

#include "support/by_column.hpp"
#include "support/ilu_case.hpp"

using namespace kkc_test;

namespace {

template <class T>
struct Factors {
  kkc_status_t status = KKC_STATUS_SUCCESS;
  HostCsr<T> L, U;
};

template <class T>
Factors<T> factors(const Context& ctx, const HostCsr<T>& A, const std::string& options, int32_t base = 0,
                   kkc_index_pair_t pair = KKC_INDEX_32_32) {
  const DeviceCsr<T> A_device(ctx, A, pair, base);
  Plan plan;
  ok(kkc_ilut_plan(ctx, A_device, Options(options), plan.out()));
  Matrix L, U;
  Factors<T> made;
  made.status = kkc_ilut_execute(plan, A_device, L.out(), U.out());
  CHECK((L == nullptr) == (made.status != KKC_STATUS_SUCCESS));
  CHECK((U == nullptr) == (made.status != KKC_STATUS_SUCCESS));
  if (made.status != KKC_STATUS_SUCCESS) return made;
  made.L = download<T>(ctx, L);
  made.U = download<T>(ctx, U);
  return made;
}

/// Strictly lower, or upper with the diagonal first in each row; rows ascend strictly.
template <class T>
bool is_triangle(const HostCsr<T>& F, bool lower) {
  for (int64_t i = 0; i < F.rows; ++i) {
    const int64_t begin = F.offsets[static_cast<size_t>(i)], end = F.offsets[static_cast<size_t>(i) + 1];
    if (!lower && (begin == end || F.indices[static_cast<size_t>(begin)] != i)) return false;
    for (int64_t p = begin; p < end; ++p) {
      const int64_t j = F.indices[static_cast<size_t>(p)];
      if (lower ? j >= i : j < i) return false;
      if (p > begin && j <= F.indices[static_cast<size_t>(p) - 1]) return false;
    }
  }
  return true;
}

/// Frobenius norm of L U - A, beside that of A.
template <class T>
long double distance(const HostCsr<T>& A, const Factors<T>& f) {
  ByColumn<Wide> differences, entries;
  const auto add = [](ByColumn<Wide>& sums, const HostCsr<T>& X, size_t row, const Wide& factor) {
    for (auto p = static_cast<size_t>(X.offsets[row]); p < static_cast<size_t>(X.offsets[row + 1]); ++p)
      sums[X.indices[p]] += times(factor, wide(X.values[p]));
  };
  long double off = 0, all = 0;
  for (size_t i = 0; i < static_cast<size_t>(A.rows); ++i) {
    add(entries, A, i, 1);
    add(differences, A, i, -1);
    add(differences, f.U, i, 1);
    for (auto p = static_cast<size_t>(f.L.offsets[i]); p < static_cast<size_t>(f.L.offsets[i + 1]); ++p)
      add(differences, f.U, static_cast<size_t>(f.L.indices[p]), wide(f.L.values[p]));
    for (const auto& [column, value] : differences.take()) off += std::norm(value);
    for (const auto& [column, value] : entries.take()) all += std::norm(value);
  }
  return std::sqrt(off / all);
}

template <class T>
int64_t below_diagonal(const HostCsr<T>& A) {
  ByColumn<char> row;
  int64_t count = 0;
  for (int64_t i = 0; i < A.rows; ++i) {
    for (auto p = static_cast<size_t>(A.offsets[static_cast<size_t>(i)]);
         p < static_cast<size_t>(A.offsets[static_cast<size_t>(i) + 1]); ++p)
      if (A.indices[p] < i) row[A.indices[p]] = 1;
    count += static_cast<int64_t>(row.take().size());
  }
  return count;
}

int64_t length(const HostCsr<double>& F, int64_t i) {
  return F.offsets[static_cast<size_t>(i) + 1] - F.offsets[static_cast<size_t>(i)];
}

/// Rows by has(i, j), whose sums and products are exact for a sweep or two: quarters, and powers of two as pivots.
template <class Has>
HostCsr<double> of_quarters(int64_t n, const Has& has) {
  HostCsr<double> A;
  A.rows = A.cols = n;
  A.offsets.assign(1, 0);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      const int64_t number = (7 * i + 13 * j + i * j) % 23;
      if (i != j && !has(i, j)) continue;
      A.indices.push_back(j);
      A.values.push_back(i == j ? 256.0 : static_cast<double>(number < 11 ? number - 11 : number - 10) / 4);
    }
    A.offsets.push_back(A.nnz());
  }
  return A;
}

void check_near(const HostCsr<double>& is, const HostCsr<double>& expected) {
  CHECK((is.offsets == expected.offsets));
  REQUIRE((is.indices == expected.indices));
  double off = 0;
  for (size_t p = 0; p < is.values.size(); ++p) off = std::max(off, std::abs(is.values[p] - expected.values[p]));
  CHECK(off < 1e-12);
}

/// Root mean square of b - A x, b = 1, after six times x += (L U)^-1 (b - A x), the last one not in it.
template <class T>
long double left_by_iterations(const Context& ctx, const HostCsr<T>& A) {
  const int64_t n = A.rows;
  const DeviceCsr<T> A_device(ctx, A, KKC_INDEX_32_32, 0);
  Plan plan;
  Matrix L, U;
  ok(kkc_ilut_plan(ctx, A_device, nullptr, plan.out()));
  ok(kkc_ilut_execute(plan, A_device, L.out(), U.out()));
  Array<T> data(ctx, std::vector<T>(static_cast<size_t>(n), T(0)));
  const View view = wrap(ctx, data.data(), {n});
  Plan lower, upper;
  ok(kkc_sptrsv_plan(ctx, KKC_OP_NONE, KKC_UPLO_LOWER, KKC_DIAG_UNIT, L, view, view, nullptr, lower.out()));
  ok(kkc_sptrsv_plan(ctx, KKC_OP_NONE, KKC_UPLO_UPPER, KKC_DIAG_STORED, U, view, view, nullptr, upper.out()));
  std::vector<Wide> x(static_cast<size_t>(n));
  long double norm = 0;
  for (int step = 0; step < 6; ++step) {
    std::vector<T> left(x.size());
    norm = 0;
    for (int64_t i = 0; i < n; ++i) {
      Wide sum = 1;
      for (auto p = static_cast<size_t>(A.offsets[static_cast<size_t>(i)]);
           p < static_cast<size_t>(A.offsets[static_cast<size_t>(i) + 1]); ++p)
        sum -= times(wide(A.values[p]), x[static_cast<size_t>(A.indices[p])]);
      norm += std::norm(sum);
      if constexpr (std::is_floating_point_v<T>)
        left[static_cast<size_t>(i)] = static_cast<T>(sum.real());
      else
        left[static_cast<size_t>(i)] = T(static_cast<float>(sum.real()), static_cast<float>(sum.imag()));
    }
    data.set(left);
    const T one(1);
    ok(kkc_sptrsv_execute(lower, &one, L, view, view));
    ok(kkc_sptrsv_execute(upper, &one, U, view, view));
    const std::vector<T> got = data.get();
    for (size_t i = 0; i < got.size(); ++i) x[i] += wide(got[i]);
  }
  return std::sqrt(norm / static_cast<long double>(n));
}

}  // namespace

TEMPLATE_TEST_CASE("ilut: with room for everything the factors are complete", "[ilut]", float, double,
                   std::complex<float>, std::complex<double>) {
  using T = TestType;
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "ilut")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    for (const Shape shape : all_shapes)
      for (const int64_t n : {0, 1, 2, 25}) {
        INFO("seed " << seed() << ' ' << name(visit.device) << ' ' << name(shape) << ' ' << n);
        const HostCsr<T> A = factorable<T>(random, shape, n, Form::lu);
        const Factors<T> f = factors(ctx, A, R"({"fill": 1e6, "iterations": 12, "sweeps": 30})", n % 2 == 0 ? 1 : 0);
        REQUIRE(f.status == KKC_STATUS_SUCCESS);
        CHECK(f.L.rows == n);
        CHECK(is_triangle(f.L, true));
        CHECK(is_triangle(f.U, false));
        if (n > 0) CHECK(distance(A, f) < 100 * epsilon<T>);
      }
  }
}

TEST_CASE("ilut: fill bounds the entries, and more of it brings the factors nearer to A", "[ilut]") {
  using T = double;
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "ilut")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    for (const Shape shape : {Shape::few, Shape::stencil, Shape::blocks}) {
      const HostCsr<T> A = factorable<T>(random, shape, 300, Form::lu);
      const int64_t lower = below_diagonal(A), upper = A.nnz() - lower - A.rows;
      long double last = 1e30L;
      for (const double fill : {0.3, 0.5, 1.0, 1.7, 2.0, 4.0}) {
        INFO("seed " << seed() << ' ' << name(shape) << " fill " << fill);
        const Factors<T> f = factors(ctx, A, R"({"sweeps": 20, "fill": )" + std::to_string(fill) + "}");
        REQUIRE(f.status == KKC_STATUS_SUCCESS);
        CHECK(is_triangle(f.L, true));
        CHECK(is_triangle(f.U, false));
        CHECK(static_cast<double>(f.L.nnz()) <= fill * static_cast<double>(lower));
        CHECK(static_cast<double>(f.U.nnz() - A.rows) <= fill * static_cast<double>(upper));
        CHECK(f.L.nnz() > 0);
        const long double now = distance(A, f);
        CHECK(now <= last);
        last = now;
      }
    }
  }
}

TEST_CASE("ilut: the same bits for every number of threads and in every run", "[ilut]") {
  using T = double;
  Random random(seed());
  const HostCsr<T> A = factorable<T>(random, Shape::blocks, 1500, Form::lu);
  std::vector<Factors<T>> hosts;
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "ilut")) continue;
    const Context ctx(visit.device, visit.options);
    std::vector<Factors<T>> own;  // GPUs round products and sums together
    std::vector<Factors<T>>& all = is_gpu(visit.device) ? own : hosts;
    for (int repeat = 0; repeat < 2; ++repeat) {
      all.push_back(factors(ctx, A, "{}"));
      REQUIRE(all.back().status == KKC_STATUS_SUCCESS);
      check_same(all.back().L, all.front().L);
      check_same(all.back().U, all.front().U);
    }
  }
}

TEST_CASE("ilut: every device's factors are as near to A as the first one's", "[ilut]") {
  using T = double;
  Random random(seed());
  for (const Shape shape : {Shape::few, Shape::stencil, Shape::blocks, Shape::power_law, Shape::unsorted_duplicates}) {
    const HostCsr<T> A = factorable<T>(random, shape, 400, Form::lu);
    long double first = -1;
    for (const Visit& visit : visits()) {
      if (!has_kernels<T>(visit.device, "ilut")) continue;
      INFO("seed " << seed() << ' ' << name(visit.device) << ' ' << name(shape));
      const Context ctx(visit.device, visit.options);
      const Factors<T> f = factors(ctx, A, R"({"fill": 1.5})", 1);
      REQUIRE(f.status == KKC_STATUS_SUCCESS);
      const long double now = distance(A, f);
      if (first < 0) first = now;
      CHECK(std::abs(now - first) <= 0.02L * first + 1e-12L);
    }
  }
}

TEST_CASE("ilut: rows whose candidates a GPU's tables do not hold", "[ilut]") {
  // An arrow that points up: the candidates of every row are all columns right of the first ones.
  using T = double;
  constexpr int64_t n = 3600, heads = 2;
  HostCsr<T> A;
  A.rows = A.cols = n;
  A.offsets.assign(1, 0);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j)
      if (j == i || i < heads || (j < heads && i >= n - 40)) {
        A.indices.push_back(j);
        A.values.push_back(i == j ? 100.0 : 1.0 / static_cast<double>(1 + (3 * i + 7 * j) % 89));
      }
    A.offsets.push_back(A.nnz());
  }
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "ilut")) continue;
    INFO(name(visit.device) << ' ' << visit.options);
    const Context ctx(visit.device, visit.options);
    const Factors<T> f = factors(ctx, A, R"({"fill": 1e6, "iterations": 1})");
    REQUIRE(f.status == KKC_STATUS_SUCCESS);
    CHECK(is_triangle(f.L, true));
    CHECK(is_triangle(f.U, false));
    // The last rows are full in the first iteration.
    for (int64_t i = n - 40; i < n; ++i) REQUIRE(length(f.L, i) + length(f.U, i) == n);
    CHECK(length(f.L, n / 2) + length(f.U, n / 2) == 1);
  }
}

TEST_CASE("ilut: zero pivots, numbers that are not finite, missing diagonals and other refusals", "[ilut]") {
  using T = double;
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "ilut")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    HostCsr<T> A = factorable<T>(random, Shape::stencil, 200, Form::lu);
    const DeviceCsr<T> A_device(ctx, A, KKC_INDEX_32_32, 0);
    Plan plan;
    CHECK(kkc_ilut_plan(ctx, A_device, Options(R"({"fill": -1})"), plan.out()) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(kkc_ilut_plan(ctx, A_device, Options(R"({"level": 1})"), plan.out()) == KKC_STATUS_UNKNOWN_OPTION);
    const HostCsr<T> lacking = factorable<T>(random, Shape::few, 60, Form::lu, 17);
    const DeviceCsr<T> lacking_device(ctx, lacking, KKC_INDEX_32_32, 0);
    CHECK(kkc_ilut_plan(ctx, lacking_device, nullptr, plan.out()) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK_THAT(kkc_last_error(), ContainsSubstring("no diagonal entry in row 17 "));

    const std::vector<T> good = A.values;
    const auto spoil = [&](int64_t row, bool whole, double value) {
      A.values = good;
      for (auto p = static_cast<size_t>(A.offsets[static_cast<size_t>(row)]);
           p < static_cast<size_t>(A.offsets[static_cast<size_t>(row) + 1]); ++p)
        if (whole || A.indices[p] == row) A.values[p] = value;
    };
    for (const int64_t row : {0, 57, 199}) {
      spoil(row, true, 0.0);
      CHECK(factors(ctx, A, "{}").status == KKC_STATUS_ZERO_PIVOT);
      CHECK_THAT(kkc_last_error(), ContainsSubstring("row " + std::to_string(row) + " "));
      CHECK(factors(ctx, A, R"({"pivot_boost": 1e-6, "boost_value": 1})").status == KKC_STATUS_SUCCESS);
      CHECK(factors(ctx, A, R"({"shift": 3})").status == KKC_STATUS_SUCCESS);
      spoil(row, false, std::numeric_limits<double>::quiet_NaN());
      CHECK(factors(ctx, A, "{}").status == KKC_STATUS_BREAKDOWN);
      CHECK_THAT(kkc_last_error(), ContainsSubstring("row " + std::to_string(row) + " "));
    }
  }
}

TEST_CASE("ilut: dense rows and columns make few candidates", "[ilut]") {
  // An arrow that points up, L U is full: one row has larger entries than all others together may keep.
  using T = double;
  constexpr int64_t n = 1500, heavy = 500, most = 64;  // of a row in each triangle: at least 64, here no more
  HostCsr<T> A;
  A.rows = A.cols = n;
  A.offsets.assign(1, 0);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j)
      if (j == i || i == 0 || j == 0) {
        A.indices.push_back(j);
        const double off = (i == heavy ? 1e5 : 1.0) / static_cast<double>(1 + (3 * i + 7 * j) % 89);
        A.values.push_back(i == j ? (i == 0 ? 2000.0 : i == heavy ? 4e5 : 4.0) : off);
      }
    A.offsets.push_back(A.nnz());
  }
  std::vector<Factors<T>> hosts;
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "ilut") || !has_kernels<T>(visit.device, "sptrsv")) continue;
    INFO(name(visit.device) << ' ' << visit.options);
    const Context ctx(visit.device, visit.options);
    CHECK(left_by_iterations(ctx, A) < 1e-3L);
    Random random(seed());
    CHECK(left_by_iterations(ctx, factorable<T>(random, Shape::power_law, 1200, Form::lu)) < 1e-3L);
    const Factors<T> f = factors(ctx, A, R"({"fill": 10, "iterations": 1})");
    REQUIRE(f.status == KKC_STATUS_SUCCESS);
    CHECK(is_triangle(f.L, true));
    CHECK(is_triangle(f.U, false));
    CHECK(length(f.U, 0) == n);
    for (int64_t i = 1; i < n; ++i) {
      REQUIRE(length(f.L, i) <= 1 + most);
      REQUIRE(length(f.U, i) <= 1 + most);
    }
    if (is_gpu(visit.device)) continue;  // other roundings
    hosts.push_back(f);
    check_same(f.L, hosts.front().L);
    check_same(f.U, hosts.front().U);
  }
}

TEST_CASE("ilut: every device takes the same candidates", "[ilut]") {
  using T = double;
  struct Way {
    const char* name;
    int64_t n;
    bool (*has)(int64_t i, int64_t j, int64_t n);
  };
  const Way ways[] = {
      {"arrow up", 3000, [](int64_t i, int64_t j, int64_t) { return i == 0 || j == 0; }},
      {"arrow down", 700, [](int64_t i, int64_t j, int64_t n) { return i == n - 1 || j == n - 1; }},
      // Rows of L and U with some more than 256 entries and with as many.
      {"heads and tails", 900,
       [](int64_t i, int64_t j, int64_t n) {
         return (i < 3 && j % 3 == 0) || (j < 3 && i % 5 != 1) || (i > n - 4 && j < 255 + (n - i)) ||
                (i * 7 + j) % 199 == 0;
       }},
      {"a hub", 1200,
       [](int64_t i, int64_t j, int64_t n) {
         return i == n / 3 || j == n / 3 || (i * i + 31 * j) % 307 == 5 || (3 * i + j * j) % 401 == 2;
       }},
      {"hubs", 700,
       [](int64_t i, int64_t j, int64_t) { return i % 140 == 9 || j % 140 == 9 || (i + 3 * j) % 233 == 5; }},
      // More candidates than a GPU stores at once, though no row offers more than it may.
      {"many heads", 10000,
       [](int64_t i, int64_t j, int64_t) {
         constexpr int64_t heads = 64;
         return i < heads ? j >= heads && (j * 2654435761 >> 7) % 160 == i : j < heads && (i * 40503 + j * 97) % 9 < 2;
       }},
  };
  for (const Way& way : ways) {
    const HostCsr<T> A = of_quarters(way.n, [&](int64_t i, int64_t j) { return way.has(i, j, way.n); });
    std::vector<Factors<T>> all;
    for (const Visit& visit : visits()) {
      if (!has_kernels<T>(visit.device, "ilut")) continue;
      INFO(name(visit.device) << ' ' << visit.options << ' ' << way.name);
      const Context ctx(visit.device, visit.options);
      all.push_back(factors(ctx, A, R"({"fill": 3, "iterations": 1, "sweeps": 0})"));
      REQUIRE(all.back().status == KKC_STATUS_SUCCESS);
      check_near(all.back().L, all.front().L);
      check_near(all.back().U, all.front().U);
    }
  }
}

TEMPLATE_TEST_CASE("ilut: iterations that its factors precondition converge", "[ilut]", double, std::complex<float>) {
  using T = TestType;
  for (const Visit& visit : visits()) {
    if (!has_kernels<T>(visit.device, "ilut") || !has_kernels<T>(visit.device, "sptrsv")) continue;
    Random random(seed());
    for (const Shape shape : {Shape::stencil, Shape::blocks}) {
      INFO("seed " << seed() << ' ' << name(visit.device) << ' ' << name(shape));
      const Context ctx(visit.device, visit.options);
      const HostCsr<T> A = factorable<T>(random, shape, 500, Form::lu);
      CHECK(left_by_iterations(ctx, A) < 1e-3L);
    }
  }
}
