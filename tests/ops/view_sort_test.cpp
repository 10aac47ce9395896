// view_sort: every implementation, type and layout against std::stable_sort; what plans say and refuse.
#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/dense.hpp"

using namespace kkc_test;

namespace {

using Keys = std::tuple<uint8_t, int32_t, int64_t, float, double, std::complex<float>, std::complex<double>>;

/// -1, 0, 1; NaN is above every number and equals itself.
template <class T>
int compare(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) || std::isnan(b)) return static_cast<int>(std::isnan(a)) - static_cast<int>(std::isnan(b));
    return a < b ? -1 : a > b ? 1 : 0;
  } else if constexpr (std::is_integral_v<T>) {
    return a < b ? -1 : a > b ? 1 : 0;
  } else {
    const int first = compare(a.real(), b.real());
    return first != 0 ? first : compare(a.imag(), b.imag());
  }
}

template <class R>
R special(Random& random) {
  constexpr R inf = std::numeric_limits<R>::infinity();
  const R values[] = {R{0},
                      -R{0},
                      R{1},
                      R{-1},
                      inf,
                      -inf,
                      std::numeric_limits<R>::quiet_NaN(),
                      -std::numeric_limits<R>::quiet_NaN(),
                      std::numeric_limits<R>::denorm_min(),
                      -std::numeric_limits<R>::denorm_min()};
  return values[random() % std::size(values)];
}

/// A mixture: many equal keys, special values, any bits.
template <class T>
T random_key(Random& random, int mixture) {
  if constexpr (std::is_integral_v<T>) {
    if (mixture == 0) return static_cast<T>(random() % 4);
    if (mixture == 1 && random() % 4 == 0)
      return random() % 2 == 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    return static_cast<T>(random());
  } else if constexpr (std::is_floating_point_v<T>) {
    if (mixture == 0) return static_cast<T>(random_int(random, -2, 2));
    if (mixture == 1) return special<T>(random);
    return random_value<T>(random);
  } else {
    using R = typename T::value_type;
    return {random_key<R>(random, mixture == 2 ? 0 : mixture), random_key<R>(random, mixture)};
  }
}

enum class With { nothing, bytes, words, doubles, complex_numbers, places32, places64 };

struct Case {
  Extents extents;
  int dim = 0;
  With with = With::nothing;
  bool descending = false, in_place = false, keys_wanted = true;
  int mixture = 0;
};

std::vector<std::string> implementations(kkc_device_t device) {
  int32_t count = 0;
  ok(kkc_implementation_count(device, "view_sort", &count));
  std::vector<std::string> names;
  for (int32_t i = 0; i < count; ++i) {
    const char* name = nullptr;
    ok(kkc_implementation_name(device, "view_sort", i, &name));
    names.emplace_back(name);
  }
  return names;
}

