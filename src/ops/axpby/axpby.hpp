// axpby: y = alpha x + beta y for equal shapes. Contract of its implementations.
#pragma once

#include "core/operands.hpp"
#include "core/queue.hpp"
#include "core/registry.hpp"

namespace kkc {

class Context;
class View;

namespace axpby {

/// Equal shapes and floating element types, at least one element; x may be y, else they do not overlap.
struct Args {
  Coefficient alpha, beta;
  DenseRef x, y;
};

/// scratch: scratch_bytes of the context's device memory. Host kernels block; GPU kernels only enqueue on the queue's
/// stream, never allocate, and can be captured once Entry::prepare has run.
struct Implementation : Entry {
  void (*run)(Queue& queue, void* scratch, const Args& args);
};

/// alpha, beta: host or device memory as the context's option scalars says.
void execute(Context& context, const void* alpha, const View& x, const void* beta, View& y);

}  // namespace axpby
}  // namespace kkc
