/* Checks of the plain C tests: a failure names the line and the library's sentence. */
#ifndef KKC_TESTS_CHECK_H
#define KKC_TESTS_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kkc.h"

static void expect_status(kkc_status_t got, kkc_status_t wanted, const char *call, int line) {
  if (got == wanted) return;
  fprintf(stderr, "line %d: %s gave %s, expected %s (%s)\n", line, call, kkc_status_name(got), kkc_status_name(wanted),
          kkc_last_error());
  exit(1);
}

static void expect_true(int holds, const char *text, int line) {
  if (holds) return;
  fprintf(stderr, "line %d: not true: %s (last error: %s)\n", line, text, kkc_last_error());
  exit(1);
}

#define SUCCEEDS(call) expect_status((call), KKC_STATUS_SUCCESS, #call, __LINE__)
#define GIVES(status, call) expect_status((call), (status), #call, __LINE__)
#define HOLDS(condition) expect_true((condition) != 0, #condition, __LINE__)

#endif
