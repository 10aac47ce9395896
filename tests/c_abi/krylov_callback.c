/* A preconditioner written in C: a callback that sees the plan's vectors as arrays, with data of its own. */
#include <math.h>

#include "check.h"

enum { n = 200 };

typedef struct {
  double inverse[n];
  int calls;
} diagonal_t;

static kkc_status_t divide(void *user, const kkc_view_t *r, kkc_view_t *z) {
  diagonal_t *diagonal = user;
  int64_t extent = 0, stride = 0;
  void *from, *to;
  int32_t rank;
  if (kkc_view_get(r, NULL, &rank, &extent, &stride, NULL, NULL, &from) != KKC_STATUS_SUCCESS) return 1;
  if (kkc_view_get(z, NULL, NULL, NULL, NULL, NULL, NULL, &to) != KKC_STATUS_SUCCESS) return 2;
  if (rank != 1 || extent != n || stride != 1) return 3;
  for (int i = 0; i < n; ++i) ((double *)to)[i] = diagonal->inverse[i] * ((const double *)from)[i];
  ++diagonal->calls;
  return KKC_STATUS_SUCCESS;
}

int main(void) {
  static double values[3 * n], b[n], x[n];
  static int32_t offsets[n + 1], columns[3 * n];
  static diagonal_t diagonal;
  const int64_t extent = n;
  int32_t nnz = 0;
  int64_t plain = 0, iterations = 0;
  double residual = 0;
  kkc_context_t *ctx;
  kkc_matrix_t *A;
  kkc_view_t *b_view, *x_view;
  kkc_plan_t *plan;
  kkc_status_t status;

  /* Diagonally dominant, of very different rows. */
  for (int i = 0; i < n; ++i) {
    const double size = 1 + (double)(i % 17) * i;
    for (int j = i - 1; j <= i + 1; ++j) {
      if (j < 0 || j >= n) continue;
      columns[nnz] = j;
      values[nnz++] = j == i ? 3 * size : -1;
    }
    offsets[i + 1] = nnz;
    diagonal.inverse[i] = 1 / (3 * size);
    b[i] = 1;
  }
  SUCCEEDS(kkc_context_create(KKC_DEVICE_SERIAL, 0, NULL, NULL, &ctx));
  SUCCEEDS(kkc_csr_create(ctx, n, n, nnz, KKC_INDEX_32_32, KKC_TYPE_F64, 0, offsets, columns, values, &A));
  SUCCEEDS(kkc_view_wrap(ctx, KKC_TYPE_F64, 1, &extent, KKC_LAYOUT_LEFT, NULL, KKC_SPACE_HOST, b, &b_view));
  SUCCEEDS(kkc_view_wrap(ctx, KKC_TYPE_F64, 1, &extent, KKC_LAYOUT_LEFT, NULL, KKC_SPACE_HOST, x, &x_view));
  SUCCEEDS(kkc_krylov_plan(ctx, A, b_view, x_view, NULL, &plan));

  SUCCEEDS(kkc_krylov_execute(plan, A, b_view, x_view));
  SUCCEEDS(kkc_krylov_result(plan, &status, &plain, &residual));
  HOLDS(status == KKC_STATUS_SUCCESS && plain > 20);

  for (int i = 0; i < n; ++i) x[i] = 0;
  SUCCEEDS(kkc_krylov_set_callback(plan, divide, &diagonal));
  SUCCEEDS(kkc_krylov_execute(plan, A, b_view, x_view));
  SUCCEEDS(kkc_krylov_result(plan, NULL, &iterations, &residual));
  HOLDS(iterations > 0 && 2 * iterations <= plain);
  HOLDS(diagonal.calls >= iterations);
  HOLDS(residual <= 1.1e-8 * sqrt((double)n));
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    double r = b[i];
    for (int32_t p = offsets[i]; p < offsets[i + 1]; ++p) r -= values[p] * x[columns[p]];
    sum += r * r;
  }
  HOLDS(sqrt(sum) <= 1.1e-8 * sqrt((double)n));

  /* The same preconditioner of the library. */
  {
    int64_t jacobi = 0;
    for (int i = 0; i < n; ++i) x[i] = 0;
    SUCCEEDS(kkc_krylov_set_preconditioner(plan, KKC_PRECONDITIONER_JACOBI, NULL, NULL, NULL));
    SUCCEEDS(kkc_krylov_execute(plan, A, b_view, x_view));
    SUCCEEDS(kkc_krylov_result(plan, NULL, &jacobi, NULL));
    HOLDS(jacobi == iterations);
  }
  SUCCEEDS(kkc_plan_destroy(plan));
  SUCCEEDS(kkc_view_destroy(b_view));
  SUCCEEDS(kkc_view_destroy(x_view));
  SUCCEEDS(kkc_matrix_destroy(A));
  SUCCEEDS(kkc_context_destroy(ctx));
  return 0;
}
