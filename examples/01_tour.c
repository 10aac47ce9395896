/* A tour of kkc in C99, on kkc.h alone: read or make a matrix, look at it, plan and execute SpMV in every mode with
 * one and with eight vectors, and solve a system by conjugate gradients.
 *
 *   kkc_tour [matrix.mtx[.gz]] [--device serial|openmp|cuda|hip] [--size N]
 *
 * Exit status: 0 all is well, 1 a call failed or a result is wrong, 2 wrong arguments. */
#define _POSIX_C_SOURCE 200809L

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "kkc.h"
#include "tour_json.h"

typedef struct {
  kkc_context_t *ctx;
  kkc_space_t space; /* where this device's views lie */
  int on_host;
  kkc_index_pair_t pair;
  kkc_scalar_t scalar; /* f64, or c128 for complex files */
  int64_t rows, cols, nnz;
  double bandwidth; /* measured, bytes a second */
} tour_t;

/* Coefficients for f64 (the first number) and for c128 (both). */
static const double one[2] = {1, 0}, minus_one[2] = {-1, 0}, zero[2] = {0, 0};

static void check(kkc_status_t status, const char *doing) {
  if (status == KKC_STATUS_SUCCESS) return;
  fflush(stdout);
  fprintf(stderr, "kkc_tour: %s: %s\n  %s\n", doing, kkc_status_name(status), kkc_last_error());
  exit(1);
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void progress(const char *what) {
  fflush(stdout);
  fprintf(stderr, "... %s\n", what);
}

/* ---- views ---------------------------------------------------------------------------------------------------- */

/* A vector (vectors = 1) or row-major multi-vector in the device's memory. */
static kkc_view_t *view_create(const tour_t *tour, int64_t rows, int64_t vectors) {
  const int64_t extents[2] = {rows, vectors};
  kkc_view_t *view;
  check(kkc_view_create(tour->ctx, tour->scalar, vectors == 1 ? 1 : 2, extents, KKC_LAYOUT_RIGHT, tour->space, &view),
        "creating a view");
  return view;
}

/* Fills a view with numbers in [-1, 1) that are the same on every machine: made here, copied to the device. */
static void view_randomize(const tour_t *tour, uint64_t seed, kkc_view_t *view) {
  kkc_view_t *mirror;
  int64_t extents[8];
  int32_t rank;
  void *data;
  check(kkc_view_mirror(tour->ctx, view, KKC_SPACE_HOST, &mirror), "creating a mirror");
  check(kkc_view_get(mirror, NULL, &rank, extents, NULL, NULL, NULL, &data), "reading a view");
  size_t count = tour->scalar == KKC_TYPE_C128 ? 2 : 1;
  for (int32_t i = 0; i < rank; ++i) count *= (size_t)extents[i];
  for (size_t i = 0; i < count; ++i) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    ((double *)data)[i] = (double)(seed >> 11) * 0x1p-52 - 1;
  }
  check(kkc_view_copy(tour->ctx, mirror, view), "copying to the device");
  check(kkc_view_destroy(mirror), "destroying a view");
}

/* The first number of a small result (rank 0, or the largest of rank 1), brought to the host. */
static double result_read(const tour_t *tour, const kkc_view_t *result) {
  kkc_view_t *mirror;
  kkc_scalar_t scalar;
  int64_t extents[8];
  int32_t rank;
  void *data;
  check(kkc_view_mirror(tour->ctx, result, KKC_SPACE_HOST, &mirror), "creating a mirror");
  check(kkc_view_copy(tour->ctx, result, mirror), "copying a result to the host");
  check(kkc_view_get(mirror, &scalar, &rank, extents, NULL, NULL, NULL, &data), "reading a view");
  double largest = *(double *)data;
  for (int64_t i = 1; rank == 1 && scalar == KKC_TYPE_F64 && i < extents[0]; ++i)
    if (!(((double *)data)[i] <= largest)) largest = ((double *)data)[i];
  check(kkc_view_destroy(mirror), "destroying a view");
  return largest;
}

