// csr_to_coo: against plain loops.
#include "support/output_case.hpp"

using namespace kkc_test;

namespace {

template <class T>
bool rows_are_right(const Context& ctx, const HostCsr<T>& host, kkc_index_pair_t pair, int32_t base) {
  const DeviceCsr<T> A(ctx, host, pair, base);
  std::vector<int64_t> expected;
  for (size_t i = 0; i < static_cast<size_t>(host.rows); ++i)
    expected.insert(expected.end(), static_cast<size_t>(host.offsets[i + 1] - host.offsets[i]),
                    static_cast<int64_t>(i) + base);
  const Array<int64_t> wide(ctx, expected.size());
  const Array<int32_t> narrow(ctx, std::vector<int32_t>(2 * expected.size(), -5));
  ok(kkc_csr_to_coo(ctx, A, wrap(ctx, wide.data(), {host.nnz()})));
  ok(kkc_csr_to_coo(ctx, A, wrap(ctx, narrow.data(), {host.nnz()}, KKC_LAYOUT_STRIDED, {2})));
  const std::vector<int32_t> got = narrow.get();
  bool same = wide.get() == expected;
  for (size_t k = 0; k < expected.size(); ++k) same = same && got[2 * k] == expected[k] && got[2 * k + 1] == -5;
  return same;
}

}  // namespace

TEST_CASE("csr_to_coo: each entry gets its row", "[csr_to_coo]") {
  Random random(seed());
  for_all_types("csr_to_coo", [&]<class T>(T, kkc_device_t device, kkc_index_pair_t pair) {
    const Context ctx(device);
    for (const int32_t base : {0, 1})
      for (const Shape shape : all_shapes) {
        INFO(name(shape) << " base " << base);
        CHECK(rows_are_right(ctx, random_csr<T>(random, shape, 5000, 300), pair, base));
      }
  });
}

TEST_CASE("csr_to_coo: many empty rows between two entries", "[csr_to_coo]") {
  Random random(seed());
  for_all_types("csr_to_coo", [&]<class T>(T, kkc_device_t device, kkc_index_pair_t pair) {
    const Context ctx(device);
    HostCsr<T> host;
    host.rows = 300000;
    host.cols = 1;
    for (int64_t i = 0; i < host.rows; ++i) {
      const bool few = i < 15000 ? i % 3 == 1 : i % 50 == 7;
      const int64_t length = i == 14000 ? 5000 : few ? random_int(random, 1, 2) : 0;
      host.indices.resize(host.indices.size() + static_cast<size_t>(length));
      host.values.resize(host.indices.size(), T(1));
      host.offsets.push_back(host.nnz());
    }
    for (const int32_t base : {0, 1}) CHECK(rows_are_right(ctx, host, pair, base));
  });
}

TEST_CASE("csr_to_coo: refusals", "[csr_to_coo]") {
  const auto says = [](const char* part) { return std::string(kkc_last_error()).find(part) != std::string::npos; };
  Random random(seed());
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    INFO(name(device));
    const Context ctx(device);
    const HostCsr<double> host = random_csr<double>(random, Shape::few, 5, 4);
    const DeviceCsr<double> A(ctx, host, KKC_INDEX_32_32, 0);
    const Array<int32_t> rows(ctx, std::vector<int32_t>(static_cast<size_t>(host.nnz()) + 1, -5));
    const Array<double> values(ctx, host.values);
    const View longer = wrap(ctx, rows.data(), {host.nnz() + 1}), exact = wrap(ctx, rows.data(), {host.nnz()}),
               real = wrap(ctx, values.data(), {host.nnz()});
    CHECK(kkc_csr_to_coo(ctx, A, longer) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(says("row_indices"));
    CHECK(kkc_csr_to_coo(ctx, A, real) == KKC_STATUS_TYPE_MISMATCH);
    CHECK(kkc_csr_to_coo(ctx, A, nullptr) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_csr_to_coo(ctx, nullptr, exact) == KKC_STATUS_NULL_POINTER);
    ctx.synchronize();
    CHECK(rows.get() == std::vector<int32_t>(static_cast<size_t>(host.nnz()) + 1, -5));
    ok(kkc_csr_to_coo(ctx, A, exact));
  }
}
