// The symbolic phase on GPUs: which columns each row of C has, and what the numeric phase wants to know about rows.
// Knows no element type. Classes of rows are tried first; else rows go to hash tables and bitmaps by size.
#pragma once

#include "spgemm_gpu_bucket_rows.hpp"
#include "spgemm_gpu_expanded_rows.hpp"
#include "spgemm_gpu_gathered_rows.hpp"
#include "spgemm_gpu_inodes.hpp"
#include "spgemm_gpu_mask_kernels.hpp"
#include "spgemm_gpu_sorted_rows.hpp"
#include "spgemm_gpu_symbolic_classes.hpp"

namespace kkc::spgemm::gpu_parts {

template <class Left, class I>
class Symbolic : SymbolicClasses<Left, I> {
  using Rows = SymbolicRows<Left, I>;
  using Classes = SymbolicClasses<Left, I>;
  using Classes::classify, Classes::by_classes, Classes::give_up_classes;
  using Classes::reduced_;
  using Classes::tried_classes_, Classes::seen_;
  using Rows::are_few, Rows::cut_all_rows;
  using Rows::begin, Rows::make_empty, Rows::look_at_rows, Rows::survey_counts, Rows::list_rows, Rows::look,
      Rows::place;
  using Rows::by_products, Rows::count_sized, Rows::size_by_columns, Rows::fill_sized, Rows::keep_slots_of_rows;
  using Rows::counts_, Rows::product_begins_, Rows::twins_a_, Rows::twins_b_, Rows::most_products_of_row_;
  using Rows::queue_, Rows::p_, Rows::tables_, Rows::found_;
  using Rows::rows_without_slots, Rows::bins_with_slots, Rows::most_slots_of_output, Rows::slot_room, Rows::offsets;
  using typename Rows::Sized;

 public:
  /// reduced: rows are tiles of i-nodes, and none of them are looked for.
  Symbolic(Queue& queue, const Problem<Left, I>& problem, bool reduced = false) : Classes(queue, problem, reduced) {}

  Found run() {
    if (!begin()) return std::move(found_);
    if (classify() && (by_inodes(seen_.twins_a, seen_.twins_b, {}) || by_classes())) return std::move(found_);
    by_size();
    return std::move(found_);
  }

  /// C has only entries of the mask, whose rows ascend strictly.
  Found run(const Pattern<I>& mask, int64_t nnz) {
    if (!begin()) return std::move(found_);
    const Buffer bounds = look_at_rows(false);
    counts_ = p_.template array<int32_t>(p_.rows);
    launch_over(queue_, p_.rows, RowLengths{mask.offsets, p_.rows, counts_.template as<int32_t>()});
    Buffer lengths = std::move(counts_);
    using F = MarkHits<Left, I>;
    CutRows cuts(queue_, p_);
    const Pieces pieces = cuts.listed(cuts.cut(nullptr, p_.rows, lengths, F::capacity, products_of_piece, bounds));
    counts_ = p_.template array<int32_t>(p_.rows);
    clear(queue_, counts_);
    Buffer hits = p_.template array<uint8_t>(nnz);
    constexpr int warps = F::threads / 32;
    launch_blocks(queue_, (pieces.count + warps - 1) / warps,
                  F{p_.A, p_.B, mask, pieces.list.template as<Piece>(), pieces.count, found_.distinct,
                    hits.as<uint8_t>(), counts_.template as<int32_t>()},
                  F::shared_bytes);
    const auto [survey, sizes] = survey_counts(bounds);
    launch_over(queue_, p_.rows * 32,
                KeepHits<I>{mask, hits.as<uint8_t>(), offsets(), found_.output.indices->template as<I>()});
    list_rows(sizes, survey, bounds, true);
    return std::move(found_);
  }

 private:
  // ---- rows by size ----