/* The largest 2-norm of a view's columns. */
static double norm_of(const tour_t *tour, const kkc_view_t *view) {
  int64_t extents[8];
  int32_t rank;
  kkc_view_t *result;
  check(kkc_view_get(view, NULL, &rank, extents, NULL, NULL, NULL, NULL), "reading a view");
  check(kkc_view_create(tour->ctx, KKC_TYPE_F64, rank - 1, extents + 1, KKC_LAYOUT_RIGHT, tour->space, &result),
        "creating a view");
  check(kkc_norm2(tour->ctx, view, result), "norm2");
  const double norm = result_read(tour, result);
  check(kkc_view_destroy(result), "destroying a view");
  return norm;
}

/* ||y - z|| / ||z||; leaves the difference in y. */
static double relative_difference(const tour_t *tour, const kkc_view_t *z, kkc_view_t *y) {
  const double scale = norm_of(tour, z);
  check(kkc_axpby(tour->ctx, minus_one, z, one, y), "axpby");
  const double difference = norm_of(tour, y);
  return scale > 0 ? difference / scale : difference;
}

/* ---- memory bandwidth ----------------------------------------------------------------------------------------- */

/* Best of a copy and a scaling of arrays of 256 MiB (less where memory is short): bytes read and written a second. */
static double measure_bandwidth(const tour_t *tour) {
  for (int64_t n = INT64_C(32) << 20; n >= INT64_C(1) << 20; n /= 2) {
    kkc_view_t *x, *y;
    if (kkc_view_create(tour->ctx, KKC_TYPE_F64, 1, &n, KKC_LAYOUT_RIGHT, tour->space, &x) != KKC_STATUS_SUCCESS)
      continue;
    if (kkc_view_create(tour->ctx, KKC_TYPE_F64, 1, &n, KKC_LAYOUT_RIGHT, tour->space, &y) != KKC_STATUS_SUCCESS) {
      check(kkc_view_destroy(x), "destroying a view");
      continue;
    }
    check(kkc_view_fill(tour->ctx, one, x), "fill");
    check(kkc_view_fill(tour->ctx, zero, y), "fill");
    double best = 1e30;
    for (int i = 0; i < 12; ++i) {
      check(kkc_context_synchronize(tour->ctx), "synchronizing");
      const double start = now();
      if (i % 2 == 0)
        check(kkc_view_copy(tour->ctx, x, y), "copy");
      else
        check(kkc_axpby(tour->ctx, one, x, zero, y), "axpby");
      check(kkc_context_synchronize(tour->ctx), "synchronizing");
      const double seconds = now() - start;
      if (seconds < best) best = seconds;
    }
    check(kkc_view_destroy(x), "destroying a view");
    check(kkc_view_destroy(y), "destroying a view");
    return 16.0 * (double)n / best;
  }
  return 0;
}

/* ---- SpMV ----------------------------------------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Median seconds of one execute after a warm-up; short ones are timed several at a time. */
static double time_execute(const tour_t *tour, kkc_plan_t *plan, const kkc_matrix_t *A, const kkc_view_t *x,
                           kkc_view_t *y) {
  double samples[15];
  int count = 0, batch = 1;
  double start = now();
  check(kkc_spmv_execute(plan, one, A, x, zero, y), "executing");
  check(kkc_context_synchronize(tour->ctx), "synchronizing");
  const double once = now() - start;
  if (once < 1e-3) batch = (int)(1e-3 / (once > 1e-5 ? once : 1e-5)) + 1;
  for (double total = 0; count < 15 && (count < 1 || total < 0.5); ++count) {
    start = now();
    for (int i = 0; i < batch; ++i) check(kkc_spmv_execute(plan, one, A, x, zero, y), "executing");
    check(kkc_context_synchronize(tour->ctx), "synchronizing");
    const double seconds = now() - start;
    samples[count] = seconds / batch;
    total += seconds;
  }
  qsort(samples, (size_t)count, sizeof samples[0], compare_doubles);
  return samples[count / 2];
}

/* Bytes that y = op(A) x must move: A once, x once, y once. */
static double bytes_moved(const tour_t *tour, int64_t vectors) {
  const double ordinal = tour->pair == KKC_INDEX_64_64 ? 8 : 4, offset = tour->pair == KKC_INDEX_32_32 ? 4 : 8;
  const double element = tour->scalar == KKC_TYPE_C128 ? 16 : 8;
  return (double)tour->nnz * (element + ordinal) + (double)(tour->rows + 1) * offset +
         (double)(tour->rows + tour->cols) * (double)vectors * element;
}

