/* A module of another build: refuses every library, as a real one does. */
#include <stdint.h>
#include <stdio.h>

__attribute__((visibility("default"))) int32_t kkc_module_entry(const char* build_id, const void* core, void** backend,
                                                                char* text, size_t capacity) {
  (void)core;
  *backend = 0;
  snprintf(text, capacity, "it is of build 0.0.0-fake, libkkc of build %s", build_id);
  return 7;
}
