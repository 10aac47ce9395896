#include "output_pattern.hpp"

#include <memory>

#include "dispatch.hpp"
#include "plan.hpp"

namespace kkc {
namespace {

/// Whether is[i] - base = expected[i] for arrays of the queue's device.
template <class T>
bool same_from(Queue& queue, const void* is, T base, const void* expected, int64_t count) {
  if (is == expected && base == 0) return true;
  std::unique_ptr<T[]> copies[2];
  const T* arrays[2] = {static_cast<const T*>(is), static_cast<const T*>(expected)};
  if (!is_host(queue.device()))
    for (int k = 0; k < 2; ++k) {
      copies[k].reset(new T[static_cast<size_t>(count)]);
      copy_and_wait(queue, copies[k].get(), arrays[k], static_cast<size_t>(count) * sizeof(T));
      arrays[k] = copies[k].get();
    }
  for (int64_t i = 0; i < count; ++i)
    if (arrays[0][i] - base != arrays[1][i]) return false;
  return true;
}

}  // namespace

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

void require_planned_pattern(const Matrix& C, const OutputPattern& planned, Queue& queue, const char* argument) {
  const CsrRef &is = C.ref(), expected = planned.ref();
  bool same = true;
  dispatch_index_pair(AllIndexPairs{}, is.pair, [&](auto p) {
    using Pair = decltype(p);
    using O = typename Pair::offset;
    using I = typename Pair::ordinal;
    same = (is.rows == 0 || same_from<O>(queue, is.offsets, static_cast<O>(is.base), expected.offsets, is.rows + 1)) &&
           (is.nnz == 0 || same_from<I>(queue, is.indices, static_cast<I>(is.base), expected.indices, is.nnz));
  });
  if (!same)
    fail(KKC_STATUS_PATTERN_CHANGED, argument,
         " has another pattern than the one planned (its offsets or indices changed)");
}

const OutputPattern& output_of(const Plan& plan) {
  if (plan.output() == nullptr)
    fail(KKC_STATUS_INVALID_HANDLE, "plan is a plan of ", plan.operation(),
         ", expected one of an operation whose output is a matrix");
  return *plan.output();
}

}  // namespace kkc
