// Options: typed setters, JSON, and refusals that list what exists.
#include "support/catch.hpp"

#include "support/devices.hpp"
#include "support/handles.hpp"
#include "support/host_csr.hpp"

using namespace kkc_test;

namespace {

kkc_status_t parse(const char* json) {
  kkc_options_t* options = nullptr;
  const kkc_status_t status = kkc_options_from_json(json, &options);
  CHECK((status == KKC_STATUS_SUCCESS) == (options != nullptr));
  kkc_options_destroy(options);
  return status;
}

}  // namespace

TEST_CASE("options: JSON is one flat object", "[core][options]") {
  CHECK(parse("{}") == KKC_STATUS_SUCCESS);
  CHECK(parse(R"({"a": 1, "b": -2.5e3, "c": "text", "d": true, "e": "\u00e9\n"})") == KKC_STATUS_SUCCESS);
  for (const char* bad : {"", "{", "[]", "1", "null", R"({"a": null})", R"({"a": [1]})", R"({"a": {}})", R"({"a": 1,})",
                          R"({"a" 1})", R"({a: 1})", R"({"a": 1} x)", R"({"a\u0000b": 1})", R"({"a": "b\u0000"})"}) {
    INFO(bad);
    CHECK(parse(bad) == KKC_STATUS_PARSE);
    CHECK(std::string(kkc_last_error()).size() > 10);
  }
  CHECK(parse(nullptr) == KKC_STATUS_NULL_POINTER);
  CHECK(kkc_options_from_json("{}", nullptr) == KKC_STATUS_NULL_POINTER);
}

TEST_CASE("options: setters refuse NULL", "[core][options]") {
  Options options;
  CHECK(kkc_options_set_int(options, "a", 1) == KKC_STATUS_SUCCESS);
  CHECK(kkc_options_set_int(options, "a", 2) == KKC_STATUS_SUCCESS);
  CHECK(kkc_options_set_real(options, "b", 0.5) == KKC_STATUS_SUCCESS);
  CHECK(kkc_options_set_text(options, "c", "") == KKC_STATUS_SUCCESS);
  CHECK(kkc_options_set_int(options, nullptr, 1) == KKC_STATUS_NULL_POINTER);
  CHECK(kkc_options_set_text(options, "c", nullptr) == KKC_STATUS_NULL_POINTER);
  CHECK(kkc_options_set_int(nullptr, "a", 1) == KKC_STATUS_NULL_POINTER);
  CHECK(kkc_options_create(nullptr) == KKC_STATUS_NULL_POINTER);
}

TEST_CASE("options: calls refuse keys and values that they do not know", "[core][options]") {
  for (const kkc_device_t device : devices()) {
    INFO(name(device));
    const auto create = [&](const char* json) {
      kkc_context_t* ctx = nullptr;
      const kkc_status_t status = kkc_context_create(device, 0, nullptr, Options(json), &ctx);
      CHECK((status == KKC_STATUS_SUCCESS) == (ctx != nullptr));
      kkc_context_destroy(ctx);
      return status;
    };
    CHECK(create(R"({"colour": 1})") == KKC_STATUS_UNKNOWN_OPTION);
    CHECK(std::string(kkc_last_error()).find("colour") != std::string::npos);
    CHECK(std::string(kkc_last_error()).find("scalars") != std::string::npos);
    CHECK(create(R"({"scalars": "elsewhere"})") == KKC_STATUS_UNKNOWN_OPTION);
    CHECK(std::string(kkc_last_error()).find("device") != std::string::npos);
    CHECK(create(R"({"scalars": "host"})") == KKC_STATUS_SUCCESS);
    if (device == KKC_DEVICE_OPENMP) {
      CHECK(create(R"({"threads": 2})") == KKC_STATUS_SUCCESS);
      CHECK(create(R"({"threads": 0})") != KKC_STATUS_SUCCESS);
      CHECK(create(R"({"threads": -1})") != KKC_STATUS_SUCCESS);
      CHECK(create(R"({"threads": "many"})") != KKC_STATUS_SUCCESS);
    }
  }
}

TEST_CASE("options: values = kept is refused by plans that keep none", "[core][options]") {
  for (const kkc_device_t device : devices()) {
    if (!supported(device, "spadd", KKC_INDEX_32_32, KKC_TYPE_F64)) continue;
    INFO(name(device));
    const Context ctx(device);
    Random random(3);
    const DeviceCsr<double> A(ctx, random_csr<double>(random, Shape::few, 6, 6), KKC_INDEX_32_32, 0);
    const Options kept(R"({"values": "kept"})");
    Plan plan;
    const auto refuses = [&plan](kkc_status_t status, const std::string& function) {
      CHECK(plan == nullptr);
      CHECK(status == KKC_STATUS_NOT_SUPPORTED);
      CHECK(std::string(kkc_last_error()).find("\"values\" is kept, expected any: " + function) != std::string::npos);
    };
    refuses(kkc_spadd_plan(ctx, KKC_OP_NONE, A, KKC_OP_NONE, A, KKC_INDEX_32_32, kept, plan.out()), "kkc_spadd_plan");
    refuses(kkc_transpose_plan(ctx, KKC_OP_TRANSPOSE, A, KKC_INDEX_32_32, kept, plan.out()), "kkc_transpose_plan");
    refuses(kkc_sort_rows_plan(ctx, A, kept, plan.out()), "kkc_sort_rows_plan");
    refuses(kkc_spgemm_plan(ctx, KKC_OP_NONE, A, KKC_OP_NONE, A, nullptr, KKC_INDEX_32_32, kept, plan.out()),
            "kkc_spgemm_plan");
  }
}
