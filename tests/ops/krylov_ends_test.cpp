// krylov: how solutions end that a preconditioner stops, that are long, that rounding or the range of numbers bounds.
#include <algorithm>
#include <cmath>
#include <sstream>

#include "support/krylov_case.hpp"

using namespace kkc_test;

namespace {

const char* const methods[] = {"cg", "bicgstab", "gmres"};

std::string options_of(const std::string& method, const std::string& more) {
  return R"({"method": ")" + method + "\", " + more + "}";
}

/// The identity, until calls of number `first` to `last` fail.
struct Failing {
  kkc_context_t* ctx;
  int first, last, calls = 0;

  static kkc_status_t apply(void* user, const kkc_view_t* r, kkc_view_t* z) {
    auto* const self = static_cast<Failing*>(user);
    const double one = 1, zero = 0, worse = 1e30;
    const int call = ++self->calls;
    const bool fails = call >= self->first && call <= self->last;
    const kkc_status_t status = kkc_axpby(self->ctx, fails ? &worse : &one, r, &zero, z);
    return fails ? 42 : status;
  }
};

/// A chain: what b has at its end, cg finds at the other in as many iterations as there are rows.
HostCsr<double> chain(int64_t n) {
  HostCsr<double> A;
  A.rows = A.cols = n;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = std::max<int64_t>(i - 1, 0); j <= std::min(i + 1, n - 1); ++j) {
      A.indices.push_back(j);
      A.values.push_back(i == j ? 2 : -1);
    }
    A.offsets.push_back(A.nnz());
  }
  return A;
}

}  // namespace

TEST_CASE("krylov: a preconditioner that fails leaves x as good as it got", "[krylov]") {
  Random random(37);
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    const Context ctx(device);
    for (const std::string method : methods)
      for (const int64_t stride : {1, 2})
        for (const int first : {1, 2, 3, 8, 20})
          for (const bool lasting : {false, true}) {
            INFO(name(device) << ' ' << method << ' ' << stride << ' ' << first << ' ' << lasting);
            const HostCsr<double> host = grid_system<double>(random, 30, method == "cg", 0.001);
            const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0);
            const std::vector<double> b = random_vector<double>(random, 900), start(900, 0.25);
            const Unknowns<double> u(ctx, b, start, stride), other(ctx, b, start, stride);
            Plan plan;
            ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view, Options(options_of(method, R"("restart": 12)")),
                               plan.out()));
            Failing failing{ctx, first, lasting ? 1 << 30 : first};
            ok(kkc_krylov_set_callback(plan, &Failing::apply, &failing));
            const Outcome outcome = solve(plan, A, u.b_view, u.x_view);
            CHECK(outcome.status == KKC_STATUS_BREAKDOWN);
            CHECK(says(outcome.sentence, "callback returned 42"));
            REQUIRE(outcome.history.size() == static_cast<size_t>(outcome.iterations) + 1);
            kkc_status_t status = 0;
            ok(kkc_krylov_result(plan, &status, nullptr, nullptr));
            CHECK(status == KKC_STATUS_BREAKDOWN);
            const double residual = residual_of(host, u.x(), b);
            CHECK(std::abs(residual / outcome.residual - 1) < 1e-6);
            CHECK(u.gaps_kept);
            // gmres needs M once more for what the last basis brings.
            if (method == "gmres" && lasting) {
              CHECK(residual <= residual_of(host, start, b) * (1 + 1e-12));
              continue;
            }
            const double least = *std::min_element(outcome.history.begin(), outcome.history.end());
            if (method != "cg") CHECK(std::abs(residual / least - 1) < 1e-6);
            // The same x as after so many iterations that are asked for.
            Plan few;
            ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view,
                               Options(options_of(method, R"("restart": 12, "max_iterations": )" +
                                                              std::to_string(outcome.iterations))),
                               few.out()));
            const std::vector<double> asked = solve(few, A, other.b_view, other.x_view).history;
            REQUIRE(asked.size() == outcome.history.size());
            for (size_t k = 0; k < asked.size(); ++k) CHECK(std::abs(asked[k] / outcome.history[k] - 1) < 1e-12);
            const std::vector<double> got = u.x(), expected = other.x();
            double difference = 0;
            for (size_t i = 0; i < got.size(); ++i) difference = std::max(difference, std::abs(got[i] - expected[i]));
            CHECK(difference < 1e-12);
          }
  }
}

