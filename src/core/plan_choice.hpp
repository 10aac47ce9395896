// How plans choose: a walk down the table of implementations.
#pragma once

#include <algorithm>

#include "plan.hpp"

namespace kkc {

template <class Implementation, class Desc>
std::vector<const Implementation*> eligible(const DeviceTable& table, const char* operation, const PlanOptions& options,
                                            const Desc& desc, PassedOver& passed_over) {
  const OperationTable* known = find_operation(table, operation);
  require(known != nullptr, KKC_STATUS_NOT_SUPPORTED, operation, " has no kernels on this device");
  std::vector<const Implementation*> takes;
  std::string names;
  bool named_exists = options.implementation.empty();
  for (int32_t i = 0; i < known->count; ++i) {
    const auto* candidate = static_cast<const Implementation*>(known->entries[i]);
    names += cat(names.empty() ? "" : ", ", candidate->name);
    std::string reason;
    if (!options.implementation.empty() && options.implementation != candidate->name)
      reason = "another was named";
    else if (options.deterministic && !candidate->deterministic)
      reason = "not deterministic";
    else
      reason = candidate->unsupported(desc);
    if (options.implementation == candidate->name) {
      named_exists = true;
      require(reason.empty(), KKC_STATUS_NOT_SUPPORTED, "implementation \"", candidate->name,
              "\" does not take this case: ", reason);
    }
    if (reason.empty())
      takes.push_back(candidate);
    else
      passed_over.emplace_back(candidate->name, reason);
  }
  require(named_exists, KKC_STATUS_UNKNOWN_OPTION, "options: \"implementation\" is \"", options.implementation,
          "\", expected one of ", names);
  if (takes.empty()) {
    std::string reasons;
    for (const auto& [implementation, reason] : passed_over)
      reasons += cat(reasons.empty() ? "" : "; ", implementation, ": ", reason);
    fail(KKC_STATUS_NOT_SUPPORTED, "no implementation of ", operation, " takes this case (", reasons, ")");
  }
  return takes;
}

}  // namespace kkc