  void by_size() {
    const Buffer bounds = look_at_rows(!tried_classes_);
    if (found_.products == 0) return make_empty();  // A names only rows of B that are empty
    counts_ = p_.template array<int32_t>(p_.rows);
    const bool few = !reduced_ && are_few();
    if (!tried_classes_ && !(few && p_.rows <= very_few_rows * queue_.concurrency()) &&
        by_inodes(twins_a_, twins_b_, bounds))
      return;
    SurveyRows by_bounds = by_products(bounds);
    if (by_sorting(by_bounds, bounds)) return;
    GatheredRows<Left, I> gathered(queue_, p_);
    bool gathers = gathered.find(bounds);
    if (by_expanding(bounds, gathers && gathered.are_most_of(found_.products))) return;
    gathers = gathers && gathered.expand(bounds);
    const bool crowded = !gathers && gathered.any_crowded();
    const Survey of_bounds = look(by_bounds);
    clear(queue_, counts_);
    if (!gathers && !crowded &&
        OnePass<Left, I>(queue_, p_, product_begins_, found_.products, of_bounds.largest).run(counts_, found_)) {
      const auto [of_counts, sizes] = survey_counts(bounds);
      if (found_.slots.data() != nullptr) found_.begins = std::move(product_begins_);
      list_rows(sizes, of_counts, bounds, false);
      return;
    }
    Sized sized = count_sized(by_bounds, of_bounds);
    if (gathers) gathered.size(counts_);
    auto [of_counts, sizes] = survey_counts(bounds);
    if (gathers) {
      found_.gathered = gathered.place(offsets(), found_.output.indices->template as<I>());
      gathered.forget(counts_);
      of_counts = look(sizes);
      found_.longest = of_counts.largest;
    }
    const bool cuts_all = few && !gathers && !crowded;
    if (!cuts_all) size_by_columns(sized);
    const int64_t slot_bytes = 2 * found_.products, without = rows_without_slots(sized.bins, of_counts);
    const bool keeps_slots = !cuts_all && slot_bytes <= most_slots_of_output() && slot_bytes <= slot_room() &&
                             (without == 0 || (found_.distinct && without <= p_.rows / most_partial));
    if (keeps_slots) {
      keep_slots_of_rows();
      found_.partial = without > 0;
      if (found_.partial) {
        // Rows whose products are too many for slots there are cut into pieces, whatever their lengths.
        sizes.heavy = tables_.limits.upper[bins_with_slots() - 1];
        of_counts = look(sizes);
      }
    }
    int32_t any_order = 0;
    if (!p_.sorted && !cuts_all)
      any_order = keeps_slots && !found_.partial ? INT32_MAX : numeric_limits.upper[hashed_bin - 1];
    fill_sized(sized, any_order);
    sized.list = Buffer();
    if (crowded)
      found_.gathered = gathered.place_crowded({offsets(), found_.output.indices->template as<I>(), p_.rows});
    if (cuts_all && cut_all_rows(bounds)) return;
    list_rows(sizes, of_counts, bounds, false);
  }

  /// The pattern alone, by size, and slots of whole rows where no sums of theirs take more than `most_sums`; the bounds
  /// of the rows' products.
  Buffer pattern(int64_t most_sums) {
    found_.output = {};
    begin();
    Buffer bounds = look_at_rows(false);
    counts_ = p_.template array<int32_t>(p_.rows);
    SurveyRows by_bounds = by_products(bounds);
    Sized sized = count_sized(by_bounds, look(by_bounds));
    const auto [of_counts, sizes] = survey_counts(bounds);
    size_by_columns(sized);
    if (rows_without_slots(sized.bins, of_counts) == 0 && found_.longest <= most_sums &&
        2 * found_.products <= slot_room())
      keep_slots_of_rows();
    fill_sized(sized, 0);
    return bounds;
  }

