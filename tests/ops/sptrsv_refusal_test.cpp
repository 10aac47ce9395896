// sptrsv: what is refused, what fails, and what plans say.
#include "support/catch.hpp"

#include "support/sptrsv_case.hpp"

using namespace kkc_test;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The 3 x 3 matrix (2 . .; 1 4 .; . 3 5) with a gap of its own, vectors, and a plan for the lower solve.
struct Fixture {
  explicit Fixture(kkc_device_t device, const std::string& implementation = "")
      : ctx(device),
        host{3, 3, {0, 1, 3, 5}, {0, 0, 1, 1, 2}, {2, 1, 4, 3, 5}},
        A(ctx, host, KKC_INDEX_32_32, 0),
        b(ctx, std::vector<double>{2, 9, 11}),
        x(ctx, std::vector<double>(16, 0)),
        b3(wrap(ctx, b.data(), {3})),
        x3(wrap(ctx, x.data(), {3})),
        options(implementation.empty() ? "{}" : R"({"implementation": ")" + implementation + "\"}") {
    ok(kkc_sptrsv_plan(ctx, KKC_OP_NONE, KKC_UPLO_LOWER, KKC_DIAG_STORED, A, b3, x3, Options(options), plan.out()));
  }
  kkc_status_t plan_with(kkc_op_t op, kkc_uplo_t uplo, kkc_diag_t diag, kkc_matrix_t* matrix, kkc_view_t* from,
                         kkc_view_t* to, const std::string& with = "{}") const {
    Plan other;
    const kkc_status_t status = kkc_sptrsv_plan(ctx, op, uplo, diag, matrix, from, to, Options(with), other.out());
    CHECK((status == KKC_STATUS_SUCCESS) == (other != nullptr));
    return status;
  }
  kkc_status_t execute_with(kkc_view_t* from, kkc_view_t* to) const {
    const double one = 1;
    return kkc_sptrsv_execute(plan, &one, A, from, to);
  }

  Context ctx;
  HostCsr<double> host;
  DeviceCsr<double> A;
  Array<double> b, x;
  View b3, x3;
  std::string options;
  Plan plan;
};

constexpr kkc_op_t N = KKC_OP_NONE;
constexpr kkc_uplo_t lower = KKC_UPLO_LOWER, upper = KKC_UPLO_UPPER;
constexpr kkc_diag_t stored = KKC_DIAG_STORED, unit = KKC_DIAG_UNIT;

}  // namespace

