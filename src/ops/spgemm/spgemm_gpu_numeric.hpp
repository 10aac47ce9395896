// The numeric phase on GPUs: which kernel takes which rows.
#pragma once

#include "spgemm_gpu_gathered_tiles_kernels.hpp"
#include "spgemm_gpu_inode_numeric.hpp"
#include "spgemm_gpu_numeric_kernels.hpp"
#include "spgemm_gpu_ordered_kernels.hpp"
#include "spgemm_gpu_piece_numeric.hpp"
#include "spgemm_gpu_register_kernels.hpp"
#include "spgemm_gpu_symbolic.hpp"

namespace kkc::spgemm::gpu_parts {

/// Left: a LeftValues.
template <class Left, class T, class I>
class Numeric {
  static constexpr int64_t few_thread_rows = int64_t{1} << 18;  // which small blocks spread better
  // For rows of B where products have slots: with more the last of them idle, with fewer rows are walked longer.
  static constexpr int few_lanes = 3;

 public:
  Numeric(Queue& queue, Found found, int64_t nnz_a) : found_(std::move(found)), room_(shared_room(queue)) {
    mean_ = lanes_log2_for(found_.products, nnz_a, 3);
    threads_at_once_ = int64_t{2048} * queue.concurrency();
    each_kernel({}, {}, {},
                [&]<class F>(const F&, int64_t, int, size_t shared_bytes) { gpu::prepare<F>(queue, shared_bytes); });
  }

  void run(Queue& queue, const Left& A, const RightValues<T, I>& B, Values<T> C) const {
    C.offsets = {found_.output.offsets->data(), offset_size(found_.output.pair) == 8, 0};
    each_kernel(A, B, C, [&]<class F>(const F& f, int64_t blocks, int threads, size_t shared_bytes) {
      gpu::launch(queue, gpu::blocks_for(blocks, 1), static_cast<unsigned>(threads), shared_bytes, f);
    });
  }

  const Found& found() const { return found_; }
  size_t plan_bytes() const {
    return found_.slots.bytes() + found_.begins.bytes() + found_.number_of.bytes() + found_.places.bytes() +
           found_.list.bytes() + found_.hashed.list.bytes() + found_.ranked.list.bytes() + found_.slotted.bytes() +
           found_.gathered.bytes() + found_.tiles.bytes() + found_.ends.bytes() + found_.end_begins.bytes();
  }

 private:
  /// go(kernel, blocks, threads, shared_bytes), long rows first.
  template <class Go>
  void each_kernel(const Left& A, const RightValues<T, I>& B, const Values<T>& C, const Go& go) const {
    if (found_.output.nnz == 0) return;
    if (found_.tiles.there()) return tiles(A, B, C, go);
    const Gathered& g = found_.gathered;
    if (g.entries > 0) {
      gathered(A, B, C, go);
      return all_rows(A, B, C, go);
    }
    if (g.crowded_count == 0) return all_rows(A, B, C, go);
    const auto results = g.results.template as<T>();
    const CrowdedEntries<I> crowded{g.crowded.template as<int32_t>(), g.columns.template as<I>(),
                                    g.places.template as<int64_t>()};
    using Find = FindCrowded<Left, T, I>;
    go(Find{A, B, C, crowded, found_.distinct, results}, g.crowded_count, Find::threads, size_t{0});
    all_rows(A, B, C, go);
    using Store = StoreCrowded<T>;
    go(Store{crowded.places, results, g.crowded_count, C.data}, (g.crowded_count + Store::threads - 1) / Store::threads,
       Store::threads, size_t{0});
  }

