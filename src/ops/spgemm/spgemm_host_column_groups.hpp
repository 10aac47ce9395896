// B's entries in groups of consecutive columns, as many as a vector has lanes, where neighbouring columns fill them:
// the numeric phase then adds a vector of products at once to sums of all columns (compression as in
// spgemm_host_blocks.hpp).
#pragma once

#include <limits>

#include "device/host_parallel.hpp"
#include "ops/spgemm/spgemm_host_blocks.hpp"

namespace kkc::spgemm {

class ColumnGroups {
 public:
  /// Entries of a row of B from its `first` on, whose columns ascend: a bit for each lane that has one. One word, which
  /// takes one load.
  struct Group {
    uint64_t word;

    int64_t number() const { return static_cast<int64_t>(word & 0xffffffffu); }
    int64_t first() const { return static_cast<int64_t>(word >> 32 & 0xffffu); }
    unsigned lanes() const { return static_cast<unsigned>(word >> 48); }
  };

  /// Groups of `width` columns, 8 or 16, where they have enough entries.
  template <class Left, class I, class O>
  void find(Queue& queue, const std::shared_ptr<const Memory>& memory, const Left& left, const HostPatternRef<I, O>& B,
            int width) {
    if (width == 8)
      find<8>(queue, memory, left, B);
    else
      find<16>(queue, memory, left, B);
  }

  bool used() const { return groups_.data() != nullptr; }
  const Group* begin(int64_t j) const { return groups_.as<Group>() + offsets_.as<int64_t>()[j]; }
  const Group* end(int64_t j) const { return begin(j + 1); }
  int64_t count() const { return static_cast<int64_t>(groups_.bytes() / sizeof(Group)); }
  size_t bytes() const { return offsets_.bytes() + groups_.bytes(); }

  /// Sums of all columns, in whole groups.
  static int64_t padded(int64_t cols, int width) { return (cols + width - 1) / width * width; }

 private:
  template <int width, class Left, class I, class O>
  void find(Queue& queue, const std::shared_ptr<const Memory>& memory, const Left& left,
            const HostPatternRef<I, O>& B) {
    if (entries_of_block<width>(queue, left, B) < least_entries) return;
    Buffer offsets = host_array<int64_t>(memory, B.rows + 1);
    auto* const counts = offsets.as<int64_t>();
    std::atomic<bool> too_long{B.cols / width > std::numeric_limits<uint32_t>::max()};
    const int64_t parts = parts_for_items(queue, B.nnz + B.rows, block_items_worth_a_thread);
    const auto each_row = [&](const auto& f) {
      host_parts<Host>(queue, parts, [&](int64_t part) {
        for (int64_t j = B.first_row(parts, part), end = B.first_row(parts, part + 1); j < end; ++j) f(j);
      });
    };
    each_row([&](int64_t j) {
      if (B.end(j) - B.begin(j) > std::numeric_limits<uint16_t>::max()) too_long = true;
      counts[j] = blocks_of<width>(B, j);
    });
    if (too_long) return;
    counts_to_offsets(counts, B.rows, counts, std::max(1, queue.concurrency()));
    groups_ = host_array<Group>(memory, counts[B.rows]);
    each_row([&](int64_t j) {
      Group* to = groups_.as<Group>() + counts[j];
      each_block<width>(B, j, [&](int64_t number, int64_t first, uint64_t lanes) {
        *to++ = {static_cast<uint64_t>(number) | static_cast<uint64_t>(first - B.begin(j)) << 32 | lanes << 48};
      });
    });
    offsets_ = std::move(offsets);
  }

  static constexpr double least_entries = 2;  // of a group

  Buffer offsets_, groups_;  // int64_t for each row of B, Group
};

}  // namespace kkc::spgemm
