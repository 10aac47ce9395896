/* One level of smoothed-aggregation multigrid: kkc_multigrid_level [points a side] [serial|openmp|cuda]
 *
 * From a Poisson matrix A and a tentative prolongator T (aggregates of 3 x 3 x 3 points):
 *   P = (I - omega D^-1 A) T      spgemm_jacobi
 *   A_c = P^T (A P)               spgemm, twice
 * then the numeric phases again for new values of A: the plans are kept. A_c is checked by products with a vector. */
#define _POSIX_C_SOURCE 200809L
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kkc.h"

static void check(kkc_status_t status) {
  if (status == KKC_STATUS_SUCCESS) return;
  fprintf(stderr, "%s: %s\n", kkc_status_name(status), kkc_last_error());
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static kkc_context_t *ctx;
static kkc_device_t device = KKC_DEVICE_OPENMP;

/* Prints what a phase took and returns the time now. */
static double report(const char *phase, double since) {
  check(kkc_context_synchronize(ctx));
  printf("  %-36s %9.3f ms\n", phase, 1e3 * (now() - since));
  return now();
}

static int64_t nnz_of(const kkc_matrix_t *A, int64_t *rows, int64_t *cols) {
  int64_t nnz;
  check(kkc_csr_get(A, rows, cols, &nnz, NULL, NULL, NULL, NULL, NULL, NULL));
  return nnz;
}

/* Each aggregate of 3 x 3 x 3 points is a column; a point's row holds one entry. */
static kkc_matrix_t *tentative(int64_t side) {
  const int64_t coarse = (side + 2) / 3, rows = side * side * side;
  int32_t *offsets = malloc((size_t)(rows + 1) * sizeof *offsets), *columns = malloc((size_t)rows * sizeof *columns);
  double *values = malloc((size_t)rows * sizeof *values);
  kkc_matrix_t *T;
  if (!offsets || !columns || !values) exit(1);
  for (int64_t row = 0; row <= rows; ++row) {
    const int64_t x = row % side / 3, y = row / side % side / 3, z = row / (side * side) / 3;
    offsets[row] = (int32_t)row;
    if (row == rows) break;
    columns[row] = (int32_t)((z * coarse + y) * coarse + x);
    values[row] = 1 / sqrt(27.0);
  }
  check(kkc_csr_create_copy(ctx, rows, coarse * coarse * coarse, rows, KKC_INDEX_32_32, KKC_TYPE_F64, 0, offsets,
                            columns, values, &T));
  free(offsets);
  free(columns);
  free(values);
  return T;
}

/* y = op(A) x */
static void multiply(kkc_op_t op, const kkc_matrix_t *A, kkc_view_t *x, kkc_view_t *y) {
  const double one = 1, zero = 0;
  kkc_plan_t *plan;
  check(kkc_spmv_plan(ctx, op, A, x, y, NULL, &plan));
  check(kkc_spmv_execute(plan, &one, A, x, &zero, y));
  check(kkc_plan_destroy(plan));
}

static kkc_view_t *vector(int64_t n) {
  kkc_view_t *v;
  check(kkc_view_create(ctx, KKC_TYPE_F64, 1, &n, KKC_LAYOUT_RIGHT,
                        device == KKC_DEVICE_CUDA ? KKC_SPACE_DEVICE : KKC_SPACE_HOST, &v));
  return v;
}

static double norm(const kkc_view_t *v) {
  double result;
  kkc_view_t *number, *mirror;
  check(kkc_view_wrap(ctx, KKC_TYPE_F64, 0, NULL, KKC_LAYOUT_RIGHT, NULL, KKC_SPACE_HOST, &result, &number));
  check(kkc_view_mirror(ctx, number, device == KKC_DEVICE_CUDA ? KKC_SPACE_DEVICE : KKC_SPACE_HOST, &mirror));
  check(kkc_norm2(ctx, v, mirror));
  check(kkc_view_copy(ctx, mirror, number));
  check(kkc_view_destroy(mirror));
  check(kkc_view_destroy(number));
  return result;
}

/* ||A_c v - P^T (A (P v))|| / ||A_c v|| */
static double error_of(const kkc_matrix_t *A, const kkc_matrix_t *P, const kkc_matrix_t *coarse) {
  const double one = 1, minus = -1;
  int64_t n, m;
  nnz_of(P, &n, &m);
  double *numbers = malloc((size_t)m * sizeof *numbers), scale, error;
  if (!numbers) exit(1);
  for (int64_t i = 0; i < m; ++i) numbers[i] = sin((double)i);
  kkc_view_t *given, *v = vector(m), *direct = vector(m), *stepwise = vector(m), *Pv = vector(n), *APv = vector(n);
  check(kkc_view_wrap(ctx, KKC_TYPE_F64, 1, &m, KKC_LAYOUT_RIGHT, NULL, KKC_SPACE_HOST, numbers, &given));
  check(kkc_view_copy(ctx, given, v));
  multiply(KKC_OP_NONE, coarse, v, direct);
  multiply(KKC_OP_NONE, P, v, Pv);
  multiply(KKC_OP_NONE, A, Pv, APv);
  multiply(KKC_OP_TRANSPOSE, P, APv, stepwise);
  scale = norm(direct);
  check(kkc_axpby(ctx, &one, direct, &minus, stepwise));
  error = norm(stepwise) / scale;
  kkc_view_t *views[] = {given, v, direct, stepwise, Pv, APv};
  for (int i = 0; i < 6; ++i) check(kkc_view_destroy(views[i]));
  free(numbers);
  return error;
}

/* A's conductivity grows with the row: D A D with d_i = 1 + i / rows, so that A stays symmetric. */
static void change_values(kkc_matrix_t *A) {
  int64_t rows;
  kkc_view_t *factors, *d;
  nnz_of(A, &rows, NULL);
  double *numbers = malloc((size_t)rows * sizeof *numbers);
  if (!numbers) exit(1);
  for (int64_t i = 0; i < rows; ++i) numbers[i] = 1 + (double)i / (double)rows;
  check(kkc_view_wrap(ctx, KKC_TYPE_F64, 1, &rows, KKC_LAYOUT_RIGHT, NULL, KKC_SPACE_HOST, numbers, &factors));
  d = vector(rows);
  check(kkc_view_copy(ctx, factors, d));
  check(kkc_matrix_scale(ctx, d, A, d));
  check(kkc_context_synchronize(ctx));
  check(kkc_view_destroy(d));
  check(kkc_view_destroy(factors));
  free(numbers);
}

int main(int argc, char **argv) {
  const int64_t side = argc > 1 ? atoll(argv[1]) : 30;
  const double one = 1, zero = 0, omega = 2.0 / 3;
  kkc_matrix_t *A, *T, *P, *AP, *coarse;
  kkc_plan_t *smooth, *times_P, *galerkin;
  kkc_options_t *size;
  int64_t n, m;

  if (argc > 2 && strcmp(argv[2], "serial") == 0) device = KKC_DEVICE_SERIAL;
  if (argc > 2 && strcmp(argv[2], "cuda") == 0) device = KKC_DEVICE_CUDA;
  check(kkc_context_create(device, 0, NULL, NULL, &ctx));
  check(kkc_options_create(&size));
  check(kkc_options_set_int(size, "nx", side));
  check(kkc_options_set_int(size, "ny", side));
  check(kkc_options_set_int(size, "nz", side));
  check(kkc_matrix_generate(ctx, "lap3d7", size, KKC_INDEX_32_32, KKC_TYPE_F64, &A));
  T = tentative(side);

  /* Symbolic, once. A plan's output is a matrix of the library; its values come with execute. */
  puts("symbolic phases");
  double t = now();
  check(kkc_spgemm_jacobi_plan(ctx, A, T, KKC_INDEX_32_32, NULL, &smooth));
  check(kkc_plan_create_output(smooth, &P));
  t = report("P = (I - omega D^-1 A) T", t);
  check(kkc_spgemm_plan(ctx, KKC_OP_NONE, A, KKC_OP_NONE, P, NULL, KKC_INDEX_32_32, NULL, &times_P));
  check(kkc_plan_create_output(times_P, &AP));
  t = report("A P", t);
  check(kkc_spgemm_plan(ctx, KKC_OP_TRANSPOSE, P, KKC_OP_NONE, AP, NULL, KKC_INDEX_32_32, NULL, &galerkin));
  check(kkc_plan_create_output(galerkin, &coarse));
  report("P^T (A P)", t);

  int agrees = 1;
  for (int round = 0; round < 2; ++round) {
    if (round == 1) change_values(A);
    puts(round == 0 ? "numeric phases" : "numeric phases for new values of A, same plans");
    t = now();
    check(kkc_spgemm_jacobi_execute(smooth, &omega, NULL, A, T, P));
    t = report("P = (I - omega D^-1 A) T", t);
    check(kkc_spgemm_execute(times_P, &one, A, P, &zero, AP));
    t = report("A P", t);
    check(kkc_spgemm_execute(galerkin, &one, P, AP, &zero, coarse));
    report("P^T (A P)", t);
    const double error = error_of(A, P, coarse);
    printf("  ||A_c v - P^T A P v|| / ||A_c v|| = %.1e\n", error);
    agrees = agrees && error < 1e-12;
  }
  printf("A: %lld entries, ", (long long)nnz_of(A, &n, NULL));
  printf("%lld rows; ", (long long)n);
  printf("A_c: %lld entries, ", (long long)nnz_of(coarse, &m, NULL));
  printf("%lld rows\n", (long long)m);
  puts(agrees ? "The coarse matrix agrees with its factors." : "The coarse matrix differs from its factors.");

  kkc_plan_t *plans[] = {smooth, times_P, galerkin};
  kkc_matrix_t *matrices[] = {A, T, P, AP, coarse};
  for (int i = 0; i < 3; ++i) check(kkc_plan_destroy(plans[i]));
  for (int i = 0; i < 5; ++i) check(kkc_matrix_destroy(matrices[i]));
  check(kkc_options_destroy(size));
  check(kkc_context_destroy(ctx));
  return agrees ? 0 : 1;
}
