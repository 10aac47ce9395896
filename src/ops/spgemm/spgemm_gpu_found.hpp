// What the symbolic phase on GPUs is asked and what it finds; the sizes at which rows are treated in another way.
#pragma once

#include <algorithm>
#include <array>

#include "core/memory.hpp"
#include "core/output_pattern.hpp"
#include "spgemm_gpu_launch.hpp"
#include "spgemm_gpu_piece_plan.hpp"
#include "spgemm_gpu_plan_kernels.hpp"
#include "spgemm_gpu_register_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

/// What the symbolic phase is asked.
template <class Left, class I>
struct Problem {
  Left A;
  PlainRight<I> B;
  int64_t rows, cols, nnz_a, nnz_b, longest_a, longest_b;
  IndexPair pair;           // of C
  size_t element;           // bytes of a value
  int64_t most_slot_bytes;  // of product slots that the numeric phase may keep; -1: no bound
  bool sorted;              // C's rows must be; else only those are that the numeric phase cuts
  std::shared_ptr<const Memory> memory;
  Offsets positions_a{}, positions_b{};  // of entries in the caller's values; no data: their own order

  /// For plans alone, not for what matrices share with them.
  template <class X>
  Buffer array(int64_t count) const {
    return Buffer(Memory::in_order(memory), Space::device, (static_cast<size_t>(count) * sizeof(X) + 7) / 8 * 8);
  }
};

/// Whether A has rows that lanes along B's rows, which go through their entries one after the other, have not done when
/// all others are done, of so many products together; and most rows are far shorter.
template <class Left, class I>
bool has_few_long_rows(const Problem<Left, I>& p, double products) {
  constexpr double products_of_turn = 500'000;  // that a device finds while such a row gets to its next entry
  return static_cast<double>(p.longest_a) >= std::clamp(products / products_of_turn, 256.0, 2048.0) &&
         p.longest_a * p.rows > 16 * p.nnz_a;
}
/// So few products that most time is spent waiting.
inline constexpr double few_products = 1 << 22;
/// Products, as far as is known from mean rows.
template <class Left, class I>
double expected_products(const Problem<Left, I>& p) {
  return static_cast<double>(p.nnz_a) * static_cast<double>(p.nnz_b) / static_cast<double>(p.B.B.rows);
}

/// Rows of one size, as a run of a list.
struct Bin {
  int64_t first, count;
};
using Bins = std::array<Bin, survey_bins>;

/// Rows whose entries gather their products, or all rows: what GatherEntries or, with tiles, GatherTiles reads. Without
/// room for that, where those of very many products are: what FindCrowded reads, and its results.
struct Gathered {
  int64_t entries = 0, crowded_count = 0;     // of C; crowded: their parts, but for FindCrowded
  int64_t many_count = 0, several_count = 0;  // of `many`, front and back: a block's entries, a warp's
  int64_t tiles = 0;                          // of all entries
  int32_t longest = 0;                        // of their rows
  Buffer of_a, of_b, starts, row_of, places, many, crowded;
  Buffer columns, results, tickets, first_of_tile, places_in_tiles;

  bool all() const { return entries > 0 && row_of.data() == nullptr; }

  size_t bytes() const {
    size_t sum = 0;
    for (const Buffer* buffer : {&of_a, &of_b, &starts, &row_of, &places, &many, &crowded, &columns, &results, &tickets,
                                 &first_of_tile, &places_in_tiles})
      sum += buffer->bytes();
    return sum;
  }
};

/// Pieces of tiles, or tiles, of as many rows each.
struct TileRun {
  int64_t first, count;
  int32_t rows, capacity;  // entries of a piece at most
};
/// Tiles of i-nodes, in as many launches as there are runs: of pieces, those of Found::slotted, or of whole tiles, by
/// Found's list and slots.
struct Tiles {
  static constexpr int kinds = 8;
  int64_t count = 0;
  Buffer firsts, begins, entries, columns;  // TileLists'
  std::array<TileRun, kinds> runs{};

  bool there() const { return count > 0; }
  size_t bytes() const { return firsts.bytes() + begins.bytes() + entries.bytes() + columns.bytes(); }
};

/// What it found.
struct Found {
  OutputPattern output;
  int64_t products = 0;
  int32_t longest = 0;
  int32_t classes = 0;              // 0: none
  bool distinct = true;             // B's rows ascend strictly
  bool one_pass = false;            // columns were found without counting them first
  bool windows = false;             // columns were found by bitmaps of rows' windows
  Buffer slots, begins, number_of;  // product slots, if kept
  bool partial = false;             // of all rows but those of the last two bins
  Buffer ends, end_begins;          // OrderedLists', whose words then stand in the place of slots
  int32_t place_bits = 0;
  Buffer places;  // PlaceTable's words, if kept: classes of rows that registers hold
  int32_t longest_a = 0;
  Buffer list;  // rows by size; empty if one bin holds all
  Bins bins{};
  int thread_bin = 0;  // of class_limits, the last whose rows are a thread's; 0: there is no list of classes' rows
  std::array<int32_t, survey_bins> longest_a_of{};  // rows of A of each bin, where products are in order
  Pieces hashed, ranked;                            // of the last two bins
  SlottedLists slotted;  // instead: of the last `cut_bins` bins, the last first, if products keep slots
  int cut_bins = 0;

  Gathered gathered;  // rows that are in no bin
  Tiles tiles;        // instead of all that

  bool ordered() const { return ends.data() != nullptr; }
  bool keeps_piece_slots() const { return slotted.pieces.count > 0; }
};

