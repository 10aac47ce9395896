// transpose: against plain loops, bit by bit.
#include "support/output_case.hpp"

using namespace kkc_test;

namespace {

template <class T>
T conjugated(T v) {
  if constexpr (std::is_floating_point_v<T>)
    return v;
  else
    return std::conj(v);
}

template <class T>
HostCsr<T> transposed(const HostCsr<T>& A, bool conjugate) {
  HostCsr<T> C;
  C.rows = A.cols;
  C.cols = A.rows;
  std::vector<std::vector<std::pair<int64_t, T>>> rows(static_cast<size_t>(A.cols));
  for (int64_t i = 0; i < A.rows; ++i)
    for (int64_t p = A.offsets[static_cast<size_t>(i)]; p < A.offsets[static_cast<size_t>(i) + 1]; ++p) {
      const T v = A.values[static_cast<size_t>(p)];
      rows[static_cast<size_t>(A.indices[static_cast<size_t>(p)])].emplace_back(i, conjugate ? conjugated(v) : v);
    }
  for (const auto& row : rows) {
    for (const auto& [column, value] : row) {
      C.indices.push_back(column);
      C.values.push_back(value);
    }
    C.offsets.push_back(C.nnz());
  }
  return C;
}

Plan plan_of(const Context& ctx, kkc_op_t op, kkc_matrix_t* A, kkc_index_pair_t pair, const std::string& options = "") {
  Plan plan;
  ok(kkc_transpose_plan(ctx, op, A, pair, Options(options), plan.out()));
  return plan;
}

/// Pattern and values by both ways of the API, then new values.
template <class T>
void check_transpose(const Context& ctx, Random& random, HostCsr<T> host, kkc_index_pair_t pair, int32_t base,
                     const std::string& options) {
  DeviceCsr<T> A(ctx, host, pair, base);
  for (const kkc_op_t op : {KKC_OP_TRANSPOSE, KKC_OP_HERMITIAN}) {
    const Plan plan = plan_of(ctx, op, A, pair, options);
    int64_t nnz = -1;
    ok(kkc_plan_output_nnz(plan, &nnz));
    REQUIRE(nnz == host.nnz());
    Matrix C;
    ok(kkc_plan_create_output(plan, C.out()));
    OutputCsr<T> own(ctx, host.cols, host.rows, nnz, pair, 1 - base);
    ok(kkc_plan_output_pattern(plan, own));
    for (int repeat = 0; repeat < 2; ++repeat) {
      ok(kkc_transpose_execute(plan, A, C));
      ok(kkc_transpose_execute(plan, A, own));
      ctx.synchronize();
      const HostCsr<T> expected = transposed(host, op == KKC_OP_HERMITIAN);
      check_same(download<T>(ctx, C), expected);
      check_same(download<T>(ctx, own), expected);
      host.values = random_vector<T>(random, host.values.size());
      A.values().set(host.values);
    }
  }
}

}  // namespace

TEST_CASE("transpose: every implementation, type, base and shape of rows", "[transpose]") {
  Random random(seed());
  for_all_types("transpose", [&]<class T>(T, kkc_device_t device, kkc_index_pair_t pair) {
    const Context ctx(device, device == KKC_DEVICE_OPENMP ? R"({"threads": 3})" : "");
    int32_t count = 0;
    ok(kkc_implementation_count(device, "transpose", &count));
    for (int32_t i = 0; i < count; ++i) {
      const char* implementation = nullptr;
      ok(kkc_implementation_name(device, "transpose", i, &implementation));
      const std::string options = R"({"implementation": ")" + std::string(implementation) + R"("})";
      for (const Shape shape : all_shapes) {
        INFO(implementation << ' ' << name(shape));
        check_transpose(ctx, random, random_csr<T>(random, shape, 211, 173), pair, random() % 2, options);
      }
      // Rows longer than a block's tile, columns in several digits, entries for more than one part and tile.
      check_transpose(ctx, random, random_csr<T>(random, Shape::dense_row, 300, 70000), pair, 0, options);
      check_transpose(ctx, random, random_csr<T>(random, Shape::power_law, 9000, 300), pair, 1, options);
      // More columns in no order than the caches' counters hold.
      check_transpose(ctx, random, random_csr<T>(random, Shape::few, 20000, 80000), pair, 1, options);
      for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{0, 0}, {0, 5}, {5, 0}, {1, 1}, {1, 1000}, {1000, 1}})
        check_transpose(ctx, random, random_csr<T>(random, Shape::few, rows, cols), pair, 0, options);
    }
  });
}

