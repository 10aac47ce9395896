// Rows put in order of the columns of C to which their entries lead, and what is read off the order.
#pragma once

#include <memory>

#include "core/memory.hpp"
#include "device/gpu_scan.hpp"
#include "spgemm_gpu_rows.hpp"

namespace kkc::spgemm::gpu_parts {

inline constexpr int longer_row_bins = 8;

/// Zero at first.
struct AggregateState {
  unsigned long long entries;  // of C; written as an offset of C, whatever its width
  int32_t classes, failed;
  KindCounts sampled_kinds;
  int32_t longest;                  // row of C
  int32_t missing, repeated;        // rows without and with several diagonal entries
  int32_t many;                     // entries of C of many products
  int32_t longer[longer_row_bins];  // rows of A, see LongerRows
};

/// B as its columns, one a row. Null: row j has column j.
template <class I>
struct SingleEntries {
  const I* columns;
  int32_t base;

  __device__ int32_t column(int64_t row) const {
    return columns == nullptr ? static_cast<int32_t>(row) : static_cast<int32_t>(columns[row]) - base;
  }
};

inline constexpr uint32_t first_product = 1u << 31;

/// Tiles of A's entries: the rows that begin in one are a block's.
inline constexpr int32_t entries_of_tile = 1024;                 // and as many more as end the last row
inline constexpr int64_t most_beside_longer = int64_t{1} << 22;  // A's entries: what caches hold
struct RowTiles {
  Offsets offsets;           // of A
  const int32_t* first_row;  // of each tile, and behind the last

  /// The first entry of the rows of the tile in which a row begins.
  __device__ int32_t begin(int32_t row_begin) const {
    return static_cast<int32_t>(offsets.at(first_row[row_begin / entries_of_tile]));
  }
};

/// What rows become: slot p, as A's entry p, is of the row to which that entry belongs.
struct RowsByColumn {
  uint32_t* order;             // [entries of A] positions in A; null unless wanted
  uint16_t* places;            // [entries of A] slots, from the first of the row's tile; null unless wanted
  RowTiles tiles;              // for those
  uint32_t* met;               // [entries of A] column of C; first_product where an entry of C begins
  int32_t* counts;             // [rows] entries of C
  int32_t* diagonal;           // [rows] position in A, plus one; zero at first; null unless wanted
  int32_t* entry_of_diagonal;  // [rows] in the row of C, plus one; zero at first
  AggregateState* state;

  __device__ int32_t begin_of_tile(int32_t row_begin) const { return places == nullptr ? 0 : tiles.begin(row_begin); }
  /// The entry at `position` belongs into a slot; of_tile: what begin_of_tile() says of its row.
  __device__ void put(int32_t position, int32_t slot, int32_t of_tile) const {
    if (order != nullptr) order[slot] = static_cast<uint32_t>(position);
    if (places != nullptr) places[position] = static_cast<uint16_t>(slot - of_tile);
  }

  __device__ void found_diagonal(int64_t row, int32_t position) const {
    if (atomicCAS(diagonal + row, 0, position + 1) != 0) state->repeated = 1;
  }
};

/// Rows whose entries are asked for in that order.
template <class I>
struct RowsToOrder {
  Pattern<I> A;
  SingleEntries<I> B;
  int64_t entries, longest, cols;  // longest: of A's rows, or more; cols: of C
};

/// Enqueues it, and may wait in between. Compiled in parts of gpu_aggregates.
void order_rows(Queue& queue, const std::shared_ptr<const Memory>& memory, const RowsToOrder<int32_t>& rows,
                const RowsByColumn& to);
void order_rows(Queue& queue, const std::shared_ptr<const Memory>& memory, const RowsToOrder<int64_t>& rows,
                const RowsByColumn& to);

// ---- C ----

/// One where an entry of C begins, for a scan.
struct FirstProducts {
  const uint32_t* met;

  template <int vector>
  __device__ void load(int64_t, int64_t i, int32_t (&x)[vector]) const {
    uint32_t words[vector];
    gpu::RunSource<uint32_t, uint32_t>{met, 0}.load<vector>(0, i, words);
#pragma unroll
    for (int k = 0; k < vector; ++k) x[k] = static_cast<int32_t>(words[k] >> 31);
  }
};

/// C's columns and where its entries' products begin, from the entries counted before each.
template <class I>
struct PlaceFirstProducts {
  const uint32_t* met;
  I* columns;
  int32_t* starts;  // [entries + 1]

  template <int vector>
  __device__ void store(int64_t, int64_t i, const int32_t (&before)[vector]) const {
    uint32_t words[vector];
    gpu::RunSource<uint32_t, uint32_t>{met, 0}.load<vector>(0, i, words);
#pragma unroll
    for (int k = 0; k < vector; ++k)
      if ((words[k] & first_product) != 0) {
        columns[before[k]] = static_cast<I>(words[k] & ~first_product);
        starts[before[k]] = static_cast<int32_t>(i + k);
      }
  }
  __device__ void finish(int64_t, int64_t length, const int32_t& entries) const {
    starts[entries] = static_cast<int32_t>(length);
  }
};

}  // namespace kkc::spgemm::gpu_parts
