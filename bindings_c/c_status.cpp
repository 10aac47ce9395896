// kkc.h sections 1 and 5: version, errors, options.
#include "core/options.hpp"
#include "guard.hpp"

using namespace kkc;

extern "C" {

int32_t kkc_version(void) { return KKC_VERSION_MAJOR * 10000 + KKC_VERSION_MINOR * 100 + KKC_VERSION_PATCH; }

const char* kkc_status_name(kkc_status_t status) {
  switch (status) {
    case KKC_STATUS_SUCCESS: return "KKC_STATUS_SUCCESS";
    case KKC_STATUS_NULL_POINTER: return "KKC_STATUS_NULL_POINTER";
    case KKC_STATUS_INVALID_HANDLE: return "KKC_STATUS_INVALID_HANDLE";
    case KKC_STATUS_INVALID_ARGUMENT: return "KKC_STATUS_INVALID_ARGUMENT";
    case KKC_STATUS_SIZE_MISMATCH: return "KKC_STATUS_SIZE_MISMATCH";
    case KKC_STATUS_TYPE_MISMATCH: return "KKC_STATUS_TYPE_MISMATCH";
    case KKC_STATUS_NOT_SUPPORTED: return "KKC_STATUS_NOT_SUPPORTED";
    case KKC_STATUS_DEVICE_UNAVAILABLE: return "KKC_STATUS_DEVICE_UNAVAILABLE";
    case KKC_STATUS_INDEX_OUT_OF_RANGE: return "KKC_STATUS_INDEX_OUT_OF_RANGE";
    case KKC_STATUS_NOT_SORTED: return "KKC_STATUS_NOT_SORTED";
    case KKC_STATUS_OVERFLOW: return "KKC_STATUS_OVERFLOW";
    case KKC_STATUS_UNKNOWN_OPTION: return "KKC_STATUS_UNKNOWN_OPTION";
    case KKC_STATUS_PATTERN_CHANGED: return "KKC_STATUS_PATTERN_CHANGED";
    case KKC_STATUS_WRONG_STATE: return "KKC_STATUS_WRONG_STATE";
    case KKC_STATUS_IO: return "KKC_STATUS_IO";
    case KKC_STATUS_PARSE: return "KKC_STATUS_PARSE";
    case KKC_STATUS_OUT_OF_MEMORY: return "KKC_STATUS_OUT_OF_MEMORY";
    case KKC_STATUS_ZERO_PIVOT: return "KKC_STATUS_ZERO_PIVOT";
    case KKC_STATUS_BREAKDOWN: return "KKC_STATUS_BREAKDOWN";
    case KKC_STATUS_NO_CONVERGENCE: return "KKC_STATUS_NO_CONVERGENCE";
    case KKC_STATUS_BAD_INDEX: return "KKC_STATUS_BAD_INDEX";
    case KKC_STATUS_CAPACITY_EXCEEDED: return "KKC_STATUS_CAPACITY_EXCEEDED";
    case KKC_STATUS_VENDOR: return "KKC_STATUS_VENDOR";
    case KKC_STATUS_DEVICE: return "KKC_STATUS_DEVICE";
    case KKC_STATUS_INTERNAL: return "KKC_STATUS_INTERNAL";
  }
  return "unknown status";
}

const char* kkc_last_error(void) { return last_error(); }

kkc_status_t kkc_options_create(kkc_options_t** options) {
  return guard([&] { give(std::make_shared<Options>(), options); }, out(options, "options"));
}

kkc_status_t kkc_options_destroy(kkc_options_t* options) { return destroy<Options>(options, "options"); }

kkc_status_t kkc_options_set_int(kkc_options_t* options, const char* key, int64_t value) {
  return guard([&] { as<Options>(options, "options")->set(key, value); });
}

kkc_status_t kkc_options_set_real(kkc_options_t* options, const char* key, double value) {
  return guard([&] { as<Options>(options, "options")->set(key, value); });
}

kkc_status_t kkc_options_set_text(kkc_options_t* options, const char* key, const char* value) {
  return guard([&] {
    const auto set = as<Options>(options, "options");
    require(value != nullptr, KKC_STATUS_NULL_POINTER, "value is NULL, expected text");
    set->set(key, std::string(value));
  });
}

kkc_status_t kkc_options_from_json(const char* json, kkc_options_t** options) {
  return guard([&] { give(Options::from_json(json), options); }, out(options, "options"));
}

}  // extern "C"
