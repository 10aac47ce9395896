// Views: what is wrapped, made, cut out and refused.
#include "support/catch.hpp"

#include "support/devices.hpp"
#include "support/handles.hpp"

using namespace kkc_test;

namespace {

struct Facts {
  kkc_scalar_t scalar = 0;
  int32_t rank = -1;
  int64_t extents[8] = {}, strides[8] = {};
  kkc_layout_t layout = 0;
  kkc_space_t space = 0;
  void* data = nullptr;
  explicit Facts(const kkc_view_t* view) {
    ok(kkc_view_get(view, &scalar, &rank, extents, strides, &layout, &space, &data));
  }
};

}  // namespace

TEST_CASE("view: wrapping says back what was given", "[core][view]") {
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    const Array<double> data(ctx, size_t{100});
    const Facts left(wrap(ctx, data.data(), {3, 4}));
    CHECK(left.scalar == KKC_TYPE_F64);
    CHECK(left.rank == 2);
    CHECK(left.strides[0] == 1);
    CHECK(left.strides[1] == 3);
    CHECK(left.data == data.data());
    CHECK(left.space == native_space(ctx));
    const Facts right(wrap(ctx, data.data(), {3, 4}, KKC_LAYOUT_RIGHT));
    CHECK(right.strides[0] == 4);
    CHECK(right.strides[1] == 1);
    const Facts padded(wrap(ctx, data.data(), {3, 4}, KKC_LAYOUT_LEFT, {1, 7}));
    CHECK(padded.strides[1] == 7);
    const Facts scalar(wrap(ctx, data.data(), {}));
    CHECK(scalar.rank == 0);
    const Facts eight(wrap(ctx, data.data(), {1, 2, 1, 2, 1, 2, 1, 2}));
    CHECK(eight.rank == 8);
    const Facts empty(wrap<double>(ctx, nullptr, {0, 4}));
    CHECK(empty.data == nullptr);
  }
}

TEST_CASE("view: bad shapes are refused", "[core][view]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const Context ctx(device);
    const Array<double> data(ctx, size_t{100});
    const auto status = [&](kkc_scalar_t scalar, const std::vector<int64_t>& extents, kkc_layout_t layout,
                            const std::vector<int64_t>& strides) {
      View view;
      const kkc_status_t s =
          kkc_view_wrap(ctx, scalar, static_cast<int32_t>(extents.size()), extents.empty() ? nullptr : extents.data(),
                        layout, strides.empty() ? nullptr : strides.data(), native_space(ctx), data.data(), view.out());
      CHECK((s == KKC_STATUS_SUCCESS) == (view != nullptr));
      if (s != KKC_STATUS_SUCCESS) CHECK(std::string(kkc_last_error()).size() > 10);
      return s;
    };
    CHECK(status(KKC_TYPE_F64, {3, 4}, KKC_LAYOUT_STRIDED, {1, 3}) == KKC_STATUS_SUCCESS);
    CHECK(status(KKC_TYPE_F64, {-1}, KKC_LAYOUT_LEFT, {}) != KKC_STATUS_SUCCESS);
    CHECK(status(KKC_TYPE_F64, {3, 4}, KKC_LAYOUT_STRIDED, {1, -3}) != KKC_STATUS_SUCCESS);
    CHECK(status(KKC_TYPE_F64, {3, 4}, KKC_LAYOUT_STRIDED, {1, 2}) != KKC_STATUS_SUCCESS);
    CHECK(status(KKC_TYPE_F64, {3, 4}, KKC_LAYOUT_STRIDED, {0, 1}) != KKC_STATUS_SUCCESS);
    CHECK(status(KKC_TYPE_F64, {3, 4}, KKC_LAYOUT_STRIDED, {}) != KKC_STATUS_SUCCESS);
    CHECK(status(KKC_TYPE_F64, {INT64_MAX, 2}, KKC_LAYOUT_LEFT, {}) != KKC_STATUS_SUCCESS);
    CHECK(status(KKC_TYPE_F64, {INT64_MAX / 4}, KKC_LAYOUT_LEFT, {}) != KKC_STATUS_SUCCESS);
    CHECK(status(KKC_TYPE_F64, {int64_t{1} << 32, int64_t{1} << 32}, KKC_LAYOUT_LEFT, {}) != KKC_STATUS_SUCCESS);
    CHECK(status(KKC_TYPE_F64, {2, 2}, KKC_LAYOUT_STRIDED, {1, INT64_MAX / 2}) != KKC_STATUS_SUCCESS);
    constexpr int64_t many = int64_t{1} << 40;
    CHECK(status(KKC_TYPE_F64, {0, many, many}, KKC_LAYOUT_STRIDED, {1, 1, 1}) == KKC_STATUS_OVERFLOW);
    const int64_t repeated[] = {many, many}, still[] = {0, 0};
    View constant;
    CHECK(kkc_view_wrap_const(ctx, KKC_TYPE_F64, 2, repeated, KKC_LAYOUT_STRIDED, still, native_space(ctx), data.data(),
                              constant.out()) == KKC_STATUS_OVERFLOW);
    const View nothing = wrap(ctx, data.data(), {0, many}, KKC_LAYOUT_STRIDED, {1, many});
    const int64_t begins[] = {0, many}, counts[] = {0, 0};
    View part;
    CHECK(kkc_view_sub(nothing, begins, counts, part.out()) == KKC_STATUS_SUCCESS);
    CHECK(status(KKC_TYPE_NONE, {3}, KKC_LAYOUT_LEFT, {}) != KKC_STATUS_SUCCESS);
    CHECK(status(99, {3}, KKC_LAYOUT_LEFT, {}) != KKC_STATUS_SUCCESS);
    CHECK(status(KKC_TYPE_F64, {3}, 0, {}) != KKC_STATUS_SUCCESS);
    CHECK(status(KKC_TYPE_F64, {1, 1, 1, 1, 1, 1, 1, 1, 1}, KKC_LAYOUT_LEFT, {}) != KKC_STATUS_SUCCESS);
    View view;
    const int64_t three = 3;
    CHECK(kkc_view_wrap(ctx, KKC_TYPE_F64, -1, &three, KKC_LAYOUT_LEFT, nullptr, native_space(ctx), data.data(),
                        view.out()) != KKC_STATUS_SUCCESS);
    CHECK(kkc_view_wrap(ctx, KKC_TYPE_F64, 1, nullptr, KKC_LAYOUT_LEFT, nullptr, native_space(ctx), data.data(),
                        view.out()) == KKC_STATUS_NULL_POINTER);
    CHECK(kkc_view_wrap(ctx, KKC_TYPE_F64, 1, &three, KKC_LAYOUT_LEFT, nullptr, 9, data.data(), view.out()) !=
          KKC_STATUS_SUCCESS);
    CHECK(kkc_view_wrap(ctx, KKC_TYPE_F64, 1, &three, KKC_LAYOUT_LEFT, nullptr, native_space(ctx), data.data(),
                        nullptr) == KKC_STATUS_NULL_POINTER);
    if (!is_gpu(device))
      CHECK(kkc_view_wrap(ctx, KKC_TYPE_F64, 1, &three, KKC_LAYOUT_LEFT, nullptr, KKC_SPACE_DEVICE, data.data(),
                          view.out()) != KKC_STATUS_SUCCESS);
  }
}

