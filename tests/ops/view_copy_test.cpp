// view_copy: every rank, layout, element type and space; what is refused.
#include "support/catch.hpp"
#include "support/dense.hpp"

using namespace kkc_test;

namespace {

using Elements = std::tuple<uint8_t, int32_t, int64_t, float, double, std::complex<float>, std::complex<double>>;

/// Copies and compares the whole memory of the destination, gaps included.
template <class T>
void check_copy(const Context& ctx, Random& random, const Extents& extents, const Placement& from,
                const Placement& to) {
  INFO(text(extents) << ", strides " << text(from.strides) << " to " << text(to.strides));
  const Dense<T> source(ctx, random, extents, from);
  Dense<T> destination(ctx, random, extents, to);
  ok(kkc_view_copy(ctx, source.view, destination.view));
  for_each_index(extents, [&](const Extents& index) { destination(index) = source(index); });
  CHECK(same_bytes(destination.fetch(), destination.memory));
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("view_copy: random shapes between random layouts", "[view_copy]", Elements) {
  for (const kkc_device_t device : devices()) {
    INFO(name(device) << ", seed " << seed());
    const Context ctx(device);
    Random random(seed());
    constexpr int64_t most[] = {1, 5000, 200, 40, 12, 7, 5, 4, 3};
    for (int rank = 0; rank <= 8; ++rank)
      for (int k = 0; k < 12; ++k) {
        Extents extents;
        for (int d = 0; d < rank; ++d) extents.push_back(random_int(random, 1, most[rank]));
        check_copy<TestType>(ctx, random, extents, random_placement(random, extents),
                             random_placement(random, extents));
      }
  }
}

TEMPLATE_LIST_TEST_CASE("view_copy: transposes, wide and narrow, with and without padding", "[view_copy]", Elements) {
  for (const kkc_device_t device : devices()) {
    INFO(name(device) << ", seed " << seed());
    const Context ctx(device);
    Random random(seed());
    for (const Extents& extents : {Extents{64, 64},
                                   {128, 192},
                                   {131, 67},
                                   {32, 32},
                                   {31, 33},
                                   {1000, 3},
                                   {3, 1000},
                                   {257, 24},
                                   {7, 515},
                                   {1, 100},
                                   {700, 2},
                                   {33, 65, 5},
                                   {5, 70, 40},
                                   {40, 3, 70},
                                   {8, 8, 50}})
      for (const int64_t gap : {0, 1, 4}) {
        const auto left = place(extents, left_order(extents.size()), gap),
                   right = place(extents, right_order(extents.size()), gap);
        check_copy<TestType>(ctx, random, extents, left, right);
        check_copy<TestType>(ctx, random, extents, right, left);
        check_copy<TestType>(ctx, random, extents, left, place(extents, left_order(extents.size()), 2, 1, 1));
      }
  }
}

TEST_CASE("view_copy: large arrays, which bypass the caches of a host", "[view_copy]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device) << ", seed " << seed());
    const Context ctx(device);
    Random random(seed());
    for (const Extents& extents : {Extents{1100, 1201}, {3, 500001}, {1 << 21}}) {
      const auto left = place(extents, left_order(extents.size())),
                 right = place(extents, right_order(extents.size()), 0, 1, 1);
      check_copy<double>(ctx, random, extents, left, right);
      check_copy<double>(ctx, random, extents, right, left);
      check_copy<float>(ctx, random, extents, left, right);
    }
  }
}

TEST_CASE("view_copy: sub-views, one source for many places", "[view_copy]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const Context ctx(device);
    Random random(5);
    const Extents extents{20, 30, 4};
    Dense<double> source(ctx, random, extents, place(extents, left_order(3)));
    Dense<double> destination(ctx, random, extents, place(extents, right_order(3)));
    // source(3:12, :, 2) to destination(0:9, :, 1)
    const int64_t from_begin[] = {3, 0, 2}, to_begin[] = {0, 0, 1}, counts[] = {9, 30, -1};
    View from, to;
    ok(kkc_view_sub(source.view, from_begin, counts, from.out()));
    ok(kkc_view_sub(destination.view, to_begin, counts, to.out()));
    ok(kkc_view_copy(ctx, from, to));
    for_each_index({9, 30}, [&](const Extents& i) { destination({i[0], i[1], 1}) = source({i[0] + 3, i[1], 2}); });
    CHECK(same_bytes(destination.fetch(), destination.memory));

    // A stride of 0 repeats one column.
    View repeated;
    const int64_t shape[] = {20, 30}, strides[] = {1, 0};
    ok(kkc_view_wrap_const(ctx, KKC_TYPE_F64, 2, shape, KKC_LAYOUT_STRIDED, strides, native_space(ctx),
                           source.array.data(), repeated.out()));
    const int64_t begin[] = {0, 0, 3}, all[] = {20, 30, -1};
    View slab;
    ok(kkc_view_sub(destination.view, begin, all, slab.out()));
    ok(kkc_view_copy(ctx, repeated, slab));
    for_each_index({20, 30}, [&](const Extents& i) { destination({i[0], i[1], 3}) = source({i[0], 0, 0}); });
    CHECK(same_bytes(destination.fetch(), destination.memory));
  }
}

