// The plan of rows whose entries of C gather their products (spgemm_gpu_gathered_kernels.hpp). Knows no element type.
#pragma once

#include "device/gpu_sort.hpp"
#include "spgemm_gpu_crowded_kernels.hpp"
#include "spgemm_gpu_found.hpp"
#include "spgemm_gpu_gathered_tiles_kernels.hpp"

namespace kkc::spgemm::gpu_parts {

/// Where entries that are not a thread's are listed.
inline LongSums long_sums(const Gathered& found) {
  return {found.many.as<int32_t>(), static_cast<int64_t>(found.many.bytes() / sizeof(int32_t))};
}

/// Lists those of all entries, of so many products; `crowded` may be null where none has as many. What comes of it is
/// in `state` (GatherState), zero at first, for take_long_sums().
template <class Problem>
void find_long_sums(Queue& queue, const Problem& problem, int64_t products, CrowdedPart* crowded, const Buffer& state,
                    Gathered& found) {
  found.many = problem.template array<int32_t>(products / most_gathered_of_thread + 2);
  launch_over(queue, (found.entries + ListLongSums::items - 1) / ListLongSums::items,
              ListLongSums{found.starts.template as<int32_t>(), found.entries, long_sums(found), crowded,
                           state.as<GatherState>()});
}
inline void take_long_sums(const GatherState& state, Gathered& found) {
  found.many_count = state.many;
  found.several_count = state.several;
}

/// What the parts of crowded entries need, once they are counted.
template <class Problem>
void make_room_for_parts(Queue& queue, const Problem& problem, Gathered& found) {
  if (found.crowded_count == 0) return;
  found.results = problem.template array<char>(found.crowded_count * static_cast<int64_t>(problem.element));
  found.tickets = problem.template array<unsigned>(found.crowded_count);
  clear(queue, found.tickets);
}

/// Whether A names rows of B about once each and several in a row (the second half of a Galerkin product), as is known
/// before products are looked at.
template <class Problem>
bool names_rows_once(const Problem& p, int64_t products) {
  return p.nnz_a <= p.B.B.rows && p.nnz_a >= 2 * p.rows && products <= 2 * p.nnz_b;
}

/// Bytes of these lists and tiles; starts apart.
inline int64_t list_bytes(int64_t products) {
  constexpr auto word = static_cast<int64_t>(sizeof(uint32_t));
  return products * (2 * word + static_cast<int64_t>(sizeof(uint16_t))) +
         word * (products / least_products_of_tile + 3);
}

/// Whether lists and tiles of so many products may take `room` bytes, and their numbers are not too large.
template <class Problem>
bool room_for_lists(const Problem& p, int64_t products, int64_t entries, int64_t room) {
  return std::max(products, p.nnz_a) < INT32_MAX && p.nnz_b < UINT32_MAX &&
         list_bytes(products) + (entries + 1) * static_cast<int64_t>(sizeof(int32_t)) <= room;
}

/// Tiles of all entries of C, for so many products; `state` counts the parts of crowded entries, null if there are
/// none.
template <class Problem>
void find_tiles(Queue& queue, const Problem& problem, int64_t products, Gathered& found, GatherState* state) {
  // As many as keep all multiprocessors busy.
  const bool few = products < int64_t{4} * products_of_tile * queue.concurrency();
  const int32_t tile = few ? least_products_of_tile : products_of_tile;
  found.tiles = (products - 1) / tile + 1;
  found.first_of_tile = problem.template array<int32_t>(found.tiles + 1);
  found.places_in_tiles = problem.template array<uint16_t>(products);
  const auto* const starts = found.starts.template as<int32_t>();
  auto* const first_entry = found.first_of_tile.template as<int32_t>();
  launch_over(queue, found.entries,
              FindEntryTiles{starts, static_cast<int32_t>(found.entries), tile, found.tiles, first_entry,
                             found.crowded.template as<CrowdedPart>(), state});
  const auto order = [&]<int per_lane>() {
    launch_blocks(
        queue, found.tiles,
        OrderTiles<per_lane>{starts, first_entry, found.of_a.template as<uint32_t>(),
                             found.of_b.template as<uint32_t>(), found.places_in_tiles.template as<uint16_t>()},
        0);
  };
  if (few)
    order.template operator()<(least_products_of_tile + most_staged_of_entry) / 32>();
  else
    order.template operator()<(products_of_tile + most_staged_of_entry) / 32>();
}

template <class Left, class I>
class GatheredRows {
 public:
  GatheredRows(Queue& queue, const Problem<Left, I>& problem) : queue_(queue), p_(problem) {}