/* Why this implementation, and why not those before it. */
static void print_why(kkc_plan_t *plan) {
  char name[64], reason[256];
  const char *json, *key, *value;
  int count = 0;
  check(kkc_plan_info(plan, &json), "asking the plan");
  printf("       chosen: %s", json_text(json_find(json, "why"), reason, sizeof reason));
  for (const char *at = json_find(json, "passed_over"); at != NULL && (at = json_next(at, &key, &value)) != NULL;) {
    json_text(value, reason, sizeof reason);
    if (strcmp(reason, "lower priority") != 0)
      printf("%s%s (%s)", count++ == 0 ? "\n       passed over: " : ", ", json_text(key - 1, name, sizeof name),
             reason);
    if (*at == '}') break;
  }
  printf("\n");
}

/* One line of the table: plan, execute, compare with the reference. kept: the plan may keep what it derives from the
 * values, a transposed copy for one. Returns whether the result is right. */
static int spmv_row(const tour_t *tour, const kkc_matrix_t *A, kkc_op_t op, int64_t vectors, int kept) {
  static const char *labels[2][4] = {{"N", "T", "conj", "H"}, {"N kept", "T kept", "conj kept", "H kept"}};
  const int transposed = op == KKC_OP_TRANSPOSE || op == KKC_OP_HERMITIAN;
  kkc_view_t *x = view_create(tour, transposed ? tour->rows : tour->cols, vectors);
  kkc_view_t *y = view_create(tour, transposed ? tour->cols : tour->rows, vectors);
  kkc_view_t *expected = view_create(tour, transposed ? tour->cols : tour->rows, vectors);
  kkc_plan_t *plan, *reference;
  kkc_options_t *options, *reference_options;
  const char *json;
  char name[64];
  view_randomize(tour, 1, x);

  check(kkc_options_create(&options), "creating options");
  if (kept) check(kkc_options_set_text(options, "values", "kept"), "setting an option");
  if (kept && transposed) check(kkc_options_set_text(options, "transpose", "kept"), "setting an option");
  const double start = now();
  check(kkc_spmv_plan(tour->ctx, op, A, x, y, options, &plan), "planning");
  if (kept) check(kkc_spmv_set_values(plan, A), "handing over the values");
  check(kkc_context_synchronize(tour->ctx), "synchronizing");
  const double plan_seconds = now() - start;
  const double seconds = time_execute(tour, plan, A, x, y);

  check(kkc_options_create(&reference_options), "creating options");
  check(kkc_options_set_text(reference_options, "implementation", "reference"), "setting an option");
  check(kkc_spmv_plan(tour->ctx, op, A, x, expected, reference_options, &reference), "planning the reference");
  check(kkc_spmv_execute(reference, one, A, x, zero, expected), "executing the reference");
  const double error = relative_difference(tour, expected, y);

  const double rate = bytes_moved(tour, vectors) / seconds;
  check(kkc_plan_info(plan, &json), "asking the plan");
  printf("%-9s %7d  %-18s %9.2f %11.3f %8.1f %6.0f %%  %8.1e%s\n", labels[kept][op - 1], (int)vectors,
         json_text(json_find(json, "implementation"), name, sizeof name), 1e3 * plan_seconds, 1e3 * seconds,
         1e-9 * rate, tour->bandwidth > 0 ? 100 * rate / tour->bandwidth : 0, error, error <= 1e-10 ? "" : "  WRONG");
  print_why(plan);
  fflush(stdout);

  check(kkc_plan_destroy(plan), "destroying a plan");
  check(kkc_plan_destroy(reference), "destroying a plan");
  check(kkc_options_destroy(options), "destroying options");
  check(kkc_options_destroy(reference_options), "destroying options");
  check(kkc_view_destroy(x), "destroying a view");
  check(kkc_view_destroy(y), "destroying a view");
  check(kkc_view_destroy(expected), "destroying a view");
  return error <= 1e-10;
}

/* ---- conjugate gradients -------------------------------------------------------------------------------------- */

typedef enum { CG_SOLVED, CG_NOT_POSITIVE, CG_SLOW } cg_result_t;

