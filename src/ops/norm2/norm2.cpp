#include "norm2.hpp"

#include "core/context.hpp"
#include "core/strided.hpp"
#include "core/view.hpp"

namespace kkc::norm2 {
namespace {

Scalar real_of(Scalar scalar) {
  return scalar == Scalar::c64 ? Scalar::f32 : scalar == Scalar::c128 ? Scalar::f64 : scalar;
}

}  // namespace

void execute(Context& context, const View& x, View& result) {
  Queue& queue = context.queue();
  require_usable(x, queue, "x");
  require_usable(result, queue, "result");
  require_output(result, "result");
  require(is_floating(x.scalar()), KKC_STATUS_NOT_SUPPORTED, "x holds ", name(x.scalar()),
          ", expected f32, f64, c64 or c128");
  require(result.scalar() == real_of(x.scalar()), KKC_STATUS_TYPE_MISMATCH, "result holds ", name(result.scalar()),
          ", expected ", name(real_of(x.scalar())), " for x of ", name(x.scalar()));
  if (x.rank() != 1 && x.rank() != 2) fail(KKC_STATUS_SIZE_MISMATCH, "x is ", x.shape(), ", expected rank 1 or 2");
  const int64_t columns = x.rank() == 2 ? x.extent(1) : 1;
  if (result.rank() != x.rank() - 1 || (x.rank() == 2 && result.extent(0) != columns))
    fail(KKC_STATUS_SIZE_MISMATCH, "result is ", result.shape(), ", expected ", x.rank() == 1 ? "rank 0" : cat(columns),
         " for x of ", x.shape());
  require_data(x, "x");
  require_data(result, "result");
  if (columns == 0) return;
  require(!overlap(x.ref(), result.ref()), KKC_STATUS_INVALID_ARGUMENT,
          "result overlaps x in memory, expected separate elements");
  const auto& implementation = only_implementation<Implementation>(queue, "norm2");
  queue.run([&] { implementation.run(queue, context.scratch(), {x.ref(), result.ref()}); });
}

}  // namespace kkc::norm2
