/* KKC_LOG=debug:file says what was chosen and why, and which handles live; nothing goes to the standard streams. */
#define _POSIX_C_SOURCE 200809L
#include <unistd.h>

#include "check.h"

int main(void) {
  char path[] = "/tmp/kkc_log_XXXXXX", setting[64], line[512];
  const int32_t offsets[] = {0, 1}, columns[] = {0};
  double values[] = {1}, x_data[] = {1}, y_data[] = {0};
  const int64_t one = 1;
  kkc_context_t *ctx;
  kkc_matrix_t *A;
  kkc_view_t *x, *y;
  kkc_plan_t *plan;
  FILE *log;
  int found = 0, handles = 0;
  const int file = mkstemp(path);
  HOLDS(file >= 0);
  close(file);
  snprintf(setting, sizeof setting, "debug:%s", path);
  HOLDS(setenv("KKC_LOG", setting, 1) == 0);
  SUCCEEDS(kkc_context_create(KKC_DEVICE_SERIAL, 0, NULL, NULL, &ctx));
  SUCCEEDS(kkc_csr_create(ctx, 1, 1, 1, KKC_INDEX_32_32, KKC_TYPE_F64, 0, offsets, columns, values, &A));
  SUCCEEDS(kkc_view_wrap(ctx, KKC_TYPE_F64, 1, &one, KKC_LAYOUT_LEFT, NULL, KKC_SPACE_HOST, x_data, &x));
  SUCCEEDS(kkc_view_wrap(ctx, KKC_TYPE_F64, 1, &one, KKC_LAYOUT_LEFT, NULL, KKC_SPACE_HOST, y_data, &y));
  SUCCEEDS(kkc_spmv_plan(ctx, KKC_OP_NONE, A, x, y, NULL, &plan));
  log = fopen(path, "r");
  HOLDS(log != NULL);
  while (fgets(line, sizeof line, log) != NULL) {
    found |= strstr(line, "spmv plan: ") != NULL && strchr(line, '(') != NULL;
    handles += strstr(line, " given out") != NULL;
  }
  fclose(log);
  unlink(path);
  HOLDS(found);
  HOLDS(handles == 5);
  SUCCEEDS(kkc_plan_destroy(plan));
  SUCCEEDS(kkc_view_destroy(x));
  SUCCEEDS(kkc_view_destroy(y));
  SUCCEEDS(kkc_matrix_destroy(A));
  SUCCEEDS(kkc_context_destroy(ctx));
  return 0;
}
