// view_scan: every type, layout and kind of line against loops; the same bits in every run.
#include <cmath>

#include "support/catch.hpp"
#include "support/dense.hpp"

using namespace kkc_test;

namespace {

template <class X, class Y>
struct Pair {
  using x = X;
  using y = Y;
};
using Pairs =
    std::tuple<Pair<uint8_t, uint8_t>, Pair<int32_t, int32_t>, Pair<int64_t, int64_t>, Pair<uint8_t, int32_t>,
               Pair<uint8_t, int64_t>, Pair<int32_t, int64_t>, Pair<float, float>, Pair<double, double>,
               Pair<std::complex<float>, std::complex<float>>, Pair<std::complex<double>, std::complex<double>>>;

template <class T>
constexpr kkc_scalar_t tag = scalar_tag<T>;

bool supported(kkc_device_t device, kkc_scalar_t scalar) {
  if (scalar <= KKC_TYPE_I64) return true;
  int32_t yes = 0;
  ok(kkc_query_support(device, "axpby", KKC_INDEX_32_32, scalar, &yes));
  return yes != 0;
}

/// Floating sums in any order are exact: small integers.
template <class T>
T small(Random& random) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(random());
  else
    return static_cast<T>(static_cast<double>(random_int(random, -3, 3)));
}

template <class X, class Y>
Y sum(Y a, X b) {
  if constexpr (std::is_integral_v<Y>)
    return static_cast<Y>(static_cast<std::make_unsigned_t<Y>>(a) +
                          static_cast<std::make_unsigned_t<Y>>(static_cast<Y>(b)));
  else
    return a + b;
}