  /// All rows, by tiles of i-nodes.
  template <class Go>
  void tiles(const Left& A, const RightValues<T, I>& B, const Values<T>& C, const Go& go) const {
    const Tiles& t = found_.tiles;
    TileLists<I> lists{t.firsts.template as<int32_t>(),
                       t.begins.template as<int64_t>(),
                       t.entries.template as<ReducedEntry>(),
                       t.columns.template as<I>(),
                       {},
                       nullptr,
                       {}};
    if (found_.slots.data() != nullptr)
      lists.slots = slot_lists();
    else
      lists.pieces = found_.slotted.view(0);
    if (t.count <= few_tiles && found_.list.data() != nullptr) {
      using F = FewTiles<Left, T, I>;
      lists.list = found_.list.template as<int32_t>();
      return go(F{A, B, C, lists, t.runs}, t.count, F::threads, F::shared_bytes(t.runs));
    }
    for (const TileRun& run : t.runs) {
      if (found_.list.data() != nullptr) lists.list = found_.list.template as<int32_t>() + run.first;
      if (found_.slots.data() == nullptr) lists.pieces = found_.slotted.view(run.first);
      const auto by = [&]<int rows, int warps>() {
        using F = TilePieces<Left, T, I, rows, warps>;
        if (run.count > 0) go(F{A, B, C, lists, run.capacity}, run.count, F::threads, F::shared_bytes(run.capacity));
      };
      const auto of = [&]<int rows>() {
        if (run.count <= few_tiles)
          by.template operator()<rows, 4>();
        else
          by.template operator()<rows, 1>();
      };
      switch (run.rows) {
        case 1: of.template operator()<1>(); break;
        case 2: of.template operator()<2>(); break;
        case 3: of.template operator()<3>(); break;
        default: of.template operator()<4>(); break;
      }
    }
  }

  SlotLists slot_lists() const {
    return {found_.slots.as<uint16_t>(), found_.begins.as<int64_t>(), found_.number_of.as<uint16_t>()};
  }

  /// Rows of classes that keep slots.
  template <class Go>
  void classes(const Left& A, const RightValues<T, I>& B, const Values<T>& C, const I* columns, const Go& go) const {
    const SlotLists lists = slot_lists();
    const bool beside_long = found_.thread_bin > 0;
    if ((found_.longest <= thread_rows_longest && mean_ <= 4) || beside_long) {
      for (int b = survey_bins - 1; beside_long && b > found_.thread_bin; --b)
        subgroups<true>(A, B, C, lists, columns, rows_of(b), count_of(b),
                        std::min(found_.longest, class_limits.upper[b]), go);
      using F = ThreadRows<Left, T, I>;
      const int32_t longest = beside_long ? class_limits.upper[found_.thread_bin] : found_.longest;
      const auto bytes = [&](int block) { return F::shared_bytes(block, longest); };
      const int block = block_of(found_.output.rows < few_thread_rows ? 32 : F::threads, bytes);
      go(F{A, B, C, lists, found_.output.rows, longest}, (found_.output.rows + block - 1) / block, block, bytes(block));
    } else if (found_.places.data() != nullptr) {
      switch (place_words(found_.longest)) {
        case 1: return registers<1>(A, B, C, go);
        case 2: return registers<2>(A, B, C, go);
        default: return registers<3>(A, B, C, go);
      }
    } else {
      subgroups<true>(A, B, C, lists, columns, nullptr, found_.output.rows, found_.longest, go);
    }
  }

  /// Rows of bins up to `last` that keep slots of their own.
  template <class Go>
  void slotted(const Left& A, const RightValues<T, I>& B, const Values<T>& C, const I* columns, int last,
               const Go& go) const {
    for (int b = last; b > 0; --b) {
      const int32_t longest = std::min(found_.longest, numeric_limits.upper[b]);
      if (mean_ == 5 && found_.distinct)
        whole_rows(A, B, C, slot_lists(), rows_of(b), count_of(b), longest, go);
      else
        subgroups<true>(A, B, C, slot_lists(), columns, rows_of(b), count_of(b), longest, go, nullptr, few_lanes);
    }
  }

  /// But for those that are gathered.
  template <class Go>
  void all_rows(const Left& A, const RightValues<T, I>& B, const Values<T>& C, const Go& go) const {
    const I* const columns = found_.output.indices->template as<I>();
    if (found_.ordered()) return ordered(A, B, C, go);
    const bool keeps_slots = found_.slots.data() != nullptr;
    if (keeps_slots && found_.classes > 0) return classes(A, B, C, columns, go);
    if (keeps_slots && !found_.partial) return slotted(A, B, C, columns, survey_bins - 1, go);
    if (const SlottedLists& lists = found_.slotted; found_.keeps_piece_slots()) {
      using F = SlottedPieces<Left, T, I, PieceLists>;
      go(F{A, B, C, lists.view(0), lists.capacity}, lists.pieces.count, F::threads, F::shared_bytes(lists.capacity));
    }
    if (found_.ranked.count > 0) {
      using F = RankedPieces<Left, T, I>;
      constexpr int warps = F::threads / 32;
      go(F{A, B, C, columns, found_.ranked.list.template as<Piece>(), found_.ranked.count, found_.distinct},
         (found_.ranked.count + warps - 1) / warps, F::threads, F::shared_bytes);
    }
    subgroups<false>(A, B, C, {}, columns, nullptr, found_.hashed.count, 2 * hashed_capacity, go,
                     found_.hashed.list.template as<Piece>());
    if (found_.partial) return slotted(A, B, C, columns, hashed_bin - 1, go);
    static constexpr int32_t places[] = {0, 64, 256, 512, 1024, 2048};
    for (int b = found_.keeps_piece_slots() ? ranked_bin - found_.cut_bins : hashed_bin - 1; b > 0; --b)
      subgroups<false>(A, B, C, {}, columns, rows_of(b), count_of(b), places[b], go);
  }

