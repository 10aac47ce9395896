// krylov: solutions against known ones, on every device, for every type, method and preconditioner.
#include <cmath>

#include "support/krylov_case.hpp"

using namespace kkc_test;

namespace {

const char* const methods[] = {"cg", "bicgstab", "gmres"};

std::string options_of(const std::string& method, const std::string& more = "") {
  return R"({"method": ")" + method + "\"" + (more.empty() ? "" : ", " + more) + "}";
}

/// z = r / 2, by the library itself.
struct Halving {
  kkc_context_t* ctx;
  std::complex<double> wide{0.5, 0}, wide_zero{0, 0};
  std::complex<float> narrow{0.5f, 0}, narrow_zero{0, 0};
  int calls = 0;

  static kkc_status_t apply(void* user, const kkc_view_t* r, kkc_view_t* z) {
    auto* const self = static_cast<Halving*>(user);
    ++self->calls;
    kkc_scalar_t scalar = 0;
    int32_t rank = 0;
    int64_t stride = 0;
    if (kkc_view_get(r, &scalar, &rank, nullptr, &stride, nullptr, nullptr, nullptr) != 0 || rank != 1 || stride != 1)
      return 77;
    const bool single = scalar == KKC_TYPE_F32 || scalar == KKC_TYPE_C64;
    const void* half = single ? static_cast<const void*>(&self->narrow) : &self->wide;
    const void* none = single ? static_cast<const void*>(&self->narrow_zero) : &self->wide_zero;
    return kkc_axpby(self->ctx, half, r, none, z);
  }
};

}  // namespace

TEST_CASE("krylov: methods and preconditioners find known solutions", "[krylov]") {
  Random random(seed());
  for_all_types("krylov", [&]<class T>(T, kkc_device_t device, kkc_index_pair_t pair) {
    using R = typename RealOf<T>::type;
    const Context ctx(device);
    const double tolerance = sizeof(R) == 4 ? 1e-4 : 1e-10;
    for (const std::string method : methods)
      for (const int kind : {0, 1, 2})
        for (const int64_t stride : {1, 3}) {
          INFO(method << " preconditioner " << kind << " stride " << stride);
          const HostCsr<T> host = grid_system<T>(random, 23, method == "cg", 0.3);
          const DeviceCsr<T> A(ctx, host, pair, static_cast<int32_t>(random() % 2));
          const std::vector<T> known = random_vector<T>(random, static_cast<size_t>(host.rows));
          const std::vector<T> b = times_vector(host, known);
          const bool zero = random() % 2 == 0;
          const Unknowns<T> u(ctx, b, std::vector<T>(b.size(), zero ? not_a_number<T>() : T(1)), stride);
          Plan plan;
          ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view,
                             Options(options_of(method, "\"tolerance\": " + std::to_string(tolerance * 1e10) +
                                                            "e-10, \"guess\": \"" + (zero ? "zero" : "given") + "\"")),
                             plan.out()));
          Halving halving{ctx};
          if (kind == 1) ok(kkc_krylov_set_preconditioner(plan, KKC_PRECONDITIONER_JACOBI, nullptr, nullptr, nullptr));
          if (kind == 2) ok(kkc_krylov_set_callback(plan, &Halving::apply, &halving));
          const Outcome outcome = solve(plan, A, u.b_view, u.x_view);
          INFO(outcome.sentence);
          REQUIRE(outcome.status == KKC_STATUS_SUCCESS);
          const std::vector<T> x = u.x();
          CHECK(u.gaps_kept);
          CHECK(residual_of(host, x, b) <= 1.2 * tolerance * norm_of(b));
          std::vector<T> error = known;
          for (size_t i = 0; i < x.size(); ++i) error[i] -= x[i];
          CHECK(norm_of(error) <= 60 * tolerance * norm_of(known));
          CHECK(outcome.iterations > 5);
          CHECK((kind == 2) == (halving.calls >= outcome.iterations));
          REQUIRE(outcome.history.size() == static_cast<size_t>(outcome.iterations) + 1);
          CHECK(outcome.history.back() == outcome.residual);
          CHECK(outcome.residual <= 1.1 * tolerance * norm_of(b));
          const std::vector<T> start(b.size(), zero ? T(0) : T(1));
          CHECK(std::abs(outcome.history.front() / residual_of(host, start, b) - 1) < 1e-4);
        }
  });
}

