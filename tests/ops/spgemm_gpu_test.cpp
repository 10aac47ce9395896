// spgemm on GPUs: rows on both sides of every bin's limit, matrices with few kinds of rows, products too many for
// 32-bit offsets.
#include "support/catch.hpp"
#include "support/spgemm_case.hpp"

using namespace kkc_test;

namespace {

/// Rows of given columns, with values to be overwritten.
HostCsr<double> from_rows(int64_t cols, const std::vector<std::vector<int64_t>>& rows) {
  HostCsr<double> A;
  A.rows = static_cast<int64_t>(rows.size());
  A.cols = cols;
  A.offsets.assign(1, 0);
  for (const auto& row : rows) {
    A.indices.insert(A.indices.end(), row.begin(), row.end());
    A.offsets.push_back(static_cast<int64_t>(A.indices.size()));
  }
  A.values.resize(A.indices.size());
  return A;
}

/// `count` different columns below `cols`, in order.
std::vector<int64_t> different(Random& random, int64_t count, int64_t cols) {
  std::vector<bool> taken(static_cast<size_t>(cols), false);
  for (int64_t left = count; left > 0;) {
    const auto column = static_cast<size_t>(random() % static_cast<uint64_t>(cols));
    if (taken[column]) continue;
    taken[column] = true;
    --left;
  }
  std::vector<int64_t> columns;
  for (size_t column = 0; column < taken.size(); ++column)
    if (taken[column]) columns.push_back(static_cast<int64_t>(column));
  return columns;
}

void run(const Context& ctx, const SpgemmCase<double>& c, const HostCsr<double>& A, const HostCsr<double>& B,
         const HostCsr<double>* mask, Random& random) {
  const auto wrong = run_case(ctx, c, A, B, mask, random);
  if (wrong) REQUIRE(*wrong == "");
}

/// A grid's neighbours, and points joined by threes in each direction.
HostCsr<double> grid(int64_t nx, int64_t ny, bool corners) {
  std::vector<std::vector<int64_t>> rows;
  for (int64_t y = 0; y < ny; ++y)
    for (int64_t x = 0; x < nx; ++x) {
      rows.emplace_back();
      for (int64_t v = std::max<int64_t>(y - 1, 0); v <= std::min(y + 1, ny - 1); ++v)
        for (int64_t u = std::max<int64_t>(x - 1, 0); u <= std::min(x + 1, nx - 1); ++u)
          if (corners || u == x || v == y) rows.back().push_back(v * nx + u);
    }
  return from_rows(nx * ny, rows);
}
HostCsr<double> aggregates(int64_t nx, int64_t ny) {
  std::vector<std::vector<int64_t>> rows;
  const int64_t coarse = (nx + 2) / 3;
  for (int64_t i = 0; i < nx * ny; ++i) rows.push_back({i / nx / 3 * coarse + i % nx / 3});
  return from_rows(coarse * ((ny + 2) / 3), rows);
}

}  // namespace

