// spadd: what is refused, what plans remember, and what they say.
#include "support/catch.hpp"

#include <algorithm>

#include "support/spadd_case.hpp"

using namespace kkc_test;

namespace {

bool contains(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// Two 5 x 4 matrices with sorted rows, their sum's plan and a matrix for it.
struct Fixture {
  explicit Fixture(kkc_device_t device)
      : ctx(device),
        random(11),
        host_A(random_csr<double>(random, Shape::few, 5, 4)),
        host_B(random_csr<double>(random, Shape::few, 5, 4)),
        A(ctx, host_A, KKC_INDEX_32_32, 0),
        B(ctx, host_B, KKC_INDEX_32_32, 0) {
    ok(kkc_spadd_plan(ctx, KKC_OP_NONE, A, KKC_OP_NONE, B, KKC_INDEX_32_32, nullptr, plan.out()));
    ok(kkc_plan_create_output(plan, C.out()));
  }
  kkc_status_t plan_with(kkc_op_t op_A, kkc_matrix_t* a, kkc_op_t op_B, kkc_matrix_t* b,
                         const std::string& options = "{}") const {
    Plan other;
    const kkc_status_t status = kkc_spadd_plan(ctx, op_A, a, op_B, b, KKC_INDEX_32_32, Options(options), other.out());
    CHECK((status == KKC_STATUS_SUCCESS) == (other != nullptr));
    return status;
  }
  kkc_status_t execute_with(kkc_matrix_t* a, kkc_matrix_t* b, kkc_matrix_t* c) const {
    const double one = 1;
    return kkc_spadd_execute(plan, &one, a, &one, b, c);
  }

  Context ctx;
  Random random;
  HostCsr<double> host_A, host_B;
  DeviceCsr<double> A, B;
  Plan plan;
  Matrix C;
};

}  // namespace

TEST_CASE("spadd: plans refuse operands that do not fit", "[spadd]") {
  for (const kkc_device_t device : devices()) {
    if (!supported(device, "spadd", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    INFO(name(device));
    Fixture f(device);
    constexpr kkc_op_t n = KKC_OP_NONE, t = KKC_OP_TRANSPOSE;
    CHECK(f.plan_with(n, f.A, t, f.B) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(contains(kkc_last_error(), "op(B) is 4 x 5, expected the shape of op(A), 5 x 4"));
    CHECK(f.plan_with(t, f.A, t, f.B) == KKC_STATUS_SUCCESS);
    CHECK(f.plan_with(0, f.A, n, f.B) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(contains(kkc_last_error(), "op_A is 0"));
    CHECK(f.plan_with(n, f.A, 5, f.B) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(contains(kkc_last_error(), "op_B is 5"));
    CHECK(f.plan_with(n, nullptr, n, f.B) == KKC_STATUS_NULL_POINTER);
    CHECK(f.plan_with(n, f.A, n, nullptr) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_spadd_plan(f.ctx, n, f.A, n, f.B, KKC_INDEX_32_32, nullptr, nullptr) == KKC_STATUS_NULL_POINTER);
    Plan none;
    CHECK(kkc_spadd_plan(f.ctx, n, f.A, n, f.B, 9, nullptr, none.out()) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(contains(kkc_last_error(), "index_pair_C is 9"));

    CHECK(f.plan_with(n, f.A, n, f.B, R"({"colour": 1})") == KKC_STATUS_UNKNOWN_OPTION);
    CHECK(contains(kkc_last_error(), "rows"));
    CHECK(f.plan_with(n, f.A, n, f.B, R"({"rows": "tidy"})") == KKC_STATUS_UNKNOWN_OPTION);
    CHECK(f.plan_with(n, f.A, n, f.B, R"({"base": 2})") == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(f.plan_with(n, f.A, n, f.B, R"({"implementation": "none_such"})") != KKC_STATUS_SUCCESS);
    CHECK(contains(kkc_last_error(), "reference"));

    Matrix pattern;
    ok(kkc_csr_create(f.ctx, 5, 4, f.host_A.nnz(), KKC_INDEX_32_32, KKC_TYPE_NONE, 0, f.A.offsets(), f.A.indices(),
                      nullptr, pattern.out()));
    CHECK(f.plan_with(n, pattern, n, f.B) == KKC_STATUS_TYPE_MISMATCH);
    HostCsr<float> other;
    other.rows = 5, other.cols = 4;
    other.offsets.assign(6, 0);
    const DeviceCsr<float> singles(f.ctx, other, KKC_INDEX_32_32, 0);
    CHECK(f.plan_with(n, f.A, n, singles) == KKC_STATUS_TYPE_MISMATCH);
    CHECK(contains(kkc_last_error(), "f32"));
    const DeviceCsr<double> wide(f.ctx, f.host_B, KKC_INDEX_64_64, 0);
    CHECK(f.plan_with(n, f.A, n, wide) == KKC_STATUS_TYPE_MISMATCH);
  }
}

TEST_CASE("spadd: rows stated sorted are refused where they are not, with the matrix and the row", "[spadd]") {
  for (const kkc_device_t device : devices()) {
    if (!supported(device, "spadd", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    const Context ctx(device);
    Random random(seed());
    for (const bool twice : {false, true})
      for (const int64_t bad : {0, 7, 4999}) {
        HostCsr<double> good = random_csr<double>(random, Shape::banded, 5000, 5000), spoilt = good;
        // The row's first two columns exchanged, or one of them twice.
        const auto p = static_cast<size_t>(good.offsets[static_cast<size_t>(bad)]);
        spoilt.indices[p + 1] = good.indices[p];
        if (!twice) spoilt.indices[p] = good.indices[p + 1];
        const DeviceCsr<double> G(ctx, good, KKC_INDEX_32_32, 1), S(ctx, spoilt, KKC_INDEX_32_32, 1);
        for (const std::string& implementation : {std::string(), std::string(R"(, "implementation": "reference")")}) {
          const Options options(R"({"rows": "sorted")" + implementation + "}");
          INFO(name(device) << " row " << bad << " twice " << twice << implementation);
          Plan plan;
          CHECK(kkc_spadd_plan(ctx, KKC_OP_NONE, G, KKC_OP_NONE, G, KKC_INDEX_32_32, options, plan.out()) ==
                KKC_STATUS_SUCCESS);
          CHECK(kkc_spadd_plan(ctx, KKC_OP_NONE, S, KKC_OP_NONE, G, KKC_INDEX_32_32, options, plan.out()) ==
                KKC_STATUS_NOT_SORTED);
          CHECK(contains(kkc_last_error(), "A: row " + std::to_string(bad) + " "));
          CHECK(kkc_spadd_plan(ctx, KKC_OP_NONE, G, KKC_OP_NONE, S, KKC_INDEX_32_32, options, plan.out()) ==
                KKC_STATUS_NOT_SORTED);
          CHECK(contains(kkc_last_error(), "B: row " + std::to_string(bad) + " "));
          // Any order of a transposed operand's rows gives the same C: nobody looks.
          int64_t stated = -1, found = -2;
          ok(kkc_spadd_plan(ctx, KKC_OP_NONE, G, KKC_OP_TRANSPOSE, S, KKC_INDEX_32_32, options, plan.out()));
          ok(kkc_plan_output_nnz(plan, &stated));
          ok(kkc_spadd_plan(ctx, KKC_OP_NONE, G, KKC_OP_TRANSPOSE, S, KKC_INDEX_32_32, nullptr, plan.out()));
          ok(kkc_plan_output_nnz(plan, &found));
          CHECK(stated == found);
          CHECK(kkc_spadd_plan(ctx, KKC_OP_TRANSPOSE, S, KKC_OP_NONE, S, KKC_INDEX_32_32, options, plan.out()) ==
                KKC_STATUS_NOT_SORTED);
          CHECK(contains(kkc_last_error(), "B: row " + std::to_string(bad) + " "));
        }
      }
  }
}

TEST_CASE("spadd: plans refuse bad patterns and sums that cannot be counted", "[spadd]") {
  for (const kkc_device_t device : devices()) {
    if (!supported(device, "spadd", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    INFO(name(device));
    const Context ctx(device);
    const Array<double> values(ctx, {1, 2, 3});
    const auto status = [&](const std::vector<int32_t>& offsets, const std::vector<int32_t>& indices, bool second) {
      const Array<int32_t> o(ctx, offsets), i(ctx, indices), good_o(ctx, {0, 2, 3}), good_i(ctx, {0, 2, 1});
      Matrix bad, good;
      const kkc_status_t created =
          kkc_csr_create(ctx, 2, 3, 3, KKC_INDEX_32_32, KKC_TYPE_F64, 0, o.data(), i.data(), values.data(), bad.out());
      if (created != KKC_STATUS_SUCCESS) return created;
      ok(kkc_csr_create(ctx, 2, 3, 3, KKC_INDEX_32_32, KKC_TYPE_F64, 0, good_o.data(), good_i.data(), values.data(),
                        good.out()));
      Plan plan;
      return kkc_spadd_plan(ctx, KKC_OP_NONE, second ? good : bad, KKC_OP_NONE, second ? bad : good, KKC_INDEX_32_32,
                            nullptr, plan.out());
    };
    for (const bool second : {false, true}) {
      CHECK(status({0, 2, 3}, {0, 2, 1}, second) == KKC_STATUS_SUCCESS);
      CHECK(status({0, 2, 3}, {0, 3, 1}, second) == KKC_STATUS_INDEX_OUT_OF_RANGE);
      CHECK(contains(kkc_last_error(), second ? "B: col_indices[1]" : "A: col_indices[1]"));
      CHECK(status({0, 2, 3}, {0, -1, 1}, second) == KKC_STATUS_INDEX_OUT_OF_RANGE);
      CHECK(status({0, 5, 3}, {0, 2, 1}, second) == KKC_STATUS_INVALID_ARGUMENT);
    }
    // A transpose has as many columns as the matrix has rows.
    if (!supported(device, "spadd", KKC_INDEX_64_64, KKC_TYPE_F64)) continue;
    HostCsr<double> wide;
    wide.cols = int64_t{1} << 32;
    const DeviceCsr<double> W(ctx, wide, KKC_INDEX_64_64, 0);
    Plan plan;
    CHECK(kkc_spadd_plan(ctx, KKC_OP_NONE, W, KKC_OP_NONE, W, KKC_INDEX_32_64, nullptr, plan.out()) ==
          KKC_STATUS_OVERFLOW);
    CHECK(contains(kkc_last_error(), "4294967296"));
    CHECK(kkc_spadd_plan(ctx, KKC_OP_NONE, W, KKC_OP_NONE, W, KKC_INDEX_64_64, nullptr, plan.out()) ==
          KKC_STATUS_SUCCESS);
  }
}

TEST_CASE("spadd: plans name the offset and the column that are bad, wherever they lie", "[spadd]") {
  using T = double;
  constexpr int64_t rows = 3000, cols = 700;
  for (const kkc_device_t device : devices())
    for (const kkc_index_pair_t pair : {KKC_INDEX_32_32, KKC_INDEX_32_64, KKC_INDEX_64_64}) {
      if (!supported(device, "spadd", pair, KKC_TYPE_F64)) continue;
      const Context ctx(device);
      Random random(seed());
      const auto base = static_cast<int32_t>(random() % 2);
      HostCsr<T> good;
      good.rows = rows, good.cols = cols;
      for (int64_t row = 0; row < rows; ++row) {
        const int64_t length = row == 1500 ? 600 : 1 + row % 9;
        for (int64_t k = 0; k < length; ++k) good.indices.push_back(k + row % 90);
        good.offsets.push_back(good.nnz());
      }
      good.values.assign(good.indices.size(), 1.0);
      HostCsr<T> mixed = good;  // rows out of order are refused like others
      for (size_t row = 0; row + 1 < mixed.offsets.size(); row += 7)
        std::reverse(mixed.indices.begin() + mixed.offsets[row], mixed.indices.begin() + mixed.offsets[row + 1]);
      const DeviceCsr<T> other(ctx, good, pair, base);

      const auto check = [&](const HostCsr<T>& bad, kkc_status_t status, const std::string& sentence) {
        const DeviceCsr<T> X(ctx, bad, pair, base);
        for (const char* options : {"{}", R"({"rows": "sorted"})", R"({"rows": "unsorted"})"})
          for (const kkc_op_t op : {KKC_OP_NONE, KKC_OP_TRANSPOSE})
            for (const bool second : {false, true}) {
              INFO(name(device) << " pair " << pair << " base " << base << ' ' << options << " op " << op << " second "
                                << second << ": " << sentence);
              Plan plan;
              CHECK(kkc_spadd_plan(ctx, op, second ? other : X, op, second ? X : other, pair, Options(options),
                                   plan.out()) == status);
              CHECK(contains(kkc_last_error(), (second ? "B: " : "A: ") + sentence));
            }
      };
      const int64_t nnz = good.nnz();
      for (const HostCsr<T>* from : {&good, &mixed}) {
        for (const int64_t at : {int64_t{0}, int64_t{2046}, int64_t{2047}, nnz / 2, nnz - 1})
          for (const int64_t column : {int64_t{-1}, cols, int64_t{2000000000}, int64_t{-2000000000}}) {
            HostCsr<T> bad = *from;
            bad.indices[static_cast<size_t>(at)] = column;
            check(bad, KKC_STATUS_INDEX_OUT_OF_RANGE,
                  "col_indices[" + std::to_string(at) + "] is " + std::to_string(column + base) + ", expected " +
                      std::to_string(base) + " to " + std::to_string(cols - 1 + base));
          }
        // The first of two.
        HostCsr<T> two = *from;
        two.indices[5000] = two.indices[900] = cols;
        check(two, KKC_STATUS_INDEX_OUT_OF_RANGE, "col_indices[900] is ");
        if (native_space(ctx) != KKC_SPACE_DEVICE) continue;  // hosts look at offsets when a matrix is made
        for (const int64_t row : {int64_t{0}, int64_t{1}, int64_t{511}, int64_t{1500}, rows - 1})
          for (const int64_t end : {int64_t{-1}, from->offsets[static_cast<size_t>(row)] - 1, nnz + 1, nnz + 1000000}) {
            HostCsr<T> bad = *from;
            bad.offsets[static_cast<size_t>(row) + 1] = end;
            check(bad, KKC_STATUS_INVALID_ARGUMENT,
                  "row_offsets are " + std::to_string(bad.offsets[static_cast<size_t>(row)] + base) + " and " +
                      std::to_string(end + base) + " around row " + std::to_string(row) +
                      ", expected them to ascend from " + std::to_string(base) + " to " + std::to_string(nnz + base));
          }
        HostCsr<T> late = *from, early = *from;
        late.offsets[0] = 1;
        check(late, KKC_STATUS_INVALID_ARGUMENT, "row_offsets are " + std::to_string(1 + base) + " and ");
        early.offsets.back() = nnz - 1;
        check(early, KKC_STATUS_INVALID_ARGUMENT, "row_offsets are ");
      }
    }
}

TEST_CASE("spadd: execute refuses what was not planned", "[spadd]") {
  for (const kkc_device_t device : devices()) {
    if (!supported(device, "spadd", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    INFO(name(device));
    Fixture f(device);
    const double one = 1;
    CHECK(f.execute_with(f.A, f.B, f.C) == KKC_STATUS_SUCCESS);
    CHECK(kkc_spadd_execute(f.plan, nullptr, f.A, &one, f.B, f.C) == KKC_STATUS_NULL_POINTER);
    CHECK(contains(kkc_last_error(), "alpha"));
    CHECK(kkc_spadd_execute(f.plan, &one, f.A, nullptr, f.B, f.C) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_spadd_execute(f.plan, &one, f.A, &one, f.B, nullptr) == KKC_STATUS_NULL_POINTER);
    HostCsr<double> other = f.host_A;
    other.rows = 6;
    other.offsets.push_back(other.nnz());
    const DeviceCsr<double> longer(f.ctx, other, KKC_INDEX_32_32, 0), based(f.ctx, f.host_B, KKC_INDEX_32_32, 1);
    CHECK(f.execute_with(longer, f.B, f.C) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(contains(kkc_last_error(), "A is 6 x 4"));
    CHECK(f.execute_with(f.A, based, f.C) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(f.execute_with(f.A, f.B, f.A) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(contains(kkc_last_error(), "C is 5 x 4"));

    // C's values in A's place.
    int64_t nnz = 0;
    ok(kkc_plan_output_nnz(f.plan, &nnz));
    const Array<int32_t> offsets(f.ctx, 6), indices(f.ctx, static_cast<size_t>(nnz));
    const Array<double> values(f.ctx, static_cast<size_t>(nnz));
    Matrix own, shared_A;
    ok(kkc_csr_create_output(f.ctx, 5, 4, nnz, KKC_INDEX_32_32, KKC_TYPE_F64, 0, offsets.data(), indices.data(),
                             values.data(), own.out()));
    ok(kkc_csr_create_output(f.ctx, 5, 4, f.host_A.nnz(), KKC_INDEX_32_32, KKC_TYPE_F64, 0, f.A.offsets(),
                             f.A.indices(), values.data(), shared_A.out()));
    CHECK(f.execute_with(shared_A, f.B, own) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(contains(kkc_last_error(), "overlap"));
  }
}

TEST_CASE("spadd: checked executes compare all three patterns", "[spadd]") {
  for (const kkc_device_t device : devices()) {
    if (!supported(device, "spadd", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    INFO(name(device));
    const Context ctx(device);
    HostCsr<double> A, B;
    A.rows = B.rows = 2;
    A.cols = B.cols = 3;
    A.offsets = {0, 2, 3};
    A.indices = {0, 2, 1};
    A.values = {1, 2, 3};
    B = A;
    B.indices = {0, 1, 1};
    const DeviceCsr<double> A_device(ctx, A, KKC_INDEX_32_32, 0), B_device(ctx, B, KKC_INDEX_32_32, 0);
    Plan plan;
    ok(kkc_spadd_plan(ctx, KKC_OP_NONE, A_device, KKC_OP_NONE, B_device, KKC_INDEX_32_32, Options(R"({"checked": 1})"),
                      plan.out()));
    const double one = 1;
    for (const int32_t base : {0, 1}) {
      const OutputCsr<double> C(ctx, 2, 3, 4, KKC_INDEX_32_32, base);
      ok(kkc_plan_output_pattern(plan, C));
      CHECK(kkc_spadd_execute(plan, &one, A_device, &one, B_device, C) == KKC_STATUS_SUCCESS);
      CHECK(kkc_spadd_execute(plan, &one, B_device, &one, B_device, C) == KKC_STATUS_PATTERN_CHANGED);
      CHECK(contains(kkc_last_error(), "A "));
      CHECK(kkc_spadd_execute(plan, &one, A_device, &one, A_device, C) == KKC_STATUS_PATTERN_CHANGED);
      CHECK(contains(kkc_last_error(), "B "));
      HostCsr<double> spoilt;
      spoilt.rows = 2, spoilt.cols = 3;
      spoilt.offsets = {0, 3, 4};
      spoilt.indices = {0, 1, 2, 2};
      spoilt.values.assign(4, 0);
      const DeviceCsr<double> other(ctx, spoilt, KKC_INDEX_32_32, base);
      CHECK(kkc_spadd_execute(plan, &one, A_device, &one, B_device, other) == KKC_STATUS_PATTERN_CHANGED);
      CHECK(contains(kkc_last_error(), "C "));
    }
  }
}

TEST_CASE("spadd: plans say what they decided", "[spadd]") {
  for (const kkc_device_t device : devices()) {
    if (!supported(device, "spadd", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    const Fixture f(device);
    const std::string info = info_of_plan(f.plan);
    for (const char* part : {"\"operation\"", "\"spadd\"", "\"implementation\"", "\"nnz_C\"", "\"plan_bytes\"",
                             "\"A_read\"", "\"in order\"", "\"passed_over\""})
      CHECK(contains(info, part));
    Plan turned, measured;
    ok(kkc_spadd_plan(f.ctx, KKC_OP_TRANSPOSE, f.A, KKC_OP_TRANSPOSE, f.B, KKC_INDEX_32_32, nullptr, turned.out()));
    CHECK(contains(info_of_plan(turned), "through positions"));
    ok(kkc_spadd_plan(f.ctx, KKC_OP_NONE, f.A, KKC_OP_NONE, f.B, KKC_INDEX_32_32, Options(R"({"tuning": "measure"})"),
                      measured.out()));
    CHECK(contains(info_of_plan(measured), "measured: "));
    Matrix C;
    ok(kkc_plan_create_output(measured, C.out()));
    const double one = 1;
    CHECK(kkc_spadd_execute(measured, &one, f.A, &one, f.B, C) == KKC_STATUS_SUCCESS);
  }
}
