/* Stands in for libcuda.so.1: KKC_FAKE_GPUS lists compute capabilities ("90 75"; "" shows no GPU, "error" does not
 * start). Nothing that runs on a GPU is here. */
#include <stdlib.h>
#include <string.h>

static const char* gpus(void) {
  const char* list = getenv("KKC_FAKE_GPUS");
  return list == NULL ? "" : list;
}

static int capability(int device) {
  char* end = (char*)gpus();
  int value = 0;
  for (int i = 0; i <= device; ++i) value = (int)strtol(end, &end, 10);
  return value;
}

int cuInit(unsigned flags) {
  (void)flags;
  if (strcmp(gpus(), "error") == 0) return 999;
  return gpus()[0] == '\0' ? 100 : 0;
}

int cuDeviceGetCount(int* count) {
  *count = 0;
  while (capability(*count) != 0) ++*count;
  return 0;
}

int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute == 75 ? capability(device) / 10 : capability(device) % 10;
  return 0;
}
