// view_fill: every rank, layout and element type; gaps stay as they were.
#include "support/catch.hpp"
#include "support/dense.hpp"

using namespace kkc_test;

namespace {

using Elements = std::tuple<uint8_t, int32_t, int64_t, float, double, std::complex<float>, std::complex<double>>;

template <class T>
void check_fill(const Context& ctx, Random& random, const Extents& extents, const Placement& where) {
  INFO(text(extents) << ", strides " << text(where.strides) << ", first " << where.offset);
  Dense<T> target(ctx, random, extents, where);
  const T value = random_element<T>(random);
  ok(kkc_view_fill(ctx, &value, target.view));
  for_each_index(extents, [&](const Extents& index) { target(index) = value; });
  CHECK(same_bytes(target.fetch(), target.memory));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("view_fill: random shapes and layouts", "[view_fill]", Elements) {
  for (const kkc_device_t device : devices()) {
    INFO(name(device) << ", seed " << seed());
    const Context ctx(device);
    Random random(seed());
    constexpr int64_t most[] = {1, 5000, 200, 40, 12, 7, 5, 4, 3};
    for (int rank = 0; rank <= 8; ++rank)
      for (int k = 0; k < 15; ++k) {
        Extents extents;
        for (int d = 0; d < rank; ++d) extents.push_back(random_int(random, k == 0 ? 0 : 1, most[rank]));
        check_fill<TestType>(ctx, random, extents, random_placement(random, extents));
      }
    // Runs that begin and end anywhere in a cache line.
    for (int64_t offset = 0; offset < 40; ++offset)
      for (const int64_t n : {1, 2, 15, 16, 100, 1000})
        check_fill<TestType>(ctx, random, {n}, place({n}, {0}, 0, 1, offset));
  }
}

TEST_CASE("view_fill: large runs, which bypass the caches of a host", "[view_fill]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const Context ctx(device);
    Random random(seed());
    for (const int64_t offset : {0, 1, 5}) {
      check_fill<double>(ctx, random, {1200001}, place({1200001}, {0}, 0, 1, offset));
      check_fill<uint8_t>(ctx, random, {9000001}, place({9000001}, {0}, 0, 1, offset));
    }
  }
}

TEST_CASE("view_fill: misuse is refused with a sentence", "[view_fill]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const Context ctx(device);
    const Array<double> memory(ctx, size_t{20});
    const double value = 1;
    const View v = wrap(ctx, memory.data(), {20});
    CHECK(kkc_view_fill(ctx, nullptr, v) == KKC_STATUS_NULL_POINTER);
    CHECK(std::string(kkc_last_error()).find("value") != std::string::npos);
    CHECK(kkc_view_fill(ctx, &value, nullptr) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_view_fill(nullptr, &value, v) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_view_fill(ctx, &value, wrap<double>(ctx, nullptr, {3})) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_view_fill(ctx, &value, wrap<double>(ctx, nullptr, {0})) == KKC_STATUS_SUCCESS);
    View constant;
    const int64_t extent = 20;
    ok(kkc_view_wrap_const(ctx, KKC_TYPE_F64, 1, &extent, KKC_LAYOUT_LEFT, nullptr, native_space(ctx), memory.data(),
                           constant.out()));
    CHECK(kkc_view_fill(ctx, &value, constant) == KKC_STATUS_INVALID_ARGUMENT);
  }
}