TEST_CASE("view_copy: between host and device in different layouts", "[view_copy]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device) << ", seed " << seed());
    const Context ctx(device);
    Random random(seed());
    for (int k = 0; k < 30; ++k) {
      Extents extents;
      for (int64_t d = random_int(random, 0, 4); d > 0; --d) extents.push_back(random_int(random, 1, 20));
      const auto host_from = random_placement(random, extents), middle = random_placement(random, extents),
                 host_to = random_placement(random, extents);
      std::vector<float> from(static_cast<size_t>(host_from.size)), to(static_cast<size_t>(host_to.size), 7.0f);
      for (float& e : from) e = random_value<float>(random);
      const auto host_view = [&](std::vector<float>& memory, const Placement& p) {
        View view;
        ok(kkc_view_wrap(ctx, KKC_TYPE_F32, static_cast<int32_t>(extents.size()), extents.data(), KKC_LAYOUT_STRIDED,
                         p.strides.data(), KKC_SPACE_HOST, memory.data() + p.offset, view.out()));
        return view;
      };
      const View source = host_view(from, host_from), destination = host_view(to, host_to);
      const Dense<float> between(ctx, random, extents, middle);
      ok(kkc_view_copy(ctx, source, between.view));
      ok(kkc_view_copy(ctx, between.view, destination));
      auto expected = std::vector<float>(to.size(), 7.0f);
      for_each_index(extents, [&](const Extents& index) {
        expected[static_cast<size_t>(host_to.at(index))] = from[static_cast<size_t>(host_from.at(index))];
      });
      CHECK(same_bytes(to, expected));
      std::fill(to.begin(), to.end(), 7.0f);
      ok(kkc_view_copy(ctx, source, destination));
      CHECK(same_bytes(to, expected));
    }
  }
}

TEST_CASE("view_copy: nothing to copy", "[view_copy]") {
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    const View a = wrap<double>(ctx, nullptr, {0, 5}, KKC_LAYOUT_LEFT),
               b = wrap<double>(ctx, nullptr, {0, 5}, KKC_LAYOUT_RIGHT);
    CHECK(kkc_view_copy(ctx, a, b) == KKC_STATUS_SUCCESS);
    CHECK(kkc_view_copy(ctx, a, a) == KKC_STATUS_SUCCESS);
  }
}

TEST_CASE("view_copy: shared memory is refused, interleaved memory is not", "[view_copy]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const Context ctx(device);
    Random random(11);
    std::vector<double> host = random_vector<double>(random, 400);
    const Array<double> memory(ctx, host);
    const auto view = [&](int64_t first, const Extents& extents, const Extents& strides) {
      return wrap(ctx, memory.data() + first, extents, KKC_LAYOUT_STRIDED, strides);
    };
    const auto copy = [&](const View& a, const View& b) { return kkc_view_copy(ctx, a, b); };
    const View ten = view(0, {10}, {1});
    CHECK(copy(ten, ten) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(std::string(kkc_last_error()).find("overlap") != std::string::npos);
    CHECK(copy(ten, view(9, {10}, {1})) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(copy(ten, view(10, {10}, {1})) == KKC_STATUS_SUCCESS);
    // Columns 0 and 1 of a row-major matrix; rows 0..4 and 5..9 of a column-major one; rows 0..5 and 5..9.
    CHECK(copy(view(0, {10}, {7}), view(1, {10}, {7})) == KKC_STATUS_SUCCESS);
    CHECK(copy(view(0, {5, 9}, {1, 10}), view(5, {5, 9}, {1, 10})) == KKC_STATUS_SUCCESS);
    CHECK(copy(view(0, {6, 9}, {1, 10}), view(5, {6, 9}, {1, 11})) == KKC_STATUS_INVALID_ARGUMENT);
    // Every second against every third from 1 on: 0 2 4 6 .. and 1 4 7 meet at 4.
    CHECK(copy(view(0, {20}, {2}), view(1, {20}, {3})) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(copy(view(0, {20}, {6}), view(1, {20}, {3})) == KKC_STATUS_SUCCESS);
  }
}

TEST_CASE("view_copy: misuse is refused with a sentence", "[view_copy]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const Context ctx(device);
    const Array<double> memory(ctx, size_t{100});
    const Array<float> floats(ctx, size_t{100});
    const View a = wrap(ctx, memory.data(), {4, 5}), b = wrap(ctx, memory.data() + 50, {5, 4}),
               c = wrap(ctx, floats.data(), {4, 5});
    CHECK(kkc_view_copy(ctx, a, b) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(std::string(kkc_last_error()).find("4 x 5") != std::string::npos);
    CHECK(kkc_view_copy(ctx, a, c) == KKC_STATUS_TYPE_MISMATCH);
    CHECK(kkc_view_copy(ctx, a, wrap(ctx, memory.data(), {20})) == KKC_STATUS_SIZE_MISMATCH);
    CHECK(kkc_view_copy(ctx, a, wrap<double>(ctx, nullptr, {4, 5})) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_view_copy(ctx, wrap<double>(ctx, nullptr, {4, 5}), a) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_view_copy(nullptr, a, a) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_view_copy(ctx, nullptr, a) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_view_copy(ctx, a, nullptr) == KKC_STATUS_NULL_POINTER);
    View constant;
    const int64_t extents[] = {4, 5};
    ok(kkc_view_wrap_const(ctx, KKC_TYPE_F64, 2, extents, KKC_LAYOUT_LEFT, nullptr, native_space(ctx),
                           memory.data() + 50, constant.out()));
    CHECK(kkc_view_copy(ctx, a, constant) == KKC_STATUS_INVALID_ARGUMENT);
    CHECK(std::string(kkc_last_error()).find("const") != std::string::npos);
    CHECK(kkc_view_copy(ctx, constant, a) == KKC_STATUS_SUCCESS);
  }
}