TEST_CASE("krylov: failures behind the end count for nothing", "[krylov]") {
  Random random(41);
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    const Context ctx(device);
    for (const std::string method : methods)
      for (const std::string every : {"1", "64"}) {
        if (method == "gmres" && every == "1") continue;
        INFO(name(device) << ' ' << method << ' ' << every);
        const HostCsr<double> host = grid_system<double>(random, 12, method == "cg", 0.5);
        const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0);
        const std::vector<double> b = random_vector<double>(random, 144);
        Unknowns<double> u(ctx, b, std::vector<double>(144));
        Plan one, plan;
        ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view, Options(options_of(method, R"("check_every": 1)")), one.out()));
        Failing never{ctx, 0, -1};
        ok(kkc_krylov_set_callback(one, &Failing::apply, &never));
        const Outcome expected = solve(one, A, u.b_view, u.x_view);
        REQUIRE(expected.status == KKC_STATUS_SUCCESS);
        u.set_x(std::vector<double>(144));
        ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view, Options(options_of(method, "\"check_every\": " + every)),
                           plan.out()));
        // gmres needs M once more, for the correction.
        const auto needed = static_cast<int>(expected.iterations) * (method == "bicgstab" ? 2 : 1);
        Failing failing{ctx, needed + 1, method == "gmres" ? needed + 1 : 1 << 30};
        ok(kkc_krylov_set_callback(plan, &Failing::apply, &failing));
        const Outcome outcome = solve(plan, A, u.b_view, u.x_view);
        CHECK(outcome.status == KKC_STATUS_SUCCESS);
        CHECK(outcome.iterations == expected.iterations);
        CHECK(outcome.residual == expected.residual);
      }
  }
}

TEST_CASE("krylov: long histories, and workspaces that do not grow with them", "[krylov]") {
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    INFO(name(device));
    const Context ctx(device);
    const int64_t n = 4200;
    const DeviceCsr<double> A(ctx, chain(n), KKC_INDEX_32_32, 0);
    std::vector<double> b(static_cast<size_t>(n));
    b[0] = 1;
    const Unknowns<double> u(ctx, b, b);
    const auto with = [&](const std::string& more) {
      Plan plan;
      ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view, Options(options_of("cg", R"("guess": "zero", )" + more)),
                         plan.out()));
      size_t bytes = 0;
      ok(kkc_plan_workspace_size(plan, &bytes));
      CHECK(bytes < 4 * n * sizeof(double) + (size_t{64} << 10));
      return solve(plan, A, u.b_view, u.x_view);
    };
    const Outcome whole = with(R"("max_iterations": 4294967296, "check_every": 64)");
    CHECK(whole.status == KKC_STATUS_SUCCESS);
    REQUIRE(whole.history.size() == static_cast<size_t>(whole.iterations) + 1);
    REQUIRE(whole.iterations > 4100);
    CHECK(whole.history.front() == 1);
    for (const int64_t most : {4095, 4096, 4097})
      for (const std::string every : {"64", "1000000"}) {
        if (most == 4097 && every == "64") continue;
        INFO(most << ' ' << every);
        const Outcome part = with("\"max_iterations\": " + std::to_string(most) + ", \"check_every\": " + every);
        CHECK(part.status == KKC_STATUS_NO_CONVERGENCE);
        REQUIRE(part.iterations == most);
        CHECK(std::equal(part.history.begin(), part.history.end(), whole.history.begin()));
      }
  }
}

namespace {

/// Bounds near what the type resolves: what is called a solution meets them.
template <class T>
void check_bounds(const Context& ctx, Random& random, double least, int trials) {
  int met = 0;
  for (int trial = 0; trial < trials; ++trial)
    for (const std::string method : methods) {
      const HostCsr<T> host = grid_system<T>(random, 14, method == "cg", 0.02);
      const DeviceCsr<T> A(ctx, host, KKC_INDEX_32_32, 0);
      const std::vector<T> b = random_vector<T>(random, 196);
      const Unknowns<T> u(ctx, b, std::vector<T>(196));
      const double tolerance = least * std::pow(1.25, trial);
      INFO(method << ' ' << tolerance);
      Plan plan;
      std::ostringstream more;
      more << R"("max_iterations": 2000, "tolerance": )" << tolerance;
      ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view, Options(options_of(method, more.str())), plan.out()));
      const Outcome outcome = solve(plan, A, u.b_view, u.x_view);
      if (outcome.status != KKC_STATUS_SUCCESS) {
        CHECK(outcome.status >= 100);
        continue;
      }
      ++met;
      CHECK(outcome.residual <= tolerance * norm_of(b) * (1 + 1e-6));
    }
  CHECK(met > trials / 2);
}

}  // namespace

TEST_CASE("krylov: a solution's residual is at most the bound", "[krylov]") {
  Random random(43);
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const Context ctx(device);
    if (has_kernels<double>(device)) check_bounds<double>(ctx, random, 1e-16, 32);
    if (has_kernels<float>(device)) check_bounds<float>(ctx, random, 1e-7, 32);
    if (has_kernels<std::complex<float>>(device)) check_bounds<std::complex<float>>(ctx, random, 1e-7, 32);
  }
}

