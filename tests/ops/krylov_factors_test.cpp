// krylov: preconditioners that are factors, against dense factorizations.
#include "support/krylov_case.hpp"

using namespace kkc_test;

namespace {

/// Doolittle's L U of a matrix, or L L^H, in one dense array by rows; no pivoting.
template <class T>
std::vector<std::complex<double>> factor(const HostCsr<T>& A, bool cholesky) {
  const auto n = static_cast<size_t>(A.rows);
  std::vector<std::complex<double>> a(n * n);
  for (size_t i = 0; i < n; ++i)
    for (int64_t p = A.offsets[i]; p < A.offsets[i + 1]; ++p)
      a[i * n + static_cast<size_t>(A.indices[static_cast<size_t>(p)])] += A.values[static_cast<size_t>(p)];
  for (size_t k = 0; k < n; ++k)
    for (size_t i = k + 1; i < n; ++i) {
      a[i * n + k] /= a[k * n + k];
      for (size_t j = k + 1; j < n; ++j) a[i * n + j] -= a[i * n + k] * a[k * n + j];
    }
  if (cholesky)
    for (size_t k = 0; k < n; ++k) {
      const double root = std::sqrt(a[k * n + k].real());
      a[k * n + k] = root;
      for (size_t i = k + 1; i < n; ++i) a[i * n + k] *= root;
    }
  return a;
}

/// The entries of a dense array that `keep(i, j)` wants.
template <class T, class Keep>
HostCsr<T> part_of(const std::vector<std::complex<double>>& a, size_t n, const Keep& keep) {
  HostCsr<T> A;
  A.rows = A.cols = static_cast<int64_t>(n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      if (!keep(i, j)) continue;
      A.indices.push_back(static_cast<int64_t>(j));
      const std::complex<double> e = a[i * n + j];
      if constexpr (is_complex_type<T>)
        A.values.push_back(
            T(static_cast<typename T::value_type>(e.real()), static_cast<typename T::value_type>(e.imag())));
      else
        A.values.push_back(static_cast<T>(e.real()));
    }
    A.offsets.push_back(A.nnz());
  }
  return A;
}

const auto everywhere = [](size_t, size_t) { return true; };
const auto below = [](size_t i, size_t j) { return j < i; };
const auto lower = [](size_t i, size_t j) { return j <= i; };
const auto upper = [](size_t i, size_t j) { return j >= i; };

}  // namespace

TEST_CASE("krylov: exact factors leave nothing to iterate", "[krylov]") {
  Random random(seed());
  for_all_types("krylov", [&]<class T>(T, kkc_device_t device, kkc_index_pair_t pair) {
    using R = typename RealOf<T>::type;
    const Context ctx(device);
    const double tolerance = sizeof(R) == 4 ? 1e-4 : 1e-10;
    const HostCsr<T> hermitian = grid_system<T>(random, 8, true, 0.3), other = grid_system<T>(random, 8, false, 0.3);
    const auto l = factor(hermitian, true), lu = factor(other, false);
    const auto base = static_cast<int32_t>(random() % 2);
    const DeviceCsr<T> A(ctx, hermitian, pair, 0), B(ctx, other, pair, 0), L(ctx, part_of<T>(l, 64, lower), pair, base),
        LU(ctx, part_of<T>(lu, 64, everywhere), pair, base), strict(ctx, part_of<T>(lu, 64, below), pair, base),
        U(ctx, part_of<T>(lu, 64, upper), pair, base);
    const std::vector<T> b = random_vector<T>(random, 64);
    for (const std::string method : {"cg", "bicgstab", "gmres"})
      for (const char* values : {"any", "kept"}) {
        const bool cg = method == "cg";
        for (const int separate : {0, 1}) {
          if (cg && separate == 1) continue;
          INFO(method << ' ' << values << ' ' << separate);
          const Unknowns<T> u(ctx, b, std::vector<T>(64));
          Plan plan;
          ok(kkc_krylov_plan(
              ctx, cg ? A : B, u.b_view, u.x_view,
              Options(R"({"method": ")" + method + R"(", "tolerance": )" + (sizeof(R) == 4 ? "1e-4" : "1e-10") + "}"),
              plan.out()));
          const Options options(std::string(R"({"values": ")") + values + "\"}");
          ok(kkc_krylov_set_preconditioner(plan, cg ? KKC_PRECONDITIONER_CHOLESKY : KKC_PRECONDITIONER_LU,
                                           cg              ? L
                                           : separate == 1 ? strict
                                                           : LU,
                                           separate == 1 ? static_cast<kkc_matrix_t*>(U) : nullptr, options));
          const Outcome outcome = solve(plan, cg ? A : B, u.b_view, u.x_view);
          INFO(outcome.sentence);
          CHECK(outcome.status == KKC_STATUS_SUCCESS);
          CHECK(outcome.iterations <= 2);
          CHECK(residual_of(cg ? hermitian : other, u.x(), b) <= 1.2 * tolerance * norm_of(b));
        }
      }
  });
}