  template <class Go>
  void gathered(const Left& A, const RightValues<T, I>& B, const Values<T>& C, const Go& go) const {
    using F = GatherRows<Left, T, I>;
    const Gathered& g = found_.gathered;
    const F each{A,
                 B,
                 C,
                 {g.of_a.template as<uint32_t>(), g.of_b.template as<uint32_t>(), g.starts.template as<int32_t>(),
                  g.row_of.template as<int32_t>(), g.places.template as<int64_t>()},
                 g.entries};
    using Entries = GatherEntries<Left, T, I>;
    const CrowdedParts<T> crowded{g.crowded.template as<CrowdedPart>(), g.crowded_count, g.results.template as<T>(),
                                  g.tickets.template as<unsigned>()};
    const ListedSums sums{long_sums(g), g.many_count, g.several_count};
    const Entries entries{each, crowded, sums};
    if (g.tiles > 0)
      go(GatherTiles<Left, T, I>{entries, g.first_of_tile.template as<int32_t>(),
                                 g.places_in_tiles.template as<uint16_t>()},
         g.crowded_count + g.tiles, Entries::threads, size_t{0});
    else
      go(entries,
         g.crowded_count + sums.of_blocks + sums.blocks_of_warps() +
             (g.entries + Entries::threads - 1) / Entries::threads,
         Entries::threads, size_t{0});
  }

  /// All rows at once, unless some are far longer than most.
  template <class Go>
  void ordered(const Left& A, const RightValues<T, I>& B, const Values<T>& C, const Go& go) const {
    const OrderedLists lists{found_.slots.as<uint16_t>(),     found_.begins.as<int64_t>(),
                             found_.ends.as<uint16_t>(),      found_.end_begins.as<int64_t>(),
                             found_.number_of.as<uint16_t>(), found_.place_bits};
    const int64_t rows = found_.output.rows, mean = found_.output.nnz / rows;
    const bool summed = found_.products >= least_summed * found_.output.nnz;
    const auto lanes_of = [&](int64_t count, int64_t entries) {
      // Few rows leave lanes free, and those of one row then wait less for each other.
      const bool free = count << 5 <= threads_at_once_ && (!summed || mean <= 32 || count << 6 <= threads_at_once_);
      return free ? 5 : ordered_lanes(entries, summed ? 4 : 5);
    };
    const bool few_empty = 2 * count_of(0) <= rows;
    const bool at_once = found_.classes > 0 ||
                         (few_empty && found_.longest <= 16 << std::max(lanes_of(rows, mean), ordered_lanes(mean, 5)));
    OrderedRanges ranges{};
    int64_t most_rows = 0;
    int lanes_of_most = 0;
    const auto add = [&](int64_t first, int64_t count, int64_t entries, int32_t longest_a) {
      if (count == 0) return;
      const int lanes = lanes_of(count, entries);
      ranges.each[ranges.count++] = {first, count, 0, lanes, longest_a};
      if (count > most_rows) most_rows = count, lanes_of_most = lanes;
    };
    if (at_once) add(0, rows, mean, found_.longest_a);
    // Long rows first: they take longest.
    for (size_t b = at_once ? 0 : survey_bins - 1; b > 0; --b)
      add(found_.bins[b].first, found_.bins[b].count, std::min(found_.longest, numeric_limits.upper[b]) / 2,
          found_.longest_a_of[b]);
    const int32_t* const list = at_once ? nullptr : found_.list.template as<int32_t>();
    if (!summed) return ordered<2, 1>(A, B, C, lists, list, ranges, go);
    if (found_.longest_a < 3 << lanes_of_most) return ordered<3, 1>(A, B, C, lists, list, ranges, go);
    ordered<4, 4>(A, B, C, lists, list, ranges, go);
  }
  /// log2; four entries of C a lane, or more, but a lane for each of very few.
  int ordered_lanes(int64_t entries, int most_log2) const {
    int log2 = found_.longest_a > few_of_lane || entries > 2 ? 2 : entries > 1 ? 1 : 0;
    while (log2 < most_log2 && int64_t{4} << log2 <= entries) ++log2;
    return log2;
  }
  static constexpr int32_t few_of_lane = 16;  // entries of A, of which shared memory holds those of a block's rows
  template <int ahead, int staged, class Go>
  void ordered(const Left& A, const RightValues<T, I>& B, const Values<T>& C, const OrderedLists& lists,
               const int32_t* list, OrderedRanges ranges, const Go& go) const {
    using F = OrderedRows<Left, T, I, ahead, staged>;
    int block = F::threads;
    for (int r = 0; r < ranges.count; ++r)
      block = block_of(block, [&, range = ranges.each[r]](int threads) {
        return F::shared_bytes(threads, range.lanes_log2, range.longest_a);
      });
    int64_t blocks = 0;
    size_t bytes = 0;
    for (int r = 0; r < ranges.count; ++r) {
      OrderedRange& range = ranges.each[r];
      range.blocks = blocks += ((range.count << range.lanes_log2) + block - 1) / block;
      bytes = std::max(bytes, F::shared_bytes(block, range.lanes_log2, range.longest_a));
    }
    if (blocks > 0) go(F{A, B, C, lists, list, ranges}, blocks, block, bytes);
  }

