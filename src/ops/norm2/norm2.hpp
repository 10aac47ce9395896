// norm2: Euclidean norms, one a column, without overflow or underflow. Contract of its implementations.
#pragma once

#include "core/operands.hpp"
#include "core/queue.hpp"
#include "core/registry.hpp"

namespace kkc {

class Context;
class View;

namespace norm2 {

/// x has rank 1 or 2 (rows may be 0, columns not); result is real and has one entry a column.
struct Args {
  DenseRef x, result;
};

/// scratch: scratch_bytes of the context's device memory. Host kernels block; GPU kernels only enqueue on the queue's
/// stream, never allocate, and can be captured once Entry::prepare has run.
struct Implementation : Entry {
  void (*run)(Queue& queue, void* scratch, const Args& args);
};

/// result is of the real type.
void execute(Context& context, const View& x, View& result);

}  // namespace norm2
}  // namespace kkc