TEST_CASE("sptrsv: plans refuse operands that do not fit", "[sptrsv]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    Fixture f(device);
    const View x4 = wrap(f.ctx, f.x.data(), {4}), x32 = wrap(f.ctx, f.x.data(), {3, 2}),
               x31 = wrap(f.ctx, f.x.data(), {3, 1}), x321 = wrap(f.ctx, f.x.data(), {3, 2, 1});
    CHECK(f.plan_with(N, lower, stored, f.A, f.b3, f.x3) == KKC_STATUS_SUCCESS);
    CHECK(f.plan_with(N, lower, stored, f.A, f.b3, x4) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(contains(kkc_last_error(), "x"));
    CHECK(f.plan_with(N, lower, stored, f.A, x4, f.x3) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(contains(kkc_last_error(), "b is"));
    CHECK(f.plan_with(N, lower, stored, f.A, f.b3, x32) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(f.plan_with(N, lower, stored, f.A, f.b3, x31) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(f.plan_with(N, lower, stored, f.A, x321, x321) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(f.plan_with(0, lower, stored, f.A, f.b3, f.x3) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(f.plan_with(N, 0, stored, f.A, f.b3, f.x3) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(contains(kkc_last_error(), "KKC_UPLO_LOWER"));
    CHECK(f.plan_with(N, lower, 3, f.A, f.b3, f.x3) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(contains(kkc_last_error(), "KKC_DIAG_STORED"));
    CHECK(f.plan_with(N, lower, stored, f.A, f.b3, f.x3, R"({"colour": 1})") == KKC_STATUS_UNKNOWN_OPTION);

    const Array<float> small(f.ctx, size_t{16});
    const View x_float = wrap(f.ctx, small.data(), {3});
    CHECK(f.plan_with(N, lower, stored, f.A, f.b3, x_float) == KKC_STATUS_TYPE_MISMATCH);
    View x_const;
    const int64_t three = 3;
    ok(kkc_view_wrap_const(f.ctx, KKC_TYPE_F64, 1, &three, KKC_LAYOUT_LEFT, nullptr, native_space(f.ctx), f.x.data(),
                           x_const.out()));
    CHECK(f.plan_with(N, lower, stored, f.A, f.b3, x_const) != KKC_STATUS_SUCCESS);
    CHECK(f.plan_with(N, lower, stored, f.A, x_const, f.x3) == KKC_STATUS_SUCCESS);

    Random random(1);
    const DeviceCsr<double> wide(f.ctx, random_csr<double>(random, Shape::few, 3, 4), KKC_INDEX_32_32, 0);
    CHECK(f.plan_with(N, lower, stored, wide, f.b3, f.x3) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(contains(kkc_last_error(), "square"));
    Matrix bad;
    const std::vector<int32_t> offsets{0, 1, 3, 5}, indices{0, 0, 3, 1, 2};
    const Array<int32_t> on_offsets(f.ctx, offsets), on_indices(f.ctx, indices);
    ok(kkc_csr_create(f.ctx, 3, 3, 5, KKC_INDEX_32_32, KKC_TYPE_F64, 0, on_offsets.data(), on_indices.data(),
                      f.A.values().data(), bad.out()));
    CHECK(f.plan_with(N, lower, stored, bad, f.b3, f.x3) == KKC_STATUS_INDEX_OUT_OF_RANGE);
  }
}

TEST_CASE("sptrsv: a row without a diagonal entry is refused by every plan, unless the diagonal is ones", "[sptrsv]") {
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    const HostCsr<double> host{4, 4, {0, 1, 3, 4, 5}, {0, 0, 1, 1, 3}, {2, 1, 4, 3, 5}};
    const Array<double> b(ctx, std::vector<double>{1, 1, 1, 1}), x(ctx, size_t{4});
    const View b4 = wrap(ctx, b.data(), {4}), x4 = wrap(ctx, x.data(), {4});
    for (const int32_t base : {0, 1}) {
      const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, base);
      for (const std::string& implementation : implementations(device, "sptrsv"))
        for (const kkc_op_t op : all_ops)
          for (const kkc_uplo_t uplo : {lower, upper}) {
            INFO(name(device) << ' ' << implementation << " op " << op << " uplo " << uplo << " base " << base);
            const std::string options = R"({"values": "kept", "implementation": ")" + implementation + "\"}";
            Plan plan;
            const kkc_status_t status = kkc_sptrsv_plan(ctx, op, uplo, stored, A, b4, x4, Options(options), plan.out());
            if (status == KKC_STATUS_NOT_SUPPORTED) continue;
            CHECK(status == KKC_STATUS_INVALID_ARGUMENT);
            CHECK(contains(kkc_last_error(), "row 2 "));
            ok(kkc_sptrsv_plan(ctx, op, uplo, unit, A, b4, x4, Options(options), plan.out()));
          }
    }
  }
}

TEST_CASE("sptrsv: a zero on the diagonal is reported with its row", "[sptrsv]") {
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    Random random(seed());
    HostCsr<double> host = random_triangle<double>(random, Depth::recent, 500, lower, stored, {});
    const std::vector<double> good = host.values;
    std::vector<double> bad = good;
    for (const int64_t row : {333, 41, 420})
      bad[static_cast<size_t>(host.offsets[static_cast<size_t>(row) + 1]) - 1] = 0;
    DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0);
    const Array<double> b(ctx, random_vector<double>(random, 1000)), x(ctx, size_t{1000});
    for (const std::string& implementation : implementations(device, "sptrsv"))
      for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE})
        for (const int64_t vectors : {1, 2})
          for (const char* values : {"any", "kept"}) {
            INFO(name(device) << ' ' << implementation << " op " << op << " vectors " << vectors << ' ' << values);
            const View from = vectors == 1 ? wrap(ctx, b.data(), {500}) : wrap(ctx, b.data(), {500, 2}),
                       to = vectors == 1 ? wrap(ctx, x.data(), {500}) : wrap(ctx, x.data(), {500, 2});
            const std::string options =
                std::string(R"({"values": ")") + values + R"(", "implementation": ")" + implementation + "\"}";
            Plan plan;
            const kkc_status_t status =
                kkc_sptrsv_plan(ctx, op, lower, stored, A, from, to, Options(options), plan.out());
            if (status == KKC_STATUS_NOT_SUPPORTED) continue;
            ok(status);
            const double one = 1;
            const auto solve = [&](const std::vector<double>& with, int64_t& where, int64_t& count) {
              A.values().set(with);
              if (std::string(values) == "kept") ok(kkc_sptrsv_set_values(plan, A));
              const kkc_status_t executed = kkc_sptrsv_execute(plan, &one, A, from, to);
              if (is_gpu(device)) ok(executed);
              if (executed != KKC_STATUS_SUCCESS) CHECK(contains(kkc_last_error(), "row 41 "));
              return is_gpu(device) ? kkc_plan_check(plan, &where, &count) : executed;
            };
            int64_t where = -1, count = 0;
            CHECK(solve(bad, where, count) == KKC_STATUS_ZERO_PIVOT);
            if (is_gpu(device)) CHECK(where == 41);
            if (is_gpu(device)) CHECK(count == 3);
            // The plan is as good as before.
            CHECK(solve(good, where, count) == KKC_STATUS_SUCCESS);
            if (is_gpu(device)) CHECK(kkc_plan_check(plan, &where, &count) == KKC_STATUS_SUCCESS);
          }
  }
}

TEST_CASE("sptrsv: executes refuse what the plan did not see", "[sptrsv]") {
  for (const kkc_device_t device : devices())
    for (const std::string& implementation : implementations(device, "sptrsv")) {
      const Context ctx(device);
      Plan probe;
      const HostCsr<double> one_row{1, 1, {0, 1}, {0}, {2}};
      const DeviceCsr<double> small(ctx, one_row, KKC_INDEX_32_32, 0);
      const Array<double> numbers(ctx, std::vector<double>{1, 1, 1, 1});
      const View first = wrap(ctx, numbers.data(), {1}), second = wrap(ctx, numbers.data() + 1, {1});
      const std::string options = R"({"implementation": ")" + implementation + "\"}";
      if (kkc_sptrsv_plan(ctx, N, lower, stored, small, first, second, Options(options), probe.out()) ==
          KKC_STATUS_NOT_SUPPORTED)
        continue;
      INFO(name(device) << ' ' << implementation);
      const Fixture f(device, implementation);
      ok(f.execute_with(f.b3, f.x3));
      CHECK(f.x.get()[0] == 1);
      CHECK(f.x.get()[1] == 2);
      CHECK(f.x.get()[2] == 1);
      const View x_strided = wrap(f.ctx, f.x.data(), {3}, KKC_LAYOUT_STRIDED, {2}), x4 = wrap(f.ctx, f.x.data(), {4}),
                 next = wrap(f.ctx, f.x.data() + 1, {3});
      CHECK(f.execute_with(f.b3, x_strided) == KKC_STATUS_SIZE_MISMATCH);
      CHECK(f.execute_with(f.b3, x4) == KKC_STATUS_SIZE_MISMATCH);
      CHECK(f.execute_with(next, f.x3) == KKC_STATUS_INVALID_ARGUMENT);
      CHECK(contains(kkc_last_error(), "overlap"));
      ok(f.execute_with(f.x3, f.x3));
      CHECK(kkc_sptrsv_execute(f.plan, nullptr, f.A, f.b3, f.x3) == KKC_STATUS_NULL_POINTER);
      const double one = 1;
      const DeviceCsr<double> other(f.ctx, f.host, KKC_INDEX_32_32, 1);
      CHECK(kkc_sptrsv_execute(f.plan, &one, other, f.b3, f.x3) != KKC_STATUS_SUCCESS);
      CHECK(kkc_sptrsv_set_values(f.plan, f.A) == KKC_STATUS_WRONG_STATE);
      CHECK(contains(info_of_plan(f.plan), "\"uplo\""));
    }
}

