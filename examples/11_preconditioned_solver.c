/* Preconditioned solvers: kkc_preconditioned_solver [matrix.mtx[.gz]] [--device serial|openmp|cuda|hip] [--size N]
 *
 * Solves lap3d27 on N x N x N points, or the system of a file, to 1e-8 with
 *   CG + IC(0), BiCGSTAB + ILU(0), GMRES(50) + ILU(1), and CG + Jacobi beside them,
 * then again for new values of the same pattern, for which no plan is made anew. A file that is not symmetric with a
 * dominant positive diagonal stands for the graph Laplacian of its pattern + I. At the end: what the library says about
 * a singular pivot, a missing diagonal entry and a NaN.
 *
 * Exit status: 0 all is well, 1 a call failed or a result is wrong, 2 wrong arguments. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kkc.h"
#include "tour_json.h"

static kkc_context_t *ctx;
static kkc_device_t device = KKC_DEVICE_OPENMP;
static const double one = 1, minus_one = -1, zero = 0;

static void check(kkc_status_t status) {
  if (status == KKC_STATUS_SUCCESS) return;
  fflush(stdout);
  fprintf(stderr, "%s: %s\n", kkc_status_name(status), kkc_last_error());
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds since `start`, with all that was enqueued. */
static double since(double start) {
  check(kkc_context_synchronize(ctx));
  return now() - start;
}

static kkc_options_t *options_of(const char *json) {
  kkc_options_t *options;
  check(kkc_options_from_json(json, &options));
  return options;
}

/* ---- vectors -------------------------------------------------------------------------------------------------- */

static kkc_view_t *vector(int64_t n) {
  kkc_view_t *v;
  const int on_host = device == KKC_DEVICE_SERIAL || device == KKC_DEVICE_OPENMP;
  check(kkc_view_create(ctx, KKC_TYPE_F64, 1, &n, KKC_LAYOUT_RIGHT, on_host ? KKC_SPACE_HOST : KKC_SPACE_DEVICE, &v));
  return v;
}

static kkc_view_t *vector_of(int64_t n, double *numbers) {
  kkc_view_t *given, *v = vector(n);
  check(kkc_view_wrap(ctx, KKC_TYPE_F64, 1, &n, KKC_LAYOUT_RIGHT, NULL, KKC_SPACE_HOST, numbers, &given));
  check(kkc_view_copy(ctx, given, v));
  check(kkc_context_synchronize(ctx));
  check(kkc_view_destroy(given));
  return v;
}

static double norm(const kkc_view_t *v) {
  double result;
  kkc_view_t *number, *mirror;
  const int on_host = device == KKC_DEVICE_SERIAL || device == KKC_DEVICE_OPENMP;
  check(kkc_view_wrap(ctx, KKC_TYPE_F64, 0, NULL, KKC_LAYOUT_RIGHT, NULL, KKC_SPACE_HOST, &result, &number));
  check(kkc_view_mirror(ctx, number, on_host ? KKC_SPACE_HOST : KKC_SPACE_DEVICE, &mirror));
  check(kkc_norm2(ctx, v, mirror));
  check(kkc_view_copy(ctx, mirror, number));
  check(kkc_view_destroy(mirror));
  check(kkc_view_destroy(number));
  return result;
}

/* ---- systems -------------------------------------------------------------------------------------------------- */

static kkc_matrix_t *matrix_read(const char *path) {
  const char *json;
  char dominance[32];
  kkc_matrix_t *A, *L;
  check(kkc_matrix_read(ctx, path, KKC_INDEX_32_32, KKC_TYPE_F64, &A));
  check(kkc_matrix_info(A, &json));
  json_text(json_find(json, "diagonal_dominance"), dominance, sizeof dominance);
  if (json_number(json, "hermitian", 0) > 0 && json_number(json, "positive_diagonal", 0) > 0 &&
      strcmp(dominance, "none") != 0)
    return A;
  if (json_number(json, "rows", 0) != json_number(json, "cols", 0)) {
    fprintf(stderr, "%s is not square\n", path);
    exit(2);
  }
  printf("not known to be symmetric positive definite: the graph Laplacian of its pattern + I instead\n");
  check(kkc_matrix_laplacian(ctx, A, 1.0, &L));
  check(kkc_matrix_destroy(A));
  return L;
}

static kkc_matrix_t *matrix_generate(int64_t side) {
  kkc_options_t *size;
  kkc_matrix_t *A;
  const char *keys[] = {"nx", "ny", "nz"};
  check(kkc_options_create(&size));
  for (int i = 0; i < 3; ++i) check(kkc_options_set_int(size, keys[i], side));
  check(kkc_matrix_generate(ctx, "lap3d27", size, KKC_INDEX_32_32, KKC_TYPE_F64, &A));
  check(kkc_options_destroy(size));
  return A;
}

