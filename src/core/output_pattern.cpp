#include "output_pattern.hpp"

#include "plan.hpp"

namespace kkc {

void require_planned_output(const Matrix& C, const OutputPattern& planned, Queue& queue, const char* argument) {
  const CsrRef& is = C.ref();
  require_on_device(C, queue, argument);
  if (is.rows != planned.rows || is.cols != planned.cols || is.nnz != planned.nnz)
    fail(KKC_STATUS_SIZE_MISMATCH, argument, " is ", is.rows, " x ", is.cols, " with ", is.nnz, " entries, expected ",
         planned.rows, " x ", planned.cols, " with ", planned.nnz, " entries, as planned");
  if (is.pair != planned.pair || is.scalar != planned.scalar)
    fail(KKC_STATUS_TYPE_MISMATCH, argument, " is of index pair ", name(is.pair), " and type ", name(is.scalar),
         ", expected ", name(planned.pair), " and ", name(planned.scalar), ", as planned");
}

const OutputPattern& output_of(const Plan& plan) {
  if (plan.output() == nullptr)
    fail(KKC_STATUS_INVALID_HANDLE, "plan is a plan of ", plan.operation(),
         ", expected one of an operation whose output is a matrix");
  return *plan.output();
}

}  // namespace kkc
