// matrix_diagonal: the diagonal of a CSR matrix.
#pragma once

#include "core/operands.hpp"
#include "core/queue.hpp"
#include "core/registry.hpp"

namespace kkc {

class Context;
class Matrix;
class View;

namespace matrix_diagonal {

struct Args {
  CsrRef A;
  DenseRef d;  // rank 1, min(rows, cols) > 0 elements of A's type, any stride
};

struct Implementation : Entry {
  void (*run)(Queue& queue, const Args& args);
};

void execute(Context& context, const Matrix& A, View& d);

}  // namespace matrix_diagonal
}  // namespace kkc
