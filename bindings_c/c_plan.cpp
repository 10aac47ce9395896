// kkc.h section 11: plans and the registry.
#include <algorithm>
#include <cstring>

#include "core/catalogue.hpp"
#include "core/output_pattern.hpp"
#include "core/plan.hpp"
#include "guard.hpp"
#include "ops/plan_output/plan_output.hpp"

using namespace kkc;

extern "C" {

kkc_status_t kkc_query_support(kkc_device_t device, const char* operation, kkc_index_pair_t index_pair,
                               kkc_scalar_t scalar, int32_t* yes) {
  return guard([&] { *yes = supports(valid_device(device, "device"), operation, index_pair, scalar) ? 1 : 0; },
               out(yes, "yes"));
}

kkc_status_t kkc_implementation_count(kkc_device_t device, const char* operation, int32_t* count) {
  return guard([&] { *count = implementations_of(valid_device(device, "device"), operation).count; },
               out(count, "count"));
}

kkc_status_t kkc_implementation_name(kkc_device_t device, const char* operation, int32_t index, const char** name) {
  return guard(
      [&] {
        const OperationTable& table = implementations_of(valid_device(device, "device"), operation);
        require(index >= 0 && index < table.count, KKC_STATUS_INDEX_OUT_OF_RANGE, "index is ", index,
                ", expected 0 to ", table.count - 1);
        *name = table.entries[index]->name;
      },
      out(name, "name"));
}

kkc_status_t kkc_plan_info(kkc_plan_t* plan, const char** json) {
  return guard(
      [&] {
        const auto p = as<Plan>(plan, "plan");
        p->info_text = p->describe();
        *json = p->info_text.c_str();
      },
      out(json, "json"));
}

kkc_status_t kkc_plan_info_copy(kkc_plan_t* plan, size_t capacity, char* buffer, size_t* length) {
  return guard(
      [&] {
        const std::string text = as<Plan>(plan, "plan")->describe();
        require(buffer != nullptr || capacity == 0, KKC_STATUS_NULL_POINTER,
                "buffer is NULL, expected a place for the text, or capacity 0 for its length alone");
        if (capacity > 0) {
          const size_t kept = std::min(text.size(), capacity - 1);
          std::memcpy(buffer, text.data(), kept);
          buffer[kept] = '\0';
        }
        *length = text.size();
      },
      optional_out(capacity > 0 ? buffer : nullptr), out(length, "length"));
}

kkc_status_t kkc_plan_workspace_size(const kkc_plan_t* plan, size_t* bytes) {
  return guard([&] { *bytes = as<Plan>(plan, "plan")->workspace_bytes(); }, out(bytes, "bytes"));
}

kkc_status_t kkc_plan_set_workspace(kkc_plan_t* plan, void* ptr, size_t bytes) {
  return guard([&] { as<Plan>(plan, "plan")->set_workspace(ptr, bytes); });
}

kkc_status_t kkc_plan_check(kkc_plan_t* plan, int64_t* where, int64_t* count) {
  // The status is the answer, not a failure of the call: where and count stay beside it.
  kkc_status_t found = KKC_STATUS_SUCCESS;
  const kkc_status_t status = guard(
      [&] {
        *where = -1;
        found = as<Plan>(plan, "plan")->check(*where, *count);
      },
      out(where, "where"), out(count, "count"));
  return status != KKC_STATUS_SUCCESS || found == KKC_STATUS_SUCCESS
             ? status
             : failed(found, "the plan's executes since the last check met data they could not handle");
}

kkc_status_t kkc_plan_output_nnz(const kkc_plan_t* plan, int64_t* nnz) {
  return guard([&] { *nnz = output_of(*as<Plan>(plan, "plan")).nnz; }, out(nnz, "nnz"));
}

kkc_status_t kkc_plan_output_pattern(const kkc_plan_t* plan, kkc_matrix_t* C) {
  return guard([&] { plan_output::write_pattern(*as<Plan>(plan, "plan"), *as<Matrix>(C, "C")); });
}

kkc_status_t kkc_plan_create_output(const kkc_plan_t* plan, kkc_matrix_t** C) {
  return guard([&] { give(plan_output::create(*as<Plan>(plan, "plan")), C); }, out(C, "C"));
}

kkc_status_t kkc_plan_destroy(kkc_plan_t* plan) { return destroy<Plan>(plan, "plan"); }

}  // extern "C"