/// Entries of C's rows: what bins of the numeric phase hold. Rows of the last two are cut into pieces; those of the
/// last are dense enough for bitmaps.
inline constexpr BinLimits numeric_limits{{0, 24, 96, 192, 384, 1024, 0x7fffffff, 0x7fffffff}, survey_bins};
inline constexpr BinLimits tile_kinds{{1, 2, 3, 4, 5, 6, 7, 8}, Tiles::kinds};  // KindsOfTiles'
inline constexpr int hashed_bin = 6, ranked_bin = 7;
inline constexpr int bins_of_pieces = 2;
inline constexpr int slotted_bins = 4;  // whose rows are pieces where the products of pieces keep slots
inline constexpr int32_t hashed_capacity = 1024, ranked_capacity = 768;
inline constexpr int32_t products_of_piece = 1 << 17, products_of_slotted = 1 << 15;
inline constexpr int32_t heavy_products = 1 << 17;  // from which a row is cut into pieces whatever its length
inline constexpr int32_t slotted_bytes = 26 * 1024 + 512, small_slotted_bytes = 12 * 1024;  // sums of a piece
inline constexpr int32_t few_slotted_bytes = 8 * 1024;            // of a piece of a C of less than few_bytes_of_pieces
inline constexpr int64_t few_bytes_of_pieces = int64_t{1} << 22;  // for each multiprocessor
inline constexpr int64_t long_rows_of_b = 128;                    // entries, in the mean
/// So few rows for each multiprocessor, of so many products in the mean, leave most of a device idle, a warp each: all
/// are cut into pieces, in one launch, about so many for each multiprocessor. Very few are even if they are i-nodes.
inline constexpr int64_t few_rows_to_cut = 64, very_few_rows = 8, pieces_to_cut = 16;
inline constexpr int64_t products_of_row_to_cut = 256, most_products_to_cut = int64_t{1} << 24;
inline constexpr int64_t most_tile_bytes = 96 * 1024, small_most_tile_bytes = 40 * 1024;  // of a whole tile
inline constexpr int32_t few_tile_bytes = 8 * 1024;  // sums of a piece of a tile, of which many are there at once
/// So few tiles are there at once whatever their sums take: several warps share each.
inline constexpr int64_t few_tiles = 3072;
inline int32_t bytes_of_few_sums(int64_t tiles) { return tiles <= few_tiles ? 0 : few_tile_bytes; }
inline constexpr int32_t thread_rows_longest = 40;
/// Rows of classes, where few are far longer than most: those of the first bins, up to this one at most, are a
/// thread's, which has room for the longest of them.
inline constexpr BinLimits class_limits{{0, 25, 32, thread_rows_longest, 192, 1024, 0x7fffffff, 0x7fffffff},
                                        survey_bins};
inline constexpr int last_thread_bin = 3;
inline constexpr int32_t most_slots = 2048;  // columns of a row whose products keep slots
/// Bytes of slots for C's, columns and values: up to 16 times as many, but of more than 4 GB at most `many`.
inline int64_t most_slots_beside(int64_t bytes, int64_t many) {
  return std::min(16 * bytes, std::max(many, int64_t{1} << 32));
}
inline constexpr int64_t most_ordered_compression = 12;  // products an entry of C, which one lane adds up
inline constexpr int64_t most_partial = 64;              // rows for one that may be left out of those that keep slots
inline constexpr int64_t most_place_bytes = int64_t{1} << 25;

inline int32_t place_words(int32_t longest) { return (longest + places_of_word - 1) / places_of_word; }

/// Bytes of shared memory that a block may have.
inline size_t shared_room(const Queue& queue) {
  int bytes = 0;
  gpu::check(gpu::largest_shared(bytes, queue.device_id()), "reading the shared memory's size");
  return static_cast<size_t>(bytes);
}
inline constexpr size_t large_room = 200 * 1024, least_room = 64 * 1024;

/// How the symbolic phase spends it; 4 KB stay free.
struct Tables {
  BinLimits limits;                  // blocks of columns that a row can have at most; the last bin is the bitmaps'
  int log2[survey_bins];             // places of a bin's table
  int32_t order_words[survey_bins];  // at most, to put its blocks in order
  bool slots[survey_bins];           // whether products fit beside
  int class_log2;
  int32_t class_order_words, bitmap_words;
};
inline constexpr Tables large_tables{{{0, 24, 96, 384, 1536, 6144, 0x7fffffff}, 7},
                                     {0, 5, 7, 10, 12, 13},
                                     {0, 0, 0, 1024, 4096, 8192},
                                     {true, true, true, true, true, true},
                                     13,
                                     8192,
                                     48 * 1024};
inline constexpr Tables small_tables{{{0, 24, 96, 384, 1536, 3072, 0x7fffffff}, 7},
                                     {0, 5, 7, 10, 11, 12},
                                     {0, 0, 0, 1024, 4096, 1024},
                                     {true, true, true, true, true, false},
                                     12,
                                     1024,
                                     14 * 1024};
/// Lanes for rows of so many entries in the mean.
inline int lanes_log2_for(int64_t entries, int64_t rows, int least = 2) {
  const double mean = static_cast<double>(entries) / static_cast<double>(std::max<int64_t>(rows, 1));
  int log2 = least;
  while (log2 < 5 && static_cast<double>(1 << log2) < 0.8 * mean) ++log2;
  return log2;
}

}  // namespace kkc::spgemm::gpu_parts
