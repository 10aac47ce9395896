// Numbers that suit a GPU, apart from the algorithms; found on an H200 (docs/ops/spmv.md).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace kkc::spmv::gpu_tuning {

// Rows longer than this are cut into segments, each the work of a block. A power of two: the plan knows from the
// histogram of rows' lengths how many there are.
inline constexpr int32_t longest_short_row = 1024;
inline constexpr int32_t row_segment = 2048;
// Up to so many entries of uneven rows both are half as long.
inline constexpr int64_t entries_of_fine_segments = int64_t{3} << 19;

// Rows are irregular when the longest exceeds both.
inline constexpr int64_t irregular_factor = 4;
inline constexpr int64_t irregular_length = 24;

/// Lanes for a row and entries that a lane has under way: enough lanes that a warp reads whole lines, few enough that
/// none idles.
struct Shape {
  int lanes_log2, batch;
};
inline constexpr Shape shapes[] = {{0, 5}, {0, 7}, {2, 5}, {3, 4}, {4, 4}, {5, 4}};
inline constexpr int shape_count = sizeof shapes / sizeof shapes[0];

/// Index of the shape for rows of this mean length, columns read from memory.
constexpr int shape_of_rows(double mean) {
  if (mean <= 6) return 0;
  if (mean <= 10) return 1;
  if (mean <= 28) return 2;
  if (mean <= 300) return 4;
  return 5;
}

/// The same, columns from a dictionary.
constexpr int shape_of_patterns(double mean) {
  if (mean <= 6) return 0;
  if (mean <= 10) return 1;
  if (mean <= 40) return 2;
  if (mean <= 160) return 3;
  return 5;
}

// Even rows whose products are staged: their mean length, and the longest against it.
inline constexpr double staged_from_mean = 12, staged_to_mean = 128, staged_unevenness = 1.25;

// Tiles: rows that are finished in their tile (a power of two) and segments of the others; what share of the entries
// these may hold; rows of regular matrices are short on average, or the longest exceeds so many times the mean.
inline constexpr int32_t streamed_longest_row = 512, streamed_segment = 512;
inline constexpr double streamed_long_share = 0.2, streamed_short_mean = 12, streamed_unevenness = 2;

// Rows from which each thread puts several into bins.
inline constexpr int64_t sorted_in_turns = int64_t{1} << 19;

// Row bins: lanes such that each has about so many entries.
inline constexpr int entries_a_lane = 4;
/// The same where entries are scattered: even rows of some length go better with more lanes.
constexpr int scattered_entries_a_lane(double mean, bool irregular) { return mean > 24 && !irregular ? 2 : 4; }
// Rows whose neighbours have so many of a sample's columns are scattered several at a time, from a mean length on.
inline constexpr double alike_share = 0.25, alike_from_mean = 16;
inline constexpr int64_t alike_sample = 8192;
/// Few lanes a row, so that a warp has several rows.
inline constexpr int alike_lanes_log2 = 4;
constexpr int alike_entries_a_lane(double mean) { return mean > 40 ? 8 : 4; }

// Many vectors: rows and entries of a window, rows that are cut, entries of a segment.
inline constexpr int32_t window_small = 1024, short_small = 128;
inline constexpr int32_t window_large = 2048, short_large = 256;
inline constexpr int32_t multi_segment = 1024;
// Lanes a row from which blocks of 256 threads pay.
inline constexpr int large_from_lanes_log2 = 3;
/// Whether windows are large: not where all rows are short and X passes through the cache in long rows.
constexpr bool large_windows(int lanes_log2, int64_t longest) {
  return lanes_log2 == large_from_lanes_log2 || (lanes_log2 > large_from_lanes_log2 && longest > short_small);
}
/// Vectors beside one another that a warp works on; rows of few entries go better with fewer.
constexpr int most_vector_lanes_log2(double mean) { return mean < 12 ? 4 : 5; }
// Vectors one after the other: rows up to this length (a power of two) are read in place when 32 neighbouring rows read
// at most so many times the least sectors of a vector.
inline constexpr int32_t longest_column_row = 16;
inline constexpr double most_spread = 2;
// From so many vectors the result is turned as well.
inline constexpr int64_t turn_result_from = 32;

// Many vectors transposed by gathering: shared memory of a block.
inline constexpr size_t gather_shared_bytes = size_t{48} << 10;

// Transposed, a thread a column: fewer columns of so many entries on average leave too much of the device idle.
inline constexpr int64_t fewest_gathered_columns = 49152;
inline constexpr double long_gathered_column = 24;

// Transposed: columns whose sums blocks keep in shared memory, the share of the entries that these must hold, and how
// uneven rows are before the plan looks for such columns.
inline constexpr int32_t hub_capacity = 10752;
inline constexpr int64_t entries_of_a_hub = 4;  // of a block, in the mean
// For each multiprocessor, up to which blocks have fewer threads.
inline constexpr int64_t entries_of_few_blocks = 4096;
inline constexpr double hub_share = 0.2;
inline constexpr int64_t hubs_from_factor = 8;
/// The plan looks at one run of entries in so many: 1/32 of the entries, at least 2^16 of them and at most 2^19.
constexpr int64_t hub_sample_every(int64_t nnz) {
  return std::max({int64_t{1}, nnz >> 19, std::min(int64_t{32}, nnz >> 16)});
}

}  // namespace kkc::spmv::gpu_tuning
