// matrix_scale: against plain loops.
#include <cmath>

#include "support/output_case.hpp"

using namespace kkc_test;

TEST_CASE("matrix_scale: every type, base, shape and side", "[matrix_scale]") {
  Random random(seed());
  for_all_types("matrix_scale", [&]<class T>(T, kkc_device_t device, kkc_index_pair_t pair) {
    const Context ctx(device);
    for (const Shape shape : all_shapes)
      for (const auto& [rows, cols] : {std::pair<int64_t, int64_t>{3000, 200}, {1, 9000}, {0, 4}})
        for (const int sides : {1, 2, 3}) {
          INFO(name(shape) << ' ' << rows << " x " << cols << " sides " << sides);
          const HostCsr<T> host = random_csr<T>(random, shape, rows, cols);
          const DeviceCsr<T> A(ctx, host, pair, random() % 2);
          const auto r = random_vector<T>(random, static_cast<size_t>(rows)),
                     c = random_vector<T>(random, static_cast<size_t>(2 * cols));
          const Array<T> r_memory(ctx, r), c_memory(ctx, c);
          const View r_view = wrap(ctx, r_memory.data(), {rows}),
                     c_view = wrap(ctx, c_memory.data(), {cols}, KKC_LAYOUT_STRIDED, {2});
          ok(kkc_matrix_scale(ctx, (sides & 1) != 0 ? static_cast<kkc_view_t*>(r_view) : nullptr, A,
                              (sides & 2) != 0 ? static_cast<kkc_view_t*>(c_view) : nullptr));
          ctx.synchronize();
          const HostCsr<T> got = download<T>(ctx, A);
          CHECK((got.indices == host.indices));
          bool same = true;
          for (int64_t i = 0; i < rows; ++i)
            for (auto p = static_cast<size_t>(host.offsets[static_cast<size_t>(i)]);
                 p < static_cast<size_t>(host.offsets[static_cast<size_t>(i) + 1]); ++p) {
              using R = decltype(std::abs(T{}));
              T expected = host.values[p];
              if ((sides & 1) != 0) expected = r[static_cast<size_t>(i)] * expected;
              if ((sides & 2) != 0) expected = expected * c[2 * static_cast<size_t>(host.indices[p])];
              same = same && std::abs(got.values[p] - expected) <= 16 * std::numeric_limits<R>::epsilon();
            }
          CHECK(same);
        }
  });
}

TEST_CASE("matrix_scale: refusals", "[matrix_scale]") {
  const auto says = [](const char* part) { return std::string(kkc_last_error()).find(part) != std::string::npos; };
  Random random(5);
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device)) continue;
    INFO(name(device));
    const Context ctx(device);
    DeviceCsr<double> A(ctx, random_csr<double>(random, Shape::stencil, 60, 90), KKC_INDEX_32_32, 0);
    const Array<double> factors(ctx, size_t{90});
    const Array<float> narrow(ctx, size_t{60});
    const View six = wrap(ctx, factors.data(), {60}), nine = wrap(ctx, factors.data(), {90});
    CHECK(kkc_matrix_scale(ctx, nullptr, A, nullptr) == KKC_STATUS_NULL_POINTER);
    CHECK(says("both NULL"));
    CHECK(kkc_matrix_scale(ctx, nine, A, nullptr) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(says("row_factors is 90"));
    CHECK(kkc_matrix_scale(ctx, nullptr, A, six) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(kkc_matrix_scale(ctx, wrap(ctx, narrow.data(), {60}), A, nullptr) == KKC_STATUS_TYPE_MISMATCH);
    CHECK(kkc_matrix_scale(ctx, wrap(ctx, A.values().data() + 1, {60}), A, nullptr) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(says("overlaps"));
  }
}
