#include "dot.hpp"

#include "core/context.hpp"
#include "core/strided.hpp"
#include "core/view.hpp"

namespace kkc::dot {

void execute(Context& context, bool conjugate, const View& x, const View& y, View& result) {
  Queue& queue = context.queue();
  require_usable(x, queue, "x");
  require_usable(y, queue, "y");
  require_usable(result, queue, "result");
  require_output(result, "result");
  require_same_shape(x, y, "x", "y");
  require_same_type(x, y, "x", "y");
  require_same_type(x, result, "x", "result");
  require(is_floating(x.scalar()), KKC_STATUS_NOT_SUPPORTED, "x holds ", name(x.scalar()),
          ", expected f32, f64, c64 or c128");
  if (x.rank() != 1 && x.rank() != 2) fail(KKC_STATUS_SIZE_MISMATCH, "x is ", x.shape(), ", expected rank 1 or 2");
  const int64_t columns = x.rank() == 2 ? x.extent(1) : 1;
  if (result.rank() != x.rank() - 1 || (x.rank() == 2 && result.extent(0) != columns))
    fail(KKC_STATUS_SIZE_MISMATCH, "result is ", result.shape(), ", expected ", x.rank() == 1 ? "rank 0" : cat(columns),
         " for x of ", x.shape());
  require_data(x, "x");
  require_data(y, "y");
  require_data(result, "result");
  if (columns == 0) return;
  require(!overlap(x.ref(), result.ref()) && !overlap(y.ref(), result.ref()), KKC_STATUS_INVALID_ARGUMENT,
          "result overlaps x or y in memory, expected separate elements");
  const auto& implementation = only_implementation<Implementation>(queue, "dot");
  queue.run([&] { implementation.run(queue, context.scratch(), {conjugate, x.ref(), y.ref(), result.ref()}); });
}

}  // namespace kkc::dot