/// False when the implementation does not take the case.
template <class K, class V>
bool check_typed(const Context& ctx, Random& random, const Case& c, const std::string& implementation,
                 const Placement (&where)[4]) {
  INFO(implementation << ' ' << text(c.extents) << " along " << c.dim << ", payload " << static_cast<int>(c.with)
                      << (c.descending ? ", descending" : "") << (c.in_place ? ", in place" : "") << ", mixture "
                      << c.mixture << ", strides " << text(where[0].strides));
  const bool payload = c.with != With::nothing, places = c.with == With::places32 || c.with == With::places64;
  Dense<K> keys(ctx, random, c.extents, where[0]), sorted_keys(ctx, random, c.extents, where[1]);
  for (K& k : keys.memory) k = random_key<K>(random, c.mixture);
  keys.array.set(keys.memory);
  Dense<V> values(ctx, random, c.extents, where[2]), sorted_values(ctx, random, c.extents, where[3]);
  std::vector<K> expected_keys = c.in_place ? keys.memory : sorted_keys.memory;
  std::vector<V> expected_values = c.in_place && !places ? values.memory : sorted_values.memory;
  const auto dim = static_cast<size_t>(c.dim);
  for_each_index(c.extents, [&](const Extents& start) {
    if (start[dim] != 0) return;
    std::vector<int64_t> order(static_cast<size_t>(c.extents[dim]));
    std::iota(order.begin(), order.end(), 0);
    const auto at = [&](int64_t i) {
      Extents index = start;
      index[dim] = i;
      return index;
    };
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      const int order_of = compare(keys(at(a)), keys(at(b)));
      return c.descending ? order_of > 0 : order_of < 0;
    });
    for (int64_t i = 0; i < c.extents[dim]; ++i) {
      const int64_t from = order[static_cast<size_t>(i)];
      expected_keys[static_cast<size_t>((c.in_place ? where[0] : where[1]).at(at(i)))] = keys(at(from));
      V& value = expected_values[static_cast<size_t>((c.in_place && !places ? where[2] : where[3]).at(at(i)))];
      if constexpr (std::is_integral_v<V>)
        value = places ? static_cast<V>(from) : values(at(from));
      else
        value = values(at(from));
    }
  });

  kkc_view_t *k_out = c.in_place ? keys.view : sorted_keys.view, *v_in = values.view,
             *v_out = c.in_place && !places ? values.view : sorted_values.view;
  if (!c.keys_wanted) k_out = nullptr;
  if (!payload || places) v_in = nullptr;
  if (!payload) v_out = nullptr;
  Plan plan;
  const kkc_status_t status =
      kkc_view_sort_plan(ctx, c.dim, keys.view, k_out, v_in, v_out,
                         Options(std::string(R"({"implementation": ")") + implementation + R"(", "order": ")" +
                                 (c.descending ? "descending" : "ascending") + "\"}"),
                         plan.out());
  if (status == KKC_STATUS_NOT_SUPPORTED) return false;
  ok(status);
  const std::vector<K> before = keys.memory;
  for (int repeat = 0; repeat < 2; ++repeat) {  // what one execute leaves in the workspace does not matter to the next
    keys.array.set(before);
    values.array.set(values.memory);
    ok(kkc_view_sort_execute(plan, keys.view, k_out, v_in, v_out));
    if (c.keys_wanted) REQUIRE(same_bytes((c.in_place ? keys : sorted_keys).fetch(), expected_keys));
    if (payload) REQUIRE(same_bytes((c.in_place && !places ? values : sorted_values).fetch(), expected_values));
    if (!(c.in_place && c.keys_wanted)) REQUIRE(same_bytes(keys.fetch(), before));
  }
  return true;
}

