#include "csr_to_coo.hpp"

#include <limits>

#include "core/matrix.hpp"
#include "core/view.hpp"

namespace kkc::csr_to_coo {

void execute(Context& context, const Matrix& A, View& row_indices) {
  Queue& queue = context.queue();
  const CsrRef& a = A.ref();
  require_on_device(A, queue, "A");
  require_usable(row_indices, queue, "row_indices");
  require_output(row_indices, "row_indices");
  const Scalar type = row_indices.scalar();
  require(type == Scalar::i32 || type == Scalar::i64, KKC_STATUS_TYPE_MISMATCH, "row_indices holds ", name(type),
          ", expected i32 or i64");
  if (row_indices.rank() != 1 || row_indices.extent(0) != a.nnz)
    fail(KKC_STATUS_SIZE_MISMATCH, "row_indices is ", row_indices.shape(), " of rank ", row_indices.rank(),
         ", expected rank 1 with ", a.nnz, " elements, the entries of A");
  require(type == Scalar::i64 || a.rows <= std::numeric_limits<int32_t>::max() - a.base, KKC_STATUS_OVERFLOW, "A has ",
          a.rows, " rows, more than i32 counts");
  require_data(row_indices, "row_indices");
  if (a.nnz == 0) return;
  const auto& kernels = only_implementation<Implementation>(queue, "csr_to_coo");
  queue.run([&] { kernels.run(queue, {a, row_indices.ref()}); });
}

}  // namespace kkc::csr_to_coo
