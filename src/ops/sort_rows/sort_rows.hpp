// sort_rows: C = A with sorted rows, its duplicates kept or added. Contract of the symbolic phase, which other
// operations' plans may use too; the numeric phase is that of ops/entry_map.
#pragma once

#include <memory>
#include <string>

#include "core/error.hpp"
#include "core/queue.hpp"
#include "core/registry.hpp"
#include "ops/entry_map/entry_map.hpp"

namespace kkc::sort_rows {

/// The pattern's arrays are valid during make() only.
struct Desc {
  CsrRef A;             // offsets and indices checked; values may be null
  bool add_duplicates;  // else they are kept
  std::shared_ptr<const Memory> memory;
};

struct Implementation : Entry {
  bool deterministic;
  std::string (*unsupported)(const Desc& desc);
  /// Stable. No positions when A's rows are sorted, no starts when nothing is added. May block.
  std::unique_ptr<EntryMap> (*make)(const Desc& desc, Queue& queue);
};

/// For other operations' plans, within queue.run(): A's pattern (checked: checked_row_stats) with sorted rows.
inline EntryMap sorted_pattern(Queue& queue, const std::shared_ptr<const Memory>& memory, const CsrRef& A,
                               bool add_duplicates) {
  const OperationTable* table = find_operation(queue.table(), "sort_rows");
  const Desc desc{A, add_duplicates, memory};
  for (int32_t i = 0; table != nullptr && i < table->count; ++i) {
    const auto* candidate = static_cast<const Implementation*>(table->entries[i]);
    if (candidate->unsupported(desc).empty()) return std::move(*candidate->make(desc, queue));
  }
  fail(KKC_STATUS_NOT_SUPPORTED, "sort_rows has no kernels for this matrix on this device");
}

}  // namespace kkc::sort_rows
