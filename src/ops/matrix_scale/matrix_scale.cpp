#include "matrix_scale.hpp"

#include "core/planned_matrix.hpp"
#include "core/view.hpp"

namespace kkc::matrix_scale {
namespace {

DenseRef checked_factors(const View* factors, const CsrRef& A, int64_t count, Queue& queue, const char* argument,
                         const char* what) {
  if (factors == nullptr) return {};
  require_usable(*factors, queue, argument);
  require(factors->scalar() == A.scalar, KKC_STATUS_TYPE_MISMATCH, argument, " holds ", name(factors->scalar()),
          ", expected the type of A, ", name(A.scalar));
  if (factors->rank() != 1 || factors->extent(0) != count)
    fail(KKC_STATUS_SIZE_MISMATCH, argument, " is ", factors->shape(), " of rank ", factors->rank(),
         ", expected rank 1 with ", count, " elements, the number of A's ", what);
  require_data(*factors, argument);
  require_alignment(factors->data(), A.scalar, queue, argument);
  const auto [begin, end] = factors->bytes();
  const auto values = reinterpret_cast<uintptr_t>(A.values);
  require(end <= values || begin >= values + values_bytes(A), KKC_STATUS_INVALID_ARGUMENT, argument,
          " overlaps A's values, expected separate memory");
  return factors->ref();
}

}  // namespace

void execute(Context& context, const View* row_factors, Matrix& A, const View* col_factors) {
  Queue& queue = context.queue();
  const CsrRef& a = A.ref();
  require(row_factors != nullptr || col_factors != nullptr, KKC_STATUS_NULL_POINTER,
          "row_factors and col_factors are both NULL, expected a view for one of them");
  require_on_device(A, queue, "A");
  require(a.scalar != Scalar::none, KKC_STATUS_TYPE_MISMATCH,
          "A is a pattern without values, expected a matrix with values");
  require_alignment(a.values, a.scalar, queue, "A's values array");
  const Args args{a, const_cast<void*>(a.values), checked_factors(row_factors, a, a.rows, queue, "row_factors", "rows"),
                  checked_factors(col_factors, a, a.cols, queue, "col_factors", "columns")};
  if (a.nnz == 0) return;
  const auto& kernels = only_implementation<Implementation>(queue, "matrix_scale");
  queue.run([&] { kernels.run(queue, args); });
}

}  // namespace kkc::matrix_scale
