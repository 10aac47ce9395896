// dot: sums of x_i y_i or conj(x_i) y_i, one a column. Contract of its implementations.
#pragma once

#include "core/operands.hpp"
#include "core/queue.hpp"
#include "core/registry.hpp"

namespace kkc {

class Context;
class View;

namespace dot {

/// x and y have equal shapes of rank 1 or 2 (rows may be 0, columns not); result has one entry a column.
struct Args {
  bool conjugate;
  DenseRef x, y, result;
};

/// scratch: scratch_bytes of the context's device memory. Host kernels block; GPU kernels only enqueue on the queue's
/// stream, never allocate, and can be captured once Entry::prepare has run.
struct Implementation : Entry {
  void (*run)(Queue& queue, void* scratch, const Args& args);
};

/// result has the element type.
void execute(Context& context, bool conjugate, const View& x, const View& y, View& result);

}  // namespace dot
}  // namespace kkc
