// Which kernel looks at which rows where rows are treated by size: counting and filling.
#pragma once

#include "spgemm_gpu_found.hpp"
#include "spgemm_gpu_narrow_rows.hpp"
#include "spgemm_gpu_symbolic_kernels.hpp"
#include "spgemm_gpu_warp_rows.hpp"

namespace kkc::spgemm::gpu_parts {

template <class Left, class I>
class SizedRows {
 public:
  SizedRows(Queue& queue, const Problem<Left, I>& problem, const Tables& tables, const Windows& windows)
      : queue_(queue), p_(problem), tables_(tables), windows_(windows) {}

  /// Bins whose rows may have windows.
  static constexpr int first_narrow = 3, last_narrow = 5;

  /// Fill: rows that FillWarpRows takes are in bin 2 at most (BoundFills).
  template <bool Fill>
  void run(const Buffer& list, const Bins& bins, const SymbolicTarget<I>& target) {
    const auto part = [&](int b) {
      return list.data() != nullptr ? list.as<int32_t>() + bins[static_cast<size_t>(b)].first : nullptr;
    };
    const auto count = [&](int b) { return bins[static_cast<size_t>(b)].count; };
    // Long rows first: they take longest.
    for (int b = 6; b >= 3; --b) {
      if (count(b) == 0) continue;
      if (windows_.there() && b >= first_narrow && b <= last_narrow)
        narrow_rows<Fill>(part(b), count(b), target);
      else if (takes_bitmap<Fill>(b, target))
        bitmap_rows<Fill>(part(b), count(b), target);
      else
        hashed_rows<Fill>(b, part(b), count(b), target);
    }
    if constexpr (Fill) {
      using F = FillWarpRows<Left, I>;
      launch_blocks(queue_, (count(2) + F::warps - 1) / F::warps, F{p_.A, p_.B.B, part(2), count(2), target}, 0);
    } else {
      count_warp_rows(2, part(2), count(2), target);
    }
    subgroup_rows<Fill>(part(1), count(1), target);
  }

 private:
  void count_warp_rows(int bin, const int32_t* list, int64_t count, const SymbolicTarget<I>& target) {
    int log2 = 5;
    while (3 << log2 < 4 * tables_.limits.upper[bin]) ++log2;
    const CountWarpRows<Left, I> f{p_.A, p_.B.B, list, count, target.counts, log2};
    constexpr int warps = CountWarpRows<Left, I>::threads / 32;
    launch_blocks(queue_, (count + warps - 1) / warps, f, f.shared_bytes());
  }
  int64_t bitmap_words() const { return (p_.cols + 31) / 32; }
  /// Rows of very many products, and of many where the bitmap is as small as the table; bitmaps know no slots.
  template <bool Fill>
  bool takes_bitmap(int bin, const SymbolicTarget<I>& target) const {
    return bin == 6 ||
           (bin >= (Fill ? 4 : 5) && target.slots == nullptr && bitmap_words() <= int64_t{4} << tables_.log2[bin]);
  }

  template <bool Fill>
  void subgroup_rows(const int32_t* list, int64_t count, const SymbolicTarget<I>& target) {
    using F = HashRowsSubgroup<Left, I, Fill>;
    constexpr int lanes_log2 = 3;
    const int table_log2 = tables_.log2[1];
    launch_blocks(queue_, ((count << lanes_log2) + F::threads - 1) / F::threads,
                  F{p_.A, p_.B, list, count, target, lanes_log2, table_log2}, F::shared_bytes(lanes_log2, table_log2));
  }
  template <bool Fill>
  void hashed_rows(int bin, const int32_t* list, int64_t count, const SymbolicTarget<I>& target) {
    if (bin >= 5) return block_rows<Fill, 1024>(bin, list, count, target);
    if constexpr (!Fill)
      count_warp_rows(bin, list, count, target);
    else if (bin == 4)
      block_rows<Fill, 256>(bin, list, count, target);
    else
      block_rows<Fill, 64>(bin, list, count, target);
  }
  template <bool Fill, int Threads>
  void block_rows(int bin, const int32_t* list, int64_t count, const SymbolicTarget<I>& target) {
    using F = HashRowsBlock<Left, I, Fill ? Phase::fill : Phase::count, Threads>;
    F f{};
    f.A = p_.A;
    f.B = p_.B;
    f.list = list;
    f.target = target;
    f.table_log2 = tables_.log2[bin];
    f.order_words = static_cast<int32_t>((std::min<int64_t>(tables_.order_words[bin], p_.cols / 1024 + 2) + 1) / 2 * 2);
    f.most_products = target.slots != nullptr ? tables_.limits.upper[bin] : 0;
    launch_blocks(queue_, count, f, f.shared_bytes());
  }
  template <bool Fill>
  void narrow_rows(const int32_t* list, int64_t count, const SymbolicTarget<I>& target) {
    using F = NarrowRows<Left, I, Fill>;
    const F f{p_.A, p_.B.B, list, count, windows_.data(), target, windows_.words};
    launch_blocks(queue_, (count + F::warps - 1) / F::warps, f, f.shared_bytes());
  }
  template <bool Fill>
  void bitmap_rows(const int32_t* list, int64_t count, const SymbolicTarget<I>& target) {
    const int64_t words = bitmap_words();
    using F = BitmapRows<Left, I, Fill>;
    const int64_t most = tables_.bitmap_words;
    const int64_t slices = (words + most - 1) / most;
    const int64_t slice = ((words + slices - 1) / slices + F::threads - 1) / F::threads * F::threads;
    launch_blocks(queue_, count, F{p_.A, p_.B, list, target, words, static_cast<int32_t>(slice)},
                  static_cast<size_t>(slice) * 4);
  }

  Queue& queue_;
  const Problem<Left, I>& p_;
  const Tables& tables_;
  const Windows& windows_;
};

}  // namespace kkc::spgemm::gpu_parts
