// What kkc_plan_info says of a plan, and kkc_context_info of a context.
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

/// Whether the library's vectors have 512 bits, and masks.
inline bool has_wide_vectors(const Context& ctx) {
  const char* json = nullptr;
  ok(kkc_context_info(ctx, &json));
  return std::string(json).find("\"simd_bits\":512") != std::string::npos;
}

/// The number at `key`, or nothing.
inline std::optional<double> number_in(const std::string& info, const std::string& key) {
  const std::string quoted = '"' + key + "\":";
  const size_t at = info.find(quoted);
  if (at == std::string::npos) return std::nullopt;
  return std::stod(info.substr(at + quoted.size()));
}

}  // namespace kkc_test
