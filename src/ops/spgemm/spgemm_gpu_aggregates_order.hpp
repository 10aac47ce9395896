// order_rows of spgemm_gpu_rows_by_column.hpp: which kernel takes which rows, by their lengths.
#pragma once

#include "device/gpu_sort.hpp"
#include "spgemm_gpu_aggregates_long_rows_kernels.hpp"
#include "spgemm_gpu_found.hpp"

namespace kkc::spgemm::gpu_parts {

template <class I>
class RowOrder {
 public:
  RowOrder(Queue& queue, const std::shared_ptr<const Memory>& memory, const RowsToOrder<I>& rows)
      : queue_(queue), memory_(memory), r_(rows) {}

  void run(const RowsByColumn& to) {
    LongerRows longer{};
    const int64_t most = longer.lay_out(r_.entries);
    const Buffer list = array<int32_t>(std::max<int64_t>(1, most));
    longer.list = list.as<int32_t>();
    const int column_bits = bits_of(r_.cols);
    const auto with_key = [&](int bits, const auto& f) {
      if (bits <= 32)
        f.template operator()<uint32_t>();
      else
        f.template operator()<uint64_t>();
    };
    with_key(column_bits + OrderShortRows<I, uint32_t>::place_bits + OrderShortRows<I, uint32_t>::row_bits,
             [&]<class Key>() {
               using F = OrderShortRows<I, Key>;
               int log2 = 5;  // few rows are shared out to more warps
               while (log2 > 2 && r_.A.rows >> log2 < 32 * static_cast<int64_t>(queue_.concurrency())) --log2;
               const int64_t of_block = int64_t{F::warps} << log2;
               launch_blocks(queue_, (r_.A.rows + of_block - 1) / of_block,
                             F{r_.A, r_.B, r_.A.rows, log2, column_bits, to, longer}, 0);
             });
    if (r_.longest <= longest_short_row) return;
    const auto s = read_back<AggregateState>(queue_, to.state);
    const auto take = [&](int bin, int capacity, const auto& f) {
      if (s.longer[bin] > 0)
        with_key(column_bits + bits_of(capacity),
                 [&]<class Key>() { f.template operator()<Key>(longer.list + longer.first[bin], s.longer[bin]); });
    };
    const auto by_warps = [&]<int bin>() {
      constexpr int per_lane = longest_short_row / 32 << (bin + 1);
      take(bin, 32 * per_lane, [&]<class Key>(const int32_t* rows, int32_t count) {
        launch_over(queue_, count * int64_t{32}, OrderLongerRows<I, Key, per_lane>{r_.A, r_.B, rows, count, to});
      });
    };
    const auto by_blocks = [&]<int bin>() {
      constexpr int warps = longest_short_row << (bin + 1) >> 10;
      take(bin, 1024 * warps, [&]<class Key>(const int32_t* rows, int32_t count) {
        using F = OrderRowsInBlocks<I, Key, warps>;
        if (F::shared_bytes + least_free <= shared_room(queue_))
          launch_blocks(queue_, count, F{r_.A, r_.B, rows, to}, F::shared_bytes);
        else
          order_longest(to, rows, count, column_bits);
      });
    };
    // Those that take longest come first; all run beside each other, for the host has waited for what they need.
    by_blocks.template operator()<6>();
    by_blocks.template operator()<5>();
    by_blocks.template operator()<4>();
    by_blocks.template operator()<3>();
    by_warps.template operator()<2>();
    by_warps.template operator()<1>();
    by_warps.template operator()<0>();
    constexpr int last = longer_row_bins - 1;
    if (s.longer[last] > 0) order_longest(to, longer.list + longer.first[last], s.longer[last], column_bits);
  }

 private:
  static constexpr size_t least_free = 1024;  // of shared memory, for what a kernel declares itself

  template <class X>
  Buffer array(int64_t count) const {
    return Buffer(Memory::in_order(memory_), Space::device, (static_cast<size_t>(count) * sizeof(X) + 7) / 8 * 8);
  }

  /// Rows that no block takes.
  void order_longest(const RowsByColumn& to, const int32_t* list, int32_t count, int column_bits) {
    const Buffer lengths = array<int32_t>(count), bounds = array<int32_t>(count + 1);
    launch_over(queue_, count, LengthsOfRows<I>{r_.A, list, count, lengths.as<int32_t>(), to.counts});
    gpu::exclusive_scan(queue_, lengths.as<int32_t>(), bounds.as<int32_t>(), count);
    const auto n = read_back<int32_t>(queue_, bounds.as<int32_t>() + count);
    const LongestRows rows{list, count, bounds.as<int32_t>(), n};
    if (column_bits + bits_of(count) <= 32)
      sort_longest<uint32_t>(to, rows, column_bits);
    else
      sort_longest<uint64_t>(to, rows, column_bits);
  }

  template <class Key>
  void sort_longest(const RowsByColumn& to, const LongestRows& rows, int column_bits) {
    const int64_t n = rows.entries;
    const std::array<Buffer, 2> keys{array<Key>(n), array<Key>(n)};
    const std::array<Buffer, 2> places{array<uint32_t>(n), array<uint32_t>(n)};
    launch_over(queue_, n, KeysOfLongestRows<I, Key>{r_.A, r_.B, rows, column_bits, keys[0].template as<Key>()});
    gpu::prepare_sort<Key, uint32_t>(queue_);
    const Buffer scratch = array<char>(static_cast<int64_t>(gpu::sort_scratch_bytes<Key, uint32_t>(n)));
    const auto which = static_cast<size_t>(
        gpu::sort_pairs<Key, uint32_t>(queue_, {keys[0].template as<Key>(), keys[1].template as<Key>()},
                                       {places[0].template as<uint32_t>(), places[1].template as<uint32_t>()}, n, 0,
                                       column_bits + bits_of(rows.count), scratch.data(), gpu::PayloadIs::places));
    const auto* const sorted = keys[which].template as<Key>();
    const Buffer diagonal_at = array<int32_t>(rows.count);
    clear(queue_, diagonal_at);
    launch_over(queue_, n,
                OrderLongestRows<I, Key>{r_.A, rows, column_bits, sorted, places[which].template as<uint32_t>(), to,
                                         diagonal_at.as<int32_t>()});
    if (to.diagonal != nullptr)
      launch_over(
          queue_, n,
          DiagonalOfLongestRows<Key>{rows, column_bits, sorted, diagonal_at.as<int32_t>(), to.entry_of_diagonal});
  }

  Queue& queue_;
  const std::shared_ptr<const Memory>& memory_;
  const RowsToOrder<I>& r_;
};

}  // namespace kkc::spgemm::gpu_parts
