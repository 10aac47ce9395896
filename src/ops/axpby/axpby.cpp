#include "axpby.hpp"

#include "core/context.hpp"
#include "core/strided.hpp"
#include "core/view.hpp"

namespace kkc::axpby {

void execute(Context& context, const void* alpha, const View& x, const void* beta, View& y) {
  Queue& queue = context.queue();
  require(alpha != nullptr, KKC_STATUS_NULL_POINTER, "alpha is NULL, expected one element");
  require(beta != nullptr, KKC_STATUS_NULL_POINTER, "beta is NULL, expected one element");
  require_usable(x, queue, "x");
  require_usable(y, queue, "y");
  require_output(y, "y");
  require_same_shape(x, y, "x", "y");
  require_same_type(x, y, "x", "y");
  require(is_floating(y.scalar()), KKC_STATUS_NOT_SUPPORTED, "y holds ", name(y.scalar()),
          ", expected f32, f64, c64 or c128");
  require_data(x, "x");
  require_data(y, "y");
  if (y.count() == 0) return;
  require(identical(x.ref(), y.ref()) || !overlap(x.ref(), y.ref()), KKC_STATUS_INVALID_ARGUMENT,
          "x and y overlap in memory, expected the same elements or separate ones");
  const Args args{{alpha, context.device_scalars()}, {beta, context.device_scalars()}, x.ref(), y.ref()};
  const auto& implementation = only_implementation<Implementation>(queue, "axpby");
  queue.run([&] { implementation.run(queue, context.scratch(), args); });
}

}  // namespace kkc::axpby