TEST_CASE("transpose: rows of one entry each, in runs, in no order, and but for one", "[transpose]") {
  Random random(seed());
  for_all_types("transpose", [&]<class T>(T, kkc_device_t device, kkc_index_pair_t pair) {
    const Context ctx(device, device == KKC_DEVICE_OPENMP ? R"({"threads": 3})" : "");
    for (const int64_t run : {1, 3, 4, 70000})
      for (const bool scattered : {false, true})
        for (const bool but_one : {false, true}) {
          HostCsr<T> A;
          A.rows = 60000;
          A.cols = 9000;
          A.offsets.assign(1, 0);
          for (int64_t i = 1; i <= A.rows; ++i) A.offsets.push_back(i);
          if (but_one) --A.offsets[1000];  // row 999 is empty, row 1000 holds two
          for (int64_t i = 0; i < A.rows; ++i)
            A.indices.push_back(scattered ? static_cast<int64_t>(random() % 9000) : i / run % 9000);
          A.values = random_vector<T>(random, A.indices.size());
          check_transpose(ctx, random, A, pair, static_cast<int32_t>(run % 2), "");
        }
  });
}

TEST_CASE("transpose: columns of up to and of more entries than a warp orders", "[transpose]") {
  Random random(seed());
  INFO("seed " << seed());
  for (const kkc_device_t device : devices()) {
    if (!supported(device, "transpose", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    const Context ctx(device);
    // So many rows name column 0 (one after the other, then others between them), and each also columns of its own run.
    for (const int64_t most : {1, 4, 31, 32, 33, 64, 65, 127, 128, 129, 400}) {
      std::vector<std::vector<int64_t>> rows(3 * 400 + 7);
      for (size_t i = 0; i < rows.size(); ++i) {
        const auto at = static_cast<int64_t>(i);
        if (at < most / 2 || (at >= 400 && at % 2 == 0 && at < 400 + 2 * (most - most / 2))) rows[i].push_back(0);
        rows[i].push_back(1 + at / 3);
        if (i % 5 == 0) rows[i].push_back(500 + random_int(random, 0, 199));
      }
      INFO(most << " entries in column 0");
      check_transpose<double>(ctx, random, from_rows(700, rows), KKC_INDEX_32_32, 1, "");
    }
  }
}

TEST_CASE("transpose: of any types of indices, as a pattern, and twice", "[transpose]") {
  Random random(seed());
  for_all_types("transpose", [&]<class T>(T, kkc_device_t device, kkc_index_pair_t pair) {
    const Context ctx(device);
    const HostCsr<T> host = random_csr<T>(random, Shape::unsorted_duplicates, 300, 200);
    const DeviceCsr<T> A(ctx, host, pair, 1);
    const HostCsr<T> expected = transposed(host, false);
    for (const kkc_index_pair_t pair_C : all_index_pairs) {
      const Plan plan = plan_of(ctx, KKC_OP_TRANSPOSE, A, pair_C, R"({"base": 0})");
      Matrix C;
      ok(kkc_plan_create_output(plan, C.out()));
      ok(kkc_transpose_execute(plan, A, C));
      ctx.synchronize();
      check_same(download<T>(ctx, C), expected);
      kkc_index_pair_t is = 0;
      int32_t base = -1;
      ok(kkc_csr_get(C, nullptr, nullptr, nullptr, &is, nullptr, &base, nullptr, nullptr, nullptr));
      CHECK(is == pair_C);
      CHECK(base == 0);
    }
    Matrix C, back, pattern, pattern_C;
    const Plan first = plan_of(ctx, KKC_OP_TRANSPOSE, A, pair);
    ok(kkc_plan_create_output(first, C.out()));
    ok(kkc_transpose_execute(first, A, C));
    const Plan second = plan_of(ctx, KKC_OP_TRANSPOSE, C, pair);
    ok(kkc_plan_create_output(second, back.out()));
    ok(kkc_transpose_execute(second, C, back));
    ctx.synchronize();
    check_same(download<T>(ctx, back), transposed(expected, false));

    ok(kkc_csr_create(ctx, host.rows, host.cols, host.nnz(), pair, KKC_TYPE_NONE, 1, A.offsets(), A.indices(), nullptr,
                      pattern.out()));
    const Plan of_pattern = plan_of(ctx, KKC_OP_TRANSPOSE, pattern, pair);
    ok(kkc_plan_create_output(of_pattern, pattern_C.out()));
    ok(kkc_transpose_execute(of_pattern, pattern, pattern_C));
    ctx.synchronize();
    HostCsr<T> without = download<T>(ctx, pattern_C);
    without.values = expected.values;  // there are none to compare
    check_same(without, expected);
  });
}

TEST_CASE("transpose: refusals", "[transpose]") {
  const auto says = [](const char* part) { return std::string(kkc_last_error()).find(part) != std::string::npos; };
  Random random(5);
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    INFO(name(device));
    const Context ctx(device);
    const HostCsr<double> host = random_csr<double>(random, Shape::few, 20, 30);
    const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0);
    Plan plan;
    CHECK(kkc_transpose_plan(ctx, KKC_OP_NONE, A, KKC_INDEX_32_32, nullptr, plan.out()) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(says("op is N"));
    CHECK(kkc_transpose_plan(ctx, KKC_OP_TRANSPOSE, A, 4, nullptr, plan.out()) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(kkc_transpose_plan(ctx, KKC_OP_TRANSPOSE, A, KKC_INDEX_32_32, Options(R"({"base": 2})"), plan.out()) ==
          KKC_STATUS_INVALID_ARGUMENT);
    CHECK(kkc_transpose_plan(ctx, KKC_OP_TRANSPOSE, A, KKC_INDEX_32_32, Options(R"({"sorted": 1})"), plan.out()) ==
          KKC_STATUS_UNKNOWN_OPTION);
    CHECK(plan == nullptr);
    HostCsr<double> bad = host;
    bad.indices.at(3) = 30;
    const DeviceCsr<double> outside(ctx, bad, KKC_INDEX_32_32, 0);
    CHECK(kkc_transpose_plan(ctx, KKC_OP_TRANSPOSE, outside, KKC_INDEX_32_32, nullptr, plan.out()) ==
          KKC_STATUS_INDEX_OUT_OF_RANGE);
    CHECK(says("A: col_indices[3] is 30"));

    ok(kkc_transpose_plan(ctx, KKC_OP_TRANSPOSE, A, KKC_INDEX_32_32, Options(R"({"checked": 1})"), plan.out()));
    Matrix C;
    ok(kkc_plan_create_output(plan, C.out()));
    CHECK(kkc_transpose_execute(plan, C, C) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(says("A is 30 x 20"));
    CHECK(kkc_transpose_execute(plan, A, A) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(says("C is 20 x 30"));
    CHECK(kkc_transpose_execute(plan, outside, C) == KKC_STATUS_PATTERN_CHANGED);
    Matrix over;
    kkc_matrix_t* const input = A;
    const void *offsets = nullptr, *indices = nullptr;
    void* values = nullptr;
    ok(kkc_csr_get(C, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &offsets, &indices, nullptr));
    ok(kkc_csr_get(input, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &values));
    ok(kkc_csr_create(ctx, 30, 20, host.nnz(), KKC_INDEX_32_32, KKC_TYPE_F64, 0, offsets, indices, values, over.out()));
    CHECK(kkc_transpose_execute(plan, A, over) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(says("overlap"));
    Plan copy;
    CHECK(kkc_transpose_execute(copy, A, C) == KKC_STATUS_NULL_POINTER);
    ok(kkc_transpose_execute(plan, A, C));
  }
}
