// dot: vectors and multi-vectors of every layout and type, the same bits in every run, what is refused.
#include "support/catch.hpp"
#include "support/dense.hpp"
#include "support/oracle.hpp"

using namespace kkc_test;

namespace {

using Scalars = std::tuple<float, double, std::complex<float>, std::complex<double>>;

template <class T>
void check_dot(const Context& ctx, Random& random, const Extents& extents, const Placement& px, const Placement& py,
               bool conjugate) {
  if (!has_kernels<T>(ctx.device())) return;
  INFO(text(extents) << ", strides " << text(px.strides) << " and " << text(py.strides) << ", conjugate " << conjugate);
  const Dense<T> x(ctx, random, extents, px), y(ctx, random, extents, py);
  const Extents columns(extents.begin() + 1, extents.end());
  const Dense<T> result(ctx, random, columns, place(columns, left_order(columns.size()), 0, 2, 1));
  ok(kkc_dot(ctx, conjugate ? 1 : 0, x.view, y.view, result.view));
  const auto got = result.fetch();
  ok(kkc_dot(ctx, conjugate ? 1 : 0, x.view, y.view, result.view));
  CHECK(same_bytes(got, result.fetch()));

  Expected expected;
  std::vector<T> results;
  auto gaps = result.memory;
  for_each_index(columns, [&](const Extents& c) {
    Wide sum = 0;
    long double size = 0;
    for (int64_t r = 0; r < extents[0]; ++r) {
      Extents index{r};
      index.insert(index.end(), c.begin(), c.end());
      const Wide a = conjugate ? std::conj(wide(x(index))) : wide(x(index)), product = times(a, wide(y(index)));
      sum += product;
      size += std::abs(product);
    }
    expected.values.push_back(sum);
    expected.bounds.push_back(4 * epsilon<T> * (size + 1e-30L));  // sums are kept in double
    const auto at = static_cast<size_t>(result.placement.at(c));
    results.push_back(got[at]);
    gaps[at] = got[at];
  });
  if constexpr (sizeof(typename RealOf<T>::type) == 8)
    for (auto& bound : expected.bounds) bound *= 1 + 0.02L * static_cast<long double>(extents[0]);
  CHECK(mismatch(expected, results) == "");
  CHECK(same_bytes(gaps, got));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("dot: vectors and multi-vectors of any layout", "[dot]", Scalars) {
  using T = TestType;
  for (const kkc_device_t device : devices()) {
    INFO(name(device) << ", seed " << seed());
    const Context ctx(device);
    Random random(seed());
    for (int k = 0; k < 40; ++k) {
      const Extents n{k == 0 ? 0 : random_int(random, 1, k % 8 == 1 ? 200000 : 3000)};
      check_dot<T>(ctx, random, n, random_placement(random, n), random_placement(random, n), k % 2 == 0);
    }
    for (int k = 0; k < 40; ++k) {
      const Extents extents{k == 0 ? 0 : random_int(random, 1, k % 8 == 1 ? 30000 : 1500),
                            k == 1 ? 0 : random_int(random, 1, k % 8 == 2 ? 300 : 9)};
      const auto px = random_placement(random, extents);
      check_dot<T>(ctx, random, extents, px, random() % 2 ? px : random_placement(random, extents), k % 2 == 0);
    }
    check_dot<T>(ctx, random, {2, 5000}, place({2, 5000}, {0, 1}), place({2, 5000}, {0, 1}), false);
    check_dot<T>(ctx, random, {2, 5000}, place({2, 5000}, {1, 0}), place({2, 5000}, {1, 0}), false);
  }
}

TEST_CASE("dot: the bits do not depend on the number of threads", "[dot]") {
  for (const kkc_device_t device : devices()) {
    if (device != KKC_DEVICE_OPENMP) continue;
    std::vector<double> first;
    for (const char* options : {R"({"threads": 1})", R"({"threads": 2})", R"({"threads": 3})"}) {
      const Context ctx(device, options);
      Random random(9);
      const Extents extents{100000, 3};
      const Dense<double> x(ctx, random, extents, place(extents, {0, 1})),
          y(ctx, random, extents, place(extents, {1, 0}));
      const Array<double> result(ctx, size_t{3});
      ok(kkc_dot(ctx, 0, x.view, y.view, wrap(ctx, result.data(), {3})));
      if (first.empty()) first = result.get();
      CHECK(same_bytes(first, result.get()));
    }
  }
}

TEST_CASE("dot: misuse is refused with a sentence", "[dot]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const Context ctx(device);
    const Array<double> memory(ctx, std::vector<double>(100, 1.0));
    const Array<float> floats(ctx, size_t{20});
    const Array<int64_t> integers(ctx, size_t{41});
    const View x = wrap(ctx, memory.data(), {20}), y = wrap(ctx, memory.data() + 20, {20}),
               r = wrap(ctx, memory.data() + 90, {});
    const auto run = [&](kkc_view_t* a, kkc_view_t* b, kkc_view_t* result) { return kkc_dot(ctx, 0, a, b, result); };
    CHECK(run(x, y, r) == KKC_STATUS_SUCCESS);
    CHECK(run(x, x, r) == KKC_STATUS_SUCCESS);
    CHECK(kkc_dot(ctx, 2, x, y, r) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(run(x, wrap(ctx, memory.data(), {19}), r) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(run(x, y, wrap(ctx, memory.data() + 90, {1})) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(std::string(kkc_last_error()).find("rank 0") != std::string::npos);
    const View x2 = wrap(ctx, memory.data(), {10, 2}), x3 = wrap(ctx, memory.data(), {5, 2, 2});
    CHECK(run(x2, x2, r) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(run(x2, x2, wrap(ctx, memory.data() + 90, {3})) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(run(x2, x2, wrap(ctx, memory.data() + 90, {2})) == KKC_STATUS_SUCCESS);
    CHECK(run(x3, x3, r) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(run(r, r, wrap(ctx, memory.data() + 91, {})) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(run(x, wrap(ctx, floats.data(), {20}), r) == KKC_STATUS_TYPE_MISMATCH);
    CHECK(run(x, y, wrap(ctx, floats.data(), {})) == KKC_STATUS_TYPE_MISMATCH);
    const View i = wrap(ctx, integers.data(), {20});
    CHECK(run(i, i, wrap(ctx, integers.data() + 40, {})) == KKC_STATUS_NOT_SUPPORTED);
    CHECK(run(x, y, wrap(ctx, memory.data() + 5, {})) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(run(x, y, nullptr) == KKC_STATUS_NULL_POINTER);
    CHECK(run(nullptr, y, r) == KKC_STATUS_NULL_POINTER);
    CHECK(run(x, y, wrap<double>(ctx, nullptr, {})) == KKC_STATUS_NULL_POINTER);
  }
}