template <class X, class Y>
void check_scan(const Context& ctx, Random& random, const Extents& extents, int dim, const Placement& x_where,
                const Placement& y_where, bool in_place = false) {
  for (const int exclusive : {0, 1}) {
    INFO(text(extents) << " along " << dim << ", strides " << text(x_where.strides) << " to " << text(y_where.strides)
                       << (exclusive ? ", exclusive" : "") << (in_place ? ", in place" : ""));
    Dense<X> x(ctx, random, extents, x_where);
    for (X& e : x.memory) e = small<X>(random);
    x.array.set(x.memory);
    Dense<Y> y(ctx, random, extents, y_where);
    std::vector<Y> expected = y.memory;
    if constexpr (std::is_same_v<X, Y>)
      if (in_place) expected = x.memory;
    for_each_index(extents, [&](const Extents& index) {
      if (index[static_cast<size_t>(dim)] != 0) return;
      Y before{};
      Extents i = index;
      for (int64_t& k = i[static_cast<size_t>(dim)]; k < extents[static_cast<size_t>(dim)]; ++k) {
        const Y after = sum(before, x(i));
        expected[static_cast<size_t>((in_place ? x.placement : y.placement).at(i))] = exclusive ? before : after;
        before = after;
      }
    });
    if (in_place) {
      if constexpr (std::is_same_v<X, Y>) {
        ok(kkc_view_scan(ctx, exclusive, dim, x.view, x.view));
        REQUIRE(same_bytes(x.fetch(), expected));
      }
    } else {
      ok(kkc_view_scan(ctx, exclusive, dim, x.view, y.view));
      REQUIRE(same_bytes(y.fetch(), expected));
    }
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("view_scan: every type, length and layout", "[view_scan]", Pairs) {
  using X = typename TestType::x;
  using Y = typename TestType::y;
  for (const kkc_device_t device : devices()) {
    if (!supported(device, tag<X>)) continue;
    INFO(name(device) << ", seed " << seed());
    const Context ctx(device);
    Random random(seed());
    for (const int64_t n : {0, 1, 2, 31, 33, 1000, 4095, 4096, 4097, 12289, 100000, 600001})
      for (const int64_t offset : {0, 1}) {
        const Placement run = place({n}, {0}, 0, 1, offset);
        check_scan<X, Y>(ctx, random, {n}, 0, run, place({n}, {0}));
        if (std::is_same_v<X, Y>) check_scan<X, Y>(ctx, random, {n}, 0, run, run, true);
        if (n < 20000) check_scan<X, Y>(ctx, random, {n}, 0, place({n}, {0}, 0, 3), place({n}, {0}, 0, 2, offset));
      }
    // Rows and columns: short and many, long and few, side by side, with gaps.
    const Extents shapes[] = {{0, 5},     {5, 0},      {1, 7},      {7, 1},    {33, 129}, {3, 20000},
                              {20000, 3}, {100, 1500}, {1500, 100}, {7, 9000}, {9000, 40}};
    for (const Extents& extents : shapes)
      for (const int dim : {0, 1})
        for (const auto& order : {left_order(2), right_order(2)})
          for (const int64_t gap : {0, 3}) {
            const Placement where = place(extents, order, gap, 1, gap);
            check_scan<X, Y>(ctx, random, extents, dim, where, place(extents, gap == 0 ? order : right_order(2)));
            if (std::is_same_v<X, Y> && gap == 0) check_scan<X, Y>(ctx, random, extents, dim, where, where, true);
          }
    for (int k = 0; k < 10; ++k) {
      const Extents extents{random_int(random, 1, 300), random_int(random, 1, 300)};
      check_scan<X, Y>(ctx, random, extents, k % 2, random_placement(random, extents),
                       random_placement(random, extents));
    }
  }
}

TEST_CASE("view_scan: views larger than the context's scratch counts in one launch", "[view_scan]") {
  for (const kkc_device_t device : devices()) {
    if (!is_gpu(device)) continue;  // hosts cut a line into as many blocks as the scratch counts
    INFO(name(device));
    const Context ctx(device);
    Random random(seed());
    const Extents tall{600000, 35}, line{280000000};  // more tiles of panels, and of a run
    check_scan<uint8_t, int64_t>(ctx, random, tall, 0, place(tall, right_order(2)), place(tall, right_order(2)));
    check_scan<uint8_t, int64_t>(ctx, random, line, 0, place(line, {0}), place(line, {0}));
  }
}

TEST_CASE("view_scan: the same bits in every run, on hosts for every number of threads", "[view_scan]") {
  for (const kkc_device_t device : devices()) {
    if (!supported(device, KKC_TYPE_F64)) continue;
    INFO(name(device) << ", seed " << seed());
    Random random(seed());
    std::vector<double> numbers(700001), first;
    for (double& v : numbers) v = random_value<double>(random);
    double largest = 0, exact = 0;
    for (const double v : numbers) largest = std::max(largest, std::abs(exact += v));
    const std::vector<std::string> settings =
        device == KKC_DEVICE_OPENMP
            ? std::vector<std::string>{R"({"threads": 1})", R"({"threads": 2})", R"({"threads": 3})"}
            : std::vector<std::string>{"", "", ""};
    for (const std::string& setting : settings) {
      const Context ctx(device, setting);
      const Array<double> x(ctx, numbers), y(ctx, numbers.size());
      ok(kkc_view_scan(ctx, 0, 0, wrap(ctx, x.data(), {700001}), wrap(ctx, y.data(), {700001})));
      const std::vector<double> got = y.get();
      if (first.empty()) first = got;
      CHECK(same_bytes(first, got));
      CHECK(std::abs(got.back() - exact) <= 1e-12 * largest * 1000);
    }
  }
}

TEST_CASE("view_scan: sums reach no element before or behind them", "[view_scan]") {
  for (const kkc_device_t device : devices()) {
    if (!supported(device, KKC_TYPE_F64)) continue;
    INFO(name(device));
    const Context ctx(device);
    std::vector<double> numbers(20000, 1.0);
    numbers[15000] = std::nan("");
    const Array<double> x(ctx, numbers), y(ctx, numbers.size());
    ok(kkc_view_scan(ctx, 1, 0, wrap(ctx, x.data(), {20000}), wrap(ctx, y.data(), {20000})));
    const auto got = y.get();
    CHECK(got[15000] == 15000.0);
    CHECK(std::isnan(got[15001]));
    CHECK(std::isnan(got[19999]));
  }
}

TEST_CASE("view_scan: misuse is refused with a sentence", "[view_scan]") {
  for (const kkc_device_t device : devices()) {
    if (!has_kernels<double>(device, "view_scan")) continue;
    INFO(name(device));
    const Context ctx(device);
    const Array<double> memory(ctx, size_t{100});
    const Array<int32_t> integers(ctx, size_t{100});
    const Array<int64_t> wide(ctx, size_t{100});
    const View x = wrap(ctx, memory.data(), {20}), y = wrap(ctx, memory.data() + 40, {20});
    const auto refuses = [&](kkc_status_t status, kkc_status_t expected, const std::string& part) {
      CHECK(status == expected);
      CHECK(std::string(kkc_last_error()).find(part) != std::string::npos);
    };
    refuses(kkc_view_scan(ctx, 2, 0, x, y), KKC_STATUS_INVALID_ARGUMENT, "exclusive is 2");
    refuses(kkc_view_scan(ctx, 0, 1, x, y), KKC_STATUS_INVALID_ARGUMENT, "dim is 1");
    refuses(kkc_view_scan(ctx, 0, -1, x, y), KKC_STATUS_INVALID_ARGUMENT, "dim is -1");
    refuses(kkc_view_scan(ctx, 0, 0, x, nullptr), KKC_STATUS_NULL_POINTER, "y is NULL");
    refuses(kkc_view_scan(ctx, 0, 0, nullptr, y), KKC_STATUS_NULL_POINTER, "x is NULL");
    refuses(kkc_view_scan(nullptr, 0, 0, x, y), KKC_STATUS_NULL_POINTER, "ctx");
    refuses(kkc_view_scan(ctx, 0, 0, x, wrap(ctx, memory.data() + 40, {21})), KKC_STATUS_SIZE_MISMATCH, "y is 21");
    refuses(kkc_view_scan(ctx, 0, 0, wrap(ctx, memory.data(), {2, 2, 2}), y), KKC_STATUS_SIZE_MISMATCH, "rank 3");
    refuses(kkc_view_scan(ctx, 0, 0, wrap(ctx, memory.data(), {}), y), KKC_STATUS_SIZE_MISMATCH, "rank 0");
    refuses(kkc_view_scan(ctx, 0, 0, x, wrap(ctx, integers.data(), {20})), KKC_STATUS_TYPE_MISMATCH, "y holds i32");
    refuses(kkc_view_scan(ctx, 0, 0, wrap(ctx, wide.data(), {20}), wrap(ctx, integers.data(), {20})),
            KKC_STATUS_TYPE_MISMATCH, "wider");
    refuses(kkc_view_scan(ctx, 0, 0, x, wrap(ctx, memory.data() + 10, {20})), KKC_STATUS_INVALID_ARGUMENT, "overlap");
    refuses(kkc_view_scan(ctx, 0, 0, x, wrap<double>(ctx, nullptr, {20})), KKC_STATUS_NULL_POINTER, "y has no data");
    CHECK(kkc_view_scan(ctx, 0, 0, wrap<double>(ctx, nullptr, {0}), wrap<double>(ctx, nullptr, {0})) ==
          KKC_STATUS_SUCCESS);
    View constant;
    const int64_t extent = 20;
    ok(kkc_view_wrap_const(ctx, KKC_TYPE_F64, 1, &extent, KKC_LAYOUT_LEFT, nullptr, native_space(ctx), memory.data(),
                           constant.out()));
    refuses(kkc_view_scan(ctx, 0, 0, x, constant), KKC_STATUS_INVALID_ARGUMENT, "const");
  }
}
