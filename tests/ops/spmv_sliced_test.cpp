// spmv, host_sliced: rows of every length, eight at a time, where they end together and where they do not.
#include "support/catch.hpp"

#include <functional>
#include <limits>

#include "support/plan_info.hpp"
#include "support/spmv_case.hpp"

using namespace kkc_test;

namespace {

/// Rows of `length(i)` entries anywhere, some in a column twice.
template <class T, class Length>
HostCsr<T> with_lengths(Random& random, int64_t rows, int64_t cols, const Length& length) {
  HostCsr<T> A;
  A.rows = rows;
  A.cols = cols;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t k = length(i); k > 0; --k) A.indices.push_back(random_int(random, 0, cols - 1));
    A.offsets.push_back(A.nnz());
  }
  A.values = random_vector<T>(random, A.indices.size());
  return A;
}

}  // namespace

TEMPLATE_TEST_CASE("spmv: rows of like lengths are multiplied eight at a time from kept values", "[spmv]", float,
                   double) {
  using T = TestType;
  for (const Visit& visit : visits()) {
    if (is_gpu(visit.device) || !has_kernels<T>(visit.device, "spmv")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    // All the same; of any length; some without entries; one of a group, and the last, far longer than the others; so
    // long that they are cut.
    const std::vector<std::function<int64_t(int64_t)>> lengths{
        [](int64_t) { return 5; }, [&](int64_t) { return random_int(random, 1, 20); },
        [&](int64_t i) { return i % 3 == 0 ? 0 : random_int(random, 0, 9); },
        [&](int64_t i) { return i % 256 == 77 || i == 2999 ? 900 : random_int(random, 0, 3); },
        [&](int64_t i) {
          return i % 1000 == 6 || i == 2999 ? random_int(random, 8000, 20'000) : random_int(random, 0, 6);
        }};
    for (size_t kind = 0; kind < lengths.size(); ++kind)
      for (const int64_t rows : {1, 7, 8, 257, 3000})
        for (const kkc_index_pair_t pair : {KKC_INDEX_32_32, KKC_INDEX_32_64, KKC_INDEX_64_64}) {
          if (!supported(visit.device, "spmv", pair, scalar_tag<T>)) continue;
          const HostCsr<T> A = with_lengths<T>(random, rows, 1000, lengths[kind]);
          if (A.nnz() == 0) continue;
          SpmvCase<T> c;
          c.implementation = "host_sliced";
          c.op = rows == 7 ? KKC_OP_CONJUGATE : KKC_OP_NONE;
          c.pair = pair;
          c.base = static_cast<int32_t>(kind % 2);
          c.y_lie = rows == 257 ? Lie::strided_vector : Lie::vector;
          c.alpha = T(-2);
          c.beta = T(kind % 2 == 0 ? 0 : 0.5);
          c.values_kept = true;
          INFO("seed " << seed() << ", " << name(visit.device) << ' ' << visit.options << ", kind " << kind << ", "
                       << rows << " rows, " << c.text());
          const auto wrong = run_case(ctx, c, A, random);
          REQUIRE(wrong.has_value() == has_wide_vectors(ctx));
          if (wrong) REQUIRE(*wrong == "");
        }
  }
}

TEST_CASE("spmv: entries behind a row's end add nothing, whatever x holds", "[spmv]") {
  for (const Visit& visit : visits()) {
    if (is_gpu(visit.device) || !has_kernels<double>(visit.device, "spmv")) continue;
    const Context ctx(visit.device, visit.options);
    Random random(seed());
    // Rows of 0 to 8 entries, of which the longest alone have x's first element: others would be NaN by 0 times it.
    HostCsr<double> A;
    A.rows = 800;
    A.cols = 100;
    for (int64_t i = 0; i < A.rows; ++i) {
      for (int64_t k = 0; k < i % 9; ++k)
        A.indices.push_back(i % 9 == 8 && k == 0 ? 0 : random_int(random, 1, A.cols - 1));
      A.offsets.push_back(A.nnz());
    }
    A.values.assign(A.indices.size(), 1.0);
    const DeviceCsr<double> a(ctx, A, KKC_INDEX_32_32, 0);
    std::vector<double> ones(static_cast<size_t>(A.cols), 1.0);
    ones[0] = std::numeric_limits<double>::infinity();
    const Array<double> x(ctx, ones), y(ctx, std::vector<double>(static_cast<size_t>(A.rows)));
    const View x_view = wrap(ctx, x.data(), {A.cols}), y_view = wrap(ctx, y.data(), {A.rows});
    Plan plan;
    ok(kkc_spmv_plan(ctx, KKC_OP_NONE, a, x_view, y_view, Options(R"({"values": "kept"})"), plan.out()));
    if (has_wide_vectors(ctx)) CHECK_THAT(info_of_plan(plan), ContainsSubstring("\"implementation\":\"host_sliced\""));
    ok(kkc_spmv_set_values(plan, a));
    const double one = 1, zero = 0;
    ok(kkc_spmv_execute(plan, &one, a, x_view, &zero, y_view));
    const std::vector<double> got = y.get();
    for (int64_t i = 0; i < A.rows; ++i)
      REQUIRE(got[static_cast<size_t>(i)] == (i % 9 == 8 ? ones[0] : static_cast<double>(i % 9)));
  }
}
