// Rows that are like no other and whose products registers can sort (spgemm_gpu_sorted_kernels.hpp): which they are,
// and the kernels by the number of products. Knows no element type.
#pragma once

#include <bit>

#include "spgemm_gpu_gathered_rows.hpp"
#include "spgemm_gpu_listed_rows.hpp"
#include "spgemm_gpu_ordered_rows.hpp"
#include "spgemm_gpu_sorted_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

template <class Left, class I>
class SortedRows {
 public:
  /// Products of rows.
  static constexpr BinLimits limits{{16, 32, 64, 128, 256, 512, 1024, 0x7fffffff}, survey_bins};

  SortedRows(Queue& queue, const Problem<Left, I>& problem, int64_t products)
      : queue_(queue), p_(problem), products_(products) {}

  /// Of what is known before rows are looked at by their products.
  bool candidate(int64_t room) const {
    return names_short_rows(p_, products_) && static_cast<int64_t>(2 * sizeof(uint16_t)) * products_ <= room;
  }
  bool takes(int32_t most_products) const { return most_products <= most_ordered_products; }

  /// `bins` of `list` by their products.
  void count(const Buffer& begins, const Buffer& list, Bins bins, const Buffer& counts) {
    // Few rows are better sorted with the next longer ones than while the device idles.
    for (size_t b = 0; b + 1 < bins.size(); ++b)
      if (bins[b + 1].count > 0 && bins[b].count < 16 * static_cast<int64_t>(queue_.concurrency()))
        bins[b + 1] = {bins[b].first, bins[b].count + bins[b + 1].count}, bins[b].count = 0;
    words_ = p_.template array<uint16_t>(products_);
    firsts_ = p_.template array<uint32_t>(firsts_size(products_, p_.rows));
    columns_ = p_.template array<I>(products_);
    sorted_ = {begins.as<int64_t>(), words_.template as<uint16_t>(), firsts_.template as<uint32_t>(),
               columns_.template as<I>(), bits_of(p_.longest_b)};
    const auto sort = [&]<int lanes, int per_lane>(int b) {
      const Bin bin = bins[static_cast<size_t>(b)];
      const int32_t* const rows = list.data() != nullptr ? list.as<int32_t>() + bin.first : nullptr;
      constexpr unsigned capacity = lanes * per_lane;
      if (std::bit_width(static_cast<uint64_t>(p_.cols)) + std::bit_width(capacity - 1) <= 32)
        launch<uint32_t, lanes, per_lane>(rows, bin.count, counts);
      else
        launch<uint64_t, lanes, per_lane>(rows, bin.count, counts);
    };
    sort.template operator()<32, 64>(7);
    sort.template operator()<32, 32>(6);
    sort.template operator()<32, 16>(5);
    sort.template operator()<32, 8>(4);
    sort.template operator()<16, 8>(3);
    sort.template operator()<8, 8>(2);
    sort.template operator()<8, 4>(1);
    sort.template operator()<4, 4>(0);
  }

  /// Once C's arrays are there: the columns, and what OrderedRows reads.
  void place(const Offsets& offsets, I* columns, Buffer begins, Found& found) {
    found.ends = p_.template array<uint16_t>(found.output.nnz);
    found.place_bits = sorted_.place_bits;
    found.longest_a = static_cast<int32_t>(p_.longest_a);
    auto* const ends = found.ends.template as<uint16_t>();
    with_lanes([&]<int lanes>() {
      launch_over(queue_, p_.rows * lanes, PlaceSorted<I, lanes>{p_.rows, sorted_, offsets, columns, ends});
    });
    found.slots = std::move(words_);
    found.begins = std::move(begins);
  }

  /// Whether lists of all products have so much room and are worth it: where A names each row of B about once, or where
  /// a thread an entry of C is faster than lanes of a row. `most_of_entry`: products.
  bool lists(int64_t room, const OutputPattern& C, int32_t longest, int64_t most_of_entry) const {
    return std::is_same_v<Left, PlainLeft<I>> && p_.A.list == nullptr && most_of_entry <= most_gathered_in_order &&
           (names_rows_once(p_, products_) || lists_are_faster(C, products_, longest)) &&
           room_for_lists(p_, products_, C.nnz, room);
  }
  /// place() for these.
  Gathered place_lists(const Offsets& offsets, I* columns, int64_t entries, int64_t most_of_entry) {
    Gathered found;
    if constexpr (std::is_same_v<Left, PlainLeft<I>>) {
      const EntryLists lists = make_lists(p_, products_, entries, found);
      with_lanes([&]<int lanes>() {
        const ListSorted<Left, I, lanes> f{p_.A,    p_.B.B,  p_.rows, sorted_,
                                           offsets, columns, lists,   static_cast<int32_t>(p_.longest_a)};
        launch_blocks(queue_, (p_.rows + f.rows_of_block - 1) / f.rows_of_block, f, f.shared_bytes());
      });
      if (names_rows_once(p_, products_))
        find_tiles(queue_, p_, products_, found, nullptr);
      else
        find_long_sums(queue_, p_, products_, most_of_entry, found);
    }
    return found;
  }

 private:
  /// f<lanes of a row>()
  template <class F>
  void with_lanes(const F& f) const {
    // A block's shared memory may hold what its rows name.
    if (p_.longest_a <= most_ordered_entries / 2 && products_ <= most_mean_of_four * p_.rows)
      f.template operator()<4>();
    else if (products_ <= most_mean_of_eight * p_.rows)
      f.template operator()<8>();
    else
      f.template operator()<32>();
  }
  template <class Key, int lanes, int per_lane>
  void launch(const int32_t* list, int64_t count, const Buffer& counts) {
    auto* const sizes = counts.as<int32_t>();
    if constexpr (lanes < 32) {
      launch_over(queue_, count * lanes,
                  SortShortRows<Left, I, Key, lanes, per_lane>{p_.A, p_.B.B, list, count, sorted_, sizes});
    } else {
      using F = SortRows<Left, I, Key, per_lane>;
      launch_blocks(queue_, (count + F::warps - 1) / F::warps, F{p_.A, p_.B.B, list, count, sorted_, sizes},
                    F::shared_bytes);
    }
  }

  static constexpr int64_t most_mean_of_four = 12, most_mean_of_eight = 64;  // products of a row

  Queue& queue_;
  const Problem<Left, I>& p_;
  int64_t products_;
  Buffer words_, firsts_, columns_;
  SortedProducts<I> sorted_{};
};

}  // namespace kkc::spgemm::gpu_parts