TEST_CASE("krylov: residuals of gmres do not grow, and those of restarts go on", "[krylov]") {
  Random random(7);
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    INFO(name(device));
    const Context ctx(device);
    const HostCsr<double> host = grid_system<double>(random, 30, false, 0.02);
    const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0);
    const std::vector<double> b = random_vector<double>(random, 900);
    int64_t whole = 0;
    for (const int restart : {900, 20, 7, 1}) {
      INFO("restart " << restart);
      const Unknowns<double> u(ctx, b, std::vector<double>(900));
      Plan plan;
      ok(kkc_krylov_plan(
          ctx, A, u.b_view, u.x_view,
          Options(options_of("gmres", "\"restart\": " + std::to_string(restart) + ", \"max_iterations\": 3000")),
          plan.out()));
      const Outcome outcome = solve(plan, A, u.b_view, u.x_view);
      INFO(outcome.sentence);
      REQUIRE(outcome.status == KKC_STATUS_SUCCESS);
      for (size_t k = 1; k < outcome.history.size(); ++k)
        CHECK(outcome.history[k] <= outcome.history[k - 1] * (1 + 1e-10));
      if (restart == 900) whole = outcome.iterations;
      CHECK(outcome.iterations >= whole);
      CHECK(residual_of(host, u.x(), b) <= 1.1e-8 * norm_of(b));
    }
  }
}

TEST_CASE("krylov: exact arithmetic's number of iterations", "[krylov]") {
  // k distinct eigenvalues: cg and gmres end after k iterations, gmres of a cycle after its length.
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    INFO(name(device));
    const Context ctx(device);
    HostCsr<double> host;
    host.rows = host.cols = 1000;
    for (int64_t i = 0; i < 1000; ++i) {
      host.indices.push_back(i);
      host.values.push_back(static_cast<double>(1 + i % 4));
      host.offsets.push_back(i + 1);
    }
    const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 1);
    HostCsr<double> cycle = host;
    cycle.values.assign(1000, 1.0);
    for (int64_t i = 0; i < 1000; ++i) cycle.indices[static_cast<size_t>(i)] = i < 5 ? (i + 1) % 5 : i;
    const DeviceCsr<double> C(ctx, cycle, KKC_INDEX_32_32, 0);
    const std::vector<double> b(1000, 1.0);
    std::vector<double> first(1000, 0.0);
    first[0] = 1;
    const Unknowns<double> u(ctx, b, std::vector<double>(1000)), v(ctx, first, std::vector<double>(1000));
    for (const std::string method : methods) {
      INFO(method);
      Plan plan;
      ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view, Options(options_of(method, R"("guess": "zero")")), plan.out()));
      const Outcome outcome = solve(plan, A, u.b_view, u.x_view);
      CHECK(outcome.status == KKC_STATUS_SUCCESS);
      CHECK(outcome.iterations <= 4);
      if (method != "bicgstab") CHECK(outcome.iterations == 4);
      ok(kkc_krylov_set_preconditioner(plan, KKC_PRECONDITIONER_JACOBI, nullptr, nullptr, nullptr));
      CHECK(solve(plan, A, u.b_view, u.x_view).iterations == 1);
      // With the solution as the guess there is nothing to do.
      Plan given;
      ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view, Options(options_of(method)), given.out()));
      CHECK(solve(given, A, u.b_view, u.x_view).iterations == 0);
      ok(kkc_krylov_set_preconditioner(plan, KKC_PRECONDITIONER_NONE, nullptr, nullptr, nullptr));
      CHECK(solve(plan, A, u.b_view, u.x_view).iterations == outcome.iterations);
    }
    Plan plan;
    ok(kkc_krylov_plan(ctx, C, v.b_view, v.x_view, Options(options_of("gmres", R"("guess": "zero")")), plan.out()));
    const Outcome outcome = solve(plan, C, v.b_view, v.x_view);
    CHECK(outcome.status == KKC_STATUS_SUCCESS);
    CHECK(outcome.iterations == 5);
    CHECK(outcome.history[4] == 1.0);
    std::vector<double> expected(1000, 0.0);
    expected[1] = 1;
    CHECK(v.x() == expected);
  }
}

TEST_CASE("krylov: looking seldom changes nothing", "[krylov]") {
  Random random(11);
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    const Context ctx(device);
    for (const std::string method : methods)
      for (const bool jacobi : {false, true}) {
        INFO(name(device) << ' ' << method << ' ' << jacobi);
        const HostCsr<double> host = grid_system<double>(random, 70, method == "cg", 0.1);
        const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0);
        const std::vector<double> b = random_vector<double>(random, 4900);
        std::vector<double> x;
        Outcome first{};
        for (const int every : {1, 7, 1000}) {
          INFO("check_every " << every);
          const Unknowns<double> u(ctx, b, std::vector<double>(4900));
          Plan plan;
          ok(kkc_krylov_plan(
              ctx, A, u.b_view, u.x_view,
              Options(options_of(method, "\"deterministic\": 1, \"check_every\": " + std::to_string(every))),
              plan.out()));
          if (jacobi) ok(kkc_krylov_set_preconditioner(plan, KKC_PRECONDITIONER_JACOBI, nullptr, nullptr, nullptr));
          const Outcome outcome = solve(plan, A, u.b_view, u.x_view);
          REQUIRE(outcome.status == KKC_STATUS_SUCCESS);
          if (every == 1) {
            first = outcome;
            x = u.x();
          }
          CHECK(outcome.iterations == first.iterations);
          CHECK(outcome.history == first.history);
          CHECK(u.x() == x);
        }
      }
  }
}

