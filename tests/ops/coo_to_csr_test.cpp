// coo_to_csr: against plain loops, bit by bit.
#include "support/output_case.hpp"

using namespace kkc_test;

namespace {

template <class T>
struct Coordinates {
  int64_t rows = 0, cols = 0;
  std::vector<int64_t> row, col;
  std::vector<T> values;
};

template <class T>
Coordinates<T> random_coordinates(Random& random, int64_t rows, int64_t cols, int64_t n) {
  Coordinates<T> A{rows, cols, {}, {}, random_vector<T>(random, static_cast<size_t>(n))};
  for (int64_t k = 0; k < n; ++k) {
    A.row.push_back(random_int(random, 0, rows - 1));
    A.col.push_back(random_int(random, 0, cols - 1));
  }
  return A;
}

template <class T>
HostCsr<T> compressed(const Coordinates<T>& A, bool add) {
  std::vector<size_t> order(A.row.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) {
    return A.row[a] != A.row[b] ? A.row[a] < A.row[b] : A.col[a] < A.col[b];
  });
  HostCsr<T> C;
  C.rows = A.rows;
  C.cols = A.cols;
  C.offsets.assign(static_cast<size_t>(A.rows) + 1, 0);
  for (size_t k = 0; k < order.size(); ++k) {
    const size_t e = order[k];
    if (add && k > 0 && A.row[e] == A.row[order[k - 1]] && A.col[e] == A.col[order[k - 1]]) {
      C.values.back() += A.values[e];
      continue;
    }
    C.indices.push_back(A.col[e]);
    C.values.push_back(A.values[e]);
    ++C.offsets[static_cast<size_t>(A.row[e]) + 1];
  }
  std::partial_sum(C.offsets.begin(), C.offsets.end(), C.offsets.begin());
  return C;
}

/// Every second element of an array holds an index.
template <class In>
struct Indices {
  Array<In> memory;
  View view;
  Indices(const Context& ctx, const std::vector<int64_t>& from, int32_t base, int64_t stride)
      : memory(ctx, spread(from, base, stride)) {
    view = wrap(ctx, memory.data(), {static_cast<int64_t>(from.size())}, KKC_LAYOUT_STRIDED, {stride});
  }
  static std::vector<In> spread(const std::vector<int64_t>& from, int32_t base, int64_t stride) {
    std::vector<In> to(from.size() * static_cast<size_t>(stride), In{-77});
    for (size_t i = 0; i < from.size(); ++i) to[i * static_cast<size_t>(stride)] = static_cast<In>(from[i] + base);
    return to;
  }
};

template <class In, class T>
void check_coordinates(const Context& ctx, Random& random, Coordinates<T> host, kkc_index_pair_t pair, int32_t base,
                       int64_t stride) {
  const Indices<In> row(ctx, host.row, base, stride), col(ctx, host.col, base, stride);
  Array<T> values(ctx, host.values);
  const View values_view = wrap(ctx, values.data(), {static_cast<int64_t>(host.values.size())});
  for (const bool add : {true, false}) {
    Plan plan;
    ok(kkc_coo_to_csr_plan(ctx, host.rows, host.cols, base, row.view, col.view, pair, scalar_tag<T>,
                           Options(add ? "{}" : R"({"duplicates": "keep"})"), plan.out()));
    Matrix C;
    ok(kkc_plan_create_output(plan, C.out()));
    for (int repeat = 0; repeat < 2; ++repeat) {
      ok(kkc_coo_to_csr_execute(plan, values_view, C));
      ctx.synchronize();
      check_same(download<T>(ctx, C), compressed(host, add));
      host.values = random_vector<T>(random, host.values.size());
      values.set(host.values);
    }
  }
}

}  // namespace

TEST_CASE("coo_to_csr: every type, base, stride and shape", "[coo_to_csr]") {
  Random random(seed());
  for_all_types("coo_to_csr", [&]<class T>(T, kkc_device_t device, kkc_index_pair_t pair) {
    const Context ctx(device, device == KKC_DEVICE_OPENMP ? R"({"threads": 3})" : "");
    check_coordinates<int32_t>(ctx, random, random_coordinates<T>(random, 100, 70, 2000), pair, 0, 1);
    check_coordinates<int64_t>(ctx, random, random_coordinates<T>(random, 70, 100, 500), pair, 1, 2);
    check_coordinates<int32_t>(ctx, random, random_coordinates<T>(random, 90000, 40000, 60000), pair, 1, 3);
    check_coordinates<int64_t>(ctx, random, random_coordinates<T>(random, 1, 1, 100), pair, 0, 1);
    check_coordinates<int64_t>(ctx, random, random_coordinates<T>(random, 1, 90000, 20000), pair, 0, 1);
    check_coordinates<int32_t>(ctx, random, random_coordinates<T>(random, 5, 0, 0), pair, 0, 1);
    check_coordinates<int32_t>(ctx, random, random_coordinates<T>(random, 0, 0, 0), pair, 1, 1);
  });
}

