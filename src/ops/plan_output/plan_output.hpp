// plan_output: the pattern that a plan found for its output matrix, written to the caller's arrays or shared with a
// matrix that the library makes.
#pragma once

#include <cstdint>
#include <memory>

#include "core/queue.hpp"
#include "core/registry.hpp"

namespace kkc {

class Matrix;
class Plan;

namespace plan_output {

struct Implementation : Entry {
  /// destination[i] = source[i] + shift for integers of `bytes_each` (4 or 8) bytes.
  void (*shift)(Queue& queue, void* destination, const void* source, size_t bytes_each, int64_t count, int64_t shift);
  /// Uses the pages of a new array for the first time, or null where that gains nothing.
  void (*touch)(Queue& queue, void* data, size_t bytes);
};

/// Fills C's offsets and indices. Blocks on hosts, enqueues on GPUs.
void write_pattern(const Plan& plan, Matrix& C);
/// A matrix of the planned pattern; its values are not initialised.
std::shared_ptr<Matrix> create(const Plan& plan);

}  // namespace plan_output
}  // namespace kkc
