// Options that name an implementation of another operation than the plan's, e.g. "product".
#pragma once

#include <string_view>

#include "options.hpp"
#include "registry.hpp"

namespace kkc {

/// The name that option `key` gives, "" without the option; refused with the list of those that exist.
inline std::string named_implementation(const Options& options, const std::string& key, const DeviceTable& table,
                                        const char* operation) {
  const std::string wanted = options.text(key, "");
  const OperationTable* known = find_operation(table, operation);
  std::string names;
  for (int32_t i = 0; known != nullptr && i < known->count; ++i) {
    if (wanted == known->entries[i]->name) return wanted;
    names += cat(names.empty() ? "" : ", ", known->entries[i]->name);
  }
  require(wanted.empty(), KKC_STATUS_UNKNOWN_OPTION, "options: \"", key, "\" is \"", wanted, "\", expected one of ",
          names);
  return wanted;
}

}  // namespace kkc