/* Solves A x = b for Hermitian positive definite A by kkc's conjugate gradients, from x = 0 to ||r|| <= 1e-8 ||b||. b
 * belongs to a random x, so that the error is known too. */
static cg_result_t conjugate_gradients(const tour_t *tour, const kkc_matrix_t *A, int limit) {
  const int64_t n = tour->rows;
  kkc_view_t *known = view_create(tour, n, 1), *x = view_create(tour, n, 1), *b = view_create(tour, n, 1);
  kkc_view_t *r = view_create(tour, n, 1);
  kkc_plan_t *plan, *solver;
  kkc_options_t *options;
  int64_t iterations = 0;
  check(kkc_options_from_json("{\"method\": \"cg\", \"tolerance\": 1e-8, \"guess\": \"zero\"}", &options),
        "making options");
  check(kkc_options_set_int(options, "max_iterations", limit), "setting an option");
  check(kkc_spmv_plan(tour->ctx, KKC_OP_NONE, A, x, b, NULL, &plan), "planning");
  check(kkc_krylov_plan(tour->ctx, A, b, x, options, &solver), "planning");

  view_randomize(tour, 2, known);
  check(kkc_spmv_execute(plan, one, A, known, zero, b), "executing");
  progress("solving");
  const double start = now();
  const kkc_status_t status = kkc_krylov_execute(solver, A, b, x);
  const double seconds = now() - start;
  cg_result_t outcome = CG_SOLVED;
  if (status == KKC_STATUS_BREAKDOWN)
    outcome = CG_NOT_POSITIVE;
  else if (status == KKC_STATUS_NO_CONVERGENCE)
    outcome = CG_SLOW;
  else
    check(status, "solving");
  if (outcome == CG_SOLVED) {
    /* The true residual, and the error, which is known here. */
    const double goal = 1e-8 * norm_of(tour, b);
    check(kkc_krylov_result(solver, NULL, &iterations, NULL), "reading the result");
    check(kkc_view_copy(tour->ctx, b, r), "copy");
    check(kkc_spmv_execute(plan, minus_one, A, x, one, r), "executing");
    const double residual = norm_of(tour, r) * 1e-8 / goal;
    const double error = relative_difference(tour, known, x);
    printf("  %lld iterations in %.3f s (%.3f ms each): ||b - A x|| / ||b|| = %.1e, error of x %.1e\n",
           (long long)iterations, seconds, 1e3 * seconds / (double)(iterations > 0 ? iterations : 1), residual, error);
    if (!(residual <= 2e-8)) {
      fprintf(stderr, "kkc_tour: the residual is larger than conjugate gradients said\n");
      exit(1);
    }
  }
  check(kkc_plan_destroy(plan), "destroying a plan");
  check(kkc_plan_destroy(solver), "destroying a plan");
  check(kkc_options_destroy(options), "destroying options");
  kkc_view_t *all[] = {known, x, b, r};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; ++i) check(kkc_view_destroy(all[i]), "destroying a view");
  return outcome;
}

static int solve(tour_t *tour, const kkc_matrix_t *A, int symmetric) {
  cg_result_t outcome = CG_NOT_POSITIVE;
  kkc_matrix_t *L;
  printf("\nConjugate gradients to 1e-8\n");
  if (tour->rows != tour->cols) {
    printf("  left out: the matrix is not square\n");
    return 1;
  }
  if (!symmetric)
    printf("  The matrix is not %s.\n", tour->scalar == KKC_TYPE_C128 ? "Hermitian" : "symmetric");
  else if ((outcome = conjugate_gradients(tour, A, 5000)) == CG_NOT_POSITIVE)
    printf("  The matrix is symmetric, but not positive definite.\n");
  else if (outcome == CG_SLOW)
    printf("  5000 iterations do not solve this matrix: it is too badly conditioned, or not positive definite.\n");
  if (outcome == CG_SOLVED) return 1;

  printf("  Solving with the graph Laplacian of its pattern + I instead, which is symmetric positive definite:\n");
  fflush(stdout);
  check(kkc_matrix_laplacian(tour->ctx, A, 1.0, &L), "making the Laplacian");
  check(kkc_csr_get(L, NULL, NULL, &tour->nnz, NULL, NULL, NULL, NULL, NULL, NULL), "reading the Laplacian");
  outcome = conjugate_gradients(tour, L, 20000);
  check(kkc_matrix_destroy(L), "destroying a matrix");
  if (outcome != CG_SOLVED) printf("  FAILED: 20000 iterations were not enough\n");
  return outcome == CG_SOLVED;
}

