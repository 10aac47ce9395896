/* Solves a sparse system by conjugate gradients: kkc_solve [matrix.mtx[.gz], symmetric positive definite] */
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
  const double one = 1, zero = 0;
  double rho, next, curvature;
  int64_t n;
  int iteration = 0;
  kkc_context_t *ctx;
  kkc_options_t *size;
  kkc_matrix_t *A;
  kkc_plan_t *plan;
  kkc_view_t *x, *r, *p, *q, *rho_view, *next_view, *curvature_view;

  check(kkc_context_create(KKC_DEVICE_OPENMP, 0, NULL, NULL, &ctx));
  check(kkc_options_from_json("{\"nx\": 80, \"ny\": 80, \"nz\": 80}", &size));
  if (argc > 1)
    check(kkc_matrix_read(ctx, argv[1], KKC_INDEX_32_32, KKC_TYPE_F64, &A));
  else
    check(kkc_matrix_generate(ctx, "lap3d7", size, KKC_INDEX_32_32, KKC_TYPE_F64, &A));
  check(kkc_csr_get(A, &n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));

  /* Views wrap memory of yours (here single numbers) or own theirs. */
  kkc_view_t **vectors[] = {&x, &r, &p, &q};
  for (int i = 0; i < 4; ++i)
    check(kkc_view_create(ctx, KKC_TYPE_F64, 1, &n, KKC_LAYOUT_RIGHT, KKC_SPACE_HOST, vectors[i]));
  check(kkc_view_wrap(ctx, KKC_TYPE_F64, 0, NULL, KKC_LAYOUT_RIGHT, NULL, KKC_SPACE_HOST, &rho, &rho_view));
  check(kkc_view_wrap(ctx, KKC_TYPE_F64, 0, NULL, KKC_LAYOUT_RIGHT, NULL, KKC_SPACE_HOST, &next, &next_view));
  check(kkc_view_wrap(ctx, KKC_TYPE_F64, 0, NULL, KKC_LAYOUT_RIGHT, NULL, KKC_SPACE_HOST, &curvature, &curvature_view));

  void *b; /* the right side, written where r starts */
  check(kkc_view_get(r, NULL, NULL, NULL, NULL, NULL, NULL, &b));
  for (int64_t i = 0; i < n; ++i) ((double *)b)[i] = sin((double)i);
  check(kkc_view_fill(ctx, &zero, x));
  check(kkc_view_copy(ctx, r, p));

  check(kkc_spmv_plan(ctx, KKC_OP_NONE, A, p, q, NULL, &plan)); /* once for the pattern */
  check(kkc_dot(ctx, 0, r, r, rho_view));
  for (const double goal = 1e-16 * rho; rho > goal && iteration < 10000; ++iteration, rho = next) {
    check(kkc_spmv_execute(plan, &one, A, p, &zero, q)); /* q = A p */
    check(kkc_dot(ctx, 0, p, q, curvature_view));
    const double alpha = rho / curvature, minus_alpha = -alpha;
    check(kkc_axpby(ctx, &alpha, p, &one, x));       /* x += alpha p */
    check(kkc_axpby(ctx, &minus_alpha, q, &one, r)); /* r -= alpha q */
    check(kkc_dot(ctx, 0, r, r, next_view));
    const double beta = next / rho;
    check(kkc_axpby(ctx, &one, r, &beta, p)); /* p = r + beta p */
  }
  printf("%lld unknowns, %d iterations, |b - A x| = %.1e\n", (long long)n, iteration, sqrt(rho));

  kkc_view_t *views[] = {x, r, p, q, rho_view, next_view, curvature_view};
  for (int i = 0; i < 7; ++i) check(kkc_view_destroy(views[i]));
  check(kkc_plan_destroy(plan));
  check(kkc_matrix_destroy(A));
  check(kkc_options_destroy(size));
  check(kkc_context_destroy(ctx));
  return iteration < 10000 ? 0 : 1;
}
