#include "view_scan.hpp"

#include "core/context.hpp"
#include "core/planned_matrix.hpp"
#include "core/strided.hpp"
#include "core/view.hpp"

namespace kkc::view_scan {

void execute(Context& context, bool exclusive, int32_t dim, const View& x, View& y) {
  Queue& queue = context.queue();
  require_usable(x, queue, "x");
  require_usable(y, queue, "y");
  require_output(y, "y");
  require(x.rank() == 1 || x.rank() == 2, KKC_STATUS_SIZE_MISMATCH, "x has rank ", x.rank(), ", expected 1 or 2");
  require_same_shape(x, y, "x", "y");
  require(dim >= 0 && dim < x.rank(), KKC_STATUS_INVALID_ARGUMENT, "dim is ", dim, ", expected 0 to ", x.rank() - 1);
  require(dispatch_types(Pairs{}, x.scalar(), y.scalar(), [](auto) {}), KKC_STATUS_TYPE_MISMATCH, "y holds ",
          name(y.scalar()), " and x ", name(x.scalar()),
          ", expected the same type (one that this build has kernels for), or wider integers in y");
  require_data(x, "x");
  require_data(y, "y");
  if (y.count() == 0) return;
  require(identical(x.ref(), y.ref()) || !overlap(x.ref(), y.ref()), KKC_STATUS_INVALID_ARGUMENT,
          "x and y overlap in memory, expected the same elements or separate ones");
  require_alignment(x.data(), x.scalar(), queue, "x");
  require_alignment(y.data(), y.scalar(), queue, "y");
  const DenseRef &from = x.ref(), &to = y.ref();
  Lines lines{1, from.extents[dim], from.strides[dim], 0, to.strides[dim], 0};
  if (x.rank() == 2) {
    lines.count = from.extents[1 - dim];
    lines.x_line = from.strides[1 - dim];
    lines.y_line = to.strides[1 - dim];
  }
  const Args args{from.scalar, to.scalar, from.data, to.data, lines, !exclusive};
  const auto& implementation = only_implementation<Implementation>(queue, "view_scan");
  queue.run([&] { implementation.run(queue, context.scratch(), args); });
}

}  // namespace kkc::view_scan
