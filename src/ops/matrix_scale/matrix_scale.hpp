// matrix_scale: A = diag(r) A diag(c) in place.
#pragma once

#include "core/operands.hpp"
#include "core/queue.hpp"
#include "core/registry.hpp"

namespace kkc {

class Context;
class Matrix;
class View;

namespace matrix_scale {

struct Args {
  CsrRef A;  // with entries; its values are written
  void* values;
  DenseRef row_factors, col_factors;  // rank 1 of A's type; data null: left out
};

struct Implementation : Entry {
  void (*run)(Queue& queue, const Args& args);
};

/// Either may be null, not both.
void execute(Context& context, const View* row_factors, Matrix& A, const View* col_factors);

}  // namespace matrix_scale
}  // namespace kkc
