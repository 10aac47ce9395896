// coo_to_csr: a CSR matrix from coordinates in any order. Contract of the symbolic phase; the numeric phase is that of
// ops/entry_map.
#pragma once

#include <memory>
#include <string>

#include "core/queue.hpp"
#include "core/registry.hpp"
#include "ops/entry_map/entry_map.hpp"

namespace kkc::coo_to_csr {

/// The coordinates are valid during make() only.
struct Desc {
  int64_t rows, cols, entries;
  int32_t base;
  IndexPair pair;                     // counts rows, cols and entries
  DenseRef row_indices, col_indices;  // rank 1, i32 or i64, any stride
  bool add_duplicates;                // else they are kept
  std::shared_ptr<const Memory> memory;
};

struct Implementation : Entry {
  bool deterministic;
  std::string (*unsupported)(const Desc& desc);
  /// Rows sorted, stable. Refuses coordinates outside the matrix. May block.
  std::unique_ptr<EntryMap> (*make)(const Desc& desc, Queue& queue);
};

}  // namespace kkc::coo_to_csr
