// B's columns as (block of 64 columns, bits) pairs, where neighbouring columns fill them: the symbolic phase then
// unites whole words (Deveci, Trott, Rajamanickam, "Multithreaded sparse matrix-matrix multiplication for many-core and
// GPU architectures", Parallel Computing 78, 2018, section 3.2).
#pragma once

#include <atomic>

#include "core/matrix_parallel.hpp"
#include "device/host_pattern_ref.hpp"
#include "ops/spgemm/spgemm_host_classes.hpp"
#include "ops/spgemm/spgemm_host_columns.hpp"

namespace kkc::spgemm {

/// f(block, first, bits) for each run of columns of row j of B in one block of `width` columns: the run's first entry,
/// and a bit for each of its columns. They ascend; rows out of order give a block more than once.
template <int width, class I, class O, class F>
void each_block(const HostPatternRef<I, O>& B, int64_t j, const F& f) {
  int64_t block = -1, before = -1, first = 0;
  uint64_t bits = 0;
  for (int64_t q = B.begin(j), end = B.end(j); q < end; ++q) {
    const int64_t column = B.column(q);
    if (column / width != block || column <= before) {
      if (bits != 0) f(block, first, bits);
      block = column / width;
      first = q;
      bits = 0;
    }
    bits |= uint64_t{1} << (column % width);
    before = column;
  }
  if (bits != 0) f(block, first, bits);
}

template <int width, class I, class O>
int64_t blocks_of(const HostPatternRef<I, O>& B, int64_t j) {
  int64_t count = 0;
  each_block<width>(B, j, [&](int64_t, int64_t, uint64_t) { ++count; });
  return count;
}

/// Entries of a run in the mean, rows of B as often as rows of `left` use them: of a sample of these, scattered (every
/// so many-th row of a skewed matrix is like the others of them).
template <int width, class Left, class I, class O>
double entries_of_block(Queue& queue, const Left& left, const HostPatternRef<I, O>& B) {
  constexpr int64_t most_rows = 1024, most_of_row = 16, worth_a_thread = 32;
  const int64_t rows = left.rows(), sampled = std::min(std::max<int64_t>(rows / 64, 16), most_rows),
                parts = parts_for_items(queue, sampled, worth_a_thread);
  std::atomic<int64_t> entries{0}, blocks{0};
  host_parts<Host>(queue, parts, [&](int64_t part) {
    int64_t entries_of_part = 0, blocks_of_part = 0;
    for (int64_t s = part_begin(sampled, parts, part) + 1; s <= part_begin(sampled, parts, part + 1); ++s) {
      const uint64_t scattered = static_cast<uint64_t>(s) * 0x9e3779b97f4a7c15u >> 33;
      const auto row = left.row(static_cast<int64_t>(scattered % static_cast<uint64_t>(rows)));
      const int64_t step = row.size() / most_of_row + 1;
      for (int64_t k = step / 2; k < row.size(); k += step) {
        const int64_t j = row.column(k);
        entries_of_part += step * (B.end(j) - B.begin(j));
        blocks_of_part += step * blocks_of<width>(B, j);
      }
    }
    entries += entries_of_part;
    blocks += blocks_of_part;
  });
  return static_cast<double>(entries) / static_cast<double>(std::max<int64_t>(blocks, 1));
}

inline constexpr int columns_of_block = 64;
/// Entries and rows of B: each is several nanoseconds' work.
inline constexpr int64_t block_items_worth_a_thread = 4096;

/// Rows of B that meet a quarter of the blocks are kept as a bitmap of all columns instead: a vector unites eight
/// words.
template <class I, class O>
class ColumnBlocks {
 public:
  ColumnBlocks(Queue& queue, const std::shared_ptr<const Memory>& memory, const HostPatternRef<I, O>& B)
      : words_(static_cast<int64_t>(ColumnSet::word_count(B.cols))) {
    offsets_ = host_array<int64_t>(memory, B.rows + 1);
    auto* const offsets = offsets_.as<int64_t>();
    const int64_t parts = parts_for_items(queue, B.nnz + B.rows, block_items_worth_a_thread);
    host_parts<Host>(queue, parts, [&](int64_t part) {
      for (int64_t j = B.first_row(parts, part), end = B.first_row(parts, part + 1); j < end; ++j) {
        const int64_t count = blocks_of<columns_of_block>(B, j);
        offsets[j] = 4 * count >= words_ ? words_ : 2 * count;
      }
    });
    counts_to_offsets(offsets, B.rows, offsets, std::max(1, queue.concurrency()));
    bits_ = host_array<uint64_t>(memory, offsets[B.rows]);
    host_parts<Host>(queue, parts, [&](int64_t part) {
      for (int64_t j = B.first_row(parts, part), end = B.first_row(parts, part + 1); j < end; ++j) {
        uint64_t* target = bits_.template as<uint64_t>() + offsets[j];
        if (offsets[j + 1] - offsets[j] == words_) {
          std::fill(target, target + words_, uint64_t{0});
          each_block<columns_of_block>(B, j, [&](int64_t block, int64_t, uint64_t bits) { target[block] |= bits; });
        } else {
          each_block<columns_of_block>(B, j, [&](int64_t block, int64_t, uint64_t bits) {
            *target++ = static_cast<uint64_t>(block);
            *target++ = bits;
          });
        }
      }
    });
  }

  /// The first line of a row, soon to be inserted.
  [[gnu::always_inline]] void prefetch(int64_t j) const {
    __builtin_prefetch(bits_.template as<uint64_t>() + offsets_.as<int64_t>()[j]);
  }

  /// f(block, bits) of row j of B.
  template <class F>
  void each(int64_t j, const F& f) const {
    const int64_t* const offsets = offsets_.as<int64_t>() + j;
    const uint64_t* const at = bits_.template as<uint64_t>() + offsets[0];
    const int64_t words = offsets[1] - offsets[0];
    if (words == words_) {
      for (int64_t block = 0; block < words; ++block)
        if (at[block] != 0) f(block, at[block]);
    } else {
      for (int64_t word = 0; word < words; word += 2) f(static_cast<int64_t>(at[word]), at[word + 1]);
    }
  }

  /// The columns of row j of B, into a set that expects so many visits.
  template <ColumnSet::Visits visits>
  void insert(int64_t j, ColumnSet& columns) const {
    const int64_t* const offsets = offsets_.as<int64_t>() + j;
    const uint64_t* at = bits_.template as<uint64_t>() + offsets[0];
    const uint64_t* const end = bits_.template as<uint64_t>() + offsets[1];
    if (visits == ColumnSet::Visits::words && end - at == words_) return columns.unite(at);
    for (; at < end; at += 2) columns.insert_word<visits>(static_cast<size_t>(at[0]), at[1]);
  }

 private:
  int64_t words_;          // of a bitmap of all columns
  Buffer offsets_, bits_;  // of each row: a bitmap, or (block, bits) pairs, fewer words
};

}  // namespace kkc::spgemm
