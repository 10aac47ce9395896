// What the numeric phase of spgemm on hosts works with beside C.
#pragma once

#include <algorithm>

#include "ops/spgemm/spgemm_host_columns.hpp"
#include "ops/spgemm/spgemm_host_plan.hpp"
#include "ops/spgemm/spgemm_host_steps.hpp"

namespace kkc::spgemm {

/// Workspace of each thread: the larger of what its dense and its hashed rows take.
struct HostWorkspace {
  int64_t workers = 1;
  size_t each = 0;
};

/// Sums of every column take so many bytes at most where a list of places, a quarter of that or less, could do.
inline constexpr size_t most_column_sums = size_t{1} << 19;

/// Room for each column's place in a row of C.
inline size_t place_list_bytes(int64_t cols) { return static_cast<size_t>(cols) * sizeof(uint16_t); }

/// entries: of C. Of the bytes of those in rows that a hash would make, no more than a sixteenth goes to sums of every
/// column, where these are few, or else to lists of places.
template <class E, class I>
HostWorkspace host_workspace(const HostPlan& plan, int64_t cols, int64_t entries, int64_t workers, int64_t bound) {
  size_t bytes = 0;
  const int64_t of_hash = std::min(entries, plan.rows_of[-row_hash - 1] * plan.longest_hash);
  const size_t of_c = static_cast<size_t>(of_hash) * (sizeof(E) + sizeof(I));
  if (plan.choice == HostChoice::binned && !plan.masked && of_hash > 0) {
    const size_t sums = static_cast<size_t>(cols) * sizeof(E);
    for (const size_t wanted : {place_list_bytes(cols), sums <= most_column_sums ? sums : 0})
      if (wanted * static_cast<size_t>(workers) <= of_c / 16) bytes = std::max(bytes, wanted);
  }
  if (plan.rows_of[-row_dense - 1] > 0) bytes = static_cast<size_t>(cols) * sizeof(E);
  if (plan.groups.used()) bytes = static_cast<size_t>(ColumnGroups::padded(cols, StepVector<E>::lanes)) * sizeof(E);
  bytes = std::max(bytes, static_cast<size_t>(plan.longest_apart) * sizeof(E));
  if (plan.longest_hash > 0) bytes = std::max(bytes, PlaceTable<I>::bytes_for(plan.longest_hash));
  bytes = (bytes + memory_alignment - 1) / memory_alignment * memory_alignment;
  if (bound >= 0) bytes = std::min(bytes, static_cast<size_t>(bound / workers) / memory_alignment * memory_alignment);
  return {workers, bytes};
}

}  // namespace kkc::spgemm
