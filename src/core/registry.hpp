// Tables of implementations. CMake writes one per device from the kkc_op() and kkc_impl() calls in src/ops.
#pragma once

#include <cstdint>
#include <string_view>

namespace kkc {

class Queue;

/// Base of every operation's Implementation: what the core may know of any of them.
struct Entry {
  const char* name;
  /// Operations without a plan: loads the kernels, once for each context, at its creation.
  void (*prepare)(Queue& queue) = nullptr;
};

struct OperationTable {
  const char* operation;
  const Entry* const* entries;  // in order of priority, reference last
  int32_t count;
};

struct DeviceTable {
  const OperationTable* operations;
  int32_t count;
  uint32_t scalar_mask;      // bits of AllScalars that kernels exist for
  uint32_t index_pair_mask;  // bits of AllIndexPairs
};

inline const OperationTable* find_operation(const DeviceTable& table, std::string_view operation) {
  for (int32_t i = 0; i < table.count; ++i)
    if (operation == table.operations[i].operation) return &table.operations[i];
  return nullptr;
}

}  // namespace kkc