TEST_CASE("krylov: factors may change their values and lose their handles", "[krylov]") {
  Random random(5);
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    INFO(name(device));
    const Context ctx(device);
    const HostCsr<double> host = grid_system<double>(random, 7, false, 0.1);
    HostCsr<double> scaled = host;
    for (size_t i = 0; i < 49; ++i)
      for (int64_t p = host.offsets[i]; p < host.offsets[i + 1]; ++p)
        if (host.indices[static_cast<size_t>(p)] == static_cast<int64_t>(i)) scaled.values[static_cast<size_t>(p)] *= 2;
    DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0);
    const HostCsr<double> first = part_of<double>(factor(host, false), 49, everywhere),
                          second = part_of<double>(factor(scaled, false), 49, everywhere);
    std::vector<int32_t> offsets(first.offsets.begin(), first.offsets.end()),
        indices(first.indices.begin(), first.indices.end());
    Matrix LU;
    ok(kkc_csr_create_copy(ctx, 49, 49, first.nnz(), KKC_INDEX_32_32, KKC_TYPE_F64, 0, offsets.data(), indices.data(),
                           first.values.data(), LU.out()));
    void* values = nullptr;
    ok(kkc_csr_get(LU, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &values));
    const std::vector<double> b = random_vector<double>(random, 49);
    const Unknowns<double> u(ctx, b, std::vector<double>(49));
    Plan plan;
    ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view, Options(R"({"method": "gmres", "guess": "zero"})"), plan.out()));
    ok(kkc_krylov_set_preconditioner(plan, KKC_PRECONDITIONER_LU, LU, nullptr, nullptr));
    LU.reset();
    CHECK(solve(plan, A, u.b_view, u.x_view).iterations <= 2);
    A.values().set(scaled.values);
    CHECK(solve(plan, A, u.b_view, u.x_view).iterations > 4);  // the factors are those of the values before
    const auto direction = is_gpu(device) ? KKC_COPY_HOST_TO_DEVICE : KKC_COPY_HOST_TO_HOST;
    ok(kkc_copy(ctx, values, second.values.data(), second.values.size() * sizeof(double), direction));
    CHECK(solve(plan, A, u.b_view, u.x_view).iterations <= 2);
    CHECK(residual_of(scaled, u.x(), b) <= 1.1e-8 * norm_of(b));

    std::vector<double> spoiled = second.values;
    spoiled[3 * 49 + 3] = 0;
    ok(kkc_copy(ctx, values, spoiled.data(), spoiled.size() * sizeof(double), direction));
    Outcome outcome = solve(plan, A, u.b_view, u.x_view);
    CHECK(outcome.status == KKC_STATUS_ZERO_PIVOT);
    CHECK(says(outcome.sentence, "M's diagonal is zero in row 3"));
    spoiled[3 * 49 + 3] = not_a_number<double>();
    ok(kkc_copy(ctx, values, spoiled.data(), spoiled.size() * sizeof(double), direction));
    outcome = solve(plan, A, u.b_view, u.x_view);
    CHECK(outcome.status == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(says(outcome.sentence, "M holds NaN or infinity in row 3, column 3"));
  }
}

