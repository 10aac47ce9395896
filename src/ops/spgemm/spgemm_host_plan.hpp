// What a plan of the host kernels of spgemm keeps: how each row of C is made, and what is known of its products.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "ops/spgemm/spgemm_host_classes.hpp"
#include "ops/spgemm/spgemm_host_column_groups.hpp"
#include "ops/spgemm/spgemm_host_flat_products.hpp"

namespace kkc::spgemm {

/// What a caller's name for an implementation leaves to choose.
enum class HostChoice { binned, hash, dense };

/// How execute treats a row that is of no class (classes count from 0).
enum RowKind : int32_t {
  row_empty = -1,
  row_copied = -2,  // one row of B, distinct and in C's order
  row_placed = -3,  // the plan keeps the place of each product
  row_hash = -4,
  row_dense = -5
};

/// Deals C's rows to threads by products; the same ranges in both phases.
struct HostPlan {
  HostChoice choice = HostChoice::binned;
  bool masked = false;          // some products are not in C
  std::vector<int64_t> chunks;  // first rows, and the number of rows at the end
  std::vector<int64_t> heavy;   // chunks that take long, ascending: a row of very many products
  Buffer kinds;                 // int32_t for each row: a class or a RowKind
  RowClasses classes;
  Buffer places;                      // uint16_t for each product of the placed rows
  std::vector<int64_t> chunk_places;  // where a chunk's begin
  // Room for the places of the rows that is_noted() names: the third execute notes them, so that who multiplies once
  // or twice pays nothing for them.
  Buffer noted;
  std::vector<int64_t> chunk_noted;
  FlatProducts flat;          // where it has room, the same execute lists all products instead
  ColumnGroups groups;        // where used, rows of kind hash and dense are made by these, and no places are noted
  int executes = 0;           // up to noting_execute
  int64_t longest_apart = 0;  // columns of the longest row with places that execute makes in its workspace
  bool distinct = false;      // no row of B holds a column twice
  int64_t products = 0, placed = 0;
  int64_t rows_of[5] = {};  // by RowKind
  int64_t rows_in_classes = 0;
  int64_t longest_hash = 0;  // columns of the longest row_hash

  int64_t chunk_count() const { return static_cast<int64_t>(chunks.size()) - 1; }
  /// Heavy chunks have the first turns, so that no thread is left with one at the end.
  int64_t chunk_of(int64_t turn) const {
    const int64_t count = std::ssize(heavy);
    if (turn < count) return heavy[static_cast<size_t>(turn)];
    int64_t chunk = turn - count;
    for (const int64_t passed : heavy) chunk += passed <= chunk ? 1 : 0;
    return chunk;
  }
  int64_t bytes() const {
    return static_cast<int64_t>(
        kinds.bytes() + classes.bytes() + places.bytes() + noted.bytes() + flat.bytes() + groups.bytes() +
        (chunks.size() + heavy.size() + chunk_places.size() + chunk_noted.size()) * sizeof(int64_t));
  }
};

/// The execute, counted from 1, that notes places: new pages and all it takes as long as three to six others.
inline constexpr int noting_execute = 3;

/// Execute makes rows in a block of so many bytes, which stays in the innermost cache.
inline constexpr size_t made_bytes = 24576;

/// Whether places of a row are noted, if there is room for any.
constexpr bool is_noted(int32_t kind, int64_t columns) {
  return (kind == row_hash || kind == row_dense) && columns <= int64_t{std::numeric_limits<uint16_t>::max()} + 1;
}

}  // namespace kkc::spgemm