/* D A D with d_i between 1 and 2: other values, symmetric positive definite as before. */
static void change_values(kkc_matrix_t *A, int64_t n) {
  double *numbers = malloc((size_t)n * sizeof *numbers);
  if (numbers == NULL) exit(1);
  for (int64_t i = 0; i < n; ++i) numbers[i] = 1.5 + 0.5 * sin((double)i);
  kkc_view_t *d = vector_of(n, numbers);
  check(kkc_matrix_scale(ctx, d, A, d));
  check(kkc_context_synchronize(ctx));
  check(kkc_view_destroy(d));
  free(numbers);
}

/* ---- one way to solve ----------------------------------------------------------------------------------------- */

typedef struct {
  const char *name, *method, *factor_options;
  enum { JACOBI, IC, ILU } kind;
  kkc_plan_t *factorization, *solver;
  kkc_matrix_t *factor;
  int64_t iterations;
} way_t;

/* A numeric status of work that only enqueues on GPUs. */
static void check_plan(kkc_plan_t *plan) {
  int64_t where, count;
  check(kkc_plan_check(plan, &where, &count));
}

static void solve(way_t *way, const kkc_matrix_t *A, const kkc_view_t *b, kkc_view_t *x, kkc_plan_t *product,
                  kkc_view_t *r) {
  double symbolic = 0, numeric = 0, analysis = 0, start;
  if (way->solver == NULL) {
    start = now();
    if (way->kind != JACOBI) {
      kkc_options_t *options = options_of(way->factor_options);
      check(way->kind == IC ? kkc_ic_plan(ctx, A, options, &way->factorization)
                            : kkc_ilu_plan(ctx, A, options, &way->factorization));
      check(kkc_plan_create_output(way->factorization, &way->factor));
      check(kkc_options_destroy(options));
      symbolic = since(start);
    }
    start = now();
    kkc_options_t *options = options_of(way->method);
    check(kkc_krylov_plan(ctx, A, b, x, options, &way->solver));
    check(kkc_options_destroy(options));
    check(kkc_krylov_set_preconditioner(way->solver,
                                        way->kind == IC    ? KKC_PRECONDITIONER_CHOLESKY
                                        : way->kind == ILU ? KKC_PRECONDITIONER_LU
                                                           : KKC_PRECONDITIONER_JACOBI,
                                        way->factor, NULL, NULL));
    analysis = since(start);
  }
  if (way->kind != JACOBI) {
    start = now();
    check(way->kind == IC ? kkc_ic_execute(way->factorization, A, way->factor)
                          : kkc_ilu_execute(way->factorization, A, way->factor));
    numeric = since(start);
    check_plan(way->factorization);
  }
  start = now();
  check(kkc_krylov_execute(way->solver, A, b, x));
  const double seconds = since(start);
  check(kkc_krylov_result(way->solver, NULL, &way->iterations, NULL));

  check(kkc_view_copy(ctx, b, r));
  check(kkc_spmv_execute(product, &minus_one, A, x, &one, r));
  const double residual = norm(r) / norm(b);
  printf("%-18s %10.2f %10.2f %10.2f %10.2f %10lld %12.2e\n", way->name, 1e3 * symbolic, 1e3 * analysis, 1e3 * numeric,
         1e3 * seconds, (long long)way->iterations, residual);
  if (!(residual <= 1.1e-8)) {
    fprintf(stderr, "%s: the residual is too large\n", way->name);
    exit(1);
  }
}

/* ---- what goes wrong ------------------------------------------------------------------------------------------ */

static void expect(kkc_status_t status, const char *part) {
  printf("  %s: %s\n", kkc_status_name(status), kkc_last_error());
  if (status != KKC_STATUS_SUCCESS && strstr(kkc_last_error(), part) != NULL) return;
  fflush(stdout);
  fprintf(stderr, "expected a sentence with \"%s\"\n", part);
  exit(1);
}

static kkc_matrix_t *small_matrix(const int32_t *offsets, const int32_t *columns, const double *values) {
  kkc_matrix_t *A;
  check(kkc_csr_create_copy(ctx, 2, 2, offsets[2], KKC_INDEX_32_32, KKC_TYPE_F64, 0, offsets, columns, values, &A));
  return A;
}

