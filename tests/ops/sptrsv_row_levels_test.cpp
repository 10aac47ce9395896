// sptrsv on hosts: rows by their levels, from the caller's values, as they lie and as the plan lists them.
#include "support/catch.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "support/sptrsv_case.hpp"

using namespace kkc_test;

namespace {

/// Of each row the columns left of the diagonal: up to `most`, and of one row in a thousand many more; the last rows
/// are a chain.
std::vector<std::vector<int64_t>> short_rows(Random& random, int64_t n, int64_t most) {
  constexpr int64_t chain = 20;
  std::vector<std::vector<int64_t>> left(static_cast<size_t>(n));
  for (int64_t i = 1; i < n; ++i) {
    std::set<int64_t> columns;
    for (int64_t k = random_int(random, 0, random() % 1000 == 0 ? 70 : most); k > 0; --k)
      columns.insert(random_int(random, 0, i - 1));
    if (i >= n - chain) columns.insert(i - 1);
    left[static_cast<size_t>(i)].assign(columns.begin(), columns.end());
  }
  return left;
}

}  // namespace

TEMPLATE_TEST_CASE("sptrsv: rows by level have the bits of rows one by one", "[sptrsv]", float, double) {
  using T = TestType;
  constexpr kkc_device_t device = KKC_DEVICE_OPENMP;
  const auto asked = devices();
  if (std::find(asked.begin(), asked.end(), device) == asked.end() || !has_kernels<T>(device, "sptrsv")) return;
  Random random(seed());
  for (const int64_t most : {0, 1, 3, 7, 16})
    for (const auto& [uplo, op, reversed] :
         {std::tuple(KKC_UPLO_LOWER, KKC_OP_NONE, false), std::tuple(KKC_UPLO_UPPER, KKC_OP_NONE, false),
          std::tuple(KKC_UPLO_LOWER, KKC_OP_TRANSPOSE, false), std::tuple(KKC_UPLO_UPPER, KKC_OP_HERMITIAN, false),
          std::tuple(KKC_UPLO_LOWER, KKC_OP_NONE, true)}) {
      // Rows of a level are dealt by their lengths to one and three threads; entries of op T to groups of columns.
      const int64_t n = op == KKC_OP_NONE ? 30'000 : 70'000;
      const kkc_diag_t diag = random() % 2 == 0 ? KKC_DIAG_STORED : KKC_DIAG_UNIT;
      Held held;
      held.full = random() % 2 == 0;
      auto host = triangle_of<T>(random, short_rows(random, n, most), uplo, diag, held);
      for (size_t row = 0; reversed && row < static_cast<size_t>(n); ++row) {
        const auto begin = host.offsets[row], end = host.offsets[row + 1];
        std::reverse(host.indices.begin() + begin, host.indices.begin() + end);
        std::reverse(host.values.begin() + begin, host.values.begin() + end);
      }
      const kkc_index_pair_t pair = any_pair<T>(random, device, "sptrsv");
      const auto base = static_cast<int32_t>(random() % 2);
      const std::vector<T> right = random_vector<T>(random, static_cast<size_t>(n));
      const T alpha(0.7f);
      std::vector<T> first;
      for (const int threads : {1, 3, 5}) {
        const Context ctx(device, "{\"threads\": " + std::to_string(threads) + '}');
        const DeviceCsr<T> A(ctx, host, pair, base);
        // A strided right-hand side is read row by row.
        for (const int64_t stride : {2, 1}) {
          std::vector<T> spread(static_cast<size_t>(n * stride));
          for (int64_t i = 0; i < n; ++i) spread[static_cast<size_t>(i * stride)] = right[static_cast<size_t>(i)];
          const Array<T> b(ctx, spread), x(ctx, static_cast<size_t>(n));
          const View from = wrap(ctx, b.data(), {n}, KKC_LAYOUT_STRIDED, {stride}), to = wrap(ctx, x.data(), {n});
          Plan plan;
          ok(kkc_sptrsv_plan(ctx, op, uplo, diag, A, from, to, Options(R"({"implementation": "host_levels"})"),
                             plan.out()));
          ok(kkc_sptrsv_execute(plan, &alpha, A, from, to));
          if (first.empty()) first = x.get();
          INFO("seed " << seed() << ", up to " << most << ", op " << op << ", uplo " << uplo << ", reversed "
                       << reversed << ", diag " << diag << ", base " << base << ", stride " << stride << ", " << threads
                       << " threads: " << info_of_plan(plan));
          // Each row its own, but for one thread's columns.
          if (most == 3 && (op == KKC_OP_NONE || threads > 1)) CHECK(number_in(info_of_plan(plan), "blocks") == n);
          const bool same = x.get() == first;
          REQUIRE(same);
        }
      }
      if (diag == KKC_DIAG_UNIT) continue;
      // The first of two rows whose diagonal is zero is named.
      for (const int64_t row : {int64_t{777}, int64_t{12'345}})
        for (auto p = host.offsets[static_cast<size_t>(row)]; p < host.offsets[static_cast<size_t>(row) + 1]; ++p)
          if (host.indices[static_cast<size_t>(p)] == row) host.values[static_cast<size_t>(p)] = 0;
      const Context ctx(device, R"({"threads": 3})");
      const DeviceCsr<T> A(ctx, host, pair, base);
      const Array<T> b(ctx, right), x(ctx, static_cast<size_t>(n));
      const View from = wrap(ctx, b.data(), {n}), to = wrap(ctx, x.data(), {n});
      Plan plan;
      ok(kkc_sptrsv_plan(ctx, op, uplo, diag, A, from, to, Options(R"({"implementation": "host_levels"})"),
                         plan.out()));
      CHECK(kkc_sptrsv_execute(plan, &alpha, A, from, to) == KKC_STATUS_ZERO_PIVOT);
      CHECK(std::string(kkc_last_error()).find("row 777 ") != std::string::npos);
    }
}