TEST_CASE("krylov: as many iterations on every device", "[krylov]") {
  Random random(13);
  const HostCsr<double> hosts[] = {grid_system<double>(random, 120, true, 0.01),
                                   grid_system<double>(random, 120, false, 0.01)};
  const std::vector<double> b = random_vector<double>(random, 14400);
  for (const std::string method : methods) {
    int64_t least = INT64_MAX, most = 0;
    for (const Visit& visit : visits()) {
      if (!has_kernels<double>(visit.device)) continue;
      const Context ctx(visit.device, visit.options);
      const DeviceCsr<double> A(ctx, hosts[method == "cg" ? 0 : 1], KKC_INDEX_32_32, 0);
      const Unknowns<double> u(ctx, b, std::vector<double>(14400));
      Plan plan;
      ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view, Options(options_of(method)), plan.out()));
      const Outcome outcome = solve(plan, A, u.b_view, u.x_view);
      INFO(outcome.sentence);
      REQUIRE(outcome.status == KKC_STATUS_SUCCESS);
      least = std::min(least, outcome.iterations);
      most = std::max(most, outcome.iterations);
    }
    INFO(method << ": " << least << " to " << most);
    CHECK(static_cast<double>(most) <= 1.02 * static_cast<double>(least) + 1);
  }
}

TEST_CASE("krylov: new values of A without a new plan", "[krylov]") {
  Random random(17);
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    for (const std::string method : methods)
      for (const char* values : {"any", "kept"}) {
        INFO(name(device) << ' ' << method << ' ' << values);
        const Context ctx(device);
        const HostCsr<double> host = grid_system<double>(random, 25, method == "cg", 0.5);
        DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0);
        const std::vector<double> b = random_vector<double>(random, 625);
        const Unknowns<double> u(ctx, b, std::vector<double>(625));
        Plan plan;
        ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view,
                           Options(options_of(method, std::string(R"("guess": "zero", "values": ")") + values + "\"")),
                           plan.out()));
        ok(kkc_krylov_set_preconditioner(plan, KKC_PRECONDITIONER_JACOBI, nullptr, nullptr, nullptr));
        for (const double factor : {1.0, 2.0, 0.125}) {
          HostCsr<double> scaled = host;
          // Jacobi undoes a scaling of the whole, not one of the diagonal alone.
          for (size_t i = 0; i < 625; ++i)
            for (int64_t p = host.offsets[i]; p < host.offsets[i + 1]; ++p)
              scaled.values[static_cast<size_t>(p)] *=
                  factor * (host.indices[static_cast<size_t>(p)] == static_cast<int64_t>(i) ? 1.5 : 1);
          A.values().set(scaled.values);
          const Outcome outcome = solve(plan, A, u.b_view, u.x_view);
          CHECK(outcome.status == KKC_STATUS_SUCCESS);
          CHECK(residual_of(scaled, u.x(), b) <= 1.1e-8 * norm_of(b));
        }
      }
  }
}

TEST_CASE("krylov: what is not square, empty or trivial", "[krylov]") {
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    const Context ctx(device);
    Random random(19);
    const HostCsr<double> host = grid_system<double>(random, 5, true, 1);
    const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0);
    Matrix empty;
    ok(kkc_csr_create(ctx, 0, 0, 0, KKC_INDEX_32_32, KKC_TYPE_F64, 0, nullptr, nullptr, nullptr, empty.out()));
    for (const std::string method : methods) {
      INFO(name(device) << ' ' << method);
      const View none = wrap<double>(ctx, nullptr, {0}), other = wrap<double>(ctx, nullptr, {0});
      Plan plan;
      ok(kkc_krylov_plan(ctx, empty, none, other, Options(options_of(method)), plan.out()));
      for (int k = 0; k < 2; ++k) {
        const Outcome outcome = solve(plan, empty, none, other);
        CHECK(outcome.status == KKC_STATUS_SUCCESS);
        CHECK(outcome.iterations == 0);
        ok(kkc_krylov_set_preconditioner(plan, KKC_PRECONDITIONER_JACOBI, nullptr, nullptr, nullptr));
      }
      // b = 0: the solution is 0 and nothing else is relative to it.
      const Unknowns<double> u(ctx, std::vector<double>(25), std::vector<double>(25, 3.0));
      Plan trivial;
      ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view, Options(options_of(method)), trivial.out()));
      const Outcome zero = solve(trivial, A, u.b_view, u.x_view);
      CHECK(zero.status == KKC_STATUS_SUCCESS);
      CHECK(zero.iterations == 0);
      CHECK(u.x() == std::vector<double>(25));
      const Unknowns<double> v(ctx, std::vector<double>(25), std::vector<double>(25, 3.0));
      Plan absolute;
      ok(kkc_krylov_plan(ctx, A, v.b_view, v.x_view,
                         Options(options_of(method, R"("convergence": "absolute", "tolerance": 1e-6)")),
                         absolute.out()));
      const Outcome near = solve(absolute, A, v.b_view, v.x_view);
      CHECK(near.status == KKC_STATUS_SUCCESS);
      CHECK(near.iterations > 0);
      CHECK(residual_of(host, v.x(), std::vector<double>(25)) <= 1.1e-6);
      CHECK(norm_of(v.x()) > 0);
    }
  }
}

