// spmv: what is refused, what plans remember, and what they say.
#include "support/catch.hpp"

#include "support/plan_info.hpp"
#include "support/spmv_case.hpp"

using namespace kkc_test;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// A 6 x 4 matrix, its vectors, and a plan for op N.
struct Fixture {
  explicit Fixture(kkc_device_t device)
      : ctx(device),
        random(3),
        host(random_csr<double>(random, Shape::few, 6, 4)),
        A(ctx, host, KKC_INDEX_32_32, 0),
        x(ctx, random_vector<double>(random, 64)),
        y(ctx, random_vector<double>(random, 64)),
        x4(wrap(ctx, x.data(), {4})),
        y6(wrap(ctx, y.data(), {6})) {
    ok(kkc_spmv_plan(ctx, KKC_OP_NONE, A, x4, y6, nullptr, plan.out()));
  }
  kkc_status_t plan_with(kkc_op_t op, kkc_view_t* x_view, kkc_view_t* y_view, const std::string& options = "{}") const {
    Plan other;
    const kkc_status_t status = kkc_spmv_plan(ctx, op, A, x_view, y_view, Options(options), other.out());
    CHECK((status == KKC_STATUS_SUCCESS) == (other != nullptr));
    return status;
  }
  kkc_status_t execute_with(kkc_view_t* x_view, kkc_view_t* y_view) const {
    const double one = 1;
    return kkc_spmv_execute(plan, &one, A, x_view, &one, y_view);
  }

  Context ctx;
  Random random;
  HostCsr<double> host;
  DeviceCsr<double> A;
  Array<double> x, y;
  View x4, y6;
  Plan plan;
};

}  // namespace

