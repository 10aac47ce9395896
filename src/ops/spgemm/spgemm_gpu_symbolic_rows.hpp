// What the symbolic phases of sparse products on GPUs share: surveys of rows, rows by size for the numeric phase, C's
// arrays. Knows no element type.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "device/gpu_scan.hpp"
#include "spgemm_gpu_cut_rows.hpp"
#include "spgemm_gpu_found.hpp"
#include "spgemm_gpu_products_of_rows.hpp"
#include "spgemm_gpu_sized_rows.hpp"

namespace kkc::spgemm::gpu_parts {

template <class Left, class I>
class SymbolicRows {
 protected:
  SymbolicRows(Queue& queue, const Problem<Left, I>& problem)
      : queue_(queue), p_(problem), tables_(shared_room(queue) >= large_room ? large_tables : small_tables) {}

  /// False: C has no entries, and that is all.
  bool begin() {
    found_.output.pair = p_.pair;
    found_.output.rows = p_.rows;
    found_.output.cols = p_.cols;
    if (p_.rows > 0 && p_.nnz_a > 0 && p_.nnz_b > 0) return true;
    make_empty();
    return false;
  }

  void make_empty() {
    counts_ = p_.template array<int32_t>(p_.rows + 1);
    clear(queue_, counts_);
    make_offsets(0);
  }

  /// Returns the products of each row, cut off. sampled: looks for i-nodes, too.
  Buffer look_at_rows(bool sampled) {
    ProductsOfRows products = products_of_rows(queue_, p_, sampled);
    product_begins_ = std::move(products.begins);
    found_.products = products.total;
    most_products_of_row_ = products.largest;
    found_.distinct = products.distinct;
    twins_a_ = products.twins_a;
    twins_b_ = products.twins_b;
    return std::move(products.bounds);
  }

  /// Bytes that slots may take beside C.
  int64_t most_slots_of_output() const {
    const int64_t bytes = found_.output.nnz * static_cast<int64_t>(p_.element + sizeof(I));
    return most_slots_beside(bytes, 2 * bytes);
  }
  /// And beside what gathered rows keep.
  int64_t slot_room() const {
    if (p_.most_slot_bytes < 0) return INT64_MAX;
    return p_.most_slot_bytes - static_cast<int64_t>(found_.gathered.bytes());
  }

  // ---- rows by size ----

  struct Sized {
    SurveyRows by_bounds;
    Survey of_bounds;
    Bins bins;
    Buffer list;
  };

  SurveyRows by_products(const Buffer& bounds) const {
    return {bounds.template as<int32_t>(), nullptr, p_.rows, tables_.limits, 0, 0, nullptr};
  }

  /// Counts C's rows.
  Sized count_sized(const SurveyRows& by_bounds, const Survey& of_bounds) {
    Sized sized{by_bounds, of_bounds, {}, {}};
    sized.list = place(by_bounds, of_bounds, sized.bins);
    clear(queue_, counts_);
    look_at_windows(sized);
    SymbolicTarget<I> target{};
    target.counts = counts_.template as<int32_t>();
    SizedRows<Left, I>(queue_, p_, tables_, windows_).template run<false>(sized.list, sized.bins, target);
    return sized;
  }

  /// Where one row in 16 or more may have one.
  void look_at_windows(const Sized& sized) {
    using F = SizedRows<Left, I>;
    int64_t rows = 0;
    for (int b = F::first_narrow; b <= F::last_narrow; ++b) rows += sized.bins[static_cast<size_t>(b)].count;
    if (!found_.distinct || 16 * rows < p_.rows) return;
    windows_ = find_windows(queue_, p_, sized.by_bounds.sizes, tables_.limits.upper[F::first_narrow - 1],
                            tables_.limits.upper[F::last_narrow]);
    found_.windows = windows_.there();
  }