TEST_CASE("krylov: too few iterations leave x as good as it got", "[krylov]") {
  Random random(23);
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    const Context ctx(device);
    for (const std::string method : methods)
      for (const int most : {0, 1, 5, 24}) {
        INFO(name(device) << ' ' << method << ' ' << most);
        const HostCsr<double> host = grid_system<double>(random, 40, method == "cg", 0.001);
        const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0);
        const std::vector<double> b = random_vector<double>(random, 1600);
        const Unknowns<double> u(ctx, b, std::vector<double>(1600, 0.5));
        Plan plan;
        ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view,
                           Options(options_of(method, "\"restart\": 10, \"max_iterations\": " + std::to_string(most))),
                           plan.out()));
        const Outcome outcome = solve(plan, A, u.b_view, u.x_view);
        CHECK(outcome.status == KKC_STATUS_NO_CONVERGENCE);
        CHECK(says(outcome.sentence, "after " + std::to_string(most) + " iterations of " + method));
        CHECK(outcome.iterations == most);
        CHECK(outcome.history.size() == static_cast<size_t>(most) + 1);
        const double residual = residual_of(host, u.x(), b);
        CHECK(std::abs(residual / outcome.residual - 1) < 1e-6);
        if (method != "cg")
          CHECK(std::abs(residual / *std::min_element(outcome.history.begin(), outcome.history.end()) - 1) < 1e-6);
        kkc_status_t status = 0;
        ok(kkc_krylov_result(plan, &status, nullptr, nullptr));
        CHECK(status == KKC_STATUS_NO_CONVERGENCE);
      }
  }
}

TEST_CASE("krylov: residuals that the element type does not resolve", "[krylov]") {
  Random random(29);
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    const Context ctx(device);
    for (const std::string method : methods) {
      INFO(name(device) << ' ' << method);
      const HostCsr<double> host = grid_system<double>(random, 40, method == "cg", 0.001);
      const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0);
      const std::vector<double> b = random_vector<double>(random, 1600);
      const Unknowns<double> u(ctx, b, std::vector<double>(1600));
      Plan plan;
      ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view,
                         Options(options_of(method, R"("tolerance": 1e-17, "max_iterations": 5000)")), plan.out()));
      const Outcome outcome = solve(plan, A, u.b_view, u.x_view);
      CHECK(outcome.status >= 100);
      INFO(outcome.sentence);
      CHECK(residual_of(host, u.x(), b) < 1e-12 * norm_of(b));
    }
  }
}

TEST_CASE("krylov: the residual told is that of x, where a recurrence has gone on below what numbers resolve",
          "[krylov]") {
  Random random(31);
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    const Context ctx(device);
    for (const std::string method : methods)
      for (const std::string tolerance : {"1e-20", "1e-300"}) {
        INFO(name(device) << ' ' << method << ' ' << tolerance);
        const HostCsr<double> host = grid_system<double>(random, 12, method == "cg", 0.5);
        const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0);
        const std::vector<double> b = random_vector<double>(random, 144);
        const Unknowns<double> u(ctx, b, std::vector<double>(144));
        Plan plan;
        ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view,
                           Options(options_of(method, "\"max_iterations\": 120, \"tolerance\": " + tolerance)),
                           plan.out()));
        const Outcome outcome = solve(plan, A, u.b_view, u.x_view);
        CHECK(outcome.status >= 100);
        INFO(outcome.sentence);
        const double residual = residual_of(host, u.x(), b);
        CHECK(outcome.residual > 0.2 * residual);
        CHECK(outcome.residual < 5 * residual);
      }
  }
}