  /// Takes tiles of i-nodes instead of rows, if that is worth it and there is room for what they keep.
  bool by_inodes(const SampledTwins& twins_a, const SampledTwins& twins_b, const Buffer& bounds) {
    if constexpr (std::is_same_v<Left, PlainLeft<I>>) {
      if (!Inodes<I>::worth(p_, twins_a, twins_b)) return false;
      if (tried_classes_ && seen_.failed != 0) found_.distinct = rows_ascend();  // not all of them were seen
      if (!found_.distinct) return false;
      Inodes<I> inodes(queue_, p_);
      const Problem<Left, I> reduced = inodes.reduced();
      const auto element = static_cast<int64_t>(p_.element);
      const int64_t most_bytes = &tables_ == &large_tables ? most_tile_bytes : small_most_tile_bytes,
                    most_sums = most_bytes / (tile_rows * element);
      Symbolic product(queue_, reduced, true);
      product.begin();
      // Where these rows had none, tiles will not either.
      const bool classified = tried_classes_ && seen_.failed == 0 && product.classify();
      if (!classified || !product.by_classes() || product.found_.longest > most_sums) {
        product.give_up_classes();
        const Buffer reduced_bounds = product.pattern(most_sums);
        if (product.found_.output.nnz == 0) return false;
        if (product.found_.slots.data() == nullptr && !keep_pieces(product, reduced_bounds, inodes)) return false;
      }
      if (product.found_.slots.data() != nullptr && !keep_whole(product, inodes)) return false;
      give_up_classes();
      if (counts_.data() == nullptr) counts_ = p_.template array<int32_t>(p_.rows);
      inodes.lengths(product.counts_, counts_);
      survey_counts(bounds);
      const OutputPattern& C = product.found_.output;
      inodes.columns({product.offsets(), C.indices->template as<I>(), reduced.rows}, C.nnz, offsets(),
                     found_.output.indices->template as<I>());
      inodes.keep(found_.tiles);
      found_.slots = std::move(product.found_.slots);
      found_.begins = std::move(product.found_.begins);
      found_.number_of = std::move(product.found_.number_of);
      found_.classes = product.found_.classes;
      found_.products = inodes.products();
      return true;
    } else {
      return false;
    }
  }

  bool rows_ascend() {
    const Buffer broken = p_.template array<int32_t>(1);
    clear(queue_, broken);
    check_ascending(queue_, p_.B.B, p_.nnz_b, broken.template as<int32_t>());
    return read_back<int32_t>(queue_, broken.data()) == 0;
  }

  /// Whole tiles by kind, if what they keep has room.
  bool keep_whole(Symbolic& product, Inodes<I>& inodes) {
    const Found& found = product.found_;
    if (static_cast<int64_t>(found.slots.bytes()) + inodes.bytes() > slot_room()) return false;
    Bins bins{};
    found_.list = list_tiles(product, inodes, bins);
    for (size_t b = 0; b < bins.size(); ++b) {
      const auto rows = static_cast<int32_t>(b / 2 + 1);
      const int32_t few = bytes_of_few_sums(product.p_.rows) / (rows * static_cast<int32_t>(p_.element));
      found_.tiles.runs[b] = {bins[b].first, bins[b].count, rows,
                              b % 2 == 1 ? found.longest : std::min(few, found.longest)};
    }
    return true;
  }

  /// The tiles by kind; returns their list, if they are of more than one.
  Buffer list_tiles(Symbolic& product, Inodes<I>& inodes, Bins& bins) {
    const Buffer kinds =
        inodes.kinds(product.counts_, bytes_of_few_sums(product.p_.rows) / static_cast<int32_t>(p_.element));
    SurveyRows by_kind{kinds.template as<int32_t>(), nullptr, product.p_.rows, tile_kinds, 0, 0, nullptr};
    return product.place(by_kind, look(by_kind), bins);
  }

  /// Cuts the rows of the reduced product into pieces and keeps their slots, if there is room.
  bool keep_pieces(Symbolic& product, const Buffer& bounds, Inodes<I>& inodes) {
    const Problem<Left, I>& reduced = product.p_;
    const auto element = static_cast<int32_t>(p_.element);
    const int64_t room = slot_room() - 2 * product.found_.products - inodes.bytes();
    if (room <= 0) return false;
    Bins bins{};
    const Buffer list = list_tiles(product, inodes, bins);
    CutRows cut_rows(queue_, reduced);
    std::array<PieceRun, Tiles::kinds> runs{};
    std::array<ListPieces, Tiles::kinds> cuts{};
    Pieces pieces;
    const int32_t bytes = &tables_ == &large_tables ? slotted_bytes : small_slotted_bytes;
    for (size_t i = 0; i < runs.size(); ++i) {
      // Long rows first: they take longest.
      const size_t b = runs.size() - 1 - i;
      const auto rows = static_cast<int32_t>(b / 2 + 1);
      const int32_t most = (b % 2 == 1 ? bytes : bytes_of_few_sums(reduced.rows)) / (rows * element);
      cuts[i] = cut_rows.cut(list.data() != nullptr ? list.template as<int32_t>() + bins[b].first : nullptr,
                             bins[b].count, product.counts_, most, products_of_slotted, bounds);
      found_.tiles.runs[i] = {0, 0, rows, std::min(most, product.found_.longest)};
    }
    cut_rows.count(cuts);
    for (size_t i = 0; i < runs.size(); ++i) {
      TileRun& run = found_.tiles.runs[i];
      run.first = pieces.count;
      run.count = cuts[i].of_pieces;
      runs[i] = {run.first, run.count, run.capacity, false};
      pieces.count += run.count;
    }
    pieces.list = p_.template array<Piece>(pieces.count);
    for (size_t i = 0; i < runs.size(); ++i) cut_rows.list(cuts[i], pieces.list.template as<Piece>() + runs[i].first);
    return keep_slots(queue_, reduced, product.offsets(), product.found_.output.indices->template as<I>(),
                      std::move(pieces), runs, room, found_.slotted);
  }

