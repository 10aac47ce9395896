// sort_rows: against std::stable_sort, bit by bit; sums in the input's order.
#include "support/output_case.hpp"

using namespace kkc_test;

namespace {

/// With the place of each entry in A.
template <class T>
HostCsr<T> sorted(const HostCsr<T>& A, bool add, std::vector<int64_t>& places) {
  HostCsr<T> C;
  C.rows = A.rows;
  C.cols = A.cols;
  places.clear();
  for (int64_t i = 0; i < A.rows; ++i) {
    std::vector<size_t> row;
    for (int64_t p = A.offsets[static_cast<size_t>(i)]; p < A.offsets[static_cast<size_t>(i) + 1]; ++p)
      row.push_back(static_cast<size_t>(p));
    std::stable_sort(row.begin(), row.end(), [&](size_t a, size_t b) { return A.indices[a] < A.indices[b]; });
    for (size_t k = 0; k < row.size(); ++k) {
      if (add && k > 0 && A.indices[row[k]] == A.indices[row[k - 1]]) {
        C.values.back() += A.values[row[k]];
        continue;
      }
      C.indices.push_back(A.indices[row[k]]);
      C.values.push_back(A.values[row[k]]);
      places.push_back(static_cast<int64_t>(row[k]));
    }
    C.offsets.push_back(C.nnz());
  }
  return C;
}

template <class T>
void check_sort(const Context& ctx, Random& random, HostCsr<T> host, kkc_index_pair_t pair, int32_t base,
                const std::string& implementation) {
  DeviceCsr<T> A(ctx, host, pair, base);
  for (const bool add : {false, true}) {
    INFO((add ? "add" : "keep"));
    Plan plan;
    ok(kkc_sort_rows_plan(ctx, A,
                          Options(R"({"implementation": ")" + implementation + R"(", "duplicates": ")" +
                                  (add ? "add" : "keep") + R"("})"),
                          plan.out()));
    std::vector<int64_t> places;
    HostCsr<T> expected = sorted(host, add, places);
    int64_t nnz = -1;
    ok(kkc_plan_output_nnz(plan, &nnz));
    REQUIRE(nnz == expected.nnz());
    Matrix C;
    ok(kkc_plan_create_output(plan, C.out()));
    OutputCsr<T> own(ctx, host.rows, host.cols, nnz, pair, 1 - base);
    ok(kkc_plan_output_pattern(plan, own));
    for (int repeat = 0; repeat < 2; ++repeat) {
      ok(kkc_sort_rows_execute(plan, A, C));
      ok(kkc_sort_rows_execute(plan, A, own));
      ctx.synchronize();
      check_same(download<T>(ctx, C), expected);
      check_same(download<T>(ctx, own), expected);
      host.values = random_vector<T>(random, host.values.size());
      A.values().set(host.values);
      expected = sorted(host, add, places);
    }
    Array<int64_t> wide(ctx, static_cast<size_t>(nnz));
    Array<int32_t> narrow(ctx, static_cast<size_t>(nnz));
    const View wide_view = wrap(ctx, wide.data(), {nnz}), narrow_view = wrap(ctx, narrow.data(), {nnz});
    if (add) {  // also where there is nothing to add
      CHECK(kkc_plan_output_permutation(plan, wide_view) == KKC_STATUS_NOT_SUPPORTED);
    } else {
      ok(kkc_plan_output_permutation(plan, wide_view));
      ok(kkc_plan_output_permutation(plan, narrow_view));
      CHECK((wide.get() == places));
      CHECK((narrow.get() == std::vector<int32_t>(places.begin(), places.end())));
    }
  }
}

/// Rows of given lengths with columns in no order; `distinct` columns at most, so that duplicates come up.
template <class T>
HostCsr<T> rows_of_lengths(Random& random, const std::vector<int64_t>& lengths, int64_t cols, int64_t distinct) {
  HostCsr<T> A;
  A.rows = static_cast<int64_t>(lengths.size());
  A.cols = cols;
  for (const int64_t length : lengths) {
    for (int64_t k = 0; k < length; ++k)
      A.indices.push_back(cols - 1 - random_int(random, 0, distinct - 1) * (cols / distinct));
    A.offsets.push_back(A.nnz());
  }
  A.values = random_vector<T>(random, A.indices.size());
  return A;
}

}  // namespace

