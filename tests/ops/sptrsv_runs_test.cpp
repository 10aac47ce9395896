// sptrsv on hosts: rows whose columns lie at the same distances from them, which are solved several at a time.
#include "support/catch.hpp"

#include <algorithm>
#include <string>

#include "support/sptrsv_case.hpp"

using namespace kkc_test;

namespace {

/// Of each row the columns so far left of the diagonal, those in its line of `width` rows only where less than that.
std::vector<std::vector<int64_t>> at_distances(const std::vector<int64_t>& distances, int64_t width, int64_t n) {
  std::vector<std::vector<int64_t>> left(static_cast<size_t>(n));
  for (int64_t row = 0; row < n; ++row)
    for (const int64_t d : distances)
      if (d >= width ? row >= d : row % width >= d) left[static_cast<size_t>(row)].push_back(row - d);
  return left;
}

/// With the other triangle's pattern beside it, which must not be read: rows stay alike.
template <class T>
HostCsr<T> with_other_triangle(const HostCsr<T>& A) {
  const auto each = [&](const auto& f) {
    for (int64_t row = 0; row < A.rows; ++row)
      for (auto p = A.offsets[static_cast<size_t>(row)]; p < A.offsets[static_cast<size_t>(row) + 1]; ++p)
        f(row, A.indices[static_cast<size_t>(p)], A.values[static_cast<size_t>(p)]);
  };
  std::vector<std::vector<std::pair<int64_t, T>>> rows(static_cast<size_t>(A.rows));
  each([&](int64_t row, int64_t column, T value) {
    rows[static_cast<size_t>(row)].emplace_back(column, value);
    if (row != column) rows[static_cast<size_t>(column)].emplace_back(row, not_a_number<T>());
  });
  HostCsr<T> both;
  both.rows = both.cols = A.rows;
  for (auto& row : rows) {
    std::sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [column, value] : row) {
      both.indices.push_back(column);
      both.values.push_back(value);
    }
    both.offsets.push_back(both.nnz());
  }
  return both;
}

struct Kind {
  std::vector<int64_t> distances;  // descending
  int64_t width;
};

std::vector<Kind> kinds() {
  return {{{}, 1},
          {{1}, 1000},
          {{1}, 37},
          {{2, 1}, 50},
          {{3}, 90},
          {{5, 2}, 50},
          {{6, 4, 3}, 200},
          {{6, 3, 1}, 64},
          {{900, 3}, 900},
          {{40, 1}, 40},
          {{40, 8}, 40},
          {{60, 59, 8}, 30},
          {{200, 20, 1}, 20},
          {{64, 63, 62, 61, 1}, 60},
          {{90, 7, 2}, 45},
          {{90, 9, 8, 7}, 900},
          {{12, 5, 3, 1}, 7},
          {{31, 30, 29, 1}, 30},
          {{100, 99, 98, 97, 96, 95, 94, 93, 92, 91, 90, 1}, 90},
          {{12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, 400}};
}

std::vector<kkc_device_t> hosts() {
  std::vector<kkc_device_t> found;
  for (const kkc_device_t device : devices())
    if (!is_gpu(device)) found.push_back(device);
  return found;
}

}  // namespace

TEMPLATE_TEST_CASE("sptrsv: rows at the same distances from their columns", "[sptrsv]", float, double) {
  using T = TestType;
  for (const kkc_device_t device : hosts()) {
    if (!has_kernels<T>(device, "sptrsv")) continue;
    const Context ctx(device);
    Random random(seed());
    for (const Kind& kind : kinds())
      for (const kkc_uplo_t uplo : {KKC_UPLO_LOWER, KKC_UPLO_UPPER})
        for (const kkc_diag_t diag : {KKC_DIAG_STORED, KKC_DIAG_UNIT}) {
          const int64_t n = random_int(random, 1, 500);
          HostCsr<T> A = triangle_of<T>(random, at_distances(kind.distances, kind.width, n), uplo, diag, {});
          if (random() % 2 == 0) A = with_other_triangle(A);
          SptrsvCase<T> c;
          c.implementation = "host_levels";
          c.uplo = uplo;
          c.diag = diag;
          c.alpha = T(-1.5);
          c.base = static_cast<int32_t>(random() % 2);
          c.in_place = random() % 3 == 0;
          if (!c.in_place && random() % 3 == 0) c.b_lie = Lie::strided_vector;
          INFO("seed " << seed() << ", " << name(device) << ", " << n << " rows, width " << kind.width << ", "
                       << kind.distances.size() << " distances, " << c.text());
          const auto wrong = run_case(ctx, c, A, random);
          REQUIRE(wrong);
          REQUIRE(*wrong == "");
        }
  }
}

