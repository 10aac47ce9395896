// Options from JSON: any text gives a set of options or a refusal with a sentence, and any set can be used.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "kkc.h"

namespace {

void must(bool condition) {
  if (!condition) std::abort();
}

/// A matrix to hand options to.
const kkc_matrix_t* matrix() {
  static const kkc_matrix_t* const made = [] {
    kkc_context_t* ctx = nullptr;
    kkc_matrix_t* A = nullptr;
    kkc_options_t* options = nullptr;
    must(kkc_context_create(KKC_DEVICE_SERIAL, 0, nullptr, nullptr, &ctx) == KKC_STATUS_SUCCESS);
    must(kkc_options_from_json("{\"rows\": 2}", &options) == KKC_STATUS_SUCCESS);
    must(kkc_matrix_generate(ctx, "arrow", options, KKC_INDEX_32_32, KKC_TYPE_NONE, &A) == KKC_STATUS_SUCCESS);
    must(kkc_options_destroy(options) == KKC_STATUS_SUCCESS && kkc_context_destroy(ctx) == KKC_STATUS_SUCCESS);
    return A;
  }();
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  kkc_options_t* options = nullptr;
  const kkc_status_t status = kkc_options_from_json(text.c_str(), &options);
  must((status == KKC_STATUS_SUCCESS) == (options != nullptr));
  if (options == nullptr) {
    must(status > KKC_STATUS_SUCCESS && status < KKC_STATUS_OUT_OF_MEMORY && *kkc_last_error() != '\0');
    return 0;
  }
  // Reads every option that writing knows, and is refused at the latest by what the path names.
  must(kkc_matrix_write(matrix(), "/dev/null", options) != KKC_STATUS_SUCCESS && *kkc_last_error() != '\0');
  must(kkc_options_set_int(options, "precision", 3) == KKC_STATUS_SUCCESS);
  must(kkc_options_destroy(options) == KKC_STATUS_SUCCESS);
  return 0;
}