  template <int Words, class Go>
  void registers(const Left& A, const RightValues<T, I>& B, const Values<T>& C, const Go& go) const {
    using F = RegisterRows<Left, T, I, Words>;
    constexpr int warps = F::threads / 32;
    const PlaceTable table{found_.places.template as<uint32_t>(), found_.number_of.template as<uint16_t>(),
                           found_.longest_a};
    go(F{A, B, C, table, found_.output.rows}, (found_.output.rows + warps - 1) / warps, F::threads, size_t{0});
  }

  template <class Go>
  void whole_rows(const Left& A, const RightValues<T, I>& B, const Values<T>& C, const SlotLists& lists,
                  const int32_t* list, int64_t count, int32_t longest, const Go& go) const {
    using F = SlottedPieces<Left, T, I, RowPieces<I>>;
    if (count > 0) go(F{A, B, C, {lists, list}, longest}, count, F::threads, F::shared_bytes(longest));
  }

  template <bool Slots, class Go>
  void subgroups(const Left& A, const RightValues<T, I>& B, const Values<T>& C, const SlotLists& lists,
                 const I* columns, const int32_t* list, int64_t count, int32_t places, const Go& go,
                 const Piece* pieces = nullptr, int most_lanes_log2 = 5) const {
    using F = SubgroupRows<Left, T, I, Slots>;
    if (count == 0) return;
    int lanes = std::min(mean_, most_lanes_log2);
    while (lanes < 5 && F::shared_bytes(F::threads, lanes, places) > 48 * 1024) ++lanes;
    const auto bytes = [&](int block) { return F::shared_bytes(block, lanes, places); };
    const int block = block_of(F::threads, bytes);
    go(F{A, B, C, lists, columns, list, pieces, count, lanes, places, found_.distinct},
       ((count << lanes) + block - 1) / block, block, bytes(block));
  }

  /// Threads of a block whose shared memory the device has.
  template <class Bytes>
  int block_of(int threads, const Bytes& bytes) const {
    while (threads > 32 && bytes(threads) > room_) threads /= 2;
    return threads;
  }

  const int32_t* rows_of(int bin) const {
    return found_.list.data() != nullptr ? found_.list.as<int32_t>() + found_.bins[static_cast<size_t>(bin)].first
                                         : nullptr;
  }
  int64_t count_of(int bin) const { return found_.bins[static_cast<size_t>(bin)].count; }

  Found found_;
  size_t room_;              // of shared memory
  int mean_;                 // log2 of lanes for B's rows
  int64_t threads_at_once_;  // on the device, about
};

}  // namespace kkc::spgemm::gpu_parts
