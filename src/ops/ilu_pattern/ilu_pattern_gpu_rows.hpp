// Sorted unions of rows on GPUs: the driver. Workspace is a number for each row, tables in shared memory, and for the
// few rows that those do not hold a bit for each column and block.
#pragma once

#include <algorithm>
#include <utility>

#include "core/memory.hpp"
#include "device/gpu_scan.hpp"
#include "ilu_pattern_gpu_rows_kernels.hpp"
#include "ops/entry_map/entry_map.hpp"

namespace kkc::ilu_pattern::gpu_parts {

/// Rows that ascend strictly, each with its diagonal entry.
template <class I>
struct DeviceRows {
  int64_t rows = 0, nnz = 0;
  std::shared_ptr<const Buffer> offsets, diagonal;  // int64_t
  std::shared_ptr<const Buffer> columns, levels;    // I, uint8_t; no levels: all 0

  RowsView<I> view() const {
    return {offsets->template as<int64_t>(), diagonal->template as<int64_t>(), columns->template as<I>(),
            levels ? levels->template as<uint8_t>() : nullptr};
  }
};

template <class I>
class RowUnions {
 public:
  RowUnions(Queue& queue, std::shared_ptr<const Memory> memory, int64_t rows)
      : queue_(queue), memory_(std::move(memory)), rows_(rows) {}

  /// Blocks. `counted(entries)` may refuse them before they are allocated.
  template <class Counted>
  DeviceRows<I> make(const RowUnion<I>& from, bool with_levels, const Counted& counted) const {
    DeviceRows<I> made;
    made.rows = rows_;
    made.offsets = shared<int64_t>(rows_ + 1);
    made.diagonal = shared<int64_t>(rows_);
    const Buffer counts = array<int32_t>(rows_), longer_count = array<unsigned long long>(1);
    Lists lists;
    lists.list[0] = {nullptr, rows_};
    count<0>(from, lists, counts.as<int32_t>(), longer_count.as<unsigned long long>());
    const RowList<I> longest = lists.list[sizes];
    const int64_t words = (rows_ + 63) / 64 * 2;
    const auto blocks = static_cast<unsigned>(std::max<int64_t>(
        1, std::min({most_mark_words / std::max<int64_t>(words, 1), longest.count, most_mark_blocks})));
    const Buffer marks = array<uint32_t>(longest.count > 0 ? words * blocks : 0);
    MarkUnion<I> mark{from, longest, marks.as<uint32_t>(), words, counts.as<int32_t>(), {}};
    if (longest.count > 0) {
      gpu::clear_words(queue_, marks.data(), marks.bytes());
      gpu::launch(queue_, blocks, mark.threads, 0, mark);
    }
    auto* const offsets = made.offsets->template as<int64_t>();
    made.nnz = gpu::exclusive_scan_total(queue_, counts.as<int32_t>(), offsets, rows_);
    counted(made.nnz);
    made.columns = shared<I>(made.nnz);
    if (with_levels) made.levels = shared<uint8_t>(made.nnz);
    const RowsTarget<I> to{offsets, made.diagonal->template as<int64_t>(), made.columns->template as<I>(),
                           with_levels ? made.levels->template as<uint8_t>() : nullptr};
    write<0>(from, lists, to);
    if (longest.count > 0) {
      mark.counts = nullptr;
      mark.to = to;
      gpu::launch(queue_, blocks, mark.threads, 0, mark);
    }
    return made;
  }

 private:
  static constexpr int sizes = 4;  // of tables
  static constexpr int places_log2[sizes] = {6, 8, 10, 12};
  static constexpr int64_t most_mark_words = int64_t{1} << 24;  // of all blocks together, more for one alone
  static constexpr int64_t most_mark_blocks = 256;

  /// The rows of each table size and, last, those for marks. All rows of a list but the next one's fit its table.
  struct Lists {
    RowList<I> list[sizes + 1] = {};
    Buffer rows[sizes + 1];
  };

  template <class T>
  Buffer array(int64_t count) const {
    return Buffer(Memory::in_order(memory_), Space::device, static_cast<size_t>(count) * sizeof(T));
  }
  template <class T>
  std::shared_ptr<const Buffer> shared(int64_t count) const {
    return shared_array<T>(memory_, Space::device, count);
  }
  template <int size>
  void count(const RowUnion<I>& from, Lists& lists, int32_t* counts, unsigned long long* longer_count) const {
    const RowList<I> list = lists.list[size];
    if (list.count == 0) return;
    using Kernel = CountUnion<I, places_log2[size]>;
    const unsigned long long none = 0;
    queue_.copy(longer_count, &none, sizeof none);
    lists.rows[size + 1] = array<I>(list.count);
    I* const longer = lists.rows[size + 1].template as<I>();
    gpu::launch(queue_, gpu::blocks_for(list.count, 1), Kernel::threads, 0,
                Kernel{from, list, counts, longer, longer_count});
    lists.list[size + 1] = {longer, static_cast<int64_t>(gpu::read_back<unsigned long long>(queue_, longer_count))};
    if constexpr (size + 1 < sizes) count<size + 1>(from, lists, counts, longer_count);
  }

  template <int size>
  void write(const RowUnion<I>& from, const Lists& lists, const RowsTarget<I>& to) const {
    const RowList<I> list = lists.list[size];
    using Kernel = WriteUnion<I, places_log2[size]>;
    gpu::launch(queue_, gpu::blocks_for(list.count, 1), Kernel::threads, 0, Kernel{from, list, to});
    if constexpr (size + 1 < sizes) write<size + 1>(from, lists, to);
  }

  Queue& queue_;
  std::shared_ptr<const Memory> memory_;
  int64_t rows_;
};

}  // namespace kkc::ilu_pattern::gpu_parts
