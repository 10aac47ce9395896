// krylov: breakdowns, numbers that are not finite, refusals, and what plans say.
#include <cmath>
#include <cstdlib>
#include <limits>

#include "support/krylov_case.hpp"

using namespace kkc_test;

namespace {

HostCsr<double> dense(int64_t n, const std::vector<double>& values) {
  HostCsr<double> A;
  A.rows = A.cols = n;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      A.indices.push_back(j);
      A.values.push_back(values[static_cast<size_t>(i * n + j)]);
    }
    A.offsets.push_back(A.nnz());
  }
  return A;
}

Outcome solve_once(const Context& ctx, const HostCsr<double>& host, const std::vector<double>& b,
                   const std::string& options, std::vector<double>* x = nullptr) {
  const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0);
  const Unknowns<double> u(ctx, b, x != nullptr ? *x : std::vector<double>(b.size()));
  Plan plan;
  ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view, Options(options), plan.out()));
  const Outcome outcome = solve(plan, A, u.b_view, u.x_view);
  if (x != nullptr) *x = u.x();
  return outcome;
}

/// What a callback is to do, and what it saw.
struct Caller {
  enum What { negate, fail, reenter, change_preconditioner, not_a_number } what;
  kkc_context_t* ctx = nullptr;
  kkc_plan_t* plan = nullptr;
  kkc_matrix_t* A = nullptr;
  kkc_view_t *b = nullptr, *x = nullptr;
  std::string said;

  static kkc_status_t apply(void* user, const kkc_view_t* r, kkc_view_t* z) {
    auto* const self = static_cast<Caller*>(user);
    const double one = 1, minus_one = -1, zero = 0, nan = std::numeric_limits<double>::quiet_NaN();
    kkc_status_t status = 0;
    switch (self->what) {
      case fail: return 42;
      case reenter: status = kkc_krylov_execute(self->plan, self->A, self->b, self->x); break;
      case change_preconditioner:
        status = kkc_krylov_set_preconditioner(self->plan, KKC_PRECONDITIONER_NONE, nullptr, nullptr, nullptr);
        break;
      case not_a_number: return kkc_view_fill(self->ctx, &nan, z);
      case negate: return kkc_axpby(self->ctx, &minus_one, r, &zero, z);
    }
    if (status == KKC_STATUS_SUCCESS) return kkc_axpby(self->ctx, &one, r, &zero, z);
    self->said = kkc_last_error();
    return status;
  }
};

}  // namespace

TEST_CASE("krylov: breakdowns say why", "[krylov]") {
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    INFO(name(device));
    const Context ctx(device);
    const HostCsr<double> indefinite = dense(2, {1, 0, 0, -1}), turn = dense(2, {0, 1, -1, 0}),
                          nothing = dense(2, {0, 0, 0, 0}), half = dense(2, {1, 0, 0, 0});
    Outcome outcome = solve_once(ctx, indefinite, {1, 1}, R"({"method": "cg"})");
    CHECK(outcome.status == KKC_STATUS_BREAKDOWN);
    CHECK(says(outcome.sentence, "A is not Hermitian positive definite"));
    CHECK(outcome.iterations == 0);
    outcome = solve_once(ctx, turn, {1, 0}, R"({"method": "bicgstab"})");
    CHECK(outcome.status == KKC_STATUS_BREAKDOWN);
    CHECK(says(outcome.sentence, "bicgstab broke down after 0 iterations: r0^H A M^-1 p"));
    std::vector<double> x(2);
    outcome = solve_once(ctx, turn, {1, 0}, R"({"method": "gmres"})", &x);
    CHECK(outcome.status == KKC_STATUS_SUCCESS);
    CHECK(outcome.iterations == 2);
    CHECK(std::abs(x[0]) + std::abs(x[1] - 1) < 1e-14);
    outcome = solve_once(ctx, nothing, {1, 0}, R"({"method": "gmres"})");
    CHECK(outcome.status == KKC_STATUS_BREAKDOWN);
    CHECK(says(outcome.sentence, "singular"));
    // Singular, and b outside of the range: the least-squares solution is found, and not called one.
    x = {0, 0};
    outcome = solve_once(ctx, half, {2, 1}, R"({"method": "gmres"})", &x);
    CHECK(outcome.status >= 100);
    CHECK(std::abs(outcome.residual - 1) < 1e-12);
    // Orthogonal in the second half of the iteration.
    outcome = solve_once(ctx, dense(2, {1, 1, -1, 0}), {1, 0}, R"({"method": "bicgstab", "max_iterations": 50})");
    CHECK(outcome.status != KKC_STATUS_INTERNAL);
  }
}