/* ---- the matrix ----------------------------------------------------------------------------------------------- */

/* Reads with the narrowest indices and the simplest element type that hold the file. */
static kkc_matrix_t *matrix_read(tour_t *tour, const char *path) {
  kkc_matrix_t *A = NULL;
  kkc_status_t status = KKC_STATUS_OVERFLOW;
  tour->scalar = KKC_TYPE_F64;
  for (tour->pair = KKC_INDEX_32_32; tour->pair <= KKC_INDEX_64_64; ++tour->pair) {
    status = kkc_matrix_read(tour->ctx, path, tour->pair, tour->scalar, &A);
    if (status == KKC_STATUS_TYPE_MISMATCH && tour->scalar == KKC_TYPE_F64) {
      tour->scalar = KKC_TYPE_C128;
      status = kkc_matrix_read(tour->ctx, path, tour->pair, tour->scalar, &A);
    }
    if (status != KKC_STATUS_OVERFLOW) break;
  }
  check(status, "reading the matrix");
  return A;
}

static kkc_matrix_t *matrix_generate(tour_t *tour, int64_t size) {
  kkc_options_t *options;
  kkc_matrix_t *A;
  const char *keys[3] = {"nx", "ny", "nz"};
  tour->scalar = KKC_TYPE_F64;
  tour->pair = size <= 600 ? KKC_INDEX_32_32 : KKC_INDEX_32_64;
  check(kkc_options_create(&options), "creating options");
  for (int i = 0; i < 3; ++i) check(kkc_options_set_int(options, keys[i], size), "setting an option");
  check(kkc_matrix_generate(tour->ctx, "lap3d7", options, tour->pair, tour->scalar, &A), "making the matrix");
  check(kkc_options_destroy(options), "destroying options");
  return A;
}

/* Prints what the matrix is; returns whether it equals its conjugate transpose. */
static int matrix_print(tour_t *tour, kkc_matrix_t *A) {
  const char *json;
  char symmetry[32], dominance[32];
  check(kkc_csr_get(A, &tour->rows, &tour->cols, &tour->nnz, NULL, NULL, NULL, NULL, NULL, NULL), "reading the matrix");
  check(kkc_matrix_info(A, &json), "describing the matrix");
  json_text(json_find(json, "symmetry"), symmetry, sizeof symmetry);
  json_text(json_find(json, "diagonal_dominance"), dominance, sizeof dominance);
  const double mean = json_number(json, "mean_row", 0), longest = json_number(json, "longest_row", 0);
  const int hermitian = json_number(json, "hermitian", 0) > 0, dominant = strcmp(dominance, "none") != 0;

  printf("  %lld rows, %lld columns, %lld nonzeros\n", (long long)tour->rows, (long long)tour->cols,
         (long long)tour->nnz);
  printf("  rows hold %.0f to %.0f nonzeros, %.2f on average; %.0f are empty\n", json_number(json, "shortest_row", 0),
         longest, mean, json_number(json, "empty_rows", 0));
  printf("  bandwidth: %.0f below and %.0f above the diagonal\n", json_number(json, "lower_bandwidth", 0),
         json_number(json, "upper_bandwidth", 0));
  printf("  symmetry: pattern %s, values %s\n",
         json_number(json, "symmetric_pattern", 0) > 0 ? "symmetric" : "not symmetric", symmetry);
  printf("  kind: %s, %s, rows of %s length%s%s%s\n", tour->scalar == KKC_TYPE_C128 ? "complex" : "real",
         tour->rows == tour->cols ? "square" : "rectangular", longest <= 4 * mean ? "similar" : "very different",
         dominant ? ", diagonally dominant" : "", strcmp(dominance, "strict") == 0 ? " (strictly)" : "",
         hermitian && strcmp(dominance, "strict") == 0 && json_number(json, "positive_diagonal", 0) > 0
             ? ", symmetric positive definite"
             : "");
  return hermitian;
}