TEST_CASE("spmv: plans refuse operands that do not fit", "[spmv]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const Fixture f(device);
    const View x5 = wrap(f.ctx, f.x.data(), {5}), y7 = wrap(f.ctx, f.y.data(), {7}),
               x42 = wrap(f.ctx, f.x.data(), {4, 2}), y63 = wrap(f.ctx, f.y.data(), {6, 3}),
               x422 = wrap(f.ctx, f.x.data(), {4, 2, 2});
    CHECK(f.plan_with(KKC_OP_NONE, x5, f.y6) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(contains(kkc_last_error(), "x"));
    CHECK(f.plan_with(KKC_OP_NONE, f.x4, y7) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(f.plan_with(KKC_OP_TRANSPOSE, f.x4, f.y6) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(f.plan_with(KKC_OP_NONE, x42, y63) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(f.plan_with(KKC_OP_NONE, x42, f.y6) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(f.plan_with(KKC_OP_NONE, x422, f.y6) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(f.plan_with(0, f.x4, f.y6) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(f.plan_with(5, f.x4, f.y6) == KKC_STATUS_INVALID_ARGUMENT);

    const Array<float> small(f.ctx, size_t{16});
    const View x_float = wrap(f.ctx, small.data(), {4});
    CHECK(f.plan_with(KKC_OP_NONE, x_float, f.y6) == KKC_STATUS_TYPE_MISMATCH);
    View y_const;
    const int64_t six = 6;
    ok(kkc_view_wrap_const(f.ctx, KKC_TYPE_F64, 1, &six, KKC_LAYOUT_LEFT, nullptr, native_space(f.ctx), f.y.data(),
                           y_const.out()));
    CHECK(f.plan_with(KKC_OP_NONE, f.x4, y_const) != KKC_STATUS_SUCCESS);

    CHECK(f.plan_with(KKC_OP_NONE, f.x4, f.y6, R"({"colour": 1})") == KKC_STATUS_UNKNOWN_OPTION);
    CHECK(contains(kkc_last_error(), "implementation"));
    CHECK(f.plan_with(KKC_OP_NONE, f.x4, f.y6, R"({"values": "some"})") == KKC_STATUS_UNKNOWN_OPTION);
    CHECK(f.plan_with(KKC_OP_NONE, f.x4, f.y6, R"({"implementation": "none_such"})") != KKC_STATUS_SUCCESS);
    CHECK(contains(kkc_last_error(), "reference"));
    CHECK(f.plan_with(KKC_OP_TRANSPOSE, f.y6, f.x4, R"({"transpose": "kept"})") == KKC_STATUS_INVALID_ARGUMENT);

    Matrix pattern;
    ok(kkc_csr_create(f.ctx, 6, 4, f.host.nnz(), KKC_INDEX_32_32, KKC_TYPE_NONE, 0, f.A.offsets(), f.A.indices(),
                      nullptr, pattern.out()));
    Plan none;
    CHECK(kkc_spmv_plan(f.ctx, KKC_OP_NONE, pattern, f.x4, f.y6, nullptr, none.out()) == KKC_STATUS_TYPE_MISMATCH);
    CHECK(kkc_spmv_plan(f.ctx, KKC_OP_NONE, nullptr, f.x4, f.y6, nullptr, none.out()) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_spmv_plan(nullptr, KKC_OP_NONE, f.A, f.x4, f.y6, nullptr, none.out()) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_spmv_plan(f.ctx, KKC_OP_NONE, f.A, f.x4, f.y6, nullptr, nullptr) == KKC_STATUS_NULL_POINTER);
  }
}

TEST_CASE("spmv: plans refuse bad patterns", "[spmv]") {
  for (const kkc_device_t device : devices())
    for (const int32_t base : {0, 1}) {
      INFO(name(device) << ", base " << base);
      const Context ctx(device);
      const std::vector<int32_t> good_offsets{base, base + 2, base + 3}, good_indices{base, base + 2, base + 1};
      const Array<double> values(ctx, {1, 2, 3}), x(ctx, {1, 2, 3}), y(ctx, {1, 2});
      const View x_view = wrap(ctx, x.data(), {3}), y_view = wrap(ctx, y.data(), {2});
      const auto status = [&](const std::vector<int32_t>& offsets, const std::vector<int32_t>& indices) {
        const Array<int32_t> o(ctx, offsets), i(ctx, indices);
        Matrix A;
        const kkc_status_t created = kkc_csr_create(ctx, 2, 3, 3, KKC_INDEX_32_32, KKC_TYPE_F64, base, o.data(),
                                                    i.data(), values.data(), A.out());
        if (created != KKC_STATUS_SUCCESS) return created;
        Plan plan;
        return kkc_spmv_plan(ctx, KKC_OP_NONE, A, x_view, y_view, nullptr, plan.out());
      };
      CHECK(status(good_offsets, good_indices) == KKC_STATUS_SUCCESS);
      CHECK(status(good_offsets, {base, base + 3, base + 1}) == KKC_STATUS_INDEX_OUT_OF_RANGE);
      CHECK(contains(kkc_last_error(), "col_indices[1]"));
      CHECK(status(good_offsets, {base, base + 2, base - 1}) == KKC_STATUS_INDEX_OUT_OF_RANGE);
      CHECK(status(good_offsets, {base, base + 2, INT32_MIN}) == KKC_STATUS_INDEX_OUT_OF_RANGE);
      CHECK(status({base, base + 5, base + 3}, good_indices) == KKC_STATUS_INVALID_ARGUMENT);
      CHECK(status({base, base - 1, base + 3}, good_indices) == KKC_STATUS_INVALID_ARGUMENT);
      CHECK(status({base, INT32_MIN, base + 3}, good_indices) == KKC_STATUS_INVALID_ARGUMENT);

      // The caller's offsets change behind the matrix, which hosts had checked.
      const Array<int32_t> offsets(ctx, good_offsets), indices(ctx, good_indices);
      Matrix A;
      ok(kkc_csr_create(ctx, 2, 3, 3, KKC_INDEX_32_32, KKC_TYPE_F64, base, offsets.data(), indices.data(),
                        values.data(), A.out()));
      for (const std::vector<int32_t>& changed :
           {std::vector<int32_t>{base + 1, base + 2, base + 3}, std::vector<int32_t>{base, base + 2, base + 2}}) {
        offsets.set(changed);
        Plan plan;
        CHECK(kkc_spmv_plan(ctx, KKC_OP_NONE, A, x_view, y_view, nullptr, plan.out()) == KKC_STATUS_INVALID_ARGUMENT);
      }
    }
}

TEST_CASE("spmv: executes refuse what differs from the plan, and overlap", "[spmv]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const Fixture f(device);
    CHECK(f.execute_with(f.x4, f.y6) == KKC_STATUS_SUCCESS);
    CHECK(f.execute_with(wrap(f.ctx, f.x.data(), {5}), f.y6) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(kkc_last_error() == std::string("x is 5, expected 4, as planned"));
    CHECK(f.execute_with(f.x4, wrap(f.ctx, f.y.data(), {6, 1})) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(f.execute_with(f.x4, wrap(f.ctx, f.y.data(), {6}, KKC_LAYOUT_STRIDED, {2})) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(f.execute_with(f.x4, wrap(f.ctx, f.x.data(), {6})) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(contains(kkc_last_error(), "overlap"));
    CHECK(f.execute_with(wrap(f.ctx, f.x.data(), {4}), wrap(f.ctx, f.x.data() + 3, {6})) ==
          KKC_STATUS_INVALID_ARGUMENT);
    CHECK(f.execute_with(wrap(f.ctx, f.x.data(), {4}), wrap(f.ctx, f.x.data() + 4, {6})) == KKC_STATUS_SUCCESS);
    CHECK(f.execute_with(f.x4, wrap<double>(f.ctx, nullptr, {6})) != KKC_STATUS_SUCCESS);
    CHECK(f.execute_with(nullptr, f.y6) == KKC_STATUS_NULL_POINTER);

    const double one = 1;
    CHECK(kkc_spmv_execute(f.plan, nullptr, f.A, f.x4, &one, f.y6) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_spmv_execute(f.plan, &one, f.A, f.x4, nullptr, f.y6) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_spmv_execute(nullptr, &one, f.A, f.x4, &one, f.y6) == KKC_STATUS_NULL_POINTER);
    const DeviceCsr<double> other_base(f.ctx, f.host, KKC_INDEX_32_32, 1);
    CHECK(kkc_spmv_execute(f.plan, &one, other_base, f.x4, &one, f.y6) != KKC_STATUS_SUCCESS);
    Random random(5);
    const DeviceCsr<double> other_shape(f.ctx, random_csr<double>(random, Shape::banded, 6, 4), KKC_INDEX_32_32, 0);
    CHECK(kkc_spmv_execute(f.plan, &one, other_shape, f.x4, &one, f.y6) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(kkc_spmv_set_values(f.plan, f.A) == KKC_STATUS_WRONG_STATE);
  }
}

TEST_CASE("spmv: plans that keep values need them first", "[spmv]") {
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    Random random(11);
    const HostCsr<double> A = random_csr<double>(random, Shape::stencil, 600, 600);
    DeviceCsr<double> a(ctx, A, KKC_INDEX_32_32, 0);
    const std::vector<double> x_host = random_vector<double>(random, 600);
    const Array<double> x(ctx, x_host), y(ctx, size_t{600});
    const View x_view = wrap(ctx, x.data(), {600}), y_view = wrap(ctx, y.data(), {600});
    const double one = 1, zero = 0;
    int keepers = 0;
    for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE})
      for (const std::string& implementation : implementations(device, "spmv")) {
        Plan plan;
        const std::string options =
            "{\"values\": \"kept\", \"transpose\": \"kept\", \"implementation\": \"" + implementation + "\"}";
        if (kkc_spmv_plan(ctx, op, a, x_view, y_view, Options(options), plan.out()) != KKC_STATUS_SUCCESS) continue;
        INFO(name(device) << ' ' << implementation);
        CHECK(kkc_spmv_execute(plan, &one, a, x_view, &zero, y_view) == KKC_STATUS_WRONG_STATE);
        ++keepers;
        HostCsr<double> changed = A;
        for (int change = 0; change < 2; ++change) {
          for (double& v : changed.values) v = v * 2 + 1;
          a.values().set(changed.values);
          ok(kkc_spmv_set_values(plan, a));
          ok(kkc_spmv_execute(plan, &one, a, x_view, &zero, y_view));
          CHECK(mismatch(spmv_expected<double>(op, 1, changed, x_host, 0, x_host), y.get()) == "");
        }
      }
    CHECK(keepers > 0);
  }
}

TEST_CASE("spmv: checked plans notice another pattern", "[spmv]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const Context ctx(device);
    const Array<int32_t> offsets(ctx, {0, 1, 3}), indices(ctx, {0, 0, 1}), others(ctx, {1, 0, 1});
    const Array<double> values(ctx, {1, 2, 3}), x(ctx, {1, 1}), y(ctx, {0, 0});
    const View x_view = wrap(ctx, x.data(), {2}), y_view = wrap(ctx, y.data(), {2});
    Matrix A;
    ok(kkc_csr_create(ctx, 2, 2, 3, KKC_INDEX_32_32, KKC_TYPE_F64, 0, offsets.data(), indices.data(), values.data(),
                      A.out()));
    Plan plan;
    ok(kkc_spmv_plan(ctx, KKC_OP_NONE, A, x_view, y_view, Options(R"({"checked": true})"), plan.out()));
    const double one = 1;
    CHECK(kkc_spmv_execute(plan, &one, A, x_view, &one, y_view) == KKC_STATUS_SUCCESS);
    ok(kkc_csr_set_pointers(A, offsets.data(), others.data(), values.data()));
    CHECK(kkc_spmv_execute(plan, &one, A, x_view, &one, y_view) == KKC_STATUS_PATTERN_CHANGED);
    CHECK(y.get() == std::vector<double>{1, 5});
  }
}

TEST_CASE("spmv: measured choices can be exported and imported", "[spmv]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    Random random(17);
    const HostCsr<double> A = random_csr<double>(random, Shape::stencil, 3000, 3000);
    const auto measured_plan = [&](const Context& ctx, const DeviceCsr<double>& a) {
      const View x = wrap<double>(ctx, nullptr, {3000}), y = wrap<double>(ctx, nullptr, {3000});
      Plan plan;
      ok(kkc_spmv_plan(ctx, KKC_OP_NONE, a, x, y, Options(R"({"tuning": "measure"})"), plan.out()));
      return plan;
    };
    const Context first(device);
    const DeviceCsr<double> a(first, A, KKC_INDEX_32_32, 0);
    const Plan plan = measured_plan(first, a);
    CHECK(contains(info_of_plan(plan), "measured"));
    CHECK(contains(info_of_plan(measured_plan(first, a)), "measured before"));
    const char* json = nullptr;
    ok(kkc_tuning_export(first, &json));
    const std::string exported = json;
    const Context second(device);
    const DeviceCsr<double> b(second, A, KKC_INDEX_32_32, 0);
    ok(kkc_tuning_import(second, exported.c_str()));
    CHECK(contains(info_of_plan(measured_plan(second, b)), "measured before"));
    CHECK(kkc_tuning_import(second, "{") == KKC_STATUS_PARSE);
    CHECK(kkc_tuning_import(second, R"({"kkc_tuning": 1, "choices": {}})") == KKC_STATUS_PARSE);
    CHECK_THAT(kkc_last_error(), ContainsSubstring("\"choices\" is of JSON type object, expected an array"));
  }
}

TEST_CASE("spmv: plans say what they decided", "[spmv]") {
  for (const kkc_device_t device : devices()) {
    const Fixture f(device);
    const std::string info = info_of_plan(f.plan);
    INFO(info);
    for (const char* key : {"\"operation\"", "\"implementation\"", "\"device\"", "\"rows\"", "\"nnz\"",
                            "\"workspace_bytes\"", "\"plan_seconds\"", "\"passed_over\""})
      CHECK(contains(info, key));
    size_t length = 0;
    std::string copy(4096, '\0');
    ok(kkc_plan_info_copy(f.plan, copy.size(), copy.data(), &length));
    CHECK(copy.substr(0, length) == info);
    char cut[8];
    ok(kkc_plan_info_copy(f.plan, sizeof cut, cut, &length));
    CHECK(std::string(cut) == info.substr(0, 7));
    CHECK(length == info.size());
    ok(kkc_plan_info_copy(f.plan, 0, nullptr, &length));
    CHECK(length == info.size());
    CHECK(kkc_plan_info_copy(f.plan, SIZE_MAX, nullptr, &length) == KKC_STATUS_NULL_POINTER);
    CHECK_THAT(kkc_last_error(), ContainsSubstring("buffer is NULL") && ContainsSubstring("or capacity 0"));
    int64_t where = 5, count = 5;
    CHECK(kkc_plan_check(f.plan, &where, &count) == KKC_STATUS_SUCCESS);
    CHECK(where == -1);
    CHECK(count == 0);
  }
}

TEST_CASE("spmv: plans keep within max_workspace", "[spmv]") {
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    Random random(17);
    const DeviceCsr<double> A(ctx, random_csr<double>(random, Shape::dense_row, 3000, 3000), KKC_INDEX_32_32, 0);
    const View x = wrap<double>(ctx, nullptr, {3000, 4}), y = wrap<double>(ctx, nullptr, {3000, 4});
    for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE})
      for (const char* tuning : {"auto", "measure"}) {
        INFO(name(device) << ", op " << op << ", tuning " << tuning);
        Plan plan;
        ok(kkc_spmv_plan(ctx, op, A, x, y, Options(std::string(R"({"max_workspace": 0, "tuning": ")") + tuning + "\"}"),
                         plan.out()));
        size_t bytes = 1;
        ok(kkc_plan_workspace_size(plan, &bytes));
        CHECK(bytes == 0);
      }
    if (is_gpu(device)) continue;
    Plan named;
    CHECK(kkc_spmv_plan(ctx, KKC_OP_NONE, A, x, y, Options(R"({"max_workspace": 8, "implementation": "host_multi"})"),
                        named.out()) == KKC_STATUS_NOT_SUPPORTED);
    CHECK(contains(kkc_last_error(), "max_workspace"));
  }
}

TEST_CASE("spmv: a plan takes the caller's workspace", "[spmv]") {
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    Random random(23);
    const HostCsr<double> A = random_csr<double>(random, Shape::few, 9000, 5000);
    const DeviceCsr<double> a(ctx, A, KKC_INDEX_32_32, 0);
    const std::vector<double> x_host = random_vector<double>(random, 9000);
    const Array<double> x(ctx, x_host), y(ctx, size_t{5000});
    const View x_view = wrap(ctx, x.data(), {9000}), y_view = wrap(ctx, y.data(), {5000});
    const double one = 1, zero = 0;
    for (const std::string& implementation : implementations(device, "spmv")) {
      Plan plan;
      if (kkc_spmv_plan(ctx, KKC_OP_TRANSPOSE, a, x_view, y_view,
                        Options("{\"implementation\": \"" + implementation + "\"}"), plan.out()) != KKC_STATUS_SUCCESS)
        continue;
      size_t bytes = 0;
      ok(kkc_plan_workspace_size(plan, &bytes));
      if (bytes == 0) continue;
      INFO(name(device) << ' ' << implementation << ", " << bytes << " bytes");
      const Array<unsigned char> own(ctx, bytes);
      CHECK(kkc_plan_set_workspace(plan, own.data(), bytes - 1) != KKC_STATUS_SUCCESS);
      CHECK(kkc_plan_set_workspace(plan, own.data() + 8, bytes) != KKC_STATUS_SUCCESS);
      ok(kkc_plan_set_workspace(plan, own.data(), bytes));
      const Expected expected = spmv_expected<double>(KKC_OP_TRANSPOSE, 1, A, x_host, 0, x_host);
      ok(kkc_spmv_execute(plan, &one, a, x_view, &zero, y_view));
      CHECK(mismatch(expected, y.get()) == "");
      ok(kkc_plan_set_workspace(plan, nullptr, 0));
      ok(kkc_spmv_execute(plan, &one, a, x_view, &zero, y_view));
      CHECK(mismatch(expected, y.get()) == "");
    }
  }
}

TEST_CASE("spmv: a plan has no output matrix") {
  for (const kkc_device_t device : devices()) {
    const Fixture f(device);
    int64_t nnz = -1;
    CHECK(kkc_plan_output_nnz(f.plan, &nnz) == KKC_STATUS_INVALID_HANDLE);
    CHECK(nnz == 0);
    CHECK(contains(kkc_last_error(), "plan of spmv, expected one of an operation whose output is a matrix"));
    kkc_matrix_t* C = f.A;
    CHECK(kkc_plan_create_output(f.plan, &C) == KKC_STATUS_INVALID_HANDLE);
    CHECK(C == nullptr);
    CHECK(kkc_plan_output_pattern(f.plan, f.A) == KKC_STATUS_INVALID_HANDLE);
  }
}
