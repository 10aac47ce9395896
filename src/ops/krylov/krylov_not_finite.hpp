// Sentences for numbers that no method can use. The search for them is long: it runs when one is known to be there.
#pragma once

#include "core/matrix.hpp"
#include "core/operands.hpp"

namespace kkc::krylov {

/// Waits for the norm of a vector of any type; infinite or NaN where an element is, or where it overflows. `result`:
/// room for one number in the device's memory.
double norm_of(Context& context, const DenseRef& vector, void* result);

/// Refuses a vector with NaN or infinity, with the first row; returns where all are finite.
void refuse_not_finite(Queue& queue, const DenseRef& vector, const char* argument);
/// Refuses a matrix with such a value, with its place; returns where all are finite.
void refuse_not_finite(const Matrix& A, const char* argument);
/// Fails for a diagonal that cannot be inverted, with the row. what: what would invert it.
[[noreturn]] void refuse_diagonal(const Matrix& A, const char* argument, const char* what);

}  // namespace kkc::krylov