TEST_CASE("sptrsv: kept values are needed first and do not follow the matrix", "[sptrsv]") {
  for (const kkc_device_t device : devices())
    for (const std::string& implementation : implementations(device, "sptrsv")) {
      Fixture f(device);
      Plan plan;
      const std::string options = R"({"values": "kept", "implementation": ")" + implementation + "\"}";
      const kkc_status_t status =
          kkc_sptrsv_plan(f.ctx, N, lower, stored, f.A, f.b3, f.x3, Options(options), plan.out());
      if (status == KKC_STATUS_NOT_SUPPORTED) continue;
      INFO(name(device) << ' ' << implementation);
      ok(status);
      const double one = 1;
      CHECK(kkc_sptrsv_execute(plan, &one, f.A, f.b3, f.x3) == KKC_STATUS_WRONG_STATE);
      ok(kkc_sptrsv_set_values(plan, f.A));
      ok(kkc_sptrsv_execute(plan, &one, f.A, f.b3, f.x3));
      CHECK(f.x.get()[2] == 1);
      f.A.values().set({4, 2, 8, 6, 10});
      ok(kkc_sptrsv_set_values(plan, f.A));
      ok(kkc_sptrsv_execute(plan, &one, f.A, f.b3, f.x3));
      CHECK(f.x.get()[2] == 0.5);
    }
}

