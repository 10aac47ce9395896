// kkc.h section 13: prefix sums and sorts of views.
#include "guard.hpp"
#include "ops/view_scan/view_scan.hpp"
#include "ops/view_sort/view_sort_plan.hpp"

using namespace kkc;

namespace {

std::shared_ptr<View> view_or_none(const kkc_view_t* view, const char* argument) {
  return view == nullptr ? nullptr : as<View>(view, argument);
}

}  // namespace

extern "C" {

kkc_status_t kkc_view_scan(kkc_context_t* ctx, int32_t exclusive, int32_t dim, const kkc_view_t* x, kkc_view_t* y) {
  return guard([&] {
    require(exclusive == 0 || exclusive == 1, KKC_STATUS_INVALID_ARGUMENT, "exclusive is ", exclusive,
            ", expected 0 or 1");
    view_scan::execute(*as<Context>(ctx, "ctx"), exclusive == 1, dim, *as<View>(x, "x"), *as<View>(y, "y"));
  });
}

kkc_status_t kkc_view_sort_plan(kkc_context_t* ctx, int32_t dim, const kkc_view_t* keys, const kkc_view_t* sorted_keys,
                                const kkc_view_t* values, const kkc_view_t* sorted_values, const kkc_options_t* options,
                                kkc_plan_t** plan) {
  return guard(
      [&] {
        give(view_sort::plan(as<Context>(ctx, "ctx"), dim, *as<View>(keys, "keys"),
                             view_or_none(sorted_keys, "sorted_keys").get(), view_or_none(values, "values").get(),
                             view_or_none(sorted_values, "sorted_values").get(), *options_or_none(options)),
             plan);
      },
      out(plan, "plan"));
}

kkc_status_t kkc_view_sort_execute(kkc_plan_t* plan, const kkc_view_t* keys, kkc_view_t* sorted_keys,
                                   const kkc_view_t* values, kkc_view_t* sorted_values) {
  return guard([&] {
    view_sort::execute(*as<Plan>(plan, "plan"), *as<View>(keys, "keys"), view_or_none(sorted_keys, "sorted_keys").get(),
                       view_or_none(values, "values").get(), view_or_none(sorted_values, "sorted_values").get());
  });
}

}  // extern "C"
