// norm2: vectors and multi-vectors of every layout and type, numbers whose squares leave the range, what is refused.
#include <limits>

#include "support/catch.hpp"
#include "support/dense.hpp"
#include "support/oracle.hpp"

using namespace kkc_test;

namespace {

using Scalars = std::tuple<float, double, std::complex<float>, std::complex<double>>;

template <class T>
void check_norm2(const Context& ctx, Random& random, const Extents& extents, const Placement& px,
                 long double factor = 1) {
  if (!has_kernels<T>(ctx.device())) return;
  using R = typename RealOf<T>::type;
  INFO(text(extents) << ", strides " << text(px.strides) << ", times " << static_cast<double>(factor));
  Dense<T> x(ctx, random, extents, px);
  if (factor != 1) {
    for (T& e : x.memory) e *= static_cast<R>(factor);
    x.array.set(x.memory);
  }
  const Extents columns(extents.begin() + 1, extents.end());
  const Dense<R> result(ctx, random, columns, place(columns, left_order(columns.size()), 0, 2, 1));
  ok(kkc_norm2(ctx, x.view, result.view));
  const auto got = result.fetch();
  ok(kkc_norm2(ctx, x.view, result.view));
  CHECK(same_bytes(got, result.fetch()));

  Expected expected;
  std::vector<R> results;
  auto gaps = result.memory;
  for_each_index(columns, [&](const Extents& c) {
    long double sum = 0;  // its range holds every square
    for (int64_t r = 0; r < extents[0]; ++r) {
      Extents index{r};
      index.insert(index.end(), c.begin(), c.end());
      const Wide v = wide(x(index));
      sum += v.real() * v.real() + v.imag() * v.imag();
    }
    expected.values.push_back(std::sqrt(sum));
    expected.bounds.push_back(std::sqrt(sum) * epsilon<R> *
                                  (4 + (sizeof(R) == 8 ? 0.02L : 0) * static_cast<long double>(extents[0])) +
                              std::numeric_limits<R>::denorm_min());
    const auto at = static_cast<size_t>(result.placement.at(c));
    results.push_back(got[at]);
    gaps[at] = got[at];
  });
  CHECK(mismatch(expected, results) == "");
  CHECK(same_bytes(gaps, got));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("norm2: vectors and multi-vectors of any layout", "[norm2]", Scalars) {
  using T = TestType;
  for (const kkc_device_t device : devices()) {
    INFO(name(device) << ", seed " << seed());
    const Context ctx(device);
    Random random(seed());
    for (int k = 0; k < 40; ++k) {
      const Extents n{k == 0 ? 0 : random_int(random, 1, k % 8 == 1 ? 200000 : 3000)};
      check_norm2<T>(ctx, random, n, random_placement(random, n));
      const Extents extents{k == 0 ? 0 : random_int(random, 1, k % 8 == 1 ? 30000 : 1500),
                            k == 1 ? 0 : random_int(random, 1, k % 8 == 2 ? 300 : 9)};
      check_norm2<T>(ctx, random, extents, random_placement(random, extents));
    }
  }
}

TEMPLATE_LIST_TEST_CASE("norm2: neither overflows nor underflows", "[norm2]", Scalars) {
  using T = TestType;
  using R = typename RealOf<T>::type;
  for (const kkc_device_t device : devices()) {
    INFO(name(device) << ", seed " << seed());
    const Context ctx(device);
    Random random(seed());
    const long double largest = std::numeric_limits<R>::max(), least = std::numeric_limits<R>::min();
    for (const Extents& extents : {Extents{7}, {5000}, {300, 3}})
      for (const long double factor :
           {largest / 1000, std::sqrt(largest), std::sqrt(least), least * 100, least / 1000, 0.0L}) {
        check_norm2<T>(ctx, random, extents, place(extents, left_order(extents.size())), factor);
        check_norm2<T>(ctx, random, extents, place(extents, right_order(extents.size()), 0, 2), factor);
      }
  }
}

TEST_CASE("norm2: large, ordinary and small numbers together, infinity and NaN", "[norm2]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const Context ctx(device);
    const auto norm = [&](const std::vector<double>& values) {
      const Array<double> x(ctx, values), result(ctx, size_t{1});
      ok(kkc_norm2(ctx, wrap(ctx, x.data(), {static_cast<int64_t>(values.size())}), wrap(ctx, result.data(), {})));
      return result.get()[0];
    };
    CHECK(norm({3e200, 1e-200, 4e200, 1}) == Approx(5e200).epsilon(1e-14));
    CHECK(norm({3e-200, 4e-200, 0}) == Approx(5e-200).epsilon(1e-14));
    CHECK(norm({1e-170, 1}) == 1);
    CHECK(norm({0, -0.0}) == 0);
    const double infinity = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(norm({1, infinity, 2}) == infinity);
    CHECK(norm({1, -infinity}) == infinity);
    CHECK(std::isnan(norm({1, nan, 2})));
    CHECK(std::isnan(norm({nan, infinity})));
    CHECK(std::isnan(norm({nan, 1e300})));
    CHECK(std::isnan(norm({nan, 1e-300})));
  }
}

TEST_CASE("norm2: misuse is refused with a sentence", "[norm2]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const Context ctx(device);
    const Array<double> memory(ctx, std::vector<double>(100, 1.0));
    const Array<std::complex<double>> complex(ctx, size_t{20});
    const Array<int64_t> integers(ctx, size_t{21});
    const View x = wrap(ctx, memory.data(), {20}), r = wrap(ctx, memory.data() + 90, {});
    CHECK(kkc_norm2(ctx, x, r) == KKC_STATUS_SUCCESS);
    if (has_kernels<std::complex<double>>(device))
      CHECK(kkc_norm2(ctx, wrap(ctx, complex.data(), {20}), r) == KKC_STATUS_SUCCESS);
    CHECK(kkc_norm2(ctx, x, wrap(ctx, complex.data(), {})) == KKC_STATUS_TYPE_MISMATCH);
    CHECK(std::string(kkc_last_error()).find("f64") != std::string::npos);
    CHECK(kkc_norm2(ctx, x, wrap(ctx, memory.data() + 90, {1})) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(kkc_norm2(ctx, wrap(ctx, memory.data(), {10, 2}), r) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(kkc_norm2(ctx, wrap(ctx, memory.data(), {5, 2, 2}), r) == KKC_STATUS_SIZE_MISMATCH);
    const View i = wrap(ctx, integers.data(), {20});
    CHECK(kkc_norm2(ctx, i, wrap(ctx, integers.data() + 20, {})) == KKC_STATUS_NOT_SUPPORTED);
    CHECK(kkc_norm2(ctx, x, wrap(ctx, memory.data() + 3, {})) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(kkc_norm2(ctx, nullptr, r) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_norm2(ctx, x, nullptr) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_norm2(ctx, wrap<double>(ctx, nullptr, {20}), r) == KKC_STATUS_NULL_POINTER);
  }
}