TEST_CASE("krylov: factors that do not fit", "[krylov]") {
  Random random(7);
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    INFO(name(device));
    const Context ctx(device);
    const HostCsr<double> host = grid_system<double>(random, 3, true, 1);
    const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0),
        small(ctx, grid_system<double>(random, 2, true, 1), KKC_INDEX_32_32, 0),
        strict(ctx, part_of<double>(factor(host, false), 9, below), KKC_INDEX_32_32, 0);
    const Unknowns<double> u(ctx, std::vector<double>(9, 1.0), std::vector<double>(9));
    Plan plan;
    ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view, nullptr, plan.out()));
    const auto refused = [&](kkc_status_t status, kkc_preconditioner_t kind, const kkc_matrix_t* M,
                             const kkc_matrix_t* U, const std::string& part) {
      CHECK(kkc_krylov_set_preconditioner(plan, kind, M, U, nullptr) == status);
      CHECK(says(kkc_last_error(), part));
    };
    refused(KKC_STATUS_NULL_POINTER, KKC_PRECONDITIONER_LU, nullptr, nullptr, "M is NULL");
    refused(KKC_STATUS_SIZE_MISMATCH, KKC_PRECONDITIONER_CHOLESKY, small, nullptr,
            "M is 4 x 4, expected the size of A, 9 x 9");
    refused(KKC_STATUS_INVALID_ARGUMENT, KKC_PRECONDITIONER_CHOLESKY, A, A, "U is given");
    refused(KKC_STATUS_INVALID_ARGUMENT, KKC_PRECONDITIONER_CHOLESKY, strict, nullptr, "no diagonal entry in row 0");
    refused(KKC_STATUS_INVALID_ARGUMENT, KKC_PRECONDITIONER_NONE, A, nullptr, "M is given");
    // What was refused changed nothing.
    CHECK(solve(plan, A, u.b_view, u.x_view).status == KKC_STATUS_SUCCESS);
  }
}

TEST_CASE("krylov: incomplete factors halve the iterations of jacobi on grids", "[krylov][ilu]") {
  struct Grid {
    const char *name, *size;
  };
  struct Way {
    const char *method, *factor;
  };
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    const Context ctx(device);
    for (const Grid& grid :
         {Grid{"lap2d5", R"({"nx": 60, "ny": 60})"}, Grid{"lap3d7", R"({"nx": 18, "ny": 18, "nz": 18})"},
          Grid{"lap3d27", R"({"nx": 18, "ny": 18, "nz": 18})"}})
      for (const Way& way : {Way{"cg", "ic"}, Way{"bicgstab", "0"}, Way{"gmres", "1"}}) {
        INFO(name(device) << ' ' << grid.name << ' ' << way.method);
        Matrix A, factor;
        ok(kkc_matrix_generate(ctx, grid.name, Options(grid.size), KKC_INDEX_32_32, KKC_TYPE_F64, A.out()));
        int64_t rows = 0;
        ok(kkc_csr_get(A, &rows, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr));
        Random random(31);
        const Unknowns<double> u(ctx, random_vector<double>(random, static_cast<size_t>(rows)),
                                 std::vector<double>(static_cast<size_t>(rows)));
        Plan factorization, plan;
        const bool cholesky = way.factor[0] == 'i';
        ok(cholesky
               ? kkc_ic_plan(ctx, A, nullptr, factorization.out())
               : kkc_ilu_plan(ctx, A, Options(std::string(R"({"level": )") + way.factor + "}"), factorization.out()));
        ok(kkc_plan_create_output(factorization, factor.out()));
        ok(cholesky ? kkc_ic_execute(factorization, A, factor) : kkc_ilu_execute(factorization, A, factor));
        ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view,
                           Options(std::string(R"({"guess": "zero", "restart": 50, "method": ")") + way.method + "\"}"),
                           plan.out()));
        ok(kkc_krylov_set_preconditioner(plan, KKC_PRECONDITIONER_JACOBI, nullptr, nullptr, nullptr));
        const Outcome jacobi = solve(plan, A, u.b_view, u.x_view);
        REQUIRE(jacobi.status == KKC_STATUS_SUCCESS);
        ok(kkc_krylov_set_preconditioner(plan, cholesky ? KKC_PRECONDITIONER_CHOLESKY : KKC_PRECONDITIONER_LU, factor,
                                         nullptr, nullptr));
        const Outcome factors = solve(plan, A, u.b_view, u.x_view);
        REQUIRE(factors.status == KKC_STATUS_SUCCESS);
        INFO(jacobi.iterations << " with jacobi, " << factors.iterations << " with factors");
        CHECK(2 * factors.iterations <= jacobi.iterations);
      }
  }
}