TEST_CASE("view: parts, second handles and moved pointers", "[core][view]") {
  for (const kkc_device_t device : devices()) {
    const Context ctx(device);
    const Array<double> data(ctx, size_t{100});
    View whole = wrap(ctx, data.data(), {5, 6});
    View part, row, same, outside;
    const int64_t begins[] = {1, 2}, counts[] = {3, 4}, one_row[] = {-1, 4}, beyond[] = {3, 5}, negative[] = {-1, 0};
    ok(kkc_view_sub(whole, begins, counts, part.out()));
    const Facts cut(part);
    CHECK(cut.data == data.data() + 1 + 2 * 5);
    CHECK(cut.extents[0] == 3);
    CHECK(cut.strides[1] == 5);
    ok(kkc_view_sub(whole, begins, one_row, row.out()));
    const Facts dropped(row);
    CHECK(dropped.rank == 1);
    CHECK(dropped.extents[0] == 4);
    CHECK(dropped.strides[0] == 5);
    CHECK(kkc_view_sub(whole, begins, beyond, outside.out()) != KKC_STATUS_SUCCESS);
    CHECK(kkc_view_sub(whole, negative, counts, outside.out()) != KKC_STATUS_SUCCESS);
    CHECK(kkc_view_sub(whole, nullptr, counts, outside.out()) == KKC_STATUS_NULL_POINTER);
    ok(kkc_view_retain(whole, same.out()));
    whole.reset();
    CHECK(Facts(same).data == data.data());
    ok(kkc_view_set_pointer(same, data.data() + 10));
    CHECK(Facts(same).data == data.data() + 10);
    View owned;
    const int64_t two = 2;
    ok(kkc_view_create(ctx, KKC_TYPE_F64, 1, &two, KKC_LAYOUT_LEFT, native_space(ctx), owned.out()));
    CHECK(kkc_view_set_pointer(owned, data.data()) != KKC_STATUS_SUCCESS);
  }
}

TEST_CASE("view: what was allocated outlives its context and its first handle", "[core][view]") {
  for (const kkc_device_t device : devices()) {
    View part;
    {
      const Context ctx(device);
      View whole;
      const int64_t extents[] = {4, 4}, begins[] = {0, 1}, counts[] = {4, 2};
      ok(kkc_view_create(ctx, KKC_TYPE_F64, 2, extents, KKC_LAYOUT_LEFT, native_space(ctx), whole.out()));
      ok(kkc_view_sub(whole, begins, counts, part.out()));
    }
    const Context other(device);
    const double seven = 7;
    ok(kkc_view_fill(other, &seven, part));
    other.synchronize();
  }
}