TEST_CASE("krylov: callbacks that fail, and those that use their own plan", "[krylov]") {
  Random random(3);
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    INFO(name(device));
    const Context ctx(device);
    const HostCsr<double> host = grid_system<double>(random, 6, true, 1);
    const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0);
    const std::vector<double> b = random_vector<double>(random, 36);
    const auto with = [&](Caller::What what, const char* method, std::string* said) {
      const Unknowns<double> u(ctx, b, std::vector<double>(36));
      Plan plan;
      ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view, Options(std::string(R"({"method": ")") + method + "\"}"),
                         plan.out()));
      Caller caller{what, ctx, plan, A, u.b_view, u.x_view, {}};
      ok(kkc_krylov_set_callback(plan, &Caller::apply, &caller));
      const Outcome outcome = solve(plan, A, u.b_view, u.x_view);
      *said = caller.said;
      // The plan is as good as before.
      ok(kkc_krylov_set_preconditioner(plan, KKC_PRECONDITIONER_NONE, nullptr, nullptr, nullptr));
      CHECK(solve(plan, A, u.b_view, u.x_view).status == KKC_STATUS_SUCCESS);
      return outcome;
    };
    std::string said;
    for (const char* method : {"cg", "bicgstab", "gmres"}) {
      INFO(method);
      Outcome outcome = with(Caller::fail, method, &said);
      CHECK(outcome.status == KKC_STATUS_BREAKDOWN);
      CHECK(says(outcome.sentence, "callback returned 42"));
      outcome = with(Caller::reenter, method, &said);
      CHECK(outcome.status == KKC_STATUS_BREAKDOWN);
      CHECK(says(said, "plan is executing"));
      CHECK(with(Caller::change_preconditioner, method, &said).status == KKC_STATUS_BREAKDOWN);
      CHECK(says(said, "plan is executing"));
      CHECK(with(Caller::not_a_number, method, &said).status == KKC_STATUS_BREAKDOWN);
    }
    CHECK(says(with(Caller::negate, "cg", &said).sentence, "the preconditioner is not Hermitian positive definite"));
    CHECK(with(Caller::negate, "gmres", &said).status == KKC_STATUS_SUCCESS);
  }
}

TEST_CASE("krylov: numbers that are not finite are named and change nothing", "[krylov]") {
  Random random(5);
  const double bad[] = {std::numeric_limits<double>::quiet_NaN(), -std::numeric_limits<double>::infinity()};
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    const Context ctx(device);
    for (const double number : bad)
      for (const int64_t stride : {1, 2}) {
        INFO(name(device) << ' ' << number << ' ' << stride);
        const HostCsr<double> host = grid_system<double>(random, 8, true, 1);
        const std::vector<double> b = random_vector<double>(random, 64), start = random_vector<double>(random, 64);
        DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 1);
        Unknowns<double> u(ctx, b, start, stride);
        Plan plan, from_zero;
        ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view, nullptr, plan.out()));
        ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view, Options(R"({"guess": "zero"})"), from_zero.out()));
        std::vector<double> spoiled = b;
        spoiled[17] = number;
        u.set_b(spoiled);
        Outcome outcome = solve(plan, A, u.b_view, u.x_view);
        CHECK(outcome.status == KKC_STATUS_INVALID_ARGUMENT);
        CHECK(says(outcome.sentence, "b holds NaN or infinity in row 17"));
        CHECK(u.x() == start);
        u.set_b(b);
        spoiled = start;
        spoiled[63] = number;
        u.set_x(spoiled);
        outcome = solve(plan, A, u.b_view, u.x_view);
        CHECK(says(outcome.sentence, "x holds NaN or infinity in row 63"));
        CHECK(solve(from_zero, A, u.b_view, u.x_view).status == KKC_STATUS_SUCCESS);  // x is not read
        u.set_x(start);
        std::vector<double> values = host.values;
        const int64_t entry = host.offsets[40] + 1;
        values[static_cast<size_t>(entry)] = number;
        A.values().set(values);
        for (const Plan* each : {&plan, &from_zero}) {
          outcome = solve(*each, A, u.b_view, u.x_view);
          CHECK(outcome.status == KKC_STATUS_INVALID_ARGUMENT);
          CHECK(says(outcome.sentence, "A holds NaN or infinity in row 40, column " +
                                           std::to_string(host.indices[static_cast<size_t>(entry)])));
          CHECK(u.x() == start);
        }
        A.values().set(host.values);
        CHECK(solve(plan, A, u.b_view, u.x_view).status == KKC_STATUS_SUCCESS);
        u.set_b(std::vector<double>(64, 1e-170));
        CHECK(says(solve(plan, A, u.b_view, u.x_view).sentence, "scale the system"));
      }
  }
}

