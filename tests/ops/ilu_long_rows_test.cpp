// ilu and ic where a few rows look through very many entries of others, which blocks of a GPU take: zero, boosted and
// spoilt pivots there, and columns that very many rows have.
#include "support/catch.hpp"

#include "support/ilu_case.hpp"

using namespace kkc_test;

namespace {

constexpr int64_t n = 6000, wide_rows = 100, narrow = 2500, wide = 3000;

/// The first rows are wide, and rows `narrow`, `wide`, and two more need all of them; most rows share a column near the
/// end.
template <class T>
HostCsr<T> needing_many(Random& random, Form form) {
  const T diagonal(form == Form::lu ? 40 : 400);  // so that pivots of cholesky are positive
  HostCsr<T> A;
  A.rows = A.cols = n;
  for (int64_t i = 0; i < n; ++i) {
    std::vector<int64_t> columns{i};
    const bool is_wide = i == wide || i == wide + 1 || i == n - 1;
    for (int64_t j = 0; (is_wide || i == narrow) && j < wide_rows; ++j) columns.push_back(j);
    for (int64_t k = is_wide ? 3000 : i < wide_rows ? 300 : 3; k > 0; --k)
      columns.push_back(is_wide || i < wide_rows ? random_int(random, i < wide_rows ? i : 0, n - 1)
                                                 : std::max<int64_t>(i - random_int(random, 0, 40), 0));
    if (i % 10 != 0) columns.push_back(n - 2);
    std::sort(columns.begin(), columns.end());
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    for (const int64_t j : columns) {
      A.indices.push_back(j);
      A.values.push_back(i == j ? diagonal : random_value<T>(random));
    }
    A.offsets.push_back(A.nnz());
  }
  return A;
}

/// Three first rows of nearly all columns, and rows of a few that need some of those.
template <class T>
HostCsr<T> below_dense_rows(Random& random) {
  HostCsr<T> A;
  A.rows = A.cols = n;
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      if (i != j && (i < 3 ? j % 16 == 15 : j >= 3 || (i + j) % 4 == 0)) continue;
      A.indices.push_back(j);
      A.values.push_back(i == j ? T(40) : random_value<T>(random));
    }
    A.offsets.push_back(A.nnz());
  }
  return A;
}

/// So that the row's pivot is zero, for nothing is taken from it.
template <class T>
void clear_pivot(HostCsr<T>& A, int64_t row) {
  for (auto p = static_cast<size_t>(A.offsets[static_cast<size_t>(row)]); A.indices[p] <= row; ++p) A.values[p] = T(0);
}

/// The factors, or how the execute ended. On GPUs those of ilu by gpu_sync_free, which has blocks for such rows.
template <class T>
std::pair<Outcome, HostCsr<T>> factors(const Context& ctx, Form form, const HostCsr<T>& A, const std::string& further,
                                       int by_blocks) {
  const DeviceCsr<T> A_device(ctx, A, KKC_INDEX_32_32, 0);
  Plan plan;
  Matrix F;
  const bool blocks = is_gpu(ctx.device()) && form == Form::lu;
  std::string options = blocks ? R"("implementation": "gpu_sync_free")" : "";
  if (blocks && !further.empty()) options += ", ";
  ok(plan_factors(form, ctx, A_device, "{" + options + further + "}", plan.out()));
  if (blocks) CHECK_THAT(info_of_plan(plan), ContainsSubstring(R"("rows_by_blocks":)" + std::to_string(by_blocks)));
  ok(kkc_plan_create_output(plan, F.out()));
  const Outcome end = outcome(form, ctx, plan, A_device, F);
  return {end, download<T>(ctx, F)};
}

/// Those of ctx's device beside those of the reference.
template <class T>
void compare(const Context& ctx, Form form, const HostCsr<T>& A, const std::string& further, int by_blocks) {
  using R = typename RealOf<T>::type;
  const Context host(KKC_DEVICE_SERIAL);
  const auto [end, got] = factors(ctx, form, A, further, by_blocks);
  REQUIRE(end.status == KKC_STATUS_SUCCESS);
  const auto [_, expected] =
      factors(host, form, A, R"("implementation": "reference")" + (further.empty() ? "" : ", " + further), by_blocks);
  REQUIRE(got.indices == expected.indices);
  double worst = 0;
  for (size_t p = 0; p < got.values.size(); ++p)
    worst = std::max(worst, static_cast<double>(std::abs(got.values[p] - expected.values[p])));
  CHECK(worst < 2e4 * static_cast<double>(std::numeric_limits<R>::epsilon()));
}

template <class T>
void check_factors(kkc_device_t device, Form form) {
  using R = typename RealOf<T>::type;
  INFO(name(device) << ' ' << name(form) << ", seed " << seed());
  Random random(seed());
  const Context ctx(device);
  const HostCsr<T> A = needing_many<T>(random, form);
  compare(ctx, form, A, "", 4);

  HostCsr<T> singular = A;
  for (const int64_t row : {narrow, wide}) clear_pivot(singular, row);
  Outcome end = factors(ctx, form, singular, "", 4).first;
  CHECK(end.status == KKC_STATUS_ZERO_PIVOT);
  if (is_gpu(device)) CHECK(end.row == narrow);
  compare(ctx, form, singular, R"("pivot_boost": 1e-3, "boost_value": 35)", 4);

  HostCsr<T> spoilt = A;
  const int64_t place = form == Form::lu ? spoilt.offsets[wide + 1] - 1 : spoilt.offsets[wide];
  spoilt.values[static_cast<size_t>(place)] = T(std::numeric_limits<R>::quiet_NaN());
  end = factors(ctx, form, spoilt, "", 4).first;
  CHECK(end.status == KKC_STATUS_BREAKDOWN);
  if (is_gpu(device)) CHECK(end.row == wide);
}

}  // namespace

TEMPLATE_TEST_CASE("ilu, ic: rows that look through very many entries, and their pivots", "[ilu][ic]", float, double,
                   std::complex<float>, std::complex<double>) {
  for (const kkc_device_t device : devices())
    for (const Form form : {Form::lu, Form::cholesky})
      if (has_kernels<TestType>(device, name(form))) check_factors<TestType>(device, form);
}

TEMPLATE_TEST_CASE("ilu: first rows of nearly all columns", "[ilu]", float, double, std::complex<float>,
                   std::complex<double>) {
  using T = TestType;
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<T>(device, name(Form::lu))) continue;
    INFO(name(device) << ", seed " << seed());
    Random random(seed());
    const Context ctx(device);
    HostCsr<T> A = below_dense_rows<T>(random);
    compare(ctx, Form::lu, A, "", 3);
    HostCsr<T> singular = A;
    singular.values.front() = T(0);
    const Outcome end = factors(ctx, Form::lu, singular, "", 3).first;
    CHECK(end.status == KKC_STATUS_ZERO_PIVOT);
    if (is_gpu(device)) CHECK(end.row == 0);
    compare(ctx, Form::lu, singular, R"("pivot_boost": 1e-3, "boost_value": 35)", 3);
    A.values[static_cast<size_t>(A.offsets[1]) - 1] = T(std::numeric_limits<typename RealOf<T>::type>::quiet_NaN());
    CHECK(factors(ctx, Form::lu, A, "", 3).first.status == KKC_STATUS_BREAKDOWN);
  }
}
