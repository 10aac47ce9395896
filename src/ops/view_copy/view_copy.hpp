// view_copy: destination = source between any two layouts. Contract of its implementations.
#pragma once

#include "core/operands.hpp"
#include "core/queue.hpp"
#include "core/registry.hpp"

namespace kkc {

class Context;
class View;

namespace view_copy {

/// Equal shapes and element sizes, at least one element, both readable by the device, not overlapping.
struct Args {
  DenseRef source, destination;
};

/// scratch: scratch_bytes of the context's device memory. Host kernels block; GPU kernels only enqueue on the queue's
/// stream, never allocate, and can be captured once Entry::prepare has run.
struct Implementation : Entry {
  void (*run)(Queue& queue, void* scratch, const Args& args);
};

/// Any spaces; blocks when the context's device cannot read one side.
void execute(Context& context, const View& source, View& destination);

}  // namespace view_copy
}  // namespace kkc