static void show_sentences(void) {
  const int32_t full[] = {0, 2, 4}, short_row[] = {0, 2, 3}, columns[] = {0, 1, 0, 1};
  const double singular[] = {1, 2, 2, 4}, good[] = {4, 1, 1, 4};
  double numbers[] = {1, NAN};
  kkc_matrix_t *S = small_matrix(full, columns, singular), *M = small_matrix(short_row, columns, good);
  kkc_matrix_t *A = small_matrix(full, columns, good), *LU;
  kkc_view_t *b = vector_of(2, numbers), *x = vector(2);
  kkc_plan_t *plan, *none;
  int64_t where, count;
  printf("\nWhat is said about\n");
  check(kkc_ilu_plan(ctx, S, NULL, &plan));
  check(kkc_plan_create_output(plan, &LU));
  kkc_status_t status = kkc_ilu_execute(plan, S, LU);
  if (status == KKC_STATUS_SUCCESS) { /* on GPUs the answer comes with the wait */
    status = kkc_plan_check(plan, &where, &count);
    printf("  (row %lld)", (long long)where);
  }
  expect(status, status == KKC_STATUS_ZERO_PIVOT ? "" : "zero pivot");
  check(kkc_plan_destroy(plan));
  expect(kkc_ilu_plan(ctx, M, NULL, &none), "no diagonal entry in row 1");
  check(kkc_krylov_plan(ctx, A, b, x, NULL, &plan));
  check(kkc_view_fill(ctx, &zero, x));
  expect(kkc_krylov_execute(plan, A, b, x), "b holds NaN or infinity in row 1");
  check(kkc_plan_destroy(plan));
  kkc_matrix_t *matrices[] = {S, M, A, LU};
  for (int i = 0; i < 4; ++i) check(kkc_matrix_destroy(matrices[i]));
  check(kkc_view_destroy(b));
  check(kkc_view_destroy(x));
}

/* ---- all of it ------------------------------------------------------------------------------------------------ */

int main(int argc, char **argv) {
  static const char *devices[] = {"serial", "openmp", "cuda", "hip"};
  const char *path = NULL;
  int64_t side = 40, n, nnz;
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
      device = 0;
      for (int d = 0; d < 4; ++d)
        if (strcmp(argv[i + 1], devices[d]) == 0) device = d + 1;
      ++i;
    } else if (strcmp(argv[i], "--size") == 0 && i + 1 < argc) {
      side = atoll(argv[++i]);
    } else {
      path = argv[i];
    }
  }
  if (device == 0 || side < 2 || (path != NULL && path[0] == '-')) {
    fprintf(stderr,
            "usage: kkc_preconditioned_solver [matrix.mtx[.gz]] [--device serial|openmp|cuda|hip] [--size N]\n");
    return 2;
  }
  check(kkc_context_create(device, 0, NULL, NULL, &ctx));
  kkc_matrix_t *A = path != NULL ? matrix_read(path) : matrix_generate(side);
  check(kkc_csr_get(A, &n, NULL, &nnz, NULL, NULL, NULL, NULL, NULL, NULL));
  printf("%lld unknowns, %lld entries, on %s\n\n", (long long)n, (long long)nnz, devices[device - 1]);

  double *numbers = malloc((size_t)n * sizeof *numbers);
  if (numbers == NULL) return 1;
  for (int64_t i = 0; i < n; ++i) numbers[i] = sin((double)i);
  kkc_view_t *known = vector_of(n, numbers), *b = vector(n), *x = vector(n), *r = vector(n);
  kkc_plan_t *product;
  check(kkc_spmv_plan(ctx, KKC_OP_NONE, A, x, b, NULL, &product));

  way_t ways[] = {{"CG + Jacobi", "{\"method\": \"cg\", \"guess\": \"zero\", \"max_iterations\": 20000}", NULL, JACOBI,
                   NULL, NULL, NULL, 0},
                  {"CG + IC(0)", "{\"method\": \"cg\", \"guess\": \"zero\"}", "{}", IC, NULL, NULL, NULL, 0},
                  {"BiCGSTAB + ILU(0)", "{\"method\": \"bicgstab\", \"guess\": \"zero\"}", "{\"level\": 0}", ILU, NULL,
                   NULL, NULL, 0},
                  {"GMRES(50) + ILU(1)", "{\"method\": \"gmres\", \"restart\": 50, \"guess\": \"zero\"}",
                   "{\"level\": 1}", ILU, NULL, NULL, NULL, 0}};
  const size_t count = sizeof ways / sizeof ways[0];
  for (int round = 0; round < 2; ++round) {
    if (round == 1) {
      printf("\nNew values, the same plans:\n");
      change_values(A, n);
    }
    printf("ms:                 factors'   solver's    factors      solve iterations     residual\n");
    printf("                        plan       plan\n");
    check(kkc_spmv_execute(product, &one, A, known, &zero, b));
    for (size_t k = 0; k < count; ++k) solve(&ways[k], A, b, x, product, r);
  }
  show_sentences();

  for (size_t k = 0; k < count; ++k) {
    check(kkc_plan_destroy(ways[k].factorization));
    check(kkc_plan_destroy(ways[k].solver));
    check(kkc_matrix_destroy(ways[k].factor));
  }
  kkc_view_t *views[] = {known, b, x, r};
  for (int i = 0; i < 4; ++i) check(kkc_view_destroy(views[i]));
  check(kkc_plan_destroy(product));
  check(kkc_matrix_destroy(A));
  check(kkc_context_destroy(ctx));
  free(numbers);
  return 0;
}
