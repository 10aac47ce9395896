#include "view_fill.hpp"

#include <cstring>

#include "core/context.hpp"
#include "core/view.hpp"

namespace kkc::view_fill {

void execute(Context& context, const void* value, View& view) {
  Queue& queue = context.queue();
  require(value != nullptr, KKC_STATUS_NULL_POINTER, "value is NULL, expected one element in host memory");
  require_usable(view, queue, "view");
  require_output(view, "view");
  require_data(view, "view");
  if (view.count() == 0) return;
  Args args{{}, view.ref()};
  std::memcpy(args.value, value, size_of(view.scalar()));
  const auto& fill = only_implementation<Implementation>(queue, "view_fill");
  queue.run([&] { fill.run(queue, context.scratch(), args); });
}

}  // namespace kkc::view_fill