  /// Whether there are such rows that may be listed; bounds: the products of each row.
  bool find(const Buffer& bounds) {
    if (p_.longest_a < least_gathered || p_.nnz_b > UINT32_MAX) return false;
    state_ = p_.template array<GatherState>(1);
    clear(queue_, state_);
    list_ = p_.template array<int32_t>(most_gathered_rows);
    lengths_ = p_.template array<int32_t>(most_gathered_rows);
    launch_over(queue_, p_.rows,
                FindGathered<Left>{p_.A, p_.rows, bounds.as<int32_t>(), list_.template as<int32_t>(),
                                   lengths_.template as<int32_t>(), state()});
    const auto s = read_back<GatherState>(queue_, state());
    rows_ = s.rows;
    products_ = static_cast<int64_t>(s.products);
    return rows_ > 0 && rows_ <= most_gathered_rows && products_ <= most_gathered;
  }
  bool are_most_of(int64_t products) const { return 3 * products_ >= 2 * products; }

  /// Sorts their products, and takes the rows out of `bounds` if there is room for the lists.
  bool expand(const Buffer& bounds) {
    expand();
    const int64_t bytes = products_ * 28;  // at most: with as many entries of C
    if (p_.most_slot_bytes >= 0 && bytes > p_.most_slot_bytes) {
      forget_lists();
      return false;
    }
    launch_over(queue_, rows_, TakeListed{list_.template as<int32_t>(), rows_, bounds.as<int32_t>()});
    return true;
  }

  /// Whether rows that found no room for lists have entries that are added up as if they had.
  bool any_crowded() const { return found_.crowded_count > 0; }
  Gathered place_crowded(const Pattern<I>& C) {
    launch_over(queue_, found_.crowded_count * 32, PlaceCrowded<I>{crowded_entries(), found_.crowded_count, C});
    return std::move(found_);
  }

  /// Writes the rows' sizes in C.
  void size(const Buffer& counts) { size(counts, firsts_.template as<int32_t>()); }
  /// Makes them nothing, for what comes to be done with the other rows.
  void forget(const Buffer& counts) { size(counts, nullptr); }

  /// C's columns, and what the numeric phase reads.
  Gathered place(const Offsets& offsets, I* columns) {
    found_.places = p_.template array<int64_t>(found_.entries);
    found_.many = p_.template array<int32_t>(found_.entries);
    found_.crowded = p_.template array<CrowdedPart>(most_crowded_parts(products_));
    launch_over(
        queue_, found_.entries,
        PlaceGathered<I>{found_.starts.template as<int32_t>(), found_.row_of.template as<int32_t>(),
                         row_in_list_.template as<int32_t>(), firsts_.template as<int32_t>(), columns_.template as<I>(),
                         found_.entries, offsets, columns, found_.places.template as<int64_t>(), long_sums(found_),
                         found_.crowded.template as<CrowdedPart>(), state()});
    const auto s = read_back<GatherState>(queue_, state());
    take_long_sums(s, found_);
    found_.crowded_count = s.crowded;
    found_.longest = s.longest;
    make_room_for_parts(queue_, p_, found_);
    return std::move(found_);
  }

 private:
  GatherState* state() const { return state_.template as<GatherState>(); }

  void size(const Buffer& counts, const int32_t* firsts) {
    launch_over(queue_, rows_,
                SizeGathered{list_.template as<int32_t>(), firsts, rows_, counts.as<int32_t>(), state()});
  }

  int64_t scan(const Buffer& counts, const Buffer& begins, int64_t n) {
    return gpu::exclusive_scan_total(queue_, counts.as<int32_t>(), begins.as<int64_t>(), n);
  }

  int64_t most_crowded() const { return products_ / most_gathered_in_order + 1; }
  CrowdedEntries<I> crowded_entries() const {
    return {found_.crowded.template as<int32_t>(), found_.columns.template as<I>(),
            found_.places.template as<int64_t>()};
  }

