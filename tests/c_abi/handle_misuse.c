/* Wrong, destroyed and random handles are refused with a sentence, whatever function gets them, and outputs are set. */
#include <stdint.h>

#include "check.h"

/* The last error names what was wrong. */
static void says(const char *part, int line) {
  if (strstr(kkc_last_error(), part) != NULL) return;
  fprintf(stderr, "line %d: \"%s\" does not say \"%s\"\n", line, kkc_last_error(), part);
  exit(1);
}
#define SAYS(part) says((part), __LINE__)

int main(void) {
  const int32_t offsets[] = {0, 2, 3, 3}, columns[] = {0, 2, 1};
  double values[] = {1, 2, 3}, x_data[] = {1, 10, 100}, y_data[] = {7, 7, 7}, one = 1, zero = 0;
  const int64_t three = 3;
  int on_the_stack = 0;
  kkc_context_t *ctx = NULL, *none = (kkc_context_t *)&on_the_stack;
  kkc_matrix_t *A = NULL;
  kkc_view_t *x = NULL, *y = NULL, *leftover = (kkc_view_t *)&on_the_stack;
  kkc_plan_t *plan = NULL;
  kkc_options_t *options = NULL;
  const char *text = "set";
  int64_t where = 5, count = 5;

  SUCCEEDS(kkc_context_create(KKC_DEVICE_SERIAL, 0, NULL, NULL, &ctx));
  SUCCEEDS(kkc_csr_create(ctx, 3, 3, 3, KKC_INDEX_32_32, KKC_TYPE_F64, 0, offsets, columns, values, &A));
  SUCCEEDS(kkc_view_wrap(ctx, KKC_TYPE_F64, 1, &three, KKC_LAYOUT_LEFT, NULL, KKC_SPACE_HOST, x_data, &x));
  SUCCEEDS(kkc_view_wrap(ctx, KKC_TYPE_F64, 1, &three, KKC_LAYOUT_LEFT, NULL, KKC_SPACE_HOST, y_data, &y));
  SUCCEEDS(kkc_spmv_plan(ctx, KKC_OP_NONE, A, x, y, NULL, &plan));

  /* NULL */
  GIVES(KKC_STATUS_NULL_POINTER, kkc_spmv_execute(NULL, &one, A, x, &zero, y));
  SAYS("plan is NULL");
  GIVES(KKC_STATUS_NULL_POINTER, kkc_spmv_execute(plan, NULL, A, x, &zero, y));
  SAYS("alpha is NULL");
  GIVES(KKC_STATUS_NULL_POINTER, kkc_spmv_execute(plan, &one, A, NULL, &zero, y));
  SAYS("x is NULL");
  GIVES(KKC_STATUS_NULL_POINTER, kkc_context_create(KKC_DEVICE_SERIAL, 0, NULL, NULL, NULL));
  SAYS("ctx is NULL");
  GIVES(KKC_STATUS_NULL_POINTER, kkc_context_info(NULL, &text));
  HOLDS(text == NULL);

  /* Wrong kind */
  GIVES(KKC_STATUS_INVALID_HANDLE, kkc_spmv_execute(plan, &one, (kkc_matrix_t *)x, x, &zero, y));
  SAYS("A is a handle of kind view, expected a matrix");
  GIVES(KKC_STATUS_INVALID_HANDLE, kkc_view_destroy((kkc_view_t *)A));
  GIVES(KKC_STATUS_INVALID_HANDLE, kkc_plan_check((kkc_plan_t *)ctx, &where, &count));
  HOLDS(count == 0);

  /* Random pointers: never followed, so any number will do. */
  GIVES(KKC_STATUS_INVALID_HANDLE, kkc_context_synchronize(none));
  SAYS("not a live handle");
  GIVES(KKC_STATUS_INVALID_HANDLE, kkc_context_synchronize((kkc_context_t *)(uintptr_t)1));
  GIVES(KKC_STATUS_INVALID_HANDLE, kkc_context_synchronize((kkc_context_t *)UINTPTR_MAX));
  GIVES(KKC_STATUS_INVALID_HANDLE, kkc_view_retain((kkc_view_t *)(void *)x_data, &leftover));
  HOLDS(leftover == NULL);

  /* y was not touched by any of the refusals. */
  HOLDS(y_data[0] == 7 && y_data[1] == 7 && y_data[2] == 7);

  /* Enumerators outside their list. */
  GIVES(KKC_STATUS_INVALID_ARGUMENT, kkc_context_create(17, 0, NULL, NULL, &none));
  HOLDS(none == NULL);
  GIVES(KKC_STATUS_INVALID_ARGUMENT, kkc_context_create(KKC_DEVICE_SERIAL, 1, NULL, NULL, &none));
  SAYS("device_id is 1");
  GIVES(KKC_STATUS_NULL_POINTER, kkc_spmv_plan(ctx, KKC_OP_NONE, A, x, y, NULL, NULL));

  /* Unknown options: the sentence lists those that exist. */
  SUCCEEDS(kkc_options_create(&options));
  SUCCEEDS(kkc_options_set_int(options, "colour", 3));
  {
    kkc_plan_t *refused = plan;
    GIVES(KKC_STATUS_UNKNOWN_OPTION, kkc_spmv_plan(ctx, KKC_OP_NONE, A, x, y, options, &refused));
    HOLDS(refused == NULL);
    SAYS("\"colour\"");
    SAYS("deterministic");
  }

  /* Any order of destruction; what a plan needs stays alive; a destroyed handle stays refused for good. */
  SUCCEEDS(kkc_context_destroy(ctx));
  SUCCEEDS(kkc_spmv_execute(plan, &one, A, x, &zero, y));
  HOLDS(y_data[0] == 201 && y_data[1] == 30 && y_data[2] == 0);
  SUCCEEDS(kkc_matrix_destroy(A));
  GIVES(KKC_STATUS_INVALID_HANDLE, kkc_matrix_destroy(A));
  GIVES(KKC_STATUS_INVALID_HANDLE, kkc_spmv_execute(plan, &one, A, x, &zero, y));
  SUCCEEDS(kkc_view_destroy(x));
  SUCCEEDS(kkc_view_destroy(y));
  SUCCEEDS(kkc_plan_destroy(plan));
  SUCCEEDS(kkc_options_destroy(options));
  SUCCEEDS(kkc_plan_destroy(NULL));
  SUCCEEDS(kkc_view_destroy(NULL));
  SUCCEEDS(kkc_matrix_destroy(NULL));
  SUCCEEDS(kkc_context_destroy(NULL));
  SUCCEEDS(kkc_options_destroy(NULL));
  SUCCEEDS(kkc_allocator_destroy(NULL));

  HOLDS(strcmp(kkc_status_name(KKC_STATUS_OVERFLOW), "KKC_STATUS_OVERFLOW") == 0);
  HOLDS(strcmp(kkc_status_name(4711), "unknown status") == 0);
  HOLDS(kkc_version() == KKC_VERSION_MAJOR * 10000 + KKC_VERSION_MINOR * 100 + KKC_VERSION_PATCH);
  return 0;
}
