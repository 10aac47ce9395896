// transpose: C = A^T or A^H. Contract of its symbolic phase, which other operations' plans may use too; the numeric
// phase is that of ops/entry_map.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/error.hpp"
#include "core/queue.hpp"
#include "core/registry.hpp"
#include "ops/entry_map/entry_map.hpp"
#include "ops/row_stats/row_stats.hpp"

namespace kkc::transpose {

/// The pattern's arrays are valid during make() only.
struct Desc {
  CsrRef A;  // offsets and indices checked; values may be null
  std::shared_ptr<const Memory> memory;
  bool single = false;                      // each row is known to have one entry
  std::optional<RowStats>* rows = nullptr;  // if given, may get what is known of the transpose's rows
};

struct Implementation : Entry {
  bool deterministic;
  std::string (*unsupported)(const Desc& desc);
  /// The pattern of the transpose: each row ascends by A's rows, entries of one place in A's order. May block.
  std::unique_ptr<EntryMap> (*make)(const Desc& desc, Queue& queue);
};

/// For other operations' plans, within queue.run(): the transpose's pattern (base 0, A's index pair) and positions, so
/// that values of the transpose are values[positions[k]]. A's pattern must have been checked (checked_row_stats);
/// single, rows: as in Desc.
inline EntryMap transposed_pattern(Queue& queue, const std::shared_ptr<const Memory>& memory, const CsrRef& A,
                                   bool single = false, std::optional<RowStats>* rows = nullptr) {
  const OperationTable* table = find_operation(queue.table(), "transpose");
  const Desc desc{A, memory, single, rows};
  for (int32_t i = 0; table != nullptr && i < table->count; ++i) {
    const auto* candidate = static_cast<const Implementation*>(table->entries[i]);
    if (candidate->unsupported(desc).empty()) return std::move(*candidate->make(desc, queue));
  }
  fail(KKC_STATUS_NOT_SUPPORTED, "transpose has no kernels for this matrix on this device");
}

}  // namespace kkc::transpose
