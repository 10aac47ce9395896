// What kkc_plan_info says of a plan.
#pragma once

#include <optional>
#include <string>

#include "support/handles.hpp"

namespace kkc_test {

inline std::string info_of_plan(const Plan& plan) {
  const char* json = nullptr;
  ok(kkc_plan_info(plan, &json));
  return json;
}

/// The number at `key`, or nothing.
inline std::optional<double> number_in(const std::string& info, const std::string& key) {
  const std::string quoted = '"' + key + "\":";
  const size_t at = info.find(quoted);
  if (at == std::string::npos) return std::nullopt;
  return std::stod(info.substr(at + quoted.size()));
}

}  // namespace kkc_test
