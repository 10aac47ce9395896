#include "matrix_diagonal.hpp"

#include <algorithm>

#include "core/planned_matrix.hpp"
#include "core/view.hpp"

namespace kkc::matrix_diagonal {

void execute(Context& context, const Matrix& A, View& d) {
  Queue& queue = context.queue();
  const CsrRef& a = A.ref();
  require_on_device(A, queue, "A");
  require(a.scalar != Scalar::none, KKC_STATUS_TYPE_MISMATCH,
          "A is a pattern without values, expected a matrix with values");
  require_usable(d, queue, "d");
  require_output(d, "d");
  require(d.scalar() == a.scalar, KKC_STATUS_TYPE_MISMATCH, "d holds ", name(d.scalar()), ", expected the type of A, ",
          name(a.scalar));
  const int64_t n = std::min(a.rows, a.cols);
  if (d.rank() != 1 || d.extent(0) != n)
    fail(KKC_STATUS_SIZE_MISMATCH, "d is ", d.shape(), " of rank ", d.rank(), ", expected rank 1 with ", n,
         " elements, the diagonal of A");
  require_data(d, "d");
  require_alignment(d.data(), a.scalar, queue, "d");
  require_alignment(a.values, a.scalar, queue, "A's values array");
  if (n == 0) return;
  const auto& kernels = only_implementation<Implementation>(queue, "matrix_diagonal");
  queue.run([&] { kernels.run(queue, {a, d.ref()}); });
}

}  // namespace kkc::matrix_diagonal
