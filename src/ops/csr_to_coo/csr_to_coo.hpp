// csr_to_coo: the row of each entry of a CSR matrix.
#pragma once

#include "core/operands.hpp"
#include "core/queue.hpp"
#include "core/registry.hpp"

namespace kkc {

class Context;
class Matrix;
class View;

namespace csr_to_coo {

struct Args {
  CsrRef A;              // with entries
  DenseRef row_indices;  // rank 1, i32 or i64, any stride
};

struct Implementation : Entry {
  void (*run)(Queue& queue, const Args& args);
};

void execute(Context& context, const Matrix& A, View& row_indices);

}  // namespace csr_to_coo
}  // namespace kkc