TEST_CASE("sort_rows: every implementation, type, base and length of rows", "[sort_rows]") {
  Random random(seed());
  for_all_types("sort_rows", [&]<class T>(T, kkc_device_t device, kkc_index_pair_t pair) {
    const Context ctx(device, device == KKC_DEVICE_OPENMP ? R"({"threads": 3})" : "");
    int32_t count = 0;
    ok(kkc_implementation_count(device, "sort_rows", &count));
    for (int32_t i = 0; i < count; ++i) {
      const char* implementation = nullptr;
      ok(kkc_implementation_name(device, "sort_rows", i, &implementation));
      for (const Shape shape : all_shapes) {
        INFO(implementation << ' ' << name(shape));
        check_sort(ctx, random, random_csr<T>(random, shape, 211, 173), pair, random() % 2, implementation);
      }
      // Both sides of every class's bound, long rows among short ones, few and many duplicates.
      const std::vector<int64_t> lengths = {0,  1,    2,    7,    8,    9,    15,   16,   17,   31,   32,
                                            33, 0,    64,   65,   127,  128,  129,  255,  1023, 1024, 1025,
                                            3,  2047, 2048, 2049, 4095, 4096, 4097, 9000, 5,    0};
      check_sort(ctx, random, rows_of_lengths<T>(random, lengths, 100000, 50000), pair, 0, implementation);
      check_sort(ctx, random, rows_of_lengths<T>(random, lengths, 100000, 40), pair, 1, implementation);
      check_sort(ctx, random, rows_of_lengths<T>(random, {20000, 3}, 300, 300), pair, 1, implementation);
      check_sort(ctx, random, rows_of_lengths<T>(random, std::vector<int64_t>(6000, 6), 1000, 500), pair, 0,
                 implementation);
      for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{0, 0}, {0, 5}, {5, 0}, {1, 1}, {1, 1000}, {1000, 1}})
        check_sort(ctx, random, random_csr<T>(random, Shape::unsorted_duplicates, rows, cols), pair, 0, implementation);
    }
  });
}

TEST_CASE("sort_rows: sorted rows cost no permutation, patterns have no values, descending rows between rows count",
          "[sort_rows]") {
  Random random(seed());
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    INFO(name(device));
    const Context ctx(device);
    const HostCsr<double> host = random_csr<double>(random, Shape::stencil, 300, 300);
    const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 1);
    Plan plan, of_pattern;
    ok(kkc_sort_rows_plan(ctx, A, Options(R"({"duplicates": "add"})"), plan.out()));
    CHECK(info_of_plan(plan).find("\"keeps_order\":1") != std::string::npos);
    HostCsr<double> turned = host;
    std::swap(turned.indices.at(7), turned.indices.at(8));
    const DeviceCsr<double> B(ctx, turned, KKC_INDEX_32_32, 1);
    Matrix pattern, C;
    ok(kkc_csr_create(ctx, 300, 300, host.nnz(), KKC_INDEX_32_32, KKC_TYPE_NONE, 1, B.offsets(), B.indices(), nullptr,
                      pattern.out()));
    ok(kkc_sort_rows_plan(ctx, pattern, nullptr, of_pattern.out()));
    CHECK(info_of_plan(of_pattern).find("\"keeps_order\":0") != std::string::npos);
    ok(kkc_plan_create_output(of_pattern, C.out()));
    ok(kkc_sort_rows_execute(of_pattern, pattern, C));
    ctx.synchronize();
    HostCsr<double> result = download<double>(ctx, C);
    result.values = host.values;
    check_same(result, host);
  }
}

TEST_CASE("sort_rows: refusals", "[sort_rows]") {
  const auto says = [](const char* part) { return std::string(kkc_last_error()).find(part) != std::string::npos; };
  Random random(5);
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    INFO(name(device));
    const Context ctx(device);
    const HostCsr<double> host = random_csr<double>(random, Shape::few, 20, 30);
    const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0);
    Plan plan;
    CHECK(kkc_sort_rows_plan(ctx, A, Options(R"({"duplicates": "drop"})"), plan.out()) == KKC_STATUS_UNKNOWN_OPTION);
    CHECK(says("duplicates"));
    HostCsr<double> bad = host;
    bad.indices.at(2) = -1;
    const DeviceCsr<double> outside(ctx, bad, KKC_INDEX_32_32, 0);
    CHECK(kkc_sort_rows_plan(ctx, outside, nullptr, plan.out()) == KKC_STATUS_INDEX_OUT_OF_RANGE);
    CHECK(says("A: col_indices[2] is -1"));
    ok(kkc_sort_rows_plan(ctx, A, nullptr, plan.out()));
    CHECK(kkc_sort_rows_execute(plan, A, A) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(says("overlap"));
    const Array<double> few(ctx, size_t{3});
    CHECK(kkc_plan_output_permutation(plan, wrap(ctx, few.data(), {3})) == KKC_STATUS_TYPE_MISMATCH);
    const Array<int32_t> short_one(ctx, size_t{3});
    CHECK(kkc_plan_output_permutation(plan, wrap(ctx, short_one.data(), {3})) == KKC_STATUS_SIZE_MISMATCH);
    Plan transposed;
    ok(kkc_transpose_plan(ctx, KKC_OP_TRANSPOSE, A, KKC_INDEX_32_32, nullptr, transposed.out()));
    CHECK(kkc_sort_rows_execute(transposed, A, A) == KKC_STATUS_INVALID_HANDLE);
    CHECK(says("plan is a plan of transpose"));
  }
}
