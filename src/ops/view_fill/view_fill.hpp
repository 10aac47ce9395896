// view_fill: every element of a view = one value. Contract of its implementations.
#pragma once

#include "core/operands.hpp"
#include "core/queue.hpp"
#include "core/registry.hpp"

namespace kkc {

class Context;
class View;

namespace view_fill {

/// At least one element.
struct Args {
  alignas(16) unsigned char value[16];  // size_of(view.scalar) bytes count
  DenseRef view;
};

/// scratch: scratch_bytes of the context's device memory. Host kernels block; GPU kernels only enqueue on the queue's
/// stream, never allocate, and can be captured once Entry::prepare has run.
struct Implementation : Entry {
  void (*run)(Queue& queue, void* scratch, const Args& args);
};

/// value: host memory, of the view's element type.
void execute(Context& context, const void* value, View& view);

}  // namespace view_fill
}  // namespace kkc