TEMPLATE_TEST_CASE("sptrsv: rows in place give the same bits for any number of threads", "[sptrsv]", float, double) {
  using T = TestType;
  for (const kkc_device_t device : hosts()) {
    if (device != KKC_DEVICE_OPENMP || !has_kernels<T>(device, "sptrsv")) continue;
    Random random(seed());
    for (const Kind& kind : {Kind{{1000, 1}, 1000}, Kind{{1000, 3}, 1000}, Kind{{5, 2}, 800},
                             Kind{{999, 998, 997, 3, 1}, 333}, Kind{{2001, 2000, 1999, 101, 100, 99, 98, 97, 1}, 97}})
      for (const kkc_uplo_t uplo : {KKC_UPLO_LOWER, KKC_UPLO_UPPER}) {
        const HostCsr<T> host = with_other_triangle(
            triangle_of<T>(random, at_distances(kind.distances, kind.width, 40000), uplo, KKC_DIAG_STORED, {}));
        const std::vector<T> right = random_vector<T>(random, static_cast<size_t>(host.rows));
        std::vector<T> first;
        for (const int threads : {1, 2, 3, 5}) {
          const Context ctx(device, "{\"threads\": " + std::to_string(threads) + '}');
          const DeviceCsr<T> A(ctx, host, KKC_INDEX_32_32, 0);
          const Array<T> b(ctx, right), x(ctx, right.size());
          const View from = wrap(ctx, b.data(), {host.rows}), to = wrap(ctx, x.data(), {host.rows});
          Plan plan;
          ok(kkc_sptrsv_plan(ctx, KKC_OP_NONE, uplo, KKC_DIAG_STORED, A, from, to,
                             Options(R"({"implementation": "host_levels"})"), plan.out()));
          const T alpha(0.7);
          ok(kkc_sptrsv_execute(plan, &alpha, A, from, to));
          const std::vector<T> solution = x.get();
          if (first.empty()) first = solution;
          INFO("seed " << seed() << ", uplo " << uplo << ", width " << kind.width << ", " << threads
                       << " threads: " << info_of_plan(plan));
          const bool same = solution == first;
          REQUIRE(same);
        }
      }
  }
}

TEST_CASE("sptrsv: the first zero on the diagonal is reported wherever it lies among like rows", "[sptrsv]") {
  for (const kkc_device_t device : hosts()) {
    const Context ctx(device);
    Random random(seed());
    for (const kkc_uplo_t uplo : {KKC_UPLO_LOWER, KKC_UPLO_UPPER}) {
      const HostCsr<double> good =
          triangle_of<double>(random, at_distances({45, 1}, 45, 135), uplo, KKC_DIAG_STORED, {});
      DeviceCsr<double> A(ctx, good, KKC_INDEX_32_32, 0);
      const Array<double> b(ctx, random_vector<double>(random, 135)), x(ctx, size_t{135});
      const View from = wrap(ctx, b.data(), {135}), to = wrap(ctx, x.data(), {135});
      Plan plan;
      ok(kkc_sptrsv_plan(ctx, KKC_OP_NONE, uplo, KKC_DIAG_STORED, A, from, to,
                         Options(R"({"implementation": "host_levels"})"), plan.out()));
      for (int64_t row = 0; row < 135; ++row) {
        std::vector<double> bad = good.values;
        for (const int64_t zero : {row, row + 5, int64_t{134}})
          if (zero < 135)
            bad[static_cast<size_t>(uplo == KKC_UPLO_LOWER ? good.offsets[static_cast<size_t>(zero) + 1] - 1
                                                           : good.offsets[static_cast<size_t>(zero)])] = 0;
        A.values().set(bad);
        const double one = 1;
        INFO(name(device) << ", uplo " << uplo << ", row " << row);
        CHECK(kkc_sptrsv_execute(plan, &one, A, from, to) == KKC_STATUS_ZERO_PIVOT);
        CHECK(std::string(kkc_last_error()).find("row " + std::to_string(row) + ' ') != std::string::npos);
      }
    }
  }
}