  /// Once they are counted: rows of few columns are a warp's, whatever their products.
  void size_by_columns(Sized& sized) {
    const int32_t most = tables_.limits.upper[2];
    if (sized.of_bounds.largest <= most) return;
    const Buffer fills = p_.template array<int32_t>(p_.rows);
    launch_over(queue_, p_.rows,
                BoundFills<Left, I>{sized.by_bounds.sizes, counts_.template as<int32_t>(), p_.rows, most,
                                    fills.template as<int32_t>()});
    SurveyRows by_fills = sized.by_bounds;
    by_fills.sizes = fills.template as<int32_t>();
    sized.list = place(by_fills, look(by_fills), sized.bins);
  }

  /// Bins whose rows' slots are found where their columns are.
  int bins_with_slots() const {
    int with = tables_.limits.count - 1;
    while (!tables_.slots[with - 1]) --with;
    return with;
  }
  /// How many rows' are not.
  int64_t rows_without_slots(const Bins& bins, const Survey& of_counts) const {
    int64_t rows = 0;
    if (of_counts.largest > most_slots)
      rows = static_cast<int64_t>(of_counts.histogram[hashed_bin] + of_counts.histogram[ranked_bin]);
    for (int b = bins_with_slots(); b < tables_.limits.count; ++b) rows += bins[static_cast<size_t>(b)].count;
    return rows;
  }

  /// Makes room for slots, for fill_sized to find.
  void keep_slots_of_rows() {
    found_.slots = p_.template array<uint16_t>(found_.products);
    found_.begins = std::move(product_begins_);
  }

  /// Finds the columns. Rows of up to any_order entries may have them in any.
  void fill_sized(const Sized& sized, int32_t any_order) {
    SymbolicTarget<I> target{};
    target.counts = counts_.template as<int32_t>();
    if (found_.slots.data() != nullptr) {
      target.slots = found_.slots.template as<uint16_t>();
      target.slot_begins = found_.begins.template as<int64_t>();
    }
    target.offsets = offsets();
    target.columns = found_.output.indices->template as<I>();
    target.any_order = any_order;
    SizedRows<Left, I>(queue_, p_, tables_, windows_).template run<true>(sized.list, sized.bins, target);
  }

  /// Looks at C's rows and makes its arrays, unless they are there.
  std::pair<Survey, SurveyRows> survey_counts(const Buffer& bounds) {
    // A bitmap of 64 columns a word and hashes of half as many places cost the same from one entry in 128 columns.
    BinLimits limits = numeric_limits;
    limits.upper[hashed_bin] = static_cast<int32_t>(std::max<int64_t>(limits.upper[hashed_bin - 1], p_.cols / 128));
    SurveyRows sizes{counts_.template as<int32_t>(),
                     bounds.as<int32_t>(),
                     p_.rows,
                     limits,
                     heavy_products,
                     limits.upper[hashed_bin - 1] + 1,
                     nullptr};
    const Survey survey = look(sizes);
    found_.longest = survey.largest;
    require_countable(p_.cols, static_cast<int64_t>(survey.total), p_.pair, "C");
    if (found_.output.offsets == nullptr) make_offsets(static_cast<int64_t>(survey.total));
    return {survey, sizes};
  }

  /// For the numeric phase.
  void list_rows(const SurveyRows& sizes, const Survey& survey, const Buffer& bounds, bool masked) {
    found_.list = place(sizes, survey, found_.bins);
    if (found_.slots.data() != nullptr && !found_.partial) return;
    if (!masked && keep_piece_slots(bounds)) return;
    CutRows cuts(queue_, p_);
    const auto pieces_of = [&](int b, int32_t capacity) {
      const Bin bin = found_.bins[static_cast<size_t>(b)];
      return cuts.listed(cuts.cut(rows_of(bin), bin.count, counts_, capacity, products_of_piece, bounds));
    };
    found_.hashed = pieces_of(hashed_bin, hashed_capacity);
    found_.ranked = pieces_of(ranked_bin, ranked_capacity);
  }
  const int32_t* rows_of(const Bin& bin) const {
    return found_.list.data() != nullptr ? found_.list.template as<int32_t>() + bin.first : nullptr;
  }

