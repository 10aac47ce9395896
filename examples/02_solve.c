/* Solves A x = b by conjugate gradients: kkc_solve [matrix.mtx[.gz], symmetric positive definite] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kkc.h"

static void check(kkc_status_t status) {
  if (status == KKC_STATUS_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", kkc_status_name(status), kkc_last_error());
  exit(1);
}

int main(int argc, char **argv) {
  int64_t n, iterations;
  double residual;
  kkc_context_t *ctx;
  kkc_options_t *size, *options;
  kkc_matrix_t *A;
  kkc_view_t *b, *x;
  kkc_plan_t *plan;

  check(kkc_context_create(KKC_DEVICE_OPENMP, 0, NULL, NULL, &ctx));
  check(kkc_options_from_json("{\"nx\": 80, \"ny\": 80, \"nz\": 80}", &size));
  if (argc > 1) /* or kkc_csr_create, on arrays of yours */
    check(kkc_matrix_read(ctx, argv[1], KKC_INDEX_32_32, KKC_TYPE_F64, &A));
  else
    check(kkc_matrix_generate(ctx, "lap3d7", size, KKC_INDEX_32_32, KKC_TYPE_F64, &A));
  check(kkc_csr_get(A, &n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));

  double *numbers = calloc(2 * (size_t)n, sizeof(double));
  if (numbers == NULL) return 1;
  for (int64_t i = 0; i < n; ++i) numbers[i] = sin((double)i);

  /* Views are your arrays, where they are. */
  check(kkc_view_wrap(ctx, KKC_TYPE_F64, 1, &n, KKC_LAYOUT_RIGHT, NULL, KKC_SPACE_HOST, numbers, &b));
  check(kkc_view_wrap(ctx, KKC_TYPE_F64, 1, &n, KKC_LAYOUT_RIGHT, NULL, KKC_SPACE_HOST, numbers + n, &x));

  /* A plan is made once for the pattern of A; execute, as often as A's values or b change. */
  check(kkc_options_from_json("{\"method\": \"cg\", \"tolerance\": 1e-8}", &options));
  check(kkc_krylov_plan(ctx, A, b, x, options, &plan));
  check(kkc_krylov_set_preconditioner(plan, KKC_PRECONDITIONER_JACOBI, NULL, NULL, NULL));
  check(kkc_krylov_execute(plan, A, b, x));
  check(kkc_krylov_result(plan, NULL, &iterations, &residual));
  printf("%lld unknowns, %lld iterations, |b - A x| = %.1e\n", (long long)n, (long long)iterations, residual);

  check(kkc_plan_destroy(plan));
  check(kkc_view_destroy(b));
  check(kkc_view_destroy(x));
  check(kkc_matrix_destroy(A));
  check(kkc_options_destroy(size));
  check(kkc_options_destroy(options));
  check(kkc_context_destroy(ctx));
  free(numbers);
  return 0;
}
