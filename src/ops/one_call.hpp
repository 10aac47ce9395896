// The operations without a plan: their kernels are loaded when a context is made, so that calls only enqueue.
#pragma once

#include "core/context.hpp"
#include "ops/axpby/axpby.hpp"
#include "ops/dot/dot.hpp"
#include "ops/norm2/norm2.hpp"
#include "ops/view_copy/view_copy.hpp"
#include "ops/view_fill/view_fill.hpp"

namespace kkc {

template <class Implementation>
void prepare_operation(Queue& queue, const char* operation) {
  const auto& implementation = only_implementation<Implementation>(queue, operation);
  if (implementation.prepare != nullptr) queue.run([&] { implementation.prepare(queue); });
}

inline void prepare_one_call_operations(Queue& queue) {
  prepare_operation<axpby::Implementation>(queue, "axpby");
  prepare_operation<dot::Implementation>(queue, "dot");
  prepare_operation<norm2::Implementation>(queue, "norm2");
  prepare_operation<view_copy::Implementation>(queue, "view_copy");
  prepare_operation<view_fill::Implementation>(queue, "view_fill");
}

}  // namespace kkc