/* ---- the tour ------------------------------------------------------------------------------------------------- */

static void usage(void) {
  fprintf(stderr, "usage: kkc_tour [matrix.mtx[.gz]] [--device serial|openmp|cuda|hip] [--size N]\n");
  exit(2);
}

int main(int argc, char **argv) {
  static const char *devices[] = {"serial", "openmp", "cuda", "hip"};
  const char *path = NULL, *json;
  kkc_device_t device = KKC_DEVICE_OPENMP;
  int64_t size = 100;
  tour_t tour = {0};
  char text[256];
  int good = 1;

  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--device") == 0 && i + 1 < argc) {
      ++i;
      device = 0;
      for (int d = 0; d < 4; ++d)
        if (strcmp(argv[i], devices[d]) == 0) device = d + 1;
      if (device == 0) usage();
    } else if (strcmp(argv[i], "--size") == 0 && i + 1 < argc) {
      size = strtol(argv[++i], NULL, 10);
      if (size < 1 || size > 2000) usage();
    } else if (argv[i][0] == '-' || path != NULL) {
      usage();
    } else {
      path = argv[i];
    }
  }

  check(kkc_context_create(device, 0, NULL, NULL, &tour.ctx), "opening the device");
  tour.on_host = device == KKC_DEVICE_SERIAL || device == KKC_DEVICE_OPENMP;
  tour.space = tour.on_host ? KKC_SPACE_HOST : KKC_SPACE_DEVICE;
  check(kkc_context_info(tour.ctx, &json), "describing the device");
  printf("kkc %d.%d.%d on %s", kkc_version() / 10000, kkc_version() / 100 % 100, kkc_version() % 100,
         devices[device - 1]);
  if (*json_text(json_find(json, "name"), text, sizeof text) != '\0') printf(": %s", text);
  if (tour.on_host) printf(", %.0f threads", json_number(json, "threads", 1));
  printf("\n\nMatrix: ");

  if (path != NULL) {
    printf("%s\n", path);
    progress("reading the file");
  } else {
    printf("7-point Poisson problem on a grid of %lld x %lld x %lld points\n", (long long)size, (long long)size,
           (long long)size);
    progress("making the matrix");
  }
  double start = now();
  kkc_matrix_t *A = path != NULL ? matrix_read(&tour, path) : matrix_generate(&tour, size);
  const double seconds = now() - start;
  const int symmetric = matrix_print(&tour, A);
  printf("  %s in %.2f s\n", path != NULL ? "read" : "made", seconds);

  progress("measuring the memory bandwidth");
  tour.bandwidth = measure_bandwidth(&tour);
  printf("\nMemory: %.1f GB/s, read and written by a copy of large arrays\n", 1e-9 * tour.bandwidth);

  printf("\nSpMV, y = op(A) x\n");
  printf(
      "op        vectors  implementation       plan ms  execute ms     GB/s  of copy  error against the reference\n");
  for (int64_t vectors = 1; vectors <= 8; vectors += 7)
    for (kkc_op_t op = KKC_OP_NONE; op <= KKC_OP_HERMITIAN; ++op) good &= spmv_row(&tour, A, op, vectors, 0);
  for (kkc_op_t op = KKC_OP_NONE; op <= KKC_OP_TRANSPOSE; ++op) good &= spmv_row(&tour, A, op, 1, 1);
  printf("(kept: the plan keeps values, re-laid or transposed; taking them over counts as planning)\n");
#if defined(_SC_LEVEL3_CACHE_SIZE)
  if (tour.on_host && bytes_moved(&tour, 1) < 4.0 * (double)sysconf(_SC_LEVEL3_CACHE_SIZE))
    printf("(the data are smaller than four times the last-level cache: shares above 100 %% come from the cache)\n");
#endif
  fflush(stdout);

  good &= solve(&tour, A, symmetric);

  check(kkc_matrix_destroy(A), "destroying the matrix");
  check(kkc_context_destroy(tour.ctx), "closing the device");
  printf("\n%s\n", good ? "All results agree with the reference." : "SOME RESULTS ARE WRONG.");
  return good ? 0 : 1;
}