TEST_CASE("sptrsv: hosts' plans say how deep a triangle is", "[sptrsv]") {
  for (const kkc_device_t device : devices()) {
    if (is_gpu(device)) continue;
    const Context ctx(device, device == KKC_DEVICE_OPENMP ? R"({"threads": 2})" : "");
    Random random(seed());
    constexpr int64_t n = 40000;
    const Array<double> b(ctx, size_t{n}), x(ctx, size_t{n});
    const View from = wrap(ctx, b.data(), {n}), to = wrap(ctx, x.data(), {n});
    const auto plan_info = [&](Depth depth, kkc_op_t op, const char* implementation) {
      const DeviceCsr<double> A(ctx, random_triangle<double>(random, depth, n, lower, stored, {}), KKC_INDEX_32_32, 0);
      const std::string options = std::string(R"({"values": "kept", "implementation": ")") + implementation + "\"}";
      Plan plan;
      ok(kkc_sptrsv_plan(ctx, op, lower, stored, A, from, to, Options(options), plan.out()));
      return info_of_plan(plan);
    };
    for (const char* implementation : {"host_relaid", "host_levels"})
      for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE}) {
        INFO(name(device) << ' ' << implementation << " op " << op);
        const std::string flat = plan_info(Depth::diagonal, op, implementation);
        CHECK(contains(flat, "\"levels\":1,"));
        CHECK(contains(flat, "\"rows_per_level\":40000"));
        CHECK(contains(flat, "\"phases\":1,"));
        // A chain is cut into blocks of 128 rows, which one thread solves without a wait.
        const std::string chain = plan_info(Depth::chain, op, implementation);
        CHECK(contains(chain, "\"phases\":1,"));
        CHECK(contains(chain, "\"rows_of_one_thread\":40000,"));
        // Rows that seldom need the one right before them are solved in levels of rows, where values are kept or go
        // eight at once, or in turn, without levels; grids are not. Transposed triangles are solved as they lie, by one
        // thread.
        const bool kept = std::string(implementation) == "host_relaid", as_it_lies = op == KKC_OP_TRANSPOSE && !kept;
        const std::string few = plan_info(Depth::few, op, implementation);
        const bool in_turn = contains(few, "rows_in_turn"), by_level = contains(few, "\"blocks\":40000,");
        if (as_it_lies) CHECK(!by_level);
        if (device == KKC_DEVICE_OPENMP) CHECK((in_turn || by_level) == !as_it_lies);
        if (kept || device != KKC_DEVICE_OPENMP) CHECK(!in_turn);
        CHECK(contains(few, "\"by\":\"columns\"") == as_it_lies);
        CHECK(!contains(plan_info(Depth::stencil, op, implementation), "rows_in_turn"));
      }
    // Blocks of four rows in narrow levels: threads would only wait for one another.
    HostCsr<double> scattered;
    scattered.rows = scattered.cols = n;
    for (int64_t row = 0; row < n; ++row) {
      for (const int64_t distance : {int64_t{301}, int64_t{33}, row % 4 == 0 ? int64_t{0} : int64_t{1}})
        if (distance > 0 && row >= distance) scattered.indices.push_back(row - distance);
      scattered.indices.push_back(row);
      scattered.offsets.push_back(scattered.nnz());
    }
    scattered.values.assign(scattered.indices.size(), 1.0);
    const DeviceCsr<double> A(ctx, scattered, KKC_INDEX_32_32, 0);
    Plan plan;
    ok(kkc_sptrsv_plan(ctx, KKC_OP_NONE, lower, stored, A, from, to, nullptr, plan.out()));
    CHECK(contains(info_of_plan(plan), "\"threads\":1,"));
    CHECK(contains(info_of_plan(plan), "\"rows_of_one_thread\":40000,"));
  }
}