  /// Keeps of the lists where entries of very many products are.
  void forget_lists() {
    Gathered kept;
    std::swap(kept, found_);
    found_.crowded = p_.template array<int32_t>(most_crowded());
    found_.columns = p_.template array<I>(most_crowded());
    found_.places = p_.template array<int64_t>(most_crowded());
    launch_over(queue_, kept.entries,
                ListCrowded<I>{kept.starts.template as<int32_t>(), kept.row_of.template as<int32_t>(),
                               columns_.template as<I>(), kept.entries, crowded_entries(), &state()->crowded});
    found_.crowded_count = read_back<GatherState>(queue_, state()).crowded;
    if (found_.crowded_count == 0)
      found_ = {};
    else
      found_.results = p_.template array<char>(found_.crowded_count * static_cast<int64_t>(p_.element));
  }

  void expand() {
    const Buffer begins = p_.template array<int64_t>(rows_ + 1);
    const int64_t entries = scan(lengths_, begins, rows_);
    const ListedRows rows{list_.template as<int32_t>(), begins.as<int64_t>(), rows_};
    const Buffer counts = p_.template array<int32_t>(entries), product_begins = p_.template array<int64_t>(entries + 1);
    launch_over(queue_, entries, CountListed<Left, I>{p_.A, p_.B.B, rows, entries, counts.as<int32_t>()});
    const int64_t products = scan(counts, product_begins, entries);
    const int column_bits = bits_of(p_.cols), bits = column_bits + bits_of(rows_);
    std::array<Buffer, 2> keys{p_.template array<uint64_t>(products), p_.template array<uint64_t>(products)};
    std::array<Buffer, 2> order{p_.template array<uint32_t>(products), p_.template array<uint32_t>(products)};
    const Buffer of_a = p_.template array<uint32_t>(products), of_b = p_.template array<uint32_t>(products);
    launch_over(
        queue_, entries * ExpandListed<Left, I>::lanes,
        ExpandListed<Left, I>{p_.A, p_.B.B, rows, entries, product_begins.as<int64_t>(), column_bits,
                              keys[0].template as<unsigned long long>(), of_a.as<uint32_t>(), of_b.as<uint32_t>()});
    gpu::prepare_sort<uint64_t, uint32_t>(queue_);
    const Buffer scratch =
        p_.template array<char>(static_cast<int64_t>(gpu::sort_scratch_bytes<uint64_t, uint32_t>(products)));
    const auto which = static_cast<size_t>(
        gpu::sort_pairs<uint64_t, uint32_t>(queue_, {keys[0].template as<uint64_t>(), keys[1].template as<uint64_t>()},
                                            {order[0].template as<uint32_t>(), order[1].template as<uint32_t>()},
                                            products, 0, bits, scratch.data(), gpu::PayloadIs::places));
    list(keys[which], keys[1 - which], order[which], of_a, of_b, products, column_bits);
  }

  void list(const Buffer& keys, const Buffer& counted, const Buffer& order, const Buffer& from_a, const Buffer& from_b,
            int64_t products, int column_bits) {
    const auto* const sorted = keys.as<unsigned long long>();
    gpu::ScanTiles<int32_t, FirstOfKeys, gpu::RunTarget<int32_t>, 4> count{};
    count.source = {sorted};
    count.target = {counted.as<int32_t>(), 0};
    count.inclusive = true;
    count.carry = &state()->entries;
    found_.entries = gpu::launch_scan_and_read<GatherState>(queue_, count, products, state()).entries;
    found_.of_a = p_.template array<uint32_t>(products);
    found_.of_b = p_.template array<uint32_t>(products);
    found_.starts = p_.template array<int32_t>(found_.entries + 1);
    found_.row_of = p_.template array<int32_t>(found_.entries);
    firsts_ = p_.template array<int32_t>(rows_);
    columns_ = p_.template array<I>(found_.entries);
    row_in_list_ = p_.template array<int32_t>(found_.entries);
    launch_over(queue_, products,
                ListGathered<I>{sorted, order.as<uint32_t>(), counted.as<int32_t>(), from_a.as<uint32_t>(),
                                from_b.as<uint32_t>(), products, column_bits, list_.template as<int32_t>(),
                                found_.of_a.template as<uint32_t>(), found_.of_b.template as<uint32_t>(),
                                found_.starts.template as<int32_t>(), found_.row_of.template as<int32_t>(),
                                firsts_.template as<int32_t>(), columns_.template as<I>(),
                                row_in_list_.template as<int32_t>()});
  }

  Queue& queue_;
  const Problem<Left, I>& p_;
  int32_t rows_ = 0;
  int64_t products_ = 0;
  Gathered found_;
  Buffer state_, list_, lengths_, firsts_, columns_, row_in_list_;
};

}  // namespace kkc::spgemm::gpu_parts