TEST_CASE("coo_to_csr: refusals", "[coo_to_csr]") {
  const auto says = [](const char* part) { return std::string(kkc_last_error()).find(part) != std::string::npos; };
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    INFO(name(device));
    const Context ctx(device);
    const Indices<int32_t> row(ctx, {0, 1, 2}, 1, 1), col(ctx, {2, 1, 3}, 1, 1), two(ctx, {0, 1}, 0, 1);
    Plan plan;
    const auto plan_of = [&](int64_t rows, int64_t cols, int32_t base, kkc_view_t* r, kkc_view_t* c) {
      return kkc_coo_to_csr_plan(ctx, rows, cols, base, r, c, KKC_INDEX_32_32, KKC_TYPE_F64, nullptr, plan.out());
    };
    CHECK(plan_of(3, 3, 1, row.view, col.view) == KKC_STATUS_INDEX_OUT_OF_RANGE);
    CHECK(says("col_indices[2] is 4, expected 1 to 3"));
    CHECK(plan_of(2, 4, 1, row.view, col.view) == KKC_STATUS_INDEX_OUT_OF_RANGE);
    CHECK(says("row_indices[2] is 3, expected 1 to 2"));
    CHECK(plan_of(3, 4, 0, row.view, col.view) == KKC_STATUS_INDEX_OUT_OF_RANGE);
    CHECK(plan_of(3, 4, 2, row.view, col.view) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(plan_of(3, 4, 1, row.view, two.view) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(plan_of(-1, 4, 1, row.view, col.view) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(plan_of(int64_t{1} << 31, 4, 1, row.view, col.view) == KKC_STATUS_OVERFLOW);
    CHECK(plan_of(0, 0, 1, row.view, col.view) == KKC_STATUS_INVALID_ARGUMENT);
    const Array<double> values(ctx, std::vector<double>{1, 2, 3});
    const View values_view = wrap(ctx, values.data(), {3}), few = wrap(ctx, values.data(), {2});
    CHECK(plan_of(3, 4, 1, values_view, col.view) == KKC_STATUS_TYPE_MISMATCH);
    CHECK(plan == nullptr);

    ok(plan_of(3, 4, 1, row.view, col.view));
    Matrix C;
    ok(kkc_plan_create_output(plan, C.out()));
    CHECK(kkc_coo_to_csr_execute(plan, few, C) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(kkc_coo_to_csr_execute(plan, nullptr, C) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_coo_to_csr_execute(plan, row.view, C) == KKC_STATUS_TYPE_MISMATCH);
    ok(kkc_coo_to_csr_execute(plan, values_view, C));

    const Array<int64_t> places(ctx, std::vector<int64_t>(3, -1));
    const View places_view = wrap(ctx, places.data(), {3});
    CHECK(kkc_plan_output_permutation(plan, places_view) == KKC_STATUS_NOT_SUPPORTED);  // no duplicates, but might add
    CHECK(says("duplicates = keep"));
    Plan keeps;
    ok(kkc_coo_to_csr_plan(ctx, 3, 4, 1, row.view, col.view, KKC_INDEX_32_32, KKC_TYPE_F64,
                           Options(R"({"duplicates": "keep"})"), keeps.out()));
    ok(kkc_plan_output_permutation(keeps, places_view));
    CHECK((places.get() == std::vector<int64_t>{0, 1, 2}));

    Plan of_pattern;
    Matrix pattern;
    ok(kkc_coo_to_csr_plan(ctx, 3, 4, 1, row.view, col.view, KKC_INDEX_32_32, KKC_TYPE_NONE, nullptr,
                           of_pattern.out()));
    ok(kkc_plan_create_output(of_pattern, pattern.out()));
    ok(kkc_coo_to_csr_execute(of_pattern, nullptr, pattern));
    ctx.synchronize();
    CHECK((download<double>(ctx, pattern).indices == std::vector<int64_t>{2, 1, 3}));
  }
}
