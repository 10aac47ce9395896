// axpby: every rank, pair of layouts and floating type; what zero coefficients leave alone; what is refused.
#include "support/catch.hpp"
#include "support/dense.hpp"
#include "support/oracle.hpp"

using namespace kkc_test;

namespace {

using Scalars = std::tuple<float, double, std::complex<float>, std::complex<double>>;

/// Memory that holds NaN only.
template <class T>
void spoil(Dense<T>& array) {
  std::memset(static_cast<void*>(array.memory.data()), 0xff, array.memory.size() * sizeof(T));
  array.array.set(array.memory);
}

template <class T>
void check_values(const Dense<T>& y, const Dense<T>& before, const Dense<T>& x, T alpha, T beta) {
  const auto got = y.fetch();
  Expected expected;
  std::vector<T> results;
  auto gaps = before.memory;
  for_each_index(y.extents, [&](const Extents& index) {
    const auto at = static_cast<size_t>(y.placement.at(index));
    const Wide ax = alpha == T(0) ? Wide(0) : times(wide(alpha), wide(x(index)));
    const Wide by = beta == T(0) ? Wide(0) : times(wide(beta), wide(before(index)));
    expected.values.push_back(ax + by);
    expected.bounds.push_back(8 * epsilon<T> * (1 + std::abs(ax) + std::abs(by)));
    results.push_back(got[at]);
    gaps[at] = got[at];
  });
  CHECK(mismatch(expected, results) == "");
  CHECK(same_bytes(gaps, got));
}

template <class T>
void check_axpby(const Context& ctx, Random& random, const Extents& extents, const Placement& px, const Placement& py,
                 T alpha, T beta) {
  if (!has_kernels<T>(ctx.device())) return;
  INFO(text(extents) << ", strides " << text(px.strides) << " and " << text(py.strides) << ", alpha " << alpha
                     << ", beta " << beta);
  Dense<T> x(ctx, random, extents, px), y(ctx, random, extents, py);
  if (alpha == T(0)) spoil(x);
  if (beta == T(0)) spoil(y);
  ok(kkc_axpby(ctx, &alpha, x.view, &beta, y.view));
  check_values(y, y, x, alpha, beta);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("axpby: random shapes, layouts and coefficients", "[axpby]", Scalars) {
  using T = TestType;
  for (const kkc_device_t device : devices()) {
    INFO(name(device) << ", seed " << seed());
    const Context ctx(device);
    Random random(seed());
    constexpr int64_t most[] = {1, 5000, 120, 30, 10, 6, 5, 4, 3};
    for (int rank = 0; rank <= 8; ++rank)
      for (int k = 0; k < 16; ++k) {
        Extents extents;
        for (int d = 0; d < rank; ++d) extents.push_back(random_int(random, k == 0 ? 0 : 1, most[rank]));
        const auto px = random_placement(random, extents);
        const auto py = random() % 2 ? px : random_placement(random, extents);
        const T alpha = k % 4 == 1 ? T(0) : random_element<T>(random),
                beta = k % 3 == 1 ? T(0) : random_element<T>(random);
        check_axpby<T>(ctx, random, extents, px, py, alpha, beta);
      }
  }
}

TEST_CASE("axpby: long vectors", "[axpby]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const Context ctx(device);
    Random random(seed());
    const Extents n{1100003};
    for (const double beta : {0.0, 0.5})
      for (const int64_t offset : {0, 1}) {
        check_axpby<double>(ctx, random, n, place(n, {0}, 0, 1, 1), place(n, {0}, 0, 1, offset), 2.0, beta);
        check_axpby<std::complex<double>>(ctx, random, n, place(n, {0}), place(n, {0}, 0, 1, offset), {0.5, 2.0}, beta);
      }
  }
}

TEST_CASE("axpby: x may be y", "[axpby]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const Context ctx(device);
    Random random(seed());
    const Extents extents{50, 40};
    for (const int64_t gap : {0, 3}) {
      Dense<double> y(ctx, random, extents, place(extents, left_order(2), gap));
      const double alpha = 0.75, beta = -0.5;
      ok(kkc_axpby(ctx, &alpha, y.view, &beta, y.view));
      check_values(y, y, y, alpha, beta);
    }
  }
}

TEST_CASE("axpby: coefficients in device memory", "[axpby]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const Context ctx(device, R"({"scalars": "device"})");
    Random random(seed());
    for (const double alpha : {0.0, 1.25})
      for (const double beta : {0.0, -2.0})
        for (const bool same : {true, false}) {
          const Extents extents{33, 21};
          Dense<double> x(ctx, random, extents, place(extents, left_order(2))),
              y(ctx, random, extents, place(extents, same ? left_order(2) : right_order(2)));
          if (alpha == 0) spoil(x);
          if (beta == 0) spoil(y);
          const Array<double> both(ctx, std::vector<double>{alpha, beta});
          ok(kkc_axpby(ctx, both.data(), x.view, both.data() + 1, y.view));
          check_values(y, y, x, alpha, beta);
        }
  }
}

TEST_CASE("axpby: misuse is refused with a sentence", "[axpby]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const Context ctx(device);
    const Array<double> memory(ctx, std::vector<double>(100, 1.0));
    const Array<float> floats(ctx, size_t{20});
    const Array<int32_t> integers(ctx, size_t{40});
    const double one = 1;
    const View x = wrap(ctx, memory.data(), {4, 5}), y = wrap(ctx, memory.data() + 50, {4, 5});
    const auto run = [&](kkc_view_t* a, kkc_view_t* b) { return kkc_axpby(ctx, &one, a, &one, b); };
    CHECK(run(x, y) == KKC_STATUS_SUCCESS);
    CHECK(run(x, wrap(ctx, memory.data() + 50, {5, 4})) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(run(x, wrap(ctx, floats.data(), {4, 5})) == KKC_STATUS_TYPE_MISMATCH);
    CHECK(run(wrap(ctx, integers.data(), {4, 5}), wrap(ctx, integers.data() + 20, {4, 5})) == KKC_STATUS_NOT_SUPPORTED);
    CHECK(std::string(kkc_last_error()).find("i32") != std::string::npos);
    CHECK(run(x, wrap(ctx, memory.data() + 19, {4, 5})) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(std::string(kkc_last_error()).find("overlap") != std::string::npos);
    CHECK(run(x, wrap(ctx, memory.data(), {4, 5}, KKC_LAYOUT_RIGHT)) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(run(nullptr, y) == KKC_STATUS_NULL_POINTER);
    CHECK(run(x, nullptr) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_axpby(ctx, nullptr, x, &one, y) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_axpby(ctx, &one, x, nullptr, y) == KKC_STATUS_NULL_POINTER);
    CHECK(run(x, wrap<double>(ctx, nullptr, {4, 5})) == KKC_STATUS_NULL_POINTER);
    CHECK(run(wrap<double>(ctx, nullptr, {0}), wrap<double>(ctx, nullptr, {0})) == KKC_STATUS_SUCCESS);
    View constant;
    const int64_t extents[] = {4, 5};
    ok(kkc_view_wrap_const(ctx, KKC_TYPE_F64, 2, extents, KKC_LAYOUT_LEFT, nullptr, native_space(ctx),
                           memory.data() + 50, constant.out()));
    CHECK(run(x, constant) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(run(constant, x) == KKC_STATUS_SUCCESS);
  }
}