TEST_CASE("spgemm: rows on both sides of every bin's limit", "[spgemm][gpu]") {
  for (const kkc_device_t device : devices()) {
    if (!is_gpu(device) || !supported(device, "spgemm", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    for (const int64_t cols : {int64_t{7000}, int64_t{900000}}) {
      // Row i of B has as many entries as the i-th limit; row i of A names it alone, further rows unite two.
      std::vector<std::vector<int64_t>> of_b, of_a;
      for (const int64_t limit :
           {1, 24, 25, 96, 97, 192, 193, 384, 385, 1024, 1025, 1536, 1537, 2048, 2049, 6144, 6145})
        of_b.push_back(different(random, limit, cols));
      of_b.emplace_back();
      for (size_t i = 0; i < of_b.size(); ++i) of_a.push_back({static_cast<int64_t>(i)});
      for (size_t i = 0; i + 1 < of_b.size(); ++i)
        of_a.push_back({static_cast<int64_t>(i), static_cast<int64_t>(of_b.size() - 1 - i)});
      for (auto& row : of_a) std::sort(row.begin(), row.end());
      const auto A = from_rows(static_cast<int64_t>(of_b.size()), of_a), B = from_rows(cols, of_b);
      std::vector<std::vector<int64_t>> of_mask;
      for (size_t i = 0; i < of_a.size(); ++i)
        of_mask.push_back(different(random, static_cast<int64_t>(i % 5) * 600, cols));
      const auto mask = from_rows(cols, of_mask);
      for (const std::string& implementation : implementations(device, "spgemm"))
        for (const bool masked : {false, true}) {
          SpgemmCase<double> c;
          c.implementation = implementation;
          c.beta = masked ? 0 : 2;
          INFO(c.text() << ", " << cols << " columns" << (masked ? ", masked" : ""));
          run(ctx, c, A, B, masked ? &mask : nullptr, random);
        }
    }
  }
}

TEST_CASE("spgemm: few kinds of rows", "[spgemm][gpu]") {
  for (const kkc_device_t device : devices()) {
    if (!is_gpu(device) || !supported(device, "spgemm", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    const Context ctx(device);
    Random random(seed());
    INFO("seed " << seed());
    const auto cross = grid(150, 130, false), square = grid(140, 140, true);
    auto once_different = cross;  // one row of another kind
    once_different.indices[once_different.indices.size() / 2] += 40;
    SpgemmCase<double> c;
    c.beta = -1;
    run(ctx, c, cross, cross, nullptr, random);
    run(ctx, c, square, square, nullptr, random);
    run(ctx, c, cross, aggregates(150, 130), nullptr, random);
    run(ctx, c, once_different, cross, nullptr, random);
    run(ctx, c, cross, once_different, nullptr, random);
  }
}

TEST_CASE("spgemm: more products than 32-bit offsets count", "[spgemm][gpu][large]") {
  for (const kkc_device_t device : devices()) {
    if (!is_gpu(device) || !supported(device, "spgemm", KKC_INDEX_32_32, KKC_TYPE_F32)) continue;
    const Context ctx(device);
    // A of ones in a column times a row of ones: every row of C is full.
    constexpr int64_t n = 46400;  // n n > 2^31
    std::vector<int32_t> column_offsets(n + 1), row_columns(n);
    for (int32_t i = 0; i <= n; ++i) column_offsets[static_cast<size_t>(i)] = i;
    for (int32_t i = 0; i < n; ++i) row_columns[static_cast<size_t>(i)] = i;
    const std::vector<int32_t> first(n, 0), row_offsets{0, static_cast<int32_t>(n)};
    std::vector<float> values(n);
    for (int64_t i = 0; i < n; ++i) values[static_cast<size_t>(i)] = static_cast<float>(i % 7 + 1);
    Matrix A, B, C;
    ok(kkc_csr_create_copy(ctx, n, 1, n, KKC_INDEX_32_32, KKC_TYPE_F32, 0, column_offsets.data(), first.data(),
                           values.data(), A.out()));
    ok(kkc_csr_create_copy(ctx, 1, n, n, KKC_INDEX_32_32, KKC_TYPE_F32, 0, row_offsets.data(), row_columns.data(),
                           values.data(), B.out()));
    Plan plan, refused;
    CHECK(kkc_spgemm_plan(ctx, KKC_OP_NONE, A, KKC_OP_NONE, B, nullptr, KKC_INDEX_32_32, nullptr, refused.out()) ==
          KKC_STATUS_OVERFLOW);
    CHECK(std::string(kkc_last_error()).find(std::to_string(n * n)) != std::string::npos);
    ok(kkc_spgemm_plan(ctx, KKC_OP_NONE, A, KKC_OP_NONE, B, nullptr, KKC_INDEX_32_64, nullptr, plan.out()));
    int64_t nnz = 0;
    ok(kkc_plan_output_nnz(plan, &nnz));
    REQUIRE(nnz == n * n);
    if (kkc_plan_create_output(plan, C.out()) == KKC_STATUS_OUT_OF_MEMORY) {
      WARN("not enough memory for " << nnz << " entries");
      continue;
    }
    const float one = 1, zero = 0;
    ok(kkc_spgemm_execute(plan, &one, A, B, &zero, C));
    ok(kkc_context_synchronize(ctx));
    const void *offsets = nullptr, *indices = nullptr;
    void* c_values = nullptr;
    ok(kkc_csr_get(C, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, &offsets, &indices, &c_values));
    std::vector<int32_t> columns(n);
    std::vector<float> row(n);
    for (const int64_t i : {int64_t{0}, n / 2, n - 1}) {  // the last lies past 2^31
      int64_t at = -1;
      ok(kkc_copy(ctx, &at, static_cast<const int64_t*>(offsets) + i, sizeof at, KKC_COPY_DEVICE_TO_HOST));
      REQUIRE(at == i * n);
      ok(kkc_copy(ctx, columns.data(), static_cast<const int32_t*>(indices) + at, n * 4, KKC_COPY_DEVICE_TO_HOST));
      ok(kkc_copy(ctx, row.data(), static_cast<const float*>(c_values) + at, n * 4, KKC_COPY_DEVICE_TO_HOST));
      bool right = true;
      for (int64_t j = 0; j < n; ++j)
        right = right && columns[static_cast<size_t>(j)] == j &&
                row[static_cast<size_t>(j)] == values[static_cast<size_t>(i)] * values[static_cast<size_t>(j)];
      CHECK(right);
    }
  }
}