  /// Sums of a piece. Long rows of B whose products meet may be cut into more pieces, of which a multiprocessor holds
  /// more at once; into the smallest where there are few.
  int32_t bytes_of_sums(int64_t bytes_of_output) const {
    if (found_.products < long_rows_of_b * p_.nnz_a || found_.products < 2 * found_.output.nnz) return slotted_bytes;
    return bytes_of_output < few_bytes_of_pieces * queue_.concurrency() ? few_slotted_bytes : slotted_bytes / 2;
  }

  /// Whether rows are few and have many products in the mean, once these are known.
  bool are_few() const {
    return found_.distinct && p_.rows <= few_rows_to_cut * queue_.concurrency() &&
           found_.products <= most_products_to_cut && found_.products >= products_of_row_to_cut * p_.rows;
  }

  /// Entries of a piece of few rows: rows of B have as many there as a warp has lanes, or half as many where even then
  /// there are few pieces; twice as many where there are many.
  int32_t entries_of_few() const {
    const int64_t pieces_of_entry = std::max<int64_t>(found_.products * p_.rows / p_.nnz_a, 1),
                  many = pieces_to_cut * queue_.concurrency();
    int64_t lanes = 16;
    while (lanes < 64 && pieces_of_entry > lanes * many) lanes *= 2;
    return static_cast<int32_t>(std::clamp<int64_t>(lanes * found_.output.nnz / pieces_of_entry, 32,
                                                    few_slotted_bytes / static_cast<int64_t>(p_.element)));
  }

  /// Bytes that segments of pieces may take beside the slots of all products.
  int64_t room_of_segments() const {
    const int64_t bytes = bytes_of_output();
    return std::min(most_slots_beside(bytes, bytes / 2), slot_room()) - 2 * found_.products;
  }
  int64_t bytes_of_output() const {
    return found_.output.nnz * static_cast<int64_t>(p_.element + ordinal_size(p_.pair));
  }

  /// Cuts all rows into pieces whose products keep slots, if there is room.
  bool cut_all_rows(const Buffer& bounds) {
    const int64_t room = room_of_segments();
    if (room <= 0) return false;
    const int32_t capacity = entries_of_few();
    // Those of more products than the mean come first: they take longest.
    const int64_t mean = found_.products / std::max(p_.rows, found_.output.nnz / capacity),
                  most = std::clamp<int64_t>(4 * mean, 1024, products_of_slotted);
    CutRows rows(queue_, p_);
    Pieces pieces = rows.listed(rows.cut(nullptr, p_.rows, counts_, capacity, static_cast<int32_t>(most), bounds));
    const std::array<PieceRun, 1> runs{{{0, pieces.count, capacity, false}}};
    found_.cut_bins = ranked_bin;
    return keep_slots(queue_, p_, offsets(), found_.output.indices->template as<I>(), std::move(pieces), runs, room,
                      found_.slotted);
  }

