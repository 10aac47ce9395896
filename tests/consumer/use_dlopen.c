/* Opens the library named by the first argument, uses it and closes it again. */
#include <dlfcn.h>
#include <string.h>

#include "product.h"

static int load(void* library, const char* name, void* function) {
  void* symbol = dlsym(library, name);
  if (symbol == NULL) return fprintf(stderr, "%s\n", dlerror());
  memcpy(function, &symbol, sizeof symbol);
  return 0;
}

int use_kkc(int argc, char** argv) {
  struct functions f;
  int status;
  void* library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  if (library == NULL) {
    fprintf(stderr, "%s\n", argc > 1 ? dlerror() : "usage: consumer_dlopen libkkc.so");
    return 1;
  }
  if (load(library, "kkc_last_error", &f.last_error) || load(library, "kkc_context_create", &f.context_create) ||
      load(library, "kkc_context_destroy", &f.context_destroy) || load(library, "kkc_csr_create", &f.csr_create) ||
      load(library, "kkc_matrix_destroy", &f.matrix_destroy) || load(library, "kkc_view_wrap", &f.view_wrap) ||
      load(library, "kkc_view_destroy", &f.view_destroy) || load(library, "kkc_spmv_plan", &f.spmv_plan) ||
      load(library, "kkc_spmv_execute", &f.spmv_execute) || load(library, "kkc_plan_destroy", &f.plan_destroy))
    return 1;
  status = product(&f);
  dlclose(library);
  return status;
}
