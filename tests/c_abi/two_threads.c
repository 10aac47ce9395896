/* Two threads, each with contexts of its own, work on one matrix and one x, and create and destroy handles all
 * the while. Under a thread sanitizer this is the test of the boundary. */
#include <pthread.h>

#include "check.h"

enum { rows = 2000, rounds = 200 };

static kkc_matrix_t *A;
static kkc_view_t *x;

static void *worker(void *device) {
  const int64_t extent = rows;
  double y_data[rows], one = 1, zero = 0;
  kkc_context_t *ctx;
  kkc_view_t *y;
  int i, round;
  SUCCEEDS(kkc_context_create(*(const kkc_device_t *)device, 0, NULL, NULL, &ctx));
  SUCCEEDS(kkc_view_wrap(ctx, KKC_TYPE_F64, 1, &extent, KKC_LAYOUT_LEFT, NULL, KKC_SPACE_HOST, y_data, &y));
  for (round = 0; round < rounds; ++round) {
    kkc_plan_t *plan;
    kkc_view_t *again;
    kkc_options_t *options;
    SUCCEEDS(kkc_view_retain(y, &again));
    SUCCEEDS(kkc_options_create(&options));
    SUCCEEDS(kkc_spmv_plan(ctx, KKC_OP_NONE, A, x, again, options, &plan));
    SUCCEEDS(kkc_spmv_execute(plan, &one, A, x, &zero, again));
    for (i = 0; i < rows; ++i) HOLDS(y_data[i] == 3.0 * (i + 1));
    GIVES(KKC_STATUS_INVALID_HANDLE, kkc_plan_destroy((kkc_plan_t *)again));
    SUCCEEDS(kkc_plan_destroy(plan));
    SUCCEEDS(kkc_view_destroy(again));
    SUCCEEDS(kkc_options_destroy(options));
  }
  SUCCEEDS(kkc_view_destroy(y));
  SUCCEEDS(kkc_context_destroy(ctx));
  return NULL;
}

/* Both workers use contexts of `device`; matrix and x belong to the device, not to a context. */
static void run(kkc_device_t device) {
  static int32_t offsets[rows + 1], columns[rows];
  static double values[rows], x_data[rows];
  pthread_t threads[2];
  const int64_t extent = rows;
  kkc_context_t *ctx;
  int i;
  for (i = 0; i < rows; ++i) {
    offsets[i + 1] = i + 1;
    columns[i] = rows - 1 - i;
    values[i] = 3;
    x_data[rows - 1 - i] = i + 1;
  }
  SUCCEEDS(kkc_context_create(device, 0, NULL, NULL, &ctx));
  SUCCEEDS(kkc_csr_create(ctx, rows, rows, rows, KKC_INDEX_32_32, KKC_TYPE_F64, 0, offsets, columns, values, &A));
  SUCCEEDS(kkc_view_wrap_const(ctx, KKC_TYPE_F64, 1, &extent, KKC_LAYOUT_LEFT, NULL, KKC_SPACE_HOST, x_data, &x));
  for (i = 0; i < 2; ++i) HOLDS(pthread_create(&threads[i], NULL, worker, &device) == 0);
  for (i = 0; i < 2; ++i) HOLDS(pthread_join(threads[i], NULL) == 0);
  SUCCEEDS(kkc_view_destroy(x));
  SUCCEEDS(kkc_matrix_destroy(A));
  SUCCEEDS(kkc_context_destroy(ctx));
}

int main(void) {
  int32_t openmp = 0;
  run(KKC_DEVICE_SERIAL);
  /* Builds for thread sanitizers, which do not know libgomp's barriers, are without it. */
  SUCCEEDS(kkc_device_count(KKC_DEVICE_OPENMP, &openmp));
  if (openmp > 0) run(KKC_DEVICE_OPENMP);
  return 0;
}
