// matrix_diagonal: against plain loops.
#include <cmath>

#include "support/output_case.hpp"

using namespace kkc_test;

namespace {

template <class T>
bool diagonal_is_right(const Context& ctx, const HostCsr<T>& host, kkc_index_pair_t pair, int32_t base) {
  const DeviceCsr<T> A(ctx, host, pair, base);
  const auto n = static_cast<size_t>(std::min(host.rows, host.cols));
  std::vector<T> expected(n);
  std::vector<double> size(n), terms(n);
  for (size_t i = 0; i < n; ++i)
    for (int64_t p = host.offsets[i]; p < host.offsets[i + 1]; ++p)
      if (host.indices[static_cast<size_t>(p)] == static_cast<int64_t>(i)) {
        expected[i] += host.values[static_cast<size_t>(p)];
        size[i] += std::abs(host.values[static_cast<size_t>(p)]);
        terms[i] += 1;
      }
  const T gap = T(7);
  const Array<T> d(ctx, std::vector<T>(3 * n, gap));
  ok(kkc_matrix_diagonal(ctx, A, wrap(ctx, d.data(), {static_cast<int64_t>(n)}, KKC_LAYOUT_STRIDED, {3})));
  const std::vector<T> got = d.get();
  bool same = true;
  for (size_t i = 0; i < n; ++i) {
    using R = decltype(std::abs(T{}));
    const double bound = std::max(4.0, terms[i]) * std::numeric_limits<R>::epsilon() * size[i];
    same = same && std::abs(got[3 * i] - expected[i]) <= bound;
    same = same && got[3 * i + 1] == gap && got[3 * i + 2] == gap;
  }
  return same;
}

}  // namespace

TEST_CASE("matrix_diagonal: every type, base and shape", "[matrix_diagonal]") {
  Random random(seed());
  for_all_types("matrix_diagonal", [&]<class T>(T, kkc_device_t device, kkc_index_pair_t pair) {
    const Context ctx(device);
    for (const Shape shape : all_shapes)
      for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{400, 400}, {70, 300}, {300, 70}, {1, 1}, {0, 4}}) {
        INFO(name(shape) << ' ' << rows << " x " << cols);
        CHECK(diagonal_is_right(ctx, random_csr<T>(random, shape, rows, cols), pair, random() % 2));
      }
  });
}

TEST_CASE("matrix_diagonal: long rows between short ones, with a column several times", "[matrix_diagonal]") {
  Random random(seed());
  for_all_types("matrix_diagonal", [&]<class T>(T, kkc_device_t device, kkc_index_pair_t pair) {
    const Context ctx(device);
    for (const auto& [rows, long_every] : {std::pair<int64_t, int64_t>{3000, 100}, {150, 4}}) {
      INFO(rows << " rows");
      HostCsr<T> host;
      host.rows = host.cols = rows;
      for (int64_t i = 0; i < rows; ++i) {
        const int64_t length = i % long_every == 1 ? 2500 : i % long_every == 2 ? 600 : i % 4;
        for (int64_t k = 0; k < length; ++k) {
          host.indices.push_back(random_int(random, 0, 9) == 0 ? i : random_int(random, 0, rows - 1));
          host.values.push_back(random_value<T>(random));
        }
        host.offsets.push_back(host.nnz());
      }
      CHECK(diagonal_is_right(ctx, host, pair, random() % 2));
    }
  });
}

TEST_CASE("matrix_diagonal: refusals", "[matrix_diagonal]") {
  Random random(5);
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    INFO(name(device));
    const Context ctx(device);
    const DeviceCsr<double> A(ctx, random_csr<double>(random, Shape::few, 6, 9), KKC_INDEX_32_32, 0);
    const Array<double> d(ctx, size_t{9});
    const Array<float> narrow(ctx, size_t{6});
    CHECK(kkc_matrix_diagonal(ctx, A, wrap(ctx, d.data(), {9})) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(std::string(kkc_last_error()).find("expected rank 1 with 6 elements") != std::string::npos);
    CHECK(kkc_matrix_diagonal(ctx, A, wrap(ctx, narrow.data(), {6})) == KKC_STATUS_TYPE_MISMATCH);
    CHECK(kkc_matrix_diagonal(ctx, A, nullptr) == KKC_STATUS_NULL_POINTER);
    Matrix pattern;
    ok(kkc_csr_create(ctx, 0, 4, 0, KKC_INDEX_32_32, KKC_TYPE_NONE, 0, nullptr, nullptr, nullptr, pattern.out()));
    CHECK(kkc_matrix_diagonal(ctx, pattern, wrap(ctx, d.data(), {0})) == KKC_STATUS_TYPE_MISMATCH);
  }
}
