#include "planned_matrix.hpp"

namespace kkc {

PlannedMatrix::PlannedMatrix(Queue& queue, const CsrRef& A, bool checked)
    : ref_(A), checked_(checked), fingerprint_(checked ? pattern_fingerprint(queue, A) : 0) {
  ref_.offsets = ref_.indices = ref_.values = nullptr;
}

namespace {

std::string shape_of(const DenseRef& view) {
  std::string text = view.rank == 0 ? "rank 0" : "";
  for (int i = 0; i < view.rank; ++i) text += cat(i == 0 ? "" : " x ", view.extents[i]);
  return text;
}

}  // namespace

// On the path of every execute: sentences are made only when they are needed.
void PlannedMatrix::check(const Matrix& A, Queue& queue, const char* argument) const {
  const CsrRef& is = A.ref();
  require_on_device(A, queue, argument);
  if (is.rows != ref_.rows || is.cols != ref_.cols || is.nnz != ref_.nnz || is.base != ref_.base)
    fail(KKC_STATUS_SIZE_MISMATCH, argument, " is ", is.rows, " x ", is.cols, " with ", is.nnz, " entries, base ",
         is.base, ", expected ", ref_.rows, " x ", ref_.cols, " with ", ref_.nnz, " entries, base ", ref_.base,
         ", as planned");
  if (is.pair != ref_.pair || is.scalar != ref_.scalar)
    fail(KKC_STATUS_TYPE_MISMATCH, argument, " is of index pair ", name(is.pair), " and type ", name(is.scalar),
         ", expected ", name(ref_.pair), " and ", name(ref_.scalar), ", as planned");
  if (reinterpret_cast<uintptr_t>(is.values) % alignment_of(is.scalar, queue.device()) != 0)
    require_alignment(is.values, is.scalar, queue, cat(argument, "'s values array").c_str());
  if (checked_ && pattern_fingerprint(queue, is) != fingerprint_)
    fail(KKC_STATUS_PATTERN_CHANGED, argument,
         " has another pattern than the one planned (its offsets or indices changed)");
}

void require_as_planned(const View& view, const DenseRef& planned, Queue& queue, const char* argument) {
  require_usable(view, queue, argument);
  const DenseRef& is = view.ref();
  bool same = is.rank == planned.rank;
  for (int i = 0; same && i < is.rank; ++i) same = is.extents[i] == planned.extents[i];
  if (!same)
    fail(KKC_STATUS_SIZE_MISMATCH, argument, " is ", view.shape(), ", expected ", shape_of(planned), ", as planned");
  if (is.scalar != planned.scalar)
    fail(KKC_STATUS_TYPE_MISMATCH, argument, " holds ", name(is.scalar), ", expected ", name(planned.scalar),
         ", as planned");
  for (int i = 0; i < is.rank; ++i)
    if (is.strides[i] != planned.strides[i] && is.extents[i] > 1)
      fail(KKC_STATUS_SIZE_MISMATCH, argument, " has stride ", is.strides[i], " in dimension ", i, ", expected ",
           planned.strides[i], ", as planned");
  require_data(view, argument);
  require_alignment(is.data, is.scalar, queue, argument);
}

void require_alignment(const void* data, Scalar scalar, const Queue& queue, const char* argument) {
  if (reinterpret_cast<uintptr_t>(data) % alignment_of(scalar, queue.device()) != 0)
    fail(KKC_STATUS_INVALID_ARGUMENT, argument, " lies at ", data, ", expected a multiple of ", size_of(scalar),
         " bytes for ", name(scalar), " on device ", name(queue.device()));
}

}  // namespace kkc
