#include "plan.hpp"

#include <nlohmann/json.hpp>

namespace kkc {

Plan::Plan(std::shared_ptr<Context> context, std::unique_ptr<PlanState> state, PassedOver passed_over, double seconds)
    : Object(kind_tag),
      context_(std::move(context)),
      state_(std::move(state)),
      passed_over_(std::move(passed_over)),
      seconds_(seconds) {
  workspace_ = Buffer(Memory::in_order(context_->memory()), own_space(context_->device()), state_->workspace_bytes());
}

std::string Plan::describe() const {
  using Json = nlohmann::ordered_json;
  Info info;
  state_->describe(info);
  Json json;
  json["operation"] = state_->operation();
  json["device"] = name(context_->device());
  for (const auto& [key, value] : info.entries()) std::visit([&, &key = key](const auto& v) { json[key] = v; }, value);
  json["workspace_bytes"] = state_->workspace_bytes();
  json["plan_seconds"] = seconds_;
  Json reasons = Json::object();
  for (const auto& [implementation, reason] : passed_over_) reasons[implementation] = reason;
  json["passed_over"] = std::move(reasons);
  return json.dump();
}

void Plan::set_workspace(void* given, size_t bytes) {
  if (given == nullptr) {
    require(bytes == 0, KKC_STATUS_NULL_POINTER, "ptr is NULL with ", bytes,
            " bytes, expected 0 bytes to return to the plan's own");
  } else {
    require(bytes >= workspace_bytes(), KKC_STATUS_SIZE_MISMATCH, "bytes is ", bytes, ", expected at least ",
            workspace_bytes());
    require(reinterpret_cast<uintptr_t>(given) % memory_alignment == 0, KKC_STATUS_INVALID_ARGUMENT, "ptr is ", given,
            ", expected a multiple of ", memory_alignment);
  }
  given_ = given;
}

kkc_status_t Plan::check(int64_t& where, int64_t& count) {
  Queue& queue = context_->queue();
  kkc_status_t status = KKC_STATUS_SUCCESS;
  queue.run([&] {
    queue.synchronize();
    status = state_->check(queue, where, count);
  });
  return status;
}

PlanOptions::PlanOptions(const Options& options, const char* function, std::vector<std::string> own,
                         bool keeps_values) {
  own.insert(own.begin(),
             {"implementation", "tuning", "deterministic", "values", "scalars", "checked", "max_workspace"});
  options.allow_only(function, own);
  implementation = options.text("implementation", "");
  measure = options.choice("tuning", {"auto", "measure"}) == "measure";
  deterministic = options.flag("deterministic", false);
  values_kept = options.choice("values", {"any", "kept"}) == "kept";
  require(keeps_values || !values_kept, KKC_STATUS_NOT_SUPPORTED,
          "options: \"values\" is kept, expected any: ", function, " makes plans that keep none");
  device_scalars = options.choice("scalars", {"host", "device"}) == "device";
  checked = options.flag("checked", false);
  max_workspace = options.integer("max_workspace", -1, 0, INT64_MAX);
}

}  // namespace kkc