TEST_CASE("krylov: diagonals that jacobi cannot invert", "[krylov]") {
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    INFO(name(device));
    const Context ctx(device);
    HostCsr<double> missing;
    missing.rows = missing.cols = 3;
    missing.offsets = {0, 2, 3, 4};
    missing.indices = {0, 1, 0, 2};
    missing.values = {2, 1, 1, 2};
    HostCsr<double> zero = dense(3, {2, 0, 0, 0, 2, 0, 0, 0, 0});
    const std::vector<double> b{1, 2, 3};
    for (const bool absent : {true, false}) {
      const DeviceCsr<double> A(ctx, absent ? missing : zero, KKC_INDEX_32_32, 1);
      const Unknowns<double> u(ctx, b, b);
      Plan plan;
      ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view, Options(R"({"method": "gmres"})"), plan.out()));
      ok(kkc_krylov_set_preconditioner(plan, KKC_PRECONDITIONER_JACOBI, nullptr, nullptr, nullptr));
      const Outcome outcome = solve(plan, A, u.b_view, u.x_view);
      CHECK(outcome.status == (absent ? KKC_STATUS_INVALID_ARGUMENT : KKC_STATUS_ZERO_PIVOT));
      CHECK(says(outcome.sentence, absent ? "A has no diagonal entry in row 1" : "A's diagonal is zero in row 2"));
      CHECK(u.x() == b);
    }
  }
}

