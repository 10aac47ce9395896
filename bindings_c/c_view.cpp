// kkc.h sections 6 and 10: views and operations without a plan.
#include "core/view.hpp"
#include "guard.hpp"
#include "ops/axpby/axpby.hpp"
#include "ops/dot/dot.hpp"
#include "ops/norm2/norm2.hpp"
#include "ops/view_copy/view_copy.hpp"
#include "ops/view_fill/view_fill.hpp"

using namespace kkc;

extern "C" {

kkc_status_t kkc_view_wrap(kkc_context_t* ctx, kkc_scalar_t scalar, int32_t rank, const int64_t* extents,
                           kkc_layout_t layout, const int64_t* strides, kkc_space_t space, void* data,
                           kkc_view_t** view) {
  return guard(
      [&] {
        give(View::wrap(*as<Context>(ctx, "ctx"), scalar, rank, extents, layout, strides, space, data, false), view);
      },
      out(view, "view"));
}

kkc_status_t kkc_view_wrap_const(kkc_context_t* ctx, kkc_scalar_t scalar, int32_t rank, const int64_t* extents,
                                 kkc_layout_t layout, const int64_t* strides, kkc_space_t space, const void* data,
                                 kkc_view_t** view) {
  return guard(
      [&] {
        give(View::wrap(*as<Context>(ctx, "ctx"), scalar, rank, extents, layout, strides, space,
                        const_cast<void*>(data), true),
             view);
      },
      out(view, "view"));
}

kkc_status_t kkc_view_create(kkc_context_t* ctx, kkc_scalar_t scalar, int32_t rank, const int64_t* extents,
                             kkc_layout_t layout, kkc_space_t space, kkc_view_t** view) {
  return guard([&] { give(View::create(*as<Context>(ctx, "ctx"), scalar, rank, extents, layout, space), view); },
               out(view, "view"));
}

kkc_status_t kkc_view_mirror(kkc_context_t* ctx, const kkc_view_t* view, kkc_space_t space, kkc_view_t** mirror) {
  return guard(
      [&] {
        const auto context = as<Context>(ctx, "ctx");
        give(as<View>(view, "view")->mirror(*context, space), mirror);
      },
      out(mirror, "mirror"));
}

kkc_status_t kkc_view_retain(kkc_view_t* view, kkc_view_t** same) {
  return guard([&] { give(as<View>(view, "view")->retain(), same); }, out(same, "same"));
}

kkc_status_t kkc_view_sub(kkc_view_t* view, const int64_t* begins, const int64_t* counts, kkc_view_t** sub) {
  return guard([&] { give(as<View>(view, "view")->sub(begins, counts), sub); }, out(sub, "sub"));
}

kkc_status_t kkc_view_get(const kkc_view_t* view, kkc_scalar_t* scalar, int32_t* rank, int64_t* extents,
                          int64_t* strides, kkc_layout_t* layout, kkc_space_t* space, void** data) {
  return guard(
      [&] {
        const auto v = as<View>(view, "view");
        if (scalar != nullptr) *scalar = static_cast<kkc_scalar_t>(v->scalar());
        if (rank != nullptr) *rank = v->rank();
        for (int i = 0; i < v->rank() && extents != nullptr; ++i) extents[i] = v->ref().extents[i];
        for (int i = 0; i < v->rank() && strides != nullptr; ++i) strides[i] = v->ref().strides[i];
        if (layout != nullptr) *layout = static_cast<kkc_layout_t>(v->layout());
        if (space != nullptr) *space = static_cast<kkc_space_t>(v->space());
        if (data != nullptr) *data = v->data();
      },
      optional_out(scalar), optional_out(rank), optional_out(layout), optional_out(space), optional_out(data));
}

kkc_status_t kkc_view_set_pointer(kkc_view_t* view, void* data) {
  return guard([&] { as<View>(view, "view")->set_pointer(data); });
}

kkc_status_t kkc_view_copy(kkc_context_t* ctx, const kkc_view_t* source, kkc_view_t* destination) {
  return guard([&] {
    view_copy::execute(*as<Context>(ctx, "ctx"), *as<View>(source, "source"), *as<View>(destination, "destination"));
  });
}

kkc_status_t kkc_view_fill(kkc_context_t* ctx, const void* value, kkc_view_t* view) {
  return guard([&] { view_fill::execute(*as<Context>(ctx, "ctx"), value, *as<View>(view, "view")); });
}

kkc_status_t kkc_view_destroy(kkc_view_t* view) { return destroy<View>(view, "view"); }

kkc_status_t kkc_axpby(kkc_context_t* ctx, const void* alpha, const kkc_view_t* x, const void* beta, kkc_view_t* y) {
  return guard([&] { axpby::execute(*as<Context>(ctx, "ctx"), alpha, *as<View>(x, "x"), beta, *as<View>(y, "y")); });
}

kkc_status_t kkc_dot(kkc_context_t* ctx, int32_t conjugate, const kkc_view_t* x, const kkc_view_t* y,
                     kkc_view_t* result) {
  return guard([&] {
    require(conjugate == 0 || conjugate == 1, KKC_STATUS_INVALID_ARGUMENT, "conjugate is ", conjugate,
            ", expected 0 or 1");
    dot::execute(*as<Context>(ctx, "ctx"), conjugate == 1, *as<View>(x, "x"), *as<View>(y, "y"),
                 *as<View>(result, "result"));
  });
}

kkc_status_t kkc_norm2(kkc_context_t* ctx, const kkc_view_t* x, kkc_view_t* result) {
  return guard([&] { norm2::execute(*as<Context>(ctx, "ctx"), *as<View>(x, "x"), *as<View>(result, "result")); });
}

}  // extern "C"