namespace {

/// A and b times numbers near the ends of the type's range have the same solution but for its size.
template <class T>
void check_scales(const Context& ctx, Random& random, const std::vector<std::pair<double, double>>& scales,
                  double tolerance) {
  using Real = decltype(std::abs(T()));
  for (const auto& [of_A, of_b] : scales)
    for (const std::string method : methods)
      for (const bool jacobi : {false, true}) {
        INFO(method << " jacobi " << jacobi << ", A times " << of_A << ", b times " << of_b);
        const HostCsr<T> host = grid_system<T>(random, 8, method == "cg", 1);
        HostCsr<T> scaled = host;
        for (T& v : scaled.values) v *= static_cast<Real>(of_A);
        const std::vector<T> b = random_vector<T>(random, 64);
        std::vector<T> scaled_b = b;
        for (T& v : scaled_b) v *= static_cast<Real>(of_b);
        const DeviceCsr<T> A(ctx, scaled, KKC_INDEX_32_32, 0);
        const Unknowns<T> u(ctx, scaled_b, std::vector<T>(64), 2);
        Plan plan;
        ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view, Options(options_of(method, R"("max_iterations": 500)")),
                           plan.out()));
        if (jacobi) ok(kkc_krylov_set_preconditioner(plan, KKC_PRECONDITIONER_JACOBI, nullptr, nullptr, nullptr));
        const Outcome outcome = solve(plan, A, u.b_view, u.x_view);
        INFO(outcome.sentence);
        CHECK(outcome.status == KKC_STATUS_SUCCESS);
        REQUIRE(!outcome.history.empty());
        CHECK(std::abs(outcome.history.front() / of_b / norm_of(b) - 1) < 1e-5);
        CHECK(outcome.residual / of_b <= tolerance * norm_of(b) * (1 + 1e-5));
        std::vector<T> x = u.x();
        for (T& v : x) v = static_cast<T>(std::complex<double>(v).real() * of_A / of_b);
        if constexpr (!is_complex_type<T>) CHECK(residual_of(host, x, b) <= 2 * tolerance * norm_of(b));
      }
}

}  // namespace

TEST_CASE("krylov: numbers whose squares leave the range", "[krylov]") {
  Random random(47);
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const Context ctx(device);
    const std::vector<std::pair<double, double>> wide{
        {1e200, 1},     {1e-200, 1},      {1e100, 1},      {1e-100, 1},     {1, 1e100}, {1, 1e-100},
        {1e100, 1e100}, {1e-100, 1e-100}, {1e-100, 1e100}, {1e100, 1e-100}, {1, 1e135}, {1, 1e-130}},
        narrow{{1e30, 1}, {1e-30, 1}, {1, 1e30}, {1, 1e-32}, {1e20, 1e20}, {1e-20, 1e-20}, {1e-15, 1e15}};
    if (has_kernels<double>(device)) check_scales<double>(ctx, random, wide, 1e-8);
    if (has_kernels<float>(device)) check_scales<float>(ctx, random, narrow, 1e-5);
    if (has_kernels<std::complex<double>>(device)) check_scales<std::complex<double>>(ctx, random, wide, 1e-8);
    if (!has_kernels<double>(device)) continue;
    // Where neither x nor its residual's square is a number, x stays as it was or becomes zero.
    for (const std::string method : methods) {
      INFO(method);
      HostCsr<double> host = grid_system<double>(random, 8, method == "cg", 1);
      DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0);
      const std::vector<double> b = random_vector<double>(random, 64), far(64, 1e200);
      Unknowns<double> u(ctx, b, far);
      Plan plan;
      ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view, Options(options_of(method, R"("restart": 5)")), plan.out()));
      Outcome outcome = solve(plan, A, u.b_view, u.x_view);
      CHECK(outcome.status == KKC_STATUS_BREAKDOWN);
      CHECK(says(outcome.sentence, "leave the range of f64"));
      CHECK(u.x() == far);
      CHECK(std::isfinite(outcome.residual));
      // The solution is beyond the largest number.
      std::vector<double> tiny = host.values, large = b;
      for (double& v : tiny) v *= 1e-250;
      for (double& v : large) v *= 1e100;
      A.values().set(tiny);
      u.set_b(large);
      u.set_x(std::vector<double>(64));
      outcome = solve(plan, A, u.b_view, u.x_view);
      CHECK(outcome.status == KKC_STATUS_BREAKDOWN);
      CHECK(u.x() == std::vector<double>(64));
      CHECK(std::abs(outcome.residual / norm_of(large) - 1) < 1e-12);
    }
  }
}