template <class K>
bool check_case(const Context& ctx, Random& random, const Case& c, const std::string& implementation,
                const Placement (&where)[4]) {
  switch (c.with) {
    case With::bytes: return check_typed<K, uint8_t>(ctx, random, c, implementation, where);
    case With::words:
    case With::places32: return check_typed<K, int32_t>(ctx, random, c, implementation, where);
    case With::doubles: return check_typed<K, double>(ctx, random, c, implementation, where);
    case With::complex_numbers: return check_typed<K, std::complex<double>>(ctx, random, c, implementation, where);
    default: return check_typed<K, int64_t>(ctx, random, c, implementation, where);
  }
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("view_sort: every implementation sorts like std::stable_sort", "[view_sort]", Keys) {
  for (const kkc_device_t device : devices()) {
    INFO(name(device) << ", seed " << seed());
    const Context ctx(device);
    Random random(seed());
    for (const std::string& implementation : implementations(device)) {
      int taken = 0;
      for (const int64_t n : {1, 2, 3, 31, 32, 33, 48, 49, 64, 255, 256, 257, 1000, 4096, 8191, 8193, 20000}) {
        Case c{{n}};
        for (const With with : {With::nothing, With::words, With::places64}) {
          c.with = with;
          c.mixture = static_cast<int>(random() % 3);
          c.descending = random() % 2 == 0;
          c.in_place = random() % 2 == 0;
          const Placement run = place({n}, {0});
          taken += check_case<TestType>(ctx, random, c, implementation, {run, run, run, run});
        }
      }
      for (const Extents& extents :
           {Extents{1, 9}, Extents{9, 1}, Extents{40, 33}, Extents{300, 20}, Extents{20, 1000}, Extents{3, 9000}}) {
        for (const With with : {With::nothing, With::bytes, With::words, With::doubles, With::complex_numbers,
                                With::places32, With::places64})
          for (const int dim : {0, 1}) {
            // Both sort line by line, with tens of launches each.
            const bool by_line = implementation == "reference" || implementation == "gpu_radix";
            if (is_gpu(device) && by_line && extents[static_cast<size_t>(1 - dim)] > 40) continue;
            // Sanitizers take long for them.
            if (!is_gpu(device) && extents[0] * extents[1] > 10'000 && random() % 2 == 0) continue;
            Case c{extents, dim, with, random() % 2 == 0, random() % 2 == 0, true, static_cast<int>(random() % 3)};
            const bool plain = random() % 2 == 0;
            Placement where[4];
            for (Placement& w : where) w = plain ? place(extents, right_order(2)) : random_placement(random, extents);
            taken += check_case<TestType>(ctx, random, c, implementation, {where[0], where[1], where[2], where[3]});
          }
      }
      Case order_only{{500}, 0, With::places32};
      order_only.keys_wanted = false;
      const Placement run = place({500}, {0});
      taken += check_case<TestType>(ctx, random, order_only, implementation, {run, run, run, run});
      CHECK(taken > 40);
    }
  }
}

TEST_CASE("view_sort: lines that several threads sort together, and all keys equal", "[view_sort]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device) << ", seed " << seed());
    const Context ctx(device, device == KKC_DEVICE_OPENMP ? R"({"threads": 3})" : "");
    Random random(seed());
    for (const std::string& implementation : implementations(device)) {
      const int64_t n = is_gpu(device) ? 300000 : 100000;
      const Placement run = place({n}, {0});
      for (const int mixture : {0, 1, 2}) {
        check_case<double>(ctx, random, {{n}, 0, With::doubles, mixture == 1, mixture == 2, true, mixture},
                           implementation, {run, run, run, run});
        check_case<uint8_t>(ctx, random, {{n}, 0, With::places32, mixture == 1, mixture == 2, true, mixture},
                            implementation, {run, run, run, run});
      }
      const std::vector<float> same(100000, 2.5f);
      const Array<float> keys(ctx, same), sorted(ctx, same.size());
      const Array<int32_t> places(ctx, same.size());
      const View k = wrap(ctx, keys.data(), {100000}), s = wrap(ctx, sorted.data(), {100000}),
                 p = wrap(ctx, places.data(), {100000});
      Plan plan;
      const kkc_status_t status = kkc_view_sort_plan(
          ctx, 0, k, s, nullptr, p,
          Options("{\"implementation\": \"" + implementation + "\", \"order\": \"descending\"}"), plan.out());
      if (status == KKC_STATUS_NOT_SUPPORTED) continue;
      ok(status);
      ok(kkc_view_sort_execute(plan, k, s, nullptr, p));
      std::vector<int32_t> in_order(same.size());
      std::iota(in_order.begin(), in_order.end(), 0);
      CHECK(places.get() == in_order);
      CHECK(sorted.get() == same);
    }
  }
}

TEST_CASE("view_sort: plans choose, say what they chose, and keep to a bounded workspace", "[view_sort]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const Context ctx(device);
    Random random(seed());
    const Array<double> memory(ctx, size_t{200000});
    const View x = wrap(ctx, memory.data(), {100000}), y = wrap(ctx, memory.data() + 100000, {100000});
    Plan plan;
    ok(kkc_view_sort_plan(ctx, 0, x, y, nullptr, nullptr, nullptr, plan.out()));
    const char* json = nullptr;
    ok(kkc_plan_info(plan, &json));
    const std::string info = json;
    CHECK(info.find(is_gpu(device) ? "\"gpu_radix\"" : "\"host_radix\"") != std::string::npos);
    CHECK(info.find("\"order\":\"ascending\"") != std::string::npos);
    size_t bytes = 0;
    ok(kkc_plan_workspace_size(plan, &bytes));
    CHECK(bytes >= 800000);
    // Another workspace, given by the caller.
    std::vector<double> numbers(200000);
    for (double& v : numbers) v = random_value<double>(random);
    memory.set(numbers);
    const Array<unsigned char> own(ctx, bytes);
    ok(kkc_plan_set_workspace(plan, own.data(), bytes));
    ok(kkc_view_sort_execute(plan, x, y, nullptr, nullptr));
    std::sort(numbers.begin(), numbers.begin() + 100000);
    const auto got = memory.get();
    CHECK(std::equal(numbers.begin(), numbers.begin() + 100000, got.begin() + 100000));
    Plan bounded;
    CHECK(kkc_view_sort_plan(ctx, 0, x, y, nullptr, nullptr, Options(R"({"max_workspace": 1000})"), bounded.out()) ==
          KKC_STATUS_NOT_SUPPORTED);
    CHECK(std::string(kkc_last_error()).find("max_workspace") != std::string::npos);
    ok(kkc_view_sort_plan(ctx, 0, x, y, nullptr, nullptr, Options(R"({"tuning": "measure"})"), bounded.out()));
    ok(kkc_plan_info(bounded, &json));
    CHECK(std::string(json).find("measured") != std::string::npos);
    // No elements: nothing to choose, nothing to do.
    const View none = wrap<double>(ctx, nullptr, {0});
    Plan empty;
    ok(kkc_view_sort_plan(ctx, 0, none, none, nullptr, nullptr, nullptr, empty.out()));
    ok(kkc_view_sort_execute(empty, none, none, nullptr, nullptr));
    ok(kkc_plan_info(empty, &json));
    CHECK(std::string(json).find("\"implementation\":\"") != std::string::npos);
    CHECK(std::string(json).find("\"why\":\"there is nothing to sort\"") != std::string::npos);
    for (const View& nothing : {wrap<double>(ctx, nullptr, {0, 3}), wrap<double>(ctx, nullptr, {3, 0})})
      for (const int32_t dim : {0, 1}) {
        ok(kkc_view_sort_plan(ctx, dim, nothing, nothing, nullptr, nullptr, Options(R"({"tuning": "measure"})"),
                              empty.out()));
        ok(kkc_view_sort_execute(empty, nothing, nothing, nullptr, nullptr));
      }
  }
}