  /// Whether all rows' products can be sorted, and was done.
  bool by_sorting(SurveyRows by_products, const Buffer& bounds) {
    SortedRows<Left, I> sorted(queue_, p_, found_.products);
    if (!sorted.candidate(slot_room()) || !sorted.takes(most_products_of_row_)) return false;
    by_products.limits = sorted.limits;
    const Survey survey = look(by_products);
    Bins bins{};
    const Buffer list = place(by_products, survey, bins);
    sorted.count(product_begins_, list, bins, counts_);
    const auto [of_counts, sizes] = survey_counts(bounds);
    I* const columns = found_.output.indices->template as<I>();
    const int64_t most_of_entry = found_.distinct ? std::min<int64_t>(survey.largest, p_.longest_a) : survey.largest;
    if (sorted.lists(slot_room(), found_.output, found_.longest, most_of_entry)) {
      found_.gathered = sorted.place_lists(offsets(), columns, found_.output.nnz, most_of_entry);
      return true;
    }
    // Slots alone take less then.
    if (4 * found_.products > most_slots_of_output() || found_.products > most_ordered_compression * found_.output.nnz)
      return false;
    sorted.place(offsets(), columns, std::move(product_begins_), found_);
    list_rows(sizes, of_counts, bounds, false);
    find_longest_of_bins(queue_, p_, found_);
    return true;
  }

  /// The same for rows of any length, with lists of all products: of restrictions; where gathered rows are most of the
  /// product, for then lists of the rest cost less than another kernel; of few products with a few long rows; of few
  /// rows; and where some rows are too long to be sorted or found in one pass, and the others' products hardly meet.
  bool by_expanding(const Buffer& bounds, bool gathers_most) {
    if constexpr (std::is_same_v<Left, PlainLeft<I>>) {
      ExpandedRows<I> expanded(queue_, p_, found_.products);
      if (!expanded.has_room(slot_room())) return false;
      double most = 0;  // products an entry of C
      if ((gathers_most && found_.products <= most_expanded) || expanded.restricts()) {
        most = std::numeric_limits<double>::infinity();
      } else if (found_.products > most_expanded) {
        return false;
      } else if (const auto all = static_cast<double>(found_.products);
                 all <= few_products && has_few_long_rows(p_, all)) {
        most = most_compression_of_few_products;
      } else if (expanded.few_rows()) {
        most = most_compression_of_few;
      } else if ((most_products_of_row_ > most_ordered_products || !words_name_products(p_)) && expanded.short_rows() &&
                 sampled_compression(queue_, p_, bounds, found_.products) <= expanded.most_compression()) {
        most = std::numeric_limits<double>::infinity();
      } else {
        return false;
      }
      expanded.count(product_begins_, counts_);
      survey_counts(bounds);
      const int64_t entries = found_.output.nnz;
      if (static_cast<double>(found_.products) > most * static_cast<double>(entries) ||
          !expanded.has_room(slot_room(), entries))
        return false;
      found_.gathered = expanded.place(entries, found_.output.indices->template as<I>());
      return true;
    } else {
      return false;
    }
  }
};

}  // namespace kkc::spgemm::gpu_parts
