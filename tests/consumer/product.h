/* One product with kkc, checked: y = A x for the 1-D Laplacian, through a table of functions. */
#ifndef PRODUCT_H
#define PRODUCT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "kkc.h"

struct functions {
  const char* (*last_error)(void);
  kkc_status_t (*context_create)(kkc_device_t, int32_t, kkc_allocator_t*, const kkc_options_t*, kkc_context_t**);
  kkc_status_t (*context_destroy)(kkc_context_t*);
  kkc_status_t (*csr_create)(kkc_context_t*, int64_t, int64_t, int64_t, kkc_index_pair_t, kkc_scalar_t, int32_t,
                             const void*, const void*, void*, kkc_matrix_t**);
  kkc_status_t (*matrix_destroy)(kkc_matrix_t*);
  kkc_status_t (*view_wrap)(kkc_context_t*, kkc_scalar_t, int32_t, const int64_t*, kkc_layout_t, const int64_t*,
                            kkc_space_t, void*, kkc_view_t**);
  kkc_status_t (*view_destroy)(kkc_view_t*);
  kkc_status_t (*spmv_plan)(kkc_context_t*, kkc_op_t, const kkc_matrix_t*, const kkc_view_t*, const kkc_view_t*,
                            const kkc_options_t*, kkc_plan_t**);
  kkc_status_t (*spmv_execute)(kkc_plan_t*, const void*, const kkc_matrix_t*, const kkc_view_t*, const void*,
                               kkc_view_t*);
  kkc_status_t (*plan_destroy)(kkc_plan_t*);
};

/* The functions that the program is linked with. */
#define LINKED_FUNCTIONS                                                                                        \
  {                                                                                                             \
    kkc_last_error, kkc_context_create, kkc_context_destroy, kkc_csr_create, kkc_matrix_destroy, kkc_view_wrap, \
        kkc_view_destroy, kkc_spmv_plan, kkc_spmv_execute, kkc_plan_destroy                                     \
  }

#define TRY(call)                                          \
  do {                                                     \
    if ((call) != KKC_STATUS_SUCCESS) {                    \
      fprintf(stderr, "%s: %s\n", #call, f->last_error()); \
      return 1;                                            \
    }                                                      \
  } while (0)

static int product_on(const struct functions* f, kkc_device_t device) {
  enum { n = 1000 };
  static int32_t offsets[n + 1], columns[3 * n];
  static double values[3 * n], x[n], y[n];
  const int64_t extent = n;
  const double one = 1, zero = 0;
  kkc_context_t* ctx;
  kkc_matrix_t* A;
  kkc_view_t *vx, *vy;
  kkc_plan_t* plan;
  int32_t i, j, nnz = 0;
  for (i = 0; i < n; ++i) {
    for (j = i - 1; j <= i + 1; ++j) {
      if (j < 0 || j >= n) continue;
      columns[nnz] = j;
      values[nnz++] = i == j ? 2 : -1;
    }
    offsets[i + 1] = nnz;
    x[i] = (double)i * i;
    y[i] = 7;
  }
  TRY(f->context_create(device, 0, NULL, NULL, &ctx));
  TRY(f->csr_create(ctx, n, n, nnz, KKC_INDEX_32_32, KKC_TYPE_F64, 0, offsets, columns, values, &A));
  TRY(f->view_wrap(ctx, KKC_TYPE_F64, 1, &extent, KKC_LAYOUT_LEFT, NULL, KKC_SPACE_HOST, x, &vx));
  TRY(f->view_wrap(ctx, KKC_TYPE_F64, 1, &extent, KKC_LAYOUT_LEFT, NULL, KKC_SPACE_HOST, y, &vy));
  TRY(f->spmv_plan(ctx, KKC_OP_NONE, A, vx, vy, NULL, &plan));
  TRY(f->spmv_execute(plan, &one, A, vx, &zero, vy));
  for (i = 1; i < n - 1; ++i)
    if (y[i] != -2) {
      fprintf(stderr, "y[%d] is %g, expected -2\n", (int)i, y[i]);
      return 1;
    }
  TRY(f->plan_destroy(plan));
  TRY(f->view_destroy(vy));
  TRY(f->view_destroy(vx));
  TRY(f->matrix_destroy(A));
  TRY(f->context_destroy(ctx));
  return 0;
}

static int product(const struct functions* f) {
  return product_on(f, KKC_DEVICE_SERIAL) != 0 || product_on(f, KKC_DEVICE_OPENMP) != 0;
}

#endif