TEST_CASE("krylov: plans refuse what does not fit, and say what they chose", "[krylov]") {
  Random random(7);
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    INFO(name(device));
    const Context ctx(device);
    const HostCsr<double> host = grid_system<double>(random, 4, true, 1);
    DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0);
    const DeviceCsr<double> wide(ctx, random_csr<double>(random, Shape::few, 4, 6), KKC_INDEX_32_32, 0);
    const std::vector<double> b = random_vector<double>(random, 16);
    const Unknowns<double> u(ctx, b, std::vector<double>(16));
    const Array<double> room(ctx, std::vector<double>(64));
    const Array<float> narrow(ctx, size_t{16});
    const View short_view = wrap(ctx, room.data(), {15}), many = wrap(ctx, room.data(), {16, 2}),
               single = wrap(ctx, narrow.data(), {16}), spread = wrap(ctx, room.data(), {16}, KKC_LAYOUT_STRIDED, {2});
    const auto refused = [&](kkc_status_t status, const kkc_matrix_t* matrix, kkc_view_t* b_view, kkc_view_t* x_view,
                             const std::string& options, const std::string& part) {
      Plan plan;
      CHECK(kkc_krylov_plan(ctx, matrix, b_view, x_view, Options(options), plan.out()) == status);
      CHECK(says(kkc_last_error(), part));
      CHECK(plan == nullptr);
    };
    refused(KKC_STATUS_SIZE_MISMATCH, wide, u.b_view, u.x_view, "{}", "A is 4 x 6, expected a square matrix");
    refused(KKC_STATUS_SIZE_MISMATCH, A, short_view, u.x_view, "{}", "b is 15");
    refused(KKC_STATUS_SIZE_MISMATCH, A, u.b_view, many, "{}", "x is 16 x 2");
    refused(KKC_STATUS_TYPE_MISMATCH, A, u.b_view, single, "{}", "x holds f32");
    refused(KKC_STATUS_UNKNOWN_OPTION, A, u.b_view, u.x_view, R"({"method": "minres"})", "cg, bicgstab, gmres");
    refused(KKC_STATUS_INVALID_ARGUMENT, A, u.b_view, u.x_view, R"({"tolerance": 0.0})", "tolerance");
    refused(KKC_STATUS_UNKNOWN_OPTION, A, u.b_view, u.x_view, R"({"colour": 1})", "max_iterations");
    refused(KKC_STATUS_UNKNOWN_OPTION, A, u.b_view, u.x_view, R"({"product": "fastest"})",
            "\"product\" is \"fastest\", expected one of ");
    refused(KKC_STATUS_NOT_SUPPORTED, A, u.b_view, u.x_view, R"({"max_workspace": 64})", "max_workspace, 64");
    refused(KKC_STATUS_NULL_POINTER, nullptr, u.b_view, u.x_view, "{}", "A is NULL");

    Plan plan;
    ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view, Options(R"({"method": "gmres", "restart": 40, "checked": 1})"),
                       plan.out()));
    CHECK(kkc_krylov_result(plan, nullptr, nullptr, nullptr) == KKC_STATUS_WRONG_STATE);
    int64_t count = 5;
    CHECK(kkc_krylov_history(plan, 0, nullptr, &count) == KKC_STATUS_WRONG_STATE);
    CHECK(count == 0);
    CHECK(kkc_krylov_execute(plan, wide, u.b_view, u.x_view) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(kkc_krylov_execute(plan, A, spread, u.x_view) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(kkc_krylov_execute(plan, A, u.x_view, u.x_view) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(says(kkc_last_error(), "b and x overlap"));
    CHECK(kkc_krylov_set_preconditioner(plan, 99, nullptr, nullptr, nullptr) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(kkc_krylov_set_preconditioner(plan, KKC_PRECONDITIONER_JACOBI, A, nullptr, nullptr) ==
          KKC_STATUS_INVALID_ARGUMENT);
    CHECK(kkc_krylov_set_callback(plan, nullptr, nullptr) == KKC_STATUS_NULL_POINTER);
    ok(kkc_krylov_execute(plan, A, u.b_view, u.x_view));
    const char* json = nullptr;
    ok(kkc_plan_info(plan, &json));
    for (const char* part : {R"("operation":"krylov")", R"("method":"gmres")", R"("restart":16)", R"("iterations":)",
                             R"("status":"KKC_STATUS_SUCCESS")", R"("preconditioner":"none")", R"("product":")"}) {
      INFO(part);
      CHECK(says(json, part));
    }
    double few[2] = {-1, -1};
    ok(kkc_krylov_history(plan, 1, few, &count));
    CHECK(few[0] > 0);
    CHECK(few[1] == -1);
    CHECK(count > 2);

    Plan other;
    ok(kkc_spmv_plan(ctx, KKC_OP_NONE, A, u.b_view, u.x_view, nullptr, other.out()));
    CHECK(kkc_krylov_execute(other, A, u.b_view, u.x_view) == KKC_STATUS_INVALID_HANDLE);
  }
}

namespace {

struct Counting {
  int made = 0;
};

}  // namespace

TEST_CASE("krylov: execute allocates nothing, and works in the caller's memory", "[krylov]") {
  Random random(11);
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device) || is_gpu(device)) continue;
    Counting counting;
    Allocator allocator;
    ok(kkc_allocator_create(
        [](void* user, size_t bytes, kkc_space_t, void*) -> void* {
          ++static_cast<Counting*>(user)->made;
          return std::aligned_alloc(256, (bytes + 255) / 256 * 256);
        },
        [](void*, void* data, size_t, kkc_space_t, void*) { std::free(data); }, &counting, allocator.out()));
    const Context ctx(device, "", allocator);
    const HostCsr<double> host = grid_system<double>(random, 20, true, 0.5);
    const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0);
    const std::vector<double> b = random_vector<double>(random, 400);
    for (const char* method : {"cg", "bicgstab", "gmres"})
      for (const int64_t stride : {1, 2}) {
        INFO(name(device) << ' ' << method << ' ' << stride);
        const Unknowns<double> u(ctx, b, std::vector<double>(400), stride);
        Plan plan;
        ok(kkc_krylov_plan(ctx, A, u.b_view, u.x_view, Options(std::string(R"({"method": ")") + method + "\"}"),
                           plan.out()));
        ok(kkc_krylov_set_preconditioner(plan, KKC_PRECONDITIONER_JACOBI, nullptr, nullptr, nullptr));
        size_t bytes = 0;
        ok(kkc_plan_workspace_size(plan, &bytes));
        CHECK(bytes >= 4 * 400 * sizeof(double));
        const Array<double> own(ctx, std::vector<double>(bytes / 8, std::numeric_limits<double>::quiet_NaN()));
        ok(kkc_plan_set_workspace(plan, own.data(), bytes));
        const int before = counting.made;
        ok(kkc_krylov_execute(plan, A, u.b_view, u.x_view));
        CHECK(counting.made == before);
        CHECK(residual_of(host, u.x(), b) <= 1.1e-8 * norm_of(b));
      }
  }
}