  /// Slots for the products of the last bins, if there is room. Whether it kept them.
  bool keep_piece_slots(const Buffer& bounds) {
    int64_t room = room_of_segments();
    if (found_.partial) room -= 2 * found_.products;
    if (!found_.distinct || room <= 0) return false;
    const size_t used = found_.partial ? bins_of_pieces : slotted_bins;
    const int32_t sums = &tables_ == &large_tables ? bytes_of_sums(bytes_of_output()) : small_slotted_bytes;
    const auto capacity = static_cast<int32_t>(static_cast<size_t>(sums) / p_.element);
    // Long rows first: they take longest.
    CutRows rows(queue_, p_);
    std::array<PieceRun, slotted_bins> runs{};
    std::array<ListPieces, slotted_bins> cuts{};
    Pieces pieces;
    for (size_t i = 0; i < used; ++i) {
      const int b = ranked_bin - static_cast<int>(i);
      const Bin bin = found_.bins[static_cast<size_t>(b)];
      const int32_t most = b >= hashed_bin ? capacity : numeric_limits.upper[b];
      cuts[i] = rows.cut(rows_of(bin), bin.count, counts_, most, products_of_slotted, bounds);
      runs[i] = {0, 0, most, i == 0};
    }
    rows.count(cuts);
    for (size_t i = 0; i < used; ++i) {
      runs[i].first = pieces.count;
      runs[i].count = cuts[i].of_pieces;
      pieces.count += runs[i].count;
    }
    if (pieces.count == 0) return false;
    pieces.list = p_.template array<Piece>(pieces.count);
    for (size_t i = 0; i < used; ++i) rows.list(cuts[i], pieces.list.template as<Piece>() + runs[i].first);
    found_.cut_bins = static_cast<int>(used);
    return keep_slots(queue_, p_, offsets(), found_.output.indices->template as<I>(), std::move(pieces), runs, room,
                      found_.slotted);
  }

  Survey look(SurveyRows& survey) {
    survey.survey = fresh_survey();
    return gpu::launch_and_read<Survey>(queue_, survey_blocks(survey.rows), SurveyRows::threads, 0, survey,
                                        survey.survey);
  }
  /// Zeros.
  Survey* fresh_survey() {
    constexpr int cleared = 8;  // at once
    if (surveys_used_ % cleared == 0) {
      surveys_ = p_.template array<Survey>(cleared);
      clear(queue_, surveys_);
    }
    return surveys_.template as<Survey>() + surveys_used_++ % cleared;
  }
  unsigned survey_blocks(int64_t rows) const {
    return std::min(gpu::blocks_for(rows, 1024), static_cast<unsigned>(8 * queue_.concurrency()));
  }

  /// Rows by bin; no list where one bin holds all.
  Buffer place(const SurveyRows& sizes, const Survey& survey, Bins& bins) {
    PlaceRows f{sizes, {}, nullptr, nullptr};
    int used = 0;
    int64_t first = 0;
    for (int b = 0; b < survey_bins; ++b) {
      const auto count = static_cast<int64_t>(survey.histogram[b]);
      f.starts[b] = static_cast<unsigned long long>(first);
      bins[static_cast<size_t>(b)] = {first, count};
      first += count;
      used += count > 0;
    }
    if (used == 1) return {};
    Buffer list = p_.template array<int32_t>(p_.rows);
    f.placed = fresh_survey()->histogram;
    f.list = list.as<int32_t>();
    launch_over(queue_, p_.rows, f);
    return list;
  }

  // ---- C ----

  Offsets offsets() const { return {found_.output.offsets->data(), offset_size(p_.pair) == 8, 0}; }

  /// From counts_.
  void make_offsets(int64_t nnz) {
    OutputPattern& C = found_.output;
    C.nnz = nnz;
    auto offsets =
        std::make_shared<Buffer>(p_.memory, Space::device, static_cast<size_t>(p_.rows + 1) * offset_size(p_.pair));
    if (offset_size(p_.pair) == 8)
      gpu::exclusive_scan(queue_, counts_.template as<int32_t>(), offsets->template as<int64_t>(), p_.rows);
    else
      gpu::exclusive_scan(queue_, counts_.template as<int32_t>(), offsets->template as<int32_t>(), p_.rows);
    C.offsets = std::move(offsets);
    C.indices =
        std::make_shared<const Buffer>(p_.memory, Space::device, static_cast<size_t>(nnz) * ordinal_size(p_.pair));
  }

  Queue& queue_;
  const Problem<Left, I>& p_;
  const Tables& tables_;
  Found found_;
  SampledTwins twins_a_{}, twins_b_{};
  int32_t most_products_of_row_ = 0;  // cut off
  Windows windows_;
  Buffer counts_, product_begins_, surveys_;
  int surveys_used_ = 0;
};

}  // namespace kkc::spgemm::gpu_parts
