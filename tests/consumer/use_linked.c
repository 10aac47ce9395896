#include "product.h"

int use_kkc(int argc, char** argv) {
  const struct functions f = LINKED_FUNCTIONS;
  (void)argc;
  (void)argv;
  return product(&f);
}