TEST_CASE("view_sort: misuse is refused with a sentence", "[view_sort]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const Context ctx(device);
    const Array<double> memory(ctx, size_t{200});
    const Array<int32_t> integers(ctx, size_t{200});
    const Array<float> floats(ctx, size_t{200});
    const View x = wrap(ctx, memory.data(), {20}), y = wrap(ctx, memory.data() + 40, {20}),
               v = wrap(ctx, memory.data() + 80, {20}), w = wrap(ctx, memory.data() + 120, {20}),
               p = wrap(ctx, integers.data(), {20}), f = wrap(ctx, floats.data(), {20}),
               square = wrap(ctx, memory.data(), {4, 4}), longer = wrap(ctx, memory.data() + 40, {21});
    Plan plan, made;
    const auto refuses = [&](kkc_status_t status, kkc_status_t expected, const std::string& part) {
      CHECK(status == expected);
      CHECK(plan == nullptr);
      CHECK(std::string(kkc_last_error()).find(part) != std::string::npos);
    };
    const auto try_plan = [&](int32_t dim, kkc_view_t* keys, kkc_view_t* sorted_keys, kkc_view_t* values,
                              kkc_view_t* sorted_values, const std::string& options = "{}") {
      return kkc_view_sort_plan(ctx, dim, keys, sorted_keys, values, sorted_values, Options(options), plan.out());
    };
    refuses(try_plan(1, x, y, nullptr, nullptr), KKC_STATUS_INVALID_ARGUMENT, "dim is 1");
    refuses(try_plan(2, square, square, nullptr, nullptr), KKC_STATUS_INVALID_ARGUMENT, "dim is 2");
    refuses(try_plan(0, nullptr, y, nullptr, nullptr), KKC_STATUS_NULL_POINTER, "keys is NULL");
    refuses(try_plan(0, x, nullptr, nullptr, nullptr), KKC_STATUS_NULL_POINTER, "both NULL");
    refuses(try_plan(0, x, y, v, nullptr), KKC_STATUS_NULL_POINTER, "sorted_values is NULL");
    refuses(try_plan(0, x, longer, nullptr, nullptr), KKC_STATUS_SIZE_MISMATCH, "sorted_keys is 21");
    refuses(try_plan(0, wrap(ctx, memory.data(), {2, 2, 2}), y, nullptr, nullptr), KKC_STATUS_SIZE_MISMATCH, "rank 3");
    refuses(try_plan(0, x, f, nullptr, nullptr), KKC_STATUS_TYPE_MISMATCH, "sorted_keys holds f32");
    refuses(try_plan(0, x, y, v, f), KKC_STATUS_TYPE_MISMATCH, "sorted_values holds f32");
    refuses(try_plan(0, x, y, nullptr, w), KKC_STATUS_TYPE_MISMATCH, "i32 or i64");
    refuses(try_plan(0, x, y, nullptr, nullptr, R"({"order": "sideways"})"), KKC_STATUS_UNKNOWN_OPTION, "order");
    refuses(try_plan(0, x, y, nullptr, nullptr, R"({"direction": "up"})"), KKC_STATUS_UNKNOWN_OPTION, "direction");
    refuses(try_plan(0, x, y, nullptr, nullptr, R"({"implementation": "bogo"})"), KKC_STATUS_UNKNOWN_OPTION, "bogo");

    ok(kkc_view_sort_plan(ctx, 0, x, y, v, w, nullptr, made.out()));
    refuses(kkc_view_sort_execute(made, x, y, nullptr, w), KKC_STATUS_NULL_POINTER, "values is NULL");
    refuses(kkc_view_sort_execute(made, x, longer, v, w), KKC_STATUS_SIZE_MISMATCH, "sorted_keys is 21");
    refuses(kkc_view_sort_execute(made, x, y, p, w), KKC_STATUS_TYPE_MISMATCH, "values holds i32");
    ok(kkc_view_sort_execute(made, x, x, v, v));  // in place
    refuses(kkc_view_sort_execute(made, x, y, v, y), KKC_STATUS_INVALID_ARGUMENT, "overlap");
    refuses(kkc_view_sort_execute(made, x, wrap(ctx, memory.data() + 1, {20}), v, w), KKC_STATUS_INVALID_ARGUMENT,
            "keys and sorted_keys overlap");
    const View spread = wrap(ctx, memory.data(), {20}, KKC_LAYOUT_STRIDED, {2});
    refuses(kkc_view_sort_execute(made, spread, y, v, w), KKC_STATUS_SIZE_MISMATCH, "stride");
    Plan alone;
    ok(kkc_view_sort_plan(ctx, 0, x, y, nullptr, nullptr, nullptr, alone.out()));
    refuses(kkc_view_sort_execute(alone, x, y, v, w), KKC_STATUS_NULL_POINTER, "values is a view, expected NULL");
    View constant;
    const int64_t extent = 20;
    ok(kkc_view_wrap_const(ctx, KKC_TYPE_F64, 1, &extent, KKC_LAYOUT_LEFT, nullptr, native_space(ctx),
                           memory.data() + 40, constant.out()));
    refuses(try_plan(0, x, constant, nullptr, nullptr), KKC_STATUS_INVALID_ARGUMENT, "const");
    refuses(kkc_view_sort_execute(alone, x, constant, nullptr, nullptr), KKC_STATUS_INVALID_ARGUMENT, "const");
    ok(kkc_view_sort_execute(alone, constant, x, nullptr, nullptr));
  }
}
